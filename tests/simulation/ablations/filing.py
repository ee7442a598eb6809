"""What stands in the place of the librarian's safeguards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from neve.store.documents import read_document
from neve.store.filings import read_filing
from neve.usecases.work.librarian import commit_filing
from tests.simulation.ablations.ablation import Patch


class _Anywhere(int):
    """A cursor that stands wherever somebody thinks."""

    def __eq__(self, _: object) -> bool:
        return True

    def __ne__(self, _: object) -> bool:
        return False

    __hash__ = int.__hash__


def writes_over_what_it_had_not_seen() -> list[Patch]:
    """As if every document still stood at the rev that it was shown at."""
    planned = commit_filing.FilingCommit._planned

    def blind(self: Any, action: Any, found: Any) -> Any:
        item = found.get(self.scope.keys.document(action.path))
        rev = read_document(item).rev if item else None
        return planned(self, replace(action, base_rev=rev), found)

    return [(commit_filing.FilingCommit, "_planned", blind)]


def files_what_another_one_filed() -> list[Patch]:
    """Nobody looks whether the cursor has moved, and the row is written whatever its version is by now."""
    read = read_filing

    def anywhere(session: str, item: Any) -> Any:
        filing = read(session, item)
        return replace(filing, filed_seq=_Anywhere(filing.filed_seq))

    return [(commit_filing, "read_filing", anywhere)]
