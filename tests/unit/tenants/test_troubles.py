"""What health says of stores and legs that fail again and again, are full, or are damaged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from local.engine.file_objects import FileObjects
from local.engine.sqlite_table import SqliteTable
from neve.observers.extractive.observer import ExtractiveObserver
from neve.ports.errors import StoreUnavailable
from neve.ports.table import Key, Put
from neve.store.tenants.leg_health import SEARCH_LARGE, put_leg_trouble
from neve.troubles import ACTIVE_FOR, REPEATEDLY, WARNED_EVERY, Trouble, Troubles
from neve.usecases.ask.recall.stages.legs import LegReport, note_legs
from neve.usecases.ask.tenants.service_health import service_health
from tests.unit.recall_world import RecallWorld
from tests.unit.world import HandClock


class HealthWorld(RecallWorld):
    observer = ExtractiveObserver()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RecallWorld]:
    yield HealthWorld.make(tmp_path)


@pytest.fixture
def warned() -> list[Trouble]:
    return []


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def troubles(clock: HandClock, warned: list[Trouble]) -> Troubles:
    return Troubles(clock.now, warned.append)


def kinds(troubles: Troubles) -> list[tuple[str, str]]:
    return [(trouble.what, trouble.kind) for trouble in troubles.active()]


def test_one_failure_is_no_trouble_and_a_success_between_them_starts_over(troubles: Troubles) -> None:
    for _ in range(REPEATEDLY - 1):
        assert not troubles.failed("lexical", "error")
    troubles.worked("lexical")
    assert not troubles.failed("lexical", "error")
    assert kinds(troubles) == []


def test_a_trouble_is_warned_of_once_in_five_minutes_and_ends_when_it_works_again(
    troubles: Troubles, warned: list[Trouble], clock: HandClock
) -> None:
    for _ in range(50):
        troubles.failed("lexical", "error")
    assert (kinds(troubles), len(warned)) == ([("lexical", "failing")], 1)
    clock.at += WARNED_EVERY
    assert troubles.failed("lexical", "error")
    assert len(warned) == 2
    assert troubles.worked("lexical")
    assert (kinds(troubles), troubles.worked("lexical")) == ([], False)


def test_a_trouble_that_nobody_sees_any_more_is_over_and_damage_is_not(troubles: Troubles, clock: HandClock) -> None:
    troubles.note("queue", "full", "no room")
    troubles.note("table", "damaged", "a page")
    clock.at += ACTIVE_FOR
    assert kinds(troubles) == [("table", "damaged")]
    troubles.worked("table")
    assert kinds(troubles) == [("table", "damaged")]


def test_a_damaged_page_and_a_full_disk_are_noted_by_the_file(tmp_path: Path, troubles: Troubles) -> None:
    path = tmp_path / "table.db"
    with closing(SqliteTable(path, troubles)) as table:
        table.write([Put({"pk": "P", "sk": f"{n}", "text": "x" * 2000}) for n in range(80)])
        with table._file.writing() as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count={pages + 4}")
        with pytest.raises(StoreUnavailable):
            table.write([Put({"pk": "P", "sk": "more", "text": "x" * 100_000})])
        assert kinds(troubles) == [("table", "full")]
        table.write([Put({"pk": "P", "sk": "0", "text": "y"})])
        assert kinds(troubles) == []
    with path.open("r+b") as stream:
        stream.seek(4096)
        stream.write(b"\x99" * (path.stat().st_size - 4096))
    with pytest.raises(StoreUnavailable), closing(SqliteTable(path, troubles)) as table:
        table.get(Key("P", "7"))
    assert kinds(troubles) == [("table", "damaged")]


def test_a_disk_without_room_for_an_object_is_noted(
    tmp_path: Path, troubles: Troubles, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = FileObjects(tmp_path / "objects", clock, "", troubles)

    def no_room(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", no_room)
        with pytest.raises(StoreUnavailable):
            objects.put("a", b"x", content_type="text/plain")
    assert kinds(troubles) == [("objects", "full")]
    objects.put("a", b"x", content_type="text/plain")
    assert kinds(troubles) == []


def test_objects_whose_folder_is_gone_are_a_trouble_and_not_missing(
    tmp_path: Path, troubles: Troubles, clock: HandClock
) -> None:
    objects = FileObjects(tmp_path / "objects", clock, "", troubles)
    assert objects.get("a") is None
    (tmp_path / "objects").rename(tmp_path / "elsewhere")
    for call in (lambda: objects.get("a"), lambda: objects.peek("a", 1)):
        with pytest.raises(StoreUnavailable):
            call()
    assert kinds(troubles) == []
    with pytest.raises(StoreUnavailable):
        objects.put("a", b"x", content_type="text/plain")
    assert kinds(troubles) == [("objects", "failing")]
    (tmp_path / "elsewhere").rename(tmp_path / "objects")
    objects.put("a", b"x", content_type="text/plain")
    assert kinds(troubles) == []


def test_a_leg_that_fails_again_and_again_is_said_by_health_of_every_process(world: RecallWorld) -> None:
    broken = {"lexical": LegReport("error"), "vector": LegReport("complete")}
    for _ in range(REPEATEDLY - 1):
        note_legs(world, broken)
    assert service_health(world).status == "ok"
    note_legs(world, broken)
    for _ in range(2):
        health = service_health(world)
        assert (health.status, [(t.what, t.kind) for t in health.troubles]) == ("degraded", [("lexical", "failing")])
        world.forget()  # another process knows it from the row
    world.clock.move(minutes=10)
    assert service_health(world).status == "ok"


def test_a_user_who_is_too_large_for_segments_is_said_by_health_and_degrades_nothing(world: RecallWorld) -> None:
    world.table.write([put_leg_trouble(SEARCH_LARGE, "use a search domain", world.clock.now())])
    health = service_health(world)
    assert (health.status, [(t.what, t.kind) for t in health.troubles]) == ("ok", [("search_large", "full")])


@pytest.mark.parametrize(
    ("fault", "leg", "why"),
    [
        ("lexical=error", "lexical", "search: "),
        ("vector=error", "vector", "search: "),
        ("embed=status:403", "vector", "vector:embed_error, EmbeddingUnavailable"),
    ],
)
def test_why_a_leg_fails_is_said_by_health(world: RecallWorld, fault: str, leg: str, why: str) -> None:
    world.remember("User's sister is named Mary")
    world.pump()
    world.broken(fault)
    for n in range(REPEATEDLY):
        answer = world.ask(f"Mary sister {n}")
        assert answer.legs[leg].status == "error"
        note_legs(world, answer.legs)
    [trouble] = service_health(world).troubles
    assert trouble.reason.startswith(f"{leg} leg of recall: {why}")


def test_a_leg_that_works_again_is_taken_back_and_a_timeout_is_no_failure(world: RecallWorld) -> None:
    for _ in range(REPEATEDLY):
        note_legs(world, {"lexical": LegReport("error"), "vector": LegReport("error", late=True)})
    assert [t.what for t in service_health(world).troubles] == ["lexical"]
    note_legs(world, {"lexical": LegReport("complete")})
    assert service_health(world).status == "ok"
    world.forget()
    assert service_health(world).status == "ok"


def test_health_is_loading_until_the_encoder_is_there(world: RecallWorld) -> None:
    troubles = world.caches.troubles
    troubles.note("embedder", "loading", "soon")
    health = service_health(world)
    assert (health.status, health.embedder.state, health.troubles) == ("loading", "loading", ())
    troubles.note("table", "damaged", "a page")
    assert service_health(world).status == "degraded"
    troubles.over("embedder", "loading")
    assert service_health(world).embedder.state == "ready"
