"""Define a form of request: whose arguments it makes, and how tools are declared in it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neve.domain.compile.prompt import Breakpoint, Prompt, Tool


class WrongTool(ValueError):
    """Raised for a tool of the caller's that the provider would not take. ``field``: where, from ``tools`` on."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field, self.why = field, why


@dataclass(frozen=True, slots=True)
class Format:
    """A form of request. ``render``: the arguments, with the breakpoints that are marked. ``own``: schemas of ``{name,
    description, input_schema}`` as the provider declares tools. ``given``: the caller's, as they were sent but for
    names that are too long; raises WrongTool. ``own_marks``: how many of these have a mark of the caller's. ``marks``:
    whether breakpoints can be marked at all. ``takes``: whether the provider takes an image block of the log, in a
    tool's result or not."""

    render: Callable[[Prompt, Collection[Breakpoint]], dict[str, Any]]
    own: Callable[[Sequence[Mapping[str, Any]]], list[Tool]]
    given: Callable[[Any], list[Tool]]
    takes: Callable[[Mapping[str, Any], bool], bool]
    marks: bool = False
    own_marks: Callable[[Sequence[Tool]], int] = lambda _: 0


def listed(tools: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list. Raises WrongTool for what is no list of objects."""
    if not isinstance(tools, list):
        raise WrongTool("tools", "must be a list")
    for n, tool in enumerate(tools):
        if not isinstance(tool, dict):
            raise WrongTool(f"tools[{n}]", "must be an object")
    return tools


def name_in(tool: Mapping[str, Any], field: str) -> str:
    """Return the name in a tool's declaration. Raises WrongTool where there is none."""
    name = tool.get("name")
    if not isinstance(name, str) or not name.strip():
        raise WrongTool(f"{field}.name", "is required")
    return name
