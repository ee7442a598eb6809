"""The real SDK against a loopback server that speaks the Messages API: what is sent, and what each answer becomes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from neve.adapters.models.anthropic_model import MIN_ATTEMPT_S, AnthropicModel
from neve.adapters.models.anthropic_when_asked import AnthropicWhenAsked, with_key
from neve.ports.errors import (
    AnswerCutOff,
    AnswerOutOfForm,
    AnswerTooLate,
    ContentRefused,
    ModelRefused,
    ModelUnavailable,
    NoAnswer,
    UnusableAnswer,
)
from neve.ports.models import ModelAnswer, ModelRequest

TOOL_USE = {"type": "tool_use", "id": "toolu_1", "name": "record", "input": {"has_memory": True, "n": [1, 2]}}


def message(content: list[dict[str, Any]], stop_reason: str = "tool_use") -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 120,
            "output_tokens": 45,
            "cache_read_input_tokens": 1800,
            "cache_creation_input_tokens": None,
        },
    }


def problem(kind: str, text: str = "no") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": text}}


@dataclass
class Reply:
    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0


class MessagesServer(ThreadingHTTPServer):
    """Gives the queued replies in order and keeps every request with its headers."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: list[Reply] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: MessagesServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.requests.append(json.loads(body))
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        reply = self.server.replies.pop(0)
        time.sleep(reply.delay_s)
        text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
        try:
            self.send_response(reply.status)
            for name, value in {"content-type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    running = MessagesServer()
    thread = Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


class Caller:
    """Makes one call with a model of its own and closes it."""

    def __init__(self, url: str, **given: Any) -> None:
        self.model = AnthropicModel("test-key", base_url=url, **{"timeout_s": 5.0, **given})

    def call_tool(self, asked: ModelRequest) -> ModelAnswer:
        try:
            return self.model.call_tool(asked)
        finally:
            self.model.close()


def model(server: MessagesServer, **given: Any) -> Caller:
    return Caller(server.url, **given)


def request(*content: dict[str, Any]) -> ModelRequest:
    return ModelRequest(
        system="You keep a memory.",
        content=content or ({"type": "text", "text": "--- now ---\nuser #1: hello"},),
        tool_name="record",
        tool_description="Hand in.",
        tool_schema={"type": "object", "properties": {"has_memory": {"type": "boolean"}}},
        max_tokens=1000,
        purpose="observe",
    )


def test_forced_tool_call_is_sent_and_read(server: MessagesServer) -> None:
    server.replies = [Reply(200, message([{"type": "text", "text": "Sure."}, TOOL_USE]))]
    answer = model(server).call_tool(request())
    assert answer.tool_input == {"has_memory": True, "n": [1, 2]}
    assert answer.model == "claude-haiku-5-5"
    assert answer.usage == {"input": 120, "cache_read": 1800, "cache_write": 0, "output": 45}
    sent = server.requests[0]
    assert sent["model"] == "claude-haiku-5-5"
    assert sent["max_tokens"] == 1000
    assert sent["tool_choice"] == {"type": "tool", "name": "record", "disable_parallel_tool_use": True}
    assert [tool["name"] for tool in sent["tools"]] == ["record"]
    assert sent["tools"][0]["input_schema"]["properties"] == {"has_memory": {"type": "boolean"}}
    assert "test-key" in server.headers[0]["authorization"]


def test_the_api_is_where_the_environment_or_the_stage_says(
    server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.replies = [Reply(200, message([TOOL_USE]))] * 2
    with_key(server.url)("test-key").call_tool(request())
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    AnthropicWhenAsked(lambda: "test-key").call_tool(request())
    assert len(server.requests) == 2


def test_system_prompt_is_a_cache_point(server: MessagesServer) -> None:
    server.replies = [Reply(200, message([TOOL_USE]))]
    model(server).call_tool(request())
    assert server.requests[0]["system"] == [
        {"type": "text", "text": "You keep a memory.", "cache_control": {"type": "ephemeral"}}
    ]


def test_what_the_model_would_not_cache_is_not_marked(server: MessagesServer) -> None:
    """Haiku 4.5 caches from 4,096 tokens on: the tool and the system prompt together."""
    server.replies = [Reply(200, message([TOOL_USE])) for _ in range(2)]
    short = replace(request(), system="You keep a memory. " * 400)
    model(server, model="claude-haiku-4-5-20251001").call_tool(short)
    model(server, model="claude-haiku-4-5-20251001").call_tool(replace(short, system=short.system * 3))
    assert ["cache_control" in sent["system"][0] for sent in server.requests] == [False, True]


def test_low_effort_without_thinking_which_a_forced_tool_call_excludes(server: MessagesServer) -> None:
    server.replies = [Reply(200, message([TOOL_USE])), Reply(200, message([TOOL_USE]))]
    model(server).call_tool(request())
    model(server, model="claude-haiku-4-5-20251001").call_tool(request())
    assert server.requests[0]["output_config"] == {"effort": "low"}
    assert server.requests[0]["thinking"] == {"type": "disabled"}
    assert "output_config" not in server.requests[1]
    assert "thinking" not in server.requests[1]
    assert "temperature" not in server.requests[0]


def test_image_blocks_keep_their_place(server: MessagesServer) -> None:
    server.replies = [Reply(200, message([TOOL_USE]))]
    model(server).call_tool(
        request(
            {"type": "text", "text": "user #1: look"},
            {"type": "image", "media_type": "image/png", "data": "aGVsbG8="},
            {"type": "image", "url": "https://example.com/cat.jpg"},
            {"type": "image", "media_type": "image/tiff", "data": "aGVsbG8="},
            {"type": "text", "text": "user #2: nice?"},
        )
    )
    assert server.requests[0]["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "user #1: look"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}},
                {"type": "image", "source": {"type": "url", "url": "https://example.com/cat.jpg"}},
                {"type": "text", "text": "[image of type image/tiff, which cannot be shown]"},
                {"type": "text", "text": "user #2: nice?"},
            ],
        }
    ]


