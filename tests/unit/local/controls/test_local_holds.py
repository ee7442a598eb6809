"""A pass that is held and let go (local/controls/holds.py)."""

from __future__ import annotations

from threading import Thread

from local.controls.holds import Holds
from tests.patience import PATIENCE_S


def started(work: Thread) -> Thread:
    work.start()
    return work


def test_a_release_does_not_wait_for_who_is_held_again_at_once() -> None:
    holds = Holds()

    def worker() -> None:
        holds.pass_through("compact")
        holds.pass_through("compact")

    for _ in range(2):
        holds.arm("compact")
    held = started(Thread(target=worker, daemon=True))
    assert holds.wait_inside("compact", PATIENCE_S) == 1
    releasing = started(Thread(target=holds.release, args=("compact",), daemon=True))
    releasing.join(PATIENCE_S)
    returned = not releasing.is_alive()
    assert holds.wait_inside("compact", PATIENCE_S) == 1, "by the second hold"
    holds.release_all()
    held.join(PATIENCE_S)
    assert returned and not held.is_alive()


def test_a_release_returns_when_the_held_are_out_and_leaves_an_unused_hold_armed() -> None:
    holds, out = Holds(), list[int]()

    def worker(number: int) -> None:
        holds.pass_through("extract")
        out.append(number)

    for _ in range(3):
        holds.arm("extract")
    workers = [started(Thread(target=worker, args=(number,))) for number in range(2)]
    while holds.inside("extract") < 2:
        holds.wait_inside("extract", 0.01)
    holds.release("extract")
    assert holds.inside("extract") == 0
    for one in workers:
        one.join(PATIENCE_S)
    assert sorted(out) == [0, 1]
    late = started(Thread(target=worker, args=(2,)))
    assert holds.wait_inside("extract", PATIENCE_S) == 1, "by the third"
    holds.release("extract")
    late.join(PATIENCE_S)
    assert len(out) == 3
