"""Requests to OpenSearch whose answer is whole or one of ``ports.errors``: no vendor error gets past this module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple, cast

from opensearchpy import OpenSearch, OpenSearchException, TransportError

from neve.adapters.opensearch.client import PATIENT
from neve.ports.errors import StoreUnavailable

STORE: Final = "search"
OVERTAKEN: Final = 409
TURNED_AWAY: Final = 429
_REFUSED: Final = 400
_NO_INDEX: Final = "index_not_found_exception"
_OTHER_MAPPING: Final = "strict_dynamic_mapping_exception"

Answer = Mapping[str, Any]


class IndexMissing(StoreUnavailable):
    """There is no index of this name, or not any more."""

    def __init__(self, name: str) -> None:
        super().__init__(STORE, f"no index {name}")


class Overloaded(StoreUnavailable):
    """The index has too much to do for this request."""

    def __init__(self, reason: str) -> None:
        super().__init__(STORE, reason)


class LineOutcome(NamedTuple):
    """The outcome of one line of a bulk request. ``status`` 409: a newer version is there; 429: there was no room for
    it, and it was not written."""

    status: int
    found: bool


class Calls:
    """The client with its errors translated. All methods raise StoreUnavailable."""

    def __init__(self, client: OpenSearch) -> None:
        self._client = client

    def search(self, index: str, body: Answer, routing: str) -> Answer:
        """Search an index. Raises StoreUnavailable also for an answer that lacks a shard or was cut short by time."""
        params = {"routing": routing, "allow_partial_search_results": "false"}
        with _translated(index):
            answer = cast(Answer, self._client.search(index=index, body=body, params=params))
            if answer["timed_out"]:
                raise StoreUnavailable(STORE, "a search that was cut short")
            _need_all_shards(answer)
        return answer

    def count(self, index: str, body: Answer, routing: str) -> int:
        with _translated(index):
            answer = cast(Answer, self._client.count(index=index, body=body, params={"routing": routing}))
            _need_all_shards(answer)
            return int(answer["count"])

    def bulk(self, alias: str, lines: str, *, wait: bool = False) -> list[LineOutcome]:
        """Write lines and give every line's outcome in order; ``alias`` must be one. ``wait``: until searches see it.
        Raises Overloaded when there was no room for any, StoreUnavailable when a line failed for now, ValueError for a
        document that the index refuses; other lines may have been written then."""
        params: dict[str, Any] = {"require_alias": "true", "request_timeout": PATIENT}
        if wait:
            params["refresh"] = "wait_for"
        with _translated(alias):
            answer = cast(Answer, self._client.bulk(body=lines, index=alias, params=params))
            outcomes = [outcome for item in answer["items"] for outcome in item.values()]
            return [_written(alias, outcome) for outcome in outcomes]

    def present(self, index: str, ids: list[str], routing: str) -> set[str]:
        """Say which of these documents there are now, also those that no search can see yet."""
        docs = [{"_id": identifier, "routing": routing, "_source": False} for identifier in ids]
        with _translated(index):
            answer = cast(Answer, self._client.mget(index=index, body={"docs": docs}))
            for unread in (found["error"] for found in answer["docs"] if "error" in found):
                if unread["type"] == _NO_INDEX:
                    raise IndexMissing(index)
                raise StoreUnavailable(STORE, f"a document that was not read: {unread['type']}")
            return {found["_id"] for found in answer["docs"] if found.get("found")}

    def refresh(self, index: str) -> None:
        """Returns once searches see every earlier write."""
        with _translated(index):
            _need_all_shards(self._client.indices.refresh(index=index, params={"request_timeout": PATIENT}))

    def refresh_every(self, index: str, interval: str) -> None:
        with _translated(index):
            self._client.indices.put_settings(index=index, body={"index": {"refresh_interval": interval}})

    def mappings(self, name: str) -> dict[str, Answer]:
        """Give the mappings by index: one of that name, or those behind that alias. Raises IndexMissing."""
        with _translated(name):
            found = self._client.indices.get_mapping(index=name)
            return {index: about["mappings"] for index, about in found.items()}

    def create(self, index: str, body: Answer) -> bool:
        """Create an index; False, and nothing done, when there is one of that name."""
        try:
            with _translated(index):
                self._client.indices.create(index=index, body=body, params={"request_timeout": PATIENT})
        except StoreUnavailable as error:
            if error.reason.startswith("resource_already_exists_exception"):
                return False
            raise
        return True

    def delete(self, index: str) -> None:
        """Delete an index; harmless when there is none of that name."""
        with suppress(IndexMissing), _translated(index):
            self._client.indices.delete(index=index, params={"request_timeout": PATIENT})

    def change_aliases(self, actions: list[dict[str, Any]]) -> None:
        """Change aliases, all of them or none."""
        with _translated("aliases"):
            self._client.indices.update_aliases(body={"actions": actions})


@contextmanager
def _translated(name: str) -> Iterator[None]:
    try:
        yield
    except TransportError as error:
        if error.status_code == 404:
            raise IndexMissing(name) from error
        if error.status_code == TURNED_AWAY:
            raise Overloaded(_reason(error)) from error
        raise StoreUnavailable(STORE, _reason(error)) from error
    except (OpenSearchException, KeyError, TypeError) as error:
        raise StoreUnavailable(STORE, f"an answer that cannot be read: {type(error).__name__}") from error


def _reason(error: TransportError) -> str:
    """Give the reason of a failure: ``es_rejected_execution_exception (429)``. Without the server's sentence, which may
    quote a query."""
    if error.status_code in ("N/A", "TIMEOUT"):
        return type(error).__name__
    return f"{error.error} ({error.status_code})" if isinstance(error.error, str) else f"status {error.status_code}"


def _need_all_shards(answer: Answer) -> None:
    if answer["_shards"]["failed"]:
        raise StoreUnavailable(STORE, "an answer without all of its shards")


def _written(alias: str, outcome: Answer) -> LineOutcome:
    status = int(outcome["status"])
    if status in (OVERTAKEN, TURNED_AWAY) or "error" not in outcome:
        return LineOutcome(status, found=outcome.get("result") != "not_found")
    if status == 404:
        raise IndexMissing(alias)
    kind = str(outcome["error"]["type"])
    if status == _REFUSED and kind != _OTHER_MAPPING:
        raise ValueError(f"the index refuses {outcome['_id']}: {kind}")
    raise StoreUnavailable(STORE, f"{kind} ({status})")
