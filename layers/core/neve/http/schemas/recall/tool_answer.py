"""E11: what a tool's answer has for the model."""

from __future__ import annotations

from pydantic import Field

from neve.http.operations import View


class ToolAnswer(View):
    content: str = Field(description="What belongs into the `tool_result`: nothing else has to be made of this answer.")
    is_error: bool = Field(description="True: `content` says what did not work.")
