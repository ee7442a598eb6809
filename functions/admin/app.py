"""E14 to E17: the tenant's own affairs."""

from __future__ import annotations

from neve import wiring
from neve.http.answers.admin import (
    drain_answer,
    erasure_answer,
    export_answer,
    patched_policy,
    policy_answer,
    reflection_answer,
    stats_answer,
    tenant_usage_answer,
    written_policy,
)
from neve.http.answers.keys import bind_keys
from neve.http.answers.outgoing import bind_outgoing
from neve.http.router import Answer, Router, fitting
from neve.http.schemas.erase.users import ERASE_USER, EXPORT_USER
from neve.http.schemas.jobs import jobs as j
from neve.http.schemas.jobs.work import READ_WORK, WorkOut
from neve.http.schemas.reflect.reflections import REFLECT
from neve.http.schemas.tenants import admin as a
from neve.usecases.ask.tenants.list_users import list_users
from neve.usecases.ask.tenants.service_health import service_health
from neve.usecases.work.background.read_admin_job import read_admin_job
from neve.usecases.work.background.tenant_work import tenant_work

router = Router("admin", wiring.prepare())
handler = router.handle

router.on(a.HEALTH)(lambda call: Answer(body=a.HealthOut.of(service_health(call.ports))))
router.on(a.STATS)(stats_answer)
router.on(a.USAGE)(tenant_usage_answer)
router.on(a.READ_POLICY)(policy_answer)
router.on(a.WRITE_POLICY)(written_policy)
router.on(a.PATCH_POLICY)(patched_policy)
router.on(j.DRAIN_EMBEDDINGS)(drain_answer)
router.on(j.READ_ADMIN_JOB)(lambda call: Answer(body=j.JobOut.of(read_admin_job(call.tenant, call.ids["job_id"]))))
router.on(READ_WORK)(lambda call: Answer(body=WorkOut.of(tenant_work(call.tenant))))
router.on(REFLECT)(reflection_answer)
router.on(ERASE_USER)(erasure_answer)
router.on(EXPORT_USER)(export_answer)
bind_keys(router)
bind_outgoing(router)
router.on(a.LIST_USERS)(
    lambda call: Answer(body=fitting(call.query, lambda n, at: a.UserPage.listing(*list_users(call.tenant, n, at))))
)
