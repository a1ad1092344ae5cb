"""The blocking channel: one socket, and one thread that calls, answers and waits on it."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from . import _socket
from ._exceptions import ConnectionLostError, rpc_error
from ._handlers import MAX_QUESTIONS, Callbacks
from ._models import read_file
from ._operations import pieces
from ._rpc import Failure, NeedData, Notification, Question, Result, RPCConnection

# The maximum number of unread notifications. Beyond it the queue is replaced by one `lagged` event, as the daemon
# does: knowing that events are missing is worth more than old events.
MAX_NOTIFICATIONS: Final = 10_000
# The daemon's lines stay under this size, so one read is nearly always one message.
READ_BYTES: Final = 65_536
# A handler that makes a call may get the next callback while it waits. This is the maximum depth; then the next
# callback waits, because handlers that cause each other's callbacks would exhaust the stack.
MAX_NESTED: Final = 8
# Results that end with their connection, as does the subscription of an unfinished request with `events`. After one of
# these calls has succeeded, the loss of the connection raises ConnectionLostError.
BOUND: Final = frozenset({"events.subscribe", "reachability.watch", "request.attach", "stream.open"})


def keep(queue: deque[Notification], notification: Notification) -> None:
    """Queue a notification until it is read."""
    if len(queue) >= MAX_NOTIFICATIONS:
        dropped = len(queue)
        queue.clear()
        queue.append(Notification("event", {"type": "lagged", "data": {"dropped": dropped}}))
    queue.append(notification)


class _Link:
    """One connection. A handler that loses it and calls again makes a new one; this one stays closed."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.rpc = RPCConnection()
        self.waiting: set[int] = set()
        self.answers: dict[int, Result | Failure] = {}
        self.questions: deque[Question] = deque()
        self.nested = 0
        self.announced: list[str] = []
        self.is_bound = False
        self.is_unsent = False

    def can_be_replaced(self) -> bool:
        """Whether the connection can be replaced without losing notifications or leases."""
        return not self.waiting and not self.is_bound

    def has_ended(self) -> bool:
        """Whether the daemon has closed it, for example at a restart."""
        state = select.poll()
        state.register(self.socket, 0)
        return bool(state.poll(0))

    def receive(self, deadline: float | None) -> bool:
        """Handle the next message; return False at the deadline."""
        if deadline is not None:
            readable = select.poll()
            readable.register(self.socket, select.POLLIN)
            if not readable.poll(max(0.0, deadline - time.monotonic()) * 1000):
                return False
        self.rpc.receive_data(self.socket.recv(READ_BYTES))
        return True

    def settle(self, answer: Result | Failure) -> None:
        """Store an answer for its call; raises an error answer without an id, because no call waits for it."""
        if answer.id in self.waiting:
            self.answers[answer.id] = answer
        elif isinstance(answer, Failure) and answer.id is None:
            if not self.waiting:
                raise rpc_error(answer.error)
            self.answers[max(self.waiting)] = answer


