"""E6 over HTTP: ETags, 304 and caching of the pack (docs/rules/pack.md#http)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Literal

from neve.http.preconditions import EntityTags
from neve.http.router import Answer
from neve.http.schemas.pack.packs import PackOut
from neve.usecases.ask.pack.read_pack import PackView
from neve.usecases.core.lag.memory_lag import MemoryLag

Format = Literal["json", "text"]

JSON_MARK = "-j"
LAG_HEADER = "X-Neve-Memory-Lag"
"""Outside the ETag: ``events=10, unindexed=10, unembedded=12, unobserved=0, seconds=3``; and ``at_least=1`` behind it
where not everything was counted."""
REVALIDATE = "private, no-cache"
"""A version never changes, but which version is current does: a copy may be kept and must be asked for."""


def entity_tag(sha256: str, wanted: Format) -> str:
    """Give the entity tag of a text in a format, without the quotes."""
    return sha256 + JSON_MARK if wanted == "json" else sha256


def held(sent: EntityTags, wanted: Format) -> Callable[[str], bool]:
    """Make the test that says whether the caller has the text of a sha256 in this format."""
    return lambda sha256: sent.match(entity_tag(sha256, wanted))


def pack_answer(view: PackView, wanted: Format, sent: EntityTags) -> Answer:
    """Answer with a pack. A version has an ETag and may be answered by 304; everything else is ``no-store``. Without
    any text the answer is JSON in both formats: an empty text would mean that there is nothing to remember."""
    headers = {} if view.lag is None else {LAG_HEADER: _lag_header(view.lag)}
    if view.sha256 is not None:
        headers |= {"ETag": f'"{entity_tag(view.sha256, wanted)}"', "Cache-Control": REVALIDATE}
        if view.state == "not_modified" or held(sent, wanted)(view.sha256):
            return Answer(304, headers=headers, degraded=view.degraded)
    if wanted == "text" and view.text is not None:
        return Answer(text=view.text, headers=headers, degraded=view.degraded)
    return Answer(body=PackOut.of(view), headers=headers, degraded=view.degraded)


def _lag_header(lag: MemoryLag) -> str:
    numbers = {name: int(number) for name, number in asdict(lag).items() if number or name != "at_least"}
    return ", ".join(f"{name}={number}" for name, number in numbers.items())
