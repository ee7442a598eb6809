"""A Claude model on Amazon Bedrock: the same messages through InvokeModel, signed with the process's credentials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from neve.adapters.models.anthropic_model import (
    DEFAULT_TIMEOUT_S,
    MAX_RETRIES,
    MessagesModel,
    body_of,
    limit_to_time_left,
)
from neve.ports.errors import ModelRefused, ModelUnavailable
from neve.ports.models import ModelAnswer, ModelRequest

DEFAULT_BEDROCK_MODEL = "global.anthropic.claude-haiku-5-5"
"""An inference profile: Bedrock gives the newer models under no id of their own."""
BODY_VERSION = "bedrock-2023-05-31"
"""``anthropic_version`` (*limit*: InvokeModel takes no other; the SDK would send the date of Anthropic's own API)."""


class BedrockModel(MessagesModel):
    """Claude with an IAM role. ``model``: the id of a model or of an inference profile, which names its family.
    ``region`` None is the process's own."""

    def __init__(
        self,
        model: str = DEFAULT_BEDROCK_MODEL,
        region: str | None = None,
        *,
        base_url: str | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        max_retries: int = MAX_RETRIES,
    ) -> None:
        from anthropic import AnthropicBedrock

        try:
            client = AnthropicBedrock(
                aws_region=region, base_url=base_url, max_retries=max_retries, middleware=[limit_to_time_left]
            )
        except ValueError:
            raise ModelRefused(f"{model}: no region is set") from None
        super().__init__(client, model, timeout_s)

    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        """Do as ``MessagesModel``. Raises ModelRefused also where the process has no credentials, ModelUnavailable
        where they cannot be had now."""
        from botocore.exceptions import BotoCoreError

        try:
            return super().call_tool(request)
        except BotoCoreError as error:
            raise ModelUnavailable(f"{self._model}: {type(error).__name__}") from error
        except RuntimeError as error:  # of the SDK's signing
            raise ModelRefused(f"{self._model}: no credentials of AWS") from error

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        """Make the arguments. An image by address is told in words: Bedrock opens none and would refuse the pass."""
        shown = replace(request, content=tuple(_without_address(block) for block in request.content))
        return {**body_of(shown, self._model), "extra_body": {"anthropic_version": BODY_VERSION}}


def _without_address(block: Mapping[str, Any]) -> Mapping[str, Any]:
    if block["type"] == "image" and block.get("url"):
        return {"type": "text", "text": "[image by address, which cannot be shown]"}
    return block
