"""The answer with a target for an image."""

from __future__ import annotations

from neve.http.calls import Answer, Call, once
from neve.http.operations import Nothing
from neve.http.schemas.sessions.events import UploadBody, UploadOut, without_signature
from neve.usecases.tell.sessions.create_upload import create_upload


def upload_target(call: Call[Nothing, UploadBody]) -> Answer:
    """Answer E2's uploads with a target. A repeat gets the same target, for as long again. Raises what
    ``create_upload`` does."""

    def signed(upload_id: str | None = None) -> Answer:
        return Answer(201, UploadOut.of(create_upload(call.user, *call.body.wanted(), upload_id)))

    return once(call, signed, keep=without_signature, again=lambda stored: signed(stored.body["upload_id"]))
