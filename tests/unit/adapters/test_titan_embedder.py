"""Titan on the real Bedrock client against a loopback server that speaks InvokeModel: what is sent, and what each
answer becomes."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from runpy import run_path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from botocore.config import Config
from botocore.session import Session as BareSession
from botocore.stub import Stubber

from neve.adapters.aws.clients import aws_client
from neve.adapters.embedders.titan_embedder import DIMENSIONS, MAX_BYTES, MAX_THREADS, MODEL_TAG, NOTHING, TitanEmbedder
from neve.ports.errors import EmbeddingRetryable, EmbeddingUnavailable
from neve.ports.models import Calibration
from tests.unit.aws_world import SESSION, AnsweringServer, Reply, Request, answering_server, json_error

if TYPE_CHECKING:
    from types_boto3_bedrock_runtime import BedrockRuntimeClient

CALIBRATE = Path(__file__).resolve().parents[3] / "layers" / "encoder" / "calibrate.py"


class Titan(AnsweringServer):
    """Answers every text that is sent with a vector of its own, unless a test gave it replies."""

    def enter(self, request: Request) -> Reply:
        given = super().enter(request)
        return given if given.status != 200 or given.body else replace(given, body=answer(request.json()["inputText"]))


def answer(text: str) -> dict[str, Any]:
    """Of a length that is not 1, as no answer should be trusted to have."""
    numbers = [float(ord(character)) for character in text[:3]] + [1.0] * (DIMENSIONS - len(text[:3]))
    return {"embedding": numbers, "inputTextTokenCount": 3, "embeddingsByType": {"float": numbers}}


@pytest.fixture
def server() -> Iterator[AnsweringServer]:
    with answering_server(Titan) as running:
        running.otherwise = Reply()
        yield running


@pytest.fixture
def client(server: AnsweringServer) -> Iterator[BedrockRuntimeClient]:
    with closing(aws_client("bedrock-runtime", endpoint_url=server.url, session=SESSION)) as made:
        yield made


@pytest.fixture
def calibrations(tmp_path: Path) -> Path:
    path = tmp_path / "calibrations.json"
    path.write_text(json.dumps({MODEL_TAG: {"random_median": 0.1, "paraphrase_median": 0.6}}))
    return path


@pytest.fixture
def titan(client: BedrockRuntimeClient, calibrations: Path) -> TitanEmbedder:
    return TitanEmbedder(client, calibrations)


def numbers(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{DIMENSIONS}f", vector)


# --- what is sent and what comes back -------------------------------------------------------------


def test_a_text_is_one_call_of_the_model(server: AnsweringServer, titan: TitanEmbedder) -> None:
    vector = titan.embed_query("naïve 😀")
    [request] = server.requests
    assert unquote(request.path) == "/model/amazon.titan-embed-text-v2:0/invoke"
    assert request.json() == {"inputText": "naïve 😀", "dimensions": 512, "normalize": True}
    assert (titan.model.tag, titan.model.dimensions, len(vector)) == ("titan-embed-text-v2-512", 512, 4 * 512)


def test_vectors_are_normalised(titan: TitanEmbedder) -> None:
    found = numbers(titan.embed_query("abc"))
    assert sum(number * number for number in found) == pytest.approx(1.0, abs=1e-5)
    assert found[0] / found[3] == pytest.approx(ord("a"), rel=1e-5)


def test_passages_come_back_in_their_order_some_at_once(server: AnsweringServer, titan: TitanEmbedder) -> None:
    texts = [chr(ord("a") + n) for n in range(20)]
    server.otherwise = Reply(delay_s=0.05)
    found = titan.embed_passages(texts)
    assert [round(numbers(vector)[0] / numbers(vector)[1]) for vector in found] == list(map(ord, texts))
    assert found[3] == titan.embed_query(texts[3])
    assert 1 < server.most_at_once <= MAX_THREADS
    assert titan.embed_passages([]) == []


def test_texts_that_the_model_refuses_are_mended(server: AnsweringServer, titan: TitanEmbedder) -> None:
    for text in ("", " \n", "a \ud800 b", "é" * MAX_BYTES):
        titan.embed_query(text)
    sent = [request.json()["inputText"] for request in server.requests]
    assert sent == [NOTHING, NOTHING, "a ? b", "é" * (MAX_BYTES // 2)]


def test_the_request_is_the_one_that_the_sdk_knows() -> None:
    session = BareSession()
    session.set_credentials("test", "test")
    made = session.create_client("bedrock-runtime", region_name="us-east-1")
    with closing(made) as client, Stubber(client) as stubbed:
        body = json.dumps({"inputText": "tea", "dimensions": 512, "normalize": True})
        expected = {"modelId": "amazon.titan-embed-text-v2:0", "body": body}
        json_types = {"contentType": "application/json", "accept": "application/json"}
        stubbed.add_client_error("invoke_model", "ThrottlingException", "", 429, expected_params=expected | json_types)
        titan = TitanEmbedder(client, calibrations=None)  # type: ignore[arg-type]
        with pytest.raises(EmbeddingRetryable, match="InvokeModel: ThrottlingException"):
            titan.embed_query("tea")
        stubbed.assert_no_pending_responses()


# --- calibration ----------------------------------------------------------------------------------


def test_calibration_is_what_the_file_says(titan: TitanEmbedder) -> None:
    assert titan.calibration == Calibration(0.1, 0.6)


@pytest.mark.parametrize(
    "content",
    [
        None,
        "{",
        "{}",
        json.dumps({MODEL_TAG: {"random_median": 0.1}}),
        json.dumps({MODEL_TAG: {"random_median": 0.6, "paraphrase_median": 0.6}}),
    ],
)
def test_without_a_calibration_nothing_is_embedded_and_the_command_is_named(
    server: AnsweringServer, client: BedrockRuntimeClient, tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "calibrations.json"
    if content is not None:
        path.write_text(content)
    titan = TitanEmbedder(client, path)
    for call in (lambda: titan.embed_query("tea"), lambda: titan.embed_passages(["tea"]), lambda: titan.calibration):
        with pytest.raises(
            EmbeddingUnavailable, match=r"no calibration .*run 'python layers/encoder/calibrate\.py titan'"
        ):
            call()
    assert server.requests == []


def test_it_can_be_calibrated(server: AnsweringServer, client: BedrockRuntimeClient, tmp_path: Path) -> None:
    """The server's vectors depend on the first letters alone: paraphrases there begin alike."""
    calibrate = run_path(str(CALIBRATE))
    pairs = [calibrate["Pair"](*one) for one in (("tea", "tea please"), ("dog", "dogs bark"), ("zoo", "zoology"))]
    titan = TitanEmbedder(client, calibrations=None)
    record = calibrate["measure"](titan, pairs)
    assert record["paraphrase_median"] == pytest.approx(1.0, abs=1e-4)
    assert record["random_median"] < record["paraphrase_median"]
    with pytest.raises(EmbeddingUnavailable, match="being calibrated"):
        _ = titan.calibration
    path = tmp_path / "calibrations.json"
    path.write_text(json.dumps({"another": {}}))
    calibrate["write_record"](titan, path)
    assert set(json.loads(path.read_text())) == {"another", MODEL_TAG}
    assert len(server.requests) == 6 + 2 * len(calibrate["read_pairs"]())


