"""Puts together every key and index of the table, and reads from one what it holds: nowhere else is a key put together
or taken apart. ``Keys`` is built only from a verified tenant, so that no use case can name a row of another tenant. Ids
cannot hold ``#``, ``/`` or ``~`` (docs/rules/http.md#ids), which makes the joins below unambiguous."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from neve.domain.ids import is_own_memory_id, ulid_time
from neve.domain.pack.rank import RANK_UNITS
from neve.ports.search import Owner
from neve.ports.table import Item, Key

TENANTS = "TENANTS"

# What the sort keys of each kind of row start with. None of them begins another.
SESSION = "SES#"
SESSION_STATE = "SESS#"
ARCHIVED = "SESA#"
MEMORY = "MEM#"
DELETED_MEMORY = "MEMD#"
MEMORY_PLACE = "MEMT#"
PACK = "PACK#"
EVENT = "EVT#"
CLIENT_ID = "CID#"
THINKING = "THK#"
MESSAGES = "MSG#"
RETRACTION = "RET#"
RECALL = "RCL#"
PROMPT = "PRM#"
PROMPT_ID = "prm_"
SUMMARY = "SUM#"
STAND_IN = "SUMX#"
DOCUMENT = "DOC#"
DOCUMENT_REV = "DOCV#"
DOCUMENT_PLACE = "DOCI#"
DOCUMENT_SOURCE = "DOCS#"
DELETED_DOCUMENT = "DOCD#"
ANNOUNCED_TEXT = "DOCT#"
SESSION_PROMPTS = "SESU#"
PROMPTS_DAY = "PROMPTD#"
FINGERPRINT = "FP#"
FILING = "SESF#"
PROPOSAL = "PRP#"
OPEN_SESSION = "SESO#"
LEAVING = "LVG#"
PIN = "PIN#"
JOB_LIST = "JOBL#"
WAITING_EVENT = "WHKE#"
PASSAGE_DELTA = "D#"

_BEFORE_EVERY_SIGN, _BEHIND_EVERY_SIGN = "\x1f", "\U0010ffff"
"""Sort before and behind every sign of an id, a path, a time and a key: no id and no path holds a control character or
the last code point, which is none."""
_BEFORE_EVERY_ULID = "0"
_DOCUMENT_ID = "doc_"
_OWN_ID, _FOREIGN_ID = "mem_", "."
"""A memory's own id is kept without the first; before one that came with an import stands the second, which is in no id
and sorts before every ULID."""
_NO_VECTORS, NO_WORDS = "V#", "W#"
UNHELD = f"{NO_WORDS}!"
"""Sorts behind all that lack their vectors, and before all that lack their words: with these it is one read."""
LACK_WORDS = (f"{NO_WORDS}0", f"{NO_WORDS}{_BEHIND_EVERY_SIGN}")
"""Bounds, in the index ``recent``, of what lacks its words."""
_EPOCH, _MARKER, _INDEXED = "E", "M", "X"
_BASE = "OBJECT"
_PACKS_OF, _PACK_FILE = "s.", ".json"
_ASIDE = "aside/"
_RANK_TOP, _RANK_DIGITS = 10**16, 17
_FEED_DIGITS = 16
LAST_SEQ = 9_999_999_999
DUE_SHARDS = 8
UPLOADS = "uploads/"
"""Objects under it expire after a day (infra/data.yaml)."""
EXPORTS = "exports/"
"""Objects under it expire after a week (infra/data.yaml)."""
LEGS = ("lexical", "vector", "rerank")


def embedder_health(tag: str) -> Key:
    """Name the row about the embedder whose model has this tag."""
    return Key("HEALTH", f"EMBEDDER#{tag}")


def leg_health(leg: str) -> Key:
    """Give the key of the row that holds what the functions that recall last said of a leg that fails again and
    again."""
    return Key("HEALTH", f"LEG#{leg}")


SEARCH_MODEL = Key("SEARCH", "MODEL")
"""The key of the row that says whose vectors the search engine ``segments`` holds."""

SIGNING_SECRETS = Key("KEY#SIGNING", "SECRETS")
"""The key of the row of the secrets that sign access tokens: where the authorizer may read, and no API key is."""


def tenant_row(tenant: str) -> Key:
    return Key(TENANTS, tenant)


def api_key_row(key_id: str) -> Key:
    return Key(f"KEY#{key_id}", "KEY")


NOBODY = ""
"""The user of work on a whole tenant: there is no row of theirs, and no caller can name them."""


def due_partition(kind: str, shard: int) -> str:
    """Name a partition of the index ``due``. ``kind``: embed | failed | rebuild | replace | idle | text | job | leave |
    deliver, and behind, whose sort keys are ``behind_key``."""
    return f"DUE#{kind}#{shard}"


def due_partitions(kind: str, first: int = 0) -> list[str]:
    """Name all partitions of a kind of work, the shard ``first`` before the others."""
    return [due_partition(kind, (first + shard) % DUE_SHARDS) for shard in range(DUE_SHARDS)]


def due_shard(keys: UserKeys) -> int:
    """Give the number of the shard of the ``due`` index that holds a user's due work."""
    return int.from_bytes(sha256(f"{keys.tenant}/{keys.user}".encode()).digest()[:2]) % DUE_SHARDS


