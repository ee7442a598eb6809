"""Finds what a librarian called a document by words of events that are erased, in revisions that others wrote since
(docs/rules/retract.md#described). Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from neve.domain.documents.description import UNTITLED, summary_of, title_of
from neve.domain.documents.paths import PEOPLE
from neve.domain.librarian.account import SUMMARY_TAG
from neve.domain.librarian.looking import ALWAYS
from neve.domain.librarian.paths import ROOTS, folder_of, slug
from neve.domain.records.documents import Document

Given = tuple[str, str]
"""A field and its value: a name, a summary, one of the tags, a path."""
_TAGS = (SUMMARY_TAG, *map(folder_of, ROOTS))
_CONSTANT = frozenset({("name", UNTITLED), *(("tags", tag) for tag in _TAGS), *(("path", path) for path in ALWAYS)})
"""Names that librarians give whatever was said."""


@dataclass(frozen=True, slots=True)
class History:
    """The revisions of one document: ``revisions``, oldest first; ``erased``: revs of those that go; ``touched``: of
    those that are not to be in force."""

    revisions: Sequence[Document]
    erased: frozenset[int]
    touched: frozenset[int]

    @property
    def head(self) -> Document:
        return self.revisions[-1]

    @property
    def id(self) -> str:
        return str(self.head.id)

    @property
    def stays(self) -> bool:
        return any(one.rev not in self.touched and one.rev not in self.erased for one in self.revisions)


@dataclass(frozen=True, slots=True)
class Carrier:
    """A document whose revisions ``revs`` stay, and say some of ``drawn``. ``rev``: its last one; ``in_force``: which
    stays so."""

    id: str
    rev: int
    revs: frozenset[int]
    drawn: frozenset[Given]
    in_force: bool


def carriers(histories: Sequence[History]) -> list[Carrier]:
    """Find the carriers among all documents; one that took the place of another has what that one was called."""
    drawn = {one.id: drawn_from(one.revisions, one.erased) for one in histories}
    of_all = frozenset[Given]().union(*drawn.values())
    found = []
    for one in histories:
        words = of_all if one.head.supersedes else drawn[one.id]
        staying = (r for r in one.revisions if r.rev not in one.erased)
        revs = frozenset(r.rev for r in staying if without_drawn(r, words, one.head.path) != r)
        if revs:
            in_force = one.head.rev not in one.touched
            found.append(Carrier(one.id, one.head.rev, revs, words, in_force))
    return found


def at_drawn_paths(histories: Sequence[History]) -> set[str]:
    """Give the ids of the documents that stay where a librarian put them by such words."""
    staying = (one for one in histories if one.stays)
    return {one.id for one in staying if ("path", one.head.path) in drawn_from(one.revisions, one.erased)}


def given_by(document: Document) -> Iterator[Given]:
    """Give what a revision is called: name, summary, path and tags, but not what follows from the text, nor what says
    nothing of a conversation."""
    for name in ("name", "summary"):
        if name not in document.derived and getattr(document, name):
            yield name, getattr(document, name)
    yield "path", document.path
    yield from (("tags", tag) for tag in document.tags)


def drawn_from(revisions: Sequence[Document], erased: Collection[int]) -> frozenset[Given]:
    """Give what librarians were the first to say in revisions that are erased. ``revisions``: of one document, oldest
    first; ``erased``: some of their revs."""
    first: dict[Given, bool] = {}
    before: Document | None = None
    for revision in revisions:
        drawn = revision.rev in erased and _by_a_librarian(revision, before)
        for given in given_by(revision):
            first.setdefault(given, drawn)
        before = revision
    return frozenset(given for given, drawn in first.items() if drawn and not _is_constant(given))


def carried(document: Document, drawn: Collection[Given]) -> frozenset[Given]:
    """Give what a revision still says of ``drawn``, beside its path; or calls itself by that. A document about a person
    goes by their name as long as it stands there."""
    found = {given for given in given_by(document) if given in drawn and given[0] != "path"}
    if "name" in document.derived and ("path", document.path) in drawn and document.name == _segment(document.path):
        found.add(("name", document.name))
    if document.path.startswith(PEOPLE) and slug(document.name) == _segment(document.path):
        found.discard(("name", document.name))
    return frozenset(found)


def without_drawn(document: Document, drawn: Collection[Given], path: str) -> Document:
    """Replace a drawn name and summary by those that its own text makes, and remove the drawn tags. ``path``: where it
    stands by now, which it keeps; where it stood before at a drawn path, nothing is left of that. ``document``: with
    its text."""
    left = replace(document, path=path) if ("path", document.path) in drawn else document
    gone = carried(document, drawn) | carried(left, drawn)
    fields = {name for name, _ in gone}
    left = replace(left, tags=tuple(tag for tag in document.tags if ("tags", tag) not in gone))
    if "name" in fields:
        title = title_of(document.text)
        derived = tuple(name for name in left.derived if name != "name")
        left = replace(left, name=UNTITLED if ("name", title) in drawn else title, derived=derived)
    if "summary" in fields:
        left = replace(left, summary=summary_of(document.text), derived=(*left.derived, "summary"))
    return left


def _by_a_librarian(revision: Document, before: Document | None) -> bool:
    """Say whether a librarian wrote it, and not a person who changed what stands beside a librarian's text."""
    if revision.provenance.by != "assistant":
        return False
    return before is None or (revision.extracted_at, revision.sha256) != (before.extracted_at, before.sha256)


def _is_constant(given: Given) -> bool:
    name, value = given
    return given in _CONSTANT or (name == "name" and slug(value) in map(_segment, ALWAYS))


def _segment(path: str) -> str:
    return path.rpartition("/")[2]
