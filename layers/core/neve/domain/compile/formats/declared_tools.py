"""Part [0] of a prompt (docs/rules/compile.md#tools): the caller's tools as they were sent; where there are none of
them, stand-ins for what the shown history calls; then Neve's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neve.domain.compile.formats.every import FORMATS
from neve.domain.compile.formats.format import WrongTool
from neve.domain.compile.formats.tool_names import sent_name
from neve.domain.compile.prompt import Tool
from neve.domain.sessions.rendered_blocks import OWN_TOOLS

_STANDS_IN = "Was called earlier in this conversation. Not available now."


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """The tools of one call. ``given``: the caller's; ``own``: schemas of Neve's that are advertised, unless the caller
    has a tool of that name."""

    form: str = "anthropic"
    given: Sequence[Tool] = ()
    own: Sequence[Mapping[str, Any]] = ()

    def beside(self, called: Iterable[str]) -> list[Tool]:
        """Return the tools that are declared beside the history. ``called``: names in the history that is shown. A
        provider may refuse a history of calls without tools."""
        advertised = {schema["name"] for schema in self.own}
        missing = [] if self.given else sorted({*called} - advertised)
        stand_ins = [
            {"name": sent_name(name, self.form), "description": _STANDS_IN, "input_schema": {"type": "object"}}
            for name in missing
        ]
        given = {name for tool in self.given for name in tool.names}
        own = [schema for schema in self.own if schema["name"] not in given]
        return [*self.given, *FORMATS[self.form].own([*stand_ins, *own])]


def callers_tools(tools: Any, form: str) -> list[Tool]:
    """Read the caller's tools. Raises WrongTool for what the provider would not take, and for a name of one of Neve's
    own tools, whose results are read as Neve's."""
    given = FORMATS[form].given(tools)
    names = [name for tool in given for name in tool.names]
    for name in names:
        if name in OWN_TOOLS:
            why = f"`{name}` is the name of one of Neve's own tools: `retrieval: tools` or `both` offers them"
            raise WrongTool("tools", why)
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise WrongTool("tools", f"`{twice[0]}` is there more than once")
    return given
