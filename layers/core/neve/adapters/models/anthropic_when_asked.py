"""The language model of a worker: made when the first pass needs it, and again when its key was changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Generic, TypeVar

from neve.adapters.models.anthropic_batches import AnthropicBatches
from neve.adapters.models.bedrock_model import BedrockModel
from neve.domain.reflect.night_limits import MAX_ANSWER_S
from neve.ports.models import LanguageModel, ModelAnswer, ModelRequest

RETRIES = 1

Made = TypeVar("Made", bound=LanguageModel)


class ModelWhenAsked(Generic[Made]):
    """The SDK takes a second to import: the first pass pays for it, not the start. ``read_key`` gives the API key and
    is called before every request; what it raises goes to the caller. ``make`` makes the model with that key."""

    def __init__(self, read_key: Callable[[], str], make: Callable[[str], Made]) -> None:
        self._read_key = read_key
        self._make = make
        self._making = Lock()
        self._made: tuple[str, Made] | None = None

    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        """Ask the model, which is made where it is not there yet. Raises ModelUnavailable or ModelRefused."""
        return self._model(self._read_key()).call_tool(request)

    def _model(self, key: str) -> Made:
        with self._making:
            if self._made is None or self._made[0] != key:
                self._made = key, self._make(key)
            return self._made[1]


class AnthropicWhenAsked(ModelWhenAsked[AnthropicBatches]):
    """A model of Anthropic's API, and its batches."""

    def __init__(self, read_key: Callable[[], str], make: Callable[[str], AnthropicBatches] | None = None) -> None:
        super().__init__(read_key, make or with_key())

    def submit(self, requests: Sequence[ModelRequest]) -> str:
        return self._model(self._read_key()).submit(requests)

    def answer_of(self, batch: str, request: ModelRequest) -> ModelAnswer | None:
        return self._model(self._read_key()).answer_of(batch, request)

    def delete(self, batch: str) -> None:
        self._model(self._read_key()).delete(batch)


def with_key(base_url: str | None = None) -> Callable[[str], AnthropicBatches]:
    """Give what makes a model of Anthropic's API, or of one in its place."""
    return lambda key: AnthropicBatches(key, base_url=base_url, timeout_s=MAX_ANSWER_S, max_retries=RETRIES)


def bedrock_when_asked(model: str, region: str | None = None) -> LanguageModel:
    """Make a model on Bedrock, which has no key."""
    return ModelWhenAsked(
        lambda: "", lambda _: BedrockModel(model, region, timeout_s=MAX_ANSWER_S, max_retries=RETRIES)
    )
