"""The local API Gateway over real HTTP: routing, events, the authorizer, gateway answers, and damaged requests."""

from __future__ import annotations

import base64
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from local.functions import Functions
from local.http.gateway import Gateway
from local.http.message import Request, Response
from local.http.proxy_event import allows, proxy_event
from local.http.routing import Match
from local.http.server import HttpServer
from local.limits.payloads import MAX_HEAD, MAX_PAYLOAD
from local.template import Route, read_template
from neve.http.problems import PROBLEMS, type_of
from tests.patience import PATIENCE_S

TEMPLATE = """
Globals:
  Function: {Handler: app.handler, MemorySize: 128, Timeout: 3}
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      Auth:
        DefaultAuthorizer: Key
        Authorizers:
          Key: {FunctionArn: !GetAtt Guard.Arn, Identity: {Headers: [Authorization]}}
      GatewayResponses:
ANSWERS
  Guard:
    Type: AWS::Serverless::Function
    Properties: {CodeUri: functions/guard/}
  Echo:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: functions/echo/
      Events:
        Post: {Type: Api, Properties: {Method: POST, Path: "/v1/users/{user_id}/things"}}
        Get: {Type: Api, Properties: {Method: get, Path: "/v1/users/{user_id}/things/{thing_id}"}}
        Used: {Type: Api, Properties: {Method: POST, Path: "/v1/users/{user_id}/things/used"}}
        Open: {Type: Api, Properties: {Method: GET, Path: /v1/open, Auth: {Authorizer: NONE}}}
        OpenHead: {Type: Api, Properties: {Method: HEAD, Path: /v1/open, Auth: {Authorizer: NONE}}}
"""
KINDS = {
    "UNAUTHORIZED": 401,
    "ACCESS_DENIED": 403,
    "MISSING_AUTHENTICATION_TOKEN": 404,
    "REQUEST_TOO_LARGE": 413,
    "AUTHORIZER_CONFIGURATION_ERROR": 503,
    "INTEGRATION_FAILURE": 503,
    "DEFAULT_4XX": 422,
    "DEFAULT_5XX": 500,
}
ANSWER = """        {kind}:
          StatusCode: {status}
          ResponseParameters:
            Headers: {{Content-Type: "'application/problem+json'", X-Request-Id: context.requestId}}
          ResponseTemplates: {{application/json: '{{"code":"{kind}","request_id":"$context.requestId"}}'}}
"""
GUARD = """
def handler(event, context):
    key = event["headers"]["authorization"]
    if key == "Bearer broken":
        raise RuntimeError("no store")
    effect = "Deny" if key == "Bearer denied" else "Allow"
    arn = event["methodArn"].split("/")[0] + "/*"
    statement = {"Effect": effect, "Action": "execute-api:Invoke", "Resource": arn}
    return {
        "principalId": "k1",
        "policyDocument": {"Version": "2012-10-17", "Statement": [statement]},
        "context": {"tenant_id": "t1", "count": 3, "yes": True},
    }
"""
ECHO = """
import json

def handler(event, context):
    body = event["body"] or ""
    if body == "crash":
        raise RuntimeError("a fault in the function")
    if body == "malformed":
        return {"body": "no status"}
    if body == "bytes":
        headers = {"Content-Type": "image/png"}
        return {"statusCode": 200, "headers": headers, "body": "AAEC/w==", "isBase64Encoded": True}
    if body == "cookies":
        return {"statusCode": 200, "headers": {"A": "1", "B": "x"}, "multiValueHeaders": {"a": ["2", "3"]}, "body": ""}
    if body.startswith("answer "):
        return {"statusCode": 200, "body": body[-1] * int(body.split()[1])}
    if body == "unchanged":
        return {"statusCode": 304, "headers": {"ETag": '"e"'}}
    event["seconds_left"] = context.get_remaining_time_in_millis() / 1000
    event["function"] = context.function_name
    return {"statusCode": 201, "headers": {"Content-Type": "application/json"}, "body": json.dumps(event)}
"""


