"""Sees to the tenant that checks work in, and shows with a key of the moment that the stage works."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from boto3 import Session

from infra.deploy.t0 import run_t0
from infra.operate.stages import settings_of
from local.template import ROOT
from neve.aws_ports import AwsPorts
from neve.ports.engines import Ports
from neve.store.keys import tenant_row
from neve.store.tenants.tenant_rows import SCOPES, read_tenant
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.tell.tenants.keys import add_key, revoke_key
from neve.usecases.work.background.probe_versions import TENANT

LABEL = "a deployment's T0"


def ports_of(session: Session, stage: str) -> Ports:
    """Raises NoSuchStage."""
    return AwsPorts(settings_of(stage, session, encoder_dir=ROOT / "layers" / "encoder", embedder="bge-small"), session)


def make_tenant(ports: Ports) -> None:
    """Make the probe's tenant where it is missing. Nobody learns its first key: what a check needs it makes itself."""
    if ports.table.get(tenant_row(TENANT)) is None:
        create_tenant(ports, TENANT, "first; nobody knows it")


def show(ports: Ports, base_url: str) -> None:
    """Run T0 with a user and a key of its own. Raises T0Failed."""
    with key_of_the_moment(ports) as key:
        run_t0(base_url, key, f"t0-{secrets.token_hex(8)}")


@contextmanager
def key_of_the_moment(ports: Ports) -> Iterator[str]:
    """A key of every scope, which is revoked in the end."""
    item = ports.table.get(tenant_row(TENANT))
    if item is None:
        raise LookupError(TENANT)
    made = add_key(ports, read_tenant(item), SCOPES, LABEL)
    try:
        yield made.key
    finally:
        revoke_key(tenant_scope(ports, TENANT), made.key_id)
