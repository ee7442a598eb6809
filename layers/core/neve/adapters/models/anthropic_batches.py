"""Claude with an API key whose answers may also come within a day, at half the price: the Message Batches API.

A request is named by what it asks (``request_name``), so that nobody has to keep which answer is to which. None is
marked for the provider's cache: the requests of a batch are read in any order, and a write to it would cost more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from neve.adapters.models.anthropic_model import AnthropicModel, body_of
from neve.ports.errors import NoAnswer, NotYetAnswered
from neve.ports.models import ModelAnswer, ModelRequest, request_name

CALL_S = 60.0
"""The seconds of one call, of which some carry many requests or answers (*chosen*)."""
ENDED = "ended"
IN_PROGRESS = "in_progress"


class AnthropicBatches(AnthropicModel):
    """Does as ``AnthropicModel``, and is the MessageBatches port as well."""

    def submit(self, requests: Sequence[ModelRequest]) -> str:
        """Hand in requests, and give the id of their batch. Raises as ``call_tool``."""
        named: list[Any] = [{"custom_id": request_name(one), "params": self._batched(one)} for one in requests]
        with self._asking(CALL_S):
            return self._client.messages.batches.create(requests=named).id

    def answer_of(self, batch: str, request: ModelRequest) -> ModelAnswer | None:
        """Look the answer up. Raises as ``call_tool``, and NotYetAnswered. The provider keeps answers for 29 days."""
        if (status := self._status(batch)) != ENDED:
            if status is None:
                return None
            raise NotYetAnswered(f"{batch}: {status}")
        wanted = request_name(request)
        with self._asking(CALL_S), closing(self._client.messages.batches.results(batch)) as lines:
            for line in lines:
                if line.custom_id == wanted:
                    return self._taken(line.result, request.tool_name) if line.result.type == "succeeded" else None
        return None

    def delete(self, batch: str) -> None:
        """Delete the batch. Raises as ``call_tool``, and NotYetAnswered while it is being cancelled."""
        status = self._status(batch)
        with self._asking(CALL_S):
            if status == IN_PROGRESS:
                self._client.messages.batches.cancel(batch)
            elif status == ENDED:
                self._client.messages.batches.delete(batch)
        if status not in (ENDED, None):
            raise NotYetAnswered(f"{batch}: {status}")

    def _status(self, batch: str) -> str | None:
        """Read how far the batch is; None where there is none."""
        with self._asking(CALL_S):
            try:
                return self._client.messages.batches.retrieve(batch).processing_status
            except self._sdk.NotFoundError:
                return None

    def _batched(self, request: ModelRequest) -> Mapping[str, Any]:
        body = body_of(request, self._model)
        return {**body, "system": [{"type": "text", "text": request.system}]}

    def _taken(self, result: Any, tool_name: str) -> ModelAnswer:
        """Read an answer, and count its tokens once more as those at half the price."""
        try:
            answer = self._answer(result.message, tool_name)
        except NoAnswer as failure:
            failure.usage = _at_half(failure.usage)
            raise
        return replace(answer, usage=_at_half(answer.usage))


def _at_half(usage: Mapping[str, int]) -> dict[str, int]:
    read = sum(usage.get(part, 0) for part in ("input", "cache_read", "cache_write"))
    return {**usage, "batch_input": read, "batch_output": usage.get("output", 0)} if usage else {}
