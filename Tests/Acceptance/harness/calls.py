"""Calls as bytes, for tests that send many at once."""

from __future__ import annotations

import json
import threading
from typing import Any

from harness.wire import Wire

NOBODY = "http://127.0.0.1:1/"
"""A URL whose port has no listener."""


def line(method: str, number: int | None = None, /, **params: Any) -> bytes:
    """Return a call, or a notification if it has no number."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    return json.dumps(message).encode() + b"\n"


def send_and_read(wire: Wire, data: bytes, count: int) -> list[bytes]:
    """Send on a thread of its own while `count` answers are read."""
    sender = threading.Thread(target=wire.send_bytes, args=(data,), daemon=True)
    sender.start()
    answers = [wire.receive_bytes() for _ in range(count)]
    sender.join(20)
    assert all(answers)
    return answers


def submit(wire: Wire, count: int, **params: Any) -> None:
    """Submit `count` requests to a port without a listener."""
    data = b"".join(line("request.submit", number, url=NOBODY, **params) for number in range(count))
    assert not any(b'"error":{"code"' in answer for answer in send_and_read(wire, data, count))


def ping(wire: Wire) -> None:
    """Make a call and read until its answer."""
    assert wire.call("daemon.ping")["pong"] is True
