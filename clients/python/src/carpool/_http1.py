"""A response of the daemon as one of http.client, which reads the bytes of its body from a socket."""

from __future__ import annotations

import base64
import http.client
import io
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ._exceptions import CarpoolError, RequestError, RequestTimeoutError
from ._pipe import READ_BYTES

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from ._sync.exchange import Exchange

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


def body_bytes(exchange: Exchange) -> Iterator[bytes]:
    """Yield the body as a server sends it; ends early if the connection to the server was lost.

    Raises TimeoutError, or ConnectionError if the daemon has ended.
    """
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


class BodyBytes(io.RawIOBase):
    """A file of these bytes. Closing it calls `finished`, which ends the exchange."""

    def __init__(self, exchange: Exchange, finished: Callable[[Exchange], None]) -> None:
        super().__init__()
        self._exchange: Exchange | None = exchange
        self._pieces = body_bytes(exchange)
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
        """Let the exchange be ended."""
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            self._pieces.close()  # type: ignore[attr-defined]
            self._finished(exchange)
        super().close()


class _Socket:
    """What http.client needs of a socket."""

    def __init__(self, raw: BodyBytes) -> None:
        self._raw = raw

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self._raw, READ_BYTES)


def response_of(
    exchange: Exchange, head: dict[str, Any], method: str, finished: Callable[[Exchange], None]
) -> http.client.HTTPResponse:
    """Return the response of http.client with this head, whose body is read from the exchange.

    Its attributes are those that `begin` makes of the bytes of a head: the daemon has parsed them.
    """
    raw = BodyBytes(exchange, finished)
    response = http.client.HTTPResponse(_Socket(raw), method=method)  # type: ignore[arg-type]
    message = http.client.HTTPMessage()
    for name, value in exchange.headers:
        message.set_raw(name.decode("latin-1"), value.decode("latin-1"))
    response.headers = response.msg = message
    response.status = response.code = head["status"]  # type: ignore[attr-defined]
    response.reason = http.client.responses.get(head["status"], "")
    response.version = 10 if head["http_version"] == "http/1.0" else 11
    response.length = exchange.length
    response.chunked = exchange.length is None and is_chunked(exchange.headers)
    response.chunk_left = None
    response.will_close = True
    return response
