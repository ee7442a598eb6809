"""What starts the workers, and what becomes of what they cannot handle."""

from __future__ import annotations

import inspect
import json
import re

import pytest

from local.template import read_template
from local.workers.event_filter import check_pattern, lets_through
from neve.attribute_values import typed_value
from neve.domain.jobs import time_limits
from neve.domain.librarian import time_limits as filing_limits
from neve.domain.observe.time_limits import (
    ANSWER_S,
    ANSWERS_LEASE_S,
    COMMIT_S,
    FOLD_TOKENS,
    LEASE_S,
    NO_PROGRESS_FOR,
    PASS_S,
    POSTPONED_S,
    TOKENS_PER_S,
    VISIBILITY_S,
    WORKER_S,
    writable_tokens,
)
from neve.domain.reflect import night_limits
from neve.domain.tenants.policy import Policy
from neve.observers.extractive.observer import ExtractiveObserver
from neve.ports.table import Item
from neve.store import rows
from neve.usecases.core.tenants import usage
from neve.usecases.tell.sessions import note_open
from neve.usecases.work.background import dispatch_changes as dispatching
from neve.usecases.work.observe.lease import lease_s
from neve.usecases.work.outgoing import derive_events
from tests.infra.permissions import granted, target
from tests.infra.templates import SERVICE, Properties, expanded, functions, of_type, queue_name, written

FOURTEEN_DAYS = 14 * 24 * 3600
FED = [
    logical_id
    for logical_id, properties in of_type(written(SERVICE)["Resources"], "AWS::Serverless::Function")
    if any(event["Type"] in ("SQS", "DynamoDB") for event in properties.get("Events", {}).values())
]
"""Functions with a source."""


def mappings() -> list[Properties]:
    return [properties for _, properties in of_type(expanded(), "AWS::Lambda::EventSourceMapping")]


def queues() -> dict[str, Properties]:
    return dict(of_type(expanded(), "AWS::SQS::Queue"))


def test_the_sources_are_one_stream_and_eight_queues() -> None:
    sources = [str(mapping["EventSourceArn"]) for mapping in mappings()]
    assert sorted("TableStream" in source for source in sources) == [False] * 8 + [True]
    assert sorted(mapping["FunctionName"]["Ref"] for mapping in mappings()) == sorted(f"{it}Aliaslive" for it in FED)


@pytest.mark.parametrize("function", FED)
def test_a_source_feeds_the_alias_reports_single_failures_and_has_a_target_for_them(function: str) -> None:
    [mapping] = [mapping for mapping in mappings() if mapping["FunctionName"]["Ref"] == f"{function}Aliaslive"]
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    source = mapping["EventSourceArn"]
    assert isinstance(source, dict)
    if "Ref" in source:
        destination = mapping["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"]
        assert destination == ["ChangesDeadLetters", "Arn"]
        assert mapping["BisectBatchOnFunctionError"] is True
    else:
        assert "RedrivePolicy" in queues()[source["Fn::GetAtt"][0]]


def test_a_message_outwaits_six_runs_of_its_worker() -> None:
    for mapping in mappings():
        if "Fn::GetAtt" in mapping["EventSourceArn"]:
            queue = queues()[mapping["EventSourceArn"]["Fn::GetAtt"][0]]
            function = expanded()[mapping["FunctionName"]["Ref"].removesuffix("Aliaslive")]["Properties"]
            assert queue["VisibilityTimeout"] >= 6 * function["Timeout"]


def test_who_may_send_to_its_own_source_may_go_round_and_nobody_else() -> None:
    """Lambda drops what a function has sent to its own queue 16 times in a chain, unless it says that it means to."""
    fed_by = {
        mapping["FunctionName"]["Ref"]: target(mapping["EventSourceArn"])
        for mapping in mappings()
        if "Fn::GetAtt" in mapping["EventSourceArn"]
    }
    own = {
        name
        for name, (logical_id, _) in functions().items()
        if ("sqs:SendMessage", fed_by.get(f"{logical_id}Aliaslive")) in granted(name)
    }
    allowed = {name for name, (_, it) in functions().items() if it.get("RecursiveLoop") == "Allow"}
    assert own == allowed == {"extract", "compact", "index", "embed", "reflect", "jobs", "librarian", "deliver"}


