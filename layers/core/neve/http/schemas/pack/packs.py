"""E6: the frozen context pack, its versions and what changed between them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from neve.domain.errors import invalid
from neve.domain.records.packs import PackEntry, PackManifest
from neve.http.operations import Operation, Parameters, Response, TextAnswer, View, route
from neve.http.pages import Page, lines_that_fit
from neve.http.schemas.enums import PackFormat, PackLayer, PackState, Trigger
from neve.http.schemas.fields import Cursor, Degraded, Identifier, Limit, whole_number
from neve.usecases.ask.pack.read_pack import PackView
from neve.usecases.core.pack.versions import PackDiff

PACK = "/v1/users/{user_id}/pack"


class PackEntryOut(View):
    id: str
    rev: int
    fingerprint: str
    tokens: int = Field(description="In the text; 0 of a fact that another line of the pack says.")
    kind: str = Field(
        description="A memory's kind; `document`, or `excerpt` of one that is shown in part; `event` of what was just"
        " said in another conversation."
    )
    path: str | None = Field(default=None, description="Of a document.")


class PackLayersOut(View):
    """Items in the order they are rendered in."""

    always: list[PackEntryOut]
    profile: list[PackEntryOut]
    global_: list[PackEntryOut] = Field(serialization_alias="global")
    local: list[PackEntryOut]

    @classmethod
    def of(cls, layers: dict[str, tuple[PackEntry, ...]]) -> Self:
        return cls(**{f: [PackEntryOut.of(one) for one in layers.get(f.rstrip("_"), ())] for f in cls.model_fields})


class PackVersionOut(View):
    session_id: str
    pack_version: int
    trigger: Trigger
    built_at: str
    sha256: str = Field(description="Of the text in UTF-8.")
    tokens: int = Field(description="Of the text.")
    layers: PackLayersOut
    left_out: list[PackEntryOut] | None = Field(
        default=None,
        description="What had no room: documents of the always and profile layers, and observations and reflections"
        " of the session while these are waiting to be folded; and rows of any kind of a pack that would be too large"
        " for an answer. Recall finds them.",
    )
    also_left_out: int | None = Field(
        default=None, description="How many more had no room, whose names have none here."
    )

    @classmethod
    def of(cls, manifest: PackManifest) -> Self:
        layers, more = PackLayersOut.of(manifest.layers), manifest.also_left_out or None
        return super().of(manifest, layers=layers, left_out=manifest.left_out or None, also_left_out=more)


class PackOut(View):
    """A `ready` pack is a version and its JSON never changes: whether it is stale says `X-Neve-Degraded` alone.
    `preview` and `partial` have text but no version; `unavailable` has no text, so that the caller keeps its last
    pack."""

    state: PackState
    session_id: str | None = None
    pack_version: int | None = None
    trigger: Trigger | None = None
    built_at: str | None = None
    sha256: str | None = None
    tokens: int | None = None
    layers: PackLayersOut | None = None
    left_out: list[PackEntryOut] | None = None
    also_left_out: int | None = None
    text: str | None = None
    degraded: Degraded | None = None

    @classmethod
    def of(cls, view: PackView) -> Self:
        state = "ready" if view.state == "not_modified" else view.state
        if view.manifest is not None:
            return cls(state=state, **dict(PackVersionOut.of(view.manifest)), text=view.text)
        left_out = [PackEntryOut.of(entry) for entry in view.left_out] or None
        more, degraded = view.also_left_out or None, list(view.degraded) or None
        return cls(state=state, left_out=left_out, also_left_out=more, text=view.text, degraded=degraded)


class PackVersions(Page):
    versions: list[PackVersionOut]
    next_cursor: str | None


class LayerEntry(View):
    layer: PackLayer
    entry: PackEntryOut

    @classmethod
    def all(cls, found: Iterable[tuple[str, PackEntry]]) -> list[LayerEntry]:
        return [cls.model_validate({"layer": layer, "entry": PackEntryOut.of(entry)}) for layer, entry in found]


class ChangedEntry(View):
    layer: PackLayer
    before: PackEntryOut
    after: PackEntryOut


class PackDiffOut(View):
    added: list[LayerEntry]
    removed: list[LayerEntry]
    changed: list[ChangedEntry]
    unified: str = Field(description="Unified diff of the two texts.")
    unified_complete: bool = Field(
        description="False: it is longer than an answer may be, and ends behind the last line that fits."
    )

    @classmethod
    def of(cls, diff: PackDiff) -> PackDiffOut:
        changed = [
            ChangedEntry.model_validate({"layer": layer, "before": PackEntryOut.of(old), "after": PackEntryOut.of(new)})
            for layer, old, new in diff.changed
        ]
        added, removed = LayerEntry.all(diff.added), LayerEntry.all(diff.removed)
        unified = lines_that_fit(diff.unified, [*added, *removed, *changed])
        complete = unified == diff.unified
        return cls(added=added, removed=removed, changed=changed, unified=unified, unified_complete=complete)


PackVersion = Annotated[int, Field(ge=1, lt=10**8), BeforeValidator(whole_number)]


class PackQuery(Parameters):
    session_id: Identifier | None = Field(
        default=None, description="Without it: an unversioned preview of the user's memory."
    )
    version: PackVersion | None = Field(default=None, description="An old version; the current one when absent.")
    format: PackFormat = "json"

    @model_validator(mode="after")
    def _version_of_a_session(self) -> PackQuery:
        if self.version is not None and self.session_id is None:
            raise invalid("query.version", "needs a session_id")
        return self


class PackVersionsQuery(Parameters):
    session_id: Identifier
    limit: Limit = 50
    cursor: Cursor | None = None


class PackDiffQuery(Parameters):
    session_id: Identifier
    from_: PackVersion = Field(alias="from")
    to: PackVersion


_HEADERS = {
    "ETag": 'Strong; `"<sha256>"` of the text, `"<sha256>-j"` as JSON. Absent for a preview and a degraded pack '
    "without a version.",
    "X-Neve-Memory-Lag": "How far memory is behind, such as `events=10, unindexed=10, unembedded=12, unobserved=0,"
    " seconds=3`. Absent where that could not be read.",
}

_TEXT = TextAnswer("text/plain", "With `format=text`: the bytes for the prompt, in UTF-8, and nothing else.")

READ_PACK = Operation(
    **route("GET", PACK, "readPack", "pack", "chat"),
    summary="The session's pack: the same bytes until it is rebuilt.",
    query=PackQuery,
    responses={
        200: Response("The pack.", PackOut, text=_TEXT, headers=_HEADERS),
        304: Response("The caller's copy is current.", headers=_HEADERS),
    },
    codes=("session_not_found", "pack_version_not_found", "user_closed"),
    if_none_match=True,
    answers_without_stores=True,
)

PACK_VERSIONS = Operation(
    **route("GET", PACK + "/versions", "listPackVersions", "pack", "chat"),
    summary="The versions a session's pack has had, newest first.",
    query=PackVersionsQuery,
    responses={200: Response("A page of versions.", PackVersions)},
    codes=("session_not_found", "user_closed"),
)

PACK_DIFF = Operation(
    **route("GET", PACK + "/diff", "diffPackVersions", "pack", "chat"),
    summary="What changed between two versions of a session's pack.",
    query=PackDiffQuery,
    responses={200: Response("The difference.", PackDiffOut)},
    codes=("session_not_found", "pack_version_not_found", "user_closed"),
)
