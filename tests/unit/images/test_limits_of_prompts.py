"""Whatever a session holds, no prompt exceeds what a provider takes of images, and what it caches stays as it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neve.domain.compile.history import answered_to
from neve.domain.compile.shown_images import IMAGE_BYTES, LEFT_OUT, may_show, spans_of
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.sessions import Event, EventType, Span
from neve.domain.sessions.spans import holds
from neve.domain.sessions.transcript import images_of
from neve.scope import SessionScope
from neve.usecases.ask.compile.images import Images, Wanted, load_images
from tests.unit.compile.compile_world import session
from tests.unit.compile.logs import event
from tests.unit.recall_world import RecallWorld

Drawn = st.SearchStrategy[dict[str, Any]]
STORED: Drawn = st.builds(
    lambda size, side: {"bytes": size, "width": 1, "height": side},
    st.sampled_from([1, 50_000, IMAGE_BYTES // 3, IMAGE_BYTES // 2 + 1, IMAGE_BYTES]),
    st.sampled_from([1, 2_000, 2_001, 8_000]),
)
SMALL: Drawn = st.just({"bytes": 1_000, "width": 1, "height": 1})
LINK: Drawn = st.just({"url": "https://images.example/a.png"})
IMAGES = st.one_of([st.lists(one, max_size=20) for one in (STORED, SMALL, LINK, SMALL | LINK | STORED)])
SPEAKERS = st.sampled_from([EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE, EventType.TOOL_RESULT])
TURN = st.tuples(st.lists(st.tuples(SPEAKERS, IMAGES), min_size=1, max_size=6), st.booleans(), st.integers(0, 40))
"""Messages, whether they are answered, and which event a provider refuses then."""


@pytest.fixture
def world(recall_world: RecallWorld) -> RecallWorld:
    recall_world.objects.put(session(recall_world).keys.image_object("a"), b"png", content_type="image/png")
    return recall_world


@dataclass
class Chat:
    """Prompts of one session, as ``keep_epoch`` keeps what they leave out. ``history``: of the last one."""

    scope: SessionScope
    events: list[Event] = field(default_factory=list)
    epoch: SessionEpoch = field(default_factory=lambda: SessionEpoch("s1"))
    history: dict[int, list[bool]] = field(default_factory=dict)

    def say(self, kind: EventType, images: Sequence[dict[str, Any]] = ()) -> None:
        name, seq = self.scope.keys.image_object("a"), len(self.events) + 1
        blocks = [{"type": "image", "media_type": "image/png", **image} for image in images]
        stored = [block | {"object": name} if "bytes" in block else block for block in blocks]
        data = {"tool_use_id": f"c{seq}", "name": "look"} if kind is EventType.TOOL_RESULT else {}
        self.events.append(event(seq, kind, [{"type": "text", "text": "look"}, *stored], data))

    def prompt(self, refused: int = 0) -> None:
        made = load_images(self.scope, self.events, None, self.epoch, Wanted("all", frozenset({refused})))
        within_the_limits(made)
        past = answered_to(self.events, None)
        history = {one.seq: [LEFT_OUT in block for block in images_of(one)] for one in made.events[:past]}
        if not made.changes_history:
            assert history.items() >= self.history.items(), "within an epoch a history stays as it was"
        assert not any(shows(one) for one in made.events if holds(made.unusable, one.seq))
        assert refused == 0 or not any(shows(one) for one in made.events if one.seq == refused)
        asked = [one for one in made.events[past:] if images_of(one) and not holds(made.unusable, one.seq)]
        assert not asked or shows(asked[-1]), "the newest has room"
        self.history = history
        self.epoch = replace(self.epoch, prefix="", images_left_out=made.left_out, images_unusable=made.unusable)


def shows(one: Event) -> bool:
    return may_show(one) and any(LEFT_OUT not in block for block in images_of(one))


def within_the_limits(made: Images) -> None:
    shown = [block for one in made.events if may_show(one) for block in images_of(one) if LEFT_OUT not in block]
    large = any(block.get("height", 0) > 2_000 for block in shown)
    assert len(shown) <= (20 if large else 100)
    assert sum(block.get("bytes", 0) for block in shown) <= IMAGE_BYTES
    assert len(made.left_out) <= 101


def test_no_prompt_exceeds_the_limits_and_within_an_epoch_a_history_stays(world: RecallWorld) -> None:
    @settings(max_examples=60)
    @given(turns=st.lists(TURN, max_size=25))
    def holds_for(turns: list[tuple[list[tuple[EventType, list[Any]]], bool, int]]) -> None:
        chat = Chat(session(world))
        for messages, answered, refused in turns:
            for kind, images in messages:
                chat.say(kind, images)
            chat.prompt()
            chat.prompt(refused)
            if answered:
                chat.say(EventType.ASSISTANT_RESPONSE)

    holds_for()


@given(st.sets(st.integers(1, 60)), st.sets(st.integers(1, 60)))
def test_spans_hold_what_is_left_out_and_nothing_that_is_shown(left_out: set[int], shown: set[int]) -> None:
    left_out -= shown
    spans: tuple[Span, ...] = ()
    for seq in sorted(left_out):
        spans = spans_of({seq}, spans, shown)
    assert all(holds(spans, seq) for seq in left_out)
    assert not any(holds(spans, seq) for seq in shown)
    assert len(spans) <= len(shown) + 1
