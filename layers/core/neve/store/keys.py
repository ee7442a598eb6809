"""Every key and index of the table. ``Keys`` is built only from a verified tenant, so that no use case can name a row
of another tenant. Ids cannot hold ``#`` or ``/`` (product.md §2), which makes the joins below unambiguous."""

from __future__ import annotations

from dataclasses import dataclass

from neve.ports import Key

TENANTS = "TENANTS"
SESSION = "SES#"
"""Sort keys of session rows start with it; no other row of a user does."""


def tenant_row(tenant: str) -> Key:
    return Key(TENANTS, tenant)


def api_key_row(key_id: str) -> Key:
    return Key(f"KEY#{key_id}", "KEY")


def due_partition(kind: str, shard: int) -> str:
    """Index ``due``. ``kind``: embed | failed | rebuild | replace."""
    return f"DUE#{kind}#{shard}"


DUE_SHARDS = 8

EMBEDDER_HEALTH = Key("HEALTH", "EMBEDDER")


@dataclass(frozen=True, slots=True)
class Keys:
    """The rows of one tenant."""

    tenant: str

    # partitions
    def user(self, user: str) -> str:
        return f"T#{self.tenant}#U#{user}"

    def log(self, user: str, session: str) -> str:
        return f"T#{self.tenant}#U#{user}#S#{session}"

    def ledger(self, user: str) -> str:
        return f"T#{self.tenant}#U#{user}#R"

    def vectors(self, user: str) -> str:
        return f"T#{self.tenant}#U#{user}#V"

    def jobs(self) -> str:
        return f"T#{self.tenant}#JOB"

    def answers(self) -> str:
        """What was answered to idempotency keys."""
        return f"T#{self.tenant}#IDEM"

    def secrets(self) -> str:
        return f"T#{self.tenant}#SECRET"

    def users(self) -> str:
        """Index ``recent``: the heads of the tenant's users, by their ids."""
        return f"T#{self.tenant}#USERS"

    def api_keys(self) -> str:
        """Index ``recent``: the tenant's API keys, revoked ones included, by key id."""
        return f"T#{self.tenant}#KEYS"

    def usages(self) -> str:
        """Index ``recent``: the usage rows of the tenant's users."""
        return f"T#{self.tenant}#USAGE"

    # rows
    def head(self, user: str) -> Key:
        return Key(self.user(user), "HEAD")

    def session(self, user: str, session: str) -> Key:
        return Key(self.user(user), f"{SESSION}{session}")

    def marker(self, user: str, session: str) -> Key:
        return Key(self.user(user), f"SESM#{session}")

    def epoch(self, user: str, session: str) -> Key:
        return Key(self.user(user), f"SESE#{session}")

    def indexed(self, user: str, session: str) -> Key:
        """How far the session's utterances are in the search index."""
        return Key(self.user(user), f"SESX#{session}")

    def event(self, user: str, session: str, seq: int) -> Key:
        return Key(self.log(user, session), f"EVT#{seq:010d}")

    def client_id(self, user: str, session: str, client_id: str) -> Key:
        return Key(self.log(user, session), f"CID#{client_id}")

    def memory(self, user: str, memory_id: str) -> Key:
        return Key(self.user(user), f"MEM#{memory_id.removeprefix('mem_')}")

    def deleted_memory(self, user: str, memory_id: str) -> Key:
        """The last rev of a memory that was deleted."""
        return Key(self.user(user), f"MEMD#{memory_id.removeprefix('mem_')}")

    def pack(self, user: str, session: str, version: int) -> Key:
        return Key(self.user(user), f"PACK#s.{session}#{version:08d}")

    def recall(self, user: str, recall_id: str) -> Key:
        return Key(self.ledger(user), f"RCL#{recall_id.removeprefix('rcl_')}")

    def ledger_secret(self) -> Key:
        """What keys the hashes of queries in the tenant's recall ledger."""
        return Key(self.secrets(), "LEDGER")

    def vector(self, user: str, fingerprint: str, model: str) -> Key:
        return Key(self.vectors(user), f"{fingerprint}#{model}")

    def usage(self, user: str) -> Key:
        """Counters of what the user's memory has cost."""
        return Key(self.user(user), "USAGE")

    def idempotency(self, route: str, key: str) -> Key:
        return Key(self.answers(), f"{route}#{key}")

    def job(self, job_id: str) -> Key:
        return Key(self.jobs(), job_id.removeprefix("job_"))

    # objects
    def objects_of(self, user: str) -> tuple[str, str]:
        """The prefixes of everything that is kept for a user as an object."""
        return f"packs/{self.tenant}/{user}/", f"images/{self.tenant}/{user}/"

    def pack_object(self, user: str, session: str, version: int) -> str:
        return f"{self.objects_of(user)[0]}s.{session}/{version:08d}.json"

    def image_object(self, user: str, name: str) -> str:
        return f"{self.objects_of(user)[1]}{name}"
