"""Who does what in a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

from neve.domain.tenants.observe_after import ObserveAfter
from neve.domain.tenants.policy import CustomBudget, Policy
from neve.store.documents import MAX_ROW_TEXT_BYTES
from tests.simulation.clients import erasures, library, nights, operators, pinning, shelving
from tests.simulation.machine.chaos import Temper
from tests.simulation.segments import workers as segments

if TYPE_CHECKING:
    from tests.simulation.run import Run

PLAIN = Temper()
EVERY_TURN = ObserveAfter(tokens=0)


@dataclass(frozen=True)
class Workload:
    """``clients`` and ``steps``: fewest and most. ``weights``: of the kinds of calls. ``more``: others that act, beside
    the clients, each in one of two runs. ``temper``: what the run's faults are drawn from. ``longest_row_text``: bytes
    of a document's text that a row holds. ``redriven``: an operator gives dead letters back; else they are the end of
    their messages, as after the days that a queue keeps them. ``webhooks``: receivers are told of what happens.
    ``waits``: turns wait for a pass, which has to come in time."""

    name: str
    weights: Mapping[str, int]
    policy: Callable[[Random], Policy]
    clients: tuple[int, int] = (2, 4)
    steps: tuple[int, int] = (3, 8)
    tenants: tuple[str, ...] = ("t1", "t2")
    users: tuple[str, ...] = ("u1",)
    sessions: tuple[str, ...] = ("s1", "s2")
    more: tuple[Callable[[Run], None], ...] = ()
    temper: Temper = PLAIN
    longest_row_text: int = MAX_ROW_TEXT_BYTES
    redriven: bool = True
    webhooks: bool = False
    waits: bool = False


def _roomy(random: Random) -> Policy:
    return Policy(
        observe_after=EVERY_TURN, observer_transcript_cap=random.choice((100, 35_000)), observer_output_cap=90
    )


def _narrow(random: Random) -> Policy:
    """Reflections and compactions after a few turns."""
    trigger = random.choice((20, 60))
    return Policy(
        observe_after=EVERY_TURN,
        session_reflection_trigger=trigger,
        session_reflection_target=trigger // 2,
        compaction_trigger=random.choice((40, 120)),
        observer_transcript_cap=random.choice((100, 35_000)),
        observer_output_cap=90,
    )


def _tight(random: Random) -> Policy:
    """A reflection after every pass or two."""
    return Policy(
        observe_after=EVERY_TURN,
        session_reflection_trigger=20,
        session_reflection_target=10,
        compaction_trigger=random.choice((40, 120)),
        observer_transcript_cap=100,
        observer_output_cap=90,
    )


def _waiting(random: Random) -> Policy:
    """Few turns are worth a pass, and some sessions fall silent before they are."""
    after = ObserveAfter(tokens=random.choice((20, 60, 2_000)), idle_s=random.choice((60, 600)))
    return _roomy(random).model_copy(update={"observe_after": after})


CHAT = Workload(
    "chat",
    {
        "append": 8,
        "read_log": 2,
        "read_pack": 2,
        "recall": 1,
        "list": 2,
        "create": 2,
        "get": 1,
        "update": 2,
        "delete": 1,
        "used": 1,
        "observe": 1,
    },
    _roomy,
)
SILENT = replace(
    CHAT,
    name="silent",
    weights={"append": 8, "observe": 1, "open": 2, "read_pack": 1, "compact": 1, "list": 1},
    policy=_waiting,
    tenants=("t1",),
    sessions=("s1", "s2", "s3"),
    waits=True,
    temper=Temper(
        harsh=(0.0, 0.2, 0.6), skew_s=(0.0, 2.0), think_s=(1.0, 20.0, 120.0), model_s=(0.5, 3.0, 30.0), storm_s=(60.0,)
    ),
)
"""Turns wait for a pass until there are enough of them, or another session is opened, or nothing more is said."""

NOTED = Workload(
    "noted",
    {"note": 6, "append": 1, "recall": 1},
    _roomy,
    clients=(2, 3),
    steps=(5, 10),
    tenants=("t1",),
    sessions=("s1",),
    temper=Temper(
        latency_s=(0.005, 0.05), think_s=(0.05, 0.3), index_lag_s=(0.0,), search_lag_s=(0.0,), often={"stall": 0.04}
    ),
)
"""What was noted and said a moment ago is asked for, while it comes into the index."""

RECORDS = Workload(
    "records",
    {
        "create": 4,
        "list": 3,
        "get": 3,
        "update": 7,
        "delete": 2,
        "used": 5,
        "recall": 2,
        "read_pack": 1,
        "fresh": 3,
    },
    _roomy,
    clients=(3, 4),
    steps=(6, 12),
    tenants=("t1",),
    sessions=("s1",),
    temper=Temper(harsh=(0.0, 0.5, 0.9), think_s=(0.05, 0.3)),
)
CHURN = Workload(
    "churn",
    {"create": 5, "list": 5, "get": 1, "update": 7, "delete": 4},
    _roomy,
    clients=(3, 4),
    steps=(8, 14),
    tenants=("t1",),
    sessions=("s1",),
    temper=Temper(
        harsh=(0.0, 0.3),
        skew_s=(0.0,),
        think_s=(0.05, 1.0),
        latency_s=(0.05, 0.5),
        often={"table_repeated": 0.3, "stall": 0.01},
    ),
)
"""A few memories that are changed and deleted as soon as they are made, by callers whose answers are lost, while
workers stand still between what they read and what they write."""
LONG = Workload(
    "long",
    {
        "append": 10,
        "read_pack": 4,
        "list": 4,
        "observe": 2,
        "compact": 2,
        "end": 1,
        "recall": 1,
        "create": 1,
        "delete": 1,
        "used": 1,
        "open": 1,
    },
    _narrow,
    clients=(3, 4),
    steps=(6, 12),
    tenants=("t1",),
    temper=Temper(
        skew_s=(0.0, 2.0, 40.0, 300.0),
        model_s=(0.5, 3.0, 3.0, 30.0),
        think_s=(0.05, 1.0, 5.0),
        visibility_s=(15.0, 75.0),
    ),
)
UTTERANCES = replace(
    CHAT,
    name="utterances",
    weights={"append": 1},
    clients=(3, 4),
    steps=(8, 16),
    tenants=("t1",),
    sessions=("s1",),
    temper=Temper(
        harsh=(0.0,),
        skew_s=(0.0,),
        worker_s=(None,),
        think_s=(20.0, 60.0),
        latency_s=(0.05,),
        visibility_s=(360.0,),
        often={"stall": 0.04, "table_refused": 0.08, "search_refused": 0.08},
    ),
)
"""Words that come in while a worker stands still with the vectors of those before them, and then finds a store that
refuses it."""
OPERATORS = Workload(
    "operators",
    {"append": 6, "read_log": 1, "open": 2, "create": 3, "delete": 1, "recall": 1, "observe": 1, "list": 1},
    _roomy,
    tenants=("t1",),
    sessions=("s1",),
    steps=(4, 9),
    temper=Temper(harsh=(0.0, 0.4, 0.8), visibility_s=(15.0, 360.0, 360.0)),
    more=(operators.erase_somebody, operators.reindex_everything, operators.drain, operators.exchange_key),
)
HOSTILE = Workload(
    "hostile",
    {**CHAT.weights, "observe": 3, "compact": 3, "end": 1},
    _narrow,
    tenants=("t1",),
    sessions=("s1",),
    temper=Temper(
        harsh=(0.5, 0.9),
        worker_s=(None, None, 60.0),
        model_s=(30.0, 80.0, 200.0),
        visibility_s=(15.0, 75.0),
        skew_s=(0.0, 40.0, 300.0),
    ),
)
RACES = Workload(
    "races",
    {"append": 6, "read_pack": 4, "list": 3, "observe": 3, "compact": 4, "create": 1},
    _tight,
    clients=(2, 4),
    steps=(4, 8),
    tenants=("t1",),
    temper=Temper(
        harsh=(0.0, 0.2),
        skew_s=(300.0,),
        model_s=(0.5, 3.0, 20.0),
        think_s=(0.05, 1.0, 20.0),
        visibility_s=(15.0, 75.0),
        latency_s=(0.5, 3.0, 6.0),
        write_s=(0.0, 15.0),
        sweep_s=(5.0,),
        sweepers=(3,),
        storm_s=(300.0,),
    ),
)
"""Clocks so far apart and stores so slow that a worker is taken for dead while it works, by sweeps that come all the
time."""


def _of_nights(random: Random) -> Policy:
    """Whatever is there is old enough, and worth a run."""
    trigger = random.choice((20, 60, 600))
    return Policy(
        observe_after=EVERY_TURN,
        session_reflection_trigger=trigger,
        session_reflection_target=trigger // 2,
        observer_transcript_cap=random.choice((100, 35_000)),
        observer_output_cap=90,
        reflection_min_age_days=0,
        reflection_min_rows=random.choice((1, 2)),
    )


def _of_nights_and_compactions(random: Random) -> Policy:
    return _of_nights(random).model_copy(update={"compaction_trigger": random.choice((40, 120, 400))})


def _of_batches(random: Random) -> Policy:
    return _of_nights(random).model_copy(update={"nightly_model": "batch"})


NIGHTS = Workload(
    "nights",
    {
        "append": 9,
        "read_pack": 3,
        "list": 6,
        "observe": 3,
        "recall": 1,
        "create": 1,
        "delete": 1,
        "used": 2,
        "open": 1,
    },
    _of_nights,
    clients=(3, 4),
    steps=(6, 12),
    tenants=("t1",),
    users=("u1", "u2"),
    temper=Temper(
        harsh=(0.0, 0.4, 0.8),
        skew_s=(0.0, 2.0, 40.0, 300.0),
        model_s=(0.5, 3.0, 30.0, 200.0),
        think_s=(0.05, 1.0, 5.0),
        visibility_s=(15.0, 75.0),
    ),
    more=(nights.plan, nights.plan_too, nights.ask),
)

HANDED_IN = replace(
    NIGHTS,
    name="handed_in",
    policy=_of_batches,
    more=(*NIGHTS.more, erasures.have_somebody_erased, nights.end_silent, nights.end_silent, library.edit),
)
"""Nights and filings that the provider answers later, or never, while rows are edited and users are erased."""

LIBRARY = Workload(
    "library",
    {"append": 9, "end": 4, "compact": 2, "list": 2, "read_pack": 1, "recall": 1, "open": 1},
    _narrow,
    clients=(2, 4),
    steps=(5, 10),
    tenants=("t1",),
    temper=Temper(
        harsh=(0.0, 0.4, 0.8),
        skew_s=(0.0, 2.0, 40.0),
        model_s=(0.5, 3.0, 30.0, 80.0),
        think_s=(0.05, 1.0, 5.0, 20.0),
        visibility_s=(15.0, 75.0),
    ),
    more=(library.edit, library.edit, library.answer, library.answer_too),
)
ERASURES = Workload(
    "erasures",
    {**OPERATORS.weights, "read_pack": 2, "update": 1},
    _of_nights,
    tenants=("t1",),
    users=("u1", "u2"),
    sessions=("s1",),
    steps=(4, 9),
    temper=Temper(harsh=(0.0, 0.4, 0.8), visibility_s=(15.0, 75.0, 360.0), think_s=(1.0, 30.0, 300.0)),
    more=(erasures.have_somebody_erased, erasures.have_somebody_erased, nights.plan, operators.drain),
)
"""Users who are erased by a tenant, some of them again and again, while they are observed, condensed and indexed."""

DOCUMENTS = Workload(
    "documents",
    {"create": 1, "recall": 3, "list": 1},
    _roomy,
    clients=(1, 2),
    steps=(3, 6),
    tenants=("t1",),
    sessions=("s1",),
    temper=Temper(harsh=(0.0, 0.5, 0.9), think_s=(0.05, 0.3)),
    more=(shelving.shelve, shelving.shelve_too, shelving.shelve_as_well, operators.erase_somebody),
)

MOVES = replace(
    DOCUMENTS,
    name="moves",
    more=(shelving.carry, shelving.carry_too, shelving.carry_as_well, operators.erase_somebody),
)
"""Documents that are moved away and back, and deleted and recreated, between what others read and what they write."""

TEXTS = replace(
    DOCUMENTS,
    name="texts",
    temper=Temper(harsh=(0.3, 0.6, 0.9), think_s=(0.05, 1.0)),
    more=(shelving.shelve, shelving.shelve_too, operators.erase_somebody),
    longest_row_text=shelving.SHORT,
)
"""Documents whose texts are objects, by processes that die before the document is there."""

IMAGES = Workload(
    "images",
    {"show": 9, "append": 2, "retract": 4, "observe": 2, "read_log": 1, "read_pack": 1, "recall": 1},
    _roomy,
    clients=(2, 4),
    steps=(5, 10),
    tenants=("t1",),
    temper=Temper(
        harsh=(0.0, 0.3, 0.6),
        model_s=(0.5, 3.0, 30.0),
        think_s=(0.05, 1.0, 20.0),
        visibility_s=(15.0, 75.0),
    ),
    more=(operators.erase_somebody,),
)
"""Few images that everybody shows, sent with an event or uploaded before, beside retractions that delete."""

FACTS = Workload(
    "facts",
    {"fact": 5, "reword": 5, "evolve": 5, "update": 3, "list": 2}
    | {"get": 1, "delete": 2, "used": 1, "recall": 1, "read_pack": 1},
    _roomy,
    clients=(3, 4),
    steps=(6, 12),
    tenants=("t1",),
    sessions=("s1",),
    temper=Temper(harsh=(0.0, 0.5, 0.9), think_s=(0.05, 0.3)),
)
"""The same few statements from everybody, in these words or others, corrected and edited at once."""

EVOLVED = Workload(
    "evolved",
    {"create": 4, "evolve": 6, "update": 4, "get": 4, "list": 2, "delete": 2, "recall": 1},
    _roomy,
    clients=(3, 4),
    steps=(6, 12),
    tenants=("t1",),
    sessions=("s1",),
    temper=FACTS.temper,
)
"""Few memories of their own, which several callers evolve, change and delete at once."""

RETRACTIONS = Workload(
    "retractions",
    {
        "append": 9,
        "retract": 5,
        "observe": 3,
        "compact": 2,
        "read_log": 1,
        "read_pack": 3,
        "list": 4,
        "recall": 4,
        "used": 1,
        "open": 1,
    },
    _of_nights_and_compactions,
    clients=(2, 4),
    steps=(6, 12),
    tenants=("t1",),
    temper=Temper(
        harsh=(0.0, 0.2, 0.6),
        skew_s=(0.0, 2.0, 40.0),
        model_s=(0.5, 3.0, 30.0),
        think_s=(0.05, 1.0, 5.0, 20.0),
        visibility_s=(15.0, 75.0),
    ),
    more=(nights.plan, nights.ask),
)

RECANTED = Workload(
    "recanted",
    {
        "tell": 9,
        "recant": 4,
        "append": 2,
        "retract": 5,
        "observe": 4,
        "end": 3,
        "fact": 1,
        "list": 3,
        "read_pack": 2,
        "recall": 1,
    },
    _roomy,
    clients=(2, 4),
    steps=(6, 12),
    tenants=("t1",),
    temper=RETRACTIONS.temper,
)
"""Facts and documents of messages that are taken back: what they had taken the place of comes back, while the same is
said again, and jobs of sessions that have ended wait for it."""

CORRECTED = Workload(
    "corrected",
    {
        "append": 9,
        "retract": 5,
        "observe": 4,
        "list": 5,
        "update": 6,
        "evolve": 3,
        "end": 1,
        "read_pack": 1,
        "recall": 1,
    },
    _roomy,
    clients=(2, 4),
    steps=(8, 14),
    tenants=("t1",),
    temper=RETRACTIONS.temper,
)
"""What was made of messages is reworded, or evolved, while they, or their answers, are taken back."""


def _small_layers(random: Random) -> Policy:
    """Not every document has room, and histories are cut and compacted after a few turns."""
    trigger = random.choice((20, 60))
    return Policy(
        observe_after=EVERY_TURN,
        session_reflection_trigger=trigger,
        session_reflection_target=trigger // 2,
        compaction_trigger=random.choice((60, 400)),
        observer_transcript_cap=random.choice((100, 35_000)),
        observer_output_cap=90,
        always_budget=random.choice((20, 4_000)),
        profile_budget=random.choice((60, 5_000)),
    )


PROMPTS = Workload(
    "prompts",
    {
        "append": 6,
        "tool": 3,
        "context": 8,
        "read_pack": 1,
        "observe": 1,
        "compact": 2,
        "create": 1,
        "open": 1,
        "fresh": 2,
    },
    _small_layers,
    clients=(2, 3),
    steps=(6, 12),
    tenants=("t1",),
    sessions=("s1",),
    temper=Temper(
        skew_s=(0.0, 2.0, 40.0),
        model_s=(0.5, 3.0, 30.0),
        think_s=(0.05, 1.0, 5.0),
        visibility_s=(15.0, 75.0),
    ),
    more=(pinning.edit, pinning.edit_too),
)


def _small_prompts(random: Random) -> Policy:
    """A round or two of tools fill the history."""
    history = random.choice((1_500, 3_000, 6_000))
    budget = CustomBudget(total=history + 2_000, output=500, system=200, memories=800, history=history)
    return _small_layers(random).model_copy(update={"budget_profile": budget})


LOOPS = replace(
    PROMPTS,
    name="loops",
    weights={"loop": 6, "append": 3, "tool": 1, "context": 2, "compact": 1, "retract": 1, "observe": 1},
    policy=_small_prompts,
    clients=(1, 2),
    steps=(3, 6),
    sessions=("s1", "s2"),
    temper=replace(PROMPTS.temper, latency_s=(0.005, 0.05), think_s=(0.05, 1.0)),
    more=(),
)
"""Long loops of tools, whose prompts are of the log alone, beside cuts and compactions inside their turns."""

OUTBOX = Workload(
    "outbox",
    {
        "append": 8,
        "retract": 3,
        "end": 2,
        "compact": 1,
        "observe": 1,
        "create": 3,
        "delete": 3,
        "update": 1,
        "list": 1,
        "recall": 1,
        "read_pack": 1,
    },
    _of_nights_and_compactions,
    clients=(2, 3),
    steps=(6, 12),
    tenants=("t1",),
    temper=Temper(
        harsh=(0.0, 0.0, 0.4), model_s=(0.5, 3.0, 30.0), think_s=(0.05, 1.0, 20.0), often={"stream_gives_up": 0.25}
    ),
    more=(shelving.shelve, shelving.carry_too),
    redriven=False,
)
"""What the outbox gives up is found again without anybody's help, and what a queue gives up."""

