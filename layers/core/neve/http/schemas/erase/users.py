"""E15: erase a user, or export everything that is kept of one."""

from __future__ import annotations

from pydantic import Field

from neve.http.operations import USER_WRITE, Operation, Parameters, Response, route
from neve.http.schemas.jobs.jobs import JobOut


class EraseQuery(Parameters):
    close: bool = Field(default=False, description="Refuse the id for good (410) instead of letting it start over.")


ERASE_USER = Operation(
    **route("DELETE", "/v1/users/{user_id}", "eraseUser", "users", "admin", "self"),
    summary="Erase a user and everything that is kept of them.",
    description="From the answer on writes are refused (409 `erasing`) and reads are empty. The job, read by `GET"
    " /v1/admin/jobs/{id}` or among the user's own, is done when every store was listed and found empty, some 16"
    " minutes later; its result is the receipt. A repeat while it is under way answers with the same job.",
    query=EraseQuery,
    responses={202: Response("The erasure is under way.", JobOut)},
    codes=USER_WRITE,
    idempotent=True,
)

EXPORT_USER = Operation(
    **route("POST", "/v1/users/{user_id}/export", "exportUser", "users", "admin", "self"),
    summary="Write everything that is kept of a user as JSON lines.",
    description="The result of the job, read by `GET /v1/admin/jobs/{id}`, or with the scope `self` among the user's"
    " own, has the parts of the export, each with an address that is good for 15 minutes. The parts are kept for a"
    " week; from then on it has `parts_removed_at`.",
    responses={202: Response("The export is queued.", JobOut)},
    codes=USER_WRITE,
    idempotent=True,
)
