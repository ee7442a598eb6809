"""An embedder and an observer that answer by rule, take their time, and sometimes fail."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from math import sqrt
from struct import pack

from neve.domain.compact.headings import SummaryText
from neve.domain.librarian.filing import Account, Action, Filed, Verb
from neve.domain.librarian.looking import ALWAYS
from neve.domain.observe.facts import ProposedFact
from neve.domain.observe.lines import ObservedLine
from neve.domain.records.memories import Kind, Relation, Route
from neve.domain.sessions.transcript import event_text, images_of
from neve.observing import (
    Condensed,
    CondensedRow,
    CondenseInput,
    FilingInput,
    Observed,
    PassInput,
    Question,
    Reflected,
    ReflectedRow,
    ReflectInput,
    Summarised,
    SummaryInput,
    for_ever,
)
from neve.ports.errors import (
    ContentRefused,
    EmbeddingRetryable,
    EmbeddingUnavailable,
    ModelRefused,
    ModelUnavailable,
    NotYetAnswered,
)
from neve.ports.models import Calibration
from neve.ports.search import IndexModel
from tests.simulation.machine.process import Process

MODEL = IndexModel("simulated", 4)
CALM_S = 0.5
"""An answer when nothing is wrong: a model that always took longer than a worker may run would never be done."""
CERTAINTIES: tuple[Route, ...] = ("high", "medium", "low")
LIKES = " likes the "
"""What a pass takes for a fact."""
USAGE = {"input": 10, "output": 5}


@lru_cache(maxsize=20_000)
def vector_of(text: str) -> bytes:
    """The same text, the same direction, in any case and spacing: a vector is kept by the text's fingerprint."""
    folded = " ".join(text.casefold().split())
    values = [byte - 127.4 for byte in blake2b(folded.encode(), digest_size=MODEL.dimensions).digest()]
    length = sqrt(sum(value * value for value in values))
    return pack(f"<{MODEL.dimensions}f", *(value / length for value in values))


class ScriptedEmbedder:
    model = MODEL
    calibration = Calibration(0.0, 1.0)
    languages = ("*",)

    def __init__(self, process: Process) -> None:
        self._process = process

    def embed_query(self, text: str) -> bytes:
        return self._embedded([text])[0]

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        return self._embedded(texts)

    def _embedded(self, texts: Sequence[str]) -> list[bytes]:
        process = self._process
        process.point()
        process.tell(f"embed {len(texts)}")
        if process.cloud.chaos.strikes("embed_fails"):
            raise EmbeddingRetryable("simulated")
        if process.cloud.chaos.strikes("embed_down"):
            raise EmbeddingUnavailable("simulated")
        return [vector_of(text) for text in texts]


def _facts(given: PassInput, whose: str) -> Iterator[ProposedFact]:
    """Of each message that says what somebody likes: it takes the place of what they liked before."""
    known = [one for one in given.prior if one.kind is Kind.FACT and LIKES in one.text]
    before = known[-1].id if known else None
    for event in given.events:
        _, found, what = event_text(event).partition(LIKES)
        if found:
            relation: Relation = "updates" if before else "new"
            text, seq = f"{whose}{LIKES}{what}", event.seq
            yield ProposedFact(text, "PREFERENCE", 3, "user_stated", relation, before, seq, seq)


def _shown(given: PassInput) -> Iterator[tuple[str, bytes]]:
    """What was said, and each image beside it."""
    for event in given.events:
        text = event_text(event).partition("\n")[0]  # what stands behind it says that an image is gone
        yield from ((text, b64decode(block["data"])) for block in images_of(event) if "data" in block)


@dataclass
class Batch:
    """Holds what a job has handed in. ``ends_s``: when it is answered. ``answers``: by what was shown."""

    ends_s: float
    answers: dict[Hashable, Condensed | Filed]


def _asked(given: Question) -> Hashable:
    if isinstance(given, CondenseInput):
        return tuple((group.id, group.text) for group in given.groups)
    return repr(replace(given, handed_in=None, seconds_left=for_ever))