# --- sort keys of the indexes ---------------------------------------------------------------------


def due_key(bucket: str, keys: UserKeys, identifier: str) -> str:
    """Make a sort key of the index ``due``. ``bucket``: the start of ten minutes, ``2026-03-10T09:30``."""
    return f"{bucket}#{keys.tenant}/{keys.user}/{identifier}"


def due_bucket(sort_key: str) -> str:
    """Give the bucket of a ``due_key``."""
    return sort_key.partition("#")[0]


def due_until(bucket: str | None) -> tuple[str, str]:
    """Give the bounds of every ``due_key`` up to a bucket, that one included; None for all of them."""
    return "0", _BEHIND_EVERY_SIGN if bucket is None else f"{bucket}#{_BEHIND_EVERY_SIGN}"


def behind_key(keys: SessionKeys) -> str:
    """Make the key in the index ``due`` of a session whose log is ahead of index, vectors or marker."""
    return f"{behind_prefix(keys)}{keys.session}"


def behind_prefix(keys: UserKeys) -> str:
    """Give the start of all ``behind_key`` of a user."""
    return f"{keys.tenant}/{keys.user}/"


def behind_prefix_of_tenant(tenant: str) -> str:
    """Give the start of all ``behind_key`` of a tenant's users."""
    return f"{tenant}/"


def reflect_due_key(since: str, keys: UserKeys) -> str:
    """Make the key in the index ``due`` of a user whose rows are worth a run from the one that was created at ``since``
    on."""
    return f"{since}#{keys.user}"


def reflect_due_until(created_at: str) -> tuple[str, str]:
    """Give the bounds of every ``reflect_due_key`` up to a stored time, that one included."""
    return "0", f"{created_at}#{_BEHIND_EVERY_SIGN}"


def archive_key(since: str, keys: SessionKeys) -> str:
    """Make the key in the index ``due`` of a session whose oldest archived event is of a stored time."""
    return f"{since}#{keys.user}/{keys.session}"


def archives_until(created_at: str) -> tuple[str, str]:
    """Give the bounds of every ``archive_key`` before a stored time."""
    return "0", created_at


def recent_key(memory_id: str, *, rev_at: str, words_at: str | None) -> str:
    """Make the key in the index ``recent`` of a memory that lacks its words in the search index, by the time of its
    rev, behind all those that lack their vectors only, by the time of their words."""
    return f"{NO_WORDS}{rev_at}#{memory_id}" if words_at is None else f"{_NO_VECTORS}{words_at}#{memory_id}"


def unheld_key(memory_id: str, since: str) -> str:
    """Make the key in the index ``recent`` of a fact that does not hold, by the time since when, whatever the search
    index has of it."""
    return f"{UNHELD}{since}#{memory_id}"


def is_unheld_key(recent_key: str) -> bool:
    return recent_key.startswith(UNHELD)


def inbox_key(created_at: str, identifier: str) -> str:
    """Make the key in the index ``rank``, partition ``inbox``, of what waits for a decision, oldest first."""
    return f"{created_at}#{identifier}"


def rank_key(rank: float, identifier: str) -> str:
    """Make a key of the index ``rank``: its ascending order is descending rank, then ascending id: 17 digits, ``#``,
    the id."""
    return f"{_RANK_TOP - round(rank * RANK_UNITS):0{_RANK_DIGITS}d}#{identifier}"


# --- what a key says ------------------------------------------------------------------------------


def seq_of(event: Key) -> int:
    """Read the seq from an event's row. Raises ValueError for another row."""
    return int(_rest(event.sk, EVENT))


def client_id_of(row: Key) -> str:
    """Read the client's id of an event from its row. Raises ValueError for another row."""
    return _rest(row.sk, CLIENT_ID)


def session_of(row: Key) -> str | None:
    """Read the id from a session's own row; None for every other row of a user."""
    return row.sk.removeprefix(SESSION) if row.sk.startswith(SESSION) else None


def path_of(head: Key) -> str:
    """Read the path from a document's head. Raises ValueError for another row."""
    return _rest(head.sk, DOCUMENT)


