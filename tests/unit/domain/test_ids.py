"""Ids that follow from what they name."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st
from ulid import ULID

from neve.domain.ids import ulid_named
from neve.store.keys import SessionKeys
from neve.usecases.core.jobs.messages.observation import observation_job_id


@given(st.text(max_size=40))
def test_an_id_holds_the_names_hash(name: str) -> None:
    assert bytes(ULID.from_str(ulid_named(name))) == hashlib.sha256(name.encode()).digest()[:16]


def test_the_id_of_a_job_never_changes() -> None:
    """Jobs of this id are stored."""
    assert observation_job_id(SessionKeys("t1", "ann", "s1"), 1, 2) == "job_51YX2F5CQFBBWKY1WSZ56B4095"
