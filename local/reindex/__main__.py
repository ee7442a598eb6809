"""``python -m local.reindex``: rebuild the search index while the service is stopped, for another embedder or after a
loss. ``make reindex EMBEDDER=bge-small``.

Broken off at any point, the service has the index that was in use or the whole new one; started again, no text is
embedded twice."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path

from local.aws.full_stack import FullStack
from local.backend import EMBEDDERS, QUEUE, SEARCH, SEARCHES, Choices, EmbeddedPorts
from local.datafolder import DERIVED, FOLDERS, DataFolder, DataFolderError, open_data_folder
from local.engine.search.search_index import SqliteSearchIndex
from local.recovery.progress import Progress, in_words
from local.recovery.rebuild import refill
from local.recovery.search_swap import file_beside, put_in_place
from local.reindex.in_place import reindex_segments
from local.reindex.search_domain import reindex_stage
from local.stack.jars import CannotFetch
from local.stack.servers import DidNotStart
from local.template import read_template
from neve.observability import log_to_stderr
from neve.ports.errors import EmbeddingRetryable, EmbeddingUnavailable, StoreUnavailable
from neve.usecases.work.indexing.index_events import EmbedAgain
from neve.usecases.work.indexing.reindex import reindex

FAILURES = (
    *(DataFolderError, StoreUnavailable, DidNotStart, CannotFetch),
    *(EmbeddingUnavailable, EmbeddingRetryable, EmbedAgain),
)


def main() -> int:
    given = _arguments()
    log_to_stderr()
    try:
        reindex_folder(given.data or Path(FOLDERS[given.stack]), given.stack, given.embedder, given.search)
    except FAILURES as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nBroken off: start it again, no text is embedded twice.", file=sys.stderr)
        return 130
    print(f"From now on start the service with --embedder {given.embedder}.")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local.reindex", description="Rebuild the search index.")
    parser.add_argument("--data", type=Path, help="the service's folder (.neve, or .neve-full)")
    parser.add_argument("--stack", choices=tuple(FOLDERS), default="embedded", help="what it was started with")
    parser.add_argument("--embedder", choices=EMBEDDERS, required=True, help="whose vectors")
    parser.add_argument("--search", choices=SEARCHES, default="embedded", help="what it was started with")
    return parser.parse_args()


def reindex_folder(path: Path, stack: str, embedder: str, search: str = "embedded") -> None:
    """Raises FAILURES. FolderInUse, a DataFolderError: the service is running."""
    holds = EmbeddedPorts.holds if stack == "embedded" else FullStack.holds
    missing = [name for name in holds if not (path / name).exists() and name not in DERIVED]
    if missing:
        raise DataFolderError(f"{path} has no {missing[0]}: it keeps no data of --stack {stack}.")
    folder = open_data_folder(path)
    try:
        if folder.moved_aside is not None:
            raise DataFolderError(f"It was damaged ({folder.damage}) and is at {folder.moved_aside} now.")
        if stack == "full":
            _full(folder, embedder)
        elif search == "segments":
            _segments(folder, embedder)
        else:
            _embedded(folder, embedder)
    finally:
        folder.close()


def _embedded(folder: DataFolder, embedder: str) -> None:
    path = folder.path
    with closing(EmbeddedPorts(path, read_template(), "", Choices(embedder))) as ports:
        beside, model = file_beside(path / SEARCH), ports.embedder.model
        print(f"Filling {beside.name} for {model.tag} …", flush=True)
        with closing(SqliteSearchIndex(beside, model)) as target:
            done = reindex(ports, target, _nothing, _nothing, Progress(), ports.multi)
        if QUEUE in folder.lost:
            print(f"{folder.lost[QUEUE]}. What it held is queued again from the table:", flush=True)
            refill(ports)
            folder.found_again(QUEUE)
    put_in_place(path / SEARCH)
    if SEARCH in folder.lost:
        folder.found_again(SEARCH)
    print(f"{SEARCH} is for {model.tag} now: {in_words(done)}.")


def _segments(folder: DataFolder, embedder: str) -> None:
    with closing(EmbeddedPorts(folder.path, read_template(), "", Choices(embedder, search="segments"))) as ports:
        reindex_segments(ports, settle_s=0)


def _full(folder: DataFolder, embedder: str) -> None:
    with closing(FullStack(folder.path, read_template(), Choices(embedder), delays=True)) as ports:
        reindex_stage(ports, ports.search_url, drop_old=True, settle_s=0, alias=ports.alias)


def _nothing() -> None:
    """Nobody else has the folder open: the files change places at the end."""


if __name__ == "__main__":
    sys.exit(main())
