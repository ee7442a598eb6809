"""The recalls of one prompt. What they found is worked with while their ledger rows are written."""

from __future__ import annotations

from dataclasses import dataclass, field

from neve.domain.errors import NeveError
from neve.scope import SessionScope
from neve.usecases.ask.compile.command import CompileCommand
from neve.usecases.ask.recall.answer import RecallAnswer
from neve.usecases.ask.recall.command import RecallCommand
from neve.usecases.ask.recall.recall import Recording, recall_and_record


@dataclass(slots=True)
class Recalls:
    """The recalls of one call; the last one counts."""

    scope: SessionScope
    command: CompileCommand
    made: list[Recording] = field(default_factory=list)
    last: Recording | None = None

    def ask(self, query: str) -> None:
        """Recall, and keep the answer; an error counts as none: the reads say whether there is such a session."""
        if not self.command.recalls:
            return
        recorded = not self.command.dry_run
        asked = RecallCommand(query, session_id=self.scope.session, beside="history", recorded=recorded, fills=True)
        try:
            self.last = recall_and_record(self.scope, asked)
        except NeveError:
            self.last = None
        else:
            self.made.append(self.last)

    @property
    def answer(self) -> RecallAnswer | None:
        """Return the last answer, whose ledger row may still be under way."""
        return self.last.answer if self.last else None

    def recorded(self) -> RecallAnswer | None:
        return self.last.recorded() if self.last else None

    def wait(self) -> None:
        """Wait for the ledger row of each recall, also behind an error: a caller who is answered finds all of them in
        the ledger, and a function that has answered may stand still in the middle of a write."""
        for one in self.made:
            one.recorded()
