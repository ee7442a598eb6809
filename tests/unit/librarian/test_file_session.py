"""The librarian against retries, crashes, people who are faster, and answers that cannot be used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from neve import observability
from neve.domain.documents.change import DocumentChange
from neve.domain.librarian.time_limits import MAX_ATTEMPTS
from neve.domain.records.jobs import Job
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observers.prompted import PromptedObserver
from neve.ports.errors import AnswerCutOff, ContentRefused, ModelRefused, ModelUnavailable, StoreUnavailable
from neve.ports.models import ModelAnswer, ModelRequest
from neve.store import rows
from neve.store.filings import read_filing
from neve.store.tenants.tenant_rows import TenantRow, put_tenant
from neve.usecases.ask.documents.get_document import find_document
from neve.usecases.ask.memories.list_memories import MemoryFilter, get_memory, list_memories
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.inbox.decide import decide_item
from neve.usecases.tell.inbox.decision import Decision
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.requests.end_session import end_session
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.work.librarian.file_session import file_session
from neve.workers.filings import process_filings
from tests.unit.librarian.library_world import LibraryWorld, answer, change, paths, proposals

OSLO = "/conversations/2026-03-10-a-trip-to-oslo"
SARAH = "/profile/people/sarah"


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryWorld]:
    world = LibraryWorld.at(tmp_path_factory.mktemp("librarian"))
    world.open()
    world.say("I prefer the window seat. We go to Oslo with Sarah.", "Noted.")
    yield world
    world.table.close()


def job_of(world: LibraryWorld, job: Job) -> Job:
    return get_job(world.user(), job.id)


def summaries(world: LibraryWorld) -> list[Any]:
    return list_memories(world.user(), MemoryFilter(kind="session_summary"), 10, None)[0]


def document_path(world: LibraryWorld) -> str:
    return str(read_filing("s1", world.table.get(world.session.keys.filing)).document_path)


# --- one filing -----------------------------------------------------------------------------------


def test_another_worker_of_the_same_session_finds_nothing_to_do(world: LibraryWorld) -> None:
    """Two messages of one session, both under way: the one that commits second has been overtaken."""
    world.end()
    world.observer.filings = [answer(change("create", SARAH, "One.")), answer(change("create", SARAH, "Two."))]
    world.meanwhile(world.file)
    world.file()
    assert (world.text(SARAH), world.rev(SARAH), len(summaries(world))) == ("One.", 1, 1)


def test_a_commit_whose_answer_is_lost_is_recognised(world: LibraryWorld) -> None:
    job = world.end()
    world.observer.filings = [answer(change("create", SARAH, "Travels along."))]

    def lose() -> None:
        world.table.lose_response = True

    world.observer.meanwhile = lose
    world.file()
    assert (world.rev(SARAH), len(summaries(world)), job_of(world, job).status) == (1, 1, "done")


def test_a_worker_that_dies_before_its_commit_leaves_nothing(world: LibraryWorld) -> None:
    world.end()

    def die() -> None:
        def refuse() -> None:
            raise StoreUnavailable("table", "gone")

        world.table.before_write = refuse

    world.observer.meanwhile = die
    world.observer.filings = [answer(change("create", SARAH, "Once."))] * 2
    with pytest.raises(StoreUnavailable):
        world.file()
    assert (world.rev(SARAH), summaries(world)) == (0, [])
    assert read_filing("s1", world.table.get(world.session.keys.filing)).filed_seq == 0
    world.file()
    assert (world.rev(SARAH), len(summaries(world))) == (1, 1)


def test_what_is_said_later_goes_into_the_same_summary(world: LibraryWorld) -> None:
    world.end()
    world.file()
    [first] = summaries(world)
    world.say("We also go to Bergen, let's go with the train.", "Booked.")
    world.end()
    world.file()
    [second] = summaries(world)
    assert (second.id, second.rev) == (first.id, 2)
    assert [given.events[0].seq for given in world.observer.filed] == [1, 3]
    assert world.observer.filed[1].before is not None
    assert world.rev(document_path(world)) == 2


def test_a_summary_of_more_events_is_another_rev_although_it_says_the_same(world: LibraryWorld) -> None:
    """Its passages say which events it is of."""
    world.observer.filings = [answer(), answer()]
    world.end()
    world.file()
    [first] = summaries(world)
    world.say("And so on.", "Yes.")
    world.end()
    world.file()
    [second] = summaries(world)
    assert (second.id, second.text, second.provenance.seq_to) == (first.id, first.text, first.provenance.seq_to + 2)
    assert (second.rev, second.rev_at is not None) == (first.rev + 1, True)


def test_the_outcome_that_is_told_later_is_the_summarys(world: LibraryWorld) -> None:
    """A compaction has filed everything before the end names an outcome."""
    world.end()
    world.file()
    filing = read_filing("s1", world.table.get(world.session.keys.filing))
    assert filing.account is not None and filing.account.outcome == "SUCCESS"
    closed = replace(get_session(world.session).head, outcome="PARTIAL", status="closed")
    world.table.write([rows.put_session(world.user().keys, closed)])
    file_session(world.session, world.last_message() | {"job_id": "job_another", "kind": "librarian"})
    [summary] = summaries(world)
    assert (summary.outcome, get_session(world.session).head.status) == ("PARTIAL", "extracted")


# --- people ---------------------------------------------------------------------------------------


def test_a_document_that_a_person_made_meanwhile_is_not_overwritten(world: LibraryWorld) -> None:
    world.end()
    world.observer.filings = [answer(change("create", SARAH, "Mine.")), answer(change("append", SARAH, "Mine.", 1))]
    world.meanwhile(lambda: world.put(SARAH, "Theirs."))
    world.file()
    assert world.text(SARAH) == "Theirs.\n\nMine."


def test_who_is_always_faster_decides(world: LibraryWorld) -> None:
    world.put(SARAH, "0")
    job = world.end()
    count = 0

    def again(given: Any) -> Any:
        nonlocal count
        count += 1
        world.put(SARAH, str(count))
        return answer(change("update", SARAH, "Mine.", count), change("create", "/profile/goals", "Run."))

    world.observer.file_away = again  # type: ignore[method-assign]
    report = world.file()
    assert report is not None and report.asked == MAX_ATTEMPTS
    assert world.text(SARAH) == str(MAX_ATTEMPTS) and world.text("/profile/goals") == "Run."
    [proposal] = proposals(world)
    assert (proposal.reason, proposal.action.path, proposal.status) == ("raced", SARAH, "inbox")
    assert job_of(world, job).result["inbox"] == [proposal.id]


def test_what_people_made_of_the_summary_stays(world: LibraryWorld) -> None:
    world.observer.filings = [answer()]
    world.end()
    world.file()
    [summary] = summaries(world)
    update_memory(world.user(), summary.id, MemoryChange({"text": "My own words."}), None)
    world.put(OSLO, "My own notes.")
    world.say("And Bergen.", "Yes.")
    world.observer.filings = [answer()]
    world.end()
    world.file()
    assert get_memory(world.user(), summary.id).text == "My own words."
    assert str(world.text(OSLO)).startswith("My own notes.\n\n# A trip to Oslo")


def test_two_conversations_of_a_day_and_title_have_documents_of_their_own(world: LibraryWorld) -> None:
    world.put(OSLO, "Another one.")
    world.observer.filings = [answer()]
    world.end()
    world.file()
    assert world.text(OSLO) == "Another one."
    assert document_path(world).startswith(f"{OSLO}-") and "# A trip" in str(world.text(document_path(world)))


def test_a_document_that_only_people_change_is_theirs_to_decide(world: LibraryWorld) -> None:
    write_document(world.user(), SARAH, DocumentChange(text="Fixed.", editable=False))
    world.observer.filings = [answer(change("update", SARAH, "Mine.", 1))]
    world.end()
    world.file()
    [proposal] = proposals(world)
    assert (proposal.reason, world.text(SARAH)) == ("refused", "Fixed.")


def test_what_would_be_made_where_only_people_change_is_theirs_at_once(world: LibraryWorld) -> None:
    write_document(world.user(), SARAH, DocumentChange(text="Fixed.", editable=False))
    world.observer.filings = [answer(change("create", SARAH, "Mine."))]
    world.end()
    report = world.file()
    assert report is not None and (report.asked, report.raced) == (1, 0)
    assert [proposal.reason for proposal in proposals(world)] == ["refused"]


# --- one transaction ------------------------------------------------------------------------------


@pytest.mark.parametrize("second", [("create", "/projects/b", None), ("move", "/projects/c", "/projects/b")])
def test_a_path_is_written_once_and_the_other_changes_stand(world: LibraryWorld, second: Any) -> None:
    verb, path, to_path = second
    world.put("/projects/a", "A.")
    world.put("/projects/c", "C.")
    again = change(verb, path, "" if to_path else "B.", 1 if to_path else None, to_path=to_path)
    first = change("move", "/projects/a", "", 1, to_path="/projects/b")
    world.observer.filings = [answer(first, again, change("create", "/profile/goals", "Run."))]
    world.end()
    report = world.file()
    assert report is not None and report.rejected == {"too_many": 1}
    assert paths(world, report.result) == ["/projects/b", "/profile/goals"]
    assert (world.text("/projects/b"), world.text("/projects/c")) == ("A.", "C.")


def test_changes_that_one_transaction_has_no_room_for_are_left_out_and_told(world: LibraryWorld) -> None:
    people = [f"/profile/people/p{n}" for n in range(16)]
    for path in people:
        world.put(path, "Somebody.")
    moves = [change("move", path, "", 1, to_path=f"{path}-x") for path in people]
    world.observer.filings = [answer(*moves, rejected={"too_many": 1, "malformed": 1})]
    job = world.end()
    world.file()
    result = job_of(world, job).result
    moved = paths(world, result)
    assert moved == [f"{path}-x" for path in people[: len(moved)]] and len(moved) >= 14
    assert result["rejected"] == {"too_many": 1 + 16 - len(moved), "malformed": 1}
    assert all(world.text(path) == "Somebody." for path in people[len(moved) :])


# --- routing --------------------------------------------------------------------------------------


def test_a_move_takes_the_history_along(world: LibraryWorld) -> None:
    world.put("/profile/people/sara", "A nurse.")
    world.observer.filings = [answer(change("move", "/profile/people/sara", "", 1, to_path=SARAH))]
    world.end()
    world.file()
    assert (world.text("/profile/people/sara"), world.text(SARAH), world.rev(SARAH)) == (None, "A nurse.", 2)


# --- answers that do not come ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "status"), [(ModelRefused("no key"), "failed"), (ContentRefused("violence"), "done")]
)
def test_a_refusal_fails_the_job_and_refused_content_is_filed_without_help(
    world: LibraryWorld, error: Exception, status: str
) -> None:
    world.observer.filings = [error]
    job = world.end()
    world.file()
    assert job_of(world, job).status == status
    assert len(summaries(world)) == (status == "done")


def test_an_outage_moves_nothing(world: LibraryWorld) -> None:
    world.observer.filings = [ModelUnavailable("down")]
    job = world.end()
    with pytest.raises(ModelUnavailable):
        world.file()
    assert (job_of(world, job).status, summaries(world)) == ("running", [])
    assert world.model_is_down
    world.file()
    assert job_of(world, job).status == "done"
    assert not world.model_is_down


class CutOff:
    """A language model whose answers have no room."""

    asked = 0

    def call_tool(self, _: ModelRequest) -> ModelAnswer:
        self.asked += 1
        raise AnswerCutOff("cut off")


def test_a_session_whose_answers_are_all_cut_off_is_filed_without_help(
    world: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_tenant(world, "acme")
    rejected: list[Any] = []
    monkeypatch.setattr(observability, "librarian_actions_rejected", lambda *given: rejected.append(given[2]))
    world.put(SARAH, "A nurse.")
    model = CutOff()
    job = world.end()
    world.observer.file_away = PromptedObserver(model, "m").file_away  # type: ignore[method-assign]
    for _ in range(2):  # a message may come twice
        body = {**world.last_message(), "correlation_id": "01J"}
        answered = process_filings(world, {"Records": [{"messageId": "1", "body": json.dumps(body)}]}, None)
        assert answered == {"batchItemFailures": []}
    done = job_of(world, job)
    assert (done.status, done.result["rejected"], done.result["filed"]["seq_to"]) == ("done", {"cut_off": 1}, 2)
    assert (model.asked, get_session(world.session).head.status) == (2, "extracted")
    [summary] = summaries(world)
    assert "I prefer the window seat" in summary.text
    assert (world.text(SARAH), paths(world, done.result)) == ("A nurse.", [])
    assert rejected == [{"cut_off": 1}]


def test_without_time_for_an_answer_the_message_goes_round(world: LibraryWorld) -> None:
    world.end()
    report = world.file(seconds_left=lambda: 1.0)
    assert report is not None and report.left_off and world.observer.filed == []


def test_an_older_incarnation_files_nothing(world: LibraryWorld) -> None:
    world.end()
    keys = world.user().keys
    head = rows.read_head(world.table.get(keys.head))
    world.table.write([rows.put_head(keys, replace(head, incarnation=2))])
    assert world.file() is None
    assert summaries(world) == []


# --- what it reads --------------------------------------------------------------------------------


def test_candidates_are_what_was_named_and_what_the_search_finds(world: LibraryWorld) -> None:
    world.put(SARAH, "A nurse.")
    plan = world.put("/projects/oslo/plan", "By train.")
    conversation = world.put("/conversations/2026-01-01-x", "Not a candidate.")
    world.found.ids = [str(plan.id), str(conversation.id), "doc_gone"]
    world.end()
    world.file()
    shown = {one.path: one for one in world.observer.filed[0].documents}
    assert set(shown) == {SARAH, "/projects/oslo/plan"}
    assert shown[SARAH].by_person and shown[SARAH].rev == 1
    assert [where.sources for where in world.found.asked] == [("document",)]


LONG = "Once upon a time in Lisbon. " * 3_200
PROFILE = ("/profile/identity", "/profile/preferences", "/profile/goals")


def test_a_long_document_hides_no_other_one(world: LibraryWorld) -> None:
    """docs/rules/librarian.md#candidates"""
    world.put("/profile/identity", LONG)
    world.put(SARAH, "A nurse.")
    world.end()
    report = world.file()
    assert [one.path for one in world.observer.filed[0].documents] == ["/profile/identity", SARAH]
    assert report is not None and "documents_not_shown" not in report.result


