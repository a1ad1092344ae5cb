"""What the scripts share: an origin that knows whose connections it has, and answers as services do."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import socket
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from origins.authority import Authority, Certificate
from origins.scripted import Exchange, Handler, ScriptedOrigin

IS_DIRECT = os.environ.get("CARPOOL") == "off"
_DAEMON = os.environ["CARPOOL_LIBRARY_DAEMON"]


def adapter() -> Any:
    """Return the module with the adapter that libraries.toml names."""
    return importlib.import_module(os.environ["CARPOOL_LIBRARY_ADAPTER"])


def authority() -> Authority:
    """Return an authority for certificates of localhost; its `ca_file` is not one of the system."""
    return Authority(Path(os.environ["CARPOOL_LIBRARY_AUTHORITY"]) / f"of-{os.getpid()}")


class Origin(ScriptedOrigin):
    """A scripted origin that notes which of its connections the daemon has made."""

    def __init__(self, certificate: Certificate | None = None) -> None:
        self.by_daemon: list[bool | None] = []
        super().__init__(certificate)

    def _serve(self, raw: socket.socket, number: int) -> None:
        self.by_daemon.append(_is_daemons(raw))
        super()._serve(raw, number)

    def json(self, path: str, value: Any, status: int = 200, headers: Iterable[tuple[str, str]] = ()) -> str:
        """Answer requests of a path with JSON, and return the URL."""
        return self.on(path, lambda exchange: answer(exchange, value, status, headers))

    def targets(self) -> list[str]:
        """Return the method and the path of each request, in the order of their arrival."""
        return [f"{request.method} {request.target.partition('?')[0]}" for request in self.requests]

    def bodies(self, path: str) -> list[Any]:
        """Return the JSON that was sent to a path."""
        sent = [request.body for request in self.requests if request.target.partition("?")[0] == path]
        return [json.loads(body) for body in sent if body]


@contextlib.contextmanager
def serving(certificate: Certificate | None = None) -> Iterator[Origin]:
    """Run an origin; at the end each of its connections must be the daemon's, or with CARPOOL=off none of them."""
    origin = Origin(certificate)
    yield origin
    assert origin.requests, "nothing was sent to the origin"
    assert set(origin.by_daemon) - {None} == {not IS_DIRECT}, f"of the daemon: {origin.by_daemon}"
    origin.stop()


def answer(exchange: Exchange, value: Any, status: int = 200, headers: Iterable[tuple[str, str]] = ()) -> None:
    """Answer one request with JSON."""
    exchange.reply(status, json.dumps(value).encode(), [("Content-Type", "application/json"), *headers])


def in_turn(*handlers: Handler) -> Handler:
    """Handle the first request by the first handler, and so on; the last one handles all others."""
    left = list(handlers)
    lock = threading.Lock()

    def handler(exchange: Exchange) -> None:
        with lock:
            chosen = left.pop(0) if len(left) > 1 else left[0]
        chosen(exchange)

    return handler


def status(code: int, value: Any = None, headers: Iterable[tuple[str, str]] = ()) -> Handler:
    """Answer with JSON and this status."""
    return lambda exchange: answer(exchange, value, code, headers)


def reset(exchange: Exchange) -> None:
    """Break the connection without an answer."""
    exchange.reset()


class EventStream:
    """Server-sent events, each in a chunk of its own. After the first one the origin waits until `go_on` is called."""

    def __init__(self, events: Iterable[str], *, ends: bool = True) -> None:
        self._events = list(events)
        self._ends = ends
        self._gate = threading.Event()
        self.was_left = threading.Event()
        """Set when the client has closed a stream that does not end."""

    def go_on(self) -> None:
        """Let the rest be sent: the program has read the first event."""
        self._gate.set()

    def __call__(self, exchange: Exchange) -> None:
        exchange.send(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        for number, event in enumerate(self._events):
            if number == 1:
                assert self._gate.wait(60), "the first event did not arrive before the second was sent"
            data = event.encode()
            exchange.send(b"%x\r\n%s\r\n" % (len(data), data))
        if not self._ends:
            if exchange.wait_for_peer_to_close():
                self.was_left.set()
            exchange.close()
        exchange.send(b"0\r\n\r\n")


def form_parts(request: Any) -> dict[str, tuple[str | None, bytes]]:
    """Return the parts of a form by their names: the name of the file, and the content."""
    boundary = request.values("content-type")[0].partition("boundary=")[2].strip('"').encode()
    parts = {}
    for part in request.body.split(b"--" + boundary)[1:-1]:
        head, _, content = part[2:-2].partition(b"\r\n\r\n")
        names = dict(
            piece.strip().split("=", 1)
            for line in head.decode().splitlines()
            if line.lower().startswith("content-disposition")
            for piece in line.split(";")[1:]
        )
        name = names.get("filename")
        parts[names["name"].strip('"')] = (name and name.strip('"'), content)
    return parts


def _is_daemons(connection: socket.socket) -> bool | None:
    """Whether the other end of a connection on loopback is the daemon's; None if it has been closed."""
    wanted = (_address(connection.getpeername()), _address(connection.getsockname()))
    found = None
    # Again, because a table that changes while it is read may lack a line, and the daemon may just have closed it.
    for _ in range(3):
        lines = map(str.split, Path("/proc/net/tcp").read_text().splitlines()[1:])
        inode = next((fields[9] for fields in lines if (fields[1], fields[2]) == wanted), "0")
        found = None if inode == "0" else f"socket:[{inode}]" in _descriptors()
        if found:
            break
    return found


def _address(address: tuple[str, int]) -> str:
    host = int.from_bytes(socket.inet_aton(address[0]), "little")
    return f"{host:08X}:{address[1]:04X}"


def _descriptors() -> set[str]:
    found = set()
    for entry in Path(f"/proc/{_DAEMON}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.add(str(entry.readlink()))
    return found
