"""A connection to the daemon without a client library: bytes, and the three framings."""

from __future__ import annotations

import itertools
import json
import select
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.waiting import PATIENCE_SECONDS

LINES, CONTENT_LENGTH, SEQUENCE = "lines", "content-length", "json-sequence"
FRAMINGS = [LINES, CONTENT_LENGTH, SEQUENCE]


class RemoteError(Exception):
    """An error answer; `error` is its object."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(str(error))
        self.error = error
        self.code: int = error["code"]
        self.name: str = (error.get("data") or {}).get("name", "")


def frame(text: bytes, framing: str) -> bytes:
    """Put one message into its frame."""
    match framing:
        case "content-length":
            return b"Content-Length: %d\r\n\r\n%s" % (len(text), text)
        case "json-sequence":
            return b"\x1e" + text + b"\n"
    return text + b"\n"


class Wire:
    """One connection. Every read has a deadline, so that a silent daemon fails the test instead of stopping it."""

    def __init__(self, path: Path | str, framing: str = LINES, timeout: float = PATIENCE_SECONDS) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._timeout = timeout
        self.socket.settimeout(timeout)
        self.socket.connect(str(path))
        self.framing = framing
        self._input = self.socket.makefile("rb")
        self._ids = itertools.count(1)
        self._questions: list[dict[str, Any]] = []
        self._answers: list[dict[str, Any]] = []

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._input.close()
        self.socket.close()

    def send_bytes(self, data: bytes, descriptors: Sequence[int] = ()) -> None:
        """Send bytes, with descriptors beside the first of them."""
        if descriptors:
            data = data[socket.send_fds(self.socket, [data], list(descriptors)) :]
        self.socket.sendall(data)

    def send_text(self, text: str | bytes, descriptors: Sequence[int] = ()) -> None:
        """Send a message in its frame; the content is not checked."""
        self.send_bytes(frame(text.encode() if isinstance(text, str) else text, self.framing), descriptors)

    def send(self, message: Any, descriptors: Sequence[int] = ()) -> None:
        self.send_text(json.dumps(message), descriptors)

    def request_with(self, descriptors: Sequence[int], method: str, /, **params: Any) -> int:
        """Send a call with descriptors and return its id."""
        call = next(self._ids)
        self.send({"jsonrpc": "2.0", "id": call, "method": method, "params": params}, descriptors)
        return call

    def request(self, method: str, params: Any = None, /, **named: Any) -> int:
        """Send a call and return its id."""
        call = next(self._ids)
        message = {"jsonrpc": "2.0", "id": call, "method": method}
        if params is not None or named:
            message["params"] = named if params is None else params
        self.send(message)
        return call

    def finish(self) -> None:
        """Half-close: the daemon reads the end, and answers what it has."""
        self.socket.shutdown(socket.SHUT_WR)

    def receive_bytes(self) -> bytes:
        """Return the next message without its frame; empty at the end of the connection."""
        if self.framing == CONTENT_LENGTH:
            length = None
            while (line := self._input.readline()) not in {b"", b"\r\n"}:
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            return b"" if length is None else self._input.read(length)
        line = self._input.readline()
        if self.framing == SEQUENCE and line:
            assert line.startswith(b"\x1e"), line
        return line.lstrip(b"\x1e")

    def is_readable(self, seconds: float) -> bool:
        """Whether something comes, in time."""
        self.socket.setblocking(False)
        try:
            return bool(self._input.peek(1)) or bool(select.select([self.socket], [], [], seconds)[0])
        finally:
            self.socket.settimeout(self._timeout)

    def is_silent(self) -> bool:
        """Whether nothing comes before the answer to a ping: earlier messages of the daemon would come first."""
        call = self.request("daemon.ping")
        return bool(self.receive().get("id") == call)

    def some_bytes(self, count: int, seconds: float) -> bytes:
        """Return at most this many bytes that have come, or come in time; nothing if none come."""
        return self._input.read1(count) if self.is_readable(seconds) else b""

    def receive(self) -> Any:
        """Return the next message; fails at the end of the connection."""
        data = self.receive_bytes()
        assert data, "the daemon closed the connection"
        return json.loads(data)

    def answer(self, call: Any) -> Any:
        """Return the answer of a call, skipping notifications; callbacks are kept for `question`.

        Answers of other calls are kept: the daemon may send them in any order.
        """
        for place, message in enumerate(self._answers):
            if message["id"] == call:
                return self._answers.pop(place)
        while (message := self.receive()).get("id") != call or "method" in message:
            if message.get("method", "").startswith("callback."):
                self._questions.append(message)
            elif "method" not in message and "id" in message:
                self._answers.append(message)
        return message

    def result(self, call: Any) -> Any:
        """Return the result of a call, or raise its error."""
        answer = self.answer(call)
        if "error" in answer:
            raise RemoteError(answer["error"])
        return answer["result"]

    def call(self, method: str, /, **params: Any) -> Any:
        return self.result(self.request(method, params))

    def event(self, kind: str) -> dict[str, Any]:
        """Return the next event of a type, skipping everything else."""
        while True:
            message = self.receive()
            if message.get("method") == "event" and message["params"]["type"] == kind:
                event: dict[str, Any] = message["params"]
                return event

    def question(self, kind: str = "") -> dict[str, Any]:
        """Return the next callback, or the next one of a kind, skipping everything else."""
        while True:
            message: dict[str, Any] = self._questions.pop(0) if self._questions else self.receive()
            if message.get("method", "").startswith(f"callback.{kind}"):
                return message

    def reply(self, question: dict[str, Any], **result: Any) -> None:
        """Answer a callback."""
        self.send({"jsonrpc": "2.0", "id": question["id"], "result": result})

    def rest(self) -> list[Any]:
        """Return every message until the daemon closes the connection."""
        messages = []
        while data := self.receive_bytes():
            messages.append(json.loads(data))
        return messages

    def is_ended(self) -> bool:
        """Whether the daemon has closed or reset the connection; reads everything that came before."""
        try:
            while self._input.read1(65_536):
                pass
        except ConnectionError:
            return True
        except TimeoutError:
            return False
        return True
