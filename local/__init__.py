"""Neve on one machine: the embedded engines, and a server that runs the same Lambda handlers on them."""

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
# A Lambda layer is on the path of its function; here somebody has to put it there. The core comes first: beside
# `neve_mcp`, which the function of MCP runs, the SDK has a package that is called `neve`, too.
for _layer in (str(_ROOT / "layers" / "core"), str(_ROOT / "sdk" / "python")):
    if _layer not in sys.path:
        sys.path.append(_layer)
