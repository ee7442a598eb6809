"""Reading a secret from AWS Secrets Manager, such as the API key of the language model.

The secret is plain text, the key and nothing else (``aws secretsmanager put-secret-value --secret-string``): the
console's form for key/value pairs would store JSON, which is refused rather than sent to a provider as a key."""

from __future__ import annotations

from datetime import timedelta
from threading import Lock
from typing import TYPE_CHECKING

from neve.adapters.aws.errors import SDK_ERRORS, reason
from neve.caching import Caches, CacheSpec
from neve.ports.errors import ModelUnavailable

if TYPE_CHECKING:
    from types_boto3_secretsmanager import SecretsManagerClient

SECRET_CACHE: CacheSpec[str, str] = CacheSpec("secrets", 4, timedelta(minutes=5))
"""The time for which a process works with a value that was changed meanwhile, by ARN. A pass a second for a month would
otherwise be 2.6 million reads, 13 dollars."""


class Secrets:
    """Safe for threads. Needs ``secretsmanager:GetSecretValue``."""

    def __init__(self, client: SecretsManagerClient, caches: Caches) -> None:
        self._client = client
        self._cache = caches.of(SECRET_CACHE)
        self._reading = Lock()

    def read(self, arn: str) -> str:
        """Give the secret's text, as old as ``SECRET_CACHE`` allows; one read for all threads that ask at once. Raises
        ModelUnavailable, never with the value in it."""
        with self._reading:
            return self._cache.read(arn, lambda: _read(self._client, arn))


def _read(client: SecretsManagerClient, arn: str) -> str:
    try:
        answer = client.get_secret_value(SecretId=arn)
    except SDK_ERRORS as error:
        raise ModelUnavailable(f"secret {arn}: {reason(error)}") from error
    value = answer.get("SecretString", "").strip()
    if not value or value.startswith("{"):
        raise ModelUnavailable(f"secret {arn} must hold the key alone, as plain text")
    return value
