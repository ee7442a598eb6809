"""The parts that the encoders inside the process share: the files of a model, one text a run, and queries before
passages.

One text a run, on purpose: the files quantise activations with one scale a run, so a text embedded beside others gets
other numbers. Texts run in parallel on the cores instead, without padding."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import Condition
from time import monotonic
from typing import Any, TypeVar

from neve.adapters.thread_priority import lower_priority
from neve.ports.errors import EmbeddingRetryable, EmbeddingUnavailable

T = TypeVar("T")
MAX_TOKENS = 512
"""Longer texts are cut: the models have no more positions."""
MAX_THREADS = 4
MAX_YIELD_S, MAX_TURN_S = 0.5, 1.2
"""A batch of 16 by two threads then takes 14 s longer at worst: with what its texts take, within the 20 s that its
worker keeps for it."""
LOWEST_PRIORITY = 19
RECENTLY_S = 1.0
"""A caller that asked so shortly ago will ask again."""


def beside_each_other(one: Callable[[str], T], texts: Sequence[str], **pool: Any) -> list[T]:
    """Read each text by itself, at once on the cores. ``pool``: what the pool of threads is made with."""
    threads = min(len(texts), os.cpu_count() or 1, MAX_THREADS)
    if threads <= 1:
        return [one(text) for text in texts]
    with ThreadPoolExecutor(threads, **pool) as made:
        return list(made.map(one, texts))


class QueriesFirst:
    """A rule that lets queries go first: a caller waits for the vector of a query, and none for a passage's. A batch
    gives way between two passages, and leaves all cores but one to the callers that ask for as long as there are
    any."""

    def __init__(self, monotonic: Callable[[], float] = monotonic) -> None:
        self._monotonic = monotonic
        self._asked = 0
        self._asked_at: float | None = None
        self._running = 0
        self._changed = Condition()

    @contextmanager
    def one(self) -> Iterator[None]:
        with self._changed:
            self._asked += 1
        try:
            yield
        finally:
            with self._changed:
                self._asked -= 1
                self._asked_at = self._monotonic()
                self._changed.notify_all()

    def batch(self, texts: Sequence[str], encode: Callable[[str], bytes]) -> list[bytes]:
        """Encode each text by itself, beside the others on the cores."""

        def one(text: str) -> bytes:
            with self._yielding_to_queries():
                return encode(text)

        # the thread that holds the interpreter's lock must not wait for a core that a passage is read on
        return beside_each_other(one, texts, initializer=lower_priority, initargs=(LOWEST_PRIORITY,))

    @contextmanager
    def _yielding_to_queries(self) -> Iterator[None]:
        """Wait until no query is asked and a core is free, but not for ever: however many queries there are, a batch
        comes to its end."""
        with self._changed:
            self._changed.wait_for(lambda: not self._asked, MAX_YIELD_S)
            self._changed.wait_for(self._has_core, MAX_TURN_S)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def _has_core(self) -> bool:
        recently = self._asked_at is not None and self._monotonic() - self._asked_at < RECENTLY_S
        return not (recently and self._running)


class OnnxModel:
    """A model and its tokenizer, loaded. Raises EmbeddingUnavailable when they, or the packages that read them, are
    missing. ``fetch``: the script that downloads them. ``tokens``: what is longer is cut, of a pair the longer one."""

    def __init__(self, model: Path, tokenizer: Path, fetch: str, tokens: int = MAX_TOKENS) -> None:
        try:
            numpy, onnxruntime, tokenizers = map(import_module, ("numpy", "onnxruntime", "tokenizers"))
        except ImportError as error:
            raise EmbeddingUnavailable(f"the encoder's packages are not installed: {error}") from error
        missing = [path.name for path in (model, tokenizer) if not path.is_file()]
        if missing:
            raise EmbeddingUnavailable(
                f"{', '.join(missing)} not in {model.parent}: run 'python {fetch}' once to download them"
            )
        self._numpy: Any = numpy
        try:
            self._tokenizer = _tokenizer(tokenizers, tokenizer, tokens)
            self._session = _session(onnxruntime, model)
            self._inputs = [one.name for one in self._session.get_inputs()]
        except Exception as error:  # tokenizers raises nothing more specific
            raise EmbeddingUnavailable(f"the encoder in {model.parent} cannot be read: {error}") from error

    def states(self, text: str) -> Any:
        """Give the last hidden states, float32, tokens x 384: the first and the last are of the tokens that the
        tokenizer puts around a text. Raises EmbeddingRetryable."""
        return self._run("last_hidden_state", self._tokenizer.encode(_encodable(text)), len(text))

    def score(self, question: str, text: str) -> float:
        """The one logit of a model that reads pairs. Raises EmbeddingRetryable."""
        pair = self._tokenizer.encode(_encodable(question), _encodable(text))
        return float(self._run("logits", pair, len(text))[0])

    def _run(self, output: str, read: Any, characters: int) -> Any:
        numpy = self._numpy
        ids, types = (numpy.array([given], dtype=numpy.int64) for given in (read.ids, read.type_ids))
        known = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": types}
        inputs = {name: known[name] for name in self._inputs}
        try:
            return self._session.run([output], inputs)[0][0]
        except Exception as error:  # the runtime's errors, memory above all, share no base class
            raise EmbeddingRetryable(f"the encoder failed on a text of {characters} characters: {error}") from error


def _tokenizer(tokenizers: Any, path: Path, tokens: int) -> Any:
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(tokens)
    return tokenizer


def _session(onnxruntime: Any, path: Path) -> Any:
    """Open a session that runs with one thread: texts run beside each other instead."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _encodable(text: str) -> str:
    """Replace each lone surrogate by a question mark: it cannot cross into the tokenizer."""
    return text.encode("utf-8", "replace").decode("utf-8")
