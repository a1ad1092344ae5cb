"""A response of the daemon as the bytes of HTTP/1.1, for libraries that read from a socket with http.client."""

from __future__ import annotations

import base64
import http.client
import io
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ._exceptions import CarpoolError, RequestError, RequestTimeoutError
from ._response import reason_phrase

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from ._sync.exchange import Exchange

# The most that http.client reads ahead of its caller.
_BUFFER_BYTES = 65_536
# Statuses whose responses have no body.
_WITHOUT_BODY = frozenset({204, 304})


def field_bytes(text: str | dict[str, str]) -> bytes:
    """Return a name or a value of a field as it was received."""
    return text.encode() if isinstance(text, str) else base64.b64decode(text["base64"])


def raw_headers(head: dict[str, Any]) -> list[tuple[bytes, bytes]]:
    """Return the fields of a response as they were received."""
    return [(field_bytes(name), field_bytes(value)) for name, value in head["headers"]]


def is_chunked(headers: list[tuple[bytes, bytes]]) -> bool:
    """Whether the body is sent in chunks."""
    return any(name.lower() == b"transfer-encoding" and b"chunked" in value.lower() for name, value in headers)


def body_length(status: int, headers: list[tuple[bytes, bytes]], method: str) -> int | None:
    """Return the length of the body where it is known before the body."""
    if method == "HEAD" or status in _WITHOUT_BODY:
        return 0
    lengths = [value for name, value in headers if name.lower() == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() and not is_chunked(headers) else None


def response_bytes(exchange: Exchange, head: dict[str, Any]) -> Iterator[bytes]:
    """Yield the response as a server sends it; ends early if the connection to the server was lost.

    Raises TimeoutError, or ConnectionError if the daemon has ended.
    """
    version = "1.0" if head["http_version"] == "http/1.0" else "1.1"
    lines = [f"HTTP/{version} {head['status']} {reason_phrase(head['status'])}".encode()]
    lines += [b"%b: %b" % field for field in exchange.headers]
    yield b"\r\n".join(lines) + b"\r\n\r\n"
    in_chunks = exchange.length is None and is_chunked(exchange.headers)
    try:
        while data := exchange.read():
            yield b"%x\r\n%b\r\n" % (len(data), data) if in_chunks else data
        if in_chunks:
            yield b"0\r\n\r\n"
    except RequestTimeoutError as error:
        raise TimeoutError(error.message) from error
    except RequestError:
        # http.client finds that the rest of the body is missing, as on a socket of its own.
        return
    except CarpoolError as error:
        raise ConnectionError(str(error)) from error


class ResponseBytes(io.RawIOBase):
    """A file of these bytes. Closing it ends the exchange, and `finished` is called with it."""

    def __init__(self, exchange: Exchange, head: dict[str, Any], finished: Callable[[Exchange], None]) -> None:
        super().__init__()
        self._exchange: Exchange | None = exchange
        self._pieces = response_bytes(exchange, head)
        self._finished = finished
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read the next bytes; waits until there are some."""
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        target = memoryview(buffer).cast("B")
        count = min(len(target), len(self._rest))
        target[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def close(self) -> None:
        """End the exchange."""
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            self._pieces.close()  # type: ignore[attr-defined]
            exchange.close()
            self._finished(exchange)
        super().close()


class _Socket:
    """What http.client needs of a socket."""

    def __init__(self, raw: ResponseBytes) -> None:
        self._raw = raw

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self._raw, _BUFFER_BYTES)


def parsed(raw: ResponseBytes, method: str) -> http.client.HTTPResponse:
    """Return the response that http.client makes of these bytes; raises HTTPException."""
    response = http.client.HTTPResponse(_Socket(raw), method=method)  # type: ignore[arg-type]
    response.begin()
    return response
