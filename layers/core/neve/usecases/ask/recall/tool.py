"""E11: the tools as a language model is told of them, and what those that search ask of recall. No tool has a user or
tenant argument: both come from the key and the path.

Providers cache prompts that begin with the schemas, so a version's bytes never change: any other word is another
version (``tests/unit/recall/tools/test_tool_schemas.py`` has the sha256 of each)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neve.domain.compile.formats.anthropic import ANTHROPIC
from neve.domain.compile.formats.openai_chat import OPENAI
from neve.domain.errors import invalid
from neve.domain.indexing.passage import Source
from neve.domain.tenants.policy import Policy
from neve.usecases.ask.recall.command import MAX_K, Beside, RecallCommand, RecallFilters, RecallScope

Schema = Mapping[str, Any]
MATCHES = 5
"""How many messages ``search_conversation`` returns."""
TOP_K = 5
"""How many rows ``search_knowledge`` returns by default."""

RECALL_MEMORY: Schema = {
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

READ_DOCUMENT: Schema = {
    "name": "read_document",
    "description": (
        "Read a document by its path. Use it when the context names one, such as the output of a tool that was saved to"
        " /artifacts/ and replaced by a note. Returns the exact text, a page of it when it is long: read on with"
        " next_offset as long as the answer has one. found is false when there is no such document."
    ),
    "input_schema": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The whole path as it stands in the context."},
            "offset": {
                "type": "integer",
                "minimum": 0,
                "default": 0,
                "description": "The character to start at: the next_offset of the page before.",
            },
        },
        "required": ["path"],
        "additionalProperties": False,
    },
}

SEARCH_CONVERSATION: Schema = {
    "name": "search_conversation",
    "description": (
        "Search one conversation for what was said in it, word by word, with the parts that the context only sums up."
        " Returns the five best messages with speaker, position and date, best first. Use it when the exact wording,"
        " number or decision matters. Ask with words that were probably said."
    ),
    "input_schema": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, in a few words or as a question."},
            "conversation_id": {"type": "string", "description": "The id of the conversation to search."},
        },
        "required": ["query", "conversation_id"],
        "additionalProperties": False,
    },
}

SEARCH_KNOWLEDGE: Schema = {
    "name": "search_knowledge",
    "description": (
        "Search the user's documents and lasting facts: projects, reference material, insights, what was decided or"
        " preferred. Returns one line for each, best first, with the path of a document: read what you need with"
        " read_document. Use it when an answer depends on written knowledge that is not in the context. Ask with"
        " concrete words: names, places, things."
    ),
    "input_schema": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, in a few words or as a question."},
            "path_filter": {
                "type": "string",
                "description": "Only documents below this path, such as /projects/alpha/.",
            },
            "tags": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Only what has all of these tags.",
            },
            "top_k": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_K,
                "default": 5,
                "description": "How many to return.",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
}

READ_ANY_DOCUMENT: Schema = {
    **READ_DOCUMENT,
    "description": (
        "Read a document by its path. Use it when the context or search_knowledge names one, such as a project's notes,"
        " or the output of a tool that was saved to /artifacts/ and replaced by a note. Returns the exact text, a page"
        " of it when it is long: read on with next_offset as long as the answer has one. found is false when there is"
        " no such document."
    ),
}

SEARCH_THIS_CONVERSATION: Schema = {
    **SEARCH_CONVERSATION,
    "description": (
        "Search this conversation for what was said in it, word by word, with the parts that the context only sums up."
        " Returns the five best messages with speaker, position and date, best first. Use it when the exact wording,"
        " number or decision matters. Ask with words that were probably said."
    ),
    "input_schema": {
        "type": "object",
        "properties": {"query": SEARCH_CONVERSATION["input_schema"]["properties"]["query"]},
        "required": ["query"],
        "additionalProperties": False,
    },
}
"""No model knows the id of a conversation: it is the session of the call."""

REMEMBER: Schema = {
    "name": "remember",
    "description": (
        "Keep one lasting statement about the user for later conversations. Use it when the user asks to remember"
        " something, or says what will matter again. Not for what is remembered already. Write it in the third person"
        " and self-contained, such as: User's sister Ana lives in Porto."
    ),
    "input_schema": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "One statement."},
            "category": {
                "type": "string",
                "enum": ["PERSON", "PLACE", "EVENT", "PREFERENCE", "BIOGRAPHY"],
                "description": "What it is about.",
            },
            "importance": {
                "type": "integer",
                "minimum": 1,
                "maximum": 5,
                "default": 3,
                "description": "5: it always matters.",
            },
        },
        "required": ["text"],
        "additionalProperties": False,
    },
}

CORRECT: Schema = {
    "name": "correct",
    "description": (
        "Put what holds now in the place of a memory that is wrong or out of date. Find its id with recall_memory or in"
        " the context. The old one stays in the history."
    ),
    "input_schema": {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "The id of the memory, such as mem_01J."},
            "text": {"type": "string", "description": "What holds now, as one statement."},
            "reason": {"type": "string", "description": "Why, in a few words."},
        },
        "required": ["id", "text", "reason"],
        "additionalProperties": False,
    },
}

FORGET: Schema = {
    "name": "forget",
    "description": (
        "Delete memories for good. First call it with a query or an id: it lists what would be forgotten, and deletes"
        " nothing. Show the user the list; when they agree, call it again with confirm alone. Only these are deleted."
    ),
    "input_schema": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to forget, in a few words."},
            "id": {"type": "string", "description": "The id of one memory."},
            "confirm": {"type": "string", "description": "The confirm of the list that the user has agreed to."},
        },
        "additionalProperties": False,
    },
}

VERSIONS: Mapping[str, tuple[Schema, ...]] = {
    "1": (RECALL_MEMORY,),
    "2": (READ_DOCUMENT, RECALL_MEMORY, SEARCH_CONVERSATION),
    "3": (READ_ANY_DOCUMENT, RECALL_MEMORY, SEARCH_CONVERSATION, SEARCH_KNOWLEDGE),
    "4": (READ_ANY_DOCUMENT, RECALL_MEMORY, SEARCH_THIS_CONVERSATION, SEARCH_KNOWLEDGE),
    "5": (CORRECT, FORGET, READ_ANY_DOCUMENT, RECALL_MEMORY, REMEMBER, SEARCH_THIS_CONVERSATION, SEARCH_KNOWLEDGE),
}
"""Every version that was ever published, the tools of each in the order of their names."""
TOOLS_VERSION, WITH_WRITERS = "4", "5"
"""The newest ones: of the tools that read, and of those with which a model also writes."""


def offered_version(policy: Policy) -> str:
    """Give the version whose tools a tenant's models are offered."""
    return TOOLS_VERSION if policy.write_tools == "off" else WITH_WRITERS


