"""The table of calls in ``docs/api.md``, from the operations that the functions answer and the one table of errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from neve.http.operations import Operation
from neve.http.problems import EVERY_CALL, PROBLEMS, WITH_BODY, WITH_IDEMPOTENCY, WITH_KEY, WITH_USER

AnyOperation = Operation[Any, Any]

TARGET = Path(__file__).resolve().parents[2] / "docs" / "api.md"


class Group(NamedTuple):
    """``rules``: where they are, below ``docs/rules``."""

    title: str
    rules: str
    ids: tuple[str, ...]


GROUPS: Mapping[str, Group] = {
    "E1": Group("Sessions", "sessions.md", ("openSession", "listSessions", "readSession", "deleteSession")),
    "E2": Group(
        "Log and uploads",
        "sessions.md#log",
        ("appendEvents", "appendMessages", "turn", "retractEvents", "listEvents", "createUpload"),
    ),
    "E3": Group("Observe, and a user's jobs", "observe.md", ("observeSession", "readJob")),
    "E4": Group("Compact", "compact.md", ("compactSession",)),
    "E5": Group("End a session", "compact.md#end", ("endSession",)),
    "E6": Group("Pack", "pack.md", ("readPack", "listPackVersions", "diffPackVersions")),
    "E7": Group("Recall", "recall.md", ("recall",)),
    "E8": Group("Compile a prompt", "compile.md", ("compileContext",)),
    "E9": Group(
        "Memories",
        "memories.md",
        (
            *("listMemories", "createMemory", "readMemory", "updateMemory", "deleteMemory"),
            *("importMemories", "markMemoriesUsed", "evolveMemory", "traceMemory", "forgetMemories"),
        ),
    ),
    "E10": Group(
        "Documents",
        "documents.md",
        (
            *("getDocument", "putDocument", "deleteDocuments", "listDocuments", "listDocumentVersions"),
            *("moveDocument", "restoreDocument", "evolveDocument"),
        ),
    ),
    "E11": Group(
        "Tools of a model",
        "recall.md#tool",
        (
            *("listTools", "callRecallMemory", "callSearchConversation", "callSearchKnowledge", "callReadDocument"),
            *("callRemember", "callCorrect", "callForget"),
        ),
    ),
    "E12": Group("Ledger of recalls", "recall.md#ledger", ("listRecalls", "readRecall")),
    "E13": Group(
        "What waits for a decision",
        "librarian.md#inbox",
        ("listInbox", "approveInboxItem", "rejectInboxItem", "editInboxItem", "supersedeInboxItem"),
    ),
    "E14": Group("The tenant's jobs", "jobs.md", ("reflect", "drainEmbeddings", "readAdminJob", "readWork")),
    "outgoing": Group(
        "Outgoing events",
        "events.md",
        (
            *("readFeed", "listWebhooks", "readWebhook", "putWebhook", "deleteWebhook"),
            *("testWebhook", "listDeliveries"),
        ),
    ),
    "E15": Group("Erase and export a user", "erase.md#job", ("eraseUser", "exportUser")),
    "E16": Group("Health, counts, usage", "tenants.md#usage", ("health", "listUsers", "userStats", "tenantUsage")),
    "E17": Group(
        "Policy, keys and tokens",
        "tenants.md#policy",
        (
            *("readPolicy", "writePolicy", "patchPolicy", "listKeys", "createKey", "revokeKey"),
            *("createUserToken", "createToken"),
        ),
    ),
    "E18": Group("Prompts' usage", "usage.md", ("reportUsage",)),
}
"""Short code -> its calls, by their operation ids; a word of its own for calls that have no code."""
_CODE = re.compile(r"E\d+")

_BEGINNING = """\
# API

The calls, by their names; the codes of the first table are what tests call them. Parameters, bodies and answers are in
[openapi.json](openapi.json), what holds for all of them in [rules/http.md](rules/http.md). `python -m local.openapi`
writes this page from the code, and `tests/unit/project/test_documents.py` compares the two.

The base path is `/v1`. The [API key](rules/tenants.md#keys), or an [access token](rules/access.md) of one, is sent as
`Authorization: Bearer <key>`; a call needs the scope that is named. "Key" says that the call takes an
[`Idempotency-Key`](rules/http.md#idempotency).
"""


def text(operations: Iterable[AnyOperation]) -> str:
    """The page as it is committed. Raises KeyError for an operation without a code, and for one that is named here and
    not answered."""
    by_id = {operation.id: operation for operation in operations}
    by_code = {code: [by_id.pop(i) for i in group.ids] for code, group in GROUPS.items()}
    tables = [_table(GROUPS[code], answered) for code, answered in by_code.items()]
    if by_id:
        raise KeyError(f"no code for {sorted(by_id)}")
    return "\n".join([_BEGINNING, _codes(by_code), *tables, _errors()])


def _codes(by_code: Mapping[str, Sequence[AnyOperation]]) -> str:
    lines = ["| about | calls | code |", "| --- | --- | --- |"]
    for code, operations in by_code.items():
        calls = ", ".join(f"`{one.method} {one.path.removeprefix('/v1')}`" for one in operations)
        title = GROUPS[code].title
        lines.append(f"| [{title}](#{slug(title)}) | {calls} | {code if _CODE.fullmatch(code) else ''} |")
    return "\n".join([*lines, ""])


def slug(title: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _table(group: Group, operations: Iterable[AnyOperation]) -> str:
    lines = [
        f"## {group.title}",
        "",
        f"[rules/{group.rules}](rules/{group.rules})",
        "",
        "| name | call | what it does | scope | success | key | refusals of its own |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(_row(operation) for operation in operations),
        "",
    ]
    return "\n".join(lines)


def _row(operation: AnyOperation) -> str:
    own = [code for code in operation.all_codes if code not in _common(operation)]
    cells = (
        f"`{operation.id}`",
        f"`{operation.method} {operation.path.removeprefix('/v1')}`",
        operation.summary,
        " or ".join(f"`{scope}`" for scope in operation.scopes) or "none",
        ", ".join(map(str, operation.responses)),
        "yes" if operation.idempotent else "",
        ", ".join(f"`{code}`" for code in own),
    )
    return " ".join(f"| {cell}" if cell else "|" for cell in cells) + " |"


def _common(operation: AnyOperation) -> set[str]:
    """The codes that follow from the call's shape, which the page says once."""
    codes = {*EVERY_CALL, *WITH_BODY, *WITH_IDEMPOTENCY, *WITH_KEY, *WITH_USER}
    return codes - set(operation.codes)


def _errors() -> str:
    shapes = {
        "every call": EVERY_CALL,
        "calls with a scope": WITH_KEY,
        "calls about a user": WITH_USER,
        "calls with a body": WITH_BODY,
        "calls that take a key": WITH_IDEMPOTENCY,
    }
    lines = [
        "## Errors",
        "",
        "Beside its own, a call can be refused with what follows from its shape:",
        "",
        *(f"* {who}: {', '.join(f'`{code}`' for code in codes)}" for who, codes in shapes.items()),
        "* a path that no call has: `route_not_found`",
        "* what is no HTTP, before it is a call: `malformed_http`",
        "",
        "| code | status | meaning |",
        "| --- | --- | --- |",
        *(f"| `{code}` | {kind.status} | {kind.title} |" for code, kind in PROBLEMS.items()),
        "",
    ]
    return "\n".join(lines)
