"""Reads what a librarian needs: the session behind its cursor, and the documents that may be about the same
(docs/rules/librarian.md#reads)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from neve.domain.documents.paths import ARTIFACTS, CONVERSATIONS
from neve.domain.indexing.passage import Source
from neve.domain.librarian.filing import Filing, Remembered, ShownDocument
from neve.domain.librarian.looking import FOUND, known_paths, search_words
from neve.domain.librarian.prompt import document_tokens
from neve.domain.librarian.window import Cut, request_cap, within_window
from neve.domain.recall.query import shape
from neve.domain.records.documents import Document
from neve.domain.records.markers import SessionMarker
from neve.domain.records.memories import Status
from neve.domain.records.sessions import Event, SessionHead, Spans
from neve.domain.records.users import UserHead
from neve.domain.sessions.rendered_blocks import strip_event
from neve.domain.sessions.spans import common, holds, joined
from neve.domain.sessions.transcript import event_text, images_of
from neve.ports.search import SearchFilter
from neve.ports.table import Item, Key
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.documents import read_document, text_of
from neve.store.filings import read_filing
from neve.store.incarnation import UserErased, still_there
from neve.store.partitions import all_rows
from neve.usecases.work.librarian.remembered import corrections, remembered_of

SHOWN_TOKENS = 20_000
"""Tokens of all documents together, beside the events (*chosen*: with them within a window of 200,000)."""
IMAGE = "[image]"


@dataclass(frozen=True, slots=True)
class Gathered:
    """The material of a filing. ``last_seq``: up to where the log was read; ``cut``: the events that are shown.
    ``retracted``: what of it had been, as the session's marker row says. ``not_shown``: paths of documents that there
    was no room for. ``remembered``: of the session, where a person has corrected any of it."""

    user: UserHead
    head: SessionHead
    marker: SessionMarker
    filing: Filing
    last_seq: int
    cut: Cut
    documents: tuple[ShownDocument, ...]
    not_shown: tuple[str, ...] = ()
    remembered: tuple[Remembered, ...] = ()

    @property
    def first_seq(self) -> int:
        return self.filing.filed_seq + 1

    @property
    def retracted(self) -> Spans:
        return common(self.marker.retracted, ((1, self.last_seq),))

    @property
    def left_out(self) -> Spans:
        """Give the spans that the session's account is made without, with this filing."""
        new = common(self.retracted, ((self.first_seq, self.last_seq),))
        return joined((*self.filing.left_out, *new))

    @property
    def is_to_be_filed_again(self) -> bool:
        """Say whether something that is filed has been taken back: the job of that moves the cursor back, and asks
        again."""
        return self.filing.holds_any(self.retracted)

    def text_of(self, path: str) -> str:
        """Give the text of a document as it was shown."""
        return next((document.text for document in self.documents if document.path == path), "")

    @property
    def nothing_is_left(self) -> bool:
        """Say whether nothing is left to give an account of: everything that was said is taken back."""
        return bool(self.left_out) and not self.cut.events and self.filing.account is None

    @property
    def corrections(self) -> frozenset[Remembered]:
        return corrections(self.remembered)

    @property
    def title(self) -> str | None:
        return self.head.title or self.marker.thread_title


