"""Counts what the language model is paid for although nothing is written of it: an answer that is cut off, out of form
or a refusal, and one that another worker overtook (docs/rules/tenants.md#usage)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from neve.domain.errors import NeveError
from neve.ports.errors import NoAnswer, StoreUnavailable
from neve.scope import UserScope
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.transact import transact
from neve.usecases.core.tenants.usage import answer_cost, usage_put


@contextmanager
def counting_failures(scope: UserScope, incarnation: int) -> Iterator[None]:
    """Count the cost of a question to the observer that fails, which is asked inside. Raises what is raised inside."""
    try:
        yield
    except NoAnswer as failure:
        count_in_vain(scope, incarnation, answer_cost(failure.calls, failure.usage))
        raise


@contextmanager
def counting_if_lost(scope: UserScope, incarnation: int, cost: Mapping[str, int]) -> Iterator[None]:
    """Count an answer's ``cost`` by itself where the commit inside, which would count it, fails. A store that did not
    answer may have written it. Raises what is raised inside."""
    try:
        yield
    except StoreUnavailable:
        raise
    except Exception:
        count_in_vain(scope, incarnation, cost)
        raise


def count_in_vain(scope: UserScope, incarnation: int, cost: Mapping[str, int]) -> None:
    """Count a cost in a transaction of its own, and best effort, because the caller has something else to tell.
    ``cost``: by counter. A user who was erased costs nothing any more."""
    if cost:
        with suppress(StoreUnavailable, NeveError, UserErased):
            note_cost(scope, incarnation, cost)


def note_cost(scope: UserScope, incarnation: int, cost: Mapping[str, int]) -> None:
    """Count a cost as ``count_in_vain`` does, where the caller has nothing else to tell. Raises UserErased, 409
    ``conflict``, StoreUnavailable."""
    transact(scope.ports, lambda: _count(scope, incarnation, cost))


def _count(scope: UserScope, incarnation: int, cost: Mapping[str, int]) -> None:
    """Try once. Raises Conflict, UserErased, StoreUnavailable."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.usage])
    head = rows.read_head(found.get(keys.head))
    still_there(head, incarnation)
    if cost:
        scope.ports.table.write([rows.check_head(keys, head), usage_put(keys, found.get(keys.usage), cost)])