class Client:
    """One keep-alive connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)

    def __call__(
        self, method: str, path: str, body: bytes | str | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        sent = body.encode() if isinstance(body, str) else body
        self._connection.request(method, path, sent, {"Authorization": "Bearer good"} if headers is None else headers)
        response = self._connection.getresponse()
        return response.status, response.headers, response.read()

    def close(self) -> None:
        self._connection.close()

    def raw(self, sent: bytes) -> bytes:
        """Everything that comes back to these bytes on a connection of their own."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S) as connection:
            connection.sendall(sent)
            received = b""
            while part := connection.recv(65536):
                received += part
        return received


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the template and its functions."""
    folder = tmp_path_factory.mktemp("gateway")
    answers = "".join(ANSWER.format(kind=kind, status=status) for kind, status in KINDS.items())
    (folder / "template.yaml").write_text(TEMPLATE.replace("ANSWERS\n", answers))
    for name, code in (("guard", GUARD), ("echo", ECHO)):
        (folder / "functions" / name).mkdir(parents=True)
        (folder / "functions" / name / "app.py").write_text(code)
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[Client]:
    template = read_template(folder / "template.yaml")
    server = HttpServer(0)
    server.start(Gateway(template, Functions(template.functions).invoke))
    with closing(Client(server.port)) as client:
        yield client
    server.stop()


def event_of(answer: tuple[int, http.client.HTTPMessage, bytes]) -> dict[str, Any]:
    assert answer[0] == 201, answer
    event: dict[str, Any] = json.loads(answer[2])
    return event


def problem_of(answer: tuple[int, http.client.HTTPMessage, bytes]) -> tuple[int, str]:
    status, headers, body = answer
    problem = json.loads(body)
    assert headers["Content-Type"] == "application/problem+json"
    assert headers["X-Request-Id"] == problem["request_id"]
    return status, problem["code"]


def test_the_event_has_the_shape_of_a_rest_proxy_event(client: Client) -> None:
    event = event_of(client("POST", "/v1/users/u1/things?a=1&b=x%20y&a=2&empty=", "héllo"))
    assert event["resource"] == "/v1/users/{user_id}/things"
    assert event["path"] == "/v1/users/u1/things"
    assert event["httpMethod"] == "POST"
    assert event["pathParameters"] == {"user_id": "u1"}
    assert event["queryStringParameters"] == {"a": "2", "b": "x y", "empty": ""}
    assert event["multiValueQueryStringParameters"] == {"a": ["1", "2"], "b": ["x y"], "empty": [""]}
    assert (event["body"], event["isBase64Encoded"]) == ("héllo", False)
    assert event["requestContext"]["resourcePath"] == event["resource"]
    assert event["function"] == "echo"
    assert 0 < event["seconds_left"] <= 3


def test_the_authorizer_context_reaches_the_function_as_text(client: Client) -> None:
    event = event_of(client("GET", "/v1/users/u1/things/t"))
    assert event["requestContext"]["authorizer"] == {
        "principalId": "k1",
        "tenant_id": "t1",
        "count": "3",
        "yes": "true",
    }


class Guards:
    """A gateway whose authorizer lets the call through that it is asked about, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        self.now = datetime(2026, 3, 2, 12, tzinfo=UTC)
        self.fails = False
        template = replace(read_template(folder / "template.yaml"), authorizer_ttl=timedelta(seconds=60))
        self._gateway = Gateway(template, self._invoke, now=lambda: self.now)

    def _invoke(self, function: str, event: Any) -> Any:
        if function != "guard":
            return {"statusCode": 200, "body": ""}
        self.asked.append(event["headers"]["authorization"])
        if self.fails:
            raise RuntimeError("no store")
        statement = {"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": event["methodArn"]}
        return {"principalId": "k1", "policyDocument": {"Version": "2012-10-17", "Statement": [statement]}}

    def status(self, key: str, thing: str = "t") -> int:
        request = Request("GET", f"/v1/users/u1/things/{thing}", "", [("authorization", key)], b"")
        return self._gateway.handle(request).status


@pytest.fixture
def guards(folder: Path) -> Guards:
    return Guards(folder)


def test_an_authorizer_is_asked_once_in_its_time_about_a_key(guards: Guards) -> None:
    assert [guards.status(key) for key in ("a", "b", "a", "b")] == [200] * 4
    assert guards.asked == ["a", "b"]
    guards.now += timedelta(seconds=60)
    assert guards.status("a") == 200
    assert guards.asked == ["a", "b", "a"]


def test_a_policy_for_one_call_refuses_the_next_one(guards: Guards) -> None:
    assert [guards.status("a", thing) for thing in ("t", "other", "t")] == [200, 403, 200]


