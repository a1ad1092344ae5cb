"""One connection of the blocking client. One thread reads from it; others may close it, or send a notification."""

from __future__ import annotations

import select
import socket
from _thread import RLock
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from . import _fork, _waiting
from ._exceptions import ConnectionLostError, DaemonUnreachableError, ForkedError, rpc_error
from ._rpc import Failure, Notification, Question, Result, RPCConnection

# The daemon's lines stay under this size, so one read is nearly always one message.
READ_BYTES: Final = 65_536
# The maximum number of unread notifications. Beyond it the queue is replaced by one `lagged` event, as the daemon
# does: knowing that events are missing is worth more than old events.
MAX_NOTIFICATIONS: Final = 10_000
# A message of this size is written and read at once: if the daemon has closed the connection with unread bytes, and
# this message was the last, it was not read.
MAX_ATOMIC_BYTES: Final = 16_384
# Results that end with their connection, as does the subscription of an unfinished request with `events`. After one of
# these calls has succeeded, the loss of the connection raises ConnectionLostError.
BOUND: Final = frozenset({"events.subscribe", "reachability.watch", "request.attach", "stream.open"})

_INTERRUPTED: Final = "the client was closed by another thread"


def keep(queue: deque[Notification], notification: Notification) -> None:
    """Queue a notification until it is read."""
    if len(queue) >= MAX_NOTIFICATIONS:
        dropped = len(queue)
        queue.clear()
        queue.append(Notification("event", {"type": "lagged", "data": {"dropped": dropped}}))
    queue.append(notification)


class Begun(NamedTuple):
    """A call whose answer is yet to come."""

    id: int
    method: str
    params: dict[str, Any]
    silence: float


class Link:
    """One connection. A handler that loses it and calls again makes a new one; this one stays closed."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.rpc = RPCConnection()
        self.waiting: set[int] = set()
        self.answers: dict[int, Result | Failure] = {}
        self.questions: deque[Question] = deque()
        self.nested = 0
        self.begun: Begun | None = None
        self.announced: list[str] = []
        self.is_bound = False
        self.is_unsent = False
        self.has_only_sent_one = False
        self.made_in = _fork.generation()
        self._is_interrupted = False
        self._readable: select.poll | None = None
        self._is_partly_sent = False
        self._closing = RLock()
        self._sending = RLock()

    def can_be_replaced(self) -> bool:
        """Whether the connection can be replaced without losing notifications or leases."""
        return not self.waiting and not self.is_bound

    def has_ended(self) -> bool:
        """Whether the daemon has closed it, for example at a restart."""
        if self.socket.fileno() < 0:
            return True
        state = select.poll()
        state.register(self.socket, 0)
        return bool(state.poll(0))

    def close(self) -> None:
        """Close the descriptor; in a child the connection of the parent continues."""
        with self._closing:
            self.socket.close()

    def interrupt(self) -> None:
        """End the connection for the thread that waits on it."""
        with self._closing:
            self._is_interrupted = True
            try:
                self.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                return

    def send(
        self,
        data: bytes,
        silence: float = _waiting.SILENCE_SECONDS,
        *,
        is_call: bool = False,
        descriptors: Sequence[int] = (),
    ) -> None:
        """Write all of the data, with descriptors for the daemon.

        Raises DaemonUnreachableError if the daemon reads nothing for `silence` seconds.
        """
        with self._sending:
            if self._is_partly_sent:
                raise ConnectionLostError("the handler of a signal has interrupted a message to the daemon")
            self.has_only_sent_one &= is_call
            self._send_all(data, silence, descriptors)

    def _send_all(self, data: bytes, silence: float, descriptors: Sequence[int]) -> None:
        sent = self._send_some(data, descriptors)
        if sent == len(data):
            return
        self._is_partly_sent = True
        rest = memoryview(data)[sent:]
        writable = select.poll()
        writable.register(self.socket, select.POLLOUT)
        while rest:
            if not writable.poll((silence + _waiting.PING_SECONDS) * 1000):
                raise DaemonUnreachableError("the daemon does not read what this program sends: is it stopped?")
            count = self._send_some(rest, () if sent else descriptors)
            rest, sent = rest[count:], sent + count
        self._is_partly_sent = False

    def _send_some(self, data: bytes | memoryview, descriptors: Sequence[int] = ()) -> int:
        try:
            if descriptors:
                return socket.send_fds(self.socket, [data], list(descriptors), socket.MSG_DONTWAIT)
            return self.socket.send(data, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0

    def receive(self, seconds: float) -> bool:
        """Handle what comes next; return False if nothing comes for so long."""
        # A handler of a signal, which runs inside poll(), may call: it makes another one.
        readable, self._readable = self._readable, None
        if readable is None:
            readable = select.poll()
            readable.register(self.socket, select.POLLIN)
        is_readable = readable.poll(seconds * 1000)
        self._readable = readable
        if not is_readable:
            return False
        data = self.socket.recv(READ_BYTES)
        if not data and self._is_interrupted:
            raise ConnectionLostError(_INTERRUPTED)
        self.rpc.receive_data(data)
        return True

    def settle(self, answer: Result | Failure) -> None:
        """Store an answer for its call; raises an error answer without an id, because no call waits for it."""
        if answer.id in self.waiting:
            self.answers[answer.id] = answer
        elif isinstance(answer, Failure) and answer.id is None:
            if not self.waiting:
                raise rpc_error(answer.error)
            self.answers[max(self.waiting)] = answer

    def lost(self, error: OSError, occasion: str) -> Exception:
        """Return the exception for an error of the socket."""
        if self.made_in != _fork.generation():
            return ForkedError(f"the call{occasion} belongs to the parent process; call again after os.fork()")
        if self._is_interrupted:
            return ConnectionLostError(_INTERRUPTED)
        return ConnectionLostError(f"lost the connection to the daemon{occasion}: {error.strerror}")
