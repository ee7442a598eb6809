"""A tenant whose users bring in their old chats all at once, while the others go on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from evals.soak.client import STATEMENTS, append_call
from evals.soak.journal import Account, Append, Journal
from evals.soak.sending import Call, Sender

TENANT = "backlog"
"""Has the default policy: its sessions are not compacted."""
USERS, APPENDS, EVENTS = 25, 5, 40
"""5,000 utterances."""


def bring_in(sender: Sender) -> list[Journal]:
    """What was sent, by user."""
    journals = []
    for number in range(USERS):
        journal = Journal(Account(TENANT, f"b{number}"), sessions=["old"])
        sender.send(journal.account, _of(journal, Call("open", "POST", "/sessions", {"session_id": "old"})))
        for append in _appends(number):
            journal.appends.append(append)
            reply = sender.send(journal.account, _of(journal, append_call(append)))
            if reply is not None:
                append.seqs = reply.json()["seqs"]
        journals.append(journal)
    return journals


def _appends(user: int) -> Iterator[Append]:
    for part in range(APPENDS):
        events = []
        for n in range(EVENTS):
            statement = STATEMENTS[n % len(STATEMENTS)].format(f"Zqb{user}n{part * EVENTS + n}")
            events.append({"event_type": "user_message", "content": statement, "client_id": f"b{user}-{part}-{n}"})
        yield Append("old", events, None)


def _of(journal: Journal, call: Call) -> Call:
    return replace(call, path=journal.account.path + call.path)
