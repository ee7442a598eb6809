"""``python -m local``: Neve on this machine, at http://127.0.0.1:8787, with its data in a folder."""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from pathlib import Path

from local.backend import EMBEDDERS, ENCODER, SEARCHES, Choices, EmbeddedPorts
from local.console.address import console_lines
from local.datafolder import FOLDERS, DataFolderError
from local.running import MODEL_KEY
from local.service import OpenEngines, Service
from local.stop_signal import StopSignal
from local.workers.requests_first import SWITCH_S
from neve.adapters.embedders.bge_small import MODEL_TAG
from neve.adapters.models.anthropic_model import DEFAULT_MODEL
from neve.adapters.models.bedrock_model import DEFAULT_BEDROCK_MODEL
from neve.observability import log_from, log_to_stderr
from neve.ports.errors import EmbeddingRetryable, StoreUnavailable
from neve.usecases.work.indexing.index_events import EmbedAgain

LOG = "server.log"
COLLECT_AFTER = (20_000, 20, 100)
"""New objects, and collections of the generation before, after which Python looks for cycles; its default is 700, 10,
10. A look through all of them held every request up for 0.1 s every 7 s under load. What the start leaves is never
looked through again."""
LAST_PORT = 65_535
CURLS = """\
  export NEVE_KEY={key}

  curl -s {url}/v1/users/ada/sessions -H "Authorization: Bearer $NEVE_KEY" \\
    -d '{{"session_id": "s1", "user_meta": {{"name": "Ada"}}}}'

  curl -s {url}/v1/users/ada/sessions/s1/events -H "Authorization: Bearer $NEVE_KEY" \\
    -d '{{"events": [{{"event_type": "user_message", "content": "I moved to Lisbon, and I am a vegetarian now."}},
                    {{"event_type": "assistant_response", "content": "Congratulations on the move!"}}]}}'

  # ten seconds later: it is observed about five seconds after it was said
  curl -s {url}/v1/users/ada/recall -H "Authorization: Bearer $NEVE_KEY" \\
    -d '{{"query": "Which city did I move to?", "limit": 1}}'
"""


def main() -> int:
    given = _arguments()
    log_to_stderr()
    choices = _choices(given)
    if not given.test_controls:
        log_from("WARNING")
    folder = given.data or Path(FOLDERS[given.stack])
    sys.setswitchinterval(SWITCH_S)
    try:
        service = Service(
            folder,
            given.port,
            choices,
            test_controls=given.test_controls,
            open_engines=_engines(given.stack, test=given.test_controls),
            new_key=given.new_key,
        )
        stop = StopSignal(too_early=lambda: service.rebuilding)
        service.start()
    except KeyboardInterrupt:
        return _cannot_start("\nBroken off: what is lost is made again at the next start.")
    except DataFolderError as error:
        return _cannot_start(str(error))
    except (StoreUnavailable, EmbeddingRetryable, EmbedAgain) as error:
        return _cannot_start(
            f"The data in {folder} cannot be opened ({error}). Nothing in it was removed."
            " Choose another folder with --data, or move this one away."
        )
    except OSError as error:
        return _cannot_start(f"Port {given.port} cannot be used ({error.strerror}). Choose another one with --port.")
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    _say_ready(service, choices, given.test_controls)
    if given.ready_file is not None:
        _write_ready_file(given.ready_file, service)
    if given.test_controls:
        _log_to(service.folder.path / LOG)
    stop.wait()
    _tell("\nStopping: finishing what is in flight …")
    finished = service.stop()
    _tell("Stopped." if finished else "Stopped; what was still running will be repeated at the next start.")
    if not finished:
        sys.stderr.flush()
        os._exit(0)  # not through the interpreter's end: threads are still at work, some of them in native code
    return 0


