"""People who write, move and delete the same documents at once, each from the rev that they know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from neve.domain.documents.change import DocumentChange
from neve.domain.records.documents import Document
from neve.scope import UserScope
from neve.store.keys import UserKeys
from neve.usecases.ask.documents.get_document import get_document
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.tell.documents.delete_document import delete_document
from neve.usecases.tell.documents.to_another_path import move_document
from neve.usecases.tell.documents.write_document import write_document
from tests.simulation.clients.client import WORDS, Caller, tag_of
from tests.simulation.clients.history import Did
from tests.simulation.clients.use_cases import UseCaseApi
from tests.simulation.machine.workers import Environment

if TYPE_CHECKING:
    from tests.simulation.run import Run

STEPS = (5, 10)
PATHS = ("/notes/a", "/work/b")
CREATE, WRITE, READ, MOVE, DELETE = "doc_create", "doc_write", "doc_read", "doc_move", "doc_delete"
WRITING = {CREATE: 3, WRITE: 9, READ: 3, MOVE: 2, DELETE: 1}
MOVING = {CREATE: 4, WRITE: 4, READ: 2, MOVE: 6, DELETE: 3}
"""What people do mostly, and those from whom a document is seldom long at one path."""
SHORT, LONG = 60, 0.7
"""Bytes that a row holds where texts are long, and how many of them are longer."""
Known = dict[str, int]
"""The rev of each path as it was last heard of."""


def shelve(run: Run) -> None:
    _Shelving(run, "c90").run()


def shelve_too(run: Run) -> None:
    """Somebody else, at the same documents."""
    _Shelving(run, "c91").run()


def shelve_as_well(run: Run) -> None:
    _Shelving(run, "c92").run()


def carry(run: Run) -> None:
    _Shelving(run, "c90", MOVING).run()


def carry_too(run: Run) -> None:
    """Somebody else, to the same paths."""
    _Shelving(run, "c91", MOVING).run()


def carry_as_well(run: Run) -> None:
    _Shelving(run, "c92", MOVING).run()


class _Shelving:
    def __init__(self, run: Run, name: str, weights: Mapping[str, int] = WRITING) -> None:
        cloud = run.cloud
        self._weights = weights
        self._cloud, self._workload, self._name = cloud, run.workload, name
        self._caller = Caller(cloud, UseCaseApi(), run.history, [Environment(cloud, name)])
        self._known: dict[UserKeys, Known] = {}
        self._written = 0

    def run(self) -> None:
        random = self._cloud.random
        for _ in range(random.randint(*STEPS)):
            self._cloud.scheduler.pause(random.random() * self._cloud.settings.think_s)
            keys = UserKeys(random.choice(self._workload.tenants), random.choice(self._workload.users))
            kind = random.choices(list(self._weights), list(self._weights.values()))[0]
            self._step(kind, keys, self._known.setdefault(keys, {}))

    def _step(self, kind: str, keys: UserKeys, known: Known) -> None:
        random = self._cloud.random
        path = random.choice(PATHS)
        if kind == CREATE:
            text = self._text(keys)
            did = self._ask(kind, keys, (path, text), lambda user: _create(user, path, text))
        elif kind == READ or path not in known:
            did = self._ask(READ, keys, (path,), lambda user: get_document(user, path))
        elif kind == WRITE:
            rev, text = known[path], self._text(keys)
            did = self._ask(kind, keys, (path, rev, text), lambda user: _write(user, path, rev, text))
        elif kind == MOVE:
            rev, to = known[path], random.choice([other for other in PATHS if other != path])
            did = self._ask(kind, keys, (path, rev, to), lambda user: move_document(user, path, to, expected_rev=[rev]))
        else:
            rev = known[path]
            did = self._ask(kind, keys, (path, rev), lambda user: delete_document(user, path, [rev]))
        if did.ok and did.what != DELETE:
            known[did.value.path] = did.value.rev

    def _text(self, keys: UserKeys) -> str:
        """No other text is the same; where rows hold little, two in three are too long for one."""
        self._written += 1
        text = f"{tag_of(keys)} {self._name}-{self._written} about the {self._cloud.random.choice(WORDS)}"
        most = self._workload.longest_row_text
        return text.ljust(most + 1, ".") if most == SHORT and self._cloud.random.random() < LONG else text

    def _ask(self, what: str, keys: UserKeys, given: object, work: Callable[[UserScope], Document]) -> Did:
        did = Did(self._name, what, keys.of_session("s1"), given, 0.0)
        return self._caller.call(did, lambda ports: work(tenant_scope(ports, keys.tenant).of_user(keys.user)))


def _create(user: UserScope, path: str, text: str) -> Document:
    return write_document(user, path, DocumentChange(text=text), create=True).document


def _write(user: UserScope, path: str, rev: int, text: str) -> Document:
    return write_document(user, path, DocumentChange(text=text), expected_rev=rev).document
