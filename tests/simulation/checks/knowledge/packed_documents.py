"""The documents of packs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, product
from typing import TYPE_CHECKING, NamedTuple

from neve.domain.documents.pins import Pin, pin_of
from neve.domain.pack.pinned import choose_pins
from neve.domain.records.documents import Document
from neve.domain.records.packs import PackEntry
from neve.store.documents import is_searched, read_document
from neve.store.keys import DOCUMENT, DOCUMENT_REV, SessionKeys, UserKeys, tenant_row
from neve.store.tenants.tenant_rows import existing
from tests.simulation.checks.knowledge.long_texts import stored_text
from tests.simulation.checks.replay import Found, transactions

if TYPE_CHECKING:
    from tests.simulation.run import Run


class Gathered(NamedTuple):
    """What one build read, and when: ``layers`` always and profile, and what had no room."""

    keys: SessionKeys
    began_s: float
    ended_s: float
    layers: Mapping[str, tuple[PackEntry, ...]]
    left_out: tuple[PackEntry, ...]


PLACES = (DOCUMENT, DOCUMENT_REV)
Named = tuple[tuple[tuple[str, int], ...], ...]
"""Documents by id and rev: always, profile and people, without room."""


def a_build_sees_the_documents_of_one_moment(run: Run) -> Found:
    """Of one between its beginning and its end: every document that belongs in it, at the rev of that moment, in the
    order of the pack, and none beside them. But for those whose text was deleted before it was read."""
    for built in run.cloud.gathered:
        shown = _named(built.layers["always"]), _named(built.layers["profile"]), _named(built.left_out)
        moments = list(_moments(run, built))
        if shown not in moments:
            yield f"{built.keys.log} at {built.began_s:.1f}-{built.ended_s:.1f}: {shown} instead of {moments[-1]}"


def _moments(run: Run, built: Gathered) -> Iterator[Named]:
    """What belonged in a pack at each moment of a build."""
    policy = existing(run.cloud.table.rows.get(tenant_row(built.keys.tenant))).policy
    deleted = set(_deleted_texts(run, built))
    for pins, gone in product(_pins(run, built), (False, True)):
        chosen = choose_pins(pins, policy.always_layer, policy.profile_layer)
        if gone:
            always, profile = (
                [pin for pin in some if (pin.document_id, pin.rev) not in deleted]
                for some in (chosen.always, chosen.profile)
            )
            chosen = replace(chosen, always=tuple(always), profile=tuple(profile))
        people = (*chosen.profile, *chosen.people)
        yield tuple(
            tuple((pin.document_id, pin.rev) for pin in some) for some in (chosen.always, people, chosen.left_out)
        )


def _pins(run: Run, built: Gathered) -> Iterator[list[Pin]]:
    """As they follow from the documents themselves."""
    heads: dict[str, Document] = {}
    texts: dict[tuple[str, int], str] = {}
    partition = UserKeys(built.keys.tenant, built.keys.user).partition
    shown = False
    for together in transactions(run):
        at_s = together[0].at_s
        own = [one for one in together if one.key.pk == partition and one.key.sk.startswith(PLACES)]
        if at_s > built.ended_s:
            break
        if at_s > built.began_s and not shown:
            shown = True
            yield _of(heads, texts)
        for one in own:
            if one.key.sk.startswith(DOCUMENT_REV) and one.new is not None:
                revision = read_document(one.new)
                texts[str(revision.id), revision.rev] = stored_text(run, revision)
            elif one.key.sk.startswith(DOCUMENT):
                heads.pop(one.key.sk, None)
                if one.new is not None and is_searched(one.new):
                    heads[one.key.sk] = read_document(one.new)
        if shown and own:
            yield _of(heads, texts)
    if not shown:
        yield _of(heads, texts)


def _deleted_texts(run: Run, built: Gathered) -> Iterator[tuple[str, int]]:
    """By id and rev, up to the end of the build. An older one is there as long as its document."""
    partition = UserKeys(built.keys.tenant, built.keys.user).partition
    for one in chain.from_iterable(transactions(run)):
        if one.at_s > built.ended_s:
            break
        if one.key.pk == partition and one.key.sk.startswith(DOCUMENT_REV) and one.old and one.new is None:
            revision = read_document(one.old)
            yield str(revision.id), revision.rev


def _of(heads: Mapping[str, Document], texts: Mapping[tuple[str, int], str]) -> list[Pin]:
    documents = (replace(head, text=texts.get((str(head.id), head.rev), "")) for head in heads.values())
    return [pin for pin in map(pin_of, documents) if pin is not None]


def _named(entries: tuple[PackEntry, ...]) -> tuple[tuple[str, int], ...]:
    return tuple((entry.id, entry.rev) for entry in entries)


def a_document_moves_no_pack(run: Run) -> Found:
    """No transaction that writes one writes an epoch row, which holds the pointer and what makes a pack be rebuilt."""
    for together in transactions(run):
        if any(one.key.sk.startswith(DOCUMENT) and one.new is not None and is_searched(one.new) for one in together):
            yield from (
                f"{one.key} moved with a document" for one in together if one.new and one.new["type"] == "epoch"
            )


INVARIANTS = (a_build_sees_the_documents_of_one_moment, a_document_moves_no_pack)
