"""The blocking channel: one socket, one call at a time."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections import deque
from pathlib import Path
from typing import Any, Final

from . import _socket
from ._exceptions import ConnectionLostError, rpc_error
from ._rpc import Failure, NeedData, Notification, Result, RPCConnection

# What a program may leave unread while it makes calls. Past it the whole queue is replaced by one `lagged` event, as
# the daemon does it: an old event is worth less than knowing that some are missing.
MAX_NOTIFICATIONS: Final = 10_000
# The daemon's lines stay under this size, so one read is nearly always one message.
READ_BYTES: Final = 65_536


def keep(queue: deque[Notification], notification: Notification) -> None:
    """Queue a notification until somebody reads it."""
    if len(queue) >= MAX_NOTIFICATIONS:
        dropped = len(queue)
        queue.clear()
        queue.append(Notification("event", {"type": "lagged", "data": {"dropped": dropped}}))
    queue.append(notification)


class Channel:
    """A connection that is made at the first call, and made anew at the next call after it was lost."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = path
        self._socket: socket.socket | None = None
        self._rpc = RPCConnection()
        self._notifications: deque[Notification] = deque()

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """Make a call and give its result; raises RPCError or DaemonUnreachableError."""
        connection = self._socket or self._connect()
        call, data = self._rpc.send_request(method, params)
        try:
            connection.sendall(data)
            answer = self._answer(connection, call)
        except OSError as error:
            self.close()
            raise ConnectionLostError(f"lost the daemon during {method}: {error.strerror}") from error
        except BaseException:
            # What was interrupted may be half written or still to be answered: only a new connection is in step.
            self.close()
            raise
        if isinstance(answer, Failure):
            raise rpc_error(answer.error)
        return answer.value

    def notification(self, timeout: float | None) -> Notification | None:
        """Wait for the next notification, at most `timeout` seconds; None when none came."""
        if self._notifications:
            return self._notifications.popleft()
        connection = self._socket or self._connect()
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            while True:
                match self._rpc.next_event():
                    case Notification() as notification:
                        return notification
                    case NeedData():
                        if deadline is not None:
                            connection.settimeout(max(deadline - time.monotonic(), 1e-6))
                        self._rpc.receive_data(connection.recv(READ_BYTES))
        except TimeoutError:
            return None
        except OSError as error:
            self.close()
            raise ConnectionLostError(f"lost the daemon: {error.strerror}") from error
        except ConnectionLostError:
            self.close()
            raise
        finally:
            if deadline is not None and self._socket is not None:
                self._socket.settimeout(None)

    def close(self) -> None:
        """End the connection. Its calls and its subscriptions end with it."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
            self._rpc = RPCConnection()

    @staticmethod
    def read_file(path: str) -> bytes | None:
        """Read a spool file; None when it is out of our reach (another user's, or another mount namespace)."""
        with contextlib.suppress(OSError):
            return Path(path).read_bytes()
        return None

    def _connect(self) -> socket.socket:
        self._socket = _socket.connect(self._path)
        return self._socket

    def _answer(self, connection: socket.socket, call: int) -> Result | Failure:
        while True:
            match self._rpc.next_event():
                case NeedData():
                    self._rpc.receive_data(connection.recv(READ_BYTES))
                case Notification() as notification:
                    keep(self._notifications, notification)
                case answer if answer.id in {call, None}:
                    return answer
