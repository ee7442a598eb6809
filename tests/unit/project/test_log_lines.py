"""No line of the log repeats what a person wrote."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from neve import observability
from neve.ports.errors import ModelRefused, ModelUnavailable, StoreUnavailable

WORDS = "My sister is named Mary"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler: Any = observability.logger.registered_handler
    monkeypatch.setattr(handler, "stream", stream)
    yield stream


def test_a_failure_is_told_by_its_type_and_place_only(written: io.StringIO) -> None:
    try:
        raise ValueError(f"cannot read {WORDS!r}") from KeyError(WORDS)
    except ValueError as error:
        observability.failed("embed", "01J", error)
    line = json.loads(written.getvalue())
    assert WORDS not in written.getvalue()
    assert (line["message"], line["error"], line["component"], line["correlation_id"]) == (
        *("failed", "builtins.ValueError"),
        *("embed", "01J"),
    )
    assert "test_log_lines.py" in line["stack"][-1]
    assert "reason" not in line


@pytest.mark.parametrize(
    "error",
    [
        *(ModelUnavailable("m: status 529"), ModelRefused("m: status 401")),
        StoreUnavailable("table", "PutItem: AccessDeniedException (400)"),
    ],
)
def test_a_failure_of_a_model_or_a_store_says_why(written: io.StringIO, error: Exception) -> None:
    """Those texts are our own: an outage and an answer that is cut off every time need different hands, and so do a
    store that throttles and a role that may not."""
    observability.failed("extract", "01J", error)
    assert json.loads(written.getvalue())["reason"] == str(error)


def test_an_event_that_is_not_read_is_told_by_its_seq_and_the_reason_only(written: io.StringIO) -> None:
    observability.event_unobservable("extract", "01J", 3, "status 400 (invalid_request_error)")
    line = json.loads(written.getvalue())
    assert (line["level"], line["message"], line["seq"]) == ("WARNING", "event unobservable", 3)
    own = {"component", "correlation_id", "seq", "reason"}
    assert own <= set(line) <= own | {"level", "message", "timestamp", "service", "location", "xray_trace_id"}


def test_images_that_were_left_out_are_told_by_their_events_only(written: io.StringIO) -> None:
    observability.images_left_out("extract", "01J", [3, 5])
    line = json.loads(written.getvalue())
    assert (line["level"], line["message"], line["seqs"]) == ("WARNING", "images left out", [3, 5])


def test_a_summary_that_was_refused_is_told_without_a_word_of_it(written: io.StringIO) -> None:
    observability.summary_refused("compact", "01J")
    line = json.loads(written.getvalue())
    assert (line["level"], line["message"], line["component"]) == ("WARNING", "summary refused", "compact")


def test_a_reflection_that_was_not_done_is_told_with_the_reason(written: io.StringIO) -> None:
    observability.reflection_skipped("compact", "01J", "rows of the user are being replaced")
    line = json.loads(written.getvalue())
    assert (line["level"], line["message"], line["component"]) == ("WARNING", "reflection skipped", "compact")
    assert line["reason"] == "rows of the user are being replaced"


def test_what_had_no_room_or_no_form_is_told_by_its_number(written: io.StringIO) -> None:
    observability.reflection_left_out("extract", "01J", 3)
    observability.reflection_left_out("reflect", "01J", 3, 1)
    observability.malformed_facts_dropped("extract", "01J", 2)
    observability.lines_left_out("extract", "01J", 4)
    observability.malformed_lines_dropped("extract", "01J", 5)
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    logged = [("reflection left out", 3, None), ("reflection left out", 3, 1), ("malformed facts dropped", 2, None)]
    logged += [("lines left out", 4, None), ("malformed lines dropped", 5, None)]
    assert [(line["message"], line["count"], line.get("cut")) for line in lines] == logged
    assert {line["level"] for line in lines} == {"WARNING"}


def test_documents_that_were_not_shown_are_told_by_their_number(written: io.StringIO) -> None:
    observability.documents_not_shown("librarian", "01J", 2)
    line = json.loads(written.getvalue())
    assert (line["level"], line["message"], line["count"]) == ("WARNING", "documents not shown", 2)


def test_an_answer_is_told_by_operation_status_and_time_only(written: io.StringIO) -> None:
    observability.logger.setLevel("INFO")
    observability.request_completed("recall", "01J", 422, "validation_failed", 1.5)
    line = json.loads(written.getvalue())
    own = {"operation", "correlation_id", "status", "elapsed_ms", "code"}
    assert own <= set(line) <= own | {"level", "message", "timestamp", "service", "location", "xray_trace_id"}