def named_in_key(row: Key) -> UserKeys:
    """Read the tenant and the user from the partition of a tenant's row; ``NOBODY`` where it is no user's. Raises
    ValueError for another row."""
    start, tenant, *rest = row.pk.split("#")
    if start != "T":
        raise ValueError(f"{row.pk} is no tenant's partition")
    return UserKeys(tenant, rest[1] if rest[:1] == ["U"] else NOBODY)


def feed_number(row: Key) -> int:
    """Read the number from a row of the feed. Raises ValueError for another row."""
    return int(row.sk)


def is_session_state(row: Key) -> bool:
    """Say whether a row is one of those below ``SessionKeys.state``."""
    return row.sk.startswith(SESSION_STATE)


def is_head(row: Key) -> bool:
    """Say whether a row says what there is of a user, a session, a tenant or an API key."""
    return row.sk in ("HEAD", "KEY") or row.sk.startswith(SESSION) or row.pk == TENANTS or is_session_state(row)


def is_proposal(identifier: str) -> bool:
    """Say whether an id is a proposal's, which says what a librarian would do to a document, and not a memory's."""
    return identifier.startswith("prp_")


def is_memory_key(sort_key: str) -> bool:
    return sort_key.startswith(MEMORY)


def is_summary_key(sort_key: str) -> bool:
    """Say whether a sort key is a compaction's summary, and not a stand-in for one."""
    return sort_key.startswith(SUMMARY)


def own_memory_at(place: str) -> str:
    """Give the sort key that a ``memory_place`` is of, for a cursor: there need not be such a row."""
    return f"{MEMORY}{place}"


def memory_place(row: Key) -> str:
    """Give the place of a memory's row (of an id of our own, or the ``memory_at`` of a foreign one) in the order of
    time among a user's memories. Raises ValueError for another row."""
    return _rest(row.sk, MEMORY_PLACE if row.sk.startswith(MEMORY_PLACE) else MEMORY)


def deleted_memory_id(row: Key) -> str:
    """Read the id of a memory that was deleted. Raises ValueError for another row."""
    rest = _rest(row.sk, DELETED_MEMORY)
    return rest.removeprefix(_FOREIGN_ID) if rest.startswith(_FOREIGN_ID) else _OWN_ID + rest


def deleted_document_id(row: Key) -> str:
    """Read the id of a document that was deleted. Raises ValueError for another row."""
    return f"{_DOCUMENT_ID}{_rest(row.sk, DELETED_DOCUMENT)}"


def image_name(object_key: str) -> str:
    """Read the last part of an ``image_object``."""
    return object_key.rpartition("/")[2]


def images_aside(image: str) -> str:
    """Give the prefix of what is laid aside of the images of the user whose ``image_object`` it is."""
    return f"{image.rpartition('/')[0]}/{_ASIDE}"


def pack_version_of(object_key: str) -> int:
    """Read the version from a ``pack_object``. Raises ValueError for another object."""
    return int(object_key.rpartition("/")[2].removesuffix(_PACK_FILE))


def pack_session_of(object_key: str) -> str:
    """Read the session from a ``pack_object``."""
    return object_key.rsplit("/", 2)[1].removeprefix(_PACKS_OF)


def passage_delta_id(row: Key) -> str:
    """Read the id from the row of a delta. Raises ValueError for another row."""
    return _rest(row.sk, PASSAGE_DELTA)


def base_of(segment_object: str) -> str:
    """Read the id of the base from a ``segment_object``."""
    return segment_object.rpartition("/")[2].partition(".")[0]


def job_of_export(object_key: str) -> str:
    """Read the job from an ``export_object``."""
    return object_key.rsplit("/", 2)[1]


def _id_in_key(memory_id: str) -> str:
    return memory_id.removeprefix(_OWN_ID) if is_own_memory_id(memory_id) else _FOREIGN_ID + memory_id


def _rest(sort_key: str, prefix: str) -> str:
    if not sort_key.startswith(prefix):
        raise ValueError(f"{sort_key} does not start with {prefix}")
    return sort_key.removeprefix(prefix)


# --- the rows -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Keys:
    """The rows of one tenant."""

    tenant: str

    def of_user(self, user: str) -> UserKeys:
        return UserKeys(self.tenant, user)

    # partitions
    @property
    def jobs(self) -> str:
        return f"T#{self.tenant}#JOB"

    @staticmethod
    def jobs_behind(sort_key: str) -> tuple[str, str]:
        """Give the bounds of the sort keys of the jobs behind one, in the order of their keys, which is not that of
        time; behind an empty one all of them."""
        return f"{sort_key}{_BEFORE_EVERY_SIGN}", _BEHIND_EVERY_SIGN

    @property
    def answers(self) -> str:
        """Give the partition of the answers to idempotency keys."""
        return f"T#{self.tenant}#IDEM"

    @property
    def secrets(self) -> str:
        return f"T#{self.tenant}#SECRET"

    @property
    def users(self) -> str:
        """Name the partition of the index ``recent`` with the heads of the tenant's users, by their ids."""
        return f"T#{self.tenant}#USERS"

    @staticmethod
    def users_behind(user: str) -> tuple[str, str]:
        """Give the bounds of the users behind one, in the order of their ids; behind an empty one all of them."""
        return f"{user}{_BEFORE_EVERY_SIGN}", _BEHIND_EVERY_SIGN

    @property
    def api_keys(self) -> str:
        """Name the partition of the index ``recent`` with the tenant's API keys, revoked ones included, by key id."""
        return f"T#{self.tenant}#KEYS"

    @staticmethod
    def api_keys_behind(key_id: str) -> tuple[str, str]:
        """Give the bounds of the API keys behind one; behind an empty one all of them."""
        return f"{key_id}{_BEFORE_EVERY_SIGN}", _BEHIND_EVERY_SIGN

    @property
    def usages(self) -> str:
        """Name the partition of the index ``due`` with the usage rows of the tenant's users."""
        return f"T#{self.tenant}#USAGE"

    @property
    def prompts(self) -> str:
        """Name the partition of the index ``due`` with what the prompts of each of the tenant's users have cost."""
        return f"T#{self.tenant}#PROMPTS"

    def prompts_of(self, day: str) -> str:
        """Name the partition of the index ``due`` with what the prompts of each of the tenant's users have cost on one
        day, ``2026-03-10``."""
        return f"{self.prompts}#{day}"

    @property
    def reflect_dues(self) -> str:
        """Name the partition of the index ``due`` with the tenant's users whose rows a night may condense, by
        ``reflect_due_key``."""
        return f"T#{self.tenant}#REFLECT"

    @property
    def archives(self) -> str:
        """Name the partition of the index ``due`` with the sessions of the tenant that hold archived events, by
        ``archive_key``."""
        return f"T#{self.tenant}#ARCHIVE"

    @property
    def job_parts(self) -> str:
        """Give the partition of the results of jobs that are done in parts."""
        return f"T#{self.tenant}#JOBPART"

    @property
    def feed(self) -> str:
        """Give the partition of the tenant's outgoing events, in the order in which they can be read."""
        return f"T#{self.tenant}#FEED"

    @staticmethod
    def feed_from(number: int) -> tuple[str, str]:
        """Give the bounds of the sort keys of the feed's rows from a number on."""
        return f"{number:0{_FEED_DIGITS}d}", _BEHIND_EVERY_SIGN

    def deliveries(self, webhook: str) -> str:
        """Give the partition of the log of a webhook's deliveries, oldest first."""
        return f"T#{self.tenant}#WHKLOG#{webhook}"

    @staticmethod
    def deliveries_since(ulid_time: str) -> tuple[str, str]:
        """Give the bounds of the sort keys of the deliveries from a time on, given as the first 10 characters of a
        ULID."""
        return ulid_time, _BEHIND_EVERY_SIGN

    # rows
    @property
    def webhooks(self) -> Key:
        """Give the key of the row of all webhooks of the tenant: the outbox reads it with what it reads anyway."""
        return Key(f"T#{self.tenant}#WHK", "ALL")

    def webhook_rest(self, webhook: str) -> Key:
        """Give the key of the row that says until when nobody asks a webhook's receiver."""
        return Key(f"T#{self.tenant}#WHK", f"REST#{webhook}")

    def delivery(self, webhook: str, ulid: str) -> Key:
        return Key(self.deliveries(webhook), ulid)

    def feed_row(self, number: int) -> Key:
        return Key(self.feed, f"{number:0{_FEED_DIGITS}d}")

    @property
    def ledger_secret(self) -> Key:
        """Give the key of the row with the secret that keys the hashes of queries in the tenant's recall ledger."""
        return Key(self.secrets, "LEDGER")

    def idempotency(self, route: str, key: str) -> Key:
        return Key(self.answers, f"{route}#{key}")

    def job(self, job_id: str) -> Key:
        return Key(self.jobs, job_id.removeprefix("job_"))

    def job_part(self, job_id: str, number: int) -> Key:
        return Key(self.job_parts, f"{job_id.removeprefix('job_')}#{number}")


@dataclass(frozen=True, slots=True)
class UserKeys(Keys):
    """The rows of one user of a tenant, besides the tenant's own."""

    user: str

    def of_session(self, session: str) -> SessionKeys:
        return SessionKeys(self.tenant, self.user, session)

    @property
    def owner(self) -> Owner:
        """Give the owner that the user's passages have in the search index."""
        return Owner(self.tenant, self.user)

    # partitions
    @property
    def partition(self) -> str:
        return f"T#{self.tenant}#U#{self.user}"

    @property
    def ledger(self) -> str:
        return f"{self.partition}#R"

    @property
    def vectors(self) -> str:
        return f"{self.partition}#V"

    @property
    def passages(self) -> str:
        """Give the partition of the rows of the search engine ``segments``."""
        return f"{self.partition}#X"

    @property
    def passage_base(self) -> Key:
        """Give the key of the row that names the object with the user's passages."""
        return Key(self.passages, _BASE)

    @staticmethod
    def passages_since(ulid: str) -> tuple[str, str]:
        """Give the bounds of the deltas from an id, or the start of one, on, and of the base, which is behind all of
        them: whoever reads in this order finds each delta, or a base that has absorbed it."""
        return f"{PASSAGE_DELTA}{ulid}", _BASE

    def passage_delta(self, ulid: str) -> Key:
        """Give the key of the row of one write behind that object; they sort by their ids."""
        return Key(self.passages, f"{PASSAGE_DELTA}{ulid}")

    @property
    def inbox(self) -> str:
        """Name the partition of the index ``rank`` with what waits for a person's decision, by ``inbox_key``."""
        return f"{self.partition}#INBOX"

    # rows
    @property
    def head(self) -> Key:
        return Key(self.partition, "HEAD")

    @property
    def newest_session(self) -> Key:
        """Give the key of the row that names the session which was opened last."""
        return Key(self.partition, "NEWEST")

    @property
    def usage(self) -> Key:
        """Give the key of the counters of what the user's memory has cost."""
        return Key(self.partition, "USAGE")

    @property
    def user_prompts(self) -> Key:
        """Give the key of the counters of what the user's prompts have cost, as far as it was reported."""
        return Key(self.partition, "PROMPTS")

    def prompts_on(self, day: str) -> Key:
        """Give the key of the counters of what the user's prompts of one day, ``2026-03-10``, have cost."""
        return Key(self.partition, f"{PROMPTS_DAY}{day}")

    @staticmethod
    def prompts_between(first: str, last: str) -> tuple[str, str]:
        """Give the bounds of the sort keys of these days, both included."""
        return f"{PROMPTS_DAY}{first}", f"{PROMPTS_DAY}{last}"

    @staticmethod
    def day_of(sort_key: str) -> str:
        """Read the day from the sort key of a ``prompts_on`` row. Raises ValueError for another row."""
        return _rest(sort_key, PROMPTS_DAY)

    @property
    def reflect_due(self) -> Key:
        """Give the key of the row that says that a night may condense rows of the user, and which worker is at it."""
        return Key(self.partition, "REFLECT")

    def memory(self, memory_id: str) -> Key:
        """Give the key of a memory. Ids of our own are in their order, which is that of time, behind all those that
        came with an import."""
        return Key(self.partition, MEMORY + _id_in_key(memory_id))

    def memory_at(self, created_at: datetime, memory_id: str) -> Key:
        """Give the key of the row that puts a memory whose id is not ours in the order of time."""
        return Key(self.partition, f"{MEMORY_PLACE}{ulid_time(created_at)}#{memory_id}")

    @staticmethod
    def own_behind(place: str | None) -> tuple[str, str]:
        """Give the bounds of the memories of our own ids behind a ``memory_place``; None for all of them."""
        first = MEMORY + (_BEFORE_EVERY_ULID if place is None else place + _BEFORE_EVERY_SIGN)
        return first, f"{MEMORY}{_BEHIND_EVERY_SIGN}"

    @staticmethod
    def foreign_behind(place: str | None) -> tuple[str, str]:
        """Give the bounds of the ``memory_at`` behind a ``memory_place``; None for all of them."""
        first = MEMORY_PLACE + ("" if place is None else place + _BEFORE_EVERY_SIGN)
        return first, f"{MEMORY_PLACE}{_BEHIND_EVERY_SIGN}"

    @staticmethod
    def memories_behind(sort_key: str | None) -> tuple[str, str]:
        """Give the bounds of the sort keys of the memories behind one, in the order of their keys; None for all of
        them."""
        first = MEMORY if sort_key is None else f"{sort_key}{_BEFORE_EVERY_SIGN}"
        return first, f"{MEMORY}{_BEHIND_EVERY_SIGN}"

    @staticmethod
    def proposals_behind(sort_key: str | None) -> tuple[str, str]:
        """Give the bounds of the sort keys of the proposals behind one, oldest first; None for all of them."""
        first = PROPOSAL if sort_key is None else f"{sort_key}{_BEFORE_EVERY_SIGN}"
        return first, f"{PROPOSAL}{_BEHIND_EVERY_SIGN}"

    @staticmethod
    def packs_behind(sort_key: str) -> tuple[str, str]:
        """Give the bounds of the sort keys of the pack manifests behind one, of all sessions; behind an empty one of
        all."""
        return f"{sort_key}{_BEFORE_EVERY_SIGN}" if sort_key else PACK, f"{PACK}{_BEHIND_EVERY_SIGN}"

    @staticmethod
    def sessions_behind(session: str | None) -> tuple[str, str]:
        """Give the bounds of the sort keys of the sessions behind one, in the order of their ids; None for all of
        them."""
        first = SESSION if session is None else f"{SESSION}{session}{_BEFORE_EVERY_SIGN}"
        return first, f"{SESSION}{_BEHIND_EVERY_SIGN}"

    @staticmethod
    def memories_since(ulid_time: str) -> tuple[str, str]:
        """Give the bounds of the sort keys of the memories created from a time on, given as the first 10 characters of
        a ULID; those whose ids are not ours are not among them."""
        return f"{MEMORY}{ulid_time}", f"{MEMORY}{_BEHIND_EVERY_SIGN}"

    @staticmethod
    def memories_between(first: str, last: str) -> tuple[str, str]:
        """Give the bounds of the sort keys of the memories of our own ids that were created then, both milliseconds
        included, given as ``memories_since``."""
        return f"{MEMORY}{first}", f"{MEMORY}{last}{_BEHIND_EVERY_SIGN}"

    def memories_from(self, own_id: str, ulid_time: str) -> tuple[str, str]:
        """Give the bounds of the sort keys of the memories from one of our own ids to the end of a millisecond, both
        included; of that one alone when it is younger."""
        first = self.memory(own_id).sk
        return first, max(first, f"{MEMORY}{ulid_time}{_BEHIND_EVERY_SIGN}")

    @staticmethod
    def deleted_since(ulid_time: str) -> tuple[str, str]:
        """Give the bounds of the sort keys of what is left of deleted memories, from a time on, as in
        ``memories_since``."""
        return f"{DELETED_MEMORY}{ulid_time}", f"{DELETED_MEMORY}{_BEHIND_EVERY_SIGN}"

    def deleted_memory(self, memory_id: str) -> Key:
        """Give the key of the last rev of a memory that was deleted."""
        return Key(self.partition, DELETED_MEMORY + _id_in_key(memory_id))

    def place(self, sha256: str) -> Key:
        """Give the key of the row that names the fact of a statement, by a hash of what that says."""
        return Key(self.partition, f"{FINGERPRINT}{sha256}")

    @staticmethod
    def inbox_behind(inbox_key: str) -> tuple[str, str]:
        """Give the bounds of what is in the inbox behind an ``inbox_key``; behind an empty one all of it."""
        return f"{inbox_key}{_BEFORE_EVERY_SIGN}", _BEHIND_EVERY_SIGN

    def proposal(self, proposal_id: str) -> Key:
        """Give the key of a proposal: what a librarian would do to a document, and a person decides on."""
        return Key(self.partition, f"{PROPOSAL}{proposal_id.removeprefix('prp_')}")

    def document(self, path: str) -> Key:
        """Give the key of the head: what there is under a path now, without its text."""
        return Key(self.partition, f"{DOCUMENT}{path}")

    @staticmethod
    def documents_below(prefix: str, after: str | None) -> tuple[str, str]:
        """Give the bounds of the sort keys of the heads whose path begins with ``prefix``, behind the path
        ``after``."""
        first = prefix if after is None else f"{after}{_BEFORE_EVERY_SIGN}"
        return f"{DOCUMENT}{first}", f"{DOCUMENT}{prefix}{_BEHIND_EVERY_SIGN}"

    def document_place(self, document_id: str) -> Key:
        """Give the key of the row that says at which path a document is now, and at which rev."""
        return Key(self.partition, f"{DOCUMENT_PLACE}{document_id.removeprefix(_DOCUMENT_ID)}")

    def document_revs(self, document_id: str) -> str:
        """Give the start of the sort keys of a document's revisions, the one in force among them."""
        return f"{DOCUMENT_REV}{document_id.removeprefix(_DOCUMENT_ID)}#"

    def document_rev(self, document_id: str, rev: int) -> Key:
        return Key(self.partition, f"{self.document_revs(document_id)}{rev:010d}")

    def announced_text(self, document_id: str) -> Key:
        """Give the key of the row that announces a new document whose text is about to be written as an object."""
        return Key(self.partition, f"{ANNOUNCED_TEXT}{document_id.removeprefix(_DOCUMENT_ID)}")

    def deleted_document(self, document_id: str) -> Key:
        """Give the key of the last rev of a document that was deleted."""
        return Key(self.partition, f"{DELETED_DOCUMENT}{document_id.removeprefix(_DOCUMENT_ID)}")

    def leaving(self, kind: str, identifier: str, rev: int) -> Key:
        """Give the key of the row by which the search index is told of a deletion. ``kind``: memory | document;
        ``rev``: the last one. A removal is of the revs up to one, and a deleted memory or document may come back and be
        deleted again."""
        return Key(self.partition, f"{LEAVING}{kind}#{identifier}#{rev:010d}")

    def document_source(self, source_type: str, source_id: str) -> Key:
        """Give the key of the row that names the document which holds what an outside system calls by that id."""
        named = sha256(f"{source_type}\n{source_id}".encode()).hexdigest()
        return Key(self.partition, f"{DOCUMENT_SOURCE}{named}")

    @property
    def pins(self) -> str:
        """Give the start of the sort keys of the documents that stand in every pack."""
        return PIN

    def pin(self, place: int, order: int, path: str) -> Key:
        """Give the key of a document's pin; keys are in the order of the pack: by place, then by the order in it, then
        by path."""
        return Key(self.partition, f"{PIN}{place}#{order:010d}#{path}")

    @staticmethod
    def waiting_events(webhook: str) -> str:
        """Give the start of the sort keys of the user's events that a webhook is still to be sent, in their order."""
        return f"{WAITING_EVENT}{webhook}#"

    def waiting_event(self, webhook: str, number: int, at: int, event_id: str) -> Key:
        """Give the key of one of them: ``at`` in the row ``number`` of the feed."""
        place = f"{number:0{_FEED_DIGITS}d}#{at:04d}"
        return Key(self.partition, f"{self.waiting_events(webhook)}{place}#{event_id}")

    def job_list(self, job_id: str, name: str, part: str) -> Key:
        """Give the key of a part of a list of one of the user's jobs that is too long for the job's row."""
        return Key(self.partition, f"{JOB_LIST}{job_id.removeprefix('job_')}#{name}#{part}")

    def recall(self, recall_id: str) -> Key:
        return Key(self.ledger, f"{RECALL}{recall_id.removeprefix('rcl_')}")

    def prompt(self, prompt_id: str) -> Key:
        """Give the key of a compiled prompt, beside the recalls. An id begins with a hash of its session, so that the
        newest of one is found."""
        return Key(self.ledger, f"{PROMPT}{prompt_id.removeprefix(PROMPT_ID)}")

    def vector(self, fingerprint: str, model: str) -> Key:
        """Give the key of a text's vector. Keys start with the text's fingerprint, whatever the model."""
        return Key(self.vectors, f"{fingerprint}#{model}")

    def answers_below(self, method: str, path: str) -> str:
        """Give the start of the sort keys of the answers to calls of one path below the user, and below that path."""
        return f"{method} /v1/users/{self.user}/{path}"

    # objects
    @property
    def documents_prefix(self) -> str:
        return f"documents/{self.tenant}/{self.user}/"

    def document_objects(self, document_id: str) -> str:
        """Give the start of the names of a document's texts that are too long for a row."""
        return f"{self.documents_prefix}{document_id.removeprefix(_DOCUMENT_ID)}/"

    @property
    def packs_prefix(self) -> str:
        return f"packs/{self.tenant}/{self.user}/"

    @property
    def exports_prefix(self) -> str:
        return f"{EXPORTS}{self.tenant}/{self.user}/"

    def export_objects(self, job_id: str) -> str:
        """Give the start of the names of the parts of one export."""
        return f"{self.exports_prefix}{job_id}/"

    def export_object(self, job_id: str, part: int) -> str:
        return f"{self.export_objects(job_id)}{part:04d}.jsonl"

    @property
    def objects(self) -> dict[str, str]:
        """Give the start of the names of all objects of the user, by what the objects are."""
        return {
            "packs": self.packs_prefix,
            "document_texts": self.documents_prefix,
            "images": self.images_prefix,
            "uploads": self.uploads_prefix,
            "exports": self.exports_prefix,
            "segments": self.segments_prefix,
        }

    @property
    def segments_prefix(self) -> str:
        """Give the start of the names of the objects of the search engine ``segments``: it tells nobody who it is."""
        return f"segments/{sha256(f'{self.tenant}/{self.user}'.encode()).hexdigest()}/"

    def segment_object(self, base: str, piece: int) -> str:
        return f"{self.segments_prefix}{base}.{piece}"

    @property
    def images_prefix(self) -> str:
        return f"images/{self.tenant}/{self.user}/"

    def image_object(self, name: str) -> str:
        return f"{self.images_prefix}{name}"

    def image_aside(self, image: str, token: str) -> str:
        """Name the copy of an ``image_object``, while it is removed."""
        return f"{images_aside(image)}{token}/{image_name(image)}"

    @property
    def uploads_prefix(self) -> str:
        return f"{UPLOADS}{self.tenant}/{self.user}/"

    def upload_object(self, name: str) -> str:
        """Name the object of an upload that no event has named yet."""
        return f"{self.uploads_prefix}{name}"

    def sent_as(self, image: str) -> str:
        """Name the object that an image was uploaded to, if it was: it stays there for a day after an event has named
        it."""
        return self.upload_object(image.removeprefix(self.images_prefix))


@dataclass(frozen=True, slots=True)
class SessionKeys(UserKeys):
    """The rows of one session of a user, besides the user's own."""

    session: str

    # partitions
    @property
    def log(self) -> str:
        return f"{self.partition}#S#{self.session}"

    def prompt_id(self, last_seq: int, ulid: str) -> str:
        """Make the id of a prompt; ids are in the order of the log that was shown, and then of time: two processes may
        disagree about the time."""
        return f"{PROMPT_ID}{self._hash}{last_seq:08x}{ulid}"

    @property
    def prompts_of_session(self) -> str:
        """Give the start of the sort keys of the session's compiled prompts, in the ledger."""
        return f"{PROMPT}{self._hash}"

    @property
    def _hash(self) -> str:
        return sha256(self.session.encode()).hexdigest()[:16]

    # rows
    @property
    def session_head(self) -> Key:
        return Key(self.partition, f"{SESSION}{self.session}")

    @property
    def state(self) -> str:
        """Give the start of the sort keys of the session's epoch, marker and indexed rows, and of no others."""
        return f"{SESSION_STATE}{self.session}#"

    @property
    def marker(self) -> Key:
        return Key(self.partition, f"{self.state}{_MARKER}")

    @property
    def epoch(self) -> Key:
        return Key(self.partition, f"{self.state}{_EPOCH}")

    @property
    def indexed(self) -> Key:
        """Give the key of the row that says how far the session's utterances are in the search index."""
        return Key(self.partition, f"{self.state}{_INDEXED}")

    @property
    def filing(self) -> Key:
        """Give the key of the row that says how far the librarian has read the session, and what it made of it."""
        return Key(self.partition, f"{FILING}{self.session}")

    @property
    def open_session(self) -> Key:
        """Give the key of the row that says when the sweep has to look whether the session is idle."""
        return Key(self.partition, f"{OPEN_SESSION}{self.session}")

    @property
    def archived(self) -> Key:
        """Give the key of the row that says since when the session holds archived events."""
        return Key(self.partition, f"{ARCHIVED}{self.session}")

    @property
    def session_prompts(self) -> Key:
        """Give the key of the row of what was reported of the session's prompts."""
        return Key(self.partition, f"{SESSION_PROMPTS}{self.session}")

    def event(self, seq: int) -> Key:
        return Key(self.log, f"{EVENT}{seq:010d}")

    def events(self, first: int, last: int = LAST_SEQ) -> tuple[str, str]:
        """Give the bounds of the sort keys of the events ``first`` to ``last``, both included."""
        return self.event(first).sk, self.event(last).sk

    def thinking(self, seq: int) -> Key:
        """Give the key of what the model thought at an event of the open turn."""
        return Key(self.log, f"{THINKING}{seq}")

    def messages(self, part: str) -> Key:
        """Give the key of the row of the messages that the session has seen and whose digests begin with ``part``."""
        return Key(self.log, f"{MESSAGES}{part}")

    def client_id(self, client_id: str) -> Key:
        return Key(self.log, f"{CLIENT_ID}{client_id}")

    def retraction(self, retraction_id: str) -> Key:
        return Key(self.log, f"{RETRACTION}{retraction_id.removeprefix('ret_')}")

    @property
    def packs(self) -> str:
        """Give the start of the sort keys of the session's pack manifests."""
        return f"{PACK}s.{self.session}#"

    def pack(self, version: int) -> Key:
        return Key(self.partition, f"{self.packs}{version:08d}")

    def summary(self, epoch: int) -> Key:
        """Give the key of the summary of what is covered since an epoch."""
        return Key(self.partition, f"{SUMMARY}{self.session}#{epoch:08d}")

    @property
    def summaries(self) -> tuple[str, str]:
        """Give the starts of the sort keys of the session's summaries and stand-ins."""
        return f"{SUMMARY}{self.session}#", f"{STAND_IN}{self.session}#"

    def stand_in(self, epoch: int) -> Key:
        """Give the key of what stands for the events that the prompts of an epoch do not show, where E8 began it."""
        return Key(self.partition, f"{STAND_IN}{self.session}#{epoch:08d}")

    # objects
    @property
    def session_packs_prefix(self) -> str:
        return f"{self.packs_prefix}{_PACKS_OF}{self.session}/"

    def pack_object(self, version: int) -> str:
        return f"{self.session_packs_prefix}{version:08d}{_PACK_FILE}"


def session_named_in(item: Item) -> SessionKeys:
    """Read the session from a row that names its tenant, user and session: an event, or a job whose row is its
    message."""
    return SessionKeys(item["tenant_id"], item["user_id"], item["session_id"])
