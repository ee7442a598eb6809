"""The worker behind the librarian queue: file what is new in a session (docs/rules/librarian.md).

A worker that is told twice finds its cursor moved and has nothing to do. A filing commits whole or not at all; what a
person writes meanwhile is read again and asked about again, so that their words are never lost to an answer that had
not seen them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from neve.domain.compact.whose import all_items, mark_summary, marked_items
from neve.domain.librarian.extract import account_of
from neve.domain.librarian.filing import Account, Filed, Filing
from neve.domain.librarian.routing import claims_of
from neve.domain.librarian.time_limits import MAX_ATTEMPTS
from neve.domain.observe.trust import SaidHere
from neve.domain.records.jobs import Job
from neve.observing import FilingInput, SecondsLeft, for_ever
from neve.ports.errors import ContentRefused, ModelRefused, NotYetAnswered
from neve.scope import SessionScope
from neve.store import rows
from neve.store.filings import read_filing
from neve.store.incarnation import UserErased, still_there
from neve.store.transact import ROUNDS_OF_A_MODEL, Rounds, transact
from neve.usecases.core.jobs.finish_job import carry_on_job, finish_job
from neve.usecases.core.jobs.messages.filing import KIND
from neve.usecases.core.jobs.read_jobs import find_job
from neve.usecases.core.lag.note_model import noting_the_model
from neve.usecases.core.privacy.screen_answers import screen_filed
from neve.usecases.core.tenants.usage import answer_cost
from neve.usecases.tell.requests.wait_for_retraction import wait_for_retraction
from neve.usecases.tell.tenants.paid_in_vain import counting_failures, counting_if_lost
from neve.usecases.work.librarian.commit_filing import (
    EditConflict,
    FilingCommit,
    FilingOvertaken,
    FilingRetracted,
    InputCorrected,
    result_of,
)
from neve.usecases.work.librarian.gather import Gathered, gather
from neve.usecases.work.librarian.hand_in import (
    AnotherWaits,
    awaited,
    hand_in_filing,
    look_later,
    read_to,
    wants_batch,
)
from neve.usecases.work.observe.extract_session import refused
from neve.usecases.work.observe.said_in_session import with_session

RULES = "none"
"""Version of the prompt of a filing that no librarian answered."""


@dataclass(slots=True)
class FilingReport:
    """The outcome of one worker. ``left_off``: it had no time for one more answer, and the message is to be sent again.
    ``waits``: for a retraction, whose job sends it; ``handed_in``: for an answer, and the sweep sends it. ``asked``:
    how often it asked. ``raced``: how often a person was faster. ``rejected``: what it could not use of the answers.
    ``documents_not_shown``: for want of room. ``redacted``: personal data in them, by class."""

    result: dict[str, Any] = field(default_factory=dict)
    left_off: bool = False
    waits: bool = False
    handed_in: bool = False
    failed: bool = False
    asked: int = 0
    raced: int = 0
    refused: bool = False
    redacted: dict[str, int] = field(default_factory=dict)

    @property
    def rejected(self) -> Mapping[str, int]:
        found: Mapping[str, int] = self.result.get("rejected", {})
        return found

    @property
    def documents_not_shown(self) -> int:
        return int(self.result.get("documents_not_shown", 0))


def file_session(
    scope: SessionScope, body: Mapping[str, Any], seconds_left: SecondsLeft = for_ever
) -> FilingReport | None:
    """Handle one message; None for a user who was erased. Raises what a retry may cure: ModelUnavailable,
    StoreUnavailable."""
    report = FilingReport()
    job = find_job(scope, body["job_id"])
    if job is not None and job.status == "done":
        return report
    waited_for = job.result.get("reason") if job and body["kind"] == KIND else None
    try:
        report.result = _Librarian(scope, body, seconds_left, report, job).work()
    except UserErased:
        return None
    except NotYetAnswered:
        look_later(scope, body["job_id"])
        report.handed_in = True
    except AnotherWaits:
        report.handed_in = True
    except ModelRefused as refusal:
        why = refused(refusal)
        told = partial(_refused, body["kind"], why)
        report.failed = why["reason"] != waited_for
        if body["kind"] == KIND and job is not None and job.due_at is not None:
            # nothing else may file that part: the sweep sends it until the model answers
            carry_on_job(scope, body["job_id"], body["kind"], told)
        else:
            finish_job(scope, body["job_id"], body["kind"], "failed", told)
        return report
    if report.waits:
        carry_on_job(scope, body["job_id"], body["kind"], partial(_said_before, body["kind"]))
    elif not (report.left_off or report.handed_in):
        finish_job(scope, body["job_id"], body["kind"], "done", partial(_filed, body["kind"], report))
    return report


def _said_before(kind: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """Give what the job says without what a librarian that waits has said."""
    return {name: value for name, value in said.items() if kind != KIND or name != "reason"}


def _refused(kind: str, why: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    return {**_said_before(kind, said), **why}


def _filed(kind: str, report: FilingReport, said: Mapping[str, Any]) -> dict[str, Any]:
    before = _said_before(kind, said)
    return {**before, **report.result, **_redacted(before, report)}


@dataclass
class _Librarian:
    scope: SessionScope
    body: Mapping[str, Any]
    seconds_left: SecondsLeft
    report: FilingReport
    of: Job | None

    def work(self) -> dict[str, Any]:
        """File what is new, and give the job's result. Raises UserErased, ModelUnavailable, ModelRefused,
        StoreUnavailable, NotYetAnswered, AnotherWaits, and 409 ``conflict`` where others are faster each time; then
        nothing was written."""
        remark: str | None = None
        asked_about: tuple[str, ...] = ()
        faster_persons, asked_about_unseen = 0, False
        rounds = Rounds(self.scope.ports, ROUNDS_OF_A_MODEL)
        while True:
            rounds.begin()
            read = gather(self.scope, self.incarnation, asked_about, read_to(self.of))
            if read.is_to_be_filed_again:
                self.report.waits = wait_for_retraction(self.scope, self.incarnation, self.job)
                if self.report.waits:
                    return {}
                continue
            if read.first_seq > read.last_seq and _has_outcome(read):
                return self._end_without_filing()
            if read.cut.events and not self._has_time:
                self.report.left_off = True
                return {}
            if read.cut.events and self._hands_in(read):
                return {}
            filed = self._ask(read, remark)
            said = self._said(read, filed)
            account = filed.account or _account(read)
            commit = FilingCommit(
                scope=self.scope,
                incarnation=self.incarnation,
                read=read,
                filed=filed,
                said=said,
                account=replace(account, text=mark_summary(account.text, said)),
                write_id=self.scope.ports.ids.token(),
                insist=faster_persons + 1 >= MAX_ATTEMPTS,
                # a person may not be faster the next time; what has no room twice has none, and would be asked for ever
                insist_unseen=asked_about_unseen or not self._has_time,
            )
            try:
                with counting_if_lost(self.scope, self.incarnation, answer_cost(filed.calls, filed.usage)):
                    return commit.write()
            except (FilingOvertaken, FilingRetracted, InputCorrected):
                remark = None
            except EditConflict as faster:
                faster_persons += 1
                self.report.raced += bool(faster.paths)
                asked_about_unseen = asked_about_unseen or bool(faster.not_shown)
                remark = _remark(faster)
                # those come first, and nothing else that the answer changes loses its place to them
                others = (path for action in filed.actions for path in action.places)
                asked_about = tuple(dict.fromkeys([*faster.not_shown, *faster.paths, *others]))

    @property
    def _has_time(self) -> bool:
        """Say whether there is time for one more answer."""
        return self.seconds_left() >= self.scope.ports.observer.longest_filing_s

    @property
    def incarnation(self) -> int:
        return int(self.body["incarnation"])

    @property
    def job(self) -> tuple[str, str]:
        return str(self.body["job_id"]), str(self.body["kind"])

    def _hands_in(self, read: Gathered) -> bool:
        """Hand the question in where it has hours, and say whether it waits now."""
        if self.of is not None and wants_batch(self.scope, self.of):
            given = self._question(read, None)
            self.report.handed_in = hand_in_filing(self.scope, self.incarnation, self.of, given, read.last_seq)
        return self.report.handed_in

    def _question(self, read: Gathered, remark: str | None) -> FilingInput:
        return FilingInput(
            session_id=self.scope.session,
            events=read.cut.events,
            documents=read.documents,
            timezone=read.head.timezone,
            title=read.title,
            outcome=read.head.outcome,
            before=read.filing.account,
            left_out=read.cut.left_out,
            remembered=read.remembered,
            remark=remark,
            seconds_left=self.seconds_left,
            handed_in=awaited(self.scope, self.of) if remark is None else None,
        )

    def _ask(self, read: Gathered, remark: str | None) -> Filed:
        """Ask the librarian. What the caller said of the outcome holds. Content that no model will read, or gives no
        usable answer about, is filed without its help."""
        if not read.cut.events:
            return Filed((), None, self.scope.ports.observer.name, RULES, calls=0)
        self.report.asked += 1
        given = self._question(read, remark)
        try:
            with noting_the_model(self.scope.ports), counting_failures(self.scope, self.incarnation):
                filed = self.scope.ports.observer.file_away(given)
        except ContentRefused:
            self.report.refused = True
            return Filed((), None, self.scope.ports.observer.name, RULES, rejected={"content_refused": 1})
        screened, found = screen_filed(self.scope, filed)
        self.report.redacted = dict(Counter(self.report.redacted) + found)
        if read.head.outcome is None or screened.account is None:
            return screened
        return replace(screened, account=replace(screened.account, outcome=read.head.outcome))

    def _said(self, read: Gathered, filed: Filed) -> SaidHere:
        """Read what the answer is held against. Raises StoreUnavailable."""
        said = SaidHere(read.cut.events, tools=marked_items(read.filing.account.text if read.filing.account else None))
        actions = (*filed.actions, *filed.illegal)
        claims = [claim for one in actions for claim in claims_of(one, said.events, read.text_of(one.path))]
        claims += [(item, ()) for item in all_items(filed.account.text)] if filed.account else []
        with counting_if_lost(self.scope, self.incarnation, answer_cost(filed.calls, filed.usage)):
            return with_session(self.scope, said, claims, read.marker.retracted)

    def _end_without_filing(self) -> dict[str, Any]:
        """End without a filing. A session that is closed is extracted all the same, and says how it ended."""

        def attempt() -> Filing:
            keys = self.scope.keys
            found = self.scope.ports.table.get_many([keys.head, keys.session_head, keys.filing])
            user = rows.read_head(found.get(keys.head))
            still_there(user, self.incarnation)
            filing = read_filing(self.scope.session, found.get(keys.filing))
            head = rows.read_session(found[keys.session_head])
            if head.status == "closed" and head.last_seq == filing.filed_seq:
                extracted = replace(head, status="extracted")
                self.scope.ports.table.write([rows.check_head(keys, user), rows.put_session(keys, extracted)])
            return filing

        return result_of(transact(self.scope.ports, attempt))


def _redacted(before: Mapping[str, Any], report: FilingReport) -> dict[str, Any]:
    """Count what was taken out, with what the passes of the same job took out."""
    counts = Counter(before.get("redacted", {})) + Counter(report.redacted)
    return {"redacted": dict(counts)} if counts else {}


def _has_outcome(read: Gathered) -> bool:
    """Say whether the summary says of the outcome what the caller says by now, or there is none to say it."""
    account, outcome = read.filing.account, read.head.outcome
    return account is None or outcome in (None, account.outcome)


def _account(read: Gathered) -> Account:
    """Make an account where the librarian gave none."""
    before = read.filing.account
    if before is not None and not read.cut.events:
        return replace(before, outcome=read.head.outcome or before.outcome)
    return account_of(read.cut.events, read.title, read.head.outcome, before, timezone=read.head.timezone)


def _remark(faster: EditConflict) -> str:
    parts = []
    if faster.paths:
        parts.append(
            f"While you read, a person changed {', '.join(faster.paths)}. The text above is theirs: keep every word of"
            " it that your change does not make untrue."
        )
    if faster.not_shown:
        parts.append(f"You had not been shown {', '.join(faster.not_shown)}: change what is there, create nothing.")
    return "\n\n".join(parts)
