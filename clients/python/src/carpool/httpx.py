"""Transports of the package httpx: its clients send through carpoold, and are otherwise unchanged.

client = httpx.Client(transport=CarpoolTransport())
client = httpx.AsyncClient(transport=AsyncCarpoolTransport())
"""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Any, cast

try:
    import anyio
    import httpx
    from httpx import AsyncHTTPTransport, HTTPTransport
except ImportError as error:
    raise ImportError("carpool.httpx needs the package httpx: pip install httpx") from error

from . import _adapters as adapters
from ._httpx import (
    Settings,
    blocks,
    check_unread,
    converted,
    finished,
    is_replaced,
    may_retry,
    pause_before,
    taken_within,
    traced,
)
from ._sync.exchange import Exchange
from ._threads import AsyncExchange, has_ended, new_exchange, owner

__all__ = ["AsyncCarpoolTransport", "CarpoolTransport"]

_DEFAULT_LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20)


class CarpoolTransport(httpx.BaseTransport):
    """Sends the requests of an `httpx.Client` through carpoold; threads may share it.

    The arguments are those of `httpx.HTTPTransport`. `socket_options` and the keep-alive limits have no meaning,
    because the daemon has the connections. With `CARPOOL=off` in the environment it is an `HTTPTransport`, and while a
    library for tests, such as respx, has replaced the methods that send.
    """

    def __init__(  # noqa: PLR0917, as in httpx
        self,
        verify: Any = True,
        cert: Any = None,
        trust_env: bool = True,
        http1: bool = True,
        http2: bool = False,
        limits: httpx.Limits = _DEFAULT_LIMITS,
        proxy: Any = None,
        uds: str | None = None,
        local_address: str | None = None,
        retries: int = 0,
        socket_options: Any = None,
    ) -> None:
        arguments = {name: value for name, value in locals().items() if name not in {"self", "__class__"}}
        self._arguments = arguments
        self._plain = HTTPTransport(**arguments) if adapters.is_off() else None
        self._replaced: HTTPTransport | None = None
        self._settings = Settings(**arguments)
        self._retries = retries
        self._turns = threading.Semaphore(limits.max_connections or 1_000_000)
        self._idle: adapters.Idle[Exchange] = adapters.Idle()
        weakref.finalize(self, _close, self._idle)

    def __enter__(self) -> CarpoolTransport:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        self.close()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; raises the exceptions of httpx."""
        adapters.check_library(request, httpx.Request)
        if (plain := self._plain or self._replacement()) is not None:
            return plain.handle_request(request)
        timeout = request.extensions.get("timeout", {})
        if not self._turns.acquire(timeout=timeout.get("pool")):
            raise httpx.PoolTimeout(f"no request has ended for {timeout['pool']} s", request=request)
        try:
            return self._send(request)
        except BaseException:
            self._turns.release()
            raise

    def close(self) -> None:
        """Close the connections to the daemon that no response uses."""
        for plain in (self._plain, self._replaced):
            if plain is not None:
                plain.close()
        _close(self._idle)

    def _replacement(self) -> HTTPTransport | None:
        """Return a transport of httpx while another library has replaced its methods; it is made once."""
        if not is_replaced(HTTPTransport, "handle_request", "ConnectionPool"):
            return None
        self._replaced = self._replaced or HTTPTransport(**self._arguments)
        return self._replaced

    def _send(self, request: httpx.Request) -> httpx.Response:
        attempt = 0
        while True:
            try:
                return self._attempt(request)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if attempt >= self._retries or not may_retry(error):
                    raise
            time.sleep(pause_before(attempt))
            attempt += 1

    def _attempt(self, request: httpx.Request) -> httpx.Response:
        check_unread(request)
        with converted(request):
            params = self._settings.params(request)
            idle = self._idle.take()
            exchange = (idle and idle.next()) or Exchange.on_new_channel()
        try:
            with converted(request, is_sending=True):
                exchange.open(params, self._settings.configuration)
            if "stream" in params.get("body", {}):
                self._put(exchange, request, adapters.Counted(params))
            with converted(request):
                head = exchange.head()
            if trace := request.extensions.get("trace"):
                trace(*traced(head))
        except BaseException:
            self._keep(exchange)
            raise
        return self._settings.response(head, _ResponseStream(self, exchange, request))

    @staticmethod
    def _put(exchange: Exchange, request: httpx.Request, counted: adapters.Counted) -> None:
        seconds = request.extensions.get("timeout", {}).get("write")
        # What the program's own iterator raises is not converted.
        for block in blocks(request):
            with converted(request, is_sending=True), taken_within(seconds, request):
                counted.add(block)
                if not exchange.put(block, seconds):
                    return
        with converted(request, is_sending=True):
            counted.end()
            exchange.end()

    def _keep(self, exchange: Exchange) -> None:
        """End an exchange, and keep its channel for the next one."""
        exchange.close()
        if exchange.is_reusable and (surplus := self._idle.give(exchange)):
            surplus.channel.close()

    def _finish(self, exchange: Exchange) -> None:
        self._turns.release()
        self._keep(exchange)


def _close(idle: adapters.Idle[Exchange]) -> None:
    for exchange in idle.drain():
        exchange.channel.close()


class _ResponseStream(httpx.SyncByteStream):
    """The body of a response, as it arrives."""

    def __init__(self, transport: CarpoolTransport, exchange: Exchange, request: httpx.Request) -> None:
        self._transport = transport
        self._exchange: Exchange | None = exchange
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        with converted(self._request, is_receiving=True):
            while self._exchange is not None and (data := self._exchange.read()):
                yield data

    def close(self) -> None:
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            self._transport._finish(exchange)  # noqa: SLF001


class AsyncCarpoolTransport(httpx.AsyncBaseTransport):
    """Sends the requests of an `httpx.AsyncClient` through carpoold, with asyncio and with trio.

    The arguments are those of `httpx.AsyncHTTPTransport`; see `CarpoolTransport`.
    """

    def __init__(  # noqa: PLR0917, as in httpx
        self,
        verify: Any = True,
        cert: Any = None,
        trust_env: bool = True,
        http1: bool = True,
        http2: bool = False,
        limits: httpx.Limits = _DEFAULT_LIMITS,
        proxy: Any = None,
        uds: str | None = None,
        local_address: str | None = None,
        retries: int = 0,
        socket_options: Any = None,
    ) -> None:
        arguments = {name: value for name, value in locals().items() if name not in {"self", "__class__"}}
        self._arguments = arguments
        self._plain = AsyncHTTPTransport(**arguments) if adapters.is_off() else None
        self._replaced: AsyncHTTPTransport | None = None
        self._settings = Settings(**arguments)
        self._retries = retries
        self._max_connections = limits.max_connections or 1_000_000
        self._turns: dict[object, anyio.Semaphore] = {}
        self._idle: adapters.Idle[AsyncExchange] = adapters.Idle()

    async def __aenter__(self) -> AsyncCarpoolTransport:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        await self.aclose()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; raises the exceptions of httpx."""
        adapters.check_library(request, httpx.Request)
        if (plain := self._plain or self._replacement()) is not None:
            return await plain.handle_async_request(request)
        timeout = request.extensions.get("timeout", {})
        turns = self._turns_here()
        try:
            with anyio.fail_after(timeout.get("pool")):
                await turns.acquire()
        except TimeoutError as error:
            message = f"no request has ended for {timeout['pool']} s"
            raise httpx.PoolTimeout(message, request=request) from error
        try:
            return await self._send(request, turns)
        except BaseException:
            turns.release()
            raise

    async def aclose(self) -> None:
        """Close the connections to the daemon that no response uses."""
        for plain in (self._plain, self._replaced):
            if plain is not None:
                await plain.aclose()
        for exchange in self._idle.drain():
            # One of an event loop that has ended is closed with it.
            with contextlib.suppress(RuntimeError):
                await exchange.discard()

    def _replacement(self) -> AsyncHTTPTransport | None:
        """Return a transport of httpx while another library has replaced its methods; it is made once."""
        if not is_replaced(AsyncHTTPTransport, "handle_async_request", "AsyncConnectionPool"):
            return None
        self._replaced = self._replaced or AsyncHTTPTransport(**self._arguments)
        return self._replaced

    def _turns_here(self) -> anyio.Semaphore:
        """Return the semaphore of the running event loop; those of closed ones are forgotten."""
        here = owner()
        if here not in self._turns:
            kept = {loop: turns for loop, turns in self._turns.items() if not has_ended(loop)}
            self._turns = {**kept, here: anyio.Semaphore(self._max_connections)}
        return self._turns[here]

    async def _send(self, request: httpx.Request, turns: anyio.Semaphore) -> httpx.Response:
        attempt = 0
        while True:
            try:
                return await self._attempt(request, turns)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if attempt >= self._retries or not may_retry(error):
                    raise
            await anyio.sleep(pause_before(attempt))
            attempt += 1

    async def _attempt(self, request: httpx.Request, turns: anyio.Semaphore) -> httpx.Response:
        check_unread(request)
        with converted(request):
            params = self._settings.params(request)
            exchange = await new_exchange(self._idle.take(owner()))
        try:
            with converted(request, is_sending=True):
                await exchange.open(params, self._settings.configuration)
            if "stream" in params.get("body", {}):
                await self._put(exchange, request, adapters.Counted(params))
            with converted(request):
                head = await exchange.head()
            if trace := request.extensions.get("trace"):
                await trace(*traced(head))
        except BaseException:
            await self._end(exchange)
            raise
        return self._settings.response(head, _AsyncResponseStream(self, exchange, request, turns))

    @staticmethod
    async def _put(exchange: AsyncExchange, request: httpx.Request, counted: adapters.Counted) -> None:
        seconds = request.extensions.get("timeout", {}).get("write")
        async with finished(aiter(cast("httpx.AsyncByteStream", request.stream))) as blocks:
            async for block in blocks:
                with converted(request, is_sending=True), taken_within(seconds, request):
                    counted.add(block)
                    if not await exchange.put(block, seconds):
                        return
        with converted(request, is_sending=True):
            counted.end()
            exchange.end()

    async def _end(self, exchange: AsyncExchange) -> None:
        with anyio.CancelScope(shield=True):
            await exchange.aclose()
            if exchange.is_reusable and (surplus := self._idle.give(exchange, owner())):
                await surplus.discard()

    async def _finish(self, exchange: AsyncExchange, turns: anyio.Semaphore) -> None:
        turns.release()
        await self._end(exchange)


class _AsyncResponseStream(httpx.AsyncByteStream):
    """The body of a response, as it arrives."""

    def __init__(
        self,
        transport: AsyncCarpoolTransport,
        exchange: AsyncExchange,
        request: httpx.Request,
        turns: anyio.Semaphore,
    ) -> None:
        self._transport = transport
        self._exchange: AsyncExchange | None = exchange
        self._request = request
        self._turns = turns

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with converted(self._request, is_receiving=True):
            while self._exchange is not None and (data := await self._exchange.read()):
                yield data

    async def aclose(self) -> None:
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            await self._transport._finish(exchange, self._turns)  # noqa: SLF001
