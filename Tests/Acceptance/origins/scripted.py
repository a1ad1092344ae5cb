"""An origin that a test scripts byte by byte: the faults that no real server makes on demand."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path

from harness.waiting import PATIENCE_SECONDS, join

from origins.authority import Certificate


class GoneError(Exception):
    """The connection is over."""


@dataclass(frozen=True)
class Received:
    """One request, as its bytes came."""

    method: str
    target: str
    head: bytes
    headers: list[tuple[str, str]]
    body: bytes
    connection: int
    """The number of its connection, from 1."""
    number: int
    """Its number on its connection, from 1."""

    def values(self, name: str) -> list[str]:
        return [value for field, value in self.headers if field.lower() == name.lower()]


class Exchange:
    """A request and the means to answer it."""

    def __init__(
        self, origin: ScriptedOrigin, connection: socket.socket, stream: BufferedReader, request: Received
    ) -> None:
        self._origin = origin
        self._connection = connection
        self._stream = stream
        self.request = request

    @property
    def ports(self) -> tuple[int, int]:
        """The ports of the connection: the origin's and the peer's."""
        return self._connection.getsockname()[1], self._connection.getpeername()[1]

    @property
    def peer(self) -> str:
        """The address of the peer."""
        return str(self._connection.getpeername()[0])

    @property
    def is_resumed(self) -> bool:
        """Whether the handshake of the connection has resumed a TLS session."""
        assert isinstance(self._connection, ssl.SSLSocket)
        return bool(self._connection.session_reused)

    def send(self, data: bytes) -> None:
        try:
            self._connection.sendall(data)
        except OSError as error:
            raise GoneError from error

    def reply(
        self, status: int = 200, body: bytes = b"", headers: Iterable[tuple[str, str]] = (), length: int | None = None
    ) -> None:
        """Answer; `length` is a wrong Content-Length."""
        lines = [f"HTTP/1.1 {status} Reason", *(f"{name}: {value}" for name, value in headers)]
        lines.append(f"Content-Length: {len(body) if length is None else length}")
        self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (b"" if self.request.method == "HEAD" else body))

    def take(self, count: int = 1 << 40) -> bytes:
        """Read this many unread bytes, or all to the end."""
        self._connection.settimeout(PATIENCE_SECONDS)
        pieces = []
        while count > 0 and (piece := self._stream.read1(min(65_536, count))):
            count -= len(piece)
            pieces.append(piece)
        return b"".join(pieces)

    def shutdown(self) -> None:
        """Half-close: send the end, and continue to read."""
        self._connection.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Close the connection in order."""
        raise GoneError

    def reset(self) -> None:
        """Break the connection: the peer's next read fails."""
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise GoneError

    def wait_for_peer_to_close(self, seconds: float = PATIENCE_SECONDS) -> bool:
        """Read and drop what still comes; whether the daemon ends the connection, in time.

        To close with bytes unread would reset the connection, and a response on its way could be lost (RFC 9112, 9.6).
        """
        deadline = time.monotonic() + seconds
        try:
            while (left := deadline - time.monotonic()) > 0:
                self._connection.settimeout(left)
                if not self._connection.recv(65_536):
                    return True
            return False
        except TimeoutError:
            return False
        except OSError:
            return True


Handler = Callable[[Exchange], None]
# Sees a request whose body has not been read; true if that is all that happens on the connection.
HeadHandler = Callable[[Exchange], bool | None]


