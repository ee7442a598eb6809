"""What the pack holds is left out, by text, and at the rev that it shows; by id where its changes are told."""

from __future__ import annotations

import pytest

from neve.domain.records.packs import PackEntry, PackManifest
from neve.usecases.ask.recall.dropped import EXCLUDED, IN_PACK, History, left_out
from neve.usecases.core.pack.served_pack import contents_of

MANIFEST = PackManifest(
    session_id="s1",
    pack_version=1,
    trigger="initial",
    built_at="",
    sha256="",
    tokens=0,
    inputs_sha="",
    layers={
        "always": (PackEntry("doc_rules", 3, "fp-rules", 10, "document", "/always-load/rules"),),
        "profile": (PackEntry("doc_sarah", 2, "fp-sarah", 10, "excerpt", "/profile/people/sarah"),),
        "global": (PackEntry("mem_tea", 1, "fp-tea", 10, "note"),),
    },
)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (("mem_tea", "fp-tea", 9), IN_PACK),
        (("mem_tea", "fp-as-indexed", 1), IN_PACK),
        (("mem_tea", "fp-new", 2), None),
        (("mem_other", "fp-tea", 1), IN_PACK),
        (("doc_rules", "fp-passage", 3), IN_PACK),
        (("doc_rules", "fp-passage", 2), IN_PACK),
        (("doc_rules", "fp-passage", 4), None),
        (("doc_copy", "fp-rules", 1), IN_PACK),
        (("doc_sarah", "fp-sarah", 2), None),
        (("mem_named", "fp", 1), EXCLUDED),
        (("mem_other", "fp", 1), None),
    ],
    ids=[
        *(
            "a memory",
            "an indexed memory",
            "a reworded memory",
            "its text",
            "a document",
            "an older rev",
            "a newer rev",
            "its text elsewhere",
        ),
        *("a person in part", "named by the caller", "anything else"),
    ],
)
def test_what_is_left_out(given: tuple[str, str, int], reason: str | None) -> None:
    out = left_out(contents_of(MANIFEST), ["mem_named"], [])
    assert out.reason(*given) == reason


def test_a_reworded_memory_is_left_out_where_updates_tell_of_it() -> None:
    out = left_out(contents_of(MANIFEST), [], [], History("s1", None))
    assert out.reason("mem_tea", "fp-new", 2) == IN_PACK
    assert out.reason("doc_rules", "fp-passage", 4) is None, "updates show the beginning of a document only"
