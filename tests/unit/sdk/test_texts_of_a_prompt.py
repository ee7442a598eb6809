"""What a prompt adds to a chat, for a caller that keeps the messages."""

from __future__ import annotations

from typing import Any

import pytest

from sdk.python.neve import Prompt

PACK, RECALLED, SAID = "<neve-memory>\nAda.\n</neve-memory>", "<neve-retrieved>\n- Porto\n</neve-retrieved>", "And now?"
TEXTS = [{"type": "text", "text": RECALLED}, {"type": "text", "text": SAID}]
BEFORE = {"role": "user", "content": "Hello."}
FORMS: dict[str, Any] = {
    "anthropic": {
        "system": [{"type": "text", "text": "Rules."}, {"type": "text", "text": PACK}],
        "messages": [BEFORE, {"role": "user", "content": TEXTS}],
    },
    "openai": {
        "messages": [
            {"role": "system", "content": "Rules."},
            {"role": "system", "content": PACK},
            BEFORE,
            {"role": "user", "content": TEXTS},
        ]
    },
    "openai_responses": {
        "instructions": f"Rules.\n\n{PACK}",
        "input": [BEFORE, {"role": "user", "content": TEXTS}, {"type": "function_call_output", "output": "18"}],
    },
    "ai_sdk": {
        "instructions": [{"role": "system", "content": "Rules."}, {"role": "system", "content": PACK}],
        "messages": [BEFORE, {"role": "user", "content": TEXTS}],
    },
    "gemini": {
        "system_instruction": {"parts": [{"text": f"Rules.\n\n{PACK}"}]},
        "contents": [{"role": "user", "parts": [{"text": RECALLED}, {"text": SAID}]}],
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_a_prompt_of_any_form_tells_its_texts_apart(form: str) -> None:
    prompt = Prompt(FORMS[form])
    assert (prompt.system, prompt.recalled) == (f"Rules.\n\n{PACK}", RECALLED)
    assert dict(prompt) == FORMS[form]


@pytest.mark.parametrize("request_", [{}, {"messages": [BEFORE]}, {"messages": [{"role": "user", "content": []}]}])
def test_a_prompt_without_memory_adds_nothing(request_: dict[str, Any]) -> None:
    assert (Prompt(request_).system, Prompt(request_).recalled) == ("", "")


def test_what_a_user_said_is_not_taken_for_what_was_recalled() -> None:
    quoted = {"role": "user", "content": [{"type": "text", "text": SAID}, {"type": "text", "text": RECALLED}]}
    assert Prompt({"messages": [quoted]}).recalled == ""
