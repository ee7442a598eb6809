"""E11: the tools that a language model calls, and their schemas."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from neve.domain.documents.description import MAX_SUMMARY, cut_at_word
from neve.http.operations import Body, Nothing, Operation, Parameters, Response, View
from neve.http.schemas.documents.addresses import DocumentPath, DocumentPrefix
from neve.http.schemas.fields import Filled, Identifier, Label
from neve.http.schemas.recall.recall import FOUND, MAX_QUERY, REFUSED, K, ScopeName
from neve.usecases.documents.read_document import DocumentPage
from neve.usecases.recall.answer import Hit, RecallAnswer
from neve.usecases.recall.command import RecallCommand
from neve.usecases.recall.tool import (
    TOOLS_VERSION,
    TOP_K,
    VERSIONS,
    recall_memory,
    search_conversation,
    search_knowledge,
    tools,
)

MAX_TITLE = 60
Asked = Annotated[Filled, Field(max_length=MAX_QUERY)]


class ToolsQuery(Parameters):
    version: str = Field(
        default=TOOLS_VERSION,
        max_length=20,
        description=f"One of {', '.join(f'`{version}`' for version in VERSIONS)}; without it the newest.",
    )


class ToolsView(View):
    """Ready for a provider's `tools`. The same bytes as long as `version` is the same."""

    version: str
    anthropic: list[dict[str, JsonValue]]
    openai: list[dict[str, JsonValue]]

    @classmethod
    def of(cls, version: str) -> ToolsView:
        return cls.model_validate(tools(version))


class RecallMemoryArguments(Body):
    query: Asked
    limit: K | None = Field(default=None, description="Default 8.")
    scope: ScopeName = "all"


class RecallMemoryBody(Body):
    session_id: Identifier | None = None
    arguments: RecallMemoryArguments

    def command(self) -> RecallCommand:
        given = self.arguments
        return recall_memory(given.query, limit=given.limit, within=given.scope, session_id=self.session_id)


class SearchConversationArguments(Body):
    query: Asked
    conversation_id: Identifier = Field(description="The id of the session to search.")


class SearchConversationBody(Body):
    session_id: Identifier | None = Field(default=None, description="Where the tool was called; it decides nothing.")
    arguments: SearchConversationArguments

    def command(self) -> RecallCommand:
        return search_conversation(self.arguments.query, self.arguments.conversation_id)


class SearchKnowledgeArguments(Body):
    query: Asked
    path_filter: DocumentPrefix | None = None
    tags: Annotated[list[Label], Field(max_length=32, description="All of them.")] = Field(default_factory=list)
    top_k: K = Field(default=TOP_K, description=f"Default {TOP_K}.")


class SearchKnowledgeBody(Body):
    session_id: Identifier | None = Field(default=None, description="Where the tool was called.")
    arguments: SearchKnowledgeArguments

    def command(self) -> RecallCommand:
        given = self.arguments
        return search_knowledge(
            given.query,
            path_filter=given.path_filter,
            tags=tuple(given.tags),
            top_k=given.top_k,
            session_id=self.session_id,
        )


class KnowledgeView(View):
    """One document or memory, in a line: `read_document` has the text of a path."""

    path: str | None = Field(description="Of a document.")
    id: str
    source: str
    title: str = Field(description="The document's name, or the memory's beginning.")
    summary: str = Field(max_length=MAX_SUMMARY)
    score: float
    tags: list[str]
    observed_at: str = Field(description="When the document last changed, or the memory was observed.")

    @classmethod
    def of(cls, hit: Hit) -> KnowledgeView:
        return cls(
            path=hit.path,
            id=hit.id,
            source=hit.source,
            title=hit.title or cut_at_word(" ".join(hit.text.split()), MAX_TITLE),
            summary=cut_at_word(hit.summary or " ".join(hit.text.split()), MAX_SUMMARY),
            score=hit.score,
            tags=list(hit.tags),
            observed_at=hit.observed_at,
        )


