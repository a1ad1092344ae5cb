"""Exchanges of asynchronous transports: on the event loop of asyncio, and in threads with trio."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Protocol

import anyio
import anyio.lowlevel
import anyio.to_thread

from ._async.exchange import Exchange as AsyncioExchange
from ._sync.exchange import Exchange

try:
    from sniffio import current_async_library
except ImportError:
    # httpx does not require it, but trio does: without it the event loop is asyncio's.
    def current_async_library() -> str:
        """Return the name of the running event loop's package."""
        return "asyncio"


# Threads of an event loop that wait for answers of the daemon; those of anyio are for work.
_MAX_THREADS = 1_000
_limiter: anyio.lowlevel.RunVar[anyio.CapacityLimiter] = anyio.lowlevel.RunVar("carpool.threads")


class AsyncExchange(Protocol):
    """The steps of an exchange."""

    @property
    def is_reusable(self) -> bool: ...
    async def open(self, params: dict[str, Any], configuration: dict[str, Any]) -> None: ...
    async def put(self, block: bytes, seconds: float | None = None) -> bool: ...
    def end(self) -> None: ...
    async def head(self) -> dict[str, Any]: ...
    async def read(self) -> bytes: ...
    async def aclose(self) -> None: ...
    async def discard(self) -> None: ...


class LoopExchange(AsyncioExchange):
    """An exchange on the running event loop."""

    async def discard(self) -> None:
        """Close the channel."""
        await self.channel.close()


class ThreadExchange:
    """An exchange whose steps run in threads, for event loops that are not asyncio's."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        # A step whose task was cancelled still runs: nothing that it uses is closed meanwhile.
        self._step = threading.Lock()

    @property
    def is_reusable(self) -> bool:
        """Whether the channel may be used again."""
        return self.exchange.is_reusable

    async def open(self, params: dict[str, Any], configuration: dict[str, Any]) -> None:
        """See `Exchange.open`."""
        await self._run(self.exchange.open, params, configuration)

    async def put(self, block: bytes, seconds: float | None = None) -> bool:
        """See `Exchange.put`."""
        return bool(await self._run(self.exchange.put, block, seconds))

    def end(self) -> None:
        """See `Exchange.end`."""
        self.exchange.end()

    async def head(self) -> dict[str, Any]:
        """See `Exchange.head`."""
        return dict(await self._run(self.exchange.head))

    async def read(self) -> bytes:
        """See `Exchange.read`."""
        return bytes(await self._run(self.exchange.read))

    async def next(self) -> ThreadExchange | None:
        """See `Exchange.next`."""
        following = await self._run(self.exchange.next)
        return following and ThreadExchange(following)

    async def aclose(self) -> None:
        """See `Exchange.close`. A thread that still waits for the daemon is woken."""
        if self.exchange.is_reusable:
            self.exchange.close()
            return
        # Closing a socket does not end the wait of another thread.
        self.exchange.channel.wake()
        await self._run(self.exchange.close)

    async def discard(self) -> None:
        """Close the channel."""
        self.exchange.channel.close()

    async def _run(self, function: Any, *arguments: Any) -> Any:
        has_begun = False

        def step() -> Any:
            nonlocal has_begun
            has_begun = True
            with self._step:
                return function(*arguments)

        try:
            return await anyio.to_thread.run_sync(step, abandon_on_cancel=True, limiter=_threads())
        except RuntimeError:
            if has_begun or threading.main_thread().is_alive():
                raise
        # The program ends: Python 3.12 starts no more threads.
        return step()


def _threads() -> anyio.CapacityLimiter:
    """Return the limiter of the running event loop."""
    try:
        return _limiter.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(_MAX_THREADS)
        _limiter.set(limiter)
        return limiter


def owner() -> object:
    """Return what connections to the daemon belong to: the event loop, or None if they are used in threads."""
    return asyncio.get_running_loop() if current_async_library() == "asyncio" else None


def has_ended(place: object) -> bool:
    """Whether an owner is an event loop that is closed."""
    return isinstance(place, asyncio.AbstractEventLoop) and place.is_closed()


async def new_exchange(idle: AsyncExchange | None) -> AsyncExchange:
    """Return an exchange on the channel of an earlier one, or on a new one."""
    following: AsyncExchange | None = None
    if isinstance(idle, (LoopExchange, ThreadExchange)):
        following = await idle.next()
    if following is not None:
        return following
    return ThreadExchange(Exchange.on_new_channel()) if owner() is None else LoopExchange.on_new_channel()
