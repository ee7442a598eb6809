"""``make emulate``: the steps of ``make deploy`` on an emulator, T0 through its REST stage, its stream and its queues,
and the plans of a tenant that floods it. Recall searches segments, as the stage dev does; with ``--domain`` a real
OpenSearch, as the emulator's domain holds no index. With ``--restore`` the table is lost and restored in between,
beside a domain (``make rehearse-restore``)."""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from boto3 import Session

from infra.deploy.cloud import Cloud, NotReady
from infra.deploy.deployment import deploy
from infra.deploy.steps import StepFailed
from infra.deploy.t0 import T0Failed
from infra.deploy.wanted import Wanted
from infra.emulate.artifacts import upload
from infra.emulate.emulator import REGION, NoEmulator, emulator
from infra.emulate.plans import NotPlanned, play_plans
from infra.emulate.rehearsal import NotRestored, rehearse
from infra.emulate.service_template import ARTIFACTS, LEFT_OUT, known_only, service_template
from local.cloudformation import read_yaml
from local.stack.jars import Server
from local.stack.servers import start_servers
from local.template import ROOT

STAGE = "dev"
BUILD_SHA, NEXT_SHA = "0123456789abcdef", "123456789abcdef0"
"""The second names the versions that know another table: SAM makes none while the sum is the same."""
OPTIONS = ("--no-resolve-s3", "--s3-bucket", ARTIFACTS)
"""The bucket that SAM would make is described in SAM's own language, which the emulator does not read."""
LAST_OUTPUT = 4_000
"""Characters of the emulator's log that a failure repeats."""


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="neve-emulate-") as temporary:
        folder = Path(temporary)
        began = time.monotonic()
        domain = bool({"--domain", "--restore"} & set(sys.argv[1:]))
        servers = start_servers([Server.OPENSEARCH] if domain else [], folder)
        try:
            with emulator(folder) as url:
                os.environ.update(_nobody(url))
                _emulate(Cloud(Session()), url, servers.urls.get(Server.OPENSEARCH), folder)
        except (NoEmulator, NotReady, StepFailed, T0Failed, NotRestored, NotPlanned) as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            log = folder / "emulator.log"
            if log.exists():  # it was started
                print(log.read_text(errors="replace")[-LAST_OUTPUT:], file=sys.stderr)
            return 1
        finally:
            servers.stop()
        print(f"Deployed, T0 passed, and the same again after {time.monotonic() - began:.0f} s.")
    return 0


def _nobody(url: str) -> dict[str, str]:
    """What the environment says to every client and command from now on."""
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_SESSION_TOKEN": ""}
    return keys | {"AWS_ENDPOINT_URL": url, "AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION}


def _emulate(cloud: Cloud, url: str, search: str | None, folder: Path) -> None:
    """``search``: where the search domain is; None: there is none."""
    nested = known_only(read_yaml(ROOT / "infra" / "observability.yaml"))
    packages = [str(ROOT / "layers" / "core"), sysconfig.get_paths()["purelib"]]
    variables = {
        "PYTHONPATH": ":".join(packages),
        "NEVE_ENCODER_DIR": str(ROOT / "layers" / "encoder"),
        "AWS_ENDPOINT_URL": url,
    }
    upload(cloud.client("s3"))
    alarms, template = folder / "observability.json", folder / "service.json"
    alarms.write_text(nested.template, encoding="utf-8")
    service = service_template(variables, str(alarms), BUILD_SHA)
    template.write_text(service.template, encoding="utf-8")
    for kind in LEFT_OUT:
        names = [*service.left_out.get(kind, []), *nested.left_out.get(kind, [])]
        print(f"service stack, left out: {len(names)} {kind} ({LEFT_OUT[kind]})")
    stores = () if search is None else ("Search=opensearch",)
    wanted = Wanted(STAGE, stores=stores, template=template, sam_options=OPTIONS)

    def address() -> str:
        stack = cloud.client("cloudformation").describe_stack_resource(
            StackName=wanted.service, LogicalResourceId="Api"
        )
        api = stack["StackResourceDetail"]["PhysicalResourceId"]
        return f"{url}/restapis/{api}/{STAGE}/_user_request_"

    emulated = cloud if search is None else EmulatedCloud(cloud.session, search)
    deploy(emulated, wanted, address=address)

    def deploy_again() -> None:
        deploy(emulated, wanted, address=address)

    def deploy_next() -> None:
        template.write_text(service_template(variables, str(alarms), NEXT_SHA).template, encoding="utf-8")
        deploy_again()

    if "--restore" in sys.argv[1:] and search is not None:
        rehearse(emulated, STAGE, search, address, deploy_next)
    else:
        play_plans(emulated, STAGE, wanted.service)
        deploy_again()


class EmulatedCloud(Cloud):
    """An emulator, whose search domain is a server of this machine: the data stack has said another one."""

    def __init__(self, session: Session, search: str) -> None:
        super().__init__(session)
        self._search = search

    def parameters(self, stage: str) -> dict[str, str]:
        name = f"/neve/{stage}/search-endpoint"
        self.client("ssm").put_parameter(Name=name, Value=self._search, Type="String", Overwrite=True)
        return dict(super().parameters(stage))


if __name__ == "__main__":
    sys.exit(main())