class Channel:
    """A connection that is made at the first call, and again at the next call after it was lost."""

    may_start: bool
    """Whether a daemon is started where there is none."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.may_start = True
        self._path = path
        self._link: _Link | None = None
        self._notifications: deque[Notification] = deque()
        self._callbacks = Callbacks(allow_async=False)

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """Call a method and return its result; raises RPCError or DaemonUnreachableError.

        A call that the daemon cannot have received, because it had ended before, is made to the next one.
        """
        link = self._link
        if link is None or not link.can_be_replaced():
            return self._ask(self._connected(), method, params)
        if not link.has_ended():
            try:
                return self._ask(link, method, params)
            except ConnectionLostError:
                if not link.is_unsent:
                    raise
        self._drop(link)
        return self._ask(self._connected(), method, params)

    def notification(self, timeout: float | None) -> Notification | None:
        """Return the next notification; None after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        if not self._notifications:
            self._advance_until(deadline, lambda: len(self._notifications) > 0)
        return self._notifications.popleft() if self._notifications else None

    def feed(self) -> Channel:
        """Return another channel to the same daemon, for events: they are read on demand."""
        return Channel(self._path)

    @staticmethod
    def pause(seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)

    def serve(self, timeout: float | None) -> None:
        """Answer callbacks until `timeout` seconds have passed, else until the connection is lost."""
        self._advance_until(None if timeout is None else time.monotonic() + timeout, lambda: False)

    def register(self, name: str, handlers: Mapping[str, Callable[[Any], Any] | None]) -> None:
        """Replace the handlers of a name, and send the names to the daemon if they have changed."""
        undo = self._callbacks.replace(name, handlers)
        try:
            self._announce(self._connected())
        except BaseException:
            undo()
            raise

    def close(self) -> None:
        """End the connection. Its calls and its subscriptions end with it."""
        if self._link is not None:
            self._drop(self._link)

    @staticmethod
    def read_file(path: str) -> bytes | None:
        """Read a spool file; None if this process cannot open it."""
        return read_file(path)

    @staticmethod
    def pieces(data: Iterable[bytes]) -> Iterator[bytes]:
        """Split a streamed body into pieces that fit a message."""
        return pieces(data)

    def _connected(self) -> _Link:
        if self._link is None:
            link = _Link(_socket.connect(self._path, may_start=self.may_start))
            self._link = link
            try:
                self._announce(link)
            except BaseException:
                # Without the names the daemon would not call.
                self._drop(link)
                raise
        return self._link

    def _announce(self, link: _Link) -> None:
        """Send the names of the callbacks to the daemon, if they have changed since they were last sent."""
        names = self._callbacks.names
        if link.announced != names:
            self._ask(link, "client.hello", {"callbacks": names})
            link.announced = names

    def _drop(self, link: _Link) -> None:
        link.socket.close()
        if self._link is link:
            self._link = None

    @contextlib.contextmanager
    def _in_step(self, link: _Link, occasion: str) -> Iterator[None]:
        """Drop a connection after an interruption: a message that was half written or read cannot be completed."""
        try:
            yield
        except OSError as error:
            self._drop(link)
            raise ConnectionLostError(f"lost the connection to the daemon{occasion}: {error.strerror}") from error
        except BaseException:
            self._drop(link)
            raise

    def _ask(self, link: _Link, method: str, params: dict[str, Any]) -> Any:
        call, data = link.rpc.send_request(method, params)
        with self._in_step(link, f" during {method}"):
            link.waiting.add(call)
            link.is_unsent = True
            link.socket.sendall(data)
            link.is_unsent = False
            while call not in link.answers:
                self._advance(link, None)
            link.waiting.remove(call)
        answer = link.answers.pop(call)
        if isinstance(answer, Failure):
            raise rpc_error(answer.error)
        if method in BOUND or ("events" in params and "outcome" not in answer.value):
            link.is_bound = True
        return answer.value

    def _advance_until(self, deadline: float | None, is_done: Callable[[], bool]) -> None:
        link = self._connected()
        with self._in_step(link, ""):
            while not is_done() and self._advance(link, deadline):
                pass

    def _advance(self, link: _Link, deadline: float | None) -> bool:
        """Handle the next message or callback of a connection; return False at the deadline."""
        if link.questions and link.nested < MAX_NESTED:
            self._serve(link, link.questions.popleft())
            return True
        match link.rpc.next_event():
            case NeedData():
                return link.receive(deadline)
            case Notification() as notification:
                keep(self._notifications, notification)
            case Question() as question if len(link.questions) >= MAX_QUESTIONS:
                link.socket.sendall(self._callbacks.too_many(link.rpc, question))
            case Question() as question:
                link.questions.append(question)
            case answer:
                link.settle(answer)
        return True

    def _serve(self, link: _Link, question: Question) -> None:
        asking = self._callbacks.asking(question)
        link.nested += 1
        try:
            data = asking.answer(link.rpc, asking.ask())
        except Exception as error:  # noqa: BLE001, every exception of a handler is answered and logged
            data = asking.failure(link.rpc, error)
        finally:
            link.nested -= 1
        link.socket.sendall(data)
