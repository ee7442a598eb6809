"""E11: recall as a tool that a language model calls. No tool has a user or tenant argument: both come from the key and
the path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neve.scope import UserScope
from neve.usecases.recall.answer import RecallAnswer
from neve.usecases.recall.command import MAX_K, RecallCommand, RecallScope
from neve.usecases.recall.recall import recall

TOOLS_VERSION = "1"
"""Moves with any change of a name, a description or a schema: providers cache prompts that begin with them."""

RECALL_MEMORY: Mapping[str, Any] = {
    "name": "recall_memory",
    "description": (
        "Search what is remembered of this user: earlier conversations and notes that are not in the context. Returns"
        " candidates with dates, best first. Use it when the user refers to something from before that you do not see,"
        " or when an answer depends on their history. Ask with concrete words: names, places, things, dates."
    ),
    "input_schema": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, in a few words or as a question."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_K,
                "default": 8,
                "description": "How many candidates to return.",
            },
            "scope": {
                "type": "string",
                "enum": ["all", "session", "global"],
                "default": "all",
                "description": "session: only this conversation; global: everything but this conversation.",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
}


def tools() -> dict[str, Any]:
    """The tools as providers take them. The same bytes in every process, as long as the version is the same."""
    schemas = [RECALL_MEMORY]
    return {
        "version": TOOLS_VERSION,
        "anthropic": [dict(schema) for schema in schemas],
        "openai": [
            {
                "type": "function",
                "function": {
                    "name": schema["name"],
                    "description": schema["description"],
                    "parameters": schema["input_schema"],
                },
            }
            for schema in schemas
        ],
    }


def recall_memory(
    scope: UserScope,
    query: str,
    *,
    limit: int | None = None,
    within: RecallScope = "all",
    session_id: str | None = None,
) -> RecallAnswer:
    """The same engine as E7 with the time of a manual search. ``limit`` None: the policy's. Raises what ``recall``
    raises."""
    command = RecallCommand(query=query, k=limit, mode="tool", scope=within, session_id=session_id)
    return recall(scope, command)
