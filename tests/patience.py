"""How long a test waits for something that must happen. It is for what hangs: whatever happens is waited for on a
condition, and on a machine with far too much to do that takes ten times as long as on an idle one."""

from __future__ import annotations

PATIENCE_S = 600.0
