"""Opening the folder that a local server keeps everything in."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from local import datafolder
from local.datafolder import DataFolderError, FolderInUse, open_data_folder
from local.engine.sqlite_table import SqliteTable
from neve.ports.table import Key, Put
from tests.contract.engines.endless_writer import killed_after_some_writes

HELD = ["objects", "table.db"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data"


def run_once(path: Path, *, orderly: bool = True) -> None:
    """A server that starts, writes a row beside what is there, and stops."""
    folder = open_data_folder(path)
    assert folder.moved_aside is None
    with closing(SqliteTable(folder.path / "table.db")) as table:
        (folder.path / "objects").mkdir(exist_ok=True)
        folder.must_hold(HELD)
        before = len(rows(table))
        table.write([Put({"pk": "P", "sk": f"{before}"})])
        table.write([Put({"pk": "FILL", "sk": f"{before}-{n}", "text": "x" * 1000}) for n in range(100)])
    if orderly:
        folder.close()
    else:
        os.close(folder.lock)


def rows(table: SqliteTable) -> list[str]:
    return [item["sk"] for item in table.query("P", limit=100).items]


def contents(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()}


# --- healthy folders ----------------------------------------------------------------------------


@pytest.mark.parametrize("orderly", [True, False])
def test_the_next_start_finds_the_data(path: Path, orderly: bool) -> None:
    for _ in range(3):
        run_once(path, orderly=orderly)
    folder = open_data_folder(path)
    assert (folder.path, folder.moved_aside, folder.damage) == (path, None, None)
    with closing(SqliteTable(path / "table.db")) as table:
        assert rows(table) == ["0", "1", "2"]
    folder.close()
    assert [entry.name for entry in path.parent.iterdir()] == ["data"]


def test_a_folder_is_made_with_its_parents(path: Path) -> None:
    open_data_folder(path / "deep" / "er").close()
    open_data_folder(path / "deep" / "er").close()
    assert [entry.name for entry in (path / "deep").iterdir()] == ["er"]


@pytest.mark.parametrize("large", [False, True])
def test_databases_are_read_through_at_each_start_large_ones_only_after_a_disorderly_stop(
    path: Path, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    looks: list[bool] = []

    def looking(_: Path, *, thorough: bool) -> None:
        looks.append(thorough)

    run_once(path)
    monkeypatch.setattr(datafolder, "damage_of", looking)
    monkeypatch.setattr(datafolder, "MAX_EAGER_READ_BYTES", 1_000 if large else 10**9)
    unread = []
    for orderly in (False, True, True):
        folder = open_data_folder(path)
        unread.append([file.name for file in folder.unread])
        if orderly:
            folder.close()
        else:
            os.close(folder.lock)
    left = ["table.db"] if large else []
    assert (looks, unread) == ([not large, True, not large], [left, [], left])


def test_a_folder_in_which_damage_was_found_while_it_was_open_is_read_through_at_the_next_start(path: Path) -> None:
    run_once(path)
    folder = open_data_folder(path)
    folder.distrust()
    folder.close()
    assert not (path / "CLEAN").exists()


def test_a_folder_on_a_full_disk_is_closed_and_read_through_at_the_next_start(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_once(path)
    folder = open_data_folder(path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(datafolder, "_write", full)
        folder.close()
    assert not (path / "CLEAN").exists()
    open_data_folder(path).close()
    assert (path / "CLEAN").exists()


@pytest.mark.parametrize("left", [[], ["LOCK"], ["LOCK", "FORMAT.partial"]])
def test_an_interrupted_first_start_is_no_damage(path: Path, left: list[str]) -> None:
    path.mkdir()
    for name in left:
        (path / name).write_text("")
    run_once(path)
    run_once(path)


def test_a_database_that_was_never_finished_is_no_damage(path: Path) -> None:
    os.close(open_data_folder(path).lock)
    (path / "table.db").write_bytes(b"")
    run_once(path)


def test_a_folder_that_lost_a_file_while_open_was_not_stopped_orderly(path: Path) -> None:
    run_once(path)
    folder = open_data_folder(path)
    (path / "table.db").rename(path.parent / "elsewhere.db")
    folder.close()
    assert not (path / "CLEAN").exists()
    found = open_data_folder(path)
    assert found.damage == "table.db is missing"
    found.close()


# --- one opener ---------------------------------------------------------------------------------

HOLDER = """
import sys
from pathlib import Path
from local.datafolder import open_data_folder
folder = open_data_folder(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    """A process that has the folder open until its standard input ends."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


def test_a_second_opener_is_told_which_process_has_the_folder(path: Path) -> None:
    with holder(path) as process:
        before = contents(path)
        with pytest.raises(FolderInUse, match=f"in use by process {process.pid}\\.") as refusal:
            open_data_folder(path)
        assert refusal.value.pid == process.pid
        assert contents(path) == before
        process.kill()


def test_the_lock_of_a_dead_process_is_taken_over(path: Path) -> None:
    run_once(path)
    with holder(path) as process:
        process.kill()
    assert (path / "LOCK").read_text() == f"{process.pid}\n"
    folder = open_data_folder(path)
    assert (path / "LOCK").read_text() == f"{os.getpid()}\n"
    assert folder.moved_aside is None
    folder.close()
    assert (path / "LOCK").read_text() == ""


def test_one_process_cannot_open_a_folder_twice(path: Path) -> None:
    folder = open_data_folder(path)
    with pytest.raises(FolderInUse, match=f"process {os.getpid()}"):
        open_data_folder(path)
    folder.close()
    open_data_folder(path).close()


def test_a_lock_that_names_nobody_still_holds(path: Path) -> None:
    folder = open_data_folder(path)
    (path / "LOCK").write_text("")
    with pytest.raises(FolderInUse, match="in use by another process") as refusal:
        open_data_folder(path)
    assert refusal.value.pid is None
    folder.close()


def test_a_folder_that_is_moved_while_it_is_being_locked_is_not_used(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_once(path)
    real = fcntl.flock

    def late(lock: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", real)
        path.rename(path.parent / "aside")
        path.mkdir()
        real(lock, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    folder = open_data_folder(path)
    assert (path / "LOCK").read_text() == f"{os.getpid()}\n"
    assert (path.parent / "aside" / "LOCK").read_text() == ""
    folder.close()


# --- folders that are not ours ------------------------------------------------------------------


def test_a_folder_with_other_things_in_it_is_left_alone(path: Path) -> None:
    path.mkdir()
    (path / "thesis.tex").write_text("years of work")
    with pytest.raises(DataFolderError, match="holds something else"):
        open_data_folder(path)
    assert contents(path) == {"thesis.tex": b"years of work"}
    assert [entry.name for entry in path.parent.iterdir()] == ["data"]


def test_a_folder_of_a_newer_format_is_left_alone(path: Path) -> None:
    run_once(path)
    (path / "FORMAT").write_text('{"format": 7, "holds": []}')
    before = contents(path)
    with pytest.raises(DataFolderError, match="has format 7; this version reads up to 6"):
        open_data_folder(path)
    assert {**contents(path), "LOCK": b""} == before
    (path / "FORMAT").write_text('{"format": 4, "holds": []}')
    open_data_folder(path).close()


def test_a_file_is_no_folder(path: Path) -> None:
    path.write_text("a file")
    with pytest.raises(DataFolderError, match="is a file: choose a folder"):
        open_data_folder(path)


# --- folders of an older format -----------------------------------------------------------------


def test_a_search_index_of_an_older_layout_is_made_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it is whole it counts as lost, however often the start is broken off."""
    newer = datafolder.FORMAT_NUMBER + 1
    run_once(path)
    SqliteTable(path / "search.db").close()
    (path / "FORMAT").write_text(json.dumps({"format": newer - 1, "holds": ["search.db", "table.db"]}))
    (path / "CLEAN").unlink()
    monkeypatch.setattr(datafolder, "FORMAT_NUMBER", newer)
    for _ in range(2):
        folder = open_data_folder(path)
        assert folder.moved_aside is None and not (path / "search.db").exists()
        assert "search.db" in folder.lost and json.loads((path / "FORMAT").read_text())["format"] == newer
        os.close(folder.lock)
    folder = open_data_folder(path)
    SqliteTable(path / "search.db").close()
    folder.found_again("search.db")
    folder.close()
    again = open_data_folder(path)
    assert again.lost == {}
    again.close()


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_folder_whose_rows_are_not_found_any_more_is_left_alone(path: Path, number: int) -> None:
    run_once(path)
    (path / "FORMAT").write_text(json.dumps({"format": number, "holds": HELD}))
    before = contents(path)
    with pytest.raises(DataFolderError, match=f"has format {number}; this version reads from 4 on"):
        open_data_folder(path)
    assert {**contents(path), "LOCK": b""} == before
    assert [entry.name for entry in path.parent.iterdir()] == ["data"], "it is not damaged, and not moved aside"


# --- damaged folders ----------------------------------------------------------------------------


def overwritten(offset: int, length: int) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with (path / "table.db").open("r+b") as file:
            file.seek(offset)
            file.write(b"\xa5" * length)

    return damage


def written(name: str, content: bytes) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        (path / name).write_bytes(content)

    return damage


def cut(size: int) -> Callable[[Path], None]:
    return lambda path: os.truncate(path / "table.db", size)


def lost(name: str) -> Callable[[Path], None]:
    """The files of the folder are looked for afterwards, so it is moved and not deleted."""

    def damage(path: Path) -> None:
        (path / name).rename(path.parent / "lost")

    return damage


@pytest.mark.parametrize(
    ("damage", "orderly", "reason"),
    [
        (overwritten(0, 100), True, "table.db: file is not a database"),
        (overwritten(0, 100), False, "table.db: file is not a database"),
        (overwritten(16_384, 40_000), False, "table.db: "),
        (cut(0), True, "table.db is empty"),
        (cut(0), False, "table.db is empty"),
        (cut(50), False, "table.db: "),
        (cut(4096), False, "table.db: "),
        (cut(70_000), True, "table.db has 70000 bytes"),
        (cut(70_000), False, "table.db: "),
        (lost("table.db"), True, "table.db is missing"),
        (lost("table.db"), False, "table.db is missing"),
        (lost("objects"), False, "objects is missing"),
        (lost("FORMAT"), True, "FORMAT is missing"),
        (written("FORMAT", b"\xff"), True, "FORMAT is missing or unreadable"),
        (written("FORMAT", b"[]"), True, "FORMAT is missing or unreadable"),
        (written("FORMAT", b'{"format": 4}'), True, "FORMAT is missing or unreadable"),
    ],
)
def test_a_damaged_folder_is_moved_aside_whole(
    path: Path, damage: Callable[[Path], None], orderly: bool, reason: str
) -> None:
    run_once(path, orderly=orderly)
    damage(path)
    before = {name: content for name, content in contents(path).items() if name != "LOCK"}
    folder = open_data_folder(path)
    assert folder.damage is not None
    assert folder.damage.startswith(reason)
    assert folder.moved_aside is not None
    assert folder.moved_aside.parent == path.parent
    assert folder.moved_aside.name.startswith("data.damaged-2")
    after = contents(folder.moved_aside)
    assert {name: after.get(name) for name in before} == before
    folder.close()
    run_once(path)
    with closing(SqliteTable(path / "table.db")) as table:
        assert rows(table) == ["0"]


def test_a_clean_marker_that_cannot_be_read_means_a_closer_look(path: Path) -> None:
    run_once(path)
    (path / "CLEAN").write_text("{")
    run_once(path)
    (path / "CLEAN").write_text("{")
    overwritten(16_384, 40_000)(path)
    folder = open_data_folder(path)
    assert folder.moved_aside is not None
    folder.close()


def test_damaged_folders_of_one_second_are_all_kept(path: Path) -> None:
    names = set()
    for _ in range(3):
        run_once(path)
        lost("table.db")(path)
        folder = open_data_folder(path)
        assert folder.moved_aside is not None
        names.add(folder.moved_aside.name)
        folder.close()
        (path.parent / "lost").rename(path.parent / f"lost-{len(names)}")
    assert len(names) == 3
    assert {entry.name for entry in path.parent.iterdir() if ".damaged-" in entry.name} == names


def test_a_damaged_folder_that_cannot_be_moved_stays_and_is_reported(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_once(path)
    overwritten(0, 100)(path)
    before = contents(path)

    def refuse(self: Path, target: Path) -> Path:
        raise OSError(16, "Device or resource busy")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", refuse)
        with pytest.raises(DataFolderError, match=r"is damaged .* cannot be moved aside: .*busy"):
            open_data_folder(path)
    assert {**contents(path), "LOCK": b""} == before
    open_data_folder(path).close()


def test_a_database_that_cannot_be_looked_at_is_not_called_damaged(path: Path) -> None:
    run_once(path)
    (path / "table.db").rename(path.parent / "kept.db")
    (path / "table.db").mkdir()
    (path / "CLEAN").unlink()
    with pytest.raises(DataFolderError, match="cannot be opened: "):
        open_data_folder(path)
    assert [entry.name for entry in path.parent.iterdir() if "damaged" in entry.name] == []


def test_a_killed_server_leaves_a_healthy_folder(path: Path) -> None:
    os.close(open_data_folder(path).lock)
    written = killed_after_some_writes("table", "sqlite", str(path / "table.db"), seed=0)
    assert (path / "table.db-wal").stat().st_size > 0
    folder = open_data_folder(path)
    assert folder.damage is None
    with closing(SqliteTable(path / "table.db")) as table:
        assert table.get(Key("P", f"ROW#{written - 1:06d}")) is not None
    folder.close()


# --- what can be made again ---------------------------------------------------------------------

SPOILED: dict[str, Callable[[Path], object]] = {
    "missing": lambda file: file.unlink(),
    "empty": lambda file: file.write_bytes(b""),
    "no database": lambda file: file.write_bytes(b"x" * file.stat().st_size),
    "cut short": lambda file: os.truncate(file, file.stat().st_size // 2),
    "a damaged page": lambda file: overwrite(file, file.stat().st_size // 2),
}


def overwrite(file: Path, at: int) -> None:
    with file.open("r+b") as stream:
        stream.seek(at // 4096 * 4096)
        stream.write(b"\x99" * 4096)


def with_derived(path: Path) -> None:
    folder = open_data_folder(path)
    for name in ("table.db", "queue.db", "search.db"):
        with closing(SqliteTable(folder.path / name)) as table:
            table.write([Put({"pk": "P", "sk": f"{n}", "text": "x" * 1000}) for n in range(100)])
    folder.must_hold(["table.db", "queue.db", "search.db"])
    folder.close()


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=list(SPOILED))
@pytest.mark.parametrize("name", ["queue.db", "search.db"])
def test_a_derived_database_that_is_damaged_is_lost_and_the_folder_is_not(
    path: Path, name: str, spoil: Callable[[Path], object]
) -> None:
    with_derived(path)
    before = contents(path)
    spoil(path / name)
    for _ in range(2):  # a start that breaks off before the database is made again leaves it lost
        folder = open_data_folder(path)
        assert (folder.moved_aside, list(folder.lost)) == (None, [name])
        assert contents(path)["table.db"] == before["table.db"]
        with closing(SqliteTable(path / name)) as made:
            assert rows(made) == []
        folder.must_hold(["table.db", "queue.db", "search.db"])
        os.close(folder.lock)
    folder = open_data_folder(path)
    SqliteTable(path / name).close()
    folder.found_again(name)
    folder.close()
    folder = open_data_folder(path)
    assert folder.lost == {}
    folder.close()


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=list(SPOILED))
def test_with_the_table_damaged_everything_is_moved_aside_together(path: Path, spoil: Callable[[Path], object]) -> None:
    with_derived(path)
    spoil(path / "search.db")
    spoil(path / "table.db")
    before = contents(path)
    folder = open_data_folder(path)
    assert folder.moved_aside is not None
    assert folder.lost == {}
    aside = contents(folder.moved_aside)
    assert [name for name in before if name != "LOCK" and aside.get(name) != before[name]] == []
    folder.close()
