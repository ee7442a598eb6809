"""Says which steps a deployment takes, in order. A step that needs nothing done is not among them."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from infra.deploy.cloud import EMPTY, Cloud, NotReady
from infra.deploy.wanted import BUILD_SUM, Wanted, build_sum
from local.template import ROOT

SAM = ROOT / ".venv-sam" / "bin" / "sam"
ACCOUNT = "neve-account"
QUIET = ("--no-confirm-changeset", "--no-fail-on-empty-changeset")
UNKNOWN_SUM = "<a sum over what is built>"
SECRET_CURE = 'aws secretsmanager put-secret-value --secret-id {secret} --secret-string "$ANTHROPIC_API_KEY"'


class StepFailed(Exception):
    """A command has failed. What it said stands above; the message names it."""


@dataclass(frozen=True, slots=True)
class Step:
    """``said``: what it does, as a command or a sentence."""

    said: str
    do: Callable[[], None]


def check(cloud: Cloud, wanted: Wanted) -> str:
    """Look for what every deployment needs; give who deploys where. Raises NotReady."""
    given = wanted.parameters()
    if not SAM.exists():
        raise NotReady(f"{SAM} is not there. Cure: make .venv-sam/stamp")
    who = cloud.who()
    calibration = ROOT / "layers" / "core" / "neve" / "adapters" / "embedders" / "titan_calibration.json"
    if given.get("Embedder") == "titan" and not calibration.exists():
        raise NotReady(
            "Titan was never calibrated. "
            "Cure: PYTHONPATH=layers/core .venv/bin/python layers/encoder/calibrate.py titan"
        )
    return who


def steps(cloud: Cloud, wanted: Wanted, *, dry: bool) -> Iterator[Step]:
    """Yield each step when those before it are done: it looks at the account as it is by then. ``dry``: they are not
    done, so that what is not there yet is not looked for."""
    service, data, stage = wanted.service, f"{wanted.service}-data", wanted.stage
    state = cloud.state(ACCOUNT)
    if state is None or state in EMPTY or wanted.account:
        given = ("--parameter-overrides", *wanted.account) if wanted.account else ()
        yield from _stack(cloud, wanted, ACCOUNT, "account", *given)
    state = cloud.state(data)
    if state is None or state in EMPTY or wanted.data_again or wanted.stores:
        given = ("--parameter-overrides", f"Stage={stage}", *wanted.stores) if wanted.stores else ()
        yield from _stack(cloud, wanted, data, f"{stage}-data", *given)
    there = not dry or cloud.state(data) is not None
    _refuse_empty_secret(cloud, wanted, there=there)
    if wanted.template is None:
        yield _command("make", "build")
        yield _command(str(SAM), "build")
    built = wanted.template is not None or (BUILD_SUM.exists() and not dry)
    total = build_sum(wanted, cloud.parameters(stage)) if built and there else UNKNOWN_SUM
    parameters = (f"file://{wanted.file.relative_to(ROOT)}", f"BuildSha={total}", *wanted.more)
    # SAM looks for its configuration beside the template.
    of_its_own = ("--config-file", str(ROOT / "samconfig.toml"), "--template-file", str(wanted.template))
    template = () if wanted.template is None else of_its_own
    yield from _stack(cloud, wanted, service, stage, *template, "--parameter-overrides", *parameters)


def _refuse_empty_secret(cloud: Cloud, wanted: Wanted, *, there: bool) -> None:
    """Refuse a stage without the model's key: it would take every message and turn none into memory."""
    if wanted.parameters().get("Observer") != "anthropic" or not there:
        return
    secret = f"neve/{wanted.stage}/anthropic"
    if not cloud.has_value(secret):
        raise NotReady(f"the secret {secret} is empty. Cure: {SECRET_CURE.format(secret=secret)}")


def _stack(cloud: Cloud, wanted: Wanted, name: str, environment: str, *more: str) -> Iterator[Step]:
    if cloud.state(name) in EMPTY:
        yield Step(f"delete the stack {name}, of which nothing was made", lambda: cloud.remove(name))
    yield _command(str(SAM), "deploy", "--config-env", environment, *QUIET, *wanted.sam_options, *more)


def _command(*words: str) -> Step:
    """Make a step of a command, which runs in the repository's root with the words as they are."""

    def run() -> None:
        environment = {"SAM_CLI_TELEMETRY": "0"} | os.environ
        if subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode:
            raise StepFailed(shlex.join(words))

    return Step(shlex.join(words).replace(f"{ROOT}/", ""), run)