# --- failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "code", "kind", "attempts"),
    [
        (429, "ThrottlingException", EmbeddingRetryable, 2),
        (500, "InternalServerException", EmbeddingRetryable, 2),
        (503, "ServiceUnavailableException", EmbeddingRetryable, 2),
        (408, "ModelTimeoutException", EmbeddingRetryable, 1),
        (424, "ModelErrorException", EmbeddingRetryable, 1),
        (400, "ValidationException", EmbeddingUnavailable, 1),
        (403, "AccessDeniedException", EmbeddingUnavailable, 1),
        (403, "ExpiredTokenException", EmbeddingUnavailable, 1),
        (404, "ResourceNotFoundException", EmbeddingUnavailable, 1),
    ],
)
def test_refusals(
    server: AnsweringServer, titan: TitanEmbedder, status: int, code: str, kind: type[Exception], attempts: int
) -> None:
    server.otherwise = json_error(status, code)
    with pytest.raises(kind, match=f"{MODEL_TAG}: InvokeModel: {code}") as caught:
        titan.embed_query("tea")
    assert "ann" not in str(caught.value)
    assert len(server.requests) == attempts


def test_one_text_that_fails_ends_the_call(server: AnsweringServer, titan: TitanEmbedder) -> None:
    server.replies = [json_error(400, "ValidationException")]
    with pytest.raises(EmbeddingUnavailable, match="ValidationException"):
        titan.embed_passages(["a", "b", "c"])


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>", EmbeddingRetryable),
        ({"vector": []}, EmbeddingRetryable),
        ({"embedding": None}, EmbeddingRetryable),
        ([1, 2], EmbeddingRetryable),
        ({"embedding": ["x"] * DIMENSIONS}, EmbeddingRetryable),
        ({"embedding": [0.0] * DIMENSIONS}, EmbeddingRetryable),
        ({"embedding": [float("nan")] * DIMENSIONS}, EmbeddingRetryable),
        ({"embedding": [1.0] * 1024}, EmbeddingUnavailable),
    ],
)
def test_answers_that_hold_no_vector(
    server: AnsweringServer, titan: TitanEmbedder, body: Any, kind: type[Exception]
) -> None:
    server.otherwise = Reply(body=body)
    with pytest.raises(kind, match=MODEL_TAG):
        titan.embed_query("tea")


def test_an_answer_that_breaks_off_may_be_asked_for_again(server: AnsweringServer, titan: TitanEmbedder) -> None:
    server.otherwise = Reply(body=answer("tea"), cut=10)
    with pytest.raises(EmbeddingRetryable):
        titan.embed_query("tea")


def test_no_server_may_come_back(calibrations: Path) -> None:
    with answering_server() as gone:
        url = gone.url
    with closing(aws_client("bedrock-runtime", endpoint_url=url, session=SESSION)) as client:
        titan = TitanEmbedder(client, calibrations)
        with pytest.raises(EmbeddingRetryable, match="EndpointConnectionError"):
            titan.embed_query("tea")


def test_a_timeout_may_pass(server: AnsweringServer, calibrations: Path) -> None:
    server.otherwise = Reply(delay_s=1.0)
    config = Config(read_timeout=0.05, retries={"total_max_attempts": 1, "mode": "standard"})
    with closing(SESSION.client("bedrock-runtime", endpoint_url=server.url, config=config)) as client:
        titan = TitanEmbedder(client, calibrations)
        with pytest.raises(EmbeddingRetryable, match="ReadTimeoutError"):
            titan.embed_query("tea")


def test_without_credentials_it_is_unavailable(server: AnsweringServer, calibrations: Path) -> None:
    session = BareSession()
    session.register_component("credential_provider", NoCredentials())
    made = session.create_client("bedrock-runtime", region_name="us-east-1", endpoint_url=server.url)
    with closing(made) as client:
        titan = TitanEmbedder(client, calibrations)  # type: ignore[arg-type]
        with pytest.raises(EmbeddingUnavailable, match="NoCredentialsError"):
            titan.embed_query("tea")


class NoCredentials:
    """A machine that has none, whatever this one has."""

    def load_credentials(self) -> None:
        return None
