"""Requests made up from the API's own description, and how their answers are judged.

Schemathesis takes two thirds of a second to import: only the process that runs these tests does, within them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.checks import CHECKS, load_all_checks, not_a_server_error
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.python._constants.orchestrator import make_constants_value_source

from local.openapi import TARGET

SCHEMA = schemathesis.openapi.from_path(str(TARGET))
SCHEMA.config.checks.negative_data_rejection.expected_statuses += [
    "413",
    "431",
]  # a list, or a parameter, that is far too long
CHECKED = [
    not_a_server_error,
    *CHECKS.get_by_names(
        [
            "status_code_conformance",
            "content_type_conformance",
            "response_headers_conformance",
            "response_schema_conformance",
        ]
    ),
]
_rejected: Any
[_rejected] = CHECKS.get_by_names(["negative_data_rejection"])


def refused(ctx: Any, response: Any, case: Case[Any]) -> Any:
    """What the description calls wrong is refused, or, where a model wrote it, answered to the model."""
    sent = case.body if isinstance(case.body, dict) else {}
    if "to_seq" in sent and sent["to_seq"] is None and response.status_code == 200:  # no end is none
        return None
    of_a_tool = case.path.rpartition("/")[0].endswith("/tools")
    if of_a_tool and response.status_code == 200:
        arguments = sent.get("arguments")
        left_out = isinstance(arguments, dict) and None in arguments.values()  # a null of a model is no argument
        if left_out or response.json().get("is_error") is True:
            return None
    return _rejected(ctx, response, case)


REFUSED = [*CHECKED, refused]
EXAMPLES = 15


@schemathesis.serializer("application/jsonl")
def json_lines(_: schemathesis.SerializationContext, value: Any) -> bytes:
    """As it is: a text that is rarely JSON lines."""
    return value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")


made_up = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def requests_to(method: str, path: str, judge: Callable[[Case[Any]], None]) -> None:
    """What ``SCHEMA.parametrize()`` makes of a test, but when it runs. It makes most requests up, those at the
    bounds of what the description allows, when tests are collected, which every process of a run does for 16 s."""
    load_all_checks()
    build_operation_test(
        config=SCHEMA.config,
        operation=SCHEMA[path][method],
        test_func=made_up(lambda case: judge(case)),
        given_kwargs={},
        feedback=FeedbackSources(constants_value_source=make_constants_value_source(SCHEMA)),
    )()
