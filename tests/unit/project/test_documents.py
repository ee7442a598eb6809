"""Documents say what is: every address, file, test and command that one names exists, and what can be compared with the
code is compared."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from infra.figures import NEVE, Definition, is_fragment, python_files
from local import openapi
from local.openapi import api_document
from local.template import ROOT, read_template
from neve.domain.languages import ENGLISH
from neve.domain.records.memories import Kind
from neve.domain.tenants.observe_after import passes_after
from neve.domain.tenants.policy import Policy
from neve.http.problems import PROBLEMS
from neve.http.schemas.tenants.admin import in_force
from neve.ports.queue import QueueName
from neve.usecases.ask.tenants.read_policy import PolicyAt
from tests.unit.project import documents as d

by_document = pytest.mark.parametrize("document", d.documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
RULES = sorted((ROOT / "docs" / "rules").glob("*.md"))
MAKE = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
OUR_MODULES = ("local", "evals", "infra")
BY_CAPABILITY = ("domain", "core", "ask", "tell", "work", "schemas")
"""Folders whose folders are the capabilities."""
MAX_FILES = 15
"""Python files in a folder, ``__init__.py`` not counted."""


# --- what documents name ------------------------------------------------------------------------


@by_document
def test_links_lead_somewhere(document: Path) -> None:
    assert [link for link in d.links(document) if not d.leads_somewhere(document.parent, link)] == []


@by_document
def test_named_files_exist(document: Path) -> None:
    assert [name for name in d.named_files(document) if not d.exists(name, document)] == []


@by_document
def test_named_tests_exist(document: Path) -> None:
    assert [named for named in d.named_tests(document) if not d.is_test(*named)] == []


@by_document
def test_named_commands_exist(document: Path) -> None:
    code = d.commands(document)
    assert unknown_modules(code) == []
    assert set(re.findall(r"\bmake ([a-z][a-z-]*)", code)) <= MAKE


def test_modules_that_a_source_names_exist() -> None:
    wrong = {path.relative_to(ROOT).as_posix(): unknown_modules(d.text_of(path)) for path in d.sources()}
    del wrong["tests/unit/project/test_documents.py"]  # names one that does not exist
    assert {name: modules for name, modules in wrong.items() if modules} == {}


def unknown_modules(code: str) -> list[str]:
    """Of our modules that are run with ``python -m``, those that are not there."""
    named = {name.rstrip(".") for name in re.findall(r"python3? -m ([\w.]+)(?![\w\\])", code)}
    return sorted(name for name in named if name.split(".")[0] in OUR_MODULES and not d.is_module(name))


def test_the_checks_see_what_they_should(tmp_path: Path) -> None:
    document, fusion = tmp_path / "page", "docs/" + "rules/recall.md#fusion"
    gone = fusion.replace("fusion", "gone")
    lines = [
        *(
            "# The page",
            "## A section, with `code`",
            "[here](#a-section-with-code) [gone](#gone) [away](https://a.b/c)",
        ),
        f"`ports.py` `usecases/ask/recall/gone.py` `docs/` `build/layers` `GET /v1/tools` `test_gone` {gone}",
        "tests/unit/project/test_documents.py::test_gone",
        *("```", "# no heading", "make gone", "python -m local.gone", "[no](link)", "```"),
    ]
    document.write_text("\n".join(lines), encoding="utf-8")
    assert d.sections(document) == {"the-page", "a-section-with-code"}
    assert [link for link in d.links(document) if not d.leads_somewhere(tmp_path, link)] == ["page#gone"]
    assert len(d.links(document)) == 2
    assert d.named_files(document) == ["ports.py", "usecases/ask/recall/gone.py", "docs/"]
    assert [name for name in d.named_files(document) if not d.exists(name, document)] == ["usecases/ask/recall/gone.py"]
    named = [("tests/unit/project/test_documents.py", "test_gone"), (None, "test_gone")]
    assert list(d.named_tests(document)) == named
    assert not any(d.is_test(*one) for one in named)
    assert d.is_test("tests/unit/project/test_documents.py", "test_links_lead_somewhere")
    assert not d.is_test("tests/unit/project/test_runbooks.py", "test_links_lead_somewhere")
    assert d.citations(document) == [gone]
    assert [d.leads_somewhere(ROOT, address) for address in (gone, fusion)] == [False, True]
    assert "make gone" in d.commands(document)
    assert [d.is_module(name) for name in ("local.gone", "local.openapi", "evals.retrieval")] == [False, True, True]


# --- what files cite ----------------------------------------------------------------------------


def test_every_citation_has_its_section() -> None:
    cited = [(path, address) for path in (*d.sources(), *d.documents()) for address in d.citations(path)]
    assert len(cited) > 100
    wrong = [f"{path.relative_to(ROOT)}: {a}" for path, a in cited if not d.leads_somewhere(ROOT, a)]
    assert wrong == []


def test_nothing_cites_a_document_that_is_not_here() -> None:
    """A bare name of a document in a source, and a section sign of anything but a standard."""
    bare = re.compile(r"(?<![\w/\\.*\]+}{-])([A-Za-z][\w-]*\.md)\b")
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in d.sources()
        for name in bare.findall(d.text_of(path))
        if name not in d.names()
    ]
    sign = re.compile(rf"(?<!RFC \d{{4}} ){chr(0xA7)}")
    wrong += [
        f"{path.relative_to(ROOT)}: section sign"
        for path in d.files()
        if is_text(path) and sign.search(d.text_of(path))
    ]
    assert wrong == []


def is_text(path: Path) -> bool:
    return path in d.sources() or path.suffix == ".md"


def test_files_that_a_docstring_names_exist() -> None:
    named = re.compile(r"``((?:[\w-]+/)*[\w-]+\.(?:py|md|yaml))``")
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in d.sources()
        for name in named.findall(d.text_of(path))
        if not d.exists(name, path)
    ]
    assert wrong == []


def test_no_docstring_begins_with_a_fragment() -> None:
    """A first sentence has a verb, or is the noun phrase of a class. What a model reads of its tool has a version."""
    wrong = [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}: {text.splitlines()[0]}"
        for path in python_files(NEVE)
        for node in ast.walk(ast.parse(d.text_of(path)))
        if isinstance(node, Definition | ast.Module) and not is_read_by_a_model(node)
        if (text := ast.get_docstring(node)) and is_fragment(text)
    ]
    assert wrong == []


def is_read_by_a_model(node: ast.AST) -> bool:
    """Say whether the docstring of a class goes into the schema of a model's tool."""
    return isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "AnswerForm" for base in node.bases)


