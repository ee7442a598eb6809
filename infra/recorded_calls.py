"""What every function calls, recorded while the tests run on real servers, against ``recorded_calls.json``.

With NEVE_RECORD_CALLS=folder every service of a test run writes there what its functions called
(``local/aws/call_recorder.py``). After a run of all tests, ``python -m infra.recorded_calls folder`` names the calls
that are new and those that are made no more, and exits with 1 if there are any. ``--write`` makes the recording the
committed one, which ``tests/infra/test_permissions.py`` compares with the roles."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

Grant = tuple[str, str]
"""An IAM action and a target: ``table``, ``table/index/rank``, ``bucket/packs/*``, ``queue/embed``, ``search`` …"""
Recording = dict[str, set[Grant]]
"""By function."""
COMMITTED = Path(__file__).with_suffix(".json")

NOT_IN_EVERY_RECORDING: Mapping[str, Mapping[Grant, str]] = {
    "admin": {
        ("es:ESHttpGet", "search"): "in one process the index is looked up for all functions, by whichever comes first",
        ("s3:GetObject", "bucket/exports/*"): "the address that it signs is used by whoever asked for the export",
    },
    "jobs": {
        ("s3:GetObject", "bucket/segments/*"): "the suite has a search domain, or a file",
        ("s3:PutObject", "bucket/segments/*"): "as above",
        ("s3:DeleteObject", "bucket/segments/*"): "as above",
        ("es:ESHttpGet", "search"): "as for admin",
        ("es:ESHttpPut", "search"): "as for index",
        ("sqs:SendMessage", "queue/jobs"): "hands on what it has no time for",
        ("s3:PutObject", "bucket/images/*"): "lays an image aside whose log's time is over",
        ("s3:GetObject", "bucket/models/*"): "on one machine the models are files",
    },
    "pack": {
        ("s3:ListBucket", "bucket"): "asked for by S3 itself, to answer 404 for a missing object",
        ("dynamodb:DeleteItem", "table"): "frees the idempotency key of a call that failed",
    },
    "observe": {
        ("s3:ListBucket", "bucket"): "as for pack",
        ("s3:GetObject", "bucket/exports/*"): "as for admin",
    },
    "extract": {
        ("s3:ListBucket", "bucket"): "as for pack",
        ("s3:GetObject", "bucket/packs/*"): "an earlier build died between its object and its pointer",
        ("dynamodb:DeleteItem", "table"): "undoes what is left of a replacement whose worker died",
        ("dynamodb:Query", "table/index/recent"): "a pack that it builds for a user who has facts that do not hold",
        ("secretsmanager:GetSecretValue", "secret/anthropic"): "the suite observes without a language model",
        ("bedrock:InvokeModel", "bedrock/profile"): "as above",
        ("bedrock:InvokeModel", "bedrock/model"): "as above",
    },
    "compact": {
        ("s3:ListBucket", "bucket"): "as for pack",
        ("s3:GetObject", "bucket/packs/*"): "as for extract",
        ("s3:GetObject", "bucket/images/*"): "observes the rest of a log, which may show an image",
        ("s3:DeleteObject", "bucket/exports/*"): "withdraws an export that holds what is deleted",
        ("dynamodb:DeleteItem", "table"): "as for extract",
        ("secretsmanager:GetSecretValue", "secret/anthropic"): "the suite observes without a language model",
        ("bedrock:InvokeModel", "bedrock/profile"): "as above",
        ("bedrock:InvokeModel", "bedrock/model"): "as above",
    },
    "sweep": {
        ("dynamodb:Query", "table/index/recent"): "as for extract",
        ("s3:ListBucket", "bucket"): "as for pack",
        ("s3:GetObject", "bucket/packs/*"): "as for extract",
        ("dynamodb:ConditionCheckItem", "table"): "finishes or undoes the replacement of a worker that died",
        ("dynamodb:DeleteItem", "table"): "as above",
        ("dynamodb:Query", "table"): "as above",
        ("sqs:SendMessage", "queue/librarian"): "only where the message of a session that is filed again was lost",
        ("sqs:SendMessage", "queue/sweep-dlq"): "Lambda reports a failed run with the function's role",
    },
    "recall": {
        ("s3:GetObject", "bucket/segments/*"): "the suite has a search domain, or a file",
        ("s3:ListBucket", "bucket"): "as for pack",
        ("bedrock:InvokeModel", "bedrock/titan"): "the suite embeds in the process",
        ("s3:GetObject", "bucket/packs/*"): "in one process the pack function has read the pack before",
        ("s3:GetObject", "bucket/uploads/*"): "an upload that a turn appends",
        ("s3:GetObject", "bucket/models/*"): "on one machine the models are files",
        ("s3:DeleteObject", "bucket/images/*"): "what a turn brought that was refused when its images were stored",
    },
    "index": {
        ("s3:GetObject", "bucket/segments/*"): "the suite has a search domain, or a file",
        ("s3:PutObject", "bucket/segments/*"): "as above",
        ("s3:DeleteObject", "bucket/segments/*"): "as above",
        ("s3:DeleteObject", "bucket/documents/*"): "left by a deletion whose process died behind its commit",
        ("es:ESHttpGet", "search"): "as for admin",
        ("es:ESHttpPut", "search"): "the first write of all makes the index; the local server has made it before",
        ("dynamodb:GetItem", "table"): "reads a row again that somebody changed meanwhile",
        ("sqs:SendMessage", "queue/index"): "no batch of the suite is longer than its worker's time",
    },
    "librarian": {
        ("s3:GetObject", "bucket/segments/*"): "the suite has a search domain, or a file",
        ("s3:ListBucket", "bucket"): "as for pack",
        ("s3:GetObject", "bucket/documents/*"): "no document of the suite that a librarian reads is too long for a row",
        ("s3:PutObject", "bucket/documents/*"): "as above",
        ("s3:GetObject", "bucket/images/*"): "holds what is in doubt against a result that was uploaded",
        ("es:ESHttpGet", "search"): "as for admin",
        ("dynamodb:DeleteItem", "table"): "the pin of a document whose place in the packs a filing changes",
        ("sqs:SendMessage", "queue/librarian"): "only where a worker has no time for one more answer",
        ("secretsmanager:GetSecretValue", "secret/anthropic"): "the suite files without a language model",
        ("bedrock:InvokeModel", "bedrock/profile"): "as above",
        ("bedrock:InvokeModel", "bedrock/model"): "as above",
    },
    "reflect": {
        ("secretsmanager:GetSecretValue", "secret/anthropic"): "the suite observes without a language model",
        ("bedrock:InvokeModel", "bedrock/profile"): "as above",
        ("bedrock:InvokeModel", "bedrock/model"): "as above",
    },
    "reflect_planner": {
        ("dynamodb:GetItem", "table"): "looks at a run again that another process has ended meanwhile",
        ("sqs:SendMessage", "queue/reflect_planner-dlq"): "Lambda reports a failed run with the function's role",
    },
    "embed": {
        ("dynamodb:ConditionCheckItem", "table"): "the first note of a log whose words come late",
        ("s3:GetObject", "bucket/segments/*"): "the suite has a search domain, or a file",
        ("s3:PutObject", "bucket/segments/*"): "as above",
        ("s3:DeleteObject", "bucket/segments/*"): "as above",
        ("s3:ListBucket", "bucket"): "as for pack",
        ("s3:GetObject", "bucket/models/*"): "on one machine the models are files",
        ("dynamodb:DeleteItem", "table"): "the vectors of a row that goes or is edited while it is embedded",
        ("sqs:SendMessage", "queue/embed"): "no batch of the suite is longer than its worker's time",
        ("bedrock:InvokeModel", "bedrock/titan"): "the suite embeds in the process",
        ("es:ESHttpGet", "search"): "as for admin",
        ("es:ESHttpPut", "search"): "the first write of all makes the index; the local server has made it before",
    },
    "deliver": {
        ("sqs:SendMessage", "queue/deliver"): "only where a worker has no time for one more event",
        ("sqs:SendMessage", "queue/deliver-dlq"): "only what a webhook has not taken for a day",
    },
    "outbox": {
        ("sqs:SendMessage", "queue/librarian"): "only where something that was filed is taken back",
        ("dynamodb:DescribeStream", "table/stream"): "the event source mapping reads with the function's role",
        ("dynamodb:GetRecords", "table/stream"): "as above",
        ("dynamodb:GetShardIterator", "table/stream"): "as above",
        ("dynamodb:ListStreams", "table/stream"): "as above",
        ("sqs:SendMessage", "queue/changes-dlq"): "the event source mapping reports with the function's role",
    },
    "pre_traffic": {
        ("lambda:InvokeFunction", "versions/Records"): "there are no versions on one machine",
        ("lambda:InvokeFunction", "versions/Index"): "as above",
        ("lambda:InvokeFunction", "versions/Embed"): "as above",
        ("lambda:InvokeFunction", "versions/Recall"): "as above",
        ("codedeploy:PutLifecycleEventHookExecutionStatus", "deployments"): "there is no deployment on one machine",
    },
}
"""What a recording cannot show, or shows only when two workers meet: with the reason."""


def main() -> int:
    given = _arguments()
    recordings = sorted(given.folder.glob("*.json"))
    if not recordings:
        print(f"{given.folder} holds no recording: did the tests on real servers run with NEVE_RECORD_CALLS?")
        return 1
    seen = merged(map(read, recordings))
    if given.write:
        COMMITTED.write_text(_as_text(_expected(seen)), encoding="utf-8")
        print(f"{COMMITTED}: written from {len(recordings)} recordings")
        return 0
    found = list(differences(read(COMMITTED), seen))
    print("\n".join(found) or f"{COMMITTED.name} is what {len(recordings)} recordings show.")
    return 1 if found else 0


def read(path: Path) -> Recording:
    """A file of the form function → action → targets."""
    stored: dict[str, dict[str, list[str]]] = json.loads(path.read_bytes())
    return {
        function: {(action, target) for action, targets in actions.items() for target in targets}
        for function, actions in stored.items()
    }


def merged(recordings: Iterable[Recording]) -> Recording:
    seen: Recording = {}
    for recording in recordings:
        for function, grants in recording.items():
            seen.setdefault(function, set()).update(grants)
    return seen


def differences(committed: Recording, seen: Recording) -> Iterator[str]:
    """A sentence for each call that the two do not share. Those of ``NOT_IN_EVERY_RECORDING`` may be there or not."""
    expected = _expected(seen)
    for function in sorted(committed.keys() | expected.keys()):
        before, now = committed.get(function, set()), expected.get(function, set())
        for action, target in sorted(now - before):
            yield f"New: the function {function} calls {action} on {target}, which {COMMITTED.name} does not know."
        for action, target in sorted(before - now):
            yield f"Gone: the function {function} is recorded with {action} on {target}, and no test made it call that."


def _expected(seen: Recording) -> Recording:
    return {function: grants - set(NOT_IN_EVERY_RECORDING.get(function, {})) for function, grants in seen.items()}


def _as_text(recording: Recording) -> str:
    nested: dict[str, dict[str, list[str]]] = {}
    for function, grants in sorted(recording.items()):
        for action, target in sorted(grants):
            nested.setdefault(function, {}).setdefault(action, []).append(target)
    return json.dumps(nested, indent=2) + "\n"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m infra.recorded_calls", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of NEVE_RECORD_CALLS, after a run of all tests")
    parser.add_argument("--write", action="store_true", help="make the recording the committed one")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
