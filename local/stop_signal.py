"""Ctrl-C and SIGTERM, heard by a main thread that sleeps until then."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable


class StopSignal:
    """Made in the main thread. ``too_early``: whether what is going on is to be broken off, by KeyboardInterrupt in the
    main thread, rather than ended by whoever waits.

    The kernel may hand the signal to any thread, and then nothing wakes the main one; or to the main thread just before
    it begins to sleep. Python runs handlers in the main thread only, so this one would never run. What the interpreter
    writes into the socket, in whichever thread, is there to be read."""

    def __init__(self, too_early: Callable[[], bool]) -> None:
        self._heard, self._told = socket.socketpair()
        self._told.setblocking(False)  # set_wakeup_fd asks for it
        signal.set_wakeup_fd(self._told.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self._break_off_if(too_early()))

    def wait(self) -> None:
        """Until the first of them, also one that came before."""
        self._heard.recv(1)

    def _break_off_if(self, early: bool) -> None:
        if early:
            raise KeyboardInterrupt
