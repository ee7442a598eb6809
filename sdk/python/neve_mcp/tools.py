"""The seven tools as a model is told of them. Their arguments are those of the API, which checks them and tells a model
its mistakes; together they take at most 1,300 tokens of a prompt (``tests/mcp_server/test_price.py``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_types import Tool, ToolAnnotations

WRITERS = ("remember", "correct", "forget")
"""Listed where the tenant's policy lets a model write."""
KINDS = ("PERSON", "PLACE", "EVENT", "PREFERENCE", "BIOGRAPHY")
"""The categories of a memory."""
QUERY = {"type": "string", "description": "A few concrete words, or a question."}


def _tool(
    name: str, title: str, description: str, properties: Mapping[str, Any], required: tuple[str, ...] = ("query",)
) -> Tool:
    schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    reads, destroys = name not in WRITERS, name in ("correct", "forget")
    hints = {"read_only_hint": reads, "destructive_hint": destroys, "idempotent_hint": True, "open_world_hint": False}
    return Tool(
        name=name,
        title=title,
        description=description,
        input_schema=schema | ({"required": list(required)} if required else {}),
        annotations=ToolAnnotations(title=title, **hints),
    )


TOOLS = {
    tool.name: tool
    for tool in (
        _tool(
            "recall_memory",
            "Recall",
            "Search what is remembered of this user from earlier conversations. Returns candidates with dates, best"
            " first. Use it when the user refers to something that you do not see, or when an answer depends on their"
            " history.",
            {
                "query": QUERY,
                "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 8},
                "scope": {
                    "type": "string",
                    "enum": ["all", "session", "global"],
                    "default": "all",
                    "description": "session: only this conversation; global: all others.",
                },
            },
        ),
        _tool(
            "search_knowledge",
            "Search knowledge",
            "Search the user's documents and lasting facts. Returns a line for each, best first, with the path of a"
            " document: read it with read_document.",
            {
                "query": QUERY,
                "path_filter": {"type": "string", "description": "Only below this path, such as /projects/alpha/."},
                "tags": {"type": "array", "items": {"type": "string"}, "description": "All of them."},
                "top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5},
            },
        ),
        _tool(
            "read_document",
            "Read a document",
            "Read a document whose path you have seen. A long one comes in pages: read on with next_offset.",
            {
                "path": {"type": "string"},
                "offset": {
                    "type": "integer",
                    "minimum": 0,
                    "default": 0,
                    "description": "next_offset of the page before.",
                },
            },
            ("path",),
        ),
        _tool(
            "search_conversation",
            "Search a conversation",
            "Search one conversation for what was said in it, word by word. Returns the five best messages. Use it when"
            " the exact wording, number or decision matters.",
            {"query": QUERY, "conversation_id": {"type": "string"}},
            ("query", "conversation_id"),
        ),
        _tool(
            "remember",
            "Remember",
            "Keep one statement about the user for later conversations, when they ask for it or it will clearly matter."
            " One fact a call, understandable by itself.",
            {
                "text": {"type": "string", "description": "A full sentence about the user."},
                "kind": {"type": "string", "enum": list(KINDS)},
            },
            ("text",),
        ),
        _tool(
            "correct",
            "Correct",
            "Replace a memory that is wrong or no longer holds. Its id is in the answer of recall_memory.",
            {
                "id": {"type": "string"},
                "text": {"type": "string", "description": "What holds instead, as a full sentence."},
                "reason": {"type": "string"},
            },
            ("id", "text", "reason"),
        ),
        _tool(
            "forget",
            "Forget",
            "Remove memories for good, when the user asks for it. First call with id or query: it lists what would go,"
            " and a confirm. Show that to the user, then call again with this confirm alone.",
            {
                "id": {"type": "string"},
                "query": QUERY,
                "dry_run": {"type": "boolean", "default": True},
                "confirm": {"type": "string"},
            },
            (),
        ),
    )
}
