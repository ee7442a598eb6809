"""The call that a bound function takes, and the answer that it gives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from neve.being_erased import met_erasure
from neve.domain.errors import NeveError
from neve.domain.times import iso
from neve.http.callers import Caller
from neve.http.operations import B, Operation, Q
from neve.http.preconditions import NO_TAGS, EntityTags
from neve.ports.engines import Ports
from neve.ports.errors import UnreadableRow
from neve.scope import SessionScope, TenantScope, UserScope
from neve.store.idempotency import Beside, IdempotencyKey, StoredReply, nothing_beside
from neve.usecases.core.jobs.run_once import run_once

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[Q, B]):
    """One accepted call. ``ids``: path parameters. ``if_match``: the revs it may have, None: any, or nothing there.
    ``if_none_match`` holds what was sent. ``began_ms``: when its checks began, on the scale of every time budget."""

    ports: Ports
    request_id: str
    ids: Mapping[str, str]
    query: Q
    body: B
    verified: Caller | None
    scope: TenantScope | None
    began_ms: float
    idempotency: IdempotencyKey | None = None
    if_match: Collection[int] | None = None
    if_none_match: EntityTags = NO_TAGS

    @property
    def caller(self) -> Caller:
        """Give the verified caller. Raises RuntimeError in an operation without a scope."""
        if self.verified is None:
            raise RuntimeError("this operation is called without a key, so nobody is known to call")
        return self.verified

    @property
    def tenant(self) -> TenantScope:
        """Give the verified tenant. Raises RuntimeError in an operation without a scope."""
        if self.scope is None:
            raise RuntimeError("this operation is called without a key, so it has no tenant")
        return self.scope

    @property
    def now(self) -> str:
        """Give the time, in stored form."""
        return iso(self.ports.clock.now())

    @property
    def user(self) -> UserScope:
        """Give the user in the path."""
        return self.tenant.of_user(self.ids["user_id"])

    @property
    def session(self) -> SessionScope:
        """Give the session in the path."""
        return self.user.of_session(self.ids["session_id"])


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a bound function. ``body``: a model (its None fields are left out) or JSON that was answered
    before. ``text`` is sent as text/plain. ``degraded`` becomes ``X-Neve-Degraded``."""

    status: int = 200
    body: BaseModel | Mapping[str, Any] | None = None
    text: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    degraded: Sequence[str] = ()

    @property
    def json(self) -> dict[str, Any]:
        """Give the body, to be kept."""
        if isinstance(self.body, BaseModel):
            return self.body.model_dump(mode="json", by_alias=True, exclude_none=True)
        return dict(self.body or {})

    @property
    def content(self) -> str:
        """Give the body as it is sent: the text of ``json``, without a copy of the body in between."""
        if isinstance(self.body, BaseModel):
            return self.body.model_dump_json(by_alias=True, exclude_none=True)
        return to_json(self.json).decode()


def with_missing(answer: Answer, missing: Sequence[str]) -> Answer:
    """Give the answer, that says in its header and in its JSON what is ``missing`` in it: rows that cannot be read, all
    that is kept of a user who is being erased."""
    told = list(dict.fromkeys([*answer.degraded, *missing]))
    body = answer.json
    in_body = list(dict.fromkeys([*body.get("degraded", ()), *missing]))
    return replace(answer, body=body | {"degraded": in_body} if body else answer.body, degraded=told)


def answered(run: Callable[[Call[Q, B]], Answer], operation: Operation[Q, B], call: Call[Q, B]) -> Answer:
    """Answer the call. A list of what stands below a head that cannot be read is empty, and so is one of a user who is
    being erased. Raises what ``run`` does."""
    try:
        return run(call)
    except (UnreadableRow, NeveError) as error:
        of_nothing = isinstance(error, UnreadableRow) or (met_erasure() and error.code == "session_not_found")
        empty = _empty_list(operation) if of_nothing else None
        if empty is None:
            raise
        return Answer(body=empty)


def _empty_list(operation: Operation[Any, Any]) -> BaseModel | None:
    """Make the empty page of a call that lists rows; None for a call that lists nothing."""
    listed = operation.responses.get(200) if operation.method == "GET" else None
    if listed is None or listed.model is None:
        return None
    blank = dict[str, Any]()
    for name, known in listed.model.model_fields.items():
        if get_origin(known.annotation) is list:
            blank[known.alias or name] = []
        elif known.is_required():
            blank[known.alias or name] = None
    try:
        return listed.model.model_validate(blank) if [] in blank.values() else None
    except ValidationError:  # it says more than what there is in a list
        return None


def _answer_as_stored(stored: StoredReply) -> Answer:
    return Answer(stored.status, stored.body or None)


def again_at_its_rev(stored: StoredReply) -> Answer:
    """Give the first answer with the tag of the rev that it names, not of the one that holds by now: a caller that
    writes on condition of it is told what came between."""
    return Answer(stored.status, stored.body, headers={"ETag": f'"{stored.body["rev"]}"'})


def once(
    call: Call[Any, Any],
    work: Callable[[], Answer],
    *,
    keep: Callable[[dict[str, Any]], dict[str, Any]] = dict,
    again: Callable[[StoredReply], Answer] = _answer_as_stored,
) -> Answer:
    """Return the answer of ``work``, or the first answer to the caller's Idempotency-Key.

    ``keep`` says what of the first answer's JSON is stored for a day (not a secret, not a whole pack), ``again`` makes
    an answer of it. Headers of the first answer are not kept: ``again`` makes those that the call promises."""
    return once_within(call, lambda _: work(), lambda answer: answer, keep=keep, again=again)


def once_within(
    call: Call[Any, Any],
    work: Callable[[Beside[T]], T],
    answer: Callable[[T], Answer],
    *,
    finished: Callable[[T], Answer] | None = None,
    keep: Callable[[dict[str, Any]], dict[str, Any]] = dict,
    again: Callable[[StoredReply], Answer] = _answer_as_stored,
) -> Answer:
    """Do as ``once`` for ``work`` of one transaction, which stores what is kept of the answer in it. ``answer``: of
    what the transaction leaves; ``finished``: where more can be said after it."""
    finish = finished or answer
    if call.idempotency is None:
        return finish(work(nothing_beside))
    made: list[Answer] = []

    def kept(answered: Answer) -> StoredReply:
        return StoredReply(answered.status, keep(answered.json))

    def reply(beside: Beside[StoredReply]) -> StoredReply:
        made.append(finish(work(lambda left: beside(kept(answer(left))))))
        return kept(made[0])

    stored = run_once(call.tenant, call.idempotency, reply)
    return made[0] if made else again(stored)
