"""What the gate costs: processor time of one event of 256 KiB, ordinary and made to be slow.

python -m evals.privacy
"""

from __future__ import annotations

import time

from neve.domain.privacy.screen import screen
from neve.domain.tenants.policy import Policy

DEFAULT_ACTIONS = Policy().pii.actions

SIZE = 256 * 1024
TEXTS = {
    "prose": "The quick brown fox said that my sister lives in 1234 Dublin. ",
    "log lines": '2026-05-06T12:00:00Z INFO user_id=42 {"latency_ms": 0.4111111111111111, "at": 1763789000123} ',
    "cards": "4111 1111 1111 1111, ",
    "four digits": "4112 ",
    "one digit": "4 ",
    "one number": "9",
    "begun tokens": ".eyJaaaaaaaa",
    "one token": "eyJ",
    "passwords": "my password is ",
    "password to": "password to a a a a a ",
    "quotes": 'password="',
    "addresses": "://a:",
    "records": "mrn 1 ",
    "begun keys": "-----BEGIN PRIVATE KEY-----",
    "keys": "api key is ",
    "spaces": " ",
    "social": "123-45-",
}


def main() -> None:
    print("| a text of | ms of processor time | found |\n| --- | ---: | ---: |")
    for name, part in TEXTS.items():
        text = (part * (SIZE // len(part) + 1))[:SIZE]
        began = time.process_time()
        found = screen(text, DEFAULT_ACTIONS)
        print(f"| {name} | {1000 * (time.process_time() - began):.0f} | {sum(found.found.values())} |")


if __name__ == "__main__":
    main()
