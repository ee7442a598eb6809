"""No document stands where others are below, nor below a document (docs/rules/documents.md#files-and-folders)."""

from __future__ import annotations

from collections.abc import Collection

from neve.domain.documents.paths import folders_of
from neve.domain.errors import NeveError
from neve.ports.table import Table, key_of
from neve.store.keys import UserKeys, path_of
from neve.store.partitions import all_rows


def refuse_crossing(table: Table, keys: UserKeys, path: str, leaving: Collection[str] = ()) -> None:
    """Refuse a path that is about to be a document's, but is a folder, or below a document. ``leaving``: paths that are
    free by then. A query and, of a path in a folder, a read. What another call writes at the very same time is not
    seen. Raises conflict, which names the other path; StoreUnavailable."""
    refuse_below(table, keys, path, leaving)
    below = keys.documents_below(f"{path}/", None)
    for item in all_rows(table, keys.partition, between=below, page=len(leaving) + 1):
        if (other := path_of(key_of(item))) not in leaving:
            raise NeveError("conflict", f"'{path}' is a folder: there is a document at '{other}'.")


def refuse_below(table: Table, keys: UserKeys, path: str, leaving: Collection[str] = ()) -> None:
    """Refuse a path below a document. Raises what ``refuse_crossing`` does."""
    above = [folder for folder in folders_of(path) if folder not in leaving]
    found = table.get_many([keys.document(folder) for folder in above]) if above else {}
    if found:
        document = next(folder for folder in above if keys.document(folder) in found)
        raise NeveError("conflict", f"There is a document at '{document}', so that '{path}' cannot be below it.")
