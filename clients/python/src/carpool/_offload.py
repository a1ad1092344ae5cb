"""Calls of functions that may block, in threads of the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import threading
from collections.abc import Callable
from typing import Any


def in_thread(function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
    """Call a function in a thread; while the program ends, when executors refuse calls, in this one."""
    loop = asyncio.get_running_loop()
    call = functools.partial(contextvars.copy_context().run, function, *arguments)
    try:
        return loop.run_in_executor(None, call)
    except RuntimeError:
        if threading.main_thread().is_alive():
            raise
    made = loop.create_future()
    try:
        made.set_result(call())
    except Exception as error:  # noqa: BLE001, the future has it
        made.set_exception(error)
    return made