def test_an_authorizer_that_failed_is_asked_again(guards: Guards) -> None:
    guards.fails = True
    assert guards.status("a") == 503
    guards.fails = False
    assert guards.status("a") == 200


def test_path_parameters_are_decoded_after_matching(client: Client) -> None:
    event = event_of(client("GET", "/v1/users/a%2Fb/things/%C3%A9%20"))
    assert event["pathParameters"] == {"user_id": "a/b", "thing_id": "é "}
    assert event["path"] == "/v1/users/a%2Fb/things/%C3%A9%20"


def test_a_repeated_header_keeps_its_values(client: Client) -> None:
    answer = client.raw(
        b"GET /v1/open HTTP/1.1\r\nHost: x\r\nX-Thing: one\r\nX-Thing: two\r\nConnection: close\r\n\r\n"
    )
    event = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert event["headers"]["x-thing"] == "two"
    assert event["multiValueHeaders"]["x-thing"] == ["one", "two"]


def test_no_query_and_no_body_are_null(client: Client) -> None:
    event = event_of(client("GET", "/v1/open", headers={}))
    assert event["queryStringParameters"] is None
    assert event["multiValueQueryStringParameters"] is None
    assert event["pathParameters"] is None
    assert event["body"] is None
    assert "authorizer" not in event["requestContext"]


def test_an_api_without_binary_types_loses_bytes_that_are_no_text(client: Client) -> None:
    event = event_of(client("POST", "/v1/users/u/things", b"a\xff"))
    assert (event["body"], event["isBase64Encoded"]) == ("a\ufffd", False)


def test_an_api_that_takes_every_body_for_bytes_hands_on_what_was_sent() -> None:
    """As the template does."""
    match = Match(Route("POST", "/v1/open", "echo", public=True), {})
    for sent in (b"a\xff", b"text"):
        event = proxy_event(Request("POST", "/v1/open", "", [], sent), match, "r", None, binary=read_template().binary)
        assert (base64.b64decode(event["body"]), event["isBase64Encoded"]) == (sent, True)


def test_bytes_travel_as_base64_to_the_caller(client: Client) -> None:
    status, headers, body = client("POST", "/v1/users/u/things", "bytes")
    assert (status, headers["Content-Type"], body) == (200, "image/png", b"\x00\x01\x02\xff")


def test_multi_value_response_headers_win_over_single_ones(client: Client) -> None:
    _, headers, _ = client("POST", "/v1/users/u/things", "cookies")
    assert headers.get_all("a") == ["2", "3"]
    assert headers["B"] == "x"


def test_a_304_has_no_body_and_keeps_the_connection(client: Client) -> None:
    status, headers, body = client("POST", "/v1/users/u/things", "unchanged")
    assert (status, headers["ETag"], body) == (304, '"e"', b"")
    assert "Content-Length" not in headers
    assert event_of(client("GET", "/v1/open"))["path"] == "/v1/open"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/nothing"),
        ("GET", "/v1/users//things/t"),
        ("GET", "/v1/users/u/things/used"),  # the literal resource wins, and it has no GET
        ("DELETE", "/v1/open"),
        ("GET", "/v1/open/"),
        ("OPTIONS", "*"),
    ],
)
def test_an_unknown_route_is_the_gateways_404(client: Client, method: str, path: str) -> None:
    assert problem_of(client(method, path)) == (404, "MISSING_AUTHENTICATION_TOKEN")


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, (401, "UNAUTHORIZED")),
        ({"Authorization": ""}, (401, "UNAUTHORIZED")),
        ({"Authorization": "Bearer denied"}, (403, "ACCESS_DENIED")),
        ({"Authorization": "Bearer broken"}, (503, "AUTHORIZER_CONFIGURATION_ERROR")),
    ],
)
def test_what_the_authorizer_says(client: Client, headers: dict[str, str], expected: tuple[int, str]) -> None:
    assert problem_of(client("GET", "/v1/users/u/things/t", headers=headers)) == expected


@pytest.mark.parametrize("body", ["crash", "malformed"])
def test_a_failing_function_is_a_500_with_a_traceback_on_stderr(
    client: Client, capsys: pytest.CaptureFixture[str], body: str
) -> None:
    status, headers, text = client("POST", "/v1/users/u/things", body)
    assert (status, json.loads(text)["code"]) == (500, "DEFAULT_5XX")
    logged = capsys.readouterr().err
    assert headers["X-Request-Id"] in logged
    assert "RuntimeError" in logged
    assert b"RuntimeError" not in text