def test_429_is_repeated_after_the_wait_that_the_server_asks_for(server: MessagesServer) -> None:
    server.replies = [
        Reply(429, problem("rate_limit_error"), {"retry-after": "0.2"}),
        Reply(200, message([TOOL_USE])),
    ]
    answer = model(server).call_tool(request())
    assert answer.tool_input["has_memory"] is True
    assert [headers["x-stainless-retry-count"] for headers in server.headers] == ["0", "1"]
    assert server.requests[0] == server.requests[1]


def test_429_with_a_wait_longer_than_a_worker_lives_is_left_to_the_queue(server: MessagesServer) -> None:
    server.replies = [Reply(429, problem("rate_limit_error"), {"retry-after": "3600"})]
    with pytest.raises(ModelUnavailable, match="3600 s"):
        model(server).call_tool(request())
    assert len(server.requests) == 1


def test_529_on_every_attempt_is_unavailable(server: MessagesServer) -> None:
    overloaded = Reply(529, problem("overloaded_error"), {"retry-after": "0.01"})
    server.replies = [overloaded, overloaded, overloaded]
    with pytest.raises(ModelUnavailable, match="529") as raised:
        model(server).call_tool(request())
    assert not isinstance(raised.value, UnusableAnswer)
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [500, 503])
def test_server_errors_are_unavailable(server: MessagesServer, status: int) -> None:
    server.replies = [Reply(status, problem("api_error"))]
    with pytest.raises(ModelUnavailable, match=str(status)) as raised:
        model(server, max_retries=0).call_tool(request())
    assert not isinstance(raised.value, UnusableAnswer)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
    ],
)
def test_refusals_are_not_repeated(server: MessagesServer, status: int, kind: str) -> None:
    server.replies = [Reply(status, problem(kind, "the user said: my card is 4111"))]
    with pytest.raises(ModelRefused, match=f"{status} \\({kind}\\)") as refused:
        model(server).call_tool(request())
    assert "4111" not in str(refused.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (400, "messages.0.content.3.image.source.base64.data: Image format image/png not supported"),
        (400, "messages: text content blocks must be non-empty"),
        (400, "prompt is too long: 216654 tokens > 200000 maximum"),
        (400, "input length and `max_tokens` exceed context limit: 189136 + 20000 > 204648, decrease input length"),
        (400, "Could not process image"),
        (400, "Unable to download the file. Please verify the URL and try again."),
        (400, "This URL is disallowed by the website's robots.txt file, so it cannot be read."),
        (400, "Output blocked by content filtering policy"),
        (413, "Request exceeds the maximum size"),
    ],
)
def test_what_is_refused_because_of_its_content(server: MessagesServer, status: int, sentence: str) -> None:
    server.replies = [Reply(status, problem("invalid_request_error", sentence))]
    with pytest.raises(ContentRefused, match=f"status {status}") as refused:
        model(server).call_tool(request())
    assert sentence not in str(refused.value)


@pytest.mark.parametrize(
    "sentence",
    [
        "model: claude-x does not exist",
        "max_tokens: 99999 > 64000, which is the maximum allowed number of output tokens",
        "tools.0.input_schema: JSON schema is invalid",
        "Your credit balance is too low to access the Anthropic API.",
        "",
    ],
)
def test_a_400_about_anything_else_is_no_fault_of_the_content(server: MessagesServer, sentence: str) -> None:
    server.replies = [Reply(400, problem("invalid_request_error", sentence))]
    with pytest.raises(ModelRefused) as refused:
        model(server).call_tool(request())
    assert not isinstance(refused.value, ContentRefused)


def test_truncated_tool_json_is_unavailable(server: MessagesServer) -> None:
    half = {**TOOL_USE, "input": {"has_memory": True}}
    server.replies = [Reply(200, message([half], stop_reason="max_tokens"))]
    with pytest.raises(AnswerCutOff, match="cut off"):
        model(server).call_tool(request())


@pytest.mark.parametrize("stopped", ["max_tokens", "refusal", "model_context_window_exceeded", "end_turn"])
def test_what_an_answer_without_a_tool_call_cost_is_told(server: MessagesServer, stopped: str) -> None:
    server.replies = [Reply(200, message([], stop_reason=stopped))]
    with pytest.raises(NoAnswer) as raised:
        model(server).call_tool(request())
    server.replies = [Reply(200, message([TOOL_USE]))]
    assert (raised.value.calls, raised.value.usage) == (1, model(server).call_tool(request()).usage)


