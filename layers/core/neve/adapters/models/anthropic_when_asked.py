"""The language model of a worker: made when the first pass needs it, and again when its key was changed."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from neve.adapters.models.anthropic_model import AnthropicModel
from neve.domain.reflect.night_limits import MAX_ANSWER_S
from neve.ports.models import ModelAnswer, ModelRequest

RETRIES = 1


class AnthropicWhenAsked:
    """The SDK takes a second to import: the first pass pays for it, not the start. ``read_key`` gives the API key and
    is called before every request; what it raises goes to the caller."""

    def __init__(self, read_key: Callable[[], str]) -> None:
        self._read_key = read_key
        self._making = Lock()
        self._made: tuple[str, AnthropicModel] | None = None

    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        """Ask the model, which is made where it is not there yet. Raises ModelUnavailable or ModelRefused."""
        return self._model(self._read_key()).call_tool(request)

    def _model(self, key: str) -> AnthropicModel:
        with self._making:
            if self._made is None or self._made[0] != key:
                self._made = key, AnthropicModel(key, timeout_s=MAX_ANSWER_S, max_retries=RETRIES)
            return self._made[1]
