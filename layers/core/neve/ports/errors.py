"""The errors of what goes wrong outside: adapters translate vendor errors into these, and no other code catches a
vendor error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class StoreUnavailable(Exception):
    """A store did not answer, or answered that it cannot. Never raised for "no such row". The text says which store and
    how, such as ``table: PutItem: AccessDeniedException (400)``, without quoting anybody and without a key."""

    text_is_logged = True

    def __init__(self, store: str, reason: str) -> None:
        super().__init__(f"{store}: {reason}")
        self.store = store
        self.reason = reason


class UnreadableRow(StoreUnavailable):
    """A row is there, but no reader can tell what it says. To ask again does not help."""


class Conflict(Exception):
    """A conditional write lost. ``failed`` holds the positions of the operations whose condition did not hold
    (empty when the engine only knows that a concurrent writer won)."""

    def __init__(self, failed: Sequence[int] = ()) -> None:
        super().__init__(f"conflict on operations {list(failed)}")
        self.failed = tuple(failed)


class EmbeddingUnavailable(Exception):
    """The embedder cannot work until an operator changes something (no credentials, a 4xx other than 429). Not
    retried."""


class EmbeddingRetryable(Exception):
    """The embedder failed in a way that a later attempt may not (429, 5xx, transport)."""


class ModelMissing(Exception):
    """The files of an optional model are not where this process looks for them."""


class NoAnswer(Exception):
    """A question to the language model of which nothing came. ``usage``: tokens as in ``ModelAnswer`` of what it has
    answered nevertheless, and is paid for, in so many ``calls``."""

    text_is_logged = True

    def __init__(self, reason: str, usage: Mapping[str, int] | None = None) -> None:
        super().__init__(reason)
        self.usage: Mapping[str, int] = usage or {}
        self.calls = 1 if usage else 0


class ModelUnavailable(NoAnswer):
    """The language model gave no usable answer (transport, 429, 5xx, timeout, malformed tool call). Retried from the
    queue. The text says why without quoting anybody."""


class AnswerTooLate(ModelUnavailable):
    """No answer came in the time of the call. It may be an outage, or there was too much to answer."""


class UnusableAnswer(ModelUnavailable):
    """The model is there and has answered, and nothing of the answer can be used. No outage is one."""


class AnswerCutOff(UnusableAnswer):
    """An answer of the model had no room in the tokens that it may have: about less there may be less to say."""


class AnswerOutOfForm(UnusableAnswer):
    """An answer of the model is not of the form that it was asked for."""


class ModelRefused(NoAnswer):
    """The language model's API rejected the request itself, whatever it is about (the key, the model, a parameter): no
    such request can succeed until an operator changes something. The text says why without quoting a person."""


class ContentRefused(ModelRefused):
    """It rejected what the request holds (a message, an image, its size, the provider's safeguards): the same request
    without it may succeed. The text says why without quoting it, in at most 200 characters."""


class NotYetAnswered(Exception):
    """The provider is not done yet with what was handed in."""


class DeadlineExceeded(Exception):
    """A task had not finished when its time budget ended."""
