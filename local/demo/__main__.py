"""``python -m local.demo``: plays the bundled conversation against the running service and shows what became of it.

Every run plays for a new user, so that it can be repeated at will."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from local.bootstrap import KEY_FILE
from local.datafolder import FOLDERS
from local.demo import showing
from local.demo.conversation import Sample, load
from local.demo.playing import TookTooLong, observations, play, wait_until_remembered
from local.demo.prompting import show_prompt
from local.demo.terminal import heading, styled
from sdk.python.neve import Neve, NeveAuth, NeveConnection, NeveError, Pack

BASE_URL = "http://127.0.0.1:8787"
KEY_VARIABLE = "NEVE_KEY"
HITS = 3
PATIENT_MS = 10_000
"""To show the pack also on a busy machine: a chat would go on without it after 500 ms."""
CONSOLE_S = 3600
"""For how long the last address opens the console: as long as a token may."""


def main() -> int:
    given = _arguments()
    keys = _keys(given.data)
    if not keys:
        where = given.data or " or ".join(FOLDERS.values())
        return _stopped(
            f"There is no API key in {where}. Start the service first, in another terminal: make run. If it runs "
            "with a data folder of its own, name that: make demo DATA_DIR=folder, or set NEVE_KEY to its key."
        )
    try:
        with closing(_client(given.base_url, keys)) as client:
            _demonstrate(client, given.base_url)
    except NeveConnection:
        return _stopped(f"Nobody answers at {given.base_url}. Start the service first, in another terminal: make run")
    except (NeveError, TookTooLong) as error:
        return _stopped(str(error))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local.demo", description=__doc__)
    parser.add_argument("--base-url", default=BASE_URL, help=f"of the running service (default: {BASE_URL})")
    folders = " or ".join(FOLDERS.values())
    parser.add_argument("--data", type=Path, help=f"its data folder, which holds the key (default: {folders})")
    return parser.parse_args()


def _keys(folder: Path | None) -> list[str]:
    """The ready-made keys of a data folder, else NEVE_KEY, else those of the default folders: which of them the service
    works on, it will say."""
    if folder is None and (own := os.environ.get(KEY_VARIABLE, "").strip()):
        return [own]
    folders = [folder] if folder else [Path(name) for name in FOLDERS.values()]
    files = [one / KEY_FILE for one in folders]
    return [file.read_text(encoding="ascii").strip() for file in files if file.exists()]


def _client(base_url: str, keys: Sequence[str]) -> Neve:
    """With the key that the service knows; the first one if it knows none. Raises NeveConnection."""
    for key in keys:
        neve = Neve(key, base_url)
        try:
            neve.raw.read_policy()
        except NeveAuth:
            neve.close()
        else:
            return neve
    return Neve(keys[0], base_url)


def _demonstrate(neve: Neve, base_url: str) -> None:
    now = datetime.now(UTC)
    user, sample = f"demo-{now:%Y%m%d-%H%M%S}", load(now)
    health = neve.raw.health()
    events = sum(len(talk.events) for talk in sample.talks)
    days = max(talk.days_ago for talk in sample.talks)
    print(heading(f"{sample.user_meta['name']}: {len(sample.talks)} sessions over {days} days, {events} events"))
    print(f"user {user}, observer {health['observer']}, embedder {health['embedder']['model']}")
    play(neve, user, sample)
    wait_until_remembered(neve, user, _progress)
    _clear_progress()
    print(heading("What was remembered"))
    print("\n\n".join(showing.remembered(talk, observations(neve, user, talk)) for talk in sample.talks))
    _show_pack(neve, user, sample)
    _show_recalls(neve, user, sample)
    show_prompt(neve, user, sample)
    print(heading("Go on"))
    print(f"curl -s {base_url}/v1/users/{user}/recall -H 'Authorization: Bearer <key>' \\")
    print('  -d \'{"query": "Where does Ana live?"}\'')
    made = neve.raw.create_token({"scopes": ["chat", "records", "admin"], "ttl_s": CONSOLE_S, "label": "demo"})
    print("\nLook at it in the console, for an hour:")
    print(f"{base_url}/console/#/memories?user={user}&session={sample.today}&token={made['token']}")


def _show_pack(neve: Neve, user: str, sample: Sample) -> None:
    meta: Any = sample.user_meta
    opened = neve.raw.open_session(user, {"session_id": sample.today, "user_meta": meta, "budget_ms": PATIENT_MS})
    now = neve.raw.read_pack_text(user, session_id=sample.today) or Pack("")
    began = time.perf_counter()
    again = neve.raw.read_pack_text(user, session_id=sample.today, if_none_match=now.etag)
    print(showing.pack(opened["pack"], now, again, (time.perf_counter() - began) * 1000))


def _show_recalls(neve: Neve, user: str, sample: Sample) -> None:
    print(heading("Five recalls"))
    print(
        "sim: calibrated similarity, gate 0.7. bm25: contextual BM25. vec, lex: rank in each leg. rrf: both\n"
        "ranks fused. prior: recency x importance x kind, at most 1.35. final: rrf x prior. second: log odds\n"
        "of the rerank stage, which orders the hits when messages are among them."
    )
    for question in sample.questions:
        answer = neve.raw.recall(user, {"query": question.query, "limit": HITS, "mode": "tool"})
        print(showing.recall(question, answer))


def _progress(what: str, done: int, total: int) -> None:
    if sys.stdout.isatty():
        print(f"\r{styled(f'{what} {done}/{total}', 'dim'):40}", end="", flush=True)


def _clear_progress() -> None:
    if sys.stdout.isatty():
        print("\r" + " " * 40 + "\r", end="", flush=True)


def _stopped(why: str) -> int:
    print(why, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
