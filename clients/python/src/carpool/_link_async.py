"""One connection of the asyncio client: any number of calls at a time."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import socket
import sys
from collections import deque
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from . import _waiting
from ._exceptions import CarpoolError, ConnectionLostError, rpc_error
from ._handlers import MAX_QUESTIONS, Callbacks
from ._link import BOUND, MAX_ATOMIC_BYTES, keep
from ._orphans import Orphans
from ._rpc import Failure, NeedData, Notification, Question, Result, RPCConnection

T = TypeVar("T")

# The maximum number of events that a feed reads ahead; those of the last read come on top.
MAX_AHEAD: Final = 64
# The interval at which calls without an answer are looked at, in seconds.
TICK_SECONDS: Final = 0.5
# The interval at which a message with descriptors waits for earlier ones, in seconds.
WRITE_SECONDS: Final = 0.001


def _copied(connection: socket.socket) -> socket.socket:
    try:
        return connection.dup()
    except OSError as error:
        raise CarpoolError(f"cannot pass a pipe to the daemon: {error.strerror}") from error


async def within(awaitable: Awaitable[T], seconds: float | None) -> T:
    """Await in the caller's task, for at most `seconds`: then it is cancelled, and asyncio.TimeoutError is raised.

    Before Python 3.12 asyncio.wait_for uses another task, and does not cancel its caller if what it waits for has
    happened in the same turn of the event loop.
    """
    task = asyncio.current_task()
    if seconds is None or task is None:
        return await awaitable
    before, expired = 0, False
    # Python 3.10 does not count who has cancelled a task.
    if sys.version_info >= (3, 11):
        before = task.cancelling()

    def expire() -> None:
        nonlocal expired
        expired = task.cancel()

    timer = asyncio.get_running_loop().call_later(seconds, expire)
    try:
        return await awaitable
    except asyncio.CancelledError:
        if expired and (sys.version_info < (3, 11) or task.uncancel() <= before):
            raise asyncio.TimeoutError from None
        raise
    finally:
        timer.cancel()


class Pending:
    """A call that waits for its answer, until `end` in silence."""

    __slots__ = ("call", "end", "future", "method", "params", "silence")

    def __init__(
        self, future: asyncio.Future[Any], call: int, method: str, params: Mapping[str, Any], now: float
    ) -> None:
        self.future = future
        self.call = call
        self.method = method
        self.params = params
        self.silence = _waiting.silence(params)
        self.end = now + self.silence


class Link(asyncio.Protocol):
    """One connection: bytes to messages, answers to the futures that wait for them, callbacks to their handlers."""

    def __init__(self, callbacks: Callbacks, *, is_feed: bool) -> None:
        self.rpc = RPCConnection()
        self.transport: asyncio.Transport | None = None
        self.loop = asyncio.get_running_loop()
        self.calls: dict[int, Pending] = {}
        self.orphans = Orphans(self)
        self.notifications: deque[Notification] = deque()
        self.arrival = asyncio.Event()
        self.closed = asyncio.Event()
        self.ended: CarpoolError | None = None
        self.handling: set[asyncio.Task[None]] = set()
        self.announced: list[str] = []
        self.is_bound = False
        self.begun: Pending | None = None
        self._callbacks = callbacks
        self._is_feed = is_feed
        self.is_unread = False
        self._lone_bytes = 0
        self._is_heard = False
        self._ticking: asyncio.TimerHandle | None = None
        self._pinged: float | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # That of uvloop has the same methods, and another base class.
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._is_heard = True
        try:
            self.rpc.receive_data(data)
            while not isinstance(event := self.rpc.next_event(), NeedData):
                self._deliver(event)
        except CarpoolError as error:
            self.end(error)

    def connection_lost(self, exc: Exception | None) -> None:
        # A write of a lone call that fails, or the daemon's end with unread bytes: it has not read the call.
        self.is_unread = len(self.calls) == 1 and (
            (isinstance(exc, BrokenPipeError) and self._lone_bytes > 0)
            or (isinstance(exc, ConnectionResetError) and 0 < self._lone_bytes <= MAX_ATOMIC_BYTES)
        )
        reason = f"lost the connection to the daemon: {exc}" if exc else "the daemon closed the connection"
        self.end(ConnectionLostError(reason))

    def write(self, data: bytes) -> None:
        """Write, or raise the error with which the connection ended."""
        if self.ended is not None or self.transport is None:
            raise self.ended or ConnectionLostError("the connection is closed")
        self._lone_bytes = 0
        self.transport.write(data)

    async def _write_with(self, descriptors: Sequence[int], data: bytes) -> None:
        """Write with descriptors. The transport cannot, so what it has yet to write comes first."""
        sent = 0
        while not sent:
            self.write(b"")
            if self.transport is None or self.transport.get_write_buffer_size() > 0:
                await asyncio.sleep(WRITE_SECONDS)
                continue
            with _copied(self.transport.get_extra_info("socket")) as copy:
                try:
                    sent = socket.send_fds(copy, [data], list(descriptors), socket.MSG_DONTWAIT)
                except BlockingIOError:
                    await asyncio.sleep(WRITE_SECONDS)
                except OSError as error:
                    # Nothing of it was sent.
                    self.is_unread = len(self.calls) == 1
                    raise ConnectionLostError(f"lost the connection to the daemon: {error.strerror}") from error
        if sent < len(data):
            self.write(data[sent:])

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification, unless the connection has ended."""
        if self.ended is None:
            self.write(self.rpc.send_notification(method, params))

    async def ask(
        self,
        method: str,
        params: dict[str, Any],
        descriptors: Sequence[int] = (),
        *,
        until_notified: bool = False,
        silence: float | None = None,
    ) -> Any:
        """Call a method and return its result. The daemon learns that the caller was cancelled.

        The descriptors go with the message. With `until_notified` it returns None if a notification precedes the
        answer.
        """
        pending = await self.begin(method, params, descriptors)
        if silence is not None:
            pending.silence, pending.end = silence, self.loop.time() + silence
        return await self.answer(pending, until_notified=until_notified)

    async def begin(self, method: str, params: dict[str, Any], descriptors: Sequence[int] = ()) -> Pending:
        """Call a method without waiting: `answer` returns its result."""
        params = self.orphans.marked(method, params)
        call, data = self.rpc.send_request(method, params)
        pending = Pending(self.loop.create_future(), call, method, params, self.loop.time())
        is_alone = not self.calls
        self.calls[call] = pending
        pending.future.add_done_callback(self._note)
        if self._ticking is None:
            self._ticking = self.loop.call_later(TICK_SECONDS, self._tick)
        with self._giving_up(pending):
            if descriptors:
                await self._write_with(descriptors, data)
            else:
                self.write(data)
        if is_alone:
            self._lone_bytes = len(data)
        return pending

    async def answer(self, pending: Pending, *, until_notified: bool = False) -> Any:
        """Return the result of a call; with `until_notified` None if a notification precedes it."""
        with self._giving_up(pending):
            if until_notified:
                while not pending.future.done():
                    if self.notifications:
                        self.begun = pending
                        return None
                    self.arrival.clear()
                    await self.arrival.wait()
            value = await pending.future
        if pending.method in BOUND:
            self.is_bound = True
        return value

    def _note(self, future: asyncio.Future[Any]) -> None:
        """Wake who waits for a message. The exception of a call that nothing waits for is not reported."""
        if not future.cancelled():
            future.exception()
        self.arrival.set()

    @contextlib.contextmanager
    def _giving_up(self, pending: Pending) -> Iterator[None]:
        """Forget a call whose caller does not wait for its answer any more."""
        try:
            yield
        except asyncio.CancelledError:
            is_unanswered = self.calls.pop(pending.call, None) is not None
            if self.ended is None and is_unanswered:
                self.orphans.add(pending.call, pending.method, pending.params)
            elif self.ended is None:
                self.orphans.add_answered(pending)
            raise
        except BaseException:
            self.calls.pop(pending.call, None)
            raise

    def _tick(self) -> None:
        """Find the calls for which the daemon was silent too long."""
        self._ticking = None
        now = self.loop.time()
        late = [(call, pending) for call, pending in self.calls.items() if pending.end <= now]
        if self._is_heard:
            self._is_heard, self._pinged = False, None
            for _, pending in late:
                pending.end = now + pending.silence
        elif late and self._pinged is None:
            self._pinged = now
            _, data = self.rpc.send_request("daemon.ping", {})
            self.write(data)
        elif self._pinged is not None and now - self._pinged >= _waiting.PING_SECONDS:
            self._give_up(late)
        if self.calls and self.ended is None:
            self._ticking = self.loop.call_later(TICK_SECONDS, self._tick)

    def _give_up(self, late: list[tuple[int, Pending]]) -> None:
        """Fail the calls that are late, and the connection with the last of them."""
        for call, pending in late:
            del self.calls[call]
            if not pending.future.done():
                pending.future.set_exception(_waiting.unanswered(pending.method, pending.params))
            self.orphans.add(call, pending.method, pending.params)
        if not self.calls:
            self.end(ConnectionLostError("the daemon does not answer"))

    def end(self, error: CarpoolError) -> None:
        """Close the connection, fail the waiting calls, and cancel the running handlers."""
        if self.ended is None:
            self.ended = error
            for pending in self.calls.values():
                if not pending.future.done():
                    pending.future.set_exception(error)
            self.calls.clear()
            self.orphans.end()
            if self._ticking is not None:
                self._ticking.cancel()
            for task in self.others_handling():
                task.cancel()
            self.arrival.set()
            self.closed.set()
        if self.transport is not None:
            self.transport.close()

    def release(self) -> None:
        """Close the connection of an event loop that is closed, in which nothing can wait any more."""
        self.ended = self.ended or ConnectionLostError("the event loop of the connection is closed")
        transport, self.transport = self.transport, None
        # uvloop has closed the descriptor, whose number may be another one's by now. That of asyncio is closed when the
        # transport is collected; the daemon notices the end now.
        if isinstance(transport, asyncio.Transport):
            with contextlib.suppress(OSError):
                transport.get_extra_info("socket").shutdown(socket.SHUT_RDWR)

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
                self._settle(call, value, None)
            case Failure(int() as call, error):
                self._settle(call, None, rpc_error(error))
            case Failure(_, error):
                # It has no id of a call.
                self.end(rpc_error(error))

    def _settle(self, call: int, value: Any, error: CarpoolError | None) -> None:
        """Complete the call that waits for an answer."""
        pending = self.calls.pop(call, None)
        if pending is None:
            self.orphans.answered(call, value)
        elif pending.future.done():
            return
        elif error is not None:
            pending.future.set_exception(error)
        else:
            pending.future.set_result(value)

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
                value = await within(value, asking.deadline)
            data = asking.answer(self.rpc, value)
        except Exception as error:  # noqa: BLE001, every exception of a handler is answered and logged
            data = asking.failure(self.rpc, error)
        if self.ended is None:
            self.write(data)
