"""The asyncio channel: one socket, any number of calls at a time."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from typing import Any

from . import _socket
from ._channel import Channel, keep
from ._exceptions import CarpoolError, ConnectionLostError, DaemonUnreachableError, rpc_error
from ._rpc import Failure, NeedData, Notification, Result, RPCConnection


class _Link(asyncio.Protocol):
    """One connection's life: bytes to events, events to the futures that wait for them."""

    def __init__(self) -> None:
        self.rpc = RPCConnection()
        self.transport: asyncio.Transport | None = None
        self.calls: dict[int, asyncio.Future[Any]] = {}
        self.notifications: deque[Notification] = deque()
        self.arrival = asyncio.Event()
        self.writable = asyncio.Event()
        self.writable.set()
        self.ended: CarpoolError | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101, for the type checker: a stream socket has one
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        try:
            self.rpc.receive_data(data)
            while not isinstance(event := self.rpc.next_event(), NeedData):
                self._deliver(event)
        except CarpoolError as error:
            self.end(error)

    def connection_lost(self, exc: Exception | None) -> None:
        self.end(ConnectionLostError(f"lost the daemon: {exc}" if exc else "the daemon closed the connection"))

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def end(self, error: CarpoolError) -> None:
        """Close the connection and tell everybody who waits."""
        if self.ended is None:
            self.ended = error
            for future in self.calls.values():
                if not future.done():
                    future.set_exception(error)
            self.calls.clear()
            self.arrival.set()
            self.writable.set()
        if self.transport is not None:
            self.transport.close()

    def _deliver(self, event: Result | Failure | Notification) -> None:
        match event:
            case Notification():
                keep(self.notifications, event)
                self.arrival.set()
            case Result(call, value):
                future = self.calls.pop(call, None)
                if future is not None and not future.done():
                    future.set_result(value)
            case Failure(int() as call, error):
                future = self.calls.pop(call, None)
                if future is not None and not future.done():
                    future.set_exception(rpc_error(error))
            case Failure(_, error):
                # Nobody can tell which call it answers.
                self.end(rpc_error(error))


class AsyncChannel:
    """A connection that is made at the first call, and made anew at the next call after it was lost."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = path
        self._link: _Link | None = None
        self._connecting = asyncio.Lock()

    async def call(self, method: str, params: dict[str, Any]) -> Any:
        """Make a call and give its result; raises RPCError or DaemonUnreachableError."""
        link = await self._connected()
        call, data = link.rpc.send_request(method, params)
        future = asyncio.get_running_loop().create_future()
        link.calls[call] = future
        try:
            self._write(link, data)
            await link.writable.wait()
            return await future
        except asyncio.CancelledError:
            if link.calls.pop(call, None) is not None and link.ended is None:
                self._write(link, link.rpc.send_notification("rpc.cancel", {"id": call}))
            raise

    async def notification(self, timeout: float | None) -> Notification | None:
        """Wait for the next notification, at most `timeout` seconds; None when none came."""
        link = await self._connected()
        while not link.notifications:
            if link.ended is not None:
                raise link.ended
            link.arrival.clear()
            try:
                await asyncio.wait_for(link.arrival.wait(), timeout)
            except asyncio.TimeoutError:
                return None
        return link.notifications.popleft()

    async def close(self) -> None:
        """End the connection. Its calls and its subscriptions end with it."""
        if self._link is not None:
            self._link.end(ConnectionLostError("the client was closed"))
            self._link = None

    async def read_file(self, path: str) -> bytes | None:
        """Read a spool file in a thread; None when it is out of our reach."""
        return await asyncio.to_thread(Channel.read_file, path)

    async def _connected(self) -> _Link:
        async with self._connecting:
            if self._link is None or self._link.ended is not None:
                connection = await asyncio.to_thread(_socket.connect, self._path)
                try:
                    _, self._link = await asyncio.get_running_loop().create_unix_connection(_Link, sock=connection)
                except OSError as error:
                    connection.close()
                    raise DaemonUnreachableError(f"cannot use the daemon's socket: {error.strerror}") from error
            return self._link

    @staticmethod
    def _write(link: _Link, data: bytes) -> None:
        if link.ended is not None or link.transport is None:
            raise link.ended or ConnectionLostError("the connection is closed")
        link.transport.write(data)
