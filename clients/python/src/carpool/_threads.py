"""Exchanges of asynchronous transports: on the event loop of asyncio, and in threads with trio."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Any, Protocol

import anyio
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


# Threads that wait for answers of the daemon; those of anyio are for work.
_MAX_THREADS = 1_000


class AsyncExchange(Protocol):
    """The steps of an exchange."""

    @property
    def is_reusable(self) -> bool: ...
    async def open(self, params: dict[str, Any], configuration: dict[str, Any]) -> None: ...
    async def put(self, block: bytes) -> bool: ...
    async def end(self) -> bool: ...
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
        self._limiter = anyio.CapacityLimiter(_MAX_THREADS)

    @property
    def is_reusable(self) -> bool:
        """Whether the channel may be used again."""
        return self.exchange.is_reusable

    async def open(self, params: dict[str, Any], configuration: dict[str, Any]) -> None:
        """See `Exchange.open`."""
        await self._run(self.exchange.open, params, configuration)

    async def put(self, block: bytes) -> bool:
        """See `Exchange.put`."""
        return bool(await self._run(self.exchange.put, block))

    async def end(self) -> bool:
        """See `Exchange.end`."""
        return bool(await self._run(self.exchange.end))

    async def head(self) -> dict[str, Any]:
        """See `Exchange.head`."""
        return dict(await self._run(self.exchange.head))

    async def read(self) -> bytes:
        """See `Exchange.read`."""
        return bytes(await self._run(self.exchange.read))

    async def aclose(self) -> None:
        """See `Exchange.close`. A thread that still waits for the daemon is woken."""
        if not self.exchange.is_reusable:
            link = self.exchange.channel.link
            with contextlib.suppress(OSError, AttributeError):
                # Closing a socket does not end the `recv` of another thread.
                link.socket.shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr]
        self.exchange.close()

    async def discard(self) -> None:
        """Close the channel."""
        self.exchange.channel.close()

    async def _run(self, function: Any, *arguments: Any) -> Any:
        return await anyio.to_thread.run_sync(function, *arguments, abandon_on_cancel=True, limiter=self._limiter)


def owner() -> object:
    """Return what connections to the daemon belong to: the event loop, or None if they are used in threads."""
    return asyncio.get_running_loop() if current_async_library() == "asyncio" else None


async def new_exchange(idle: AsyncExchange | None) -> AsyncExchange:
    """Return an exchange on the channel of an earlier one, or on a new one."""
    if isinstance(idle, LoopExchange):
        return LoopExchange(idle.channel)
    if isinstance(idle, ThreadExchange):
        return ThreadExchange(Exchange(idle.exchange.channel))
    if owner() is not None:
        return await LoopExchange.on_new_channel()
    return ThreadExchange(await anyio.to_thread.run_sync(Exchange.on_new_channel))