class SearchKnowledgeView(View):
    results: list[KnowledgeView] = Field(description="Best first.")
    result_state: Literal["found", "none", "not_searched"]
    degraded: list[str]
    recall_id: str | None

    @classmethod
    def of(cls, found: RecallAnswer) -> SearchKnowledgeView:
        results = [KnowledgeView.of(hit) for hit in found.hits]
        return cls(results=results, result_state=found.result_state, degraded=found.degraded, recall_id=found.recall_id)


class ReadDocumentArguments(Body):
    path: DocumentPath
    offset: int = Field(default=0, ge=0, le=10**9, description="In characters: the `next_offset` of the page before.")


class ReadDocumentBody(Body):
    session_id: Identifier | None = Field(default=None, description="Where the tool was called; it decides nothing.")
    arguments: ReadDocumentArguments


class ReadDocumentView(View):
    found: bool = Field(description="False with `degraded`: nobody could look.")
    path: str
    text: str | None = Field(description="At most 4,000 tokens of it.")
    offset: int | None
    next_offset: int | None = Field(description="Where the next page starts; absent behind the last one.")
    characters: int | None = Field(description="Of the whole document.")
    tokens: int | None = Field(description="Of the whole document.")
    rev: int | None
    name: str | None
    tags: list[str] | None
    session_id: str | None = Field(description="Of an artifact: where the tool was called that said it.")
    seq: int | None
    degraded: list[str] | None

    @classmethod
    def of(cls, page: DocumentPage) -> ReadDocumentView:
        document = page.document
        return cls(
            found=document is not None,
            path=page.path,
            text=page.text if document else None,
            offset=page.offset if document else None,
            next_offset=page.next_offset,
            characters=len(document.text) if document else None,
            tokens=document.tokens if document else None,
            rev=document.rev if document else None,
            name=(document.name or None) if document else None,
            tags=(list(document.tags) or None) if document else None,
            session_id=document.session_id if document else None,
            seq=document.seq if document else None,
            degraded=list(page.degraded) or None,
        )


LIST_TOOLS = Operation(
    method="GET",
    path="/v1/tools",
    id="listTools",
    tag="recall",
    summary="The schemas of the tools, as providers take them.",
    scope="chat",
    query=ToolsQuery,
    body=Nothing,
    responses={200: Response("Versioned; the same bytes every time.", ToolsView)},
    answers_without_stores=True,
)

RECALL_MEMORY = Operation(
    method="POST",
    path="/v1/users/{user_id}/tools/recall_memory",
    id="recallMemory",
    tag="recall",
    summary="The tool recall_memory, called by a language model.",
    description="The engine of `recall` with the time budget of a manual search.",
    scope="chat",
    query=Nothing,
    body=RecallMemoryBody,
    responses=FOUND,
    codes=REFUSED,
    answers_without_stores=True,
)

SEARCH_CONVERSATION = Operation(
    method="POST",
    path="/v1/users/{user_id}/tools/search_conversation",
    id="searchConversation",
    tag="recall",
    summary="The tool search_conversation, called by a language model.",
    description="The five best messages of one session, those that a compaction covers included.",
    scope="chat",
    query=Nothing,
    body=SearchConversationBody,
    responses=FOUND,
    codes=REFUSED,
    answers_without_stores=True,
)

SEARCH_KNOWLEDGE = Operation(
    method="POST",
    path="/v1/users/{user_id}/tools/search_knowledge",
    id="searchKnowledge",
    tag="recall",
    summary="The tool search_knowledge, called by a language model.",
    description="Documents and lasting facts, each in a line and with its path; never a whole text.",
    scope="chat",
    query=Nothing,
    body=SearchKnowledgeBody,
    responses={200: Response("What was found, best first.", SearchKnowledgeView)},
    codes=REFUSED,
    answers_without_stores=True,
)

READ_DOCUMENT = Operation(
    method="POST",
    path="/v1/users/{user_id}/tools/read_document",
    id="readDocument",
    tag="recall",
    summary="The tool read_document, called by a language model.",
    description="Documents, and below `/artifacts/` what a compaction took out of the log. In pages of 4,000 tokens.",
    scope="chat",
    query=Nothing,
    body=ReadDocumentBody,
    responses={200: Response("A page, or that there is no such document.", ReadDocumentView)},
    codes=("user_closed",),
    answers_without_stores=True,
)
