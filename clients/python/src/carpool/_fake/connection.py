"""One connection of a fake daemon: lines to calls, and results to answers."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from .._exceptions import CarpoolError
from .._rpc import MAX_ANSWER_BYTES, NeedData, Notification, Question, RPCConnection
from .methods import METHODS
from .records import RefusedError

if TYPE_CHECKING:
    from .daemon import FakeDaemon

READ_BYTES: Final = 65_536
# The maximum number of descriptors of a connection that no call has used, as in the daemon.
MAX_DESCRIPTORS: Final = 16
# The maximum number of calls of a connection that run at a time, each in a thread, as in the daemon.
MAX_CALLS: Final = 256


@dataclass(slots=True)
class Later:
    """The result of a call that waits: `answer` when `is_ready`, or after `seconds`."""

    is_ready: Callable[[], bool]
    answer: Callable[[], Any]
    seconds: float | None


@dataclass(slots=True)
class Call:
    """A call, and the descriptors that came with it."""

    connection: Connection
    params: dict[str, Any]
    descriptors: list[int] = field(default_factory=list)
    is_stopped: bool = False

    @staticmethod
    def when(is_ready: Callable[[], bool], answer: Callable[[], Any], seconds: float | None = None) -> Any:
        """Return the answer when it is ready, at the latest after `seconds`."""
        return answer() if is_ready() or seconds == 0 else Later(is_ready, answer, seconds)


class Connection:
    """Reads in a thread of its own; a call that waits has one too."""

    def __init__(self, fake: FakeDaemon, number: int, connected: socket.socket) -> None:
        self.name = f"c-{number}"
        self.bound: set[str] = set()
        self._fake = fake
        self._socket = connected
        self._rpc = RPCConnection(MAX_ANSWER_BYTES)
        self._descriptors: list[int] = []
        self._calls: dict[Any, Call] = {}
        self._sending = threading.Lock()
        self.thread = threading.Thread(target=self._serve, name="carpool-fake-connection", daemon=True)

    def end(self) -> None:
        """End the connection, and its thread."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def abandon(self) -> None:
        """Close the descriptor in a child of os.fork()."""
        self._socket.close()

    def notify(self, event: dict[str, Any]) -> None:
        """Send an event."""
        self._send(self._rpc.send_notification("event", event))

    def stop(self, call: Any) -> None:
        """End the wait of a call."""
        if call in self._calls:
            self._calls[call].is_stopped = True
            with self._fake.changed:
                self._fake.changed.notify_all()

    def _serve(self) -> None:
        # A line that is not JSON-RPC ends the connection, as does the end of the client.
        with contextlib.suppress(OSError, CarpoolError):
            while True:
                data, descriptors, _, _ = socket.recv_fds(self._socket, READ_BYTES, MAX_DESCRIPTORS)
                self._rpc.receive_data(data)
                self._take(descriptors, ends_line=data.endswith(b"\n"))
        for call in self._calls.values():
            call.is_stopped = True
        for name in self.bound:
            if request := self._fake.running.get(name):
                request.cancel()
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._socket.close()
        self._fake.ended(self)

    def _take(self, received: list[int], *, ends_line: bool) -> None:
        """Handle the lines that are complete.

        Descriptors are those of the last line in the block with which they were received, because the kernel ends a
        block there; the line may be incomplete.
        """
        try:
            event = self._rpc.next_event()
            while not isinstance(event, NeedData):
                following = self._rpc.next_event()
                descriptors, self._descriptors = self._descriptors, []
                if ends_line and isinstance(following, NeedData):
                    descriptors, received = descriptors + received, []
                self._handle(event, descriptors)
                event = following
        finally:
            self._descriptors += received

    def _handle(self, event: Any, descriptors: list[int]) -> None:
        call = Call(self, getattr(event, "params", {}), descriptors)
        try:
            if isinstance(event, Question):
                self._answer(event, call)
            elif isinstance(event, Notification) and event.method in METHODS:
                with contextlib.suppress(RefusedError):
                    METHODS[event.method](self._fake, call)
        finally:
            for descriptor in call.descriptors:
                os.close(descriptor)

    def _answer(self, question: Question, call: Call) -> None:
        try:
            method = METHODS.get(question.method)
            if method is None:
                raise _unknown(question.method)
            if len(self._calls) >= MAX_CALLS:
                raise RefusedError(1004, "too many calls", {"name": "too_many_in_flight", "retryable": True})
            result = method(self._fake, call)
        except RefusedError as error:
            self._send(self._rpc.send_error(question, error.code, error.message, error.data))
            return
        except Exception as error:  # noqa: BLE001, the caller waits for an answer
            message = f"carpool.testing failed: {type(error).__name__}: {error}"
            self._send(self._rpc.send_error(question, -32603, message, {"name": "internal", "retryable": False}))
            return
        if not isinstance(result, Later):
            self._send(self._rpc.send_result(question, result))
            return
        self._calls[question.id] = call
        waiting = threading.Thread(
            target=self._wait, args=(question, call, result), name="carpool-fake-call", daemon=True
        )
        waiting.start()

    def _wait(self, question: Question, call: Call, later: Later) -> None:
        changed = self._fake.changed
        with changed:
            changed.wait_for(lambda: call.is_stopped or self._fake.is_closed or later.is_ready(), later.seconds)
        self._calls.pop(question.id, None)
        if call.is_stopped and not later.is_ready():
            data = {"name": "cancelled", "retryable": False}
            self._send(self._rpc.send_error(question, -32800, "the call was cancelled", data))
        elif not self._fake.is_closed:
            self._send(self._rpc.send_result(question, later.answer()))

    def _send(self, data: bytes) -> None:
        with self._sending, contextlib.suppress(OSError):
            self._socket.sendall(data)


def _unknown(method: str) -> RefusedError:
    known = ", ".join(METHODS)
    data = {
        "name": "method_not_found",
        "retryable": False,
        "hint": f"carpool.testing has {known}; test others with a daemon.",
        "detail": f"no such method: {method}",
    }
    return RefusedError(-32601, "Method not found", data)