def test_every_answer_carries_its_own_request_id(client: Client) -> None:
    ids = {client("GET", path)[1]["X-Request-Id"] for path in ("/v1/open", "/v1/open", "/v1/nothing", "/v1/nothing")}
    assert len(ids) == 4


def test_chunked_bodies_are_put_together(client: Client) -> None:
    answer = client.raw(
        b"POST /v1/users/u/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nConnection: close\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: 1\r\n\r\n"
    )
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["body"] == "abcde"


def test_expect_continue_is_answered_before_the_body(client: Client) -> None:
    with socket.create_connection(("127.0.0.1", client.port), timeout=PATIENCE_S) as connection:
        connection.sendall(
            b"POST /v1/users/u/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\n"
            b"Expect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
        )
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"ok")
        answer = b""
        while part := connection.recv(65536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 201 Created\r\n")


def test_a_body_over_ten_megabytes_is_the_gateways_413(client: Client) -> None:
    declared = client.raw(
        b"POST /v1/users/u/things HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10485761\r\n\r\n"
    )
    assert declared.startswith(b"HTTP/1.1 413 ")
    body = b"x" * (10 * 1024 * 1024 + 1)
    with closing(Client(client.port)) as other:
        assert problem_of(other("POST", "/v1/users/u/things", body)) == (413, "REQUEST_TOO_LARGE")
    head = b"POST /v1/users/u/things HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunked = client.raw(head + b"A00001\r\n" + body + b"\r\n0\r\n\r\n")
    assert chunked.startswith(b"HTTP/1.1 413 ")


def test_lambda_takes_six_megabytes_of_a_request_and_gives_as_many(client: Client) -> None:
    beside = len('{"statusCode": 200, "body": ""}')
    status, _, body = client("POST", "/v1/users/u/things", f"answer {MAX_PAYLOAD - beside} x")
    assert (status, len(body)) == (200, MAX_PAYLOAD - beside)
    too_much = client("POST", "/v1/users/u/things", f"answer {MAX_PAYLOAD - beside + 1} x")
    assert problem_of(too_much) == (500, "DEFAULT_5XX"), "of a function that failed"
    quoted = client("POST", "/v1/users/u/things", f'answer {MAX_PAYLOAD // 2} "')
    assert problem_of(quoted) == (500, "DEFAULT_5XX")
    with closing(Client(client.port)) as other:
        assert problem_of(other("POST", "/v1/users/u/things", b"x" * MAX_PAYLOAD)) == (413, "REQUEST_TOO_LARGE")


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET /v1/open HTTP/9.1.2\r\n\r\n",
        b"GET /v1/open HTTP/1.1\r\n\r\n",
        b"GET /v1/open HTTP/1.1\r\nHost: x\r\nno colon here\r\n\r\n",
        b"GET /v1/open HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n",
        b"GET /v1/open HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 12_000,
        b"GET /" + b"a" * 70_000,
        b"POST /v1/open HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/open HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"POST /v1/open HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"POST /v1/open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /v1/open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused_and_the_connection_closed(client: Client, sent: bytes) -> None:
    head, _, body = client.raw(sent).partition(b"\r\n\r\n")
    problem = json.loads(body)
    assert int(head.split()[1]) == problem["status"] == PROBLEMS["malformed_http"].status
    assert (problem["type"], problem["title"]) == (type_of("malformed_http"), PROBLEMS["malformed_http"].title)
    assert f"\r\nX-Request-Id: {problem['request_id']}".encode() in head
    assert b"\r\nContent-Type: application/problem+json" in head
    assert b"\r\nconnection: close" in head.lower()


def test_request_line_and_header_values_have_ten_kilobytes(client: Client) -> None:
    """One byte more is told how many there are."""
    room = MAX_HEAD - len("GET /v1/open?q= HTTP/1.1") - len("127.0.0.1") - len("close")
    for in_query, in_header in ((room, 0), (100, room - 100), (room + 1, 0), (100, room - 99)):
        line = f"GET /v1/open?q={'x' * in_query} HTTP/1.1"
        sent = f"{line}\r\nHost: 127.0.0.1\r\nConnection: close\r\nA: {'y' * in_header}\r\n\r\n"
        head, _, body = client.raw(sent.encode()).partition(b"\r\n\r\n")
        fits = in_query + in_header == room
        assert int(head.split()[1]) == (201 if fits else 431), head
        if not fits:
            problem = json.loads(body)
            assert problem["code"] == "head_too_large"
            assert f"have {MAX_HEAD + 1} bytes; {MAX_HEAD} are accepted" in problem["detail"]


def test_a_damaged_header_line_never_makes_a_second_request(client: Client) -> None:
    """The bytes behind the damaged line are the body of the first request, not a request of their own."""
    smuggled = b"POST /v1/users/u/things HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
    answer = client.raw(
        b"POST /v1/users/u/things HTTP/1.1\r\nHost: x\r\nno colon here\r\nAuthorization: Bearer good\r\n"
        + f"Content-Length: {len(smuggled)}\r\n\r\n".encode()
        + smuggled
    )
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1


def test_requests_sent_at_once_are_answered_in_order(client: Client) -> None:
    one = b"GET /v1/open?n=%d HTTP/1.1\r\nHost: x\r\n%s\r\n"
    answer = client.raw(one % (1, b"") + one % (2, b"") + one % (3, b"Connection: close\r\n"))
    bodies = [part.partition(b"\r\n\r\n")[2] for part in answer.split(b"HTTP/1.1 201 Created")[1:]]
    assert [json.loads(body)["queryStringParameters"] for body in bodies] == [{"n": "1"}, {"n": "2"}, {"n": "3"}]


def test_a_head_request_is_answered_without_a_body_and_keeps_the_connection(client: Client) -> None:
    status, headers, body = client("HEAD", "/v1/open")
    assert (status, body) == (201, b"")
    assert int(headers["Content-Length"]) > 0
    assert client("HEAD", "/v1/nothing")[0] == 404
    assert event_of(client("GET", "/v1/open"))["path"] == "/v1/open"


def test_an_absolute_url_is_its_path(client: Client) -> None:
    answer = client.raw(b"GET http://localhost/v1/open?q=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    event = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert (event["path"], event["queryStringParameters"]) == ("/v1/open", {"q": "1"})


def test_stop_lets_a_request_finish_and_closes_idle_connections() -> None:
    class Slow:
        """Stops the server from inside a request."""

        def handle(self, request: Request) -> Response:
            threading.Thread(target=server.stop).start()
            while not server.stopping:
                threading.Event().wait(0.01)
            return Response(200, [], b"finished")

        def refuse(self, kind: str) -> Response:
            raise AssertionError(kind)

    server = HttpServer(0)
    server.start(Slow())
    with closing(Client(server.port)) as client:
        status, headers, body = client("GET", "/")
    assert (status, headers["Connection"], body) == (200, "close", b"finished")


def test_a_request_lasts_until_its_answer_is_written() -> None:
    """Or workers would take the interpreter's lock from those who write answers."""
    steps: list[str] = []
    answered = threading.Event()

    class Echo:
        def handle(self, request: Request) -> Response:
            steps.append("handled")
            return Response(200, [], request.body)

        def refuse(self, kind: str) -> Response:
            raise AssertionError(kind)

    @contextmanager
    def during() -> Iterator[None]:
        steps.append("arrived")
        yield
        steps.append("read by the client" if answered.wait(PATIENCE_S) else "left before it was written")

    server = HttpServer(0)
    server.start(Echo(), during)
    try:
        with closing(Client(server.port)) as client:
            assert client("POST", "/", b"words")[2] == b"words"
            answered.set()
    finally:
        assert server.stop()
    assert steps == ["arrived", "handled", "read by the client"]


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ([("Allow", "execute-api:Invoke", "arn:x/local/*")], True),
        ([("Allow", "*", "*")], True),
        ([("Allow", "execute-api:Invoke", "arn:x/other/*")], False),
        ([("Allow", "s3:GetObject", "*")], False),
        ([("Allow", "execute-api:Invoke", "*"), ("Deny", "execute-api:*", "arn:x/local/GET/*")], False),
        ([], False),
    ],
)
def test_a_deny_beats_every_allow(statements: list[tuple[str, str, str]], expected: bool) -> None:
    policy = {"Statement": [{"Effect": e, "Action": [a], "Resource": r} for e, a, r in statements]}
    assert allows(policy, "arn:x/local/GET/v1/open") is expected
