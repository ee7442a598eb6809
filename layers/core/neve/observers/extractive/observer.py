"""An observer without a language model or a network: a small classifier of English statements, fitted on sentences of
our own, decides what is kept (docs/rules/observe.md#extractive; docs/observer.md)."""

from __future__ import annotations

from collections.abc import Sequence

from neve.domain.compact.extract import extract_summary, without_unwanted
from neve.domain.librarian.extract import account_of
from neve.domain.librarian.filing import Filed
from neve.domain.observe.lines import earlier, within_tokens
from neve.domain.zones import local_time, zone
from neve.observers.extractive.candidates import scene_at
from neve.observers.extractive.company import among_people
from neve.observers.extractive.facts import facts_of
from neve.observers.extractive.librarian.filing import actions_of
from neve.observers.extractive.lines import lines_of_pass
from neve.observers.extractive.reflection import folded_rows
from neve.observers.extractive.speech import own_events
from neve.observers.extractive.thread import current_task, thread_title
from neve.observing import (
    Condensed,
    CondensedRow,
    CondenseInput,
    FilingInput,
    Observed,
    ObservedLine,
    PassInput,
    Question,
    Reflected,
    ReflectedRow,
    ReflectInput,
    Summarised,
    SummaryInput,
)

NAME = "extractive"
RULES_VERSION = "1"
"""The version of the librarian's rules: raised with every change of where a statement belongs."""
TIME_LIMIT_S = 30.0
"""A summary of 8,000 events takes 5.5 s of a processor, and a pass of 35,000 tokens one; a worker has a third of a CPU
(512 MB), and the commit, the horizon and the pack come behind it."""


class ExtractiveObserver:
    """An observer by rules: the same events give the same memories, and it never fails, waits or costs anything."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def languages(self) -> tuple[str, ...]:
        return ("en",)

    @property
    def longest_s(self) -> float:
        return TIME_LIMIT_S

    @property
    def longest_filing_s(self) -> float:
        return TIME_LIMIT_S

    def observe(self, given: PassInput) -> Observed:
        people = among_people(given.events)
        found = lines_of_pass(given, among_people=people)
        observed = [ObservedLine(line.shown, line.seq_from, line.seq_to) for line in found.lines]
        room = within_tokens(observed, given.output_cap, given.events)
        covered_to = earlier(found.covered_to, room.covered_to)
        said_at = {event.seq: local_time(event.created_at, zone(given.timezone)) for event in given.events}
        return Observed(
            has_memory=bool(room.lines),
            lines=room.lines,
            model=NAME,
            used_memory_ids=tuple(found.restated),
            facts=() if people else tuple(facts_of(found.lines, given.prior, found.restated, said_at)),
            current_task=None if people else current_task(given.events),
            thread_title=None if people else thread_title(given.events),
            calls=0,
            covered_to=covered_to,
            lines_left_out=(*found.left_out, *room.left_out),
            scene=None if people else scene_at(given, covered_to),
        )

    def reflect(self, given: ReflectInput) -> Reflected:
        folded = folded_rows(given.groups, given.target_tokens)
        rows = tuple(ReflectedRow(row.text, row.group_ids) for row in folded.rows)
        return Reflected(rows, NAME, calls=0, left_out=folded.left_out, over_target=folded.over_target)

    def summarise(self, given: SummaryInput) -> Summarised:
        summary = extract_summary(given.events, given.target_tokens, before=given.before, timezone=given.timezone)
        return Summarised(summary, NAME, calls=0)

    def condense(self, given: CondenseInput) -> Condensed:
        folded = folded_rows(given.groups, given.target_tokens, apart=True)
        rows = tuple(CondensedRow(row.text, row.group_ids) for row in folded.rows)
        return Condensed(rows, NAME, calls=0, left_out=folded.left_out, over_target=folded.over_target)

    def hand_in(self, given: Sequence[Question]) -> str | None:  # noqa: ARG002
        return None

    def withdraw(self, handed_in: str) -> None:
        """Do nothing: rules answer at once, and what another observer was handed is out of their reach."""

    def file_away(self, given: FilingInput) -> Filed:
        title = given.title or (thread_title(without_unwanted(given.events)) if given.events else None)
        stated, timezone = own_events(given.events), given.timezone
        account = account_of(given.events, title, given.outcome, given.before, stated=stated, timezone=timezone)
        return Filed(actions_of(given), account, NAME, f"{NAME}-{RULES_VERSION}", calls=0)
