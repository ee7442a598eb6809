"""Compiled prompts: what a provider caches of them, and that it takes them at all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby, pairwise, takewhile, zip_longest
from sys import maxsize
from typing import TYPE_CHECKING, Any

from neve.domain.compile.conversation import PENDING
from neve.domain.compile.history import hidden_events
from neve.domain.records.epochs import HistoryCut, SessionEpoch
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.spans import holds
from neve.domain.sessions.transcript import event_text
from neve.store import rows
from tests.simulation.checks.compactions import epoch_moved
from tests.simulation.checks.replay import Found, before_erasure
from tests.simulation.clients.history import Did

if TYPE_CHECKING:
    from tests.simulation.run import Run

Block = tuple[str, str]
"""Who says it, and what, as JSON."""
_AROUND = ("<neve-updates>", "<neve-retrieved>", "<neve-task>", "<neve-session>")
"""What Neve shows in front of a turn's message begins with one of these."""
INCOMPLETE = ("session:", "history:", "epoch:", "images:")
"""Flags of prompts that have no history, or one that the next prompt does not go on from, and say so."""


def a_prefix_only_grows_inside_an_epoch(run: Run) -> Found:
    """The history of a prompt begins with that of every prompt of the same epoch that was answered before it was asked
    for, unless retention has removed the covered message that it kept."""
    for (keys, _, epoch), some in by_epoch(run):
        for before, after in combinations(sorted(some, key=lambda did: did.ended_s), 2):
            if before.ended_s <= after.began_s:
                first, then = _history(before.value.request), _history(after.value.request)
                if _turn(after.value.request) is not None:
                    first = first[: len(then)]  # a message that was asked about in the middle of the turn
                if then[: len(first)] != first and not _kept_is_gone(run, before, after):
                    at = next(n for n, (one, two) in enumerate(zip([*first, None], [*then, None])) if one != two)  # noqa: B905
                    yield f"{keys.log} epoch {epoch}: block {at} of {len(first)} is another at {after.began_s:.3f}"


def a_round_shows_what_the_prompt_before_it_showed(run: Run) -> Found:
    """In a loop of tool calls a prompt begins with the whole one before, but for lines of memory that are gone. Not
    where another prompt of the session was asked for in between, or where one of them says that it does not know."""
    for (keys, _, epoch), some in by_epoch(run):
        asked = sorted(some, key=lambda did: did.ended_s)
        for before, after in pairwise(asked):
            first, then = _turn(before.value.request), _turn(after.value.request)
            if first is None or then is None or first[0] != then[0] or not _goes_on(run, before, after):
                continue
            told, now = (json.loads(one[1][0][1])["text"].split("\n") for one in (first, then))
            if not set(now) <= set(told):
                new = sorted({*now} - {*told})[:2]
                yield f"{keys.log} epoch {epoch} at {after.began_s:.3f}: new in the turn is {new}"
            same = zip_longest(first[1][1:], then[1][1 : len(first[1])])
            if any(one != other and (one is None or PENDING not in one[1]) for one, other in same):
                yield f"{keys.log} epoch {epoch} at {after.began_s:.3f}: a round that was sent is another one"


def a_pack_version_is_one_system_text(run: Run) -> Found:
    """Whoever is shown it, and in every epoch."""
    known: dict[tuple[Any, ...], Any] = {}
    for did in run.history.of("context"):
        if did.ok and did.value.pack_version is not None and not before_erasure(run, did.keys, did.began_s):
            system = _system(did.value.request)
            if known.setdefault((did.keys, did.value.pack_version), system) != system:
                yield f"{did.keys.log}: another text of version {did.value.pack_version}"


def no_tool_result_is_an_orphan(run: Run) -> Found:
    """A provider refuses a request in which a result does not follow its call, or a call has no result behind it."""
    for did in run.history.of("context"):
        if did.ok:
            wrong = _unpaired(did.value.request["messages"])
            if wrong:
                yield f"{did.keys.log} at {did.began_s:.3f}, {did.given.format}: {wrong}"


