"""The forms of a request that a prompt is given in."""

from __future__ import annotations

from collections.abc import Mapping

from neve.domain.compile.formats.ai_sdk import AI_SDK
from neve.domain.compile.formats.anthropic import ANTHROPIC
from neve.domain.compile.formats.format import Format
from neve.domain.compile.formats.gemini import GEMINI
from neve.domain.compile.formats.openai_chat import OPENAI
from neve.domain.compile.formats.openai_responses import OPENAI_RESPONSES

FORMATS: Mapping[str, Format] = {
    "anthropic": ANTHROPIC,
    "openai": OPENAI,
    "openai_responses": OPENAI_RESPONSES,
    "ai_sdk": AI_SDK,
    "gemini": GEMINI,
}
