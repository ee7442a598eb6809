"""Runbooks: five parts each, and no resource, alarm, command or route in them that does not exist. Their links, files
and make targets are checked with those of every document (``test_documents.py``)."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from infra.operate.__main__ import parser
from local.template import ROOT, read_template

FOLDER = ROOT / "docs" / "runbooks"
INDEX = FOLDER / "README.md"
RUNBOOKS = sorted(path for path in FOLDER.glob("*.md") if path != INDEX)
PARTS = ["Symptom", "Query", "Decision", "Command", "Check"]
NEEDED = {
    *("dlq-redrive", "reindex", "embedder-outage", "throttled-tenant", "stuck-reflect", "restore"),
    *("erase-a-user", "key-compromise", "rollback"),
}
MAX_LINES = 65
"""Lines: a page."""
TEMPLATES = "\n".join(
    path.read_text(encoding="utf-8")
    for path in (ROOT / "template.yaml", ROOT / "infra" / "data.yaml", ROOT / "infra" / "observability.yaml")
)
ALARMS = set(re.findall(r'AlarmName: !Sub "\$\{(?:Service|AWS::StackName)\}-([a-z0-9-]+)"', TEMPLATES))
NAMES = {
    re.sub(r"\$\{(Service|AWS::StackName)\}", "neve-$STAGE", name).replace("${Stage}", "$STAGE")
    for name in re.findall(r'Name: !Sub "([^"]+)"', TEMPLATES)
}
"""What the templates call things, as a runbook writes it."""


def ours(text: str) -> set[str]:
    """Every name of a resource of a stage: ``neve-$STAGE…``, ``/neve/$STAGE/…``, ``alias/…``, ``CodeDeployHook_…``."""
    found = re.findall(r"(?:/aws/lambda/|alias/|/|CodeDeployHook_)*neve[-/]\$STAGE[a-z0-9/._-]*", text)
    return {name.rstrip("-./") for name in found}


def exists(name: str) -> bool:
    return name in {"neve-$STAGE", "neve-$STAGE-data"} | NAMES  # the stacks are named in samconfig.toml


def subcommands(of: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    [choices] = [action.choices for action in of._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(choices)


@pytest.mark.parametrize("path", RUNBOOKS, ids=lambda path: path.stem)
class TestRunbook:
    def test_has_five_parts_in_order_and_is_a_page(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == PARTS
        assert text.startswith("# ")
        assert len(text.splitlines()) <= MAX_LINES
        assert "| what you see | what it means | what to do |" in text

    def test_names_only_resources_that_the_templates_make(self, path: Path) -> None:
        assert sorted(name for name in ours(path.read_text(encoding="utf-8")) if not exists(name)) == []

    def test_names_alarms_in_full_or_by_their_ending(self, path: Path) -> None:
        """``neve-$STAGE-search-red`` is followed by ``-yellow`` and the like."""
        symptom = path.read_text(encoding="utf-8").split("## Symptom")[1].split("## Query")[0]
        endings = re.findall(r"`-([a-z0-9-]+)`", symptom)
        assert [end for end in endings if not any(alarm.endswith(end) for alarm in ALARMS)] == []

    def test_operator_commands_are_understood(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        known = subcommands(parser())
        for called in re.findall(r"python -m infra\.operate --stage \S+ ([^`\n#]+)", text):
            name, *given = called.split()
            known[name].parse_args(given)  # ends the test with SystemExit where it does not understand

    def test_waits_for_nothing_that_takes_longer_than_the_waiter(self, path: Path) -> None:
        """``aws dynamodb wait`` gives up after 25 looks, 20 s apart: a table of some size is not restored by then."""
        assert "aws dynamodb wait" not in path.read_text(encoding="utf-8")

    def test_calls_only_routes_that_exist(self, path: Path) -> None:
        text = re.sub(r"\$[A-Z_]+(?=/|\s|\?|`)|\{[a-z_]+\}", "{}", path.read_text(encoding="utf-8"))
        routes = {re.sub(r"\{[a-z_]+\}", "{}", route.path) for route in read_template().routes}
        called = {re.sub(r"/users/nobody", "/users/{}", path) for path in re.findall(r"/v1/[a-z{}/_]+", text)}
        assert called - {"/v1/users/{}"} <= routes, "erasure by DELETE /v1/users/{u} is said to come later"


def test_every_alarm_has_its_runbook_and_the_index_names_both() -> None:
    linked = re.findall(r'-([a-z0-9-]+)"\n\s+AlarmDescription: ".*Runbook: docs/runbooks/([a-z-]+)\.md"', TEMPLATES)
    assert {alarm for alarm, _ in linked} == ALARMS
    for alarm, runbook in linked:
        output = (FOLDER / f"{runbook}.md").read_text(encoding="utf-8").split("## Query")[0]
        assert any(f"-{ending}`" in output for ending in endings(alarm)), f"{runbook}.md does not name {alarm}"
    assert {path.stem for path in RUNBOOKS} >= NEEDED | {runbook for _, runbook in linked}
    index = INDEX.read_text(encoding="utf-8")
    assert [path.name for path in RUNBOOKS if f"]({path.name})" not in index] == []


def test_dead_letters_that_cannot_be_moved_back_say_what_to_do_instead() -> None:
    """SQS moves messages back to a queue that they came from: not to a stream, and not to a schedule."""
    queues = read_template().queues
    moved = {queue.dead_letters for queue in queues.values()}
    others = {name.removesuffix("-dlq") for name in queues if name.endswith("-dlq") and name not in moved}
    assert len(others) == 3
    text = (FOLDER / "dlq-redrive.md").read_text(encoding="utf-8").split("## Decision")[1].split("## Command")[0]
    rows = [row.split("|")[1] for row in text.splitlines() if row.startswith("| messages in")]
    assert [name for name in sorted(others) if not any(name in row for row in rows)] == []


def endings(alarm: str) -> list[str]:
    parts = alarm.split("-")
    return ["-".join(parts[at:]) for at in range(len(parts))]


def test_who_stops_the_spending_stops_every_function_that_asks_the_model() -> None:
    """Each finds the key of the language model in its environment."""
    asks = re.findall(
        r'FunctionName: !Sub "\$\{AWS::StackName\}-(\w+)"(?:(?!FunctionName).)*?NEVE_ANTHROPIC_SECRET',
        TEMPLATES,
        re.DOTALL,
    )
    assert len(asks) > 1
    text = (FOLDER / "throttled-tenant.md").read_text(encoding="utf-8")
    command = text.split("# 3:")[1].split("## Check")[0]
    assert [name for name in asks if not re.search(rf"\b{name}\b", command)] == []
