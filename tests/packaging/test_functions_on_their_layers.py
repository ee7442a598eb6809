"""Each function in a process that has its layers, the standard library, and no other package. It is loaded once; a fork
of that process answers each question about it, so that no answer depends on another."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from infra.lambda_runtime.opt import Overlap, lay_over
from infra.lambda_runtime.process import Sandbox
from infra.lambda_runtime.stage import MOUNTED
from infra.packaging.functions import DeployedFunction, deployed_functions

FUNCTIONS = deployed_functions()
SandboxOf = Callable[[DeployedFunction], Sandbox]

ASKED = """
import importlib, json, os, traceback
module = importlib.import_module({module!r})
assert callable(module.{handler})
files = {{name: getattr(module, "__file__", None) for name, module in sys.modules.items()}}
files = {{name: os.path.realpath(file) for name, file in files.items() if file}}

def answer(program, environment):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.environ.update(environment)
        known = {{}}
        try:
            exec(program, known)
            said = {{"answer": known["answer"]}}
        except BaseException:
            said = {{"failure": traceback.format_exc()}}
        with os.fdopen(writing, "w") as pipe:
            json.dump(said, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    ended = os.wait()[1]
    return json.loads(said) if ended == 0 else {{"failure": f"it ended with {{ended}}"}}

print(json.dumps([files, {{about: answer(*asked) for about, asked in {questions!r}.items()}}]))
"""
LATER = {
    *("anthropic", "httpx2", "tiktoken", "regex", "opensearchpy", "requests"),
    *("numpy", "onnxruntime", "tokenizers", "boto3", "botocore.session"),
}
"""What a function loads with the first event that needs it, not when it is imported."""

CALLS_THE_API = {"httpx2"}
"""What the function of MCP cannot do without: every request is a call over the network."""

STORES: Mapping[str, tuple[str, str]] = {
    "NEVE_TABLE": ("table", "ReadableTable"),
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
COUNTED = "ports.counter('o200k_base')('a telescope, 8 May 2023')"
CLIENT = """
from neve.adapters.models.anthropic_when_asked import AnthropicWhenAsked
from neve.adapters.models.bedrock_model import BedrockModel
made = [AnthropicWhenAsked(lambda: "key")._model("key"), BedrockModel(region="eu-central-1")]
for model in made:
    model.close()
answer = [type(model._client).__name__ for model in made]
"""
REGION = {"AWS_DEFAULT_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
Question = tuple[str, dict[str, str]]
"""A program that finds the ``answer``, and variables of its environment."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """``files``: of every module that the function's own brought in, that one included."""

    sandbox: Sandbox
    files: Mapping[str, str]
    answers: Mapping[str, Mapping[str, Any]]

    def answer(self, about: str) -> Any:
        said = self.answers[about]
        assert "answer" in said, said["failure"]
        return said["answer"]


def of_ports(expression: str, environment: Mapping[str, str]) -> Question:
    """What an expression over ``ports``, the function's own, is worth."""
    program = f"from neve import wiring\nports = wiring.ports()\nanswer = {expression}"
    return program, REGION | dict(environment)


def stores_of(function: DeployedFunction) -> list[str]:
    return sorted(function.variables & STORES.keys())


def questions(function: DeployedFunction, sandbox: Sandbox) -> dict[str, Question]:
    """All that concern the function, by what they are about: ``ports``, or a layer."""
    made = ", ".join(f"type(ports.{STORES[variable][0]}).__name__" for variable in stores_of(function))
    given = {"NEVE_EMBEDDER": "none"} | dict.fromkeys(stores_of(function), "https://127.0.0.1:9/name")
    mounted = {name: str(sandbox.opt / place) for name, place in MOUNTED.items()}
    asked = {
        "encoder": of_ports(EMBEDDED, {"NEVE_ENCODER_DIR": mounted["NEVE_ENCODER_DIR"]}),
        "tokens": of_ports(COUNTED, {"NEVE_BPE_DIR": mounted["NEVE_BPE_DIR"]}),
        "llm": (CLIENT, REGION),
    }
    of_layers = {layer: question for layer, question in asked.items() if layer in function.layers}
    return of_layers | ({"ports": of_ports(f"[{made}]", given)} if made else {})


@pytest.fixture(scope="module")
def loaded(sandbox_of: SandboxOf) -> Callable[[str], Loaded]:
    @cache
    def load(name: str) -> Loaded:
        function = FUNCTIONS[name]
        sandbox = sandbox_of(function)
        module, _, handler = function.handler.rpartition(".")
        done = sandbox.run(ASKED.format(module=module, handler=handler, questions=questions(function, sandbox)))
        assert done.returncode == 0, done.stderr
        return Loaded(sandbox, *json.loads(done.stdout))

    return load


def with_layer(layer: str) -> list[str]:
    return sorted(name for name, function in FUNCTIONS.items() if layer in function.layers)


def test_every_layer_is_under_a_function() -> None:
    assert all(map(with_layer, ("core", "search", "llm", "tokens", "numbers", "encoder", "mcp")))


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_function_imports_with_its_layers_alone(loaded: Callable[[str], Loaded], name: str) -> None:
    function, files = FUNCTIONS[name], loaded(name).files
    module = function.handler.rpartition(".")[0]
    assert files[module] == str(function.code.resolve() / f"{module}.py")
    product = "neve" if "core" in function.layers else "neve_mcp"
    assert {"neve", "neve_mcp"} & files.keys() == {product}
    assert files[product] == str(loaded(name).sandbox.opt.resolve() / "python" / product / "__init__.py")
    assert [file for file in files.values() if "site-packages" in file] == []
    assert sorted(files.keys() & (LATER if product == "neve" else LATER - CALLS_THE_API)) == []


@pytest.mark.parametrize("name", [name for name, function in sorted(FUNCTIONS.items()) if stores_of(function)])
def test_function_can_make_every_port_that_it_is_told_of(loaded: Callable[[str], Loaded], name: str) -> None:
    assert loaded(name).answer("ports") == [STORES[variable][1] for variable in stores_of(FUNCTIONS[name])]


@pytest.mark.parametrize("name", with_layer("encoder"))
def test_the_encoder_embeds(loaded: Callable[[str], Loaded], name: str) -> None:
    size, random, paraphrase = loaded(name).answer("encoder")
    assert size == 384 * 4
    assert 0 < random < paraphrase < 1


@pytest.mark.parametrize("name", with_layer("tokens"))
def test_the_counter_counts(loaded: Callable[[str], Loaded], name: str) -> None:
    assert loaded(name).answer("tokens") == 9


@pytest.mark.parametrize("name", with_layer("llm"))
def test_the_client_of_the_language_model_is_made(loaded: Callable[[str], Loaded], name: str) -> None:
    assert loaded(name).answer("llm") == ["Anthropic", "AnthropicBedrock"]


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
