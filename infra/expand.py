"""The service's template as AWS expands it: by the translator of ``requirements/sam.txt``, in an environment of its
own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from local.template import ROOT, TEMPLATE

SAM_PYTHON = Path(os.environ.get("SAM_PYTHON", ROOT / ".venv-sam" / "bin" / "python"))


class NotExpanded(Exception):
    """The translator is not there, or refuses the template; the message says which."""


def expand(**parameters: str) -> dict[str, Any]:
    """Takes seconds. ``parameters``: those of the template that have no default, and others. Raises NotExpanded."""
    if not SAM_PYTHON.exists():
        raise NotExpanded(f"{SAM_PYTHON} is not there: `make .venv-sam/stamp` installs requirements/sam.txt")
    given = [f"{name}={value}" for name, value in parameters.items()]
    command = [str(SAM_PYTHON), str(ROOT / "infra" / "transform.py"), str(TEMPLATE), *given]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotExpanded(done.stderr)
    document: dict[str, Any] = json.loads(done.stdout)
    return document