EXPORTS = Workload(
    "exports",
    {
        "append": 8,
        "export": 3,
        "load": 4,
        "retract": 3,
        "observe": 2,
        "create": 3,
        "update": 1,
        "delete": 1,
        "end": 1,
        "list": 1,
    },
    _roomy,
    clients=(2, 3),
    steps=(6, 12),
    tenants=("t1",),
    temper=Temper(
        harsh=(0.0, 0.2, 0.6),
        skew_s=(0.0, 2.0, 40.0),
        model_s=(0.5, 3.0, 30.0),
        think_s=(0.05, 1.0, 20.0, 120.0),
    ),
    more=(shelving.shelve, operators.erase_somebody),
)
"""Exports of small parts, beside what is said, noted, deleted and erased meanwhile."""

REFUSED = replace(
    RETRACTIONS,
    name="refused",
    weights={
        "append": 6,
        "tell": 5,
        "retract": 6,
        "observe": 3,
        "compact": 2,
        "end": 3,
        "list": 2,
        "read_pack": 1,
        "recall": 1,
    },
    temper=replace(RETRACTIONS.temper, often={"model_locked": 0.3}),
)
"""A model that takes no request for a while, whatever is in it, beside retractions, compactions, ends and nights."""


def _soon_over(random: Random) -> Policy:
    return _narrow(random).model_copy(update={"retention_days": random.choice((1, 10))})


