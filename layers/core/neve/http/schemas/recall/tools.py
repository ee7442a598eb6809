"""E11: the tools that a language model calls, and their schemas."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, JsonValue, RootModel

from neve.domain.compile.last_turn import element
from neve.domain.documents.description import MAX_SUMMARY, cut_at_word
from neve.domain.documents.paths import PATH_RULE, normal_path
from neve.domain.errors import invalid
from neve.domain.pack.render import indented
from neve.domain.tenants.policy import Policy
from neve.domain.tenants.write_tools import need_write_tools
from neve.http.model_mistakes import MistakeView
from neve.http.operations import B, Body, Nothing, Operation, Parameters, Response, Scope, View, route
from neve.http.schemas.documents.addresses import DocumentPrefix
from neve.http.schemas.enums import RecallScope, ResultState
from neve.http.schemas.fields import Degraded, Filled, Identifier, Label
from neve.http.schemas.recall.recall import MAX_QUERY, REFUSED, Hits, RecallView
from neve.http.schemas.recall.tool_call import ToolAnswer, tool_route
from neve.usecases.ask.documents.get_document import PageRead
from neve.usecases.ask.recall.answer import Hit, RecallAnswer, degradation_line
from neve.usecases.ask.recall.command import RecallCommand
from neve.usecases.ask.recall.tool import (
    TOP_K,
    VERSIONS,
    WITH_WRITERS,
    offered_version,
    recall_memory,
    search_conversation,
    search_knowledge,
    tools,
)

MAX_TITLE = 60
Asked = Annotated[Filled, Field(max_length=MAX_QUERY)]


class ToolsQuery(Parameters):
    version: str | None = Field(
        default=None,
        max_length=20,
        description=f"One of {', '.join(f'`{version}`' for version in VERSIONS)}; without it the newest that the policy"
        f" allows: from `{WITH_WRITERS}` on a model may write.",
    )


class ToolsView(View):
    """Ready for a provider's `tools`. The same bytes as long as `version` is the same."""

    version: str
    anthropic: list[dict[str, JsonValue]]
    openai: list[dict[str, JsonValue]]

    @classmethod
    def offered(cls, version: str | None, policy: Policy) -> ToolsView:
        """Make the view of a version, or of the newest that the policy allows. Raises write_tools_off, 422."""
        if version == WITH_WRITERS:
            need_write_tools(policy)
        return cls.model_validate(tools(version or offered_version(policy)))


class RecallMemoryArguments(Body):
    query: Asked
    limit: Hits | None = Field(default=None, description="Default 8.")
    scope: RecallScope = "all"


class RecallMemoryBody(Body):
    session_id: Identifier | None = None
    arguments: RecallMemoryArguments

    def command(self) -> RecallCommand:
        given = self.arguments
        return recall_memory(given.query, limit=given.limit, within=given.scope, session_id=self.session_id)


class SearchConversationArguments(Body):
    query: Asked
    conversation_id: Identifier | None = Field(
        default=None, description="The id of the session to search; without one, that of the call."
    )


class SearchConversationBody(Body):
    session_id: Identifier | None = Field(default=None, description="Where the tool was called.")
    arguments: SearchConversationArguments

    def command(self) -> RecallCommand:
        """Make the recall to run. Raises 422 where neither the arguments nor the call name a session."""
        session = self.arguments.conversation_id or self.session_id
        if session is None:
            raise invalid("session_id", "is required where the arguments have no conversation_id")
        return search_conversation(self.arguments.query, session)


class SearchKnowledgeArguments(Body):
    query: Asked
    path_filter: DocumentPrefix | None = None
    tags: Annotated[list[Label], Field(max_length=32, description="All of them.")] = Field(default_factory=list)
    top_k: Hits = Field(default=TOP_K, description=f"Default {TOP_K}.")


class SearchKnowledgeBody(Body):
    session_id: Identifier | None = Field(default=None, description="Where the tool was called.")
    arguments: SearchKnowledgeArguments

    def command(self) -> RecallCommand:
        given, tags = self.arguments, tuple(self.arguments.tags)
        return search_knowledge(
            given.query, path_filter=given.path_filter, tags=tags, top_k=given.top_k, session_id=self.session_id
        )


# --- answers --------------------------------------------------------------------------------------

NOTHING = "Nothing was found beside what the context shows already."
NOT_SEARCHED = "Nobody could look: what is remembered is not known now."


def _content(found: RecallAnswer, hits: str, already: str) -> str:
    """Write the text that the model reads. ``already``: where nothing was found, what of the context would have
    been."""
    if hits:
        return hits
    said = NOT_SEARCHED if found.result_state == "not_searched" else NOTHING
    return "\n".join([said, *map(degradation_line, found.degraded), *([already] if already else [])])


class FoundView(RecallView, ToolAnswer):
    @classmethod
    def found(
        cls, answer: RecallAnswer, already: RecallAnswer | None = None, cold_start_ms: float | None = None
    ) -> FoundView:
        """Make the view of what was found. ``already``: see ``already_shown``."""
        shown = RecallView.of(answer, cold_start_ms)
        return cls(
            **dict(shown),
            content=_content(answer, answer.injection_text, already.injection_text if already else ""),
            is_error=answer.result_state == "not_searched",
        )


