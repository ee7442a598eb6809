"""``python -m evals.languages``: of twenty statements of a person, is the one first that a question asks for?

For each of eleven languages a user of a service of its own is told twenty statements, and asked twenty questions in
other words, by keyword, by vector and by both; and for twenty words of the statements in another form, by keyword. As a
tool asks, and without the threshold, which says nothing about an order; ``prompt``: both legs as a prompt asks, which
keeps quiet where nothing has to do with a message. ``--languages multi`` asks with the encoder of many languages, if
the stage has it. ``--write`` writes the result and its part of docs/retrieval.md."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from evals.bench.filling import wait_until_embedded
from evals.markers import write_between
from evals.progress import tracked
from local.api_client import ApiClient
from local.running import start_server
from local.template import ROOT
from neve.domain.languages import ENGLISH, LANGUAGES

SETS = Path(__file__).parent / "set"
RESULT = ROOT / "evals" / "results" / "languages.json"
DOCUMENT = ROOT / "docs" / "retrieval.md"
MARKERS = ("<!-- languages:begin -->", "<!-- languages:end -->")
NO_THRESHOLD = {"threshold": 0, "mode": "tool"}
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "words": ("words", {"legs": ["lexical"], **NO_THRESHOLD}),
    "keyword": ("question", {"legs": ["lexical"], **NO_THRESHOLD}),
    "vector": ("question", {"legs": ["vector"], **NO_THRESHOLD}),
    "both": ("question", NO_THRESHOLD),
    "prompt": ("question", {"mode": "prompt"}),
}
"""What is asked, and how."""
REINDEXED_WITHIN_S = 120.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.languages", description=__doc__)
    parser.add_argument("--languages", choices=("en", "multi"), default="en", help="the policy's: which encoder")
    parser.add_argument("--write", action="store_true", help=f"{RESULT.relative_to(ROOT)} and docs/retrieval.md, too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="neve-languages-") as folder:
        server = start_server(Path(folder) / "data", embedder="bge-small")
        try:
            with closing(ApiClient(server.base_url, server.key)) as client:
                if given.languages != ENGLISH:
                    _choose_encoder(client, given.languages)
                found = {language: _measure(client, language) for language in tracked("asking", LANGUAGES)}
        finally:
            server.stop()
    earlier = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    result = {**earlier, given.languages: found}
    print(table({given.languages: found}))
    if given.write:
        RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        write_between(*MARKERS, table(result), DOCUMENT)
    return 0


def table(result: dict[str, dict[str, dict[str, int]]]) -> str:
    """Write the rows of a page. ``result``: by encoder, language and way how many of twenty were right first; what is
    found by words alone is the same with every encoder."""
    columns = [(encoder, way) for encoder in result for way in WAYS if way not in ("words", "keyword")]
    lines = [
        f"| | inflected words | questions: keyword | {' | '.join(f'{way}, `{encoder}`' for encoder, way in columns)} |",
        "| --- |" + " ---: |" * (2 + len(columns)),
    ]
    first = next(iter(result.values()))
    for language, of_words in first.items():
        numbers = [
            of_words["words"],
            of_words["keyword"],
            *(result[encoder][language][way] for encoder, way in columns),
        ]
        lines.append(f"| {language} | {' | '.join(map(str, numbers))} |")
    return "\n".join(lines)


def _choose_encoder(client: ApiClient, languages: str) -> None:
    """Raises ApiError on a stage without policy ``languages``, TimeoutError where the encoder was not fetched."""
    client.expect(200, "PATCH", "/v1/policy", {"languages": languages})
    ends = time.monotonic() + REINDEXED_WITHIN_S
    while "reindex_job" in client.expect(200, "GET", "/v1/policy"):
        if time.monotonic() > ends:
            raise TimeoutError("the vectors are not made: is the encoder there?")
        time.sleep(0.25)


def _measure(client: ApiClient, language: str) -> dict[str, int]:
    """Count by way how many of the statements come first."""
    lines = (SETS / f"{language}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    path = f"/v1/users/{language}"
    ids = [client.expect(201, "POST", f"{path}/memories", {"text": row["statement"]})["id"] for row in rows]
    wait_until_embedded(client, language, 0)
    found = dict.fromkeys(WAYS, 0)
    for way, (asked, how) in WAYS.items():
        for row, wanted in zip(rows, ids, strict=True):
            answer = client.expect(200, "POST", f"{path}/recall", {"query": row[asked], **how})
            if missing := set(answer["degraded"]) - {"vector:language"}:
                raise RuntimeError(f"a degraded answer is not a measurement: {missing}")
            found[way] += [hit["id"] for hit in answer["hits"][:1]] == [wanted]
    return found


if __name__ == "__main__":
    sys.exit(main())
