"""Every operation of the service as it is, made of docs/openapi.json by ``make sdk-generate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .._shared.calls import Call, path_of
from .operations import AsyncOperations

if TYPE_CHECKING:
    from .. import types


class AsyncRaw(AsyncOperations):
    """Parameters of the path come first, then the body, then the others by name. ``timeout``: seconds, all repeats
    included. What fails raises ``NeveError``."""

    async def drain_embeddings(
        self, body: types.DrainBody | None = None, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> types.JobOut:
        """Index and embed everything that is pending."""
        answer: types.JobOut = await self._answer(
            Call(
                "POST",
                path_of("admin", "embeddings", "drain"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    async def read_admin_job(self, job_id: str, *, timeout: float | None = None) -> types.JobOut:
        """Any job of the tenant."""
        answer: types.JobOut = await self._answer(Call("GET", path_of("admin", "jobs", job_id)), timeout)
        return answer

    async def reflect(
        self, body: types.ReflectBody | None = None, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> types.ReflectedOut | types.JobOut:
        """Condense older observations now."""
        answer: types.ReflectedOut | types.JobOut = await self._answer(
            Call(
                "POST",
                path_of("admin", "reflect"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    async def read_feed(
        self,
        *,
        after: str | None = None,
        types: str | None = None,
        user_id: str | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> types.FeedOut:
        """What has happened in the tenant's memory, at least once, in order per user, for 7 days."""
        answer: types.FeedOut = await self._answer(
            Call(
                "GET",
                path_of("events"),
                query=self._given({"after": after, "types": types, "user_id": user_id, "limit": limit}),
            ),
            timeout,
        )
        return answer

    async def health(self, *, timeout: float | None = None) -> types.HealthOut:
        """Whether the service can work, and with which models."""
        answer: types.HealthOut = await self._answer(Call("GET", path_of("health")), timeout)
        return answer

    async def list_keys(
        self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None
    ) -> types.KeyPage:
        """The tenant's API keys, revoked ones too, by their ids."""
        answer: types.KeyPage = await self._answer(
            Call("GET", path_of("keys"), query=self._given({"limit": limit, "cursor": cursor})), timeout
        )
        return answer

    async def create_key(
        self, body: types.CreateKeyBody, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> types.KeyOut:
        """A new API key; ten may be live at a time."""
        answer: types.KeyOut = await self._answer(
            Call("POST", path_of("keys"), body=body, headers=self._given({"Idempotency-Key": idempotency_key})), timeout
        )
        return answer

    async def revoke_key(
        self, key_id: str, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> None:
        """Revoke an API key."""
        await self._answer(
            Call("DELETE", path_of("keys", key_id), headers=self._given({"Idempotency-Key": idempotency_key})), timeout
        )

    async def read_policy(self, *, timeout: float | None = None) -> types.PolicyOut:
        """The tenant's policy and the numbers in force."""
        answer: types.PolicyOut = await self._answer(Call("GET", path_of("policy")), timeout)
        return answer

    async def patch_policy(
        self,
        body: types.PolicyChange,
        *,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> types.PolicyOut:
        """Change some of the tenant's policy."""
        answer: types.PolicyOut = await self._answer(
            Call(
                "PATCH",
                path_of("policy"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key, "If-Match": if_match}),
            ),
            timeout,
        )
        return answer

    async def write_policy(
        self,
        body: types.Policy,
        *,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> types.PolicyOut:
        """Replace the tenant's policy."""
        answer: types.PolicyOut = await self._answer(
            Call(
                "PUT",
                path_of("policy"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key, "If-Match": if_match}),
            ),
            timeout,
        )
        return answer

    async def create_token(self, body: types.CreateTokenBody, *, timeout: float | None = None) -> types.TokenOut:
        """A token that stands for the API key, for an hour at most."""
        answer: types.TokenOut = await self._answer(Call("POST", path_of("tokens"), body=body), timeout)
        return answer

    async def list_tools(self, *, version: str | None = None, timeout: float | None = None) -> types.ToolsView:
        """The schemas of the tools, as providers take them."""
        answer: types.ToolsView = await self._answer(
            Call("GET", path_of("tools"), query=self._given({"version": version})), timeout
        )
        return answer

    async def tenant_usage(self, *, days: int | None = None, timeout: float | None = None) -> types.TenantUsageOut:
        """What the tenant's memory has cost in model calls and embeddings, and what was reported of its prompts."""
        answer: types.TenantUsageOut = await self._answer(
            Call("GET", path_of("usage"), query=self._given({"days": days})), timeout
        )
        return answer

    async def list_users(
        self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None
    ) -> types.UserPage:
        """The users that anything is kept of, by their ids."""
        answer: types.UserPage = await self._answer(
            Call("GET", path_of("users"), query=self._given({"limit": limit, "cursor": cursor})), timeout
        )
        return answer

    async def erase_user(
        self,
        user_id: str,
        *,
        close: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.JobOut:
        """Erase a user and everything that is kept of them."""
        answer: types.JobOut = await self._answer(
            Call(
                "DELETE",
                path_of("users", user_id),
                query=self._given({"close": close}),
                headers=self._given({"Idempotency-Key": idempotency_key}),
                span="delete_memory",
            ),
            timeout,
        )
        return answer

    async def compile_context(
        self, user_id: str, body: types.CompileBody, *, timeout: float | None = None
    ) -> types.ContextOut:
        """The whole prompt of one turn, within its budget and with what a provider can cache first."""
        answer: types.ContextOut = await self._answer(
            Call("POST", path_of("users", user_id, "context"), body=body, span="search_memory"), timeout
        )
        return answer

    async def delete_documents(
        self,
        user_id: str,
        *,
        path: str | None = None,
        prefix: str | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> types.DeletedDocumentsView:
        """Delete one document, or those below a prefix, with all revisions."""
        answer: types.DeletedDocumentsView = await self._answer(
            Call(
                "DELETE",
                path_of("users", user_id, "documents"),
                query=self._given({"path": path, "prefix": prefix}),
                headers=self._given({"Idempotency-Key": idempotency_key, "If-Match": if_match}),
                span="delete_memory",
            ),
            timeout,
        )
        return answer

    async def get_document(
        self,
        user_id: str,
        *,
        path: str,
        rev: int | None = None,
        chunks: bool | None = None,
        timeout: float | None = None,
    ) -> types.DocumentView:
        """Read one document, whatever its status."""
        answer: types.DocumentView = await self._answer(
            Call(
                "GET",
                path_of("users", user_id, "documents"),
                query=self._given({"path": path, "rev": rev, "chunks": chunks}),
            ),
            timeout,
        )
        return answer

    async def put_document(
        self,
        user_id: str,
        body: types.PutBody | str,
        *,
        path: str,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        if_none_match: str | None = None,
        timeout: float | None = None,
    ) -> types.DocumentView:
        """Write a document, as JSON or as Markdown."""
        answer: types.DocumentView = await self._answer(
            Call(
                "PUT",
                path_of("users", user_id, "documents"),
                body=body,
                content_type="text/markdown" if isinstance(body, str) else "application/json",
                query=self._given({"path": path}),
                headers=self._given(
                    {"Idempotency-Key": idempotency_key, "If-Match": if_match, "If-None-Match": if_none_match}
                ),
                span="upsert_memory",
            ),
            timeout,
        )
        return answer

    async def evolve_document(
        self,
        user_id: str,
        body: types.EvolveDocumentBody,
        *,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> types.DocumentView:
        """Put a new document in the place of an old one, which is superseded."""
        answer: types.DocumentView = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "documents", "evolve"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key, "If-Match": if_match}),
                span="upsert_memory",
            ),
            timeout,
        )
        return answer

    async def list_documents(
        self,
        user_id: str,
        *,
        prefix: str | None = None,
        status: types.MemoryStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.DocumentPage:
        """List documents by path."""
        answer: types.DocumentPage = await self._answer(
            Call(
                "GET",
                path_of("users", user_id, "documents", "list"),
                query=self._given({"prefix": prefix, "status": status, "limit": limit, "cursor": cursor}),
            ),
            timeout,
        )
        return answer

    async def move_document(
        self,
        user_id: str,
        body: types.MoveBody,
        *,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> types.MovedView:
        """Move a document with its history, or all below a path."""
        answer: types.MovedView = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "documents", "move"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key, "If-Match": if_match}),
                span="upsert_memory",
            ),
            timeout,
        )
        return answer

    async def restore_document(
        self,
        user_id: str,
        body: types.RestoreBody,
        *,
        path: str,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> types.DocumentView:
        """Give a document the text, name, summary, tags and group of an earlier rev, as its next one."""
        answer: types.DocumentView = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "documents", "restore"),
                body=body,
                query=self._given({"path": path}),
                headers=self._given({"Idempotency-Key": idempotency_key, "If-Match": if_match}),
                span="upsert_memory",
            ),
            timeout,
        )
        return answer

    async def list_document_versions(
        self,
        user_id: str,
        *,
        path: str,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.VersionPage:
        """List the revisions of a document."""
        answer: types.VersionPage = await self._answer(
            Call(
                "GET",
                path_of("users", user_id, "documents", "versions"),
                query=self._given({"path": path, "limit": limit, "cursor": cursor}),
            ),
            timeout,
        )
        return answer

    async def export_user(
        self, user_id: str, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> types.JobOut:
        """Write everything that is kept of a user as JSON lines."""
        answer: types.JobOut = await self._answer(
            Call(
                "POST", path_of("users", user_id, "export"), headers=self._given({"Idempotency-Key": idempotency_key})
            ),
            timeout,
        )
        return answer

    async def list_inbox(
        self, user_id: str, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None
    ) -> types.InboxPage:
        """What waits for a decision, oldest first."""
        answer: types.InboxPage = await self._answer(
            Call("GET", path_of("users", user_id, "inbox"), query=self._given({"limit": limit, "cursor": cursor})),
            timeout,
        )
        return answer

    async def approve_inbox_item(
        self,
        user_id: str,
        item_id: str,
        body: types.ApproveBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.InboxItem:
        """Keep what waits."""
        answer: types.InboxItem = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "inbox", item_id, "approve"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    async def edit_inbox_item(
        self,
        user_id: str,
        item_id: str,
        body: types.EditBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.InboxItem:
        """Keep it in other words, or a document at another path."""
        answer: types.InboxItem = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "inbox", item_id, "edit"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    async def reject_inbox_item(
        self,
        user_id: str,
        item_id: str,
        body: types.RejectBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.InboxItem:
        """Keep nothing of it."""
        answer: types.InboxItem = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "inbox", item_id, "reject"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    async def supersede_inbox_item(
        self,
        user_id: str,
        item_id: str,
        body: types.SupersedeBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.InboxItem:
        """Keep it in the place of what no longer holds, be it a memory or a document's text."""
        answer: types.InboxItem = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "inbox", item_id, "supersede"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    async def read_job(self, user_id: str, job_id: str, *, timeout: float | None = None) -> types.JobOut:
        """A job of this user."""
        answer: types.JobOut = await self._answer(Call("GET", path_of("users", user_id, "jobs", job_id)), timeout)
        return answer

    async def list_memories(
        self,
        user_id: str,
        *,
        kind: types.MemoryKind | None = None,
        tier: types.Tier | None = None,
        category: types.Category | None = None,
        status: types.MemoryStatus | None = None,
        scope: types.MemoryScope | None = None,
        session_id: str | None = None,
        group: str | None = None,
        tag: str | None = None,
        metadata: dict[str, Any] | None = None,
        never_recall: bool | None = None,
        written_by: types.WrittenBy | None = None,
        as_of: str | None = None,
        about: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.MemoryPage:
        """List a user's memories, oldest first."""
        answer: types.MemoryPage = await self._answer(
            Call(
                "GET",
                path_of("users", user_id, "memories"),
                query=self._given(
                    {
                        "kind": kind,
                        "tier": tier,
                        "category": category,
                        "status": status,
                        "scope": scope,
                        "session_id": session_id,
                        "group": group,
                        "tag": tag,
                        "metadata": metadata,
                        "never_recall": never_recall,
                        "written_by": written_by,
                        "as_of": as_of,
                        "about": about,
                        "limit": limit,
                        "cursor": cursor,
                    }
                ),
            ),
            timeout,
        )
        return answer

    async def create_memory(
        self,
        user_id: str,
        body: types.CreateBody,
        *,
        wait: Literal["embedded"] | None = None,
        split: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.KeptView:
        """Keep one memory."""
        answer: types.KeptView = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "memories"),
                body=body,
                query=self._given({"wait": wait, "split": split}),
                headers=self._given({"Idempotency-Key": idempotency_key}),
                span="upsert_memory",
            ),
            timeout,
        )
        return answer

    async def forget_memories(
        self,
        user_id: str,
        body: types.ForgetBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.ForgottenOrListed | types.JobOut:
        """Forget memories by filters, by a query, or with the conversations they were made of."""
        answer: types.ForgottenOrListed | types.JobOut = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "memories", "forget"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    async def import_memories(
        self, user_id: str, body: str, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> types.ImportView:
        """Bring memories in with their ids and times."""
        answer: types.ImportView = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "memories", "import"),
                body=body,
                content_type="application/jsonl",
                headers=self._given({"Idempotency-Key": idempotency_key}),
                span="upsert_memory",
            ),
            timeout,
        )
        return answer

    async def mark_memories_used(
        self, user_id: str, body: types.UsedBody, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> types.UsedView:
        """Say which memories an answer cited."""
        answer: types.UsedView = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "memories", "used"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    async def delete_memory(
        self,
        user_id: str,
        memory_id: str,
        *,
        purge_packs: bool | None = None,
        cascade: bool | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> types.DeletedView:
        """Delete one memory for good."""
        answer: types.DeletedView = await self._answer(
            Call(
                "DELETE",
                path_of("users", user_id, "memories", memory_id),
                query=self._given({"purge_packs": purge_packs, "cascade": cascade}),
                headers=self._given({"Idempotency-Key": idempotency_key, "If-Match": if_match}),
                span="delete_memory",
            ),
            timeout,
        )
        return answer

    async def read_memory(self, user_id: str, memory_id: str, *, timeout: float | None = None) -> types.MemoryView:
        """Read one memory, whatever its status."""
        answer: types.MemoryView = await self._answer(
            Call("GET", path_of("users", user_id, "memories", memory_id)), timeout
        )
        return answer

    async def update_memory(
        self,
        user_id: str,
        memory_id: str,
        body: types.UpdateBody | None = None,
        *,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> types.ChangedView:
        """Change one memory in place."""
        answer: types.ChangedView = await self._answer(
            Call(
                "PATCH",
                path_of("users", user_id, "memories", memory_id),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key, "If-Match": if_match}),
                span="upsert_memory",
            ),
            timeout,
        )
        return answer

    async def evolve_memory(
        self,
        user_id: str,
        memory_id: str,
        body: types.EvolveMemoryBody,
        *,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> types.MemoryView:
        """Put a statement in the place of a memory that no longer holds."""
        answer: types.MemoryView = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "memories", memory_id, "evolve"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key, "If-Match": if_match}),
                span="upsert_memory",
            ),
            timeout,
        )
        return answer

    async def trace_memory(self, user_id: str, memory_id: str, *, timeout: float | None = None) -> types.TraceView:
        """What a memory replaced, what replaced it, and which of the last 200 recalls answered with it."""
        answer: types.TraceView = await self._answer(
            Call("GET", path_of("users", user_id, "memories", memory_id, "trace")), timeout
        )
        return answer

    async def read_pack(
        self,
        user_id: str,
        *,
        session_id: str | None = None,
        version: int | None = None,
        if_none_match: str | None = None,
        timeout: float | None = None,
    ) -> types.PackOut | None:
        """The session's pack: the same bytes until it is rebuilt."""
        answer: types.PackOut | None = await self._answer(
            Call(
                "GET",
                path_of("users", user_id, "pack"),
                query=self._given({"session_id": session_id, "version": version}),
                headers=self._given({"If-None-Match": if_none_match}),
            ),
            timeout,
        )
        return answer

    async def diff_pack_versions(
        self, user_id: str, *, session_id: str, from_: int, to: int, timeout: float | None = None
    ) -> types.PackDiffOut:
        """What changed between two versions of a session's pack."""
        answer: types.PackDiffOut = await self._answer(
            Call(
                "GET",
                path_of("users", user_id, "pack", "diff"),
                query=self._given({"session_id": session_id, "from": from_, "to": to}),
            ),
            timeout,
        )
        return answer

    async def list_pack_versions(
        self,
        user_id: str,
        *,
        session_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> types.PackVersions:
        """The versions a session's pack has had, newest first."""
        answer: types.PackVersions = await self._answer(
            Call(
                "GET",
                path_of("users", user_id, "pack", "versions"),
                query=self._given({"session_id": session_id, "limit": limit, "cursor": cursor}),
            ),
            timeout,
        )
        return answer

    async def recall(self, user_id: str, body: types.RecallBody, *, timeout: float | None = None) -> types.RecallView:
        """Search everything that is not in the session's pack."""
        answer: types.RecallView = await self._answer(
            Call("POST", path_of("users", user_id, "recall"), body=body, span="search_memory"), timeout
        )
        return answer

    async def list_recalls(
        self, user_id: str, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None
    ) -> types.RecallPage:
        """The user's recalls of the last 90 days, newest first."""
        answer: types.RecallPage = await self._answer(
            Call("GET", path_of("users", user_id, "recalls"), query=self._given({"limit": limit, "cursor": cursor})),
            timeout,
        )
        return answer

    async def read_recall(
        self, user_id: str, recall_id: str, *, timeout: float | None = None
    ) -> types.RecallRecordView:
        """One recall with every candidate, its components, and why it was dropped."""
        answer: types.RecallRecordView = await self._answer(
            Call("GET", path_of("users", user_id, "recalls", recall_id)), timeout
        )
        return answer

    async def list_sessions(
        self,
        user_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        metadata: dict[str, Any] | None = None,
        timeout: float | None = None,
    ) -> types.SessionPage:
        """The sessions of a user, by id."""
        answer: types.SessionPage = await self._answer(
            Call(
                "GET",
                path_of("users", user_id, "sessions"),
                query=self._given({"limit": limit, "cursor": cursor, "metadata": metadata}),
            ),
            timeout,
        )
        return answer

    async def open_session(
        self,
        user_id: str,
        body: types.OpenSessionBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.OpenedOut:
        """Open a session, or resume it, and fetch its pack."""
        answer: types.OpenedOut = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "sessions"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    async def delete_session(
        self, user_id: str, session_id: str, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> types.SessionDeletedOut:
        """Delete a session for good: its events, title and metadata, and what was made of them."""
        answer: types.SessionDeletedOut = await self._answer(
            Call(
                "DELETE",
                path_of("users", user_id, "sessions", session_id),
                headers=self._given({"Idempotency-Key": idempotency_key}),
                span="delete_memory",
            ),
            timeout,
        )
        return answer

    async def read_session(self, user_id: str, session_id: str, *, timeout: float | None = None) -> types.SessionOut:
        """One session."""
        answer: types.SessionOut = await self._answer(
            Call("GET", path_of("users", user_id, "sessions", session_id)), timeout
        )
        return answer

    async def compact_session(
        self,
        user_id: str,
        session_id: str,
        body: types.CompactBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.JobOut:
        """Summarise the middle of a session, move its horizon and rebuild its pack."""
        answer: types.JobOut = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "sessions", session_id, "compact"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    async def end_session(
        self,
        user_id: str,
        session_id: str,
        body: types.EndBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.JobOut:
        """Close a session: it is observed to its end, compacted, and filed in documents and a summary."""
        answer: types.JobOut = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "sessions", session_id, "end"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    async def list_events(
        self,
        user_id: str,
        session_id: str,
        *,
        from_seq: int | None = None,
        order: types.EventOrder | None = None,
        retracted: bool | None = None,
        limit: int | None = None,
        metadata: dict[str, Any] | None = None,
        timeout: float | None = None,
    ) -> types.EventsPage:
        """The log in seq order, or backwards."""
        answer: types.EventsPage = await self._answer(
            Call(
                "GET",
                path_of("users", user_id, "sessions", session_id, "events"),
                query=self._given(
                    {"from_seq": from_seq, "order": order, "retracted": retracted, "limit": limit, "metadata": metadata}
                ),
            ),
            timeout,
        )
        return answer

    async def append_events(
        self,
        user_id: str,
        session_id: str,
        body: types.AppendBody,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.AppendedOut:
        """Append events to a session's log: all of them or none."""
        answer: types.AppendedOut = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "sessions", session_id, "events"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
                span="upsert_memory",
            ),
            timeout,
        )
        return answer

    async def retract_events(
        self,
        user_id: str,
        session_id: str,
        body: types.RetractBody,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.RetractedOut:
        """Take events back: edited, deleted, or left for another branch."""
        answer: types.RetractedOut = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "sessions", session_id, "events", "retract"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
                span="delete_memory",
            ),
            timeout,
        )
        return answer

    async def append_messages(
        self,
        user_id: str,
        session_id: str,
        body: types.MessagesBody,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.AppendedMessagesOut:
        """Append a provider's messages as they are; opens the session when it is new."""
        answer: types.AppendedMessagesOut = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "sessions", session_id, "messages"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
                span="upsert_memory",
            ),
            timeout,
        )
        return answer

    async def observe_session(
        self,
        user_id: str,
        session_id: str,
        body: types.ObserveBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.JobOut:
        """Turn the unobserved events of a session into memory now."""
        answer: types.JobOut = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "sessions", session_id, "observe"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    async def turn(
        self,
        user_id: str,
        session_id: str,
        body: types.TurnBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.TurnOut:
        """Append what was said, and answer with the next prompt or a recall, in one call."""
        answer: types.TurnOut = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "sessions", session_id, "turn"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
                span="upsert_memory",
            ),
            timeout,
        )
        return answer

    async def user_stats(
        self, user_id: str, *, days: int | None = None, timeout: float | None = None
    ) -> types.StatsOut:
        """What is kept of one user, counted from the rows."""
        answer: types.StatsOut = await self._answer(
            Call("GET", path_of("users", user_id, "stats"), query=self._given({"days": days})), timeout
        )
        return answer

    async def create_user_token(
        self, user_id: str, body: types.CreateUserTokenBody, *, timeout: float | None = None
    ) -> types.TokenOut:
        """A token that is good for one user, for an hour at most."""
        answer: types.TokenOut = await self._answer(
            Call("POST", path_of("users", user_id, "tokens"), body=body), timeout
        )
        return answer

    async def call_correct(
        self, user_id: str, body: types.CorrectBody, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> types.CorrectOrMistake:
        """The tool correct, called by a language model."""
        answer: types.CorrectOrMistake = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "tools", "correct"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
                span="search_memory",
            ),
            timeout,
        )
        return answer

    async def call_forget(
        self,
        user_id: str,
        body: types.ForgetToolBody,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.ForgetOrMistake:
        """The tool forget, called by a language model."""
        answer: types.ForgetOrMistake = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "tools", "forget"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
                span="search_memory",
            ),
            timeout,
        )
        return answer

    async def call_read_document(
        self, user_id: str, body: types.ReadDocumentBody, *, timeout: float | None = None
    ) -> types.PageOrMistake:
        """The tool read_document, called by a language model."""
        answer: types.PageOrMistake = await self._answer(
            Call("POST", path_of("users", user_id, "tools", "read_document"), body=body, span="search_memory"), timeout
        )
        return answer

    async def call_recall_memory(
        self, user_id: str, body: types.RecallMemoryBody, *, timeout: float | None = None
    ) -> types.FoundOrMistake:
        """The tool recall_memory, called by a language model."""
        answer: types.FoundOrMistake = await self._answer(
            Call("POST", path_of("users", user_id, "tools", "recall_memory"), body=body, span="search_memory"), timeout
        )
        return answer

    async def call_remember(
        self,
        user_id: str,
        body: types.RememberBody,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.RememberOrMistake:
        """The tool remember, called by a language model."""
        answer: types.RememberOrMistake = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "tools", "remember"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
                span="search_memory",
            ),
            timeout,
        )
        return answer

    async def call_search_conversation(
        self, user_id: str, body: types.SearchConversationBody, *, timeout: float | None = None
    ) -> types.FoundOrMistake:
        """The tool search_conversation, called by a language model."""
        answer: types.FoundOrMistake = await self._answer(
            Call("POST", path_of("users", user_id, "tools", "search_conversation"), body=body, span="search_memory"),
            timeout,
        )
        return answer

    async def call_search_knowledge(
        self, user_id: str, body: types.SearchKnowledgeBody, *, timeout: float | None = None
    ) -> types.KnowledgeOrMistake:
        """The tool search_knowledge, called by a language model."""
        answer: types.KnowledgeOrMistake = await self._answer(
            Call("POST", path_of("users", user_id, "tools", "search_knowledge"), body=body, span="search_memory"),
            timeout,
        )
        return answer

    async def create_upload(
        self, user_id: str, body: types.UploadBody, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> types.UploadOut:
        """A pre-signed target for one image or one long text."""
        answer: types.UploadOut = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "uploads"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    async def report_usage(
        self,
        user_id: str,
        body: types.ReportUsageBody,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.ReportedUsageOut:
        """What the tokens of a prompt were, as the model's answer says."""
        answer: types.ReportedUsageOut = await self._answer(
            Call(
                "POST",
                path_of("users", user_id, "usage"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    async def list_webhooks(self, *, timeout: float | None = None) -> types.WebhooksOut:
        """The tenant's webhooks, by their ids; ten at most."""
        answer: types.WebhooksOut = await self._answer(Call("GET", path_of("webhooks")), timeout)
        return answer

    async def delete_webhook(
        self, webhook_id: str, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> None:
        """Delete a webhook. What waits for it is not sent."""
        await self._answer(
            Call("DELETE", path_of("webhooks", webhook_id), headers=self._given({"Idempotency-Key": idempotency_key})),
            timeout,
        )

    async def read_webhook(self, webhook_id: str, *, timeout: float | None = None) -> types.WebhookOut:
        """One webhook."""
        answer: types.WebhookOut = await self._answer(Call("GET", path_of("webhooks", webhook_id)), timeout)
        return answer

    async def put_webhook(
        self,
        webhook_id: str,
        body: types.WebhookBody,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> types.WebhookOut:
        """Have events sent to a URL, signed by the scheme of Standard Webhooks."""
        answer: types.WebhookOut = await self._answer(
            Call(
                "PUT",
                path_of("webhooks", webhook_id),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    async def list_deliveries(self, webhook_id: str, *, timeout: float | None = None) -> types.DeliveriesOut:
        """Its last 200 attempts of the last 7 days, newest first."""
        answer: types.DeliveriesOut = await self._answer(
            Call("GET", path_of("webhooks", webhook_id, "deliveries")), timeout
        )
        return answer

    async def test_webhook(
        self, webhook_id: str, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> types.AttemptOut:
        """Send it an event of the type `webhook.test` now, and say what became of that."""
        answer: types.AttemptOut = await self._answer(
            Call(
                "POST",
                path_of("webhooks", webhook_id, "test"),
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer
