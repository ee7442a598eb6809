"""Every key and index of the table, and what can be read from one: nowhere else is a key put together or taken apart.
``Keys`` is built only from a verified tenant, so that no use case can name a row of another tenant. Ids cannot hold
``#``, ``/`` or ``~`` (docs/rules/http.md#ids), which makes the joins below unambiguous."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.pack.rank import RANK_UNITS
from neve.ports import Key, Owner

TENANTS = "TENANTS"

# What the sort keys of each kind of row start with. None of them begins another.
SESSION = "SES#"
MARKER = "SESM#"
EPOCH = "SESE#"
INDEXED = "SESX#"
MEMORY = "MEM#"
DELETED_MEMORY = "MEMD#"
PACK = "PACK#"
EVENT = "EVT#"
CLIENT_ID = "CID#"
RECALL = "RCL#"

_AFTER_EVERY_KEY = "~"
"""Sorts behind every character of an id, a time and a key."""
_BEFORE_EVERY_ID = "!"
"""Sorts before every character of an id, and is in none."""
_NO_VECTORS, _NO_WORDS = "V#", "W#"
_RANK_TOP, _RANK_DIGITS = 10**16, 17
LAST_SEQ = 9_999_999_999
DUE_SHARDS = 8
UPLOADS = "uploads/"
"""Objects under it expire after a day (infra/data.yaml)."""
EMBEDDER_HEALTH = Key("HEALTH", "EMBEDDER")
LEGS = ("lexical", "vector", "late")


def leg_health(leg: str) -> Key:
    """What the functions that recall last said of a leg that fails again and again."""
    return Key("HEALTH", f"LEG#{leg}")


def tenant_row(tenant: str) -> Key:
    return Key(TENANTS, tenant)


def api_key_row(key_id: str) -> Key:
    return Key(f"KEY#{key_id}", "KEY")


def due_partition(kind: str, shard: int) -> str:
    """Index ``due``. ``kind``: embed | failed | rebuild | replace, and behind, whose sort keys are ``behind_key``."""
    return f"DUE#{kind}#{shard}"


# --- sort keys of the indexes ---------------------------------------------------------------------


def due_key(bucket: str, keys: UserKeys, identifier: str) -> str:
    """``bucket``: the start of ten minutes, ``2026-03-10T09:30``."""
    return f"{bucket}#{keys.tenant}/{keys.user}/{identifier}"


def due_bucket(sort_key: str) -> str:
    """The bucket of a ``due_key``."""
    return sort_key.partition("#")[0]


def due_until(bucket: str | None) -> tuple[str, str]:
    """Bounds of every ``due_key`` up to a bucket, that one included; None for all of them."""
    return "0", _AFTER_EVERY_KEY if bucket is None else f"{bucket}#{_AFTER_EVERY_KEY}"


def behind_key(keys: SessionKeys) -> str:
    """Index ``due``: a session whose log is ahead of index, vectors or marker."""
    return f"{behind_prefix(keys)}{keys.session}"


def behind_prefix(keys: UserKeys) -> str:
    """What a user's ``behind_key`` start with."""
    return f"{keys.tenant}/{keys.user}/"


def recent_key(memory_id: str, *, rev_at: str, words_at: str | None) -> str:
    """Index ``recent``: a memory that lacks its words in the search index, by the time of its rev, behind all those
    that lack their vectors only, by the time of their words."""
    return f"{_NO_WORDS}{rev_at}#{memory_id}" if words_at is None else f"{_NO_VECTORS}{words_at}#{memory_id}"


def recent_since(words_at: str) -> tuple[str, str]:
    """Bounds of every ``recent_key`` without words, and of those whose words came at that time or later."""
    return f"{_NO_VECTORS}{words_at}", f"{_NO_WORDS}{_AFTER_EVERY_KEY}"


def lacking_since(recent_key: str) -> str:
    """The time in a ``recent_key`` of a memory."""
    return recent_key[len(_NO_WORDS) :].partition("#")[0]


def lacks_words(recent_key: str) -> bool:
    """Whether a ``recent_key`` is that of a memory without its words."""
    return recent_key.startswith(_NO_WORDS)


def rank_key(rank: float, identifier: str) -> str:
    """Index ``rank``: its ascending order is descending rank, then ascending id: 17 digits, ``#``, the id."""
    return f"{_RANK_TOP - round(rank * RANK_UNITS):0{_RANK_DIGITS}d}#{identifier}"


# --- what a key says ------------------------------------------------------------------------------


def seq_of(event: Key) -> int:
    """The seq of an event's row. Raises ValueError for another row."""
    return int(_rest(event.sk, EVENT))


def client_id_of(row: Key) -> str:
    """Raises ValueError for another row."""
    return _rest(row.sk, CLIENT_ID)


def session_of(row: Key) -> str | None:
    """The id of a session's own row; None for every other row of a user."""
    return row.sk.removeprefix(SESSION) if row.sk.startswith(SESSION) else None


def is_memory_key(sort_key: str) -> bool:
    return sort_key.startswith(MEMORY)


def image_name(object_key: str) -> str:
    """The last part of an ``image_object``."""
    return object_key.rpartition("/")[2]


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

    @property
    def answers(self) -> str:
        """What was answered to idempotency keys."""
        return f"T#{self.tenant}#IDEM"

    @property
    def secrets(self) -> str:
        return f"T#{self.tenant}#SECRET"

    @property
    def users(self) -> str:
        """Index ``recent``: the heads of the tenant's users, by their ids."""
        return f"T#{self.tenant}#USERS"

    @property
    def api_keys(self) -> str:
        """Index ``recent``: the tenant's API keys, revoked ones included, by key id."""
        return f"T#{self.tenant}#KEYS"

    @property
    def late(self) -> str:
        """Index ``due``: whose passages are being encoded token by token. And the row of the tenant's own part."""
        return f"T#{self.tenant}#LATE"

    @property
    def usages(self) -> str:
        """Index ``due``: the usage rows of the tenant's users."""
        return f"T#{self.tenant}#USAGE"

    # rows
    @property
    def late_users(self) -> Key:
        """How far the tenant's users have been told to encode what they have."""
        return Key(self.late, "USERS")

    @property
    def ledger_secret(self) -> Key:
        """What keys the hashes of queries in the tenant's recall ledger."""
        return Key(self.secrets, "LEDGER")

    def idempotency(self, route: str, key: str) -> Key:
        return Key(self.answers, f"{route}#{key}")

    def job(self, job_id: str) -> Key:
        return Key(self.jobs, job_id.removeprefix("job_"))


@dataclass(frozen=True, slots=True)
class UserKeys(Keys):
    """And those of one of its users."""

    user: str

    def of_session(self, session: str) -> SessionKeys:
        return SessionKeys(self.tenant, self.user, session)

    @property
    def owner(self) -> Owner:
        """Whose passages they are in the search index."""
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
    def token_vectors(self) -> str:
        return f"{self.partition}#T"

    # rows
    @property
    def head(self) -> Key:
        return Key(self.partition, "HEAD")

    @property
    def usage(self) -> Key:
        """Counters of what the user's memory has cost."""
        return Key(self.partition, "USAGE")

    def memory(self, memory_id: str) -> Key:
        return Key(self.partition, f"{MEMORY}{memory_id.removeprefix('mem_')}")

    @staticmethod
    def memories_behind(sort_key: str | None) -> tuple[str, str]:
        """Bounds of the sort keys of the memories behind one, in the order of their ids; None for all of them."""
        first = MEMORY if sort_key is None else f"{sort_key}{_BEFORE_EVERY_ID}"
        return first, f"{MEMORY}{_AFTER_EVERY_KEY}"

    def deleted_memory(self, memory_id: str) -> Key:
        """The last rev of a memory that was deleted."""
        return Key(self.partition, f"{DELETED_MEMORY}{memory_id.removeprefix('mem_')}")

    def recall(self, recall_id: str) -> Key:
        return Key(self.ledger, f"{RECALL}{recall_id.removeprefix('rcl_')}")

    def vector(self, fingerprint: str, model: str) -> Key:
        return Key(self.vectors, f"{fingerprint}#{model}")

    def tokens_of(self, item_id: str) -> Key:
        """The token vectors of a memory or an utterance, under its id: they are deleted with it."""
        return Key(self.token_vectors, item_id)

    @property
    def late_progress(self) -> Key:
        """How far what the user has is encoded token by token."""
        return Key(self.partition, "LATE")

    # objects
    @property
    def packs_prefix(self) -> str:
        return f"packs/{self.tenant}/{self.user}/"

    @property
    def images_prefix(self) -> str:
        return f"images/{self.tenant}/{self.user}/"

    def image_object(self, name: str) -> str:
        return f"{self.images_prefix}{name}"

    @property
    def uploads_prefix(self) -> str:
        return f"{UPLOADS}{self.tenant}/{self.user}/"

    def upload_object(self, name: str) -> str:
        """What was sent and no event has named yet."""
        return f"{self.uploads_prefix}{name}"


@dataclass(frozen=True, slots=True)
class SessionKeys(UserKeys):
    """And those of one of the user's sessions."""

    session: str

    # partitions
    @property
    def log(self) -> str:
        return f"{self.partition}#S#{self.session}"

    # rows
    @property
    def session_head(self) -> Key:
        return Key(self.partition, f"{SESSION}{self.session}")

    @property
    def marker(self) -> Key:
        return Key(self.partition, f"{MARKER}{self.session}")

    @property
    def epoch(self) -> Key:
        return Key(self.partition, f"{EPOCH}{self.session}")

    @property
    def indexed(self) -> Key:
        """How far the session's utterances are in the search index."""
        return Key(self.partition, f"{INDEXED}{self.session}")

    def event(self, seq: int) -> Key:
        return Key(self.log, f"{EVENT}{seq:010d}")

    def events(self, first: int, last: int = LAST_SEQ) -> tuple[str, str]:
        """Bounds of the sort keys of the events ``first`` to ``last``, both included."""
        return self.event(first).sk, self.event(last).sk

    def client_id(self, client_id: str) -> Key:
        return Key(self.log, f"{CLIENT_ID}{client_id}")

    @property
    def packs(self) -> str:
        """What the sort keys of the session's pack manifests start with."""
        return f"{PACK}s.{self.session}#"

    def pack(self, version: int) -> Key:
        return Key(self.partition, f"{self.packs}{version:08d}")

    # objects
    def pack_object(self, version: int) -> str:
        return f"{self.packs_prefix}s.{self.session}/{version:08d}.json"
