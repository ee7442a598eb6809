# Made of _async/raw.py by `make sdk-generate`.
"""Every operation of the service as it is, made of docs/openapi.json by ``make sdk-generate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .._shared.calls import Call, path_of
from .operations import Operations

if TYPE_CHECKING:
    from .. import types as shapes


class Raw(Operations):
    """Parameters of the path come first, then the body, then the others by name. ``timeout``: seconds, all repeats
    included. What fails raises ``NeveError``."""

    def drain_embeddings(
        self, body: shapes.DrainBody | None = None, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> shapes.JobOut:
        """Index and embed everything that is pending."""
        answer: shapes.JobOut = self._answer(
            Call(
                "POST",
                path_of("admin", "embeddings", "drain"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    def read_admin_job(self, job_id: str, *, timeout: float | None = None) -> shapes.JobOut:
        """Any job of the tenant."""
        answer: shapes.JobOut = self._answer(Call("GET", path_of("admin", "jobs", job_id)), timeout)
        return answer

    def reflect(
        self,
        body: shapes.ReflectBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.ReflectedOut | shapes.JobOut:
        """Condense older observations now."""
        answer: shapes.ReflectedOut | shapes.JobOut = self._answer(
            Call(
                "POST",
                path_of("admin", "reflect"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    def read_work(self, *, timeout: float | None = None) -> shapes.WorkOut:
        """What goes on for the tenant: jobs, the last night, sessions that wait, webhooks that fail."""
        answer: shapes.WorkOut = self._answer(Call("GET", path_of("admin", "work")), timeout)
        return answer

    def read_feed(
        self,
        *,
        after: str | None = None,
        types: str | None = None,
        user_id: str | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> shapes.FeedOut:
        """What has happened in the tenant's memory, at least once, in order per user, for 7 days."""
        answer: shapes.FeedOut = self._answer(
            Call(
                "GET",
                path_of("events"),
                query=self._given({"after": after, "types": types, "user_id": user_id, "limit": limit}),
            ),
            timeout,
        )
        return answer

    def health(self, *, timeout: float | None = None) -> shapes.HealthOut:
        """Whether the service can work, and with which models."""
        answer: shapes.HealthOut = self._answer(Call("GET", path_of("health")), timeout)
        return answer

    def list_keys(
        self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None
    ) -> shapes.KeyPage:
        """The tenant's API keys, revoked ones too, by their ids."""
        answer: shapes.KeyPage = self._answer(
            Call("GET", path_of("keys"), query=self._given({"limit": limit, "cursor": cursor})), timeout
        )
        return answer

    def create_key(
        self, body: shapes.CreateKeyBody, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> shapes.KeyOut:
        """A new API key; ten may be live at a time."""
        answer: shapes.KeyOut = self._answer(
            Call("POST", path_of("keys"), body=body, headers=self._given({"Idempotency-Key": idempotency_key})), timeout
        )
        return answer

    def revoke_key(self, key_id: str, *, idempotency_key: str | None = None, timeout: float | None = None) -> None:
        """Revoke an API key."""
        self._answer(
            Call("DELETE", path_of("keys", key_id), headers=self._given({"Idempotency-Key": idempotency_key})), timeout
        )

    def read_policy(self, *, timeout: float | None = None) -> shapes.PolicyOut:
        """The tenant's policy and the numbers in force."""
        answer: shapes.PolicyOut = self._answer(Call("GET", path_of("policy")), timeout)
        return answer

    def patch_policy(
        self,
        body: shapes.PolicyChange,
        *,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> shapes.PolicyOut:
        """Change some of the tenant's policy."""
        answer: shapes.PolicyOut = self._answer(
            Call(
                "PATCH",
                path_of("policy"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key, "If-Match": if_match}),
            ),
            timeout,
        )
        return answer

    def write_policy(
        self,
        body: shapes.Policy,
        *,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> shapes.PolicyOut:
        """Replace the tenant's policy."""
        answer: shapes.PolicyOut = self._answer(
            Call(
                "PUT",
                path_of("policy"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key, "If-Match": if_match}),
            ),
            timeout,
        )
        return answer

    def create_token(self, body: shapes.CreateTokenBody, *, timeout: float | None = None) -> shapes.TokenOut:
        """A token that stands for the API key, for an hour at most."""
        answer: shapes.TokenOut = self._answer(Call("POST", path_of("tokens"), body=body), timeout)
        return answer

    def list_tools(self, *, version: str | None = None, timeout: float | None = None) -> shapes.ToolsView:
        """The schemas of the tools, as providers take them."""
        answer: shapes.ToolsView = self._answer(
            Call("GET", path_of("tools"), query=self._given({"version": version})), timeout
        )
        return answer

    def tenant_usage(self, *, days: int | None = None, timeout: float | None = None) -> shapes.TenantUsageOut:
        """What the tenant's memory has cost in model calls and embeddings, and what was reported of its prompts."""
        answer: shapes.TenantUsageOut = self._answer(
            Call("GET", path_of("usage"), query=self._given({"days": days})), timeout
        )
        return answer

    def list_users(
        self, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None
    ) -> shapes.UserPage:
        """The users that anything is kept of, by their ids."""
        answer: shapes.UserPage = self._answer(
            Call("GET", path_of("users"), query=self._given({"limit": limit, "cursor": cursor})), timeout
        )
        return answer

    def erase_user(
        self,
        user_id: str,
        *,
        close: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.JobOut:
        """Erase a user and everything that is kept of them."""
        answer: shapes.JobOut = self._answer(
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

    def compile_context(
        self, user_id: str, body: shapes.CompileBody, *, timeout: float | None = None
    ) -> shapes.ContextOut:
        """The whole prompt of one turn, within its budget and with what a provider can cache first."""
        answer: shapes.ContextOut = self._answer(
            Call("POST", path_of("users", user_id, "context"), body=body, span="search_memory"), timeout
        )
        return answer

    def delete_documents(
        self,
        user_id: str,
        *,
        path: str | None = None,
        prefix: str | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> shapes.DeletedDocumentsView:
        """Delete one document, or those below a prefix, with all revisions."""
        answer: shapes.DeletedDocumentsView = self._answer(
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

    def get_document(
        self,
        user_id: str,
        *,
        path: str,
        rev: int | None = None,
        chunks: bool | None = None,
        timeout: float | None = None,
    ) -> shapes.DocumentView:
        """Read one document, whatever its status."""
        answer: shapes.DocumentView = self._answer(
            Call(
                "GET",
                path_of("users", user_id, "documents"),
                query=self._given({"path": path, "rev": rev, "chunks": chunks}),
            ),
            timeout,
        )
        return answer

    def put_document(
        self,
        user_id: str,
        body: shapes.PutBody | str,
        *,
        path: str,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        if_none_match: str | None = None,
        timeout: float | None = None,
    ) -> shapes.DocumentView:
        """Write a document, as JSON or as Markdown."""
        answer: shapes.DocumentView = self._answer(
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

    def evolve_document(
        self,
        user_id: str,
        body: shapes.EvolveDocumentBody,
        *,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> shapes.DocumentView:
        """Put a new document in the place of an old one, which is superseded."""
        answer: shapes.DocumentView = self._answer(
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

    def list_documents(
        self,
        user_id: str,
        *,
        prefix: str | None = None,
        status: shapes.MemoryStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> shapes.DocumentPage:
        """List documents by path."""
        answer: shapes.DocumentPage = self._answer(
            Call(
                "GET",
                path_of("users", user_id, "documents", "list"),
                query=self._given({"prefix": prefix, "status": status, "limit": limit, "cursor": cursor}),
            ),
            timeout,
        )
        return answer

    def move_document(
        self,
        user_id: str,
        body: shapes.MoveBody,
        *,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> shapes.MovedView:
        """Move a document with its history, or all below a path."""
        answer: shapes.MovedView = self._answer(
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

    def restore_document(
        self,
        user_id: str,
        body: shapes.RestoreBody,
        *,
        path: str,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> shapes.DocumentView:
        """Give a document the text, name, summary, tags and group of an earlier rev, as its next one."""
        answer: shapes.DocumentView = self._answer(
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

    def list_document_versions(
        self,
        user_id: str,
        *,
        path: str,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> shapes.VersionPage:
        """List the revisions of a document."""
        answer: shapes.VersionPage = self._answer(
            Call(
                "GET",
                path_of("users", user_id, "documents", "versions"),
                query=self._given({"path": path, "limit": limit, "cursor": cursor}),
            ),
            timeout,
        )
        return answer

    def export_user(
        self, user_id: str, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> shapes.JobOut:
        """Write everything that is kept of a user as JSON lines."""
        answer: shapes.JobOut = self._answer(
            Call(
                "POST", path_of("users", user_id, "export"), headers=self._given({"Idempotency-Key": idempotency_key})
            ),
            timeout,
        )
        return answer

    def list_inbox(
        self, user_id: str, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None
    ) -> shapes.InboxPage:
        """What waits for a decision, oldest first."""
        answer: shapes.InboxPage = self._answer(
            Call("GET", path_of("users", user_id, "inbox"), query=self._given({"limit": limit, "cursor": cursor})),
            timeout,
        )
        return answer

    def approve_inbox_item(
        self,
        user_id: str,
        item_id: str,
        body: shapes.ApproveBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.InboxItem:
        """Keep what waits."""
        answer: shapes.InboxItem = self._answer(
            Call(
                "POST",
                path_of("users", user_id, "inbox", item_id, "approve"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    def edit_inbox_item(
        self,
        user_id: str,
        item_id: str,
        body: shapes.EditBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.InboxItem:
        """Keep it in other words, or a document at another path."""
        answer: shapes.InboxItem = self._answer(
            Call(
                "POST",
                path_of("users", user_id, "inbox", item_id, "edit"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    def reject_inbox_item(
        self,
        user_id: str,
        item_id: str,
        body: shapes.RejectBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.InboxItem:
        """Keep nothing of it."""
        answer: shapes.InboxItem = self._answer(
            Call(
                "POST",
                path_of("users", user_id, "inbox", item_id, "reject"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    def supersede_inbox_item(
        self,
        user_id: str,
        item_id: str,
        body: shapes.SupersedeBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.InboxItem:
        """Keep it in the place of what no longer holds, be it a memory or a document's text."""
        answer: shapes.InboxItem = self._answer(
            Call(
                "POST",
                path_of("users", user_id, "inbox", item_id, "supersede"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    def read_job(self, user_id: str, job_id: str, *, timeout: float | None = None) -> shapes.JobOut:
        """A job of this user."""
        answer: shapes.JobOut = self._answer(Call("GET", path_of("users", user_id, "jobs", job_id)), timeout)
        return answer

    def list_memories(
        self,
        user_id: str,
        *,
        kind: shapes.MemoryKind | None = None,
        tier: shapes.Tier | None = None,
        category: shapes.Category | None = None,
        status: shapes.MemoryStatus | None = None,
        scope: shapes.MemoryScope | None = None,
        session_id: str | None = None,
        group: str | None = None,
        tag: str | None = None,
        metadata: dict[str, Any] | None = None,
        never_recall: bool | None = None,
        written_by: shapes.WrittenBy | None = None,
        as_of: str | None = None,
        about: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> shapes.MemoryPage:
        """List a user's memories, oldest first."""
        answer: shapes.MemoryPage = self._answer(
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

    def create_memory(
        self,
        user_id: str,
        body: shapes.CreateBody,
        *,
        wait: Literal["embedded"] | None = None,
        split: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.KeptView:
        """Keep one memory."""
        answer: shapes.KeptView = self._answer(
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

    def forget_memories(
        self,
        user_id: str,
        body: shapes.ForgetBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.ForgottenOrListed | shapes.JobOut:
        """Forget memories by filters, by a query, or with the conversations they were made of."""
        answer: shapes.ForgottenOrListed | shapes.JobOut = self._answer(
            Call(
                "POST",
                path_of("users", user_id, "memories", "forget"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    def import_memories(
        self, user_id: str, body: str, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> shapes.ImportView:
        """Bring memories in with their ids and times."""
        answer: shapes.ImportView = self._answer(
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

    def mark_memories_used(
        self, user_id: str, body: shapes.UsedBody, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> shapes.UsedView:
        """Say which memories an answer cited."""
        answer: shapes.UsedView = self._answer(
            Call(
                "POST",
                path_of("users", user_id, "memories", "used"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    def delete_memory(
        self,
        user_id: str,
        memory_id: str,
        *,
        purge_packs: bool | None = None,
        cascade: bool | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> shapes.DeletedView:
        """Delete one memory for good."""
        answer: shapes.DeletedView = self._answer(
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

    def read_memory(self, user_id: str, memory_id: str, *, timeout: float | None = None) -> shapes.MemoryView:
        """Read one memory, whatever its status."""
        answer: shapes.MemoryView = self._answer(Call("GET", path_of("users", user_id, "memories", memory_id)), timeout)
        return answer

    def update_memory(
        self,
        user_id: str,
        memory_id: str,
        body: shapes.UpdateBody | None = None,
        *,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> shapes.ChangedView:
        """Change one memory in place."""
        answer: shapes.ChangedView = self._answer(
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

    def evolve_memory(
        self,
        user_id: str,
        memory_id: str,
        body: shapes.EvolveMemoryBody,
        *,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> shapes.MemoryView:
        """Put a statement in the place of a memory that no longer holds."""
        answer: shapes.MemoryView = self._answer(
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

    def trace_memory(self, user_id: str, memory_id: str, *, timeout: float | None = None) -> shapes.TraceView:
        """What a memory replaced, what replaced it, and which of the last 200 recalls and which packs had it."""
        answer: shapes.TraceView = self._answer(
            Call("GET", path_of("users", user_id, "memories", memory_id, "trace")), timeout
        )
        return answer

    def read_pack(
        self,
        user_id: str,
        *,
        session_id: str | None = None,
        version: int | None = None,
        if_none_match: str | None = None,
        timeout: float | None = None,
    ) -> shapes.PackOut | None:
        """The session's pack: the same bytes until it is rebuilt."""
        answer: shapes.PackOut | None = self._answer(
            Call(
                "GET",
                path_of("users", user_id, "pack"),
                query=self._given({"session_id": session_id, "version": version}),
                headers=self._given({"If-None-Match": if_none_match}),
            ),
            timeout,
        )
        return answer

    def diff_pack_versions(
        self, user_id: str, *, session_id: str, from_: int, to: int, timeout: float | None = None
    ) -> shapes.PackDiffOut:
        """What changed between two versions of a session's pack."""
        answer: shapes.PackDiffOut = self._answer(
            Call(
                "GET",
                path_of("users", user_id, "pack", "diff"),
                query=self._given({"session_id": session_id, "from": from_, "to": to}),
            ),
            timeout,
        )
        return answer

    def list_pack_versions(
        self,
        user_id: str,
        *,
        session_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> shapes.PackVersions:
        """The versions a session's pack has had, newest first."""
        answer: shapes.PackVersions = self._answer(
            Call(
                "GET",
                path_of("users", user_id, "pack", "versions"),
                query=self._given({"session_id": session_id, "limit": limit, "cursor": cursor}),
            ),
            timeout,
        )
        return answer

    def recall(self, user_id: str, body: shapes.RecallBody, *, timeout: float | None = None) -> shapes.RecallView:
        """Search everything that is not in the session's pack."""
        answer: shapes.RecallView = self._answer(
            Call("POST", path_of("users", user_id, "recall"), body=body, span="search_memory"), timeout
        )
        return answer

    def list_recalls(
        self, user_id: str, *, limit: int | None = None, cursor: str | None = None, timeout: float | None = None
    ) -> shapes.RecallPage:
        """The user's recalls of the last 90 days, newest first."""
        answer: shapes.RecallPage = self._answer(
            Call("GET", path_of("users", user_id, "recalls"), query=self._given({"limit": limit, "cursor": cursor})),
            timeout,
        )
        return answer

    def read_recall(
        self, user_id: str, recall_id: str, *, why_not: str | None = None, timeout: float | None = None
    ) -> shapes.ExplainedRecallView:
        """One recall with every candidate, its components, and why it was dropped; why a memory was none."""
        answer: shapes.ExplainedRecallView = self._answer(
            Call("GET", path_of("users", user_id, "recalls", recall_id), query=self._given({"why_not": why_not})),
            timeout,
        )
        return answer

    def list_sessions(
        self,
        user_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        metadata: dict[str, Any] | None = None,
        timeout: float | None = None,
    ) -> shapes.SessionPage:
        """The sessions of a user, by id."""
        answer: shapes.SessionPage = self._answer(
            Call(
                "GET",
                path_of("users", user_id, "sessions"),
                query=self._given({"limit": limit, "cursor": cursor, "metadata": metadata}),
            ),
            timeout,
        )
        return answer

    def open_session(
        self,
        user_id: str,
        body: shapes.OpenSessionBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.OpenedOut:
        """Open a session, or resume it, and fetch its pack."""
        answer: shapes.OpenedOut = self._answer(
            Call(
                "POST",
                path_of("users", user_id, "sessions"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    def delete_session(
        self, user_id: str, session_id: str, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> shapes.SessionDeletedOut:
        """Delete a session for good: its events, title and metadata, and what was made of them."""
        answer: shapes.SessionDeletedOut = self._answer(
            Call(
                "DELETE",
                path_of("users", user_id, "sessions", session_id),
                headers=self._given({"Idempotency-Key": idempotency_key}),
                span="delete_memory",
            ),
            timeout,
        )
        return answer

    def read_session(self, user_id: str, session_id: str, *, timeout: float | None = None) -> shapes.SessionOut:
        """One session."""
        answer: shapes.SessionOut = self._answer(
            Call("GET", path_of("users", user_id, "sessions", session_id)), timeout
        )
        return answer

    def compact_session(
        self,
        user_id: str,
        session_id: str,
        body: shapes.CompactBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.JobOut:
        """Summarise the middle of a session, move its horizon and rebuild its pack."""
        answer: shapes.JobOut = self._answer(
            Call(
                "POST",
                path_of("users", user_id, "sessions", session_id, "compact"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    def end_session(
        self,
        user_id: str,
        session_id: str,
        body: shapes.EndBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.JobOut:
        """Close a session: it is observed to its end, compacted, and filed in documents and a summary."""
        answer: shapes.JobOut = self._answer(
            Call(
                "POST",
                path_of("users", user_id, "sessions", session_id, "end"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    def list_events(
        self,
        user_id: str,
        session_id: str,
        *,
        from_seq: int | None = None,
        order: shapes.EventOrder | None = None,
        retracted: bool | None = None,
        limit: int | None = None,
        metadata: dict[str, Any] | None = None,
        timeout: float | None = None,
    ) -> shapes.EventsPage:
        """The log in seq order, or backwards."""
        answer: shapes.EventsPage = self._answer(
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

    def append_events(
        self,
        user_id: str,
        session_id: str,
        body: shapes.AppendBody,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.AppendedOut:
        """Append events to a session's log: all of them or none."""
        answer: shapes.AppendedOut = self._answer(
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

    def retract_events(
        self,
        user_id: str,
        session_id: str,
        body: shapes.RetractBody,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.RetractedOut:
        """Take events back: edited, deleted, or left for another branch."""
        answer: shapes.RetractedOut = self._answer(
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

    def append_messages(
        self,
        user_id: str,
        session_id: str,
        body: shapes.MessagesBody,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.AppendedMessagesOut:
        """Append a provider's messages as they are; opens the session when it is new."""
        answer: shapes.AppendedMessagesOut = self._answer(
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

    def observe_session(
        self,
        user_id: str,
        session_id: str,
        body: shapes.ObserveBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.ObservedOut | shapes.JobOut:
        """Turn the unobserved events of a session into memory now."""
        answer: shapes.ObservedOut | shapes.JobOut = self._answer(
            Call(
                "POST",
                path_of("users", user_id, "sessions", session_id, "observe"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    def turn(
        self,
        user_id: str,
        session_id: str,
        body: shapes.TurnBody | None = None,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.TurnOut:
        """Append what was said, and answer with the next prompt or a recall, in one call."""
        answer: shapes.TurnOut = self._answer(
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

    def user_stats(self, user_id: str, *, days: int | None = None, timeout: float | None = None) -> shapes.StatsOut:
        """What is kept of one user, counted from the rows."""
        answer: shapes.StatsOut = self._answer(
            Call("GET", path_of("users", user_id, "stats"), query=self._given({"days": days})), timeout
        )
        return answer

    def create_user_token(
        self, user_id: str, body: shapes.CreateUserTokenBody, *, timeout: float | None = None
    ) -> shapes.TokenOut:
        """A token that is good for one user, for an hour at most."""
        answer: shapes.TokenOut = self._answer(Call("POST", path_of("users", user_id, "tokens"), body=body), timeout)
        return answer

    def call_correct(
        self,
        user_id: str,
        body: shapes.CorrectBody,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.CorrectOrMistake:
        """The tool correct, called by a language model."""
        answer: shapes.CorrectOrMistake = self._answer(
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

    def call_forget(
        self,
        user_id: str,
        body: shapes.ForgetToolBody,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.ForgetOrMistake:
        """The tool forget, called by a language model."""
        answer: shapes.ForgetOrMistake = self._answer(
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

    def call_read_document(
        self, user_id: str, body: shapes.ReadDocumentBody, *, timeout: float | None = None
    ) -> shapes.PageOrMistake:
        """The tool read_document, called by a language model."""
        answer: shapes.PageOrMistake = self._answer(
            Call("POST", path_of("users", user_id, "tools", "read_document"), body=body, span="search_memory"), timeout
        )
        return answer

    def call_recall_memory(
        self, user_id: str, body: shapes.RecallMemoryBody, *, timeout: float | None = None
    ) -> shapes.FoundOrMistake:
        """The tool recall_memory, called by a language model."""
        answer: shapes.FoundOrMistake = self._answer(
            Call("POST", path_of("users", user_id, "tools", "recall_memory"), body=body, span="search_memory"), timeout
        )
        return answer

    def call_remember(
        self,
        user_id: str,
        body: shapes.RememberBody,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.RememberOrMistake:
        """The tool remember, called by a language model."""
        answer: shapes.RememberOrMistake = self._answer(
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

    def call_search_conversation(
        self, user_id: str, body: shapes.SearchConversationBody, *, timeout: float | None = None
    ) -> shapes.FoundOrMistake:
        """The tool search_conversation, called by a language model."""
        answer: shapes.FoundOrMistake = self._answer(
            Call("POST", path_of("users", user_id, "tools", "search_conversation"), body=body, span="search_memory"),
            timeout,
        )
        return answer

    def call_search_knowledge(
        self, user_id: str, body: shapes.SearchKnowledgeBody, *, timeout: float | None = None
    ) -> shapes.KnowledgeOrMistake:
        """The tool search_knowledge, called by a language model."""
        answer: shapes.KnowledgeOrMistake = self._answer(
            Call("POST", path_of("users", user_id, "tools", "search_knowledge"), body=body, span="search_memory"),
            timeout,
        )
        return answer

    def create_upload(
        self, user_id: str, body: shapes.UploadBody, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> shapes.UploadOut:
        """A pre-signed target for one image or one long text."""
        answer: shapes.UploadOut = self._answer(
            Call(
                "POST",
                path_of("users", user_id, "uploads"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    def report_usage(
        self,
        user_id: str,
        body: shapes.ReportUsageBody,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.ReportedUsageOut:
        """What the tokens of a prompt were, as the model's answer says."""
        answer: shapes.ReportedUsageOut = self._answer(
            Call(
                "POST",
                path_of("users", user_id, "usage"),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    def list_webhooks(self, *, timeout: float | None = None) -> shapes.WebhooksOut:
        """The tenant's webhooks, by their ids; ten at most."""
        answer: shapes.WebhooksOut = self._answer(Call("GET", path_of("webhooks")), timeout)
        return answer

    def delete_webhook(
        self, webhook_id: str, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> None:
        """Delete a webhook. What waits for it is not sent."""
        self._answer(
            Call("DELETE", path_of("webhooks", webhook_id), headers=self._given({"Idempotency-Key": idempotency_key})),
            timeout,
        )

    def read_webhook(self, webhook_id: str, *, timeout: float | None = None) -> shapes.WebhookOut:
        """One webhook."""
        answer: shapes.WebhookOut = self._answer(Call("GET", path_of("webhooks", webhook_id)), timeout)
        return answer

    def put_webhook(
        self,
        webhook_id: str,
        body: shapes.WebhookBody,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> shapes.WebhookOut:
        """Have events sent to a URL, signed by the scheme of Standard Webhooks."""
        answer: shapes.WebhookOut = self._answer(
            Call(
                "PUT",
                path_of("webhooks", webhook_id),
                body=body,
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer

    def list_deliveries(self, webhook_id: str, *, timeout: float | None = None) -> shapes.DeliveriesOut:
        """Its last 200 attempts of the last 7 days, newest first."""
        answer: shapes.DeliveriesOut = self._answer(Call("GET", path_of("webhooks", webhook_id, "deliveries")), timeout)
        return answer

    def test_webhook(
        self, webhook_id: str, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> shapes.AttemptOut:
        """Send it an event of the type `webhook.test` now, and say what became of that."""
        answer: shapes.AttemptOut = self._answer(
            Call(
                "POST",
                path_of("webhooks", webhook_id, "test"),
                headers=self._given({"Idempotency-Key": idempotency_key}),
            ),
            timeout,
        )
        return answer
