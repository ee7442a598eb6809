"""Reading a secret from AWS Secrets Manager, such as the API key of the language model.

The secret is plain text, the key and nothing else (``aws secretsmanager put-secret-value --secret-string``): the
console's form for key/value pairs would store JSON, which is refused rather than sent to a provider as a key."""

from __future__ import annotations

from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from neve.adapters.aws.errors import SDK_ERRORS, reason
from neve.ports import ModelUnavailable

if TYPE_CHECKING:
    from types_boto3_secretsmanager import SecretsManagerClient

TTL_S = 300.0
"""How long a process works with a value that was changed meanwhile. A pass a second for a month would otherwise be
2.6 million reads, 13 dollars."""

_reading = Lock()
_kept: dict[str, tuple[float, str]] = {}


def read_secret(client: SecretsManagerClient, arn: str) -> str:
    """The secret's text, at most ``TTL_S`` old; one read for all threads that ask at once. Needs
    ``secretsmanager:GetSecretValue``. Raises ModelUnavailable, never with the value in it."""
    with _reading:
        at, value = _kept.get(arn, (-TTL_S, ""))
        if value and monotonic() - at < TTL_S:
            return value
        value = _read(client, arn)
        _kept[arn] = monotonic(), value
        return value


def _read(client: SecretsManagerClient, arn: str) -> str:
    try:
        answer = client.get_secret_value(SecretId=arn)
    except SDK_ERRORS as error:
        raise ModelUnavailable(f"secret {arn}: {reason(error)}") from error
    value = answer.get("SecretString", "").strip()
    if not value or value.startswith("{"):
        raise ModelUnavailable(f"secret {arn} must hold the key alone, as plain text")
    return value
