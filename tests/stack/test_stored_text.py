"""What real servers hold is found by their APIs, in each of them, and not any more once it was removed."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from local.aws.full_stack import FullStack
from local.backend import Choices
from local.stack.shared import VARIABLE
from local.template import read_template
from neve.ports.queue import Message, QueueName
from neve.ports.search import Owner
from neve.ports.table import Delete, Expect, Key, Put
from tests.contract.engines.passages import passage
from tests.servers import need_servers, servers_for

MARKER = "zqplantedvox7"
OWNER = Owner("t1", "u1")


def places(service: FullStack) -> set[str]:
    return {found.place.split()[0] for found in service.stored(MARKER)}


def test_a_planted_text_is_found_in_each_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_servers()
    monkeypatch.setenv(VARIABLE, servers_for("full")[VARIABLE])
    for service_name in ("DYNAMODB", "DYNAMODB_STREAMS", "SQS", "S3"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service_name}", "")  # a service sets them: to be as before in the end
    with closing(FullStack(tmp_path, read_template(), Choices("none"), delays=False)) as service:
        assert service.stored(MARKER) == []
        service.table.write([Put({"pk": "P", "sk": "S", "deep": [{"said": f"of {MARKER}"}]}, Expect.ABSENT)])
        assert places(service) == {"row"}
        service.table.write([Delete(Key("P", "S"))])
        service.objects.put("packs/k", f"of {MARKER}".encode(), content_type="text/plain")
        assert places(service) == {"object"}
        service.objects.delete("packs/k")
        service.queue.send(QueueName.EMBED, [Message({"said": MARKER}, "g")])
        assert places(service) == {"message"}
        assert places(service) == {"message"}, "a look takes nothing away"
        [message] = service.broker.receive(QueueName.EMBED, 10, service.clock.now())
        service.broker.delete(QueueName.EMBED, message.receipt)
        service.search.upsert(OWNER, [passage("item", f"Lives in {MARKER}."), passage("other", "Lives in Oslo.")])
        assert places(service) == {"passage"}
        service.search.trim(OWNER, "item", keep=0, version=2)
        assert service.stored(MARKER) == []
        assert service.search.count(OWNER) == 1
        assert [found.place.split()[0] for found in service.in_stream(MARKER)] == ["INSERT", "REMOVE"], "for 24 h"
