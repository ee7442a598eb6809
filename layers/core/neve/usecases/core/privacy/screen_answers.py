"""The gate on what a model answers before it is kept: a pass, a summary, a reflection, a night, a filing. What it read
was screened already; its words are its own, and no caller can be told, so what is found is taken out. Facts have
the same gate in their storage decision."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from neve.domain.compact.headings import HEADINGS, SummaryText
from neve.domain.librarian.filing import Action, Filed
from neve.domain.privacy.screen import screen
from neve.observing import Condensed, Observed, Reflected
from neve.scope import TenantScope
from neve.usecases.core.privacy.admit import redacted

IN_A_PATH = "personal_data"
"""The reason why a change of a document is left out: no path without it can be meant."""


def screen_observed(scope: TenantScope, observed: Observed) -> tuple[Observed, Counter[str]]:
    """Take out of an answer's lines, and of what it says of the thread, what the policy takes out."""
    screened = [redacted(scope, line, ("text",)) for line in observed.lines]
    thread, found = redacted(scope, observed, ("current_task", "suggested_continuation", "thread_title"))
    return replace(thread, lines=tuple(line for line, _ in screened)), sum((one for _, one in screened), found)


def screen_summary(scope: TenantScope, summary: SummaryText) -> SummaryText:
    return redacted(scope, summary, HEADINGS)[0]


def screen_reflected(scope: TenantScope, reflected: Reflected) -> Reflected:
    return replace(reflected, rows=tuple(redacted(scope, row, ("text",))[0] for row in reflected.rows))


def screen_condensed(scope: TenantScope, condensed: Condensed) -> Condensed:
    return replace(condensed, rows=tuple(redacted(scope, row, ("text",))[0] for row in condensed.rows))


def screen_filed(scope: TenantScope, filed: Filed) -> tuple[Filed, Counter[str]]:
    """Screen changes of documents and the account, and give what was taken out. A change whose path holds any of it is
    rejected."""
    total, account = Counter[str](), filed.account
    screened_actions: dict[str, list[Action]] = {"actions": [], "illegal": []}
    in_paths = 0
    for name, actions in (("actions", filed.actions), ("illegal", filed.illegal)):
        for action in actions:
            if _holds_any(scope, action.path) or _holds_any(scope, action.to_path or ""):
                in_paths += 1
                continue
            screened, found = redacted(scope, action, ("text", "title", "tags"))
            total += found
            screened_actions[name].append(screened)
    if account is not None:
        text, found = redacted(scope, account.text, HEADINGS)
        account, of_session = redacted(scope, replace(account, text=text), ("title", "emotional_tone", "key_topics"))
        total += found + of_session
    rejected = {**filed.rejected, IN_A_PATH: in_paths} if in_paths else filed.rejected
    actions, illegal = tuple(screened_actions["actions"]), tuple(screened_actions["illegal"])
    return replace(filed, actions=actions, illegal=illegal, account=account, rejected=rejected), total


def _holds_any(scope: TenantScope, path: str) -> bool:
    return bool(screen(path, scope.policy.pii.actions).found)
