"""The language model of a worker: made when the first pass needs it, and again when its key was changed."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from neve.adapters.models.anthropic_model import AnthropicModel
from neve.adapters.models.bedrock_model import BedrockModel
from neve.domain.reflect.night_limits import MAX_ANSWER_S
from neve.ports.models import LanguageModel, ModelAnswer, ModelRequest

RETRIES = 1


class AnthropicWhenAsked:
    """The SDK takes a second to import: the first pass pays for it, not the start. ``read_key`` gives the API key and
    is called before every request; what it raises goes to the caller. ``make`` makes the model with that key."""

    def __init__(self, read_key: Callable[[], str], make: Callable[[str], LanguageModel] | None = None) -> None:
        self._read_key = read_key
        self._make = make or with_key()
        self._making = Lock()
        self._made: tuple[str, LanguageModel] | None = None

    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        """Ask the model, which is made where it is not there yet. Raises ModelUnavailable or ModelRefused."""
        return self._model(self._read_key()).call_tool(request)

    def _model(self, key: str) -> LanguageModel:
        with self._making:
            if self._made is None or self._made[0] != key:
                self._made = key, self._make(key)
            return self._made[1]


def with_key(base_url: str | None = None) -> Callable[[str], LanguageModel]:
    """Give what makes a model of Anthropic's API, or of one in its place."""
    return lambda key: AnthropicModel(key, base_url=base_url, timeout_s=MAX_ANSWER_S, max_retries=RETRIES)


def bedrock_when_asked(model: str, region: str | None = None) -> AnthropicWhenAsked:
    """Make a model on Bedrock, which has no key."""
    return AnthropicWhenAsked(
        lambda: "", lambda _: BedrockModel(model, region, timeout_s=MAX_ANSWER_S, max_retries=RETRIES)
    )
