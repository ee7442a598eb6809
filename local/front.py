"""Every request to the local server: uploads, the console and test controls are answered here, all else is the
gateway's."""

from __future__ import annotations

from local.console.page import console_page, is_console
from local.controls.routes import PREFIX, Refused, TestControls
from local.controls.virtual_time import request_time
from local.engine.file_objects import FileObjects, UploadHeaders
from local.http.gateway import Gateway
from local.http.message import Request, Response, json_response
from neve.ports.errors import StoreUnavailable

UPLOADS, DOWNLOADS = "/__uploads/", "/__downloads/"


class Front:
    """``uploads`` None: the object store takes them itself. ``controls`` None: ``/__test/…`` does not exist and
    ``X-Test-Now`` is a header like any other."""

    def __init__(self, gateway: Gateway, uploads: FileObjects | None, controls: TestControls | None) -> None:
        self._gateway = gateway
        self._uploads = uploads
        self._controls = controls

    def handle(self, request: Request) -> Response:
        if self._uploads is not None and request.path.startswith(UPLOADS):
            return self._upload(request, self._uploads)
        if self._uploads is not None and request.path.startswith(DOWNLOADS):
            return self._download(request, self._uploads)
        if is_console(request.path):
            return console_page(request)
        if self._controls is None:
            return self._gateway.handle(request)
        if request.path.startswith(PREFIX):
            return self._controls.handle(request)
        try:
            at = self._controls.time_of(request)
        except Refused as error:
            return json_response(400, {"error": str(error)})
        with request_time(at):
            return self._gateway.handle(request)

    def refuse(self, kind: str) -> Response:
        return self._gateway.refuse(kind)

    def _download(self, request: Request, objects: FileObjects) -> Response:
        if request.method not in ("GET", "HEAD"):
            return json_response(405, {"error": "a download address takes GET"})
        try:
            found = objects.download(request.path.removeprefix(DOWNLOADS))
        except PermissionError as error:
            return json_response(403, {"error": str(error)})
        except StoreUnavailable:
            return json_response(503, {"error": "the object store does not answer"})
        if found is None:
            return json_response(404, {"error": "there is no such object (any more)"})
        return Response(200, [("Content-Type", found[0])], found[1])

    def _upload(self, request: Request, uploads: FileObjects) -> Response:
        """A PUT to a pre-signed URL, answered as briefly as S3 does."""
        if request.method != "PUT":
            return json_response(405, {"error": "an upload address takes one PUT"})
        token = request.path.removeprefix(UPLOADS)
        headers = UploadHeaders(request.header("Content-Type") or "", request.header("If-None-Match") or "")
        try:
            uploads.accept_upload(token, headers, request.body)
        except PermissionError as error:
            return json_response(403, {"error": str(error)})
        except FileExistsError as error:
            return json_response(412, {"error": str(error)})
        except StoreUnavailable:
            return json_response(503, {"error": "the object store does not answer"})
        return Response(200)
