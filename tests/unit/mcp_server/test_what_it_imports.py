"""Two packages are called ``neve``, the service's and that of its callers: this one goes with both."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from local.template import ROOT

PACKAGE = ROOT / "sdk" / "python" / "neve_mcp"
COMMAND = PACKAGE / "command.py"
"""Of the command line, which imports the server when it starts one."""


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.name)
def test_the_server_imports_neither_package_called_neve(path: Path) -> None:
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    names = [
        name
        for node in tree
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    ]
    ours = {top for top in (name.partition(".")[0] for name in names) if top.startswith("neve")}
    assert ours <= ({"neve_mcp", "neve_cli"} if path == COMMAND else {"neve_mcp"})
