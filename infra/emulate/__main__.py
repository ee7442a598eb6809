"""``make emulate``: the account, data and service stacks on an emulator, and T0 through its REST stage, its stream and
its queues. Recall searches a real OpenSearch: the emulator's domain holds no index."""

from __future__ import annotations

import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from boto3 import Session

from infra.emulate.emulator import REGION, NoEmulator, emulator
from infra.emulate.service_template import LEFT_OUT, known_only, service_template
from infra.emulate.stacks import Account, NotDeployed
from infra.emulate.t0 import T0Failed, run_t0
from local.cloudformation import read_yaml
from local.stack.jars import Server
from local.stack.servers import start_servers
from local.template import ROOT
from neve.adapters.aws.clients import aws_client
from neve.adapters.dynamodb.table import DynamoDbTable
from neve.aws_ports import AwsPorts
from neve.config import Settings
from neve.usecases.tell.tenants.create_tenant import create_tenant

STAGE, SERVICE = "dev", "neve-dev"
BUILD_SHA = "0123456789abcdef"
LAST_OUTPUT = 4_000
"""Characters of the emulator's log that a failure repeats."""


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="neve-emulate-") as temporary:
        folder = Path(temporary)
        began = time.monotonic()
        servers = start_servers([Server.OPENSEARCH], folder)
        try:
            with emulator(folder) as url:
                account = Account(Session("test", "test", region_name=REGION), url)
                _emulate(account, url, servers.urls[Server.OPENSEARCH])
        except (NoEmulator, NotDeployed, T0Failed) as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            log = folder / "emulator.log"
            if log.exists():  # it was started
                print(log.read_text(errors="replace")[-LAST_OUTPUT:], file=sys.stderr)
            return 1
        finally:
            servers.stop()
        print(f"T0 passed after {time.monotonic() - began:.0f} s.")
    return 0


def _emulate(account: Account, url: str, search: str) -> None:
    account.deploy("neve-account", (ROOT / "infra" / "account.yaml").read_text(encoding="utf-8"), {})
    account.deploy(f"{SERVICE}-data", (ROOT / "infra" / "data.yaml").read_text(encoding="utf-8"), {"Stage": STAGE})
    print("account and data stack: as they are.")
    parameters = account.client("ssm")
    parameters.put_parameter(Name=f"/neve/{STAGE}/search-endpoint", Value=search, Type="String", Overwrite=True)
    nested = known_only(read_yaml(ROOT / "infra" / "observability.yaml"))
    packages = [str(ROOT / "layers" / "core"), sysconfig.get_paths()["purelib"]]
    variables = {
        "PYTHONPATH": ":".join(packages),
        "NEVE_ENCODER_DIR": str(ROOT / "layers" / "encoder"),
        "AWS_ENDPOINT_URL": url,
    }
    service = service_template(variables, account.upload(nested.template), BUILD_SHA)
    account.deploy(SERVICE, service.template, {"Stage": STAGE, "BuildSha": BUILD_SHA})
    for kind in LEFT_OUT:
        names = [*service.left_out.get(kind, []), *nested.left_out.get(kind, [])]
        print(f"service stack, left out: {len(names)} {kind} ({LEFT_OUT[kind]})")
    api = account.resources(SERVICE)["Api"]
    run_t0(f"{url}/restapis/{api}/{STAGE}/_user_request_", _first_key(account, url))


def _first_key(account: Account, url: str) -> str:
    """What the operator's command makes."""
    table = account.client("ssm").get_parameter(Name=f"/neve/{STAGE}/table-name")["Parameter"]["Value"]
    session = Session("test", "test", region_name=REGION)
    ports = AwsPorts(Settings(stage=STAGE, table=table), session)
    ports.table = DynamoDbTable(aws_client("dynamodb", endpoint_url=url, session=session), table)
    return create_tenant(ports, "acme").key


if __name__ == "__main__":
    sys.exit(main())