def test_what_the_api_rejects_costs_nothing(server: MessagesServer) -> None:
    server.replies = [Reply(413, problem("request_too_large"))]
    with pytest.raises(ContentRefused) as raised:
        model(server).call_tool(request())
    assert (raised.value.calls, raised.value.usage) == (0, {})


@pytest.mark.parametrize("body", [json.dumps("message of a model")[:-4], "[" * 100_000 + "]" * 100_000])
def test_a_body_that_cannot_be_read_is_unavailable(server: MessagesServer, body: str) -> None:
    server.replies = [Reply(200, body)]
    with pytest.raises(ModelUnavailable, match="not JSON"):
        model(server, max_retries=0).call_tool(request())


@pytest.mark.parametrize("body", [{}, {"type": "message", "content": None}, [], "<html>a proxy</html>"])
def test_something_that_is_not_a_message_is_unavailable(server: MessagesServer, body: Any) -> None:
    content_type = "text/html" if isinstance(body, str) else "application/json"
    server.replies = [Reply(200, body, {"content-type": content_type})]
    with pytest.raises(ModelUnavailable) as raised:
        model(server, max_retries=0).call_tool(request())
    assert not isinstance(raised.value, UnusableAnswer), "the model has not answered"


@pytest.mark.parametrize(
    "content", [[], [{"type": "text", "text": "I would rather chat."}], [{**TOOL_USE, "name": "another"}]]
)
def test_no_tool_call_is_an_answer_out_of_form(server: MessagesServer, content: list[dict[str, Any]]) -> None:
    server.replies = [Reply(200, message(content, stop_reason="end_turn"))]
    with pytest.raises(AnswerOutOfForm, match="no call of record"):
        model(server).call_tool(request())


def test_what_leaves_the_window_no_room_for_an_answer_is_too_much_to_read(server: MessagesServer) -> None:
    """The same request would be cut off again; half of it is not."""
    server.replies = [Reply(200, message([TOOL_USE], stop_reason="model_context_window_exceeded"))]
    with pytest.raises(ContentRefused, match="context window"):
        model(server).call_tool(request())


def test_a_declined_request_is_refused(server: MessagesServer) -> None:
    server.replies = [Reply(200, message([], stop_reason="refusal"))]
    with pytest.raises(ContentRefused, match="safeguards"):
        model(server).call_tool(request())


def test_timeout_is_unavailable(server: MessagesServer) -> None:
    server.replies = [Reply(200, message([TOOL_USE]), delay_s=0.6)]
    with pytest.raises(AnswerTooLate, match="APITimeoutError"):
        model(server, timeout_s=0.1, max_retries=0).call_tool(request())


def test_a_timeout_with_attempts_left_has_no_time_for_another(server: MessagesServer) -> None:
    server.replies = [Reply(200, message([TOOL_USE]), delay_s=0.6)]
    with pytest.raises(AnswerTooLate, match="no time for attempt 2"):
        model(server, timeout_s=0.1, max_retries=1).call_tool(request())


def test_a_gateway_whose_time_is_over_is_no_answer_in_time(server: MessagesServer) -> None:
    server.replies = [Reply(504, problem("timeout_error"))]
    with pytest.raises(AnswerTooLate, match="504"):
        model(server, max_retries=0).call_tool(request())


def test_all_attempts_of_a_call_share_its_time(server: MessagesServer) -> None:
    """An attempt that failed late leaves less to the next, and so does the time that the request itself names."""
    server.replies = [Reply(500, problem("api_error"), delay_s=0.2)] + [Reply(200, message([TOOL_USE]))] * 2
    with pytest.raises(AnswerTooLate, match="no time for attempt 2"):
        model(server, timeout_s=MIN_ATTEMPT_S, max_retries=1).call_tool(request())
    assert len(server.requests) == 1
    assert model(server, timeout_s=60.0, max_retries=1).call_tool(request()).usage["output"] == 45
    server.replies = [Reply(200, message([TOOL_USE]), delay_s=0.6)]
    with pytest.raises(ModelUnavailable, match="APITimeoutError"):
        model(server, timeout_s=60.0, max_retries=0).call_tool(replace(request(), within_s=0.1))


def test_a_wait_that_outlasts_the_call_is_left_to_the_queue(server: MessagesServer) -> None:
    server.replies = [Reply(429, problem("rate_limit_error"), {"retry-after": "6"})]
    with pytest.raises(ModelUnavailable, match="asked to wait 6 s"):
        model(server, timeout_s=5.0).call_tool(request())
    assert len(server.requests) == 1


def test_no_connection_is_unavailable(server: MessagesServer) -> None:
    unused = MessagesServer()
    unused.server_close()
    with pytest.raises(ModelUnavailable, match="APIConnectionError"):
        Caller(unused.url, max_retries=0).call_tool(request())
    assert server.requests == []
