"""The asyncio channel: one socket, any number of calls at a time."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping
from typing import Any, Final

from . import _socket
from ._channel import keep
from ._exceptions import CarpoolError, ConnectionLostError, DaemonUnreachableError, rpc_error
from ._handlers import MAX_QUESTIONS, Callbacks
from ._models import read_file
from ._operations import Gathering, pieces
from ._rpc import Failure, NeedData, Notification, Question, Result, RPCConnection

# The maximum number of events that a feed reads ahead; those of the last read come on top.
MAX_AHEAD: Final = 64


class _Link(asyncio.Protocol):
    """One connection: bytes to messages, answers to the futures that wait for them, callbacks to their handlers."""

    def __init__(self, callbacks: Callbacks, *, is_feed: bool) -> None:
        self.rpc = RPCConnection()
        self.transport: asyncio.Transport | None = None
        self.calls: dict[int, asyncio.Future[Any]] = {}
        self.notifications: deque[Notification] = deque()
        self.arrival = asyncio.Event()
        self.writable = asyncio.Event()
        self.writable.set()
        self.closed = asyncio.Event()
        self.ended: CarpoolError | None = None
        self.handling: set[asyncio.Task[None]] = set()
        self.announced: list[str] = []
        self._callbacks = callbacks
        self._is_feed = is_feed

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
        reason = f"lost the connection to the daemon: {exc}" if exc else "the daemon closed the connection"
        self.end(ConnectionLostError(reason))

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def write(self, data: bytes) -> None:
        """Write, or raise the error with which the connection ended."""
        if self.ended is not None or self.transport is None:
            raise self.ended or ConnectionLostError("the connection is closed")
        self.transport.write(data)

    def end(self, error: CarpoolError) -> None:
        """Close the connection, fail the waiting calls, and cancel the running handlers."""
        if self.ended is None:
            self.ended = error
            for future in self.calls.values():
                if not future.done():
                    future.set_exception(error)
            self.calls.clear()
            for task in self.others_handling():
                task.cancel()
            self.arrival.set()
            self.writable.set()
            self.closed.set()
        if self.transport is not None:
            self.transport.close()

    def others_handling(self) -> set[asyncio.Task[None]]:
        """Return the running handlers, without the current one."""
        return {task for task in self.handling if task is not asyncio.current_task()}

    def _deliver(self, event: Result | Failure | Notification | Question) -> None:
        match event:
            case Notification():
                self._keep(event)
                self.arrival.set()
            case Question() if len(self.handling) >= MAX_QUESTIONS:
                self.write(self._callbacks.too_many(self.rpc, event))
            case Question():
                task = asyncio.get_running_loop().create_task(self._handle(event))
                self.handling.add(task)
                task.add_done_callback(self.handling.discard)
            case Result(call, value):
                future = self.calls.pop(call, None)
                if future is not None and not future.done():
                    future.set_result(value)
            case Failure(int() as call, error):
                future = self.calls.pop(call, None)
                if future is not None and not future.done():
                    future.set_exception(rpc_error(error))
            case Failure(_, error):
                # It has no id of a call.
                self.end(rpc_error(error))

    def take(self) -> Notification:
        """Return the oldest notification."""
        notification = self.notifications.popleft()
        if self._is_feed and not self.notifications and self.transport is not None:
            self.transport.resume_reading()
        return notification

    def _keep(self, notification: Notification) -> None:
        if not self._is_feed:
            keep(self.notifications, notification)
            return
        # No call waits for an answer here, so reading can stop until there is room.
        self.notifications.append(notification)
        if len(self.notifications) >= MAX_AHEAD and self.transport is not None:
            self.transport.pause_reading()

    async def _handle(self, question: Question) -> None:
        asking = self._callbacks.asking(question)
        try:
            value = asking.ask()
            if inspect.isawaitable(value):
                # After its deadline the daemon does not wait for the answer, and a handler must not hang forever.
                value = await asyncio.wait_for(value, asking.deadline)
            data = asking.answer(self.rpc, value)
        except Exception as error:  # noqa: BLE001, every exception of a handler is answered and logged
            data = asking.failure(self.rpc, error)
        if self.ended is None:
            self.write(data)


class AsyncChannel:
    """A connection that is made at the first call, and again at the next call after it was lost."""

    may_start: bool
    """Whether a daemon is started where there is none."""

    def __init__(self, path: str | os.PathLike[str] | None, *, is_feed: bool = False) -> None:
        self.may_start = True
        self._path = path
        self._is_feed = is_feed
        self._link: _Link | None = None
        self._connecting = asyncio.Lock()
        self._callbacks = Callbacks(allow_async=True)

    async def call(self, method: str, params: dict[str, Any]) -> Any:
        """Call a method and return its result; raises RPCError or DaemonUnreachableError."""
        return await self._ask(await self._connected(), method, params)

    async def notification(self, timeout: float | None) -> Notification | None:
        """Return the next notification; None after `timeout` seconds."""
        # Notifications received before the connection was lost are returned first, then the loss is raised.
        link = self._link or await self._connected()
        while not link.notifications:
            if link.ended is not None:
                raise link.ended
            link.arrival.clear()
            try:
                await asyncio.wait_for(link.arrival.wait(), timeout)
            except asyncio.TimeoutError:
                return None
        return link.take()

    def feed(self) -> AsyncChannel:
        """Return another channel to the same daemon, for events: it reads only a few ahead."""
        return AsyncChannel(self._path, is_feed=True)

    @staticmethod
    async def pause(seconds: float) -> None:
        """Sleep."""
        await asyncio.sleep(seconds)

    async def serve(self, timeout: float | None) -> None:
        """Wait for `timeout` seconds, else until the connection is lost; callbacks are answered meanwhile."""
        link = await self._connected()
        try:
            await asyncio.wait_for(link.closed.wait(), timeout)
        except asyncio.TimeoutError:
            return
        raise link.ended or ConnectionLostError("the connection is closed")

    async def register(self, name: str, handlers: Mapping[str, Callable[[Any], Any] | None]) -> None:
        """Replace the handlers of a name, and send the names to the daemon if they have changed."""
        undo = self._callbacks.replace(name, handlers)
        try:
            await self._announce(await self._connected())
        except BaseException:
            undo()
            raise

    async def close(self) -> None:
        """End the connection. Its calls and its subscriptions end with it, and so do the running handlers."""
        if self._link is not None:
            link, self._link = self._link, None
            link.end(ConnectionLostError("the client was closed"))
            await asyncio.gather(*link.others_handling(), return_exceptions=True)

    async def read_file(self, path: str) -> bytes | None:
        """Read a spool file in a thread; None if this process cannot open it."""
        return await asyncio.to_thread(read_file, path)

    @staticmethod
    async def pieces(data: Iterable[bytes] | AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        """Split a streamed body into pieces that fit a message."""
        if isinstance(data, AsyncIterable):
            gathering = Gathering()
            async for block in data:
                for piece in gathering.add(block):
                    yield piece
            for piece in gathering.rest():
                yield piece
        else:
            for piece in pieces(data):
                yield piece

    async def _connected(self) -> _Link:
        async with self._connecting:
            if self._link is None or self._link.ended is not None:
                connection = await asyncio.to_thread(_socket.connect, self._path, may_start=self.may_start)
                try:
                    _, link = await asyncio.get_running_loop().create_unix_connection(
                        lambda: _Link(self._callbacks, is_feed=self._is_feed), sock=connection
                    )
                except OSError as error:
                    connection.close()
                    raise DaemonUnreachableError(f"cannot use the daemon's socket: {error.strerror}") from error
                try:
                    await self._announce(link)
                except BaseException:
                    # Without the names the daemon would not call.
                    link.end(ConnectionLostError("the daemon refused the names of the callbacks"))
                    raise
                self._link = link
            return self._link

    async def _announce(self, link: _Link) -> None:
        """Send the names of the callbacks to the daemon, if they have changed since they were last sent."""
        names, earlier = self._callbacks.names, link.announced
        if earlier == names:
            return
        link.announced = names  # at once, for a task that registers while this one waits
        try:
            await self._ask(link, "client.hello", {"callbacks": names})
        except BaseException:
            link.announced = earlier
            raise

    @staticmethod
    async def _ask(link: _Link, method: str, params: dict[str, Any]) -> Any:
        call, data = link.rpc.send_request(method, params)
        future = asyncio.get_running_loop().create_future()
        link.calls[call] = future
        try:
            link.write(data)
            await link.writable.wait()
            return await future
        except asyncio.CancelledError:
            if link.calls.pop(call, None) is not None and link.ended is None:
                link.write(link.rpc.send_notification("rpc.cancel", {"id": call}))
            raise
