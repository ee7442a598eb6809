"""Shares out the tokens of one prompt (docs/rules/compile.md#budgets)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from neve.domain.errors import FieldError, NeveError


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens of each section of a prompt. ``memories`` (the pack and what is retrieved) and ``history`` (with the
    message) are shared by two sections each; where a profile sets those apart, ``pack`` and ``message`` are its numbers
    for them, contained in the shared ones. ``system`` is set aside whether it is needed or not."""

    profile: str
    total: int
    output: int
    system: int
    memories: int
    history: int
    task: int
    pack: int | None = None
    message: int | None = None

    @property
    def input(self) -> int:
        return self.total - self.output

    @property
    def pack_limit(self) -> int:
        """Give the largest stored pack that fits the profile."""
        return self.memories if self.pack is None else self.pack

    @property
    def usual_message(self) -> int:
        """Give the tokens that a message may have without being the reason for a cut (*chosen*: where the profile has
        no number for it, the share of the history that ``window_200k`` sets apart)."""
        return self.history // 6 if self.message is None else self.message

    def problems(self, field: str) -> list[FieldError]:
        """Say why the budget cannot be, with the numbers; empty for one that can."""
        sections = (self.system, self.memories, self.history, self.task)
        spent = sum(sections) + self.output
        if spent <= self.total:
            return []
        shown = " + ".join(map(str, sections))
        return [FieldError(field, f"sections {shown} + output {self.output} = {spent} exceed total = {self.total}")]


def agentic(window: int) -> Budget:
    """Make the default profile: everything follows the effective window W. W and a quarter of it for the answer; the
    pack 0.495 W, the sum of its layers' budgets; what the other sections leave is the history's."""
    output = window // 4
    system, pack, retrieved, message, task = (window * part // 1000 for part in (40, 495, 25, 10, 5))
    history = window - system - pack - retrieved - task
    return Budget(
        "agentic", window + output, output, system, pack + retrieved, history, task, pack=pack, message=message
    )


def named_budget(name: str, window: int) -> Budget:
    """Find a profile by its name; only ``agentic`` follows the window. Raises KeyError."""
    made: dict[str, Callable[[], Budget]] = {
        "compact_8k": lambda: Budget("compact_8k", 8_000, 1_000, 1_000, 2_000, 3_000, 1_000),
        "window_200k": lambda: Budget(
            "window_200k", 200_000, 170_000, 8_000, 10_000, 12_000, 0, pack=5_000, message=2_000
        ),
        "agentic": lambda: agentic(window),
    }
    return made[name]()


# --- sharing out ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Needs:
    """Tokens that each section would take. ``system``: tools, static prefix and boundaries. ``message``: with what
    stands around it. ``history_floor``: the least that a history keeps while anything else can give way. ``system``,
    ``pack`` and ``message`` are never cut."""

    system: int
    instructions: int
    pack: int
    memories: int
    history: int
    history_floor: int
    message: int
    task: int

    @property
    def fixed(self) -> int:
        return self.system + self.pack + self.message


@dataclass(frozen=True, slots=True)
class Grants:
    """Tokens that each section which can be cut may take. ``memories``: beside the pack."""

    instructions: int
    memories: int
    history: int
    task: int


def share_out(budget: Budget, needs: Needs) -> Grants:
    """Share out the input: each adaptive section gets what it needs up to its allocation, then what is left goes to
    memories, history and task, in this order. Where too little is left, task, history down to its floor, memories, the
    rest of the history and the instructions give way, in this order. Raises 422 ``budget_infeasible`` when what is
    never cut exceeds the input."""
    if needs.fixed > budget.input:
        raise infeasible(budget, needs)
    room = budget.input - needs.fixed
    instructions = min(needs.instructions, room)
    reserved = min(max(0, budget.system - needs.system - instructions), room - instructions)
    given = {
        "memories": min(needs.memories, max(0, budget.memories - needs.pack)),
        "history": min(needs.history, max(0, budget.history - needs.message)),
        "task": min(needs.task, budget.task),
    }
    left = room - instructions - reserved - sum(given.values())
    if left < 0:
        used = min(reserved, -left)
        reserved, left = reserved - used, left + used
    given, instructions, left = _cut_to_fit(given, instructions, left, needs)
    for section, need in (("memories", needs.memories), ("history", needs.history), ("task", needs.task)):
        more = min(left, need - given[section])
        given[section] += more
        left -= more
    given = _raise_history_to_floor(given, left, reserved, needs)
    return Grants(instructions, given["memories"], given["history"], given["task"])


def _cut_to_fit(given: dict[str, int], instructions: int, left: int, needs: Needs) -> tuple[dict[str, int], int, int]:
    """Cut the sections that can be cut until nothing is missing: the sections that are never cut took more than their
    share."""
    floor = min(needs.history_floor, given["history"])
    for section, least in (("task", 0), ("history", floor), ("memories", 0), ("history", 0)):
        taken = min(max(0, -left), given[section] - least)
        given[section] -= taken
        left += taken
    taken = min(max(0, -left), instructions)
    return given, instructions - taken, left + taken


def _raise_history_to_floor(given: dict[str, int], left: int, reserved: int, needs: Needs) -> dict[str, int]:
    """Raise a history to its floor: it takes what is missing from what is left, from the task, from the memories, and
    from what is set aside for the system and not needed."""
    missing = max(0, min(needs.history_floor, needs.history) - given["history"])
    sources = {"left": left, "task": given["task"], "memories": given["memories"], "reserved": reserved}
    for source, there in sources.items():
        taken = min(missing, there)
        missing -= taken
        given["history"] += taken
        if source in given:
            given[source] -= taken
    return given


def infeasible(budget: Budget, needs: Needs) -> NeveError:
    """Make the refusal of a budget, 422, with the numbers."""
    parts = f"system {needs.system} + pack {needs.pack} + message {needs.message} = {needs.fixed}"
    message = f"{parts} tokens, which are required, exceed the input of {budget.input} ({budget.profile})"
    return NeveError("budget_infeasible", f"{message}.", errors=[FieldError("budget_profile", message)])
