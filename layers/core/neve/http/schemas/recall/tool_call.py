"""E11: what the calls of all tools share: where they are, and what an answer has for the model."""

from __future__ import annotations

from pydantic import Field

from neve.http.operations import CallRoute, Scope, View, route


class ToolAnswer(View):
    content: str = Field(description="What belongs into the `tool_result`: nothing else has to be made of this answer.")
    is_error: bool = Field(description="True: `content` says what did not work.")


class ToolRoute(CallRoute):
    summary: str
    by_model: bool


def tool_route(name: str, *also: Scope) -> ToolRoute:
    """Say of a tool that a language model calls what ``route`` says of a call. ``also``: as there."""
    called = "".join(word.capitalize() for word in name.split("_"))
    return ToolRoute(
        **route("POST", f"/v1/users/{{user_id}}/tools/{name}", f"call{called}", "recall", "chat", *also),
        summary=f"The tool {name}, called by a language model.",
        by_model=True,
    )
