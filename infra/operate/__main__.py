"""``python -m infra.operate --stage dev create-tenant acme``: see docs/deploy.md.

Works with the caller's AWS credentials on the stage's stores. Without ``--stage`` on those that the environment names
(NEVE_TABLE, NEVE_BUCKET, NEVE_SEARCH_ENDPOINT), such as the servers of ``make run STACK=full``."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import datetime

from boto3 import Session

from infra.operate.console import NotBuilt, put_console
from infra.operate.plans import NO_PLAN, PLANS, NoSuchPlan, put_key_into, remove_key
from infra.operate.restore import restore_table
from infra.operate.stages import NoAccount, NoSuchStage, settings_of
from local.reindex.in_place import reindex_segments
from local.reindex.search_domain import reindex_stage
from local.template import ROOT
from neve.adapters.embedders import cross_encoder, multi_e5
from neve.adapters.model_files import CONTENT_TYPE, FolderFiles, model_object
from neve.aws_ports import AwsPorts
from neve.config import SettingsError, needed
from neve.domain.errors import NeveError
from neve.observability import log_to_stderr
from neve.ports.engines import Ports
from neve.ports.errors import Conflict, EmbeddingRetryable, EmbeddingUnavailable, ModelMissing, StoreUnavailable
from neve.scope import TenantData, UserData
from neve.store.keys import Keys, UserKeys, tenant_row
from neve.store.tenants import tenant_rows
from neve.store.tenants.directory import all_tenants
from neve.store.tenants.tenant_rows import SCOPES
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.tell.tenants.keys import CreatedKey, add_key
from neve.usecases.tell.tenants.make_token import end_all_tokens
from neve.usecases.tell.tenants.plans import put_into_plan
from neve.usecases.work.erase import erase_user
from neve.usecases.work.erase.erase_user import ErasureUnderWay, UserNotFound
from neve.usecases.work.erase.remove_tenant import TenantNotFound, close_tenant, erase_tenant
from neve.usecases.work.indexing.index_events import EmbedAgain
from neve.usecases.work.retract.shared_elsewhere import take_back_everywhere

FAILURES = (
    *(NoAccount, NoSuchStage, TenantNotFound, UserNotFound, ErasureUnderWay, NeveError, StoreUnavailable, Conflict),
    *(SettingsError, EmbeddingUnavailable, EmbeddingRetryable, EmbedAgain, ModelMissing),
    *(NotBuilt, NoSuchPlan),
)
EMBEDDERS = ("bge-small", "titan", "none")
ENCODER = ROOT / "layers" / "encoder"
"""Where `make encoder` puts the bundled model. Whoever opens the search index names a model, if only to remove rows."""
OPTIONAL_MODELS = (
    (cross_encoder.FILES, ENCODER / "reranker", "make reranker"),
    (multi_e5.FILES, ENCODER / "multi", "make multi"),
)


def main() -> int:
    given = parser().parse_args()
    log_to_stderr()
    given.chosen = {"encoder_dir": ENCODER} | ({"embedder": given.embedder} if "embedder" in given else {})
    try:
        given.session = session = Session()
        given.settings = settings_of(given.stage, session, **given.chosen)
        given.run(AwsPorts(given.settings, session), given)
    except FAILURES as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m infra.operate", description="Operate a deployed stage of Neve.")
    made.add_argument("--stage", help="dev, staging or prod; left out: the stores that the environment names")
    commands = made.add_subparsers(required=True, metavar="command")
    commands.add_parser("tenants", help="name every tenant").set_defaults(run=_list_tenants)
    created = commands.add_parser("create-tenant", help="a new tenant; prints its first key, once")
    created.add_argument("tenant")
    created.set_defaults(run=_create_tenant)
    issued = commands.add_parser("issue-key", help="another key of every scope, for a tenant that has lost its own")
    issued.add_argument("tenant")
    issued.set_defaults(run=_issue_key)
    planned = commands.add_parser("set-plan", help="which usage plan of the gateway limits a tenant's calls")
    planned.add_argument("tenant")
    planned.add_argument("plan", choices=(*PLANS, NO_PLAN), help="none: the limits of the stage alone")
    planned.set_defaults(run=_set_plan)
    ended = commands.add_parser("end-tokens", help="every access token of the stage ends, within a minute")
    ended.add_argument("--yes", action="store_true", required=True, help="there is no way back")
    ended.set_defaults(run=_end_tokens)
    removed = commands.add_parser("remove-tenant", help="a tenant and everything that is kept for it, for good")
    removed.add_argument("tenant")
    removed.add_argument("--yes", action="store_true", required=True, help="there is no way back")
    removed.set_defaults(run=_remove_tenant)
    erased = commands.add_parser("erase-user", help="everything that is kept of one user, for good")
    erased.add_argument("tenant")
    erased.add_argument("user")
    erased.add_argument("--close", action="store_true", help="the id is refused for good; without it, it is a new user")
    erased.add_argument("--yes", action="store_true", required=True, help="there is no way back")
    erased.set_defaults(run=_erase_user)
    filled = commands.add_parser("reindex", help="fill a model's search index from the table and put it into use")
    filled.add_argument("--embedder", choices=EMBEDDERS, default="bge-small", help="whose vectors (bge-small)")
    filled.add_argument("--drop-old", action="store_true", help="then remove the indexes that are not in use any more")
    filled.set_defaults(run=_reindex)
    restored = commands.add_parser("restore-table", help="a copy of the table as it was, for the next deployment")
    restored.add_argument("--at", type=_moment, help="2026-11-21T09:00:00Z; left out: the last moment that there is")
    restored.set_defaults(run=_restore_table)
    models = commands.add_parser("put-models", help="the optional models that were fetched, into the stage's bucket")
    models.set_defaults(run=_put_models)
    page = commands.add_parser("put-console", help="the console that was built, into the bucket of its stack")
    page.set_defaults(run=_put_console)
    return made


def _put_console(_: Ports, given: argparse.Namespace) -> None:
    for line in put_console(given.session, given.stage):
        print(line, flush=True)


def _put_models(ports: Ports, _: argparse.Namespace) -> None:
    """What is there already stays: its name is its sum. A model that was not fetched here is left out, and said."""
    missing: list[str] = []
    for files, folder, fetched_by in OPTIONAL_MODELS:
        if not all((folder / file.name).is_file() for file in files):
            missing.append(fetched_by)
            continue
        for file in files:
            content = FolderFiles(folder).path(file).read_bytes()
            new = ports.objects.put_new(model_object(file), content, content_type=CONTENT_TYPE)
            print(f"{model_object(file)} {'put' if new else 'was there'}")
    for fetched_by in missing:
        print(f"NOT put, because it is not here: what '{fetched_by}' fetches")
    if len(missing) == len(OPTIONAL_MODELS):
        raise ModelMissing("no optional model was fetched")


def _list_tenants(ports: Ports, _: argparse.Namespace) -> None:
    for tenant in all_tenants(ports.table):
        print(tenant)


def _create_tenant(ports: Ports, given: argparse.Namespace) -> None:
    _show(create_tenant(ports, given.tenant, "first"))


def _issue_key(ports: Ports, given: argparse.Namespace) -> None:
    """Past the limit of ten live keys, which is for tenants who can still revoke one."""
    item = ports.table.get(tenant_row(given.tenant))
    if item is None:
        raise TenantNotFound(given.tenant)
    _show(add_key(ports, tenant_rows.read_tenant(item), SCOPES, "issued by the operator"))


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise argparse.ArgumentTypeError("it has no zone: end it with Z")
    return moment


def _restore_table(_: Ports, given: argparse.Namespace) -> None:
    if given.stage is None:
        raise NoSuchStage("the table of a deployed stage is restored: name it with --stage")
    for line in restore_table(given.session, given.stage, given.at):
        print(line, flush=True)


def _set_plan(ports: Ports, given: argparse.Namespace) -> None:
    """The gateway's key comes first: the authorizer must not name one that is not there."""
    if ports.table.get(tenant_row(given.tenant)) is None:
        raise TenantNotFound(given.tenant)
    if given.stage is None:
        raise NoSuchStage("a usage plan belongs to a deployed stage: name it with --stage")
    plan = None if given.plan == NO_PLAN else given.plan
    if plan is not None:
        put_key_into(given.session, given.stage, given.tenant, plan)
    keys = put_into_plan(tenant_scope(ports, given.tenant), plan)
    print(f"{given.tenant}: plan {given.plan}, {keys} keys. It holds within a minute.")