class ScriptedObserver:
    """One line a pass, which names the seqs that it is about. The first word of what was said tells whose it is."""

    name = "scripted"
    languages = ("*",)

    def __init__(self, process: Process) -> None:
        self._process = process
        self.longest_s = min(45.0, max(process.cloud.settings.model_s))
        self.longest_filing_s = min(125.0, max(process.cloud.settings.model_s))

    def observe(self, given: PassInput) -> Observed:
        seqs = [event.seq for event in given.events]
        self._think(f"observe {given.session_id} {seqs[0]}-{seqs[-1]}")
        random = self._process.cloud.random
        self._refuse_perhaps()
        self._process.cloud.shown += _shown(given)
        cited = tuple(prior.id for prior in given.prior if random.random() < 0.2)
        if random.random() < 0.2:
            return Observed(False, (), self.name, used_memory_ids=cited, usage=USAGE)
        last = random.choice(seqs) if random.random() < 0.2 else seqs[-1]
        words = event_text(given.events[0]).split()
        if not words:  # erased between the marker and the log: whatever is answered, nothing is written
            return Observed(False, (), self.name, used_memory_ids=cited, usage=USAGE)
        whose, _, label = words[:3]
        line = ObservedLine(f"🟡 {whose} {label} was heard from {seqs[0]} to {last}", seqs[0], last)
        covered = None if last == seqs[-1] else last
        facts = tuple(_facts(given, whose))
        return Observed(True, (line,), self.name, used_memory_ids=cited, usage=USAGE, covered_to=covered, facts=facts)

    def reflect(self, given: ReflectInput) -> Reflected:
        self._think(f"reflect {given.session_id} {len(given.groups)}")
        random = self._process.cloud.random
        self._fail_perhaps()
        whose, label = given.groups[0].text.split()[1:3]
        cut = random.randint(0, len(given.groups))
        parts = [part for part in (given.groups[:cut], given.groups[cut:]) if part]
        stamp = f"{self._process.cloud.scheduler.now_s:.3f}"
        rows = tuple(
            ReflectedRow(f"🔴 {whose} {label} in short {stamp} {n}", tuple(one.id for one in part))
            for n, part in enumerate(parts)
        )
        return Reflected(rows, self.name, usage=USAGE)

    def condense(self, given: CondenseInput) -> Condensed:
        if isinstance(answer := self._handed_in(given), Condensed):
            return answer
        self._think(f"condense {len(given.groups)}")
        self._refuse_perhaps()
        return self._condensed(given)

    def _condensed(self, given: CondenseInput) -> Condensed:
        random = self._process.cloud.random
        if random.random() < 0.1:
            return Condensed((), self.name, usage=USAGE)
        whose, label = given.groups[0].text.split()[1:3]
        stamp = f"{self._process.cloud.scheduler.now_s:.3f}"
        ids = tuple(one.id for one in given.groups) if random.random() < 0.5 else ()
        row = CondensedRow(f"🔴 {whose} {label} for good {stamp}", ids)
        return Condensed((row,), self.name, usage=USAGE)

    def _handed_in(self, given: Question) -> Condensed | Filed | None:
        if (name := given.handed_in) is None:
            return None
        self._think(f"look into {name}")
        self._fail_perhaps()
        batch = self._process.cloud.batches.get(name)
        if batch is None:
            return None
        if self._process.cloud.scheduler.now_s < batch.ends_s:
            raise NotYetAnswered(name)
        return batch.answers.get(_asked(given))

    def hand_in(self, given: Sequence[Question]) -> str | None:
        """Some never get an answer."""
        self._think(f"hand in {len(given)}")
        self._fail_perhaps()
        cloud = self._process.cloud
        name = f"batch{next(cloud.batch_numbers)}"
        ends_s = cloud.scheduler.now_s + cloud.random.choice((1.0, 60.0, 2_000.0, 80_000.0))
        answered = [one for one in given if cloud.random.random() < 0.8]
        cloud.batches[name] = Batch(ends_s, {_asked(one): self._answer(one) for one in answered})
        self._process.point()
        return name

    def _answer(self, given: Question) -> Condensed | Filed:
        return self._condensed(given) if isinstance(given, CondenseInput) else self._filed(given)

    def withdraw(self, handed_in: str) -> None:
        self._think(f"withdraw {handed_in}")
        self._fail_perhaps()
        cloud = self._process.cloud
        batch = cloud.batches.get(handed_in)
        if batch is not None and cloud.scheduler.now_s < batch.ends_s:
            batch.ends_s = cloud.scheduler.now_s
            raise NotYetAnswered(handed_in)
        cloud.batches.pop(handed_in, None)

    def summarise(self, given: SummaryInput) -> Summarised:
        seqs = [event.seq for event in given.events]
        self._think(f"summarise {given.session_id} {seqs[0]}-{seqs[-1]}")
        self._refuse_perhaps()
        before = given.before.insights if given.before else ()
        summary = SummaryText(insights=(*before, f"from {seqs[0]} to {seqs[-1]}"))
        return Summarised(summary, self.name, prompt_version="1", usage=USAGE)

    def file_away(self, given: FilingInput) -> Filed:
        """Keeps every line that it was shown. Some of what it answers is no document's, or a guess."""
        if isinstance(answer := self._handed_in(given), Filed):
            return answer
        self._think(f"file {given.session_id} {given.events[0].seq}-{given.events[-1].seq}")
        self._refuse_perhaps()
        return self._filed(given)

    def _filed(self, given: FilingInput) -> Filed:
        random, seqs = self._process.cloud.random, [event.seq for event in given.events]
        whose, _, label = next(filter(None, map(event_text, given.events)), "nobody said nothing").split()[:3]
        line = f"{whose} {given.session_id} {label} was filed from {seqs[0]} to {seqs[-1]}"
        shown = {document.path: document for document in given.documents}
        actions = []
        for path in random.sample(ALWAYS, random.randint(0, 2)):
            before = shown.get(path)
            certainty = random.choice(CERTAINTIES)
            text = f"{before.text}\n{line}" if before else line
            rev = before.rev if before else None
            verb: Verb = "update" if before else "create"
            actions.append(Action(verb, path, text, rev, certainty=certainty, seqs=(seqs[0],)))
        illegal = (Action("create", "/nowhere", line, seqs=(seqs[0],)),) if random.random() < 0.1 else ()
        account = Account(whose, "SUCCESS", "neutral", text=SummaryText(insights=(line,)))
        return Filed(tuple(actions), account, self.name, "1", illegal=illegal, usage=USAGE)

    def _refuse_perhaps(self) -> None:
        """What it is asked about, or whatever it is asked."""
        self._fail_perhaps()
        if self._process.cloud.chaos.strikes("model_refuses"):
            raise ContentRefused("simulated")

    def _fail_perhaps(self) -> None:
        chaos = self._process.cloud.chaos
        if chaos.strikes("model_locked"):
            raise ModelRefused("simulated")
        if chaos.strikes("model_down"):
            raise ModelUnavailable("simulated")

    def _think(self, what: str) -> None:
        process = self._process
        process.tell(what)
        cloud = process.cloud
        process.wait(CALM_S if cloud.chaos.calm else cloud.random.choice(cloud.settings.model_s))
        process.point()
