"""Loads ``functions/<name>/app.py`` and calls its handler as the Lambda runtime would, in this process, within Lambda's
limits (``local/limits``)."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from types import ModuleType
from typing import Any

from local.limits import lineage
from local.limits.mortal_ports import Killed, seconds_left
from local.limits.payloads import check_answer, check_event
from local.limits.points import LAMBDA, Points, Series
from local.template import Function
from local.workers.requests_first import give_way
from neve.adapters.clock import SystemClock
from neve.config import variable

Handler = Callable[[Any, Any], Any]
STAGE = "local"
"""The name of this machine's stage, in the address of a method and in ``NEVE_STAGE``."""

current_function: ContextVar[str] = ContextVar("current_function", default="")
"""Name of the function whose handler is running; the empty text outside."""


class TimedOut(Exception):
    """The function was at work for longer than its ``Timeout``."""


class LambdaContext:
    """The context object of one invocation. ``invoked_function_arn`` names no account: this is one machine.
    ``monotonic``: the seconds that its time is measured in."""

    function_version = "$LATEST"
    client_context = None
    identity = None

    def __init__(self, function: Function, request_id: str, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.aws_request_id = request_id
        self.function_name = function.name
        self.memory_limit_in_mb = function.memory_mb
        self.invoked_function_arn = f"arn:aws:lambda:local:000000000000:function:{function.name}"
        self.log_group_name = f"/aws/lambda/{function.name}"
        self.log_stream_name = "local"
        self._monotonic = monotonic
        self._ends_at = monotonic() + function.timeout_s

    def get_remaining_time_in_millis(self) -> int:
        """Asked at every use of a port and between two pieces of work: where a worker lets requests go first."""
        give_way()
        return max(0, int((self._ends_at - self._monotonic()) * 1000))


class Functions:
    """Every function of the template by name; a module is imported when it is first needed.

    All functions share one process, so their environment variables have to agree: the first value wins. ``points``:
    what CloudWatch would be told of them. ``cut_off`` is told of a function that took longer than it may."""

    def __init__(
        self,
        functions: Mapping[str, Function],
        points: Points | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        cut_off: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._functions = functions
        self._monotonic = monotonic
        self._cut_off = cut_off
        self._handlers: dict[str, Handler] = {}
        self._loading = threading.Lock()
        self.points = points or Points(SystemClock().now)
        os.environ[variable("stage")] = STAGE
        for function in functions.values():
            for name, value in function.environment.items():
                os.environ.setdefault(name, value)

    def invoke(self, name: str, event: Any) -> Any:
        """The handler's answer. Raises whatever the handler raises, TimedOut, AnswerTooLarge; RequestTooLarge and
        RecursionStopped, in which case it was not called; KeyError for an unknown function."""
        function = self._functions[name]
        handler = self._handlers.get(name) or self.load(name)
        check_event(event)
        try:
            with lineage.invoked(name, event, may_recurse=function.may_recurse):
                answer = self._run(function, handler, event)
        except lineage.RecursionStopped:
            self.points.add(Series(LAMBDA, "RecursiveInvocationsDropped", name), 1)
            raise
        except Exception as error:
            self.points.add(Series(LAMBDA, "Errors", name), 1)
            if isinstance(error, TimedOut):
                self._cut_off(name)
            raise
        return answer

    def _run(self, function: Function, handler: Handler, event: Any) -> Any:
        """Raises TimedOut for a handler that took longer than it may, whatever it did and answered."""
        context = LambdaContext(function, str(uuid.uuid4()), self._monotonic)
        running = current_function.set(function.name)
        left = seconds_left.set(lambda: context.get_remaining_time_in_millis() / 1000)
        try:
            answer = handler(event, context)
        except Killed:
            raise TimedOut(f"{function.name} ran for {function.timeout_s} s") from None
        finally:
            seconds_left.reset(left)
            current_function.reset(running)
        if not context.get_remaining_time_in_millis():
            raise TimedOut(f"{function.name} ran for {function.timeout_s} s")
        check_answer(answer)
        return answer

    def load(self, name: str) -> Handler:
        """Import the function's module under a name of its own (every one of them is called ``app``)."""
        with self._loading:
            if name not in self._handlers:
                self._handlers[name] = self._import_handler(self._functions[name])
            return self._handlers[name]

    def _import_handler(self, function: Function) -> Handler:
        module_name, _, attribute = function.handler.rpartition(".")
        module = _import_module(function, module_name)
        handler: Handler = getattr(module, attribute)
        return handler


def _import_module(function: Function, module_name: str) -> ModuleType:
    path = function.code / f"{module_name}.py"
    unique = f"neve_function_{function.name}"
    spec = importlib.util.spec_from_file_location(unique, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[unique] = module
    spec.loader.exec_module(module)
    return module
