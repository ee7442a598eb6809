"""E14, E16, E17: the tenant's own affairs."""

from __future__ import annotations

from neve import wiring
from neve.domain.tenants.policy import Policy
from neve.http.job_answers import job_answer
from neve.http.operations import Nothing
from neve.http.router import Answer, Call, Router, once
from neve.http.schemas.jobs import jobs as j
from neve.http.schemas.tenants import admin as a
from neve.usecases.indexing.drain_embeddings import drain_embeddings, read_drain
from neve.usecases.tenants.create_key import create_key
from neve.usecases.tenants.policy_in_force import forget_policy
from neve.usecases.tenants.read_policy import read_policy
from neve.usecases.tenants.revoke_key import revoke_key
from neve.usecases.tenants.service_health import service_health
from neve.usecases.tenants.tenant_usage import tenant_usage
from neve.usecases.tenants.user_stats import user_stats
from neve.usecases.tenants.write_policy import write_policy

router = Router("admin", wiring.prepare())
handler = router.handle

router.on(a.HEALTH)(lambda call: Answer(body=a.HealthOut.of(service_health(call.ports))))
router.on(a.STATS)(lambda call: Answer(body=a.StatsOut.of(user_stats(call.user))))
router.on(a.USAGE)(lambda call: Answer(body=a.TenantUsageOut.of(tenant_usage(call.tenant))))
router.on(a.READ_POLICY)(lambda call: Answer(body=a.PolicyOut.of(read_policy(call.tenant))))
router.on(j.DRAIN_EMBEDDINGS)(
    lambda call: once(call, lambda: job_answer(drain_embeddings(call.tenant, call.body.user_id, call.body.seconds())))
)
router.on(j.READ_ADMIN_JOB)(lambda call: Answer(body=j.JobOut.of(read_drain(call.tenant, call.ids["job_id"]))))


@router.on(a.WRITE_POLICY)
def replace_policy(call: Call[Nothing, Policy]) -> Answer:
    def written() -> Answer:
        found = write_policy(call.tenant, call.body, call.if_match)
        forget_policy(call.tenant)
        return Answer(body=a.PolicyOut.of(found))

    return once(call, written)


@router.on(a.CREATE_KEY)
def new_key(call: Call[Nothing, a.CreateKeyBody]) -> Answer:
    def created() -> Answer:
        return Answer(201, a.KeyOut.of(create_key(call.tenant, call.body.scopes, call.body.label)))

    return once(call, created, keep=a.without_secret)


@router.on(a.REVOKE_KEY)
def revoke(call: Call[Nothing, Nothing]) -> Answer:
    def revoked() -> Answer:
        revoke_key(call.tenant, call.ids["key_id"])
        return Answer(204)

    return once(call, revoked)
