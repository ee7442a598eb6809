"""``python -m local.stack`` fetches the servers, so that no test and no start has to wait for it. Exit code 1 and a
sentence on stderr when they cannot be had."""

from __future__ import annotations

import sys

from local.stack.jars import CannotFetch, fetched_jars


def main() -> int:
    try:
        fetched_jars()
    except CannotFetch as reason:
        print(f"The servers cannot run here: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
