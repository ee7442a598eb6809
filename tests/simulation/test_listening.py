"""What fails in a simulated worker is heard, however much the product says of it."""

from __future__ import annotations

from neve import observability
from tests.simulation.machine.functions import listening


def test_a_failure_is_heard_with_the_job_that_it_is_of() -> None:
    heard: list[tuple[str, BaseException]] = []
    error = ValueError("a defect")
    with listening(lambda where, why: heard.append((where, why)), lambda _: None):
        observability.failed("index", "message 1", error)
        observability.failed("extract", "message 2", error, "job_1")
        observability.failed("compact", "message 3", error, job_id="job_2")
    assert heard == [("index", error), ("extract", error), ("compact", error)]
