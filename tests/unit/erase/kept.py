"""A user of whom everything is kept that can be, and what is left of one."""

from __future__ import annotations

from neve.domain.outgoing.event import OutgoingEvent
from neve.domain.records.jobs import Job
from neve.domain.times import iso
from neve.ports.search import Owner
from neve.ports.table import Expect
from neve.store import idempotency, rows
from neve.store.idempotency import IdempotencyKey, StoredReply
from neve.store.outgoing import read_feed_row
from neve.usecases.core.pack.build_pack import build_pack
from tests.unit.recall_world import RecallWorld

MARKER = "zanzibar-marker"


def live(world: RecallWorld, *users: str) -> None:
    """Every kind of thing that is kept for a user."""
    keys, now = world.tenant.keys, world.clock.now()
    for user in users:
        world.open(user=user)
        world.say(f"I moved to Lisbon with {MARKER}.", "Noted.", user=user)
        world.remember(f"Lives in Lisbon, {MARKER}", user=user)
        build_pack(world.user(user).of_session("s1"), "initial")
        world.pump()
        world.ask("Lisbon", user=user)
        for name in (keys.of_user(user).image_object("abc"), keys.of_user(user).upload_object("def")):
            world.objects.put(name, b"png", content_type="image/png")
        idem = IdempotencyKey(f"POST /v1/users/{user}/memories", "k1", "0" * 64)
        job = Job(f"job_01J{user.upper():0>23}", "observe", "done", iso(now), user_id=user, result={"text": MARKER})
        reply = idempotency.done(keys, idem, StoredReply(201, {"text": MARKER}), now, Expect.ABSENT)
        world.rows.write([reply, rows.put_job(keys, job)])
    world.pump()


def left(world: RecallWorld, user: str) -> list[str]:
    """Names of what is kept of a user, but for the head."""
    keys = world.tenant.keys
    own = [
        keys.of_user(user).partition,
        keys.of_user(user).of_session("s1").log,
        keys.of_user(user).ledger,
        keys.of_user(user).vectors,
    ]
    found = [item for part in own for item in world.rows.query(part, limit=1000).items if item["sk"] != "HEAD"]
    found += [
        i for i in world.rows.query(keys.jobs, limit=1000).items if i.get("user_id") == user and i["kind"] != "erase"
    ]
    found += [i for i in world.rows.query(keys.answers, limit=1000).items if f"/users/{user}/" in i["sk"]]
    feed = world.rows.query(keys.feed, limit=1000).items
    found += [item for item in feed if any(_tells_of(event, user) for event in read_feed_row(item))]
    names = [item["pk"] + item["sk"] for item in found]
    names += [
        name
        for prefix in ("packs/", "images/", "uploads/", "exports/")
        for name in world.objects.list(f"{prefix}{keys.tenant}/{user}/")
    ]
    return names + [f"{n} passages" for n in [world.index.count(Owner(keys.tenant, user))] if n]


def _tells_of(event: OutgoingEvent, user: str) -> bool:
    """Say whether an event is of a user, but for the one that tells of their erasure."""
    return event.user_id == user and event.type != "erasure.done"
