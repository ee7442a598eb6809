"""A user whose prompts are compiled."""

from typing import Any

from neve.domain.compile.conversation import Text
from neve.domain.records.epochs import SessionEpoch
from neve.domain.tenants.policy import CustomBudget
from neve.scope import SessionScope
from neve.store import rows
from neve.usecases.ask.compile.command import CompileCommand
from neve.usecases.ask.compile.compile_context import Compiled, compile_context
from tests.unit.recall_world import RecallWorld

SMALL = CustomBudget(total=800, output=0, system=0, memories=400, history=0)


def session(world: RecallWorld) -> SessionScope:
    return world.user().of_session("s1")


def compiled(world: RecallWorld, message: Any = "And now?", **given: Any) -> Compiled:
    command = CompileCommand(message=message, **{"retrieval": "none", **given})
    return compile_context(session(world), command)


def epoch(world: RecallWorld) -> SessionEpoch:
    item = world.rows.get(session(world).keys.epoch)
    assert item is not None
    return rows.read_epoch(item)


def talk(world: RecallWorld, count: int, first: int = 1) -> None:
    for n in range(first, first + count):
        world.say(f"turn {n} " + "x" * 150, "y" * 160)


def shown(made: Compiled) -> list[str]:
    """The first words of the history."""
    blocks = [block for message in made.plan.prompt.history for block in message.blocks]
    return [block.text[:8].strip() for block in blocks if isinstance(block, Text) and not block.text.startswith("y")]
