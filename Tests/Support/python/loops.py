"""Event loops: what a test does with the asyncio client runs on the loop of asyncio and on that of uvloop.

Tests use the fixture `run_loop` of their conftest.py in the place of `asyncio.run`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

import uvloop

LOOPS: Final[dict[str, Callable[[], asyncio.AbstractEventLoop]]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}

RunLoop = Callable[[Coroutine[Any, Any, Any]], Any]


def running_on(name: str) -> RunLoop:
    """Return a function that runs a coroutine to its end on a new loop of this name."""
    # The first loop of a process opens what stays open, such as the pipe of libuv's signals: tests compare descriptors.
    LOOPS[name]().close()

    def run(main: Coroutine[Any, Any, Any]) -> Any:
        loop = LOOPS[name]()
        try:
            return loop.run_until_complete(main)
        finally:
            _end(loop)

    return run


def _end(loop: asyncio.AbstractEventLoop) -> None:
    """End a loop as asyncio.run does, which takes no other loop in each version of Python."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