def test_every_page_of_rules_is_cited_and_in_the_list() -> None:
    """A rule that no code cites is a rule that nobody keeps."""
    cited = {address.partition("#")[0] for path in d.sources() for address in d.citations(path)}
    pages = {path.relative_to(ROOT).as_posix() for path in RULES if path.name != "README.md"}
    assert pages - cited == set()
    index = d.links(ROOT / "docs" / "rules" / "README.md")
    assert {Path(page).name for page in pages} - set(index) == set()


# --- what is compared with the code -------------------------------------------------------------


def test_the_table_of_calls_is_current() -> None:
    current = api_document.text(openapi.operations())
    assert d.text_of(api_document.TARGET) == current, "run: python -m local.openapi"


def test_every_call_has_one_code_and_every_error_is_listed() -> None:
    ids = Counter(i for group in api_document.GROUPS.values() for i in group.ids)
    assert set(ids.values()) == {1}
    assert set(ids) == {operation.id for operation in openapi.operations()}
    page = d.text_of(api_document.TARGET)
    assert [code for code, kind in PROBLEMS.items() if f"| `{code}` | {kind.status} |" not in page] == []
    rules = [group.rules for group in api_document.GROUPS.values()]
    assert [at for at in rules if not d.leads_somewhere(ROOT / "docs" / "rules", at)] == []


def test_a_code_that_is_used_is_a_code_of_the_table() -> None:
    """In code and tests, as ``E7`` or ``E11``."""
    named = re.compile(r"(?<![\w.#-])E([1-9]\d?)(?![\w.])")
    used = {f"E{n}" for path in d.sources() if path.suffix == ".py" for n in named.findall(d.text_of(path))}
    assert used <= set(api_document.GROUPS)


@by_document
def test_a_page_that_names_a_code_links_the_table_of_calls(document: Path) -> None:
    """Whoever begins to read there does not know what ``E7`` is."""
    named = re.search(r"(?<![\w.#/-])E[1-9]\d?(?![\w.])", d.prose(document))
    linked = any(link.partition("#")[0].endswith("api.md") for link in d.links(document))
    assert named is None or linked or document in (api_document.TARGET, ROOT / "CHANGELOG.md")


