"""What the documents and the sources of this repository name: links, addresses of sections, files, tests, commands."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from local.template import ROOT

NEVE = ROOT / "layers" / "core" / "neve"
SKIPPED = {
    ".git",
    ".venv",
    ".venv-sam",
    ".venv-emulate",
    ".venv-audit",
    ".venv-plot",
    ".venv-mem0",
    ".venv-pyright",
    ".venv-conformance",
    ".venv-frameworks",
    "node_modules",
    ".aws-sam",
    ".neve",
    ".cache",
    ".hypothesis",
    "build",
    "__pycache__",
    "model",
    "bpe",
    "dist",
    ".pages",
}
SOURCES = {".py", ".yaml", ".toml", ".conf", ".java", ".xml", ".in"}
MADE = ("build/", ".venv", ".neve/", ".aws-sam/", ".mcp.json", ".cursor/", ".vscode/")
"""What commands make, and what programs of readers look for: named in documents, and not in the repository."""

_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_ADDRESS = re.compile(r"(?<![\w/])docs/[\w/.-]*\w\.md(?:#[\w-]+)?")
_FILE = re.compile(r"[\w./-]+\.(?:py|md|yaml|json|jsonl|toml|txt|in|conf|sh|java|xml|sha256)")
_FOLDER = re.compile(r"[\w./-]+/")
_TEST = re.compile(r"test_\w+")
_NAMED_TEST = re.compile(r"(tests/[\w/]+\.py)::(?:\w+::)?(test_\w+)")


@cache
def files() -> tuple[Path, ...]:
    """Every file of the repository, without what is installed, built or kept by a run."""
    found: list[Path] = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        found += [Path(folder, name) for name in sorted(names)]
    return tuple(found)


def documents() -> list[Path]:
    return [path for path in files() if path.suffix == ".md"]


def sources() -> list[Path]:
    return [path for path in files() if path.suffix in SOURCES or path.name in ("Makefile", "run")]


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def names() -> frozenset[str]:
    """Of files, without their folders."""
    return frozenset(path.name for path in files())


@cache
def tests() -> dict[str, set[str]]:
    """Name of a test -> the files that hold it, from the root."""
    found: dict[str, set[str]] = {}
    for path in files():
        if path.name.startswith("test_") and path.suffix == ".py":
            for name in re.findall(r"^\s*def (test_\w+)\(", text_of(path), re.MULTILINE):
                found.setdefault(name, set()).add(path.relative_to(ROOT).as_posix())
    return found


# --- addresses ----------------------------------------------------------------------------------


@cache
def sections(document: Path) -> frozenset[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", _FENCED.sub("", text_of(document)), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings)


def leads_somewhere(base: Path, address: str) -> bool:
    """``address``: a path from the folder ``base``, with or without ``#section``."""
    path, _, section = address.partition("#")
    target = (base / path).resolve()
    if section:
        return target.is_file() and section in sections(target)
    return target.exists()


def links(document: Path) -> list[str]:
    """Targets of links inside the repository. One that begins with ``#`` is in the document itself."""
    found = _LINK.findall(_FENCED.sub("", text_of(document)))
    inside = [target for target in found if not re.match(r"[a-z]+:", target)]
    return [document.name + target if target.startswith("#") else target for target in inside]


def citations(path: Path) -> list[str]:
    """``docs/rules/recall.md#fusion`` and the like, anywhere in a file."""
    return _ADDRESS.findall(text_of(path))


# --- names --------------------------------------------------------------------------------------


def code_spans(document: Path) -> list[str]:
    return _SPAN.findall(_FENCED.sub("", text_of(document)))


def named_files(document: Path) -> list[str]:
    """The files and folders that a document names as code, but for those that a command makes."""
    spans = [span for span in code_spans(document) if _FILE.fullmatch(span) or _FOLDER.fullmatch(span)]
    return [span for span in spans if not span.startswith(("/", *MADE))]


def exists(name: str, document: Path) -> bool:
    """From the root, from the package ``neve`` or what holds it, from the document, or, without a folder, anywhere."""
    if "/" not in name:
        return name in names()
    return any((base / name).exists() for base in (ROOT, NEVE, NEVE.parent, document.parent))


def named_tests(document: Path) -> Iterator[tuple[str | None, str]]:
    """Pairs of a file, where one is said, and a test."""
    text = text_of(document)
    yield from _NAMED_TEST.findall(text)
    yield from ((None, span) for span in code_spans(document) if _TEST.fullmatch(span))


def is_test(path: str | None, name: str) -> bool:
    return name in tests() and (path is None or path in tests()[name])


def commands(document: Path) -> str:
    """The code of a document: fenced blocks and spans."""
    text = text_of(document)
    return "\n".join([*_FENCED.findall(text), *_SPAN.findall(_FENCED.sub("", text))])


def prose(document: Path) -> str:
    """A document without its code."""
    return _SPAN.sub("", _FENCED.sub("", text_of(document)))


def is_module(name: str) -> bool:
    """Whether ``python -m`` finds it in the repository."""
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__main__.py").is_file()