def no_prompt_is_without_the_request_of_the_open_turn(run: Run) -> Found:
    """Where the log ends with results, with or without further messages: the last message before them is in every
    prompt that has the log, whatever is hidden. Not of prompts that were read while events were written or taken back,
    and not where a turn that had its answer was hidden, and somebody went on with its tools."""
    for did in run.history.of("context"):
        if not did.ok or any(flag.startswith(INCOMPLETE) for flag in did.value.degraded):
            continue
        asked = _request_at(run, did)
        if asked is not None and asked not in _said_by_the_user(did.value.request):
            yield f"{did.keys.log} at {did.began_s:.3f}: the prompt is without {asked[:60]!r}"


# --- parts ----------------------------------------------------------------------------------------


def _turn(request: Mapping[str, Any]) -> tuple[list[Block], list[Block]] | None:
    """Of a prompt in a round: what stands before the turn, and the turn, whose first block is what Neve shows. None of
    another prompt."""
    blocks = [block for one in request["messages"] if one["role"] != "system" for block in _blocks(one)]
    at = next((n for n, block in enumerate(blocks) if _is_around(block)), None)
    last = request["messages"][-1]
    content = last.get("content")
    alone = last["role"] == "tool" or all(
        isinstance(block, dict) and block["type"] == "tool_result" for block in content or ()
    )
    return (blocks[:at], blocks[at:]) if at is not None and alone else None


def _kept_is_gone(run: Run, before: Did, after: Did) -> bool:
    """Say whether the covered message of the open turn grew too old from the one prompt to the other."""
    return any(
        written.new is not None and (written.new.get("covers_keeps") or maxsize) <= written.new["removed_to"]
        for written in run.cloud.table.log
        if written.key == before.keys.epoch and before.began_s <= written.at_s <= after.ended_s
    )


def _is_around(block: Block) -> bool:
    role, text = _said(block)
    return role == "user" and text.startswith(_AROUND)


def _goes_on(run: Run, before: Did, after: Did) -> bool:
    """Whether nobody else asked for a prompt from the beginning of the first on, and both know what they know."""
    unsure = ("turn:", "ledger:", "updates:")
    if before.ended_s > after.began_s or any(
        flag.startswith(unsure) for one in (before, after) for flag in one.value.degraded
    ):
        return False
    return not any(
        did is not before and did is not after and did.keys == after.keys and did.ended_s > before.began_s
        for did in run.history.of("context")
        if did.began_s < after.ended_s
    )


def _request_at(run: Run, did: Did) -> str | None:
    """The text of the message that the open round goes on from; None where there is none, or nobody can say."""
    events: dict[int, Event] = {}
    epoch: SessionEpoch | None = None
    for written in run.cloud.table.log:
        if not (written.key.pk == did.keys.log or written.key == did.keys.epoch) or written.at_s > did.ended_s:
            continue
        if written.key == did.keys.epoch:
            before, epoch = epoch, rows.read_epoch(written.new) if written.new else None
            same = before is not None and epoch is not None and before.retracted == epoch.retracted
        else:
            row = written.new or written.old or {}
            same = row.get("type") != "event"
            if written.new is None and not same:
                events.pop(row["seq"], None)  # erased or too old: the id may be of another session by now
            elif not same:
                events[row["seq"]] = rows.read_event(row)
        if written.at_s >= did.began_s and not same:
            return None
    if epoch is None or before_erasure(run, did.keys, did.began_s):
        return None
    standing = [event for seq, event in sorted(events.items()) if not holds(epoch.retracted, seq)]
    behind = takewhile(lambda one: one.event_type is not EventType.ASSISTANT_RESPONSE, reversed(standing))
    waits = list(takewhile(lambda one: one.event_type is not EventType.TOOL_CALL, behind))
    if not any(one.event_type is EventType.TOOL_RESULT for one in waits):
        return None
    at = next(n for n in range(len(standing) - 1, -1, -1) if standing[n].event_type is EventType.TOOL_RESULT)
    asked = next((e for e in reversed(standing[:at]) if e.event_type is EventType.USER_MESSAGE), None)
    return None if asked is None or _was_over(asked.seq, standing, hidden_events(epoch)) else event_text(asked)


