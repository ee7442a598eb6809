"""Each function in a process that has its layers, the standard library, and no other package."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from infra.lambda_runtime.opt import Overlap, lay_over
from infra.lambda_runtime.process import Sandbox
from infra.lambda_runtime.stage import MOUNTED
from infra.packaging.functions import DeployedFunction, deployed_functions

FUNCTIONS = deployed_functions()
SandboxOf = Callable[[DeployedFunction], Sandbox]

IMPORTED = """
import importlib, json, os
module = importlib.import_module({module!r})
assert callable(module.{handler})
files = {{name: getattr(module, "__file__", None) for name, module in sys.modules.items()}}
print(json.dumps({{name: os.path.realpath(file) for name, file in files.items() if file}}))
"""
LATER = {
    *("anthropic", "httpx2", "tiktoken", "regex", "opensearchpy", "requests"),
    *("numpy", "onnxruntime", "tokenizers", "boto3", "botocore.session"),
}
"""What a function loads with the first event that needs it, not when it is imported."""

STORES: Mapping[str, tuple[str, str]] = {
    "NEVE_TABLE": ("table", "DynamoDbTable"),
    "NEVE_BUCKET": ("objects", "S3Objects"),
    "NEVE_INDEX_QUEUE_URL": ("queue", "SqsQueue"),
    "NEVE_EMBED_QUEUE_URL": ("queue", "SqsQueue"),
    "NEVE_EXTRACT_QUEUE_URL": ("queue", "SqsQueue"),
    "NEVE_COMPACT_QUEUE_URL": ("queue", "SqsQueue"),
    "NEVE_SEARCH_ENDPOINT": ("search", "OpenSearchIndex"),
}
"""A variable that names a store, the port on it, and the class of the port."""

EMBEDDED = """[
    len(ports.embedder.embed_query("Who has the telescope?")),
    ports.embedder.calibration.random_median,
    ports.embedder.calibration.paraphrase_median,
]"""
ENCODED = """ports.token_encoder.similarities(
    ports.token_encoder.encode_query("Who has the telescope?"),
    [[codes] for codes in ports.token_encoder.encode_passages(["Ann has the telescope.", "It rained all day."])],
)"""
COUNTED = "ports.counter('o200k_base')('a telescope, 8 May 2023')"
ASKED = """
from neve.adapters.models.anthropic_when_asked import AnthropicWhenAsked
model = AnthropicWhenAsked(lambda: "key")._model("key")
model.close()
print(json.dumps(type(model._client).__module__.partition(".")[0]))
"""


def evaluated(sandbox: Sandbox, expression: str, environment: Mapping[str, str] | None = None) -> Any:
    """What an expression over ``ports``, the function's own, is worth inside the sandbox."""
    return printed(
        sandbox, f"from neve import wiring\nports = wiring.ports()\nprint(json.dumps({expression}))", environment
    )


def printed(sandbox: Sandbox, program: str, environment: Mapping[str, str] | None = None) -> Any:
    region = {"AWS_DEFAULT_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    done = sandbox.run(f"import json\n{program}\n", region | dict(environment or {}))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def with_layer(layer: str) -> list[str]:
    return sorted(name for name, function in FUNCTIONS.items() if layer in function.layers)


def test_every_layer_is_under_a_function() -> None:
    assert all(map(with_layer, ("core", "search", "llm", "tokens", "encoder", "late")))


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_function_imports_with_its_layers_alone(sandbox_of: SandboxOf, name: str) -> None:
    function = FUNCTIONS[name]
    sandbox = sandbox_of(function)
    module, _, handler = function.handler.rpartition(".")
    done = sandbox.run(IMPORTED.format(module=module, handler=handler))
    assert done.returncode == 0, done.stderr
    files: dict[str, str] = json.loads(done.stdout)
    assert files[module] == str(function.code.resolve() / f"{module}.py")
    assert files["neve"] == str(sandbox.opt.resolve() / "python" / "neve" / "__init__.py")
    assert [file for file in files.values() if "site-packages" in file] == []
    assert sorted(files.keys() & LATER) == []


@pytest.mark.parametrize("name", [name for name, f in sorted(FUNCTIONS.items()) if f.variables & STORES.keys()])
def test_function_can_make_every_port_that_it_is_told_of(sandbox_of: SandboxOf, name: str) -> None:
    variables = sorted(FUNCTIONS[name].variables & STORES.keys())
    given = {"NEVE_EMBEDDER": "none"} | dict.fromkeys(variables, "https://127.0.0.1:9/name")
    made = ", ".join(f"type(ports.{STORES[variable][0]}).__name__" for variable in variables)
    assert evaluated(sandbox_of(FUNCTIONS[name]), f"[{made}]", given) == [STORES[variable][1] for variable in variables]


@pytest.mark.parametrize("name", with_layer("encoder"))
def test_the_encoder_embeds(sandbox_of: SandboxOf, name: str) -> None:
    sandbox = sandbox_of(FUNCTIONS[name])
    given = {"NEVE_ENCODER_DIR": str(sandbox.opt / MOUNTED["NEVE_ENCODER_DIR"])}
    size, random, paraphrase = evaluated(sandbox, EMBEDDED, given)
    assert size == 384 * 4
    assert 0 < random < paraphrase < 1


@pytest.mark.parametrize("name", with_layer("late"))
def test_the_token_encoder_encodes(sandbox_of: SandboxOf, name: str) -> None:
    sandbox = sandbox_of(FUNCTIONS[name])
    given = {"NEVE_LATE_DIR": str(sandbox.opt / MOUNTED["NEVE_LATE_DIR"])}
    answer, other = evaluated(sandbox, ENCODED, given)
    assert answer > other > 0


@pytest.mark.parametrize("name", with_layer("tokens"))
def test_the_counter_counts(sandbox_of: SandboxOf, name: str) -> None:
    sandbox = sandbox_of(FUNCTIONS[name])
    given = {"NEVE_BPE_DIR": str(sandbox.opt / MOUNTED["NEVE_BPE_DIR"])}
    assert evaluated(sandbox, COUNTED, given) == 9


@pytest.mark.parametrize("name", with_layer("llm"))
def test_the_client_of_the_language_model_is_made(sandbox_of: SandboxOf, name: str) -> None:
    assert printed(sandbox_of(FUNCTIONS[name]), ASKED) == "anthropic"


def test_a_module_of_another_layer_is_not_there(sandbox_of: SandboxOf) -> None:
    """The sandbox itself: what it lacks cannot be imported, though this process has it."""
    sandbox = sandbox_of(FUNCTIONS["authorizer"])
    for absent in ("numpy", "anthropic", "opensearchpy", "tiktoken", "pytest"):
        done = sandbox.run(f"import {absent}")
        assert f"No module named '{absent}'" in done.stderr


def test_layers_of_a_function_do_not_overlap(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name / "python").mkdir(parents=True)
        (tmp_path / name / "python" / f"{name}.py").write_text("")
    laid = lay_over([tmp_path / "first", tmp_path / "second"], tmp_path / "opt")
    assert {path.name for path in (laid / "python").iterdir()} == {"first.py", "second.py"}
    (tmp_path / "second" / "python" / "first.py").write_text("")
    lay_over([tmp_path / "first", tmp_path / "second"], tmp_path / "both")  # what both need, of one version
    (tmp_path / "second" / "python" / "first.py").write_text("other")
    with pytest.raises(Overlap, match=r"python/first\.py is in second"):
        lay_over([tmp_path / "first", tmp_path / "second"], tmp_path / "again")