class FoundOrMistake(RootModel[FoundView | MistakeView]):
    """`is_error` says which one."""


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
    def of(cls, hit: Hit) -> Self:
        text = " ".join(hit.text.split())
        summary = cut_at_word(hit.summary or text, MAX_SUMMARY)
        return super().of(hit, title=hit.title or cut_at_word(text, MAX_TITLE), summary=summary)


def _lines(found: RecallAnswer | None) -> str:
    """List the hits as text for the model, one a line."""
    views = map(KnowledgeView.of, found.hits if found else ())
    lines = (f"- [{one.path or one.id}] {one.observed_at[:10]}, {one.title}: {one.summary}" for one in views)
    return element("neve-retrieved", "\n".join(map(indented, lines)))


class SearchKnowledgeView(ToolAnswer):
    results: list[KnowledgeView] = Field(description="Best first.")
    result_state: ResultState
    degraded: Degraded
    recall_id: str | None

    @classmethod
    def of(cls, found: RecallAnswer, already: RecallAnswer | None = None) -> Self:
        """Make the view of what was found. ``already``: see ``already_shown``."""
        return super().of(
            found,
            content=_content(found, _lines(found), _lines(already)),
            is_error=found.result_state == "not_searched",
            results=[KnowledgeView.of(hit) for hit in found.hits],
        )


class KnowledgeOrMistake(RootModel[SearchKnowledgeView | MistakeView]):
    """`is_error` says which one."""


class ReadDocumentArguments(Body):
    path: Annotated[Filled, Field(description=f"A path {PATH_RULE}.")]
    offset: int = Field(default=0, ge=0, le=10**9, description="In characters: the `next_offset` of the page before.")


class ReadDocumentBody(Body):
    session_id: Identifier | None = Field(default=None, description="Where the tool was called; it decides nothing.")
    arguments: ReadDocumentArguments

    @property
    def path(self) -> str:
        """Give the path in its normal form. Raises 422 for what can be no path: no context has named that to the
        model."""
        try:
            return normal_path(self.arguments.path)
        except ValueError as error:
            raise invalid("arguments.path", str(error)) from None


class ReadDocumentView(ToolAnswer):
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
    degraded: Degraded | None

    @classmethod
    def of(cls, page: PageRead) -> Self:
        document, found = page.document, page.document is not None
        about = {name: getattr(document, name, None) for name in ("tokens", "rev", "session_id", "seq")}
        return super().of(
            page,
            **about,
            content=_page_text(page),
            is_error=not found,
            found=found,
            text=page.text if found else None,
            offset=page.offset if found else None,
            characters=len(document.text) if document else None,
            name=document.name or None if document else None,
            tags=document.tags or None if document else None,
            degraded=page.degraded or None,
        )


def _page_text(page: PageRead) -> str:
    """Write a page for the model: the text as it stands, and how to read on."""
    if page.document is None:
        return NOT_SEARCHED if page.degraded else f"There is no document at {page.path}."
    at = f"{page.path}, from character {page.offset} of {len(page.document.text)}" if page.offset else page.path
    more = f"\n[The text goes on: next_offset {page.next_offset}]" if page.next_offset is not None else ""
    return element("neve-retrieved", f"[{at}]\n{page.text}{more}")


class PageOrMistake(RootModel[ReadDocumentView | MistakeView]):
    """`is_error` alone does not say which one: there may be no such document."""


LIST_TOOLS = Operation(
    **route("GET", "/v1/tools", "listTools", "recall", "chat"),
    summary="The schemas of the tools, as providers take them.",
    query=ToolsQuery,
    responses={200: Response("Versioned; the same bytes every time.", ToolsView)},
    codes=("write_tools_off",),
    answers_without_stores=True,
)


def _tool(
    name: str,
    about: str,
    body: type[B],
    found: Response,
    *,
    also: tuple[Scope, ...] = (),
    codes: tuple[str, ...] = REFUSED,
) -> Operation[Nothing, B]:
    return Operation(
        **tool_route(name, *also),
        description=about,
        body=body,
        responses={200: found},
        codes=codes,
        answers_without_stores=True,
    )


_FOUND = Response("Candidates, best first, or what is wrong with the arguments.", FoundOrMistake)
RECALL_MEMORY = _tool(
    "recall_memory", "The engine of `recall` with the time budget of a manual search.", RecallMemoryBody, _FOUND
)
SEARCH_CONVERSATION = _tool(
    "search_conversation",
    "The five best messages of one session, those that a compaction covers included.",
    SearchConversationBody,
    _FOUND,
)
SEARCH_KNOWLEDGE = _tool(
    "search_knowledge",
    "Documents and lasting facts, each in a line and with its path; never a whole text.",
    SearchKnowledgeBody,
    Response("What was found, best first, or what is wrong with the arguments.", KnowledgeOrMistake),
    also=("documents",),
)
READ_DOCUMENT = _tool(
    "read_document",
    "Documents, and below `/artifacts/` what a compaction took out of the log. In pages of 4,000 tokens.",
    ReadDocumentBody,
    Response("A page, or that there is no such document.", PageOrMistake),
    also=("documents",),
    codes=("user_closed",),
)