def _was_over(asked: int, standing: Sequence[Event], cut: HistoryCut | None) -> bool:
    """Whether what is hidden ends with the answer of the turn."""
    if cut is None or not cut.seq_from <= asked <= cut.seq_to:
        return False
    gone = [event for event in standing if asked <= event.seq <= cut.seq_to]
    return bool(gone) and gone[-1].event_type is EventType.ASSISTANT_RESPONSE


def _said_by_the_user(request: Mapping[str, Any]) -> str:
    return "\n".join(block for role, block in map(_said, _all_blocks(request)) if role == "user")


def _all_blocks(request: Mapping[str, Any]) -> Iterator[Block]:
    return (block for message in request["messages"] for block in _blocks(message))


def _said(block: Block) -> Block:
    role, told = block
    read = json.loads(told)
    return role, read["text"] if isinstance(read, dict) and read.get("type") == "text" else ""


def by_epoch(run: Run) -> Iterator[tuple[tuple[Any, str, int], list[Did]]]:
    """Prompts that say their epoch and have their history, but for those that were read while the epoch moved: they may
    be of either."""

    def place(did: Did) -> tuple[Any, str, int]:
        return did.keys, did.given.format, did.value.epoch

    moves = [w for w in run.cloud.table.log if epoch_moved(w)]
    whole = [
        did
        for did in run.history.of("context")
        if did.ok
        and did.value.epoch is not None
        and not any(flag.startswith(INCOMPLETE) for flag in did.value.degraded)
        and not before_erasure(run, did.keys, did.began_s)
        and not any(w.key == did.keys.epoch and did.began_s <= w.at_s <= did.ended_s for w in moves)
    ]
    whole.sort(key=lambda did: tuple(map(str, place(did))))
    return ((key, list(some)) for key, some in groupby(whole, key=place))


def _history(request: Mapping[str, Any]) -> list[Block]:
    """What stands before the turn that is answered, block by block and without marks."""
    messages = [message for message in request["messages"] if message["role"] != "system"]
    ends = max((n for n, message in enumerate(messages) if message["role"] == "assistant"), default=-1)
    blocks = [block for message in messages[: ends + 1] for block in _blocks(message)]
    return list(takewhile(lambda block: not _is_around(block), blocks))


def _blocks(message: Mapping[str, Any]) -> Iterator[Block]:
    """Texts that stand joined in one string are taken apart: the string of a prompt begins with that of the one
    before."""
    content = message.get("content") or []
    for block in content.split("\n\n") if isinstance(content, str) else content:
        plain = {k: v for k, v in block.items() if k != "cache_control"} if isinstance(block, dict) else block
        yield message["role"], json.dumps(plain, sort_keys=True)
    for call in message.get("tool_calls", ()):
        yield message["role"], json.dumps(call, sort_keys=True)


def _system(request: Mapping[str, Any]) -> list[str]:
    if "system" in request:
        return [block["text"] for block in request["system"]]
    return [message["content"] for message in request["messages"] if message["role"] == "system"]


def _unpaired(messages: Sequence[Mapping[str, Any]]) -> str:
    """Every call is answered in what stands between it and the next word of the assistant, and nothing else is."""
    open_calls: list[str] = []
    for message in messages:
        calls, results = _ids(message)
        if message["role"] == "assistant":
            if open_calls:
                return f"{open_calls} without results"
            open_calls = calls
        elif not set(results) <= set(open_calls):
            return f"{results} answer {open_calls}"
        elif message["role"] == "user" and not results and open_calls:
            return f"{open_calls} without results"
        else:
            open_calls = [call for call in open_calls if call not in results]
    return f"{open_calls} without results" if open_calls else ""


def _ids(message: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Calls and results of a message, in either format."""
    if message["role"] == "tool":
        return [], [message["tool_call_id"]]
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    return [*calls, *(call["id"] for call in message.get("tool_calls", ()))], results


INVARIANTS = (
    a_prefix_only_grows_inside_an_epoch,
    a_round_shows_what_the_prompt_before_it_showed,
    a_pack_version_is_one_system_text,
    no_tool_result_is_an_orphan,
    no_prompt_is_without_the_request_of_the_open_turn,
)