def _end_tokens(ports: Ports, _: argparse.Namespace) -> None:
    end_all_tokens(ports)
    print("No access token that was made before now is good any more, a minute from now at the latest.")


def _remove_tenant(ports: Ports, given: argparse.Namespace) -> None:
    tenant = TenantData(ports, Keys(given.tenant))
    keys = close_tenant(tenant)
    settle_s = erase_user.SETTLE_S
    print(f"{keys} keys deleted. Waiting {settle_s} s until nobody remembers them …", flush=True)
    time.sleep(settle_s)
    removed = erase_tenant(tenant)
    print(
        f"Removed {removed.users} users: {removed.rows} rows, {removed.objects} objects, {removed.passages} passages."
    )
    late = erase_tenant(tenant)
    print(f"Looked again: {late.users} users, {late.objects} objects, {late.passages} passages had come late.")
    if given.stage is not None:
        remove_key(given.session, given.stage, given.tenant)


def _erase_user(ports: Ports, given: argparse.Namespace) -> None:
    """Can be started again at any point: it goes on from the head's state."""
    user, settle_s = UserData(ports, UserKeys(given.tenant, given.user)), erase_user.SETTLE_S
    begun = erase_user.begin_erasure(ports.table, user.keys)
    print(f"Writes are refused from now on (incarnation {begun.incarnation}).")
    take_back_everywhere(tenant_scope(ports, given.tenant).of_user(given.user))
    removed = erase_user.erase_user(user)
    print(f"Removed {removed.rows} rows, {removed.objects} objects, {removed.passages} passages.")
    print(f"Waiting {settle_s} s for uploads and workers under way …", flush=True)
    time.sleep(settle_s)
    late = erase_user.erase_user(user)
    print(f"Looked again: {late.rows} rows, {late.objects} objects, {late.passages} passages had come late.")
    erase_user.finish_erasure(user, close=given.close)
    print("The id is refused for good." if given.close else "The id may be used again.")


def _reindex(ports: Ports, given: argparse.Namespace) -> None:
    """Broken off, it is started again: no text is embedded twice."""
    if given.settings.search == "segments":
        reindex_segments(ports)
        return
    endpoint = needed(given.settings.search_endpoint, "search_endpoint")
    reindex_stage(ports, endpoint, drop_old=given.drop_old)


def _show(created: CreatedKey) -> None:
    print(f"key id  {created.key_id}\nAPI key {created.key}\nIt is not shown again.")


if __name__ == "__main__":
    sys.exit(main())