def gather(scope: SessionScope, incarnation: int, first: Sequence[str] = (), read_to: int | None = None) -> Gathered:
    """Read what a librarian needs. ``first``: paths that are looked at before all others. ``read_to``: what of the log
    is read; None: all. Raises UserErased, StoreUnavailable: without the search it could not be told whether a document
    is there already."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.session_head, keys.marker, keys.filing])
    user = rows.read_head(found.get(keys.head))
    still_there(user, incarnation)
    if keys.session_head not in found or keys.marker not in found:
        raise UserErased
    head, filing = rows.read_session(found[keys.session_head]), read_filing(scope.session, found.get(keys.filing))
    marker = rows.read_marker(found[keys.marker])
    last_seq = head.last_seq if read_to is None else max(filing.filed_seq, min(read_to, head.last_seq))
    events = list(_events(scope, filing.filed_seq + 1, last_seq, marker.retracted))
    cut = within_window(events, request_cap(scope.policy.effective_window), scope.count)
    if not cut.events:
        return Gathered(user, head, marker, filing, last_seq, cut, ())
    shown, not_shown = _candidates(scope, cut.events, first)
    remembered = remembered_of(scope, user, marker)
    return Gathered(user, head, marker, filing, last_seq, cut, shown, not_shown, remembered)


def _events(scope: SessionScope, first: int, last: int, retracted: Spans) -> Iterator[Event]:
    """Read the events without what is taken back, what is told in the session alone, and what Neve renders; that there
    was a picture is told, what it showed was observed."""
    if first > last:
        return
    for item in all_rows(scope.ports.table, scope.keys.log, between=scope.keys.events(first, last)):
        kept_here = "audience" in item or holds(retracted, item["seq"])
        event = None if kept_here else strip_event(rows.read_event(item))
        if event is not None:
            yield _without_images(event)


def _without_images(event: Event) -> Event:
    images = images_of(event)
    if not images:
        return event
    return replace(event, content="\n".join(filter(None, [event_text(event), *(IMAGE for _ in images)])))


# --- documents ------------------------------------------------------------------------------------


def _candidates(
    scope: SessionScope, events: Sequence[Event], first: Sequence[str]
) -> tuple[tuple[ShownDocument, ...], tuple[str, ...]]:
    """Choose the documents to show: ``first``, those that every user has and of the people who were named, then what
    the search found; and give the paths of those that have no room. One that is too long leaves it to those behind
    it."""
    paths = list(dict.fromkeys([*first, *known_paths(events), *_search_paths(scope, events)]))
    shown: list[ShownDocument] = []
    not_shown: list[str] = []
    left = SHOWN_TOKENS
    for document in documents_at(scope, paths):
        tokens = document_tokens(document)
        if tokens > left:
            not_shown.append(document.path)
            continue
        left -= tokens
        shown.append(document)
    return tuple(shown), tuple(not_shown)


def _search_paths(scope: SessionScope, events: Sequence[Event]) -> list[str]:
    """Find paths by the words of the conversation. Raises StoreUnavailable."""
    query = shape(search_words(events)).text_query
    if not query.groups:
        return []
    where = SearchFilter(sources=(Source.DOCUMENT,))
    hits = scope.ports.search.search_text(scope.keys.owner, query, where, FOUND)
    places = [scope.keys.document_place(hit.item_id) for hit in hits.candidates]
    found = scope.ports.table.get_many(places) if places else {}
    return [str(found[key]["path"]) for key in places if key in found]


def documents_at(scope: UserScope, paths: Sequence[str]) -> list[ShownDocument]:
    """Read those of the documents that a librarian may change, in this order. Two reads. Raises StoreUnavailable."""
    keys, table = scope.keys, scope.ports.table
    wanted = [keys.document(path) for path in paths if not path.startswith((ARTIFACTS, CONVERSATIONS))]
    heads = table.get_many(wanted) if wanted else {}
    open_to_change = [head for key in wanted if (head := _changeable(heads, key)) is not None]
    revs = {head.path: keys.document_rev(str(head.id), head.rev) for head in open_to_change}
    texts = table.get_many(list(revs.values())) if revs else {}
    return [
        ShownDocument(
            head.path, head.rev, _text(scope, texts[revs[head.path]]), head.provenance.by == "human_edit", head.id
        )
        for head in open_to_change
        if revs[head.path] in texts  # else it was deleted since
    ]


def _changeable(heads: Mapping[Key, Item], key: Key) -> Document | None:
    if key not in heads:
        return None
    head = read_document(heads[key])
    return head if head.id is not None and head.editable and head.status is Status.ACTIVE else None


def _text(scope: UserScope, item: Item) -> str:
    return text_of(scope.ports.objects, read_document(item))