RETAINED = Workload(
    "retained",
    {
        "append": 10,
        "tool": 3,
        "compact": 3,
        "observe": 2,
        "read_log": 2,
        "read_pack": 1,
        "recall": 1,
        "retract": 2,
        "context": 1,
        "list": 1,
        "end": 1,
    },
    _soon_over,
    clients=(2, 4),
    steps=(8, 16),
    tenants=("t1",),
    temper=Temper(
        harsh=(0.0, 0.2, 0.6),
        skew_s=(0.0, 2.0, 40.0),
        model_s=(0.5, 3.0, 30.0),
        think_s=(1.0, 20.0, 120.0),
        visibility_s=(15.0, 75.0),
        sweep_s=(15.0, 60.0, 600.0),
    ),
    more=(operators.erase_somebody,),
)
"""Archived events whose time is soon over, beside what reads, covers, takes back and observes them."""

FORGOTTEN = replace(
    EVOLVED,
    name="forgotten",
    weights={"create": 5, "forget": 4, "update": 7, "evolve": 1, "delete": 1, "get": 3, "list": 1, "read_pack": 1},
    more=(operators.erase_somebody,),
)
"""Lists of what is to be forgotten, confirmed while others write what they list."""

VALID = Workload(
    "valid",
    {"timed": 8, "context": 6, "recall": 4, "append": 3, "observe": 1, "compact": 1, "read_pack": 1, "fresh": 2},
    _narrow,
    clients=(2, 3),
    steps=(8, 14),
    tenants=("t1",),
    temper=Temper(skew_s=(0.0,), think_s=(1.0, 20.0, 60.0), visibility_s=(15.0, 75.0)),
)
"""What begins and ends while it is packed, recalled and told."""
PARTICIPANTS = Workload(
    "participants",
    {"among": 10, "read_pack": 3, "open": 1, "recall": 3, "context": 3, "observe": 2, "compact": 1, "end": 1},
    _narrow,
    clients=(2, 4),
    steps=(5, 10),
    tenants=("t1",),
    sessions=("s1", "s2", "s3"),
    more=(nights.plan, nights.ask),
)
"""Two people speak in each of one user's conversations; what the other one says is told in no other."""