class ScriptedOrigin:
    """Listens on loopback, or on an address; `on` sets the handler of a path, other requests are echoed."""

    def __init__(self, certificate: Certificate | None = None, address: str = "127.0.0.1", port: int = 0) -> None:
        self._context: ssl.SSLContext | None = None
        if certificate is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(certificate.chain, certificate.key)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._listener = socket.create_server((address, port), family=family, backlog=512)
        self.port: int = self._listener.getsockname()[1]
        host = f"[{address}]" if ":" in address else address
        self.url = f"http{'s' if certificate else ''}://{host}:{self.port}"
        self._handlers: dict[str, Handler] = {}
        self.handler: Handler = echo
        """Of targets that have none of their own."""
        self._head_handlers: dict[str, HeadHandler] = {}
        self._changed = threading.Condition()
        self._requests: list[Received] = []
        self._open: set[socket.socket] = set()
        self._connections = 0
        self._gates: list[threading.Event] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def present(self, certificate: Certificate) -> None:
        """Present another certificate from now on. TLS sessions that clients have can still be resumed."""
        assert self._context is not None
        self._context.load_cert_chain(certificate.chain, certificate.key)

    def speak(self, oldest: ssl.TLSVersion, newest: ssl.TLSVersion) -> None:
        """Speak these versions of TLS alone."""
        assert self._context is not None
        self._context.minimum_version, self._context.maximum_version = oldest, newest

    def require_certificate(self, authorities: Path) -> None:
        """Require a certificate of the client from now on."""
        assert self._context is not None
        self._context.load_verify_locations(authorities)
        self._context.verify_mode = ssl.CERT_REQUIRED

    @property
    def connections(self) -> int:
        """How many connections were ever accepted."""
        return self._connections

    @property
    def requests(self) -> list[Received]:
        with self._changed:
            return list(self._requests)

    @property
    def idle(self) -> bool:
        """Whether no connection is open."""
        with self._changed:
            return not self._open

    def forget(self) -> None:
        """Remove all handlers, and the requests that have come."""
        with self._changed:
            self._handlers.clear()
            self._head_handlers.clear()
            self._requests.clear()

    def on(self, path: str, handler: Handler) -> str:
        """Set the handler of a path and return its URL."""
        self._handlers[path] = handler
        return self.url + path

    def on_head(self, path: str, handler: HeadHandler) -> str:
        """Set what happens at a path before the body is read, and return its URL."""
        self._head_handlers[path] = handler
        return self.url + path

    def hold(self, path: str, body: bytes = b"released") -> threading.Event:
        """Make a path whose answer waits until the returned event is set."""
        gate = threading.Event()
        self._gates.append(gate)

        def handler(exchange: Exchange) -> None:
            gate.wait(120)
            exchange.reply(body=body)

        self.on(path, handler)
        return gate

    def received(self, count: int, path: str | None = None) -> list[Received]:
        """Wait until `count` requests (for a path) have come, and return all of them."""

        def found() -> list[Received]:
            return [request for request in self._requests if path is None or request.target == path]

        with self._changed:
            assert self._changed.wait_for(lambda: len(found()) >= count, PATIENCE_SECONDS), found()
            return found()

    def release(self) -> None:
        """Let all held paths answer."""
        for gate in self._gates:
            gate.set()

    def close_connections(self) -> None:
        """End every connection that is open now, as a server does with those that were idle for too long."""
        with self._changed:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            assert self._changed.wait_for(lambda: not self._open, PATIENCE_SECONDS)

    def stop(self) -> None:
        self.release()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        join(self._threads[:1])
        self.close_connections()
        join(self._threads)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections += 1
            thread = threading.Thread(target=self._serve, args=(connection, self._connections), daemon=True)
            self._threads.append(thread)
            with self._changed:
                self._open.add(connection)
            thread.start()

    def _serve(self, raw: socket.socket, number: int) -> None:
        connection = raw
        try:
            if self._context is not None:
                connection = self._context.wrap_socket(raw.dup(), server_side=True)
            with connection.makefile("rb") as stream:
                for count in range(1, 1_000_000):
                    self._exchange(connection, stream, number, count)
        except (GoneError, OSError):
            pass
        finally:
            connection.close()
            raw.close()
            with self._changed:
                self._open.discard(raw)
                self._changed.notify_all()

    def _exchange(self, connection: socket.socket, stream: BufferedReader, number: int, count: int) -> None:
        request = _read_head(stream, number, count)
        early = self._head_handlers.get(request.target.partition("?")[0])
        if early and early(Exchange(self, connection, stream, request)):
            raise GoneError
        request = replace(request, body=_read_body(stream, request))
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()
        handler = self._handlers.get(request.target.partition("?")[0], self.handler)
        handler(Exchange(self, connection, stream, request))


def echo(exchange: Exchange) -> None:
    """Answer with the request's head and body as they came."""
    exchange.reply(body=exchange.request.head + exchange.request.body, headers=[("Content-Type", "text/plain")])


def statuses(*codes: int, body: bytes = b"") -> Handler:
    """Answer with one status after the other; the last one again and again."""
    left = list(codes)

    def handler(exchange: Exchange) -> None:
        exchange.reply(left.pop(0) if len(left) > 1 else left[0], body)

    return handler


def _read_head(stream: BufferedReader, connection: int, number: int) -> Received:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = stream.readline()
        if not line:
            raise GoneError
        head += line
    first, *fields = head.decode("latin-1").split("\r\n")[:-2]
    method, target, _ = first.split(" ", 2)
    headers = [(name, value.strip()) for name, _, value in (field.partition(":") for field in fields)]
    return Received(method, target, head, headers, b"", connection, number)


def _read_body(stream: BufferedReader, request: Received) -> bytes:
    if "chunked" in request.values("transfer-encoding"):
        return _read_chunks(stream)
    length = int((request.values("content-length") or ["0"])[0])
    body = stream.read(length)
    if len(body) < length:
        raise GoneError
    return body


def _read_chunks(stream: BufferedReader) -> bytes:
    pieces = []
    while size := int(_line(stream).split(b";")[0], 16):
        pieces.append(stream.read(size))
        stream.readline()
    while stream.readline() not in {b"\r\n", b""}:
        pass
    return b"".join(pieces)


def _line(stream: BufferedReader) -> bytes:
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise GoneError
    return line
