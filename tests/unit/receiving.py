"""Receivers of webhooks that answer as they are told."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from neve.domain.outgoing.webhook import Attempt

OK = Attempt(200, None, 5)
REFUSED = Attempt(500, "status", 5)
GONE = Attempt(410, "status", 5)
SILENT = Attempt(None, "timeout", 10_000)


@dataclass
class Post:
    url: str
    headers: Mapping[str, str]
    body: bytes
    taken: bool = False

    @property
    def event(self) -> dict[str, Any]:
        return dict(json.loads(self.body))


@dataclass
class ScriptedReceivers:
    """``answers``: what a post is answered with; the default takes everything."""

    answers: Callable[[Post], Attempt] = lambda _: OK
    posts: list[Post] = field(default_factory=list)

    def refusal(self, url: str) -> str | None:
        return None if url.startswith("https://") else "must begin with https://"

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Attempt:
        post = Post(url, headers, body)
        answer = self.answers(post)
        post.taken = answer.delivered
        self.posts.append(post)
        return answer
