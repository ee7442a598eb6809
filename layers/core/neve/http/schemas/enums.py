"""Defines every enum of the contract. The name of the alias is that of the component, and so of the type that a client
gets: one for each meaning, also where two have the same values."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypeAliasType

from neve.domain.messages import heard
from neve.domain.outgoing import event, webhook
from neve.domain.records import documents, memories, packs, retractions, sessions
from neve.domain.tenants import access_token

# memories
MemoryKind = TypeAliasType(
    "MemoryKind", Literal["observation", "reflection", "fact", "session_summary", "note", "manual"]
)
MemoryStatus = TypeAliasType("MemoryStatus", Literal["active", "resolved", "inbox", "superseded", "archived"])
MemoryStatusChange = TypeAliasType("MemoryStatusChange", Literal["active", "resolved", "archived"])
MemoryScope = TypeAliasType("MemoryScope", Literal["session", "global"])
Tier = TypeAliasType("Tier", Literal["semantic", "episodic"])
Priority = TypeAliasType("Priority", Literal["high", "medium", "low"])
Category = TypeAliasType("Category", memories.Category)
Trust = TypeAliasType("Trust", memories.Trust)
SaidBy = TypeAliasType("SaidBy", Literal["user_stated", "user_confirmed", "human_edit", "assistant", "tool"])
FactDecision = TypeAliasType("FactDecision", Literal["stored", "reinforced", "superseded", "inbox"])
FactRelation = TypeAliasType("FactRelation", memories.Relation)
WrittenBy = TypeAliasType("WrittenBy", memories.WrittenBy)
Plainness = TypeAliasType("Plainness", memories.Route)
ProposedBy = TypeAliasType("ProposedBy", memories.Via)
PiiFinding = TypeAliasType("PiiFinding", memories.Pii)
TimeOfDay = TypeAliasType("TimeOfDay", Literal["morning", "afternoon", "evening", "night"])
CopyPlace = TypeAliasType("CopyPlace", Literal["events", "summary", "document", "memory"])
CopyReason = TypeAliasType("CopyReason", Literal["same_words", "same_events"])

# documents and what waits
DocumentStatus = TypeAliasType("DocumentStatus", Literal["active", "resolved", "inbox", "archived"])
IncludePriority = TypeAliasType("IncludePriority", documents.IncludePriority)
FilingAction = TypeAliasType("FilingAction", Literal["create", "update", "append", "move"])
Certainty = TypeAliasType("Certainty", Literal["high", "medium", "low"])
InboxStatus = TypeAliasType("InboxStatus", Literal["inbox", "approved", "rejected"])

# sessions and their log
SessionStatus = TypeAliasType("SessionStatus", Literal["open", "closed", "extracted"])
UserStage = TypeAliasType("UserStage", Literal["NEW", "DEVELOPING", "COMFORTABLE", "TRUSTED"])
Outcome = TypeAliasType("Outcome", sessions.Outcome)
Audience = TypeAliasType("Audience", sessions.Audience)
BoundaryKind = TypeAliasType("BoundaryKind", Literal["task", "topic"])
UploadType = TypeAliasType("UploadType", Literal["image/png", "image/jpeg", "image/gif", "image/webp", "text/plain"])
EventImageType = TypeAliasType(
    "EventImageType", Literal["image/png", "image/jpeg", "image/gif", "image/webp", "image/*"]
)
ThinkingType = TypeAliasType("ThinkingType", Literal["thinking", "redacted_thinking", "reasoning"])
MessageFormat = TypeAliasType("MessageFormat", heard.Format)
MessageOutcome = TypeAliasType("MessageOutcome", Literal["appended", "known", "dropped"])
EventOrder = TypeAliasType("EventOrder", Literal["asc", "desc"])
Queued = TypeAliasType("Queued", Literal["queued", "none"])
Observation = TypeAliasType("Observation", Literal["queued", "waiting", "none"])
RetractReason = TypeAliasType("RetractReason", retractions.RetractReason)
CompactionReason = TypeAliasType("CompactionReason", Literal["tokens", "task", "topic", "end", "manual"])

# packs and prompts
PackState = TypeAliasType("PackState", Literal["ready", "partial", "unavailable", "preview"])
PackFormat = TypeAliasType("PackFormat", Literal["json", "text"])
PackLayer = TypeAliasType("PackLayer", Literal["always", "profile", "global", "local"])
Trigger = TypeAliasType("Trigger", packs.Trigger)
CollapseReason = TypeAliasType(
    "CollapseReason", Literal["pack_changed", "compacted", "ttl_expired", "prefix_changed", "unknown"]
)
PromptFormat = TypeAliasType("PromptFormat", Literal["anthropic", "openai", "openai_responses", "ai_sdk", "gemini"])
Retrieval = TypeAliasType("Retrieval", Literal["auto", "tools", "both", "none"])
ImagesShown = TypeAliasType("ImagesShown", Literal["all", "recent", "none"])
CacheTtl = TypeAliasType("CacheTtl", Literal["5m", "1h"])
BreakpointPlace = TypeAliasType("BreakpointPlace", Literal["static", "system", "previous", "history"])

# recall
RecallMode = TypeAliasType("RecallMode", Literal["prompt", "tool"])
RecallScope = TypeAliasType("RecallScope", Literal["all", "session", "global"])
Source = TypeAliasType("Source", Literal["memory", "document", "event"])
HitKind = TypeAliasType(
    "HitKind", Literal["observation", "reflection", "fact", "session_summary", "note", "manual", "document", "event"]
)
Leg = TypeAliasType("Leg", Literal["lexical", "vector"])
LegStatus = TypeAliasType("LegStatus", Literal["complete", "skipped", "error"])
EmbedCache = TypeAliasType("EmbedCache", Literal["hit", "miss"])
WhyNotSource = TypeAliasType("WhyNotSource", Literal["recall", "memory"])
ResultState = TypeAliasType("ResultState", Literal["found", "none", "not_searched"])

# jobs, keys, health
JobStatus = TypeAliasType("JobStatus", Literal["queued", "running", "done", "failed"])
JobStage = TypeAliasType("JobStage", Literal["analyse", "extract", "embed", "upsert", "ready"])
StageState = TypeAliasType("StageState", Literal["done", "running", "waiting", "failed"])
KeyScope = TypeAliasType("KeyScope", Literal["chat", "records", "admin", "documents", "tokens"])
UserTokenScope = TypeAliasType("UserTokenScope", access_token.UserScope)
TenantTokenScope = TypeAliasType("TenantTokenScope", access_token.TenantScope)
DeliveryOutcome = TypeAliasType("DeliveryOutcome", webhook.Outcome)
DeliveryFailure = TypeAliasType("DeliveryFailure", webhook.Failure)
WebhookText = TypeAliasType("WebhookText", Literal["text"])
OutgoingType = TypeAliasType("OutgoingType", event.OutgoingType)
HealthStatus = TypeAliasType("HealthStatus", Literal["ok", "loading", "degraded"])
StoreState = TypeAliasType("StoreState", Literal["ready", "unavailable"])
EmbedderState = TypeAliasType("EmbedderState", Literal["ready", "loading", "unavailable", "off"])
TroubleKind = TypeAliasType("TroubleKind", Literal["failing", "full", "damaged", "language"])
