"""``python -m local.stack`` fetches the servers and makes their class archives, so that no test and no start has to
wait for it. Exit code 1 and a sentence on stderr when they cannot be had."""

from __future__ import annotations

import sys

from local.stack.jars import CannotFetch
from local.stack.servers import DidNotStart, make_archives


def main() -> int:
    try:
        make_archives()
    except (CannotFetch, DidNotStart) as reason:
        print(f"The servers cannot run here: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
