"""Neve on one machine: the embedded engines, and a server that runs the same Lambda handlers on them."""

import sys
from pathlib import Path

_CORE = str(Path(__file__).resolve().parent.parent / "layers" / "core")
if _CORE not in sys.path:  # a Lambda layer is on the path of its function; here somebody has to put it there
    sys.path.append(_CORE)
