"""Neve on the command line."""

from __future__ import annotations

import sys


def main() -> None:
    """``neve``: without what it needs beside the client, it says how to get that."""
    try:
        from neve_cli.__main__ import main as run
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.exit("The command line needs more than the client does: pip install 'neve[cli]'")
    run()
