"""The real SDK against a Bedrock on this machine: what is sent and signed, and what each answer becomes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from neve.adapters.models.anthropic_when_asked import bedrock_when_asked
from neve.adapters.models.bedrock_model import DEFAULT_BEDROCK_MODEL, BedrockModel
from neve.aws_ports import AwsPorts
from neve.config import Settings, SettingsError
from neve.ports.errors import AnswerTooLate, ContentRefused, ModelRefused, ModelUnavailable
from neve.ports.models import ModelAnswer, ModelRequest
from tests.loopback.bedrock.server import KEY, REGION, SECRET, Bedrock, Failing, running

OF_AWS = ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION", "AWS_DEFAULT_REGION")


@pytest.fixture
def bedrock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bedrock]:
    for name in OF_AWS:
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "NO_PROXY": "127.0.0.1",
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    }.items():
        monkeypatch.setenv(name, value)
    _forget_sessions()
    with running() as served:
        monkeypatch.setenv("ANTHROPIC_BEDROCK_BASE_URL", served.url)
        yield served
    _forget_sessions()


def _forget_sessions() -> None:
    """The SDK keeps a session of boto3 with the credentials that it has found."""
    from anthropic.lib.aws import _auth

    cast(Any, _auth._get_session).cache_clear()


def ask(*content: dict[str, Any], model: str = DEFAULT_BEDROCK_MODEL, **given: Any) -> ModelAnswer:
    made = BedrockModel(model, REGION, **{"timeout_s": 30.0, **given})
    try:
        return made.call_tool(request(*content))
    finally:
        made.close()


def request(*content: dict[str, Any]) -> ModelRequest:
    return ModelRequest(
        system="You keep a memory.",
        content=content or ({"type": "text", "text": "user #1: hello"},),
        tool_name="record",
        tool_description="Hand in.",
        tool_schema={"type": "object", "properties": {"has_memory": {"type": "boolean"}}},
        max_tokens=1000,
        purpose="observe",
    )


def test_a_tool_call_is_signed_sent_and_read(bedrock: Bedrock) -> None:
    bedrock.calls = {"has_memory": True}
    answer = ask()
    assert (bedrock.refused, bedrock.models) == ([], ["global.anthropic.claude-haiku-5-5"])
    assert answer.tool_input == {"has_memory": True}
    assert answer.model == "claude-haiku-5-5"
    assert answer.usage == {"input": 120, "cache_read": 1800, "cache_write": 7, "output": 45}
    sent = bedrock.requests[0]
    assert sent["tool_choice"] == {"type": "tool", "name": "record", "disable_parallel_tool_use": True}
    assert sent["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert (sent["thinking"], sent["output_config"]) == ({"type": "disabled"}, {"effort": "low"})


def test_an_older_family_is_known_behind_its_profile(bedrock: Bedrock) -> None:
    ask(model="us.anthropic.claude-haiku-4-5-20251001-v1:0")
    assert bedrock.models == ["us.anthropic.claude-haiku-4-5-20251001-v1:0"]
    assert not {"thinking", "output_config"} & bedrock.requests[0].keys()


def test_another_secret_is_refused(bedrock: Bedrock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    with pytest.raises(ModelRefused, match="403 \\(InvalidSignatureException\\)"):
        ask()


def test_an_image_by_address_is_told_in_words(bedrock: Bedrock) -> None:
    ask(
        {"type": "image", "url": "https://example.com/cat.jpg"},
        {"type": "image", "media_type": "image/png", "data": "aGVsbG8="},
    )
    shown, image = bedrock.requests[0]["messages"][0]["content"]
    assert shown == {"type": "text", "text": "[image by address, which cannot be shown]"}
    assert image["source"]["type"] == "base64"


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (400, "ValidationException"),
        (403, "AccessDeniedException"),
        (404, "ResourceNotFoundException"),
    ],
)
def test_what_an_operator_has_to_change_is_refused_and_not_repeated(bedrock: Bedrock, status: int, name: str) -> None:
    bedrock.failing.append(Failing(status, name, "the user said: my card is 4111"))
    with pytest.raises(ModelRefused, match=f"{status} \\({name}\\)") as refused:
        ask()
    assert not isinstance(refused.value, ContentRefused)
    assert "4111" not in str(refused.value)
    assert bedrock.attempts == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "The model returned the following errors: messages.0.content.0.image.source.base64: Could not process",
        "The model returned the following errors: prompt is too long: 216654 tokens > 200000 maximum",
        "Input is too long for requested model.",
    ],
)
def test_what_is_refused_because_of_its_content(bedrock: Bedrock, sentence: str) -> None:
    bedrock.failing.append(Failing(400, "ValidationException", sentence))
    with pytest.raises(ContentRefused):
        ask()


@pytest.mark.parametrize(
    ("status", "name", "attempts"),
    [
        (408, "ModelTimeoutException", 2),
        (424, "ModelErrorException", 1),
        (429, "ThrottlingException", 2),
        (500, "InternalServerException", 2),
        (503, "ServiceUnavailableException", 2),
    ],
)
def test_what_may_pass_is_repeated_and_then_unavailable(
    bedrock: Bedrock, status: int, name: str, attempts: int
) -> None:
    bedrock.failing.extend([Failing(status, name)] * 2)
    with pytest.raises(ModelUnavailable, match=f"{status} \\({name}\\)"):
        ask(max_retries=1, timeout_s=20.0)
    assert bedrock.attempts == attempts


def test_the_models_own_time_is_told_from_other_outages(bedrock: Bedrock) -> None:
    bedrock.failing.append(Failing(408, "ModelTimeoutException"))
    with pytest.raises(AnswerTooLate):
        ask(max_retries=0)


def test_a_timeout_is_unavailable(bedrock: Bedrock) -> None:
    bedrock.failing.append(Failing(500, "InternalServerException", delay_s=0.6))
    with pytest.raises(AnswerTooLate, match="APITimeoutError"):
        ask(timeout_s=0.1, max_retries=0)


def test_without_credentials_no_request_is_sent(bedrock: Bedrock, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(ModelRefused, match="no credentials"):
        ask()
    assert bedrock.attempts == 0


def test_without_a_region_it_is_said_when_it_is_asked(bedrock: Bedrock) -> None:
    with pytest.raises(ModelRefused, match="no region"):
        bedrock_when_asked(DEFAULT_BEDROCK_MODEL).call_tool(request())


def test_a_stage_that_observes_with_bedrock_asks_the_model_of_its_settings(bedrock: Bedrock) -> None:
    given = {"NEVE_OBSERVER": "bedrock", "NEVE_BEDROCK_REGION": REGION}
    with pytest.raises(SettingsError, match="NEVE_BEDROCK_MODEL is not set"):
        _ = AwsPorts(Settings.from_environment(given)).observer
    ports = AwsPorts(Settings.from_environment({**given, "NEVE_BEDROCK_MODEL": "eu.anthropic.claude-haiku-5-5"}))
    assert ports.observer.name == "eu.anthropic.claude-haiku-5-5"
    assert ports.observer.longest_s > 0
    assert ports.observer_languages == ("*",)
