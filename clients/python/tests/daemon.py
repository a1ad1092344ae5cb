"""A daemon of a few lines: it answers calls by a function, so that the clients can be tested without a real one."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

Answer = Callable[[dict[str, Any]], list[dict[str, Any] | bytes]]


def record(body: dict[str, Any] | None = None, **members: Any) -> dict[str, Any]:
    """Return a response record in the daemon's form."""
    return {
        "request": "r_1",
        "state": "finished",
        "outcome": {"ok": True},
        "response": {"status": 200, "http_version": "h2", "url": "https://a.example/", "headers": []},
        "body": {"none": True} if body is None else body,
        "attempts": [{"metrics": [{"end_us": 7}]}],
        **members,
    }


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


class FakeDaemon:
    """Listens on `path` until closed; `answer` returns what to send for each message, None ends the connection."""

    def __init__(self, directory: Path, answer: Answer) -> None:
        self.path = directory / "carpool.sock"
        self.received: list[dict[str, Any]] = []
        self._answer = answer
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(self.path))
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)
        assert not self._thread.is_alive(), "a client holds its connection"

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            # A client that goes away in the middle is one of the cases.
            with connection, connection.makefile("rb") as lines, contextlib.suppress(OSError):
                for line in lines:
                    message = json.loads(line)
                    self.received.append(message)
                    answers = self._answer(message)
                    if not answers:
                        break
                    for answer in answers:
                        connection.sendall(answer if isinstance(answer, bytes) else _line(answer))
