"""Loads ``functions/<name>/app.py`` and calls its handler as the Lambda runtime would, in this process."""

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

from local.template import Function

Handler = Callable[[Any, Any], Any]

current_function: ContextVar[str] = ContextVar("current_function", default="")
"""Name of the function whose handler is running; the empty text outside."""


class LambdaContext:
    """The context object of one invocation. ``invoked_function_arn`` names no account: this is one machine."""

    function_version = "$LATEST"
    client_context = None
    identity = None

    def __init__(self, function: Function, request_id: str) -> None:
        self.aws_request_id = request_id
        self.function_name = function.name
        self.memory_limit_in_mb = function.memory_mb
        self.invoked_function_arn = f"arn:aws:lambda:local:000000000000:function:{function.name}"
        self.log_group_name = f"/aws/lambda/{function.name}"
        self.log_stream_name = "local"
        self._ends_at = time.monotonic() + function.timeout_s

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self._ends_at - time.monotonic()) * 1000))


class Functions:
    """Every function of the template by name; a module is imported when it is first needed.

    All functions share one process, so their environment variables have to agree: the first value wins."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = functions
        self._handlers: dict[str, Handler] = {}
        self._loading = threading.Lock()
        for function in functions.values():
            for name, value in function.environment.items():
                os.environ.setdefault(name, value)

    def invoke(self, name: str, event: Any) -> Any:
        """The handler's answer. Raises whatever the handler raises, KeyError for an unknown function."""
        handler = self._handlers.get(name) or self.load(name)
        running = current_function.set(name)
        try:
            return handler(event, LambdaContext(self._functions[name], str(uuid.uuid4())))
        finally:
            current_function.reset(running)

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
