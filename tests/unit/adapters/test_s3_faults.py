"""What goes wrong between the S3 adapter and S3, on the real client, and a pack build that loses its table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.config import Config

from neve.adapters.aws.clients import aws_client
from neve.adapters.aws.s3_objects import CONFLICT_ATTEMPTS, S3Objects
from neve.ports.errors import StoreUnavailable
from neve.usecases.ask.pack.read_pack import PackView, read_pack
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.core.pack.versions import pack_versions
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from tests.unit.aws_world import SESSION, AnsweringServer, Reply, answering_server, mock_aws, s3_error
from tests.unit.world import World

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

TEXT = "text/plain"
DONE = Reply(headers={"etag": '"e"'})
PRECONDITION = s3_error(412, "PreconditionFailed")
CONFLICT = s3_error(409, "ConditionalRequestConflict")


@pytest.fixture
def server() -> Iterator[AnsweringServer]:
    with answering_server() as running:
        yield running


@pytest.fixture
def client(server: AnsweringServer) -> Iterator[S3Client]:
    with closing(aws_client("s3", endpoint_url=server.url, session=SESSION)) as made:
        yield made


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def objects(client: S3Client, pauses: list[float]) -> S3Objects:
    return S3Objects(client, "bucket", pauses.append)


def methods(server: AnsweringServer) -> list[str]:
    return [request.method for request in server.requests]


# --- creating -----------------------------------------------------------------------------------


def test_a_new_object_is_asked_for_on_condition(server: AnsweringServer, objects: S3Objects) -> None:
    server.replies = [DONE]
    assert objects.put_new("k", b"body", content_type=TEXT) is True
    [request] = server.requests
    assert (request.method, request.path, request.body) == ("PUT", "/bucket/k", b"body")
    assert (request.headers["if-none-match"], request.headers["content-type"]) == ("*", TEXT)


def test_a_failed_precondition_is_an_object_that_exists(server: AnsweringServer, objects: S3Objects) -> None:
    server.replies = [PRECONDITION]
    assert objects.put_new("k", b"body", content_type=TEXT) is False
    assert methods(server) == ["PUT"]


def test_a_conflict_is_tried_again(server: AnsweringServer, objects: S3Objects, pauses: list[float]) -> None:
    server.replies = [CONFLICT, CONFLICT, DONE]
    assert objects.put_new("k", b"body", content_type=TEXT) is True
    assert len(pauses) == 2
    assert all(0 <= pause < 1 for pause in pauses)


def test_a_conflict_that_another_writer_won_is_an_object_that_exists(
    server: AnsweringServer, objects: S3Objects
) -> None:
    server.replies = [CONFLICT, PRECONDITION, Reply(headers={"x-amz-meta-write": "somebody else's"})]
    assert objects.put_new("k", b"body", content_type=TEXT) is False
    assert methods(server) == ["PUT", "PUT", "HEAD"]


def test_a_conflict_for_good_is_unavailable(server: AnsweringServer, objects: S3Objects, pauses: list[float]) -> None:
    server.otherwise = CONFLICT
    with pytest.raises(StoreUnavailable, match="ConditionalRequestConflict"):
        objects.put_new("k", b"body", content_type=TEXT)
    assert (len(server.requests), len(pauses)) == (CONFLICT_ATTEMPTS, CONFLICT_ATTEMPTS - 1)


def test_a_write_whose_answer_was_lost_is_recognised(server: AnsweringServer, objects: S3Objects) -> None:
    """The SDK sends it again, and S3 says that the object exists: it is our own."""

    def what_was_written() -> Reply:
        return Reply(headers={"x-amz-meta-write": server.requests[0].headers["x-amz-meta-write"]})

    server.replies = [Reply(lost=True), PRECONDITION, what_was_written]
    assert objects.put_new("k", b"body", content_type=TEXT) is True
    assert methods(server) == ["PUT", "PUT", "HEAD"]


def test_another_writers_object_is_not_taken_for_one_whose_answer_was_lost(
    server: AnsweringServer, objects: S3Objects
) -> None:
    server.replies = [Reply(lost=True), PRECONDITION, Reply(headers={"x-amz-meta-write": "somebody else's"})]
    assert objects.put_new("k", b"body", content_type=TEXT) is False


def test_an_object_that_went_meanwhile_was_not_written(server: AnsweringServer, objects: S3Objects) -> None:
    server.replies = [Reply(lost=True), PRECONDITION, Reply(404)]
    assert objects.put_new("k", b"body", content_type=TEXT) is False


# --- everything else ----------------------------------------------------------------------------


def test_a_busy_store_is_asked_again(server: AnsweringServer, objects: S3Objects) -> None:
    server.replies = [s3_error(503, "SlowDown"), Reply(body=b"whole")]
    assert objects.get("k") == b"whole"


@pytest.mark.parametrize(
    ("status", "code", "attempts"),
    [(503, "SlowDown", 3), (500, "InternalError", 3), (400, "ExpiredToken", 1), (403, "AccessDenied", 1)],
)
def test_a_refusal_for_good_is_unavailable_and_names_its_code(
    server: AnsweringServer, objects: S3Objects, status: int, code: str, attempts: int
) -> None:
    server.otherwise = s3_error(status, code)
    with pytest.raises(StoreUnavailable, match=f"PutObject: {code}") as caught:
        objects.put("packs/acme/ann", b"", content_type=TEXT)
    assert "ann" not in str(caught.value)
    assert len(server.requests) == attempts


def test_every_method_translates(server: AnsweringServer, objects: S3Objects) -> None:
    server.otherwise = s3_error(403, "ExpiredToken")
    for call in (
        lambda: objects.put("k", b"", content_type=TEXT),
        lambda: objects.put_new("k", b"", content_type=TEXT),
        lambda: objects.get("k"),
        lambda: objects.delete("k"),
        lambda: objects.list(""),
        lambda: objects.page(""),
    ):
        with pytest.raises(StoreUnavailable, match="ExpiredToken"):
            call()


def test_a_missing_object_is_none_and_a_missing_bucket_is_unavailable(
    server: AnsweringServer, objects: S3Objects
) -> None:
    server.replies = [s3_error(404, "NoSuchKey"), s3_error(404, "NoSuchBucket")]
    assert objects.get("k") is None
    with pytest.raises(StoreUnavailable, match="NoSuchBucket"):
        objects.get("k")


def test_a_body_that_breaks_off_is_unavailable(server: AnsweringServer, objects: S3Objects) -> None:
    server.replies = [Reply(body=b"whole body", cut=4)]
    with pytest.raises(StoreUnavailable):
        objects.get("k")


def test_a_bucket_that_cannot_be_one_is_a_value_error(server: AnsweringServer, client: S3Client) -> None:
    objects = S3Objects(client, "not a bucket")
    with pytest.raises(ValueError, match="ParamValidationError"):
        objects.get("k")
    assert server.requests == []


def test_no_server_is_unavailable() -> None:
    with answering_server() as gone:
        url = gone.url
    with closing(aws_client("s3", endpoint_url=url, session=SESSION)) as client:
        objects = S3Objects(client, "bucket")
        with pytest.raises(StoreUnavailable, match="EndpointConnectionError") as caught:
            objects.get("packs/acme/ann")
    assert "ann" not in str(caught.value)


def test_a_server_that_does_not_answer_is_unavailable(server: AnsweringServer) -> None:
    server.otherwise = Reply(delay_s=1.0)
    config = Config(read_timeout=0.05, retries={"total_max_attempts": 2, "mode": "standard"})
    with closing(SESSION.client("s3", endpoint_url=server.url, config=config)) as client:
        objects = S3Objects(client, "bucket")
        with pytest.raises(StoreUnavailable, match="ReadTimeoutError"):
            objects.get("k")


def test_an_upload_is_signed_with_its_content_type_and_end() -> None:
    with closing(aws_client("s3", session=SESSION)) as client:
        url = S3Objects(client, "bucket").presign_put("images/a b", content_type="image/png", expires_s=900, size=7)
    query = parse_qs(urlsplit(url).query)
    assert urlsplit(url).path.endswith("/images/a%20b")
    assert query["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]
    assert query["X-Amz-SignedHeaders"] == ["content-length;content-type;host;if-none-match"]
    assert query["X-Amz-Expires"] == ["900"]


# --- a pack whose object is written and whose pointer is not -------------------------------------


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World.make(tmp_path)
    with mock_aws(), closing(aws_client("s3", session=SESSION)) as client:
        client.create_bucket(Bucket="packs")
        made.objects = S3Objects(client, "packs")  # type: ignore[assignment]
        made.open()
        yield made
    made.table.close()


def remember(world: World, text: str) -> None:
    create_memory(world.user("ann"), NewMemory(text))


def served(world: World) -> PackView:
    return read_pack(world.user("ann").of_session("s1"))


def rebuild(world: World) -> int:
    return build_pack(world.user("ann").of_session("s1"), "horizon").manifest.pack_version


def refuse_the_pointer(world: World) -> None:
    """The object of the version is there, and the table says no."""

    def refuse() -> None:
        raise StoreUnavailable("table", "throttled")

    world.table.before_write = refuse


def test_the_next_build_takes_over_the_object(world: World) -> None:
    before = served(world)
    remember(world, "likes tea")
    refuse_the_pointer(world)
    with pytest.raises(StoreUnavailable, match="throttled"):
        rebuild(world)
    left = world.objects.get(world.tenant.keys.of_user("ann").of_session("s1").pack_object(2))
    assert left is not None
    after = served(world)
    assert (after.text, after.manifest, after.degraded) == (before.text, before.manifest, ("pack:stale",))
    assert rebuild(world) == 2
    assert world.objects.get(world.tenant.keys.of_user("ann").of_session("s1").pack_object(2)) == left
    view = served(world)
    assert view.text is not None
    assert "likes tea" in view.text
    assert view.degraded == ()


def test_the_next_build_steps_over_an_object_of_other_rows(world: World) -> None:
    served(world)
    remember(world, "likes tea")
    refuse_the_pointer(world)
    with pytest.raises(StoreUnavailable):
        rebuild(world)
    remember(world, "likes coffee")
    assert rebuild(world) == 3
    view = served(world)
    assert view.text is not None
    assert "likes coffee" in view.text
    versions, _ = pack_versions(world.user("ann").of_session("s1"), 10, None)
    assert [manifest.pack_version for manifest in versions] == [3, 1]