def test_what_has_no_room_leaves_it_to_those_behind_and_is_counted(
    world: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.table.write([put_tenant(TenantRow("acme", "2026-03-10T09:30:00.000Z"))])
    for path in (*PROFILE, SARAH):
        world.put(path, LONG)
    plan = world.put("/projects/oslo/plan", "By train.")
    world.found.ids = [str(plan.id)]
    job = world.end()
    reported: list[Any] = []
    measured: dict[str, float] = {}
    monkeypatch.setattr(observability, "documents_not_shown", lambda *given: reported.append(given[2]))
    monkeypatch.setattr(observability, "emit_metrics", lambda _, values: measured.update(values))
    body = {**world.last_message(), "correlation_id": "01J"}
    answered = process_filings(world, {"Records": [{"messageId": "1", "body": json.dumps(body)}]}, None)
    assert answered == {"batchItemFailures": []}
    assert [one.path for one in world.observer.filed[0].documents] == [*PROFILE, "/projects/oslo/plan"]
    assert job_of(world, job).result["documents_not_shown"] == 1
    assert (reported, measured["DocumentsNotShown"]) == ([1], 1)


def test_a_document_that_was_not_shown_is_shown_when_it_would_be_made_again(world: LibraryWorld) -> None:
    for path in (*PROFILE, SARAH):
        world.put(path, LONG)
    world.end()
    made, added = change("create", SARAH, "Mine."), change("append", SARAH, "Mine.", 1)
    world.observer.filings = [answer(made), answer(added)]
    report = world.file()
    first, second = world.observer.filed
    assert SARAH not in [one.path for one in first.documents]
    assert second.documents[0].path == SARAH and f"not been shown {SARAH}" in str(second.remark)
    assert str(world.text(SARAH)).endswith("Lisbon.\n\nMine.")
    assert report is not None and (report.asked, report.raced, proposals(world)) == (2, 0, [])


def test_what_never_has_room_waits_as_an_addition_that_can_be_approved(world: LibraryWorld) -> None:
    people = [f"/profile/people/p{n}" for n in range(4)]
    for path in people:
        world.put(path, LONG)
    world.found.ids = [str(find_document(world.user(), path).id) for path in people]  # type: ignore[union-attr]
    world.end()

    def about_all(given: Any) -> Any:
        world.observer.filed.append(given)
        shown = {one.path for one in given.documents}
        return answer(*(change("append" if p in shown else "create", p, "Mine.", p in shown or None) for p in people))

    world.observer.file_away = about_all  # type: ignore[method-assign]
    report = world.file()
    [proposal] = proposals(world)
    assert (proposal.reason, proposal.action.verb) == ("not_shown", "append")
    assert report is not None and (report.asked, report.raced) == (2, 0)
    assert sorted([*paths(world, report.result), proposal.action.path]) == people
    decide_item(world.user(), proposal.id, Decision("approve"))
    assert all(str(world.text(path)).endswith("Lisbon.\n\nMine.") for path in people)


def test_without_time_to_ask_again_what_was_not_shown_waits(world: LibraryWorld) -> None:
    """Else its message would go round for ever: the next worker is shown the same."""
    for path in (*PROFILE, SARAH):
        world.put(path, LONG)
    world.end()
    world.observer.filings = [answer(change("create", SARAH, "Mine."))]
    left = iter([world.observer.longest_filing_s])
    report = world.file(seconds_left=lambda: next(left, 0.0))
    assert report is not None and (report.asked, report.left_off) == (1, False)
    assert [(one.reason, one.action.verb) for one in proposals(world)] == [("not_shown", "append")]


# --- by rules -------------------------------------------------------------------------------------


@pytest.fixture
def by_rules(world: LibraryWorld) -> LibraryWorld:
    rules = ExtractiveObserver()
    world.observer.file_away = rules.file_away  # type: ignore[method-assign]
    return world


def filed(world: LibraryWorld, *messages: str) -> dict[str, Any]:
    for text in messages:
        world.say(text, "Noted.")
    job = world.end()
    world.file()
    return job_of(world, job).result


def test_rules_put_each_kind_where_it_belongs(by_rules: LibraryWorld) -> None:
    result = filed(
        by_rules,
        "My brother Tom is a nurse in Bergen.",
        "We decided to use Postgres for the Alpha project.",
        "I work at Google as an engineer.",
        "I'm tired today.",
    )
    assert paths(by_rules, result) == [
        "/profile/preferences",
        "/profile/people/tom",
        "/projects/alpha/decisions/2026-03-10-postgres-alpha-project",
        "/profile/identity",
    ]
    assert not any("tired" in str(by_rules.text(path)) for path in paths(by_rules, result))


def test_rules_update_what_is_there_and_keep_its_history_below(by_rules: LibraryWorld) -> None:
    by_rules.put("/profile/identity", "Works at Google as an engineer. Speaks Irish.")
    by_rules.put(SARAH, "# Sarah\n\nMy own words about her.")
    result = filed(by_rules, "I left Google, now CTO at Acme.", "Sarah is allergic to nuts.")
    assert {"/profile/identity", SARAH} <= set(paths(by_rules, result)) and by_rules.rev(SARAH) == 2
    current, earlier = str(by_rules.text("/profile/identity")).split("## Earlier")
    assert "Acme" in current and "Works at Google" not in current and "Speaks Irish." in current
    assert "Works at Google as an engineer" in earlier
    assert "My own words about her." in str(by_rules.text(SARAH)) and "allergic to nuts" in str(by_rules.text(SARAH))


@pytest.mark.parametrize("times", [1, 2])
def test_rules_write_to_a_long_document_too(by_rules: LibraryWorld, times: int) -> None:
    """docs/rules/librarian.md#extractive: above 100,000 characters a section at its end."""
    by_rules.put("/profile/identity", LONG * times)
    result = filed(by_rules, "I work as a nurse now.")
    written = dict(zip(paths(by_rules, result), result["documents"], strict=True))["/profile/identity"]
    assert (written["action"], written["rev"]) == ("update" if times == 1 else "append", 2)
    text = str(by_rules.text("/profile/identity"))
    assert text.startswith((LONG * times).strip()) and "nurse" in text[-80:]
    assert ("# Identity" in text) is (times == 2)
    assert proposals(by_rules) == []


def test_rules_say_nothing_twice(by_rules: LibraryWorld) -> None:
    filed(by_rules, "I live in Lyon.")
    before = by_rules.text("/profile/identity")
    assert "/profile/identity" not in paths(by_rules, filed(by_rules, "I live in Lyon."))
    assert by_rules.text("/profile/identity") == before


def test_small_talk_leaves_no_document_but_the_conversations(by_rules: LibraryWorld) -> None:
    result = filed(by_rules, "ok", "I'm tired today")
    assert paths(by_rules, result) == ["/profile/preferences"], "what was said before"
    assert document_path(by_rules).startswith("/conversations/2026-03-10-")


# --- the outcome --------------------------------------------------------------------------------


def test_another_outcome_of_a_filed_session_is_filed_too(world: LibraryWorld) -> None:
    first = world.end(outcome="PARTIAL")
    world.file()
    second = world.end(outcome="SUCCESS")
    world.file()
    assert second.id != first.id and job_of(world, second).status == "done"
    [summary] = summaries(world)
    assert (summary.outcome, get_session(world.session).head.outcome) == ("SUCCESS", "SUCCESS")
    assert get_session(world.session).head.status == "extracted"
    third = world.end(outcome="PARTIAL")
    world.file()
    assert third.id not in (first.id, second.id)
    assert [one.outcome for one in summaries(world)] == ["PARTIAL"]


def test_another_outcome_that_is_said_while_the_librarian_thinks_is_filed_behind_it(world: LibraryWorld) -> None:
    first = world.end(outcome="PARTIAL")
    jobs: list[Job] = []
    world.meanwhile(lambda: jobs.append(end_session(world.session, "SUCCESS")))
    world.file()
    [second] = jobs
    assert second.id != first.id
    assert world.end(outcome="SUCCESS").id == second.id, "and compacts"
    world.file()
    assert [one.outcome for one in summaries(world)] == ["SUCCESS"]
