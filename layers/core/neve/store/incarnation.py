"""A worker may still be busy with a user who was erased meanwhile: every commit of its checks the incarnation."""

from __future__ import annotations

from neve.domain.records.users import UserHead


class UserErased(Exception):
    """The user was erased since the work was queued: nothing of it may be written any more."""


def still_there(head: UserHead, incarnation: int) -> None:
    """Require that the user is active and still the incarnation that the work was queued for. Raises UserErased."""
    if head.incarnation != incarnation or head.state != "active":
        raise UserErased
