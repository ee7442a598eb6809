"""``python -m tests.loopback --port P``: serve until stopped; the first line printed is the address."""

from __future__ import annotations

import argparse
import time
from contextlib import suppress

from tests.loopback.server import running


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.loopback", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--minimum", type=int, help="tokens that can be cached, in place of the models' own")
    given = parser.parse_args()
    with running(given.port, given.minimum) as loopback, suppress(KeyboardInterrupt):
        print(loopback.url, flush=True)
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()
