"""A whole stage: every function of the template under Lambda's runtime client, behind the local gateway."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from infra.lambda_runtime.process import LAST_OUTPUT, LambdaProcess, Sandbox
from infra.lambda_runtime.stores import Stores
from infra.packaging.functions import DeployedFunction
from local.aws.sqs_consumer import RECEIVE_BATCH_SIZE
from local.broker import Received
from local.http.gateway import Gateway
from local.http.message import Request, Response
from local.template import QueueSpec, Template
from local.workers.worker_events import failed_items, queue_event

MOUNTED = {"NEVE_ENCODER_DIR": "encoder", "NEVE_BPE_DIR": "tokens/bpe"}
"""Variables that name a folder of a layer, and which: under /opt on Lambda."""


ARRIVES_S = 30.0
"""How long a message may take: the extract queue holds each back for 5 s."""
LOOK_S = 0.2


class FunctionFailed(Exception):
    """A function reported an error; the text is its message."""


class NotHandled(Exception):
    """Messages of a queue did not arrive, or their function named some of them as failed."""


class Stage:
    """A context manager. A function's process is started with its first event and stays for the next ones. ``events``:
    the last event of each function."""

    def __init__(
        self,
        template: Template,
        functions: Mapping[str, DeployedFunction],
        stores: Stores,
        sandbox_of: Callable[[DeployedFunction], Sandbox],
        folder: Path,
        more: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """``folder`` takes what the functions print. ``more``: variables by function that are not of the stores."""
        self._more = more or {}
        self._functions, self._stores, self._sandbox_of, self._folder = functions, stores, sandbox_of, folder
        self._template, self._gateway = template, Gateway(template, self.invoke)
        self.events: dict[str, Any] = {}
        self._running: dict[str, LambdaProcess] = {}
        self._opened = ExitStack()

    def call(self, method: str, path: str, body: bytes = b"", key: str | None = None) -> Response:
        """An HTTP call of the API, with the tenant's own key unless another is given."""
        headers = [("Authorization", f"Bearer {key or self._stores.key}"), ("Content-Type", "application/json")]
        return self._gateway.handle(Request(method, path, "", headers, body))

    def invoke(self, name: str, event: Any) -> Any:
        """The function's result. Raises FunctionFailed, NoOutcome."""
        self.events[name] = event
        outcome = self.process(name).invoke(event)
        if outcome.error is not None:
            raise FunctionFailed(outcome.error["errorMessage"])
        return outcome.result

    def deliver(self, queue: str) -> None:
        """All that a queue has, batch by batch, as Lambda hands it to the queue's function: what failed comes again, as
        often as the queue delivers it. Waits until there is something. Raises NotHandled, also when nothing arrives."""
        source = next(source for source in self._template.queue_sources if source.queue == queue)
        broker, messages = self._stores.broker, self._arrived(queue)
        while messages:
            for start in range(0, len(messages), source.batch_size):
                self._handle(source.function, self._template.queues[queue], messages[start : start + source.batch_size])
            messages = broker.receive(queue, RECEIVE_BATCH_SIZE, datetime.now(UTC))

    def _handle(self, function: str, queue: QueueSpec, batch: list[Received]) -> None:
        answer: Any = None
        for _ in range(queue.max_receives or 1):
            answer = self.invoke(function, queue_event(queue, batch))
            failed = failed_items(answer, [message.id for message in batch])
            for message in batch:
                if message.id not in failed:
                    self._stores.broker.delete(queue.name, message.receipt)
            batch = [message for message in batch if message.id in failed]
            if not batch:
                return
        raise NotHandled(f"{function}: {answer}\n{self.log_text()}")

    def _arrived(self, queue: str) -> list[Received]:
        end = time.monotonic() + ARRIVES_S
        while time.monotonic() < end:
            if found := self._stores.broker.receive(queue, RECEIVE_BATCH_SIZE, datetime.now(UTC)):
                return found
            time.sleep(LOOK_S)
        raise NotHandled(f"nothing arrived in {queue}\n{self.log_text()}")

    def log_text(self) -> str:
        """The end of what every function printed."""
        return "\n".join(f"{name}: {process.log_text()[-LAST_OUTPUT:]}" for name, process in self._running.items())

    def process(self, name: str) -> LambdaProcess:
        """The running one, else a new one."""
        if name not in self._running:
            function = self._functions[name]
            sandbox = self._sandbox_of(function)
            output = self._folder / f"{name}.log"
            process = LambdaProcess(name, sandbox, function.handler, self.environment(function, sandbox), output)
            self._running[name] = self._opened.enter_context(process)
        return self._running[name]

    def environment(self, function: DeployedFunction, sandbox: Sandbox) -> dict[str, str]:
        """The variables that the template gives to the function, with what they are here. Raises KeyError for one of
        ours that nothing here has a value for."""
        ours = {name for name in function.variables if name.startswith("NEVE_")}
        mounted = {name: str(sandbox.opt / MOUNTED[name]) for name in ours & MOUNTED.keys()}
        return {
            **self._stores.endpoints,
            **{name: self._stores.variables[name] for name in ours - mounted.keys()},
            **mounted,
            **self._more.get(function.name, {}),
            "POWERTOOLS_SERVICE_NAME": "neve",
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()