WEBHOOKS = replace(
    EVOLVED,
    name="webhooks",
    weights={"create": 6, "update": 4, "evolve": 1, "delete": 2, "get": 1},
    users=("u1", "u2"),
    webhooks=True,
)
"""Receivers that refuse, hang and leave are told of memories, by workers that die."""

SEGMENTS = Workload(
    "segments",
    {"read_pack": 1},
    _roomy,
    clients=(1, 1),
    steps=(1, 1),
    tenants=("t1",),
    sessions=("s1",),
    more=(*[segments.work] * 8, segments.erase),
    temper=Temper(
        harsh=(0.0, 0.3, 0.6),
        skew_s=(0.0, 2.0, 40.0),
        latency_s=(0.005, 0.05),
        think_s=(0.05, 0.5),
        write_s=(0.0, 0.3, 3.0),
    ),
)
"""Several workers write and search on the engine that keeps passages as objects, while they merge, die and erase."""

_ALL = (
    *(CHAT, RECORDS, LONG, OPERATORS, HOSTILE, RACES, NIGHTS, DOCUMENTS, LIBRARY, FACTS, ERASURES, PROMPTS),
    *(RETRACTIONS, RECANTED, CHURN, IMAGES, TEXTS, MOVES, UTTERANCES, NOTED, OUTBOX),
    *(EXPORTS, REFUSED, RETAINED, CORRECTED, EVOLVED, LOOPS, FORGOTTEN, VALID, PARTICIPANTS, WEBHOOKS, SEGMENTS),
    *(SILENT, HANDED_IN),
)
WORKLOADS = {workload.name: workload for workload in _ALL}


ROTATION = (
    *(CHAT, RECORDS, OPERATORS, NIGHTS, FACTS, HOSTILE, DOCUMENTS, LIBRARY),
    *(CHURN, CHAT, LONG, IMAGES, RECORDS, ERASURES, OPERATORS, PROMPTS, FORGOTTEN),
    *(FACTS, RETRACTIONS, HOSTILE, TEXTS, RACES, UTTERANCES, RECANTED, MOVES, NOTED, OUTBOX),
    *(EXPORTS, REFUSED, RETAINED, CORRECTED, EVOLVED, LOOPS, VALID, PARTICIPANTS, WEBHOOKS, SEGMENTS),
    *(SILENT, HANDED_IN),
)
"""Which workload a seed has where none is asked for: all of them, and those that cost least twice."""


def workload_of(seed: int, name: str | None) -> Workload:
    return WORKLOADS[name] if name else ROTATION[seed % len(ROTATION)]
