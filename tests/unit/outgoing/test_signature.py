"""What a receiver checks, by the scheme of Standard Webhooks."""

from __future__ import annotations

import pytest

from neve.domain.outgoing.signature import key_of, secret_of, signed_headers

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
EVENT, AT, BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
"""What the library ``standardwebhooks`` 1.1.0 says to the four above."""


def test_a_signature_is_that_of_the_library() -> None:
    assert signed_headers([SECRET], EVENT, AT, BODY) == {
        "webhook-id": EVENT,
        "webhook-timestamp": str(AT),
        "webhook-signature": SIGNATURE,
    }


def test_each_secret_signs() -> None:
    other = secret_of(bytes(32))
    both = signed_headers([other, SECRET], EVENT, AT, BODY)["webhook-signature"].split(" ")
    assert len(both) == 2 and both[1] == SIGNATURE


@pytest.mark.parametrize("size", [24, 64])
def test_a_secret_is_read_back(size: int) -> None:
    assert key_of(secret_of(bytes(size))) == bytes(size)
