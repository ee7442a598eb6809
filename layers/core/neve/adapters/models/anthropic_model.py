"""A Claude model behind the Messages API, through the official SDK: one forced tool call a request. The API is
Anthropic's own, or one in its place; on Bedrock the same messages go another way (``bedrock_model``).

The SDK is imported when a model is built, never with this module: its import alone costs about a second. It repeats
what may pass (429 and 529 after the wait that the server asks for, 5xx, timeouts, lost connections) up to
``MAX_RETRIES`` times, within the time of the call; a wait that is longer is left to the queue."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from neve.domain.tenants.prices import CACHEABLE_TOKENS, family
from neve.ports.errors import (
    AnswerCutOff,
    AnswerOutOfForm,
    AnswerTooLate,
    ContentRefused,
    ModelRefused,
    ModelUnavailable,
)
from neve.ports.models import ModelAnswer, ModelRequest, constant_tokens

if TYPE_CHECKING:
    from anthropic import Anthropic, AnthropicBedrock, APIStatusError
    from anthropic.types import Message

DEFAULT_MODEL = "claude-haiku-5-5"
MAX_RETRIES = 2
MAX_WAIT_S = 20.0
MIN_ATTEMPT_S = 2.0
"""Seconds: with less left no other attempt begins."""
DEFAULT_TIMEOUT_S = 90.0
"""Seconds of a call with all its attempts."""
REFUSING_STATUSES = frozenset({400, 401, 403, 404, 422})
"""The request itself is at fault, or the key: the same request cannot succeed later."""
TOO_LARGE = 413
TOO_LATE = frozenset({408, 504})
"""The time of the provider, or of a gateway before it, was over: Bedrock's model has its own."""
ABOUT_CONTENT = re.compile(
    r"^messages\b|^(prompt|input) is too long|exceed context limit"
    r"|\bimages?\b|^unable to download the file|\brobots\.txt\b|content filter",
    re.IGNORECASE,
)
"""The beginning or the words of a 400 when it is about what was shown to the model: the path of a message, its length,
an image (one by address may be gone, or closed to the provider), the provider's filter. Any other 400 is about the
model, a parameter or the account, and no event's fault."""
REPEATED_BY_BEDROCK = "The model returned the following errors: "
"""What stands in front of the model's sentence where Bedrock hands it on."""
BEDROCK_TYPE = "x-amzn-errortype"
"""The header in which AWS names an error, with an address behind a colon."""
IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
"""The images that the API reads. Any other image would make it refuse the whole pass: the model is told of it in
words."""
_ends_at: ContextVar[float] = ContextVar("ends_at", default=math.inf)
"""The end of the current call's time, by ``time.monotonic``."""
WITHOUT_EFFORT = ("claude-haiku-4", "claude-sonnet-4", "claude-opus-4", "claude-3")
"""Families that think only when asked, and of which not all know the effort setting."""


class MessagesModel:
    """The LanguageModel port on a client of the SDK. ``model`` must accept a forced tool call: the Haiku family, and
    others up to generation 5. ``timeout_s`` is how long a call lasts with all its attempts, or as its request says if
    that is less."""

    def __init__(self, client: Anthropic | AnthropicBedrock, model: str, timeout_s: float) -> None:
        import anthropic

        self._sdk = anthropic
        self._client = client
        self._model = model
        self._timeout_s = timeout_s

    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        """Ask the model for one forced tool call. Raises ContentRefused for content that the API will not have,
        ModelRefused for any other request that cannot succeed as it is, AnswerCutOff and AnswerOutOfForm for a message
        without a whole tool call, AnswerTooLate for none within the time, ModelUnavailable for everything else that
        leaves none."""
        create: Callable[..., Message] = self._client.messages.create
        with self._asking(request.within_s):
            # without a time-out of the call the SDK refuses what may take longer than ten minutes, by max_tokens alone
            message = create(**self._body(request), timeout=self._timeout_s)
        return self._answer(message, request.tool_name)

    def close(self) -> None:
        """Ends the connections that are kept open between calls."""
        self._client.close()

    @contextmanager
    def _asking(self, within_s: float) -> Iterator[None]:
        """Bound the time of the calls inside, and raise what their failures are as errors of the port."""
        ends = _ends_at.set(time.monotonic() + min(self._timeout_s, within_s))
        try:
            yield
        except self._sdk.APIStatusError as error:
            raise _translate_refusal(error, self._model) from error
        except self._sdk.APITimeoutError as error:
            raise AnswerTooLate(f"{self._model}: {type(error).__name__}") from error
        except self._sdk.AnthropicError as error:
            raise ModelUnavailable(f"{self._model}: {type(error).__name__}") from error
        except (ValueError, RecursionError):  # the SDK lets a body that is not JSON escape; the error would hold it
            raise ModelUnavailable(f"{self._model}: an answer that is not JSON") from None
        finally:
            _ends_at.reset(ends)

    def _answer(self, message: object, tool_name: str) -> ModelAnswer:
        """Read the tool call of a message. Raises as ``call_tool``."""
        if not isinstance(message, self._sdk.types.Message) or None in (message.content, message.usage):
            raise ModelUnavailable(f"{self._model}: an answer that is not a message")
        return _answer(message, tool_name)

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        """Make the arguments of ``messages.create``."""
        return body_of(request, self._model)


class AnthropicModel(MessagesModel):
    """Claude with an API key. ``base_url`` None is where ANTHROPIC_BASE_URL says, else Anthropic's API."""

    def __init__(
        self,
        api_key: str,
        model: str = DEFAULT_MODEL,
        *,
        base_url: str | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        max_retries: int = MAX_RETRIES,
    ) -> None:
        from anthropic import Anthropic

        client = Anthropic(api_key=api_key, base_url=base_url, max_retries=max_retries, middleware=[limit_to_time_left])
        super().__init__(client, model, timeout_s)