def test_the_time_of_a_worker_that_observes_is_what_the_code_reckons_with() -> None:
    for name in ("extract", "compact"):
        _, function = functions()[name]
        assert function["Timeout"] == WORKER_S
    visible = {queue_name(queue): queue.get("VisibilityTimeout") for queue in queues().values()}
    assert visible["extract"] == visible["compact"] == VISIBILITY_S
    assert ANSWER_S + COMMIT_S == PASS_S < WORKER_S < ANSWERS_LEASE_S < VISIBILITY_S
    assert 2 * PASS_S <= WORKER_S, "an answer, and the one that may have to follow it"
    assert POSTPONED_S + PASS_S <= WORKER_S
    assert NO_PROGRESS_FOR.total_seconds() > ANSWERS_LEASE_S + POSTPONED_S
    assert (lease_s(ExtractiveObserver().longest_s), lease_s(PASS_S)) == (LEASE_S, ANSWERS_LEASE_S)
    assert 2 * ExtractiveObserver().longest_s < LEASE_S


def test_an_answer_of_the_slowest_model_is_there_in_time() -> None:
    assert writable_tokens(ANSWER_S) / TOKENS_PER_S < ANSWER_S
    assert writable_tokens(ANSWER_S) >= Policy().observer_output_cap, (
        "by default a pass has room for all that it may say"
    )
    assert writable_tokens(ANSWER_S) >= 1.5 * FOLD_TOKENS, "the ids of what is folded included"
    assert writable_tokens(filing_limits.ANSWER_S) >= filing_limits.ANSWER_TOKENS
    assert writable_tokens(night_limits.MAX_ANSWER_S) >= night_limits.WITH_IDS * (65_000 // 2)


def test_the_time_of_a_worker_of_the_night_is_what_the_code_reckons_with() -> None:
    timeouts = {name: function["Timeout"] for name, (_, function) in functions().items()}
    assert (timeouts["reflect"], timeouts["reflect_planner"]) == (time_limits.WORKER_S, 60)
    visible = {queue_name(queue): queue.get("VisibilityTimeout") for queue in queues().values()}
    assert visible["reflect"] == time_limits.VISIBILITY_S
    assert night_limits.needed_s(65_000 // 2) < night_limits.MAX_ANSWER_S, "a full batch has its time"


def test_the_time_of_a_librarian_is_what_the_code_reckons_with() -> None:
    _, function = functions()["librarian"]
    visible = {queue_name(queue): queue.get("VisibilityTimeout") for queue in queues().values()}
    assert (function["Timeout"], visible["librarian"]) == (filing_limits.WORKER_S, filing_limits.VISIBILITY_S)
    assert 2 * filing_limits.FILING_S < filing_limits.WORKER_S < filing_limits.VISIBILITY_S


def test_the_time_of_a_worker_of_the_jobs_is_what_the_code_reckons_with() -> None:
    _, function = functions()["jobs"]
    assert function["Timeout"] == time_limits.WORKER_S
    visible = {queue_name(queue): queue.get("VisibilityTimeout") for queue in queues().values()}
    assert visible["jobs"] == time_limits.VISIBILITY_S
    assert time_limits.WORKER_S < time_limits.LEASE_S < time_limits.VISIBILITY_S


def test_the_last_delivery_is_the_one_that_the_code_reckons_with() -> None:
    redriven = [queue["RedrivePolicy"] for queue in queues().values() if "RedrivePolicy" in queue]
    assert {policy["maxReceiveCount"] for policy in redriven} == {time_limits.DELIVERIES}


def test_workers_of_a_queue_are_limited() -> None:
    """A backlog must neither drown the search domain nor run into the language model's limits."""
    stages = written(SERVICE)["Mappings"]["Stages"]
    for mapping in mappings():
        if "Fn::GetAtt" in mapping["EventSourceArn"]:
            _, _, name = mapping["ScalingConfig"]["MaximumConcurrency"]["Fn::FindInMap"]
            assert all(2 <= stage[name] <= 100 for stage in stages.values())


def test_every_queue_keeps_its_messages_encrypted_for_14_days_and_ends_in_a_dead_letter_queue() -> None:
    for logical_id, queue in queues().items():
        assert queue["MessageRetentionPeriod"] == FOURTEEN_DAYS, logical_id
        assert queue["SqsManagedSseEnabled"] is True
        if "RedrivePolicy" in queue:
            dead = queues()[queue["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]]
            assert queue_name(dead) == f"{queue_name(queue)}-dlq"
            assert dead.get("FifoQueue") == queue.get("FifoQueue")
        else:
            assert queue_name(queue).endswith("-dlq")


@pytest.mark.parametrize("function", ["SweepFunction", "ReflectPlannerFunction"])
def test_a_schedule_is_tried_again_and_its_failures_are_kept(function: str) -> None:
    dead = [f"{function.removesuffix('Function')}DeadLetters", "Arn"]
    schedules = [properties for _, properties in of_type(expanded(), "AWS::Scheduler::Schedule")]
    assert len(schedules) == 2
    assert all("Name" not in one for one in schedules), "two stages of an account would share it"
    [target] = [one["Target"] for one in schedules if one["Target"]["Arn"] == {"Ref": f"{function}Aliaslive"}]
    assert target["DeadLetterConfig"]["Arn"]["Fn::GetAtt"] == dead
    assert target["RetryPolicy"]["MaximumRetryAttempts"] > 0
    configured = [it for _, it in of_type(expanded(), "AWS::Lambda::EventInvokeConfig")]
    [started] = [it for it in configured if it["FunctionName"] == {"Ref": function}]
    assert started["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"] == dead
    role = expanded()[target["RoleArn"]["Fn::GetAtt"][0]]["Properties"]
    allowed = {s["Action"] for policy in role["Policies"] for s in policy["PolicyDocument"]["Statement"]}
    assert allowed == {"lambda:InvokeFunction", "sqs:SendMessage"}


# --- the stream's filter ----------------------------------------------------------------------------


def passes(old: Item | None, new: Item | None) -> bool:
    """Whether the outbox gets to see a change."""
    [stream] = read_template().stream_sources
    images = [(name, row) for name, row in (("OldImage", old), ("NewImage", new)) if row is not None]
    changed = {name: {key: typed_value(value) for key, value in row.items()} for name, row in images}
    kind = "INSERT" if old is None else "REMOVE" if new is None else "MODIFY"
    return lets_through(stream.filters, {"eventName": kind, "dynamodb": changed})


def test_the_filter_is_what_aws_gets_and_one_machine_carries_out() -> None:
    [mapping] = [mapping for mapping in mappings() if "FilterCriteria" in mapping]
    patterns = [json.loads(entry["Pattern"]) for entry in mapping["FilterCriteria"]["Filters"]]
    for pattern in patterns:
        check_pattern(pattern)
    [stream] = read_template().stream_sources
    assert list(stream.filters) == patterns
    assert len(patterns) <= 5, "what a mapping may have"


def test_what_the_outbox_works_on_gets_through() -> None:
    memory = {"type": "memory", "rev": 1}
    assert passes(None, memory)
    assert passes(memory, memory | {"rev": 2})
    assert passes(memory, None)
    document = {"type": "document", "rev": 1}
    assert passes(None, document) and passes(document, document | {"rev": 2}) and passes(document, None)
    assert passes(None, {"type": "event"})
    assert passes(None, {"type": "recall"})
    assert passes(None, {"type": "session"})
    assert passes(None, {"type": "usage", "model_calls": 1})
    assert passes({"type": "usage"}, {"type": "usage", "model_calls": 1})
    assert passes(None, {"type": "pack"}) and passes(None, {"type": "proposal"})
    job, session = {"type": "job", "status": "running"}, {"type": "session", "status": "closed"}
    assert passes(job, job | {"status": "failed"}) and passes(session, session | {"status": "extracted"})


def test_what_it_would_only_pass_over_does_not() -> None:
    assert not passes({"type": "usage"}, {"type": "usage", "embedded_texts": 1}), "no metric is made of it"
    session = {"type": "session", "status": "open"}
    assert not passes(session, session), "an append tells of itself by its events"
    of_users = (
        "open_session",
        "filing",
        "marker",
        "epoch",
        "job",
        "idempotency",
        "vector",
        "user",
    )
    for kind in (*of_users, "tenant", "api_key"):
        row = {"type": kind, "expires_at": 1_800_000_000}
        assert not passes(None, row)
        assert not passes(row, row)
        assert not passes(row, None)
    assert not passes({"type": "recall"}, None), "an old ledger row that ends says nothing"
    assert not passes({"type": "event"}, None)


def test_the_types_named_here_are_those_that_the_code_asks_for() -> None:
    """A type that the outbox begins to read has to join the filter: this names the files to look at."""
    asked = {
        kind.strip('"') if kind.startswith('"') else getattr(rows, kind.removeprefix("rows."))
        for module in (dispatching, note_open, usage)
        for kind in re.findall(r'get\("type"\) [!=]= ("\w+"|rows\.[A-Z_]+)', inspect.getsource(module))
    }
    asked |= set(derive_events.TELLERS)
    [stream] = read_template().stream_sources
    named = {
        kind for pattern in stream.filters for image in pattern["dynamodb"].values() for kind in image["type"]["S"]
    }
    assert asked == named