def _tell(text: str) -> None:
    """Whether or not anybody is left to read it: Ctrl-C ends all of ``make run | tee log``."""
    try:
        print(text, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left of it must not fail at the end


def _engines(stack: str, *, test: bool) -> OpenEngines:
    if stack == "embedded":
        return EmbeddedPorts
    from local.aws.full_stack import FullStack

    print("Starting DynamoDB Local, OpenSearch, ElasticMQ and an S3 server …", flush=True)
    return lambda folder, template, _, choices: FullStack(folder, template, choices, delays=not test)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local", description="Run Neve on this machine.")
    parser.add_argument("--port", type=_port, default=8787, help="0 picks a free one (default: 8787)")
    parser.add_argument("--data", type=Path, help="folder of everything it keeps (.neve, or .neve-full)")
    parser.add_argument(
        "--stack",
        choices=tuple(FOLDERS),
        default="embedded",
        help="embedded: stores of its own (default); full: DynamoDB Local, OpenSearch, ElasticMQ and an S3 server",
    )
    parser.add_argument("--embedder", choices=EMBEDDERS, default="bge-small", help="default: bge-small")
    parser.add_argument(
        "--observer",
        choices=("anthropic", "bedrock", "extractive"),
        help=f"default: anthropic where {MODEL_KEY} is set, else extractive; bedrock has AWS's credentials and region",
    )
    parser.add_argument(
        "--bedrock-model",
        default=DEFAULT_BEDROCK_MODEL,
        help=f"id of a model or inference profile (default: {DEFAULT_BEDROCK_MODEL})",
    )
    parser.add_argument(
        "--search",
        choices=SEARCHES,
        default="embedded",
        help="embedded: a file (default); segments: objects and rows, as on a stage without a search domain",
    )
    parser.add_argument("--ready-file", type=Path, help="write url, key and pid there as JSON once it answers")
    parser.add_argument(
        "--allow-loopback-webhooks", action="store_true", help="webhooks may be sent to this machine, by http, too"
    )
    parser.add_argument("--new-key", action="store_true", help="make another API key, of every scope, and print it")
    parser.add_argument("--test-controls", action="store_true", help="for tests: clock, faults and more at /__test/")
    given = parser.parse_args()
    if given.observer == "anthropic" and not os.environ.get(MODEL_KEY):
        parser.error(f"--observer anthropic needs {MODEL_KEY}")
    return given


def _choices(given: argparse.Namespace) -> Choices:
    key = os.environ.get(MODEL_KEY) if given.observer in (None, "anthropic") else None
    model = given.bedrock_model if given.observer == "bedrock" else None
    return Choices(given.embedder, key or None, given.allow_loopback_webhooks, model, given.search)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) <= LAST_PORT):
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to {LAST_PORT}, is {text}")
    return int(text)


def _say_ready(service: Service, choices: Choices, test_controls: bool) -> None:
    if service.folder.moved_aside is not None:
        print(f"The data folder was damaged ({service.folder.damage}).")
        print(f"It was moved to {service.folder.moved_aside}; this start is with a fresh one.\n")
    print(f"Neve is ready at {service.url}\n")
    print(f"  data      {service.folder.path}")
    print(f"  observer  {_observer(choices)}")
    print(f"  embedder  {_embedder(choices)}")
    print(f"  API key   {service.api_key.text or '-'}")
    print(f"            ({service.api_key.told})")
    if service.api_key.text is None:
        print("            (another one: make run ARGS=--new-key)")
    print("\n".join(console_lines(service.console_address())))
    print()
    if test_controls:
        print(f"Test controls are on (/__test/…); the log goes to {service.folder.path / LOG}", flush=True)
    else:
        print(CURLS.format(url=service.url, key=service.api_key.text or "<yours>"))
        print("Ctrl-C stops it; the data stays.", flush=True)


def _observer(choices: Choices) -> str:
    if choices.bedrock_model is not None:
        return f"bedrock: {choices.bedrock_model}"
    if choices.anthropic_key is None:
        why = "was not chosen" if os.environ.get(MODEL_KEY) else "is not set"
        return f"extractive: rules, no network ({MODEL_KEY} {why})"
    return f"anthropic: {DEFAULT_MODEL}"


def _embedder(choices: Choices) -> str:
    if choices.embedder == "none":
        return "none: recall by keyword only"
    if choices.embedder == "bge-small" and not (ENCODER / "model" / "model.onnx").is_file():
        return "bge-small is not downloaded, so recall is by keyword only: run 'make encoder' and start again"
    return MODEL_TAG if choices.embedder == "bge-small" else choices.embedder


def _write_ready_file(path: Path, service: Service) -> None:
    """Whole or not there: a test waits for it to appear. It holds the key, so only its owner may read it."""
    partial = path.with_name(path.name + ".partial")
    partial.touch(mode=0o600)
    ready = {"url": service.url, "api_key": service.api_key.text, "pid": os.getpid(), "data": str(service.folder.path)}
    partial.write_text(json.dumps(ready), encoding="utf-8")
    partial.replace(path)


def _log_to(path: Path) -> None:
    """Everything that is printed from now on goes into the data folder, where ``/__test/raw`` looks for it."""
    sys.stdout.flush()
    sys.stderr.flush()
    with path.open("ab") as log:
        os.dup2(log.fileno(), sys.stdout.fileno())
        os.dup2(log.fileno(), sys.stderr.fileno())


def _cannot_start(why: str) -> int:
    print(why, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