# --- request ------------------------------------------------------------------------------------


def body_of(request: ModelRequest, model: str) -> dict[str, Any]:
    """Make the body of a request. The tool and the system prompt come first and are the same in every call of a
    purpose: the cache point behind them covers both, where they are long enough for the model. Thinking is off because
    a forced tool call excludes it; reading a chat needs little effort."""
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": request.max_tokens,
        "system": [{"type": "text", "text": request.system, **_cache_point(request, model)}],
        "messages": [{"role": "user", "content": [_block(block) for block in request.content]}],
        "tools": [
            {
                "name": request.tool_name,
                "description": request.tool_description,
                "input_schema": dict(request.tool_schema),
            }
        ],
        "tool_choice": {"type": "tool", "name": request.tool_name, "disable_parallel_tool_use": True},
    }
    if not model.rpartition("anthropic.")[2].startswith(WITHOUT_EFFORT):
        body["thinking"] = {"type": "disabled"}
        body["output_config"] = {"effort": "low"}
    return body


def _cache_point(request: ModelRequest, model: str) -> dict[str, Any]:
    """Mark what is constant, where the model's provider would cache as much. Of a model whose minimum is not known it
    is marked: the provider passes over a mark that comes too early, and charges nothing for it."""
    least = CACHEABLE_TOKENS.get(family(model), 0)
    return {"cache_control": {"type": "ephemeral"}} if constant_tokens(request) >= least else {}


def _block(block: Mapping[str, Any]) -> dict[str, Any]:
    """Give a content block in the API's form."""
    if block["type"] != "image":
        return {"type": "text", "text": block["text"]}
    if block.get("url"):
        return {"type": "image", "source": {"type": "url", "url": block["url"]}}
    if block["media_type"] not in IMAGE_TYPES:
        return {"type": "text", "text": f"[image of type {block['media_type']}, which cannot be shown]"}
    return {"type": "image", "source": {"type": "base64", "media_type": block["media_type"], "data": block["data"]}}


# --- answer -------------------------------------------------------------------------------------


def _answer(message: Message, tool_name: str) -> ModelAnswer:
    usage = _usage(message)
    if message.stop_reason == "refusal":
        raise ContentRefused(f"{message.model}: declined by the provider's safeguards", usage)
    if message.stop_reason == "model_context_window_exceeded":
        raise ContentRefused(f"{message.model}: with an answer to it, it exceeds the context window", usage)
    if message.stop_reason == "max_tokens":
        raise AnswerCutOff(f"{message.model}: the tool call was cut off ({message.stop_reason})", usage)
    calls: Sequence[Any] = [block for block in message.content if block.type == "tool_use" and block.name == tool_name]
    if not calls or not isinstance(calls[0].input, dict):
        raise AnswerOutOfForm(f"{message.model}: no call of {tool_name} (stopped by {message.stop_reason})", usage)
    return ModelAnswer(tool_input=calls[0].input, model=message.model, usage=usage)


def _usage(message: Message) -> dict[str, int]:
    """Count what is paid for, whether or not the answer can be used."""
    usage = message.usage
    return {
        "input": usage.input_tokens,
        "cache_read": usage.cache_read_input_tokens or 0,
        "cache_write": usage.cache_creation_input_tokens or 0,
        "output": usage.output_tokens,
    }


def _translate_refusal(error: APIStatusError, model: str) -> ModelRefused | ModelUnavailable:
    """Translate a refusal, without the provider's sentence: it may quote what the user said."""
    status, kind = error.status_code, error.type or error.response.headers.get(BEDROCK_TYPE, "").partition(":")[0]
    why = f"{model}: status {status} ({kind or 'no type'})"
    if status == TOO_LARGE or (status == 400 and ABOUT_CONTENT.search(_sentence(error.body))):
        return ContentRefused(why)
    if status in TOO_LATE:
        return AnswerTooLate(why)
    return ModelRefused(why) if status in REFUSING_STATUSES else ModelUnavailable(why)


def _sentence(body: object) -> str:
    """Give what the provider says of an error, Bedrock without an object around it; nothing when the body is not of its
    form."""
    problem = body.get("error", body) if isinstance(body, Mapping) else None
    said = str(problem.get("message", "")) if isinstance(problem, Mapping) else ""
    return said.removeprefix(REPEATED_BY_BEDROCK)


def limit_to_time_left(request: Any, call_next: Callable[[Any], Any]) -> Any:
    """Make SDK middleware, run once an attempt: each has what is left of the call's time. The SDK would give every one
    the same, and sleep as long as the server says."""
    left = _ends_at.get() - time.monotonic()
    if request.retries_taken and left < MIN_ATTEMPT_S:
        raise AnswerTooLate(f"no time for attempt {request.retries_taken + 1}")
    response = call_next(request.copy(timeout=max(left, 0.001)))
    wait = _seconds(response.headers.get("retry-after"))
    if response.status_code >= 400 and wait > min(MAX_WAIT_S, _ends_at.get() - time.monotonic()):
        response.close()
        raise ModelUnavailable(f"status {response.status_code}: asked to wait {wait:.0f} s")
    return response


def _seconds(retry_after: str | None) -> float:
    """Read a number of seconds; 0 for none, or for a date, which this API does not send."""
    try:
        return float(retry_after or 0)
    except ValueError:
        return 0.0
