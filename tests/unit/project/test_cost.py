"""The bill of a turn: units as DynamoDB charges them, and a document that says what was measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from evals.cost import sums
from evals.cost.priced_ports import Bill, PricedTable
from evals.cost.prices import HOURS, PRICES
from evals.cost.report import BEGIN, DOCUMENT, END, render
from local.engine.file_objects import FileObjects
from local.engine.sqlite_table import SqliteTable
from local.template import ROOT, read_template
from neve.adapters.models.anthropic_model import DEFAULT_MODEL
from neve.domain.records.sessions import EventType
from neve.domain.tenants.prices import LIST_PRICES
from neve.ports.table import Check, Delete, Expect, Index, Item, Key, Put, Version, WriteOp
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from tests.unit.project.test_observability import documented
from tests.unit.world import CountedTable, HandClock, World

PLAYED = ("turn", "turn_of_a_model", "end", "export", "erasure")
RESULT = json.loads((ROOT / "evals" / "results" / "cost.json").read_text(encoding="utf-8"))


@pytest.fixture
def bill() -> Bill:
    return Bill()


@pytest.fixture
def table(tmp_path: Path, bill: Bill) -> PricedTable:
    return PricedTable(SqliteTable(tmp_path / "table.db"), bill)


def spent(bill: Bill, unit: str) -> float:
    found = sum(units[unit] for units in bill.units.values())
    bill.clear()
    return found


def row(sk: str, **more: object) -> Item:
    return {"pk": "p", "sk": sk, "type": "t", **more}


@pytest.mark.parametrize(
    ("ops", "units"),
    [
        ([Put(row("a"))], 1),
        ([Put(row("a", text="x" * 1024))], 2),
        ([Put(row("a"), Expect.ABSENT)], 1),
        ([Delete(Key("p", "old"))], 3),
        ([Delete(Key("p", "old"), Version(0))], 6),
        ([Put(row("old"))], 3),
        ([Put(row("a")), Check(Key("p", "b"), Expect.ABSENT)], 4),
        ([Put(row("a", recent_pk="r", recent_sk="1")), Put(row("b"))], 5),
        ([Put(row("listed", recent_pk="r", recent_sk="2"))], 3),
        ([Put(row("listed", recent_pk="r", recent_sk="1"))], 2),
        ([Put(row("ranked", rank_pk="r", rank_sk="1", tokens=3, other="new"))], 1),
        ([Put(row("ranked", rank_pk="r", rank_sk="1", tokens=9))], 2),
        ([Delete(Key("p", "ranked"))], 2),
    ],
)
def test_a_write_is_priced_by_its_rows_and_index_entries(
    table: PricedTable, bill: Bill, ops: list[WriteOp], units: int
) -> None:
    table.write([Put(row("old", text="x" * 2050))])
    table.write([Put(row("listed", recent_pk="r", recent_sk="1"))])
    table.write([Put(row("ranked", rank_pk="r", rank_sk="1", tokens=3))])
    bill.clear()
    table.write(ops)
    assert spent(bill, "write unit") == units


def test_reads_are_priced_by_4_kb_and_indexes_at_half(table: PricedTable, bill: Bill) -> None:
    table.write([Put(row("big", text="x" * 5000, recent_pk="r", recent_sk="1"))])
    bill.clear()
    table.get(Key("p", "big"))
    assert spent(bill, "read unit") == 2
    table.get_many([Key("p", "big"), Key("p", "missing")])
    assert spent(bill, "read unit") == 3
    table.query("p", limit=5)
    assert spent(bill, "read unit") == 2
    table.query("r", index=Index.RECENT, limit=5)
    assert spent(bill, "read unit") == 1


def test_stored_bytes_are_those_of_rows_and_entries(table: PricedTable, bill: Bill) -> None:
    table.write([Put(row("a", text="x" * 1000, recent_pk="r", recent_sk="1"))])
    grown = bill.stored
    assert 2_200 < grown < 2_400
    table.write([Delete(Key("p", "a"))])
    assert bill.stored == 0


def test_the_chat_path_costs_what_is_asserted_on_dynamodb(tmp_path: Path, bill: Bill) -> None:
    """The numbers of tests/contract/test_consumed_capacity.py."""
    clock, rows = HandClock(), CountedTable.at(tmp_path / "table.db")
    world = World(tmp_path, rows, FileObjects(tmp_path / "objects", clock, "http://127.0.0.1"), clock)
    world.open()
    world.say("hello", "hi")
    assert read_pack(world.user("ann").of_session("s1")).state == "ready"
    world.table = PricedTable(rows, bill)  # type: ignore[assignment]
    events = [
        NewEvent(EventType.USER_MESSAGE, "Where?", client_id="c1"),
        NewEvent(EventType.ASSISTANT_RESPONSE, "Here."),
    ]
    for event, written, read in zip(events, (8, 6), (4, 3), strict=True):
        append_events(world.user("ann").of_session("s1"), [event])
        units = dict(sum(bill.units.values(), start=type(bill.units[""])()))
        assert units == {"write unit": written, "read unit": read}
        bill.clear()
    read_pack(world.user("ann").of_session("s1"), holds=lambda _: True)
    assert spent(bill, "read unit") == 3


def test_the_document_holds_what_was_measured() -> None:
    text = (ROOT / DOCUMENT).read_text(encoding="utf-8")
    assert text.split(BEGIN)[1].split(END)[0].strip() == render(RESULT)


def test_every_price_and_every_measured_unit_is_in_the_sum() -> None:
    stages = list(sums.search_sizes())
    lines = [
        *(line for name in PLAYED for line in sums.of_thousand(RESULT[name])),
        *(line for stage in stages for line in sums.of_a_month(stage, RESULT["schedules"])),
        *sums.theirs(),
    ]
    assert {line.price for line in lines} == set(PRICES) - {"row storage", "row recovery"}  # said beside the table
    measured = {unit for name in PLAYED for units in RESULT[name]["units"].values() for unit in units}
    assert measured - {"search request"} <= set(PRICES)  # a domain has no price by the request
    assert sums.total(sums.theirs()) == pytest.approx(1.0)


def test_every_function_is_priced_or_said_not_to_be() -> None:
    priced = {name for played in PLAYED for name in RESULT[played]["calls"]} | set(RESULT["schedules"])
    left = set(read_template().functions) - priced
    beside = (ROOT / DOCUMENT).read_text(encoding="utf-8").split("## What is not in it")[1]
    assert sorted(name for name in left if f"`{name}`" not in beside) == []
    assert {"librarian", "compact", "jobs"} <= priced
    assert RESULT["end"]["calls"]["librarian"] == RESULT["end"]["times"]


def test_a_stage_that_nobody_depends_on_costs_ten_dollars_without_a_search_domain() -> None:
    lines = sums.of_a_month("dev", RESULT["schedules"], domain=False)
    assert sums.total(lines) <= 10
    assert not {"dashboard", "search: data nodes"} & {line.what for line in lines if line.units}
    prod = {line.what: line.units for line in sums.of_a_month("prod", RESULT["schedules"])}
    assert prod["dashboard"] == 1 and prod["metrics of alarms"] > 100


def test_schedules_and_polls_are_those_of_the_template() -> None:
    assert sums.runs_a_month() == {"sweep": 6 * HOURS, "reflect_planner": HOURS}
    lines = {line.what: line.units for line in sums.of_a_month("dev", RESULT["schedules"])}
    assert lines["idle polls, FIFO queues"] == 3 * sums.polls()
    assert lines["idle polls, standard queues"] == 5 * sums.polls()


def test_a_model_token_has_one_price_in_table_alarm_and_document() -> None:
    """That of the default model, in millionths of a dollar a token."""
    price = LIST_PRICES[DEFAULT_MODEL]
    template = (ROOT / "infra" / "observability.yaml").read_text(encoding="utf-8")
    assert f'Expression: "{price.input:g} * FILL(read, 0) + {price.output:g} * FILL(written, 0)"' in template
    document = (ROOT / "docs" / "cost.md").read_text(encoding="utf-8")
    said = f"`{DEFAULT_MODEL}`, {price.input:g} and {price.output:g} USD a million tokens (list price of {price.as_of})"
    assert said in " ".join(document.split())


def test_every_metric_is_paid_for_once_for_each_function_that_writes_it() -> None:
    """Not only those that an alarm or the dashboard reads; and only while somebody emits them."""
    paid = sums.own_metrics()
    for name in (*RESULT["schedules"].values(), *(RESULT[name] for name in PLAYED)):
        assert {tuple(reversed(one.split())) for one in name["metrics"]} <= paid
    idle = {line.what: line.units for line in sums.of_a_month("prod", RESULT["schedules"])}
    assert idle["metrics of schedules"] == len({one for it in RESULT["schedules"].values() for one in it["metrics"]})
    busy = {line.what: line.units for line in sums.of_traffic(RESULT)}
    assert 0 < busy["metrics of our own"] < len(paid) and busy["metrics of routes"] % sums.METRICS_A_ROUTE == 0
    names = {name for name, _ in paid}
    assert {re.sub(r"^(Pii\w+?ed)[A-Z]\w*", r"\1<Class>", name) for name in names} == set(documented())
    watched = (ROOT / "infra" / "observability.yaml").read_text(encoding="utf-8")
    read = re.findall(r'\["Neve","(\w+)","Stage","\$\{Stage\}","Function","(\w+)"\]', watched)
    assert len(read) > 5 and set(read) < paid
    assert {("PassesFailed", "extract"), ("PassesFailed", "compact"), ("PiiBlockedCardNumber", "records")} <= paid
