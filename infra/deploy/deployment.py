"""Takes the steps of a deployment one by one, then shows that the stage works."""

from __future__ import annotations

from collections.abc import Callable

from infra.deploy.cloud import Cloud
from infra.deploy.probe import make_tenant, ports_of, show
from infra.deploy.steps import Step, check, steps
from infra.deploy.wanted import Wanted
from neve.usecases.work.background.probe_versions import TENANT


def deploy(
    cloud: Cloud,
    wanted: Wanted,
    *,
    dry: bool = False,
    t0: bool = True,
    address: Callable[[], str] | None = None,
) -> None:
    """``t0``: show in the end that it works. ``address``: where the API is; None: where the service stack says. Raises
    NotReady, StepFailed, T0Failed."""
    print(f"{wanted.service}: {check(cloud, wanted)}.", flush=True)
    taken = [_take(step, dry=dry) for step in steps(cloud, wanted, dry=dry)]

    def api() -> str:
        return address() if address else cloud.outputs(wanted.service)["ApiUrl"]

    probe = f"make the tenant {TENANT} where it is missing"
    taken.append(_take(Step(probe, lambda: make_tenant(ports_of(cloud.session, wanted.stage))), dry=dry))
    shown = "T0: a wrong key, a conversation, its memory recalled by meaning, filed, exported and erased"
    if t0:
        taken.append(_take(Step(shown, lambda: show(ports_of(cloud.session, wanted.stage), api())), dry=dry))
    if dry:
        print(f"{len(taken)} steps, none of them taken.")
        return
    print(f"{'The stage works' if t0 else 'Deployed, and not asked whether it works'}: {api()}")
    operate = f"PYTHONPATH=layers/core:. .venv/bin/python -m infra.operate --stage {wanted.stage}"
    print(f"A tenant's key: {operate} create-tenant acme")


def _take(step: Step, *, dry: bool) -> str:
    print(f"  {step.said}" if dry else f"--> {step.said}", flush=True)
    if not dry:
        step.do()
    return step.said
