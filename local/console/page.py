"""Serves the console of ``console/dist`` below ``/console/``, with the headers that CloudFront gives it on a stage."""

from __future__ import annotations

import hashlib
from pathlib import Path

from local.http.message import Headers, Request, Response, json_response
from local.template import ROOT

PREFIX = "/console"
DIST = ROOT / "console" / "dist"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The same as in ``infra/console.yaml``."""
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
ALWAYS_ASKED, KEPT = "no-cache", "public, max-age=31536000, immutable"
"""The page itself, and what has its hash in its name."""
NOT_BUILT = "The console is not built here. `make console` builds it; it needs Node 20 or newer, with npm.\n"


def is_built(dist: Path = DIST) -> bool:
    return (dist / "index.html").is_file()


def is_console(path: str) -> bool:
    return path == PREFIX or path.startswith(PREFIX + "/")


def console_page(request: Request, dist: Path = DIST) -> Response:
    """What is not a file of the build is 404: nothing else of the disk can be named."""
    if request.method not in ("GET", "HEAD"):
        return json_response(405, {"error": "the console takes GET"})
    if request.path == PREFIX:
        return Response(308, [("Location", PREFIX + "/"), *_guards()])
    if not is_built(dist):
        return _text(503, NOT_BUILT)
    name = request.path.removeprefix(PREFIX + "/") or "index.html"
    file = {one.name: one for one in dist.iterdir()}.get(name)
    if file is None or file.suffix not in TYPES:
        return _text(404, "There is no such file in the console.\n")
    content = file.read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    kept = ALWAYS_ASKED if name == "index.html" else KEPT
    headers = [*_guards(), ("ETag", tag), ("Cache-Control", kept), ("Content-Type", TYPES[file.suffix])]
    if tag in (request.header("If-None-Match") or ""):
        return Response(304, headers)
    return Response(200, headers, b"" if request.method == "HEAD" else content)


def _text(status: int, text: str) -> Response:
    return Response(status, [*_guards(), ("Content-Type", "text/plain; charset=utf-8")], text.encode())


def _guards() -> Headers:
    return [
        ("Content-Security-Policy", CSP),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
    ]