def test_the_table_of_defaults_is_current() -> None:
    page = d.text_of(ROOT / "docs" / "rules" / "tenants.md").split("## Defaults")[1].split("\n## ")[0]
    shown = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", page, re.MULTILINE))
    assert list(shown) == list(Policy.model_fields)
    force = in_force(PolicyAt(Policy(), 1, passes_after(None, (ENGLISH,))))
    elsewhere = {name for name, value in shown.items() if value.startswith("[")}
    assert elsewhere == {"pii", "observe_after"}, "tables of their own"
    for name, value in shown.items():
        assert name in elsewhere or json.dumps(force.get(name, "none")).strip('"') == value.strip("`").replace(
            ",", ""
        ), name
    classes = d.text_of(ROOT / "docs" / "rules" / "privacy.md").split("## Classes")[1].split("\n## ")[0]
    documented = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| `(\w+)` \|", classes, re.MULTILINE)
    assert {name: action for names, action in documented for name in re.findall(r"\w+", names)} == force["pii"]


# --- folders ------------------------------------------------------------------------------------


def packages(top: Path, levels: int) -> list[str]:
    """The folders with Python files, from the root of the repository."""
    found = {path.parent for path in d.files() if path.suffix == ".py" and path.is_relative_to(top)}
    folders = {folder for path in found for folder in (path, *path.parents) if folder.is_relative_to(top)}
    near = [folder for folder in folders if len(folder.relative_to(top).parts) <= levels]
    return sorted(folder.relative_to(ROOT).as_posix() for folder in near)


def test_rules_and_glossary_name_every_queue() -> None:
    """Kind, delay, time hidden and deliveries are those of the template."""
    row = re.compile(
        r"^\| `(\w+)` \| (standard|FIFO) \| [\w ]+ \| (none|\d+ s) \| ([\d,]+) s \| (\d+) \|$", re.MULTILINE
    )
    documented = {name: rest for name, *rest in row.findall(d.text_of(ROOT / "docs" / "rules" / "jobs.md"))}
    assert documented == {
        name: [
            "FIFO" if spec.fifo else "standard",
            f"{spec.delay_s} s" if spec.delay_s else "none",
            f"{spec.visibility_s:,}",
            str(spec.max_receives),
        ]
        for name in QueueName
        for spec in [read_template().queues[name]]
        if spec.dead_letters is not None
    }
    [line] = [line for line in glossary() if line.startswith("| **queue**")]
    assert set(re.findall(r"`(\w+)`", line)) == {name for name in QueueName if not name.endswith("-dlq")}


def test_a_word_of_the_glossary_stands_once_or_says_what_tells_it_apart() -> None:
    words = Counter(word for line in glossary() for word in _bare(line))
    assert words and {word for word, times in words.items() if times > 1} == set()


def test_the_glossary_names_every_kind() -> None:
    [line] = [line for line in glossary() if line.startswith("| **kind**")]
    assert set(re.findall(r"`(\w+)`", line)) == set(Kind)


def glossary() -> list[str]:
    return [line for line in d.text_of(ROOT / "docs" / "glossary.md").splitlines() if line.startswith("| **")]


def _bare(line: str) -> list[str]:
    """The terms of a line that nothing in brackets tells apart from others."""
    term, _, behind = line.removeprefix("| **").partition("**")
    return [] if behind.lstrip().startswith("(") else term.split(", ")


def test_the_map_names_every_folder_of_the_product() -> None:
    page = d.text_of(ROOT / "docs" / "architecture.md").split("## Where to find things")[1].split("\n## ")[0]
    listed = set(re.findall(r"`([\w/]+)/`", page))
    capabilities = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert packages(d.NEVE, 2)
    for folder in packages(d.NEVE, 2):
        inside = Path(folder).relative_to("layers/core/neve")
        of_capability = inside.parent.name in BY_CAPABILITY and inside.name in capabilities
        assert of_capability or {folder, inside.as_posix()} & listed, folder
    for folder in [*packages(ROOT / "local", 2), *packages(ROOT / "tests", 1)]:
        assert folder in listed | {"tests"}, folder


def test_no_folder_holds_more_files_than_one_can_survey() -> None:
    counted = Counter(
        path.parent.relative_to(ROOT).as_posix()
        for path in d.files()
        if path.suffix == ".py" and path.name != "__init__.py"
    )
    assert {folder: n for folder, n in counted.items() if n > MAX_FILES} == {}