def tools(version: str = TOOLS_VERSION) -> dict[str, Any]:
    """Return the tools as providers take them: the same bytes in every process. Raises 422 for a version that there is
    not."""
    if version not in VERSIONS:
        raise invalid("query.version", f"must be one of {', '.join(VERSIONS)}")
    schemas = VERSIONS[version]
    return {
        "version": version,
        "anthropic": [tool.declared for tool in ANTHROPIC.own(schemas)],
        "openai": [tool.declared for tool in OPENAI.own(schemas)],
    }


def recall_memory(
    query: str, *, limit: int | None = None, within: RecallScope = "all", session_id: str | None = None
) -> RecallCommand:
    """Make the command of the tool: the same engine as E7 with the time of a manual search. ``limit`` None: the
    policy's. A call finds nothing that the prompt of its session shows; one that searches that session alone finds all
    of it but the question."""
    beside: Beside = "question" if within == "session" else "history"
    return RecallCommand(query=query, k=limit, mode="tool", scope=within, session_id=session_id, beside=beside)


def search_conversation(query: str, conversation_id: str) -> RecallCommand:
    """Make the command that finds the ``MATCHES`` best utterances of one session, those that a compaction covers
    included, but not the question that is being answered in it."""
    return RecallCommand(
        query=query,
        k=MATCHES,
        mode="tool",
        scope="session",
        session_id=conversation_id,
        sources=(Source.EVENT,),
        beside="question",
    )


def search_knowledge(
    query: str,
    *,
    path_filter: str | None = None,
    tags: tuple[str, ...] = (),
    top_k: int = TOP_K,
    session_id: str | None = None,
) -> RecallCommand:
    """Make the command that finds documents, and memories of the semantic tier: what a person wrote down or stated, not
    what was observed of a conversation. A path filter leaves documents only."""
    filters = RecallFilters(path_prefix=path_filter, tags=tags, tier="semantic")
    sources = (Source.MEMORY, Source.DOCUMENT)
    return RecallCommand(
        query=query,
        k=top_k,
        mode="tool",
        sources=sources,
        filters=filters,
        session_id=session_id,
        beside="history",
    )
