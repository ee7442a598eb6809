"""What a model answers passes the gate before it is kept, whatever it was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from neve.domain.compact.headings import SummaryText
from neve.domain.librarian.filing import Account
from neve.observing import Condensed, CondensedRow, Reflected, ReflectedRow, Summarised
from neve.store import rows
from neve.store.partitions import all_rows
from neve.usecases.ask.memories.list_memories import MemoryFilter, get_memory, list_memories
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.tell.requests.request_compaction import request_compaction
from neve.usecases.work.compact.compact_session import compact_session
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.reflect.reflect_session import reflect_session
from neve.usecases.work.reflect.request_reflection import request_reflection
from tests.unit.librarian.library_world import LibraryWorld, answer, change, proposals
from tests.unit.reflect.night_world import NightWorld
from tests.unit.world import World

CARD = "4111 1111 1111 1111"
GIVEN_TEXT = f"The user pays with {CARD}."
REDACTED_TEXT = "The user pays with [removed]."


@pytest.fixture
def library(tmp_path: Path) -> Iterator[LibraryWorld]:
    world = LibraryWorld.at(tmp_path)
    world.open()
    world.say("I prefer the window seat.", "Noted.")
    yield world
    world.table.close()


def test_a_librarians_documents_and_account_are_kept_without_it(library: LibraryWorld) -> None:
    account = Account(f"Card {CARD}", "SUCCESS", "calm", (CARD,), SummaryText(decisions=(GIVEN_TEXT,)))
    changes = [
        change("create", "/profile/preferences", GIVEN_TEXT, title=CARD, tags=(CARD,)),
        change("create", f"/profile/{CARD}", "Nothing."),
    ]
    waits = change("create", "/elsewhere/x", GIVEN_TEXT)
    library.observer.filings = [answer(*changes, illegal=(waits,), account=account)]
    job = library.end()
    report = library.file()
    assert report is not None and library.text("/profile/preferences") == REDACTED_TEXT
    assert [one.action.text for one in proposals(library)] == [REDACTED_TEXT]
    [summary] = list_memories(library.user(), MemoryFilter(kind="session_summary"), 10, None)[0]
    assert CARD not in summary.text and CARD not in summary.key_topics
    result = get_job(library.user(), job.id).result
    assert (result["redacted"], report.redacted) == ({"card_number": 7}, {"card_number": 7})
    assert result["rejected"] == {"personal_data": 1}, "no document can stand at such a path"
    assert CARD not in str(list(all_rows(library.table, library.user().keys.partition)))


def test_a_summary_is_kept_without_it(tmp_path: Path) -> None:
    world = World.make(tmp_path)
    world.with_policy(window=2_000)
    world.open()
    for _ in range(12):
        world.say("u" * 320, "a" * 320)
    world.observer.summaries = [Summarised(SummaryText(insights=(GIVEN_TEXT,)), "scripted", prompt_version="1")]
    session = world.user().of_session("s1")
    job = request_compaction(session, "manual", wait=False)
    compact_session(session, world.queued(job))
    item = world.table.get(session.keys.summary(1))
    assert item is not None and rows.read_summary(item).insights == (REDACTED_TEXT,)
    world.table.close()


def test_a_reflection_is_kept_without_it(tmp_path: Path) -> None:
    world = World.make(tmp_path)
    world.with_policy(window=100, session_reflection_trigger=10, session_reflection_target=9)
    world.open()
    session = world.user().of_session("s1")
    for _ in range(3):
        world.say("I moved to Nice", "Lovely")
        observe_session(session, 1)
    world.observer.reflections = [Reflected((ReflectedRow(GIVEN_TEXT),), "scripted")]
    [reflection] = reflect_session(session, 1)
    assert get_memory(world.user(), reflection).text == REDACTED_TEXT
    world.table.close()


def test_a_row_of_a_night_is_kept_without_it(tmp_path: Path) -> None:
    world = NightWorld.opened(tmp_path)
    world.fill(4)
    world.observer.condensations = [Condensed((CondensedRow(GIVEN_TEXT),), "scripted")]
    request_reflection(world.scope, "ann", None)
    world.work()
    assert [memory.text for memory in world.reflections()] == [REDACTED_TEXT]
    world.table.close()
