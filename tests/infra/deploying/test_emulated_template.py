"""What `make emulate` deploys: the service's template less what the emulator lacks, and whole without it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from infra.emulate.service_template import LEFT_OUT, MATHS, Emulated, function_code, known_only, service_template
from tests.infra.templates import BUILD_SHA, OBSERVABILITY, expanded, functions, written


@cache
def emulated() -> Emulated:
    """Takes seconds: not in every process that only collects."""
    return service_template({"ADDED": "1"}, "http://127.0.0.1/nested", BUILD_SHA)


@cache
def template() -> Any:
    return json.loads(emulated().template)


def named(value: Any) -> Iterator[str]:
    """Every logical id, parameter and pseudo parameter that a value refers to."""
    if isinstance(value, list):
        for part in value:
            yield from named(part)
    elif isinstance(value, dict):
        if isinstance(value.get("Ref"), str):
            yield value["Ref"]
        if "Fn::GetAtt" in value:
            yield value["Fn::GetAtt"][0]
        if "Fn::Sub" in value:
            text, own = value["Fn::Sub"], {}
            if isinstance(text, list):
                text, own = text
            found = re.findall(r"\$\{([^}.]+)", text)
            yield from (name for name in found if name not in own)
        for part in value.values():
            yield from named(part)


def test_nothing_refers_to_what_was_left_out() -> None:
    known = {*template()["Resources"], *template()["Parameters"]}
    asked = {name for name in named(template()["Resources"]) if not name.startswith("AWS::")}
    asked |= {name for resource in template()["Resources"].values() for name in resource.get("DependsOn", [])}
    assert asked <= known


def test_only_what_is_listed_is_left_out() -> None:
    gone = {name for names in emulated().left_out.values() for name in names}
    assert set(expanded()) - set(template()["Resources"]) == gone
    nested = known_only(written(OBSERVABILITY))
    assert set(emulated().left_out) | set(nested.left_out) == set(LEFT_OUT)
    assert "IndexLate" in json.loads(nested.template)["Resources"]
    assert "TableThrottled" in nested.left_out[MATHS]


def test_every_function_has_its_own_code_and_settings() -> None:
    code = function_code()
    for name, (logical_id, before) in functions().items():
        properties = template()["Resources"][logical_id]["Properties"]
        assert properties["Code"]["S3Key"] == f"{name}.zip"
        assert (code[name] / "app.py").is_file()
        variables = properties["Environment"]["Variables"]
        assert variables == {**before["Environment"]["Variables"], "ADDED": "1"}
        assert properties["Timeout"] == before["Timeout"]
