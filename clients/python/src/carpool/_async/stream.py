"""A response body that is read while it arrives."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from .. import _fork, _framing, _log, _names
from .. import _operations as operations
from .._channel_async import AsyncChannel
from .._exceptions import CarpoolError, DecodingError
from .._models import Headers, ServerSentEvent
from .._pipe import Pipe
from .._response import Response

T = TypeVar("T")


class AsyncStream:
    """The response of `AsyncClient.stream`, and of a request with `stream=True`: its head at once, its body in pieces.

    One iterator, or `read`, reads the body, once, from a pipe; as soon as it has begun, a second one raises
    CarpoolError. As long as none reads, the daemon buffers at most a mebibyte, and the origin waits. They raise
    RequestError if the transfer fails.
    The request ends with `aclose`, or with a `with` block; an iterator that waits meanwhile raises CarpoolError.
    """

    __module__ = "carpool"

    def __init__(self, channel: AsyncChannel, record: dict[str, Any], pipe: Pipe) -> None:
        self.head: Response = Response(record)
        self._channel = channel
        self._link = channel.link
        self._pipe = pipe
        self._is_over = False
        self._read_bytes = 0
        self._made_in = _fork.generation()

    async def __aenter__(self) -> AsyncStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise _names.missing_in_stream("AsyncStream", name, type(self), Response)

    @property
    def request_id(self) -> str:
        """The daemon's id of the request."""
        return self.head.request_id

    @property
    def status_code(self) -> int:
        """The status code."""
        return self.head.status_code

    @property
    def reason(self) -> str:
        """The standard phrase of the status code."""
        return self.head.reason

    @property
    def ok(self) -> bool:
        """Whether the status is below 400."""
        return self.head.ok

    @property
    def url(self) -> str:
        """The URL that answered, after redirects."""
        return self.head.url

    @property
    def headers(self) -> Headers:
        """The header fields of the answer."""
        return self.head.headers

    @property
    def encoding(self) -> str:
        """The encoding of texts and lines: the charset of Content-Type, or UTF-8. It can be set."""
        return self.head.encoding

    @encoding.setter
    def encoding(self, name: str | None) -> None:
        self.head.encoding = name

    def raise_for_status(self) -> AsyncStream:
        """Raise HTTPStatusError if the status is 400 or above; otherwise return the stream."""
        self.head.raise_for_status()
        return self

    async def read(self, *given: NoReturn, **named: NoReturn) -> bytes:
        """Return the whole body."""
        if given or named:
            raise _names.no_arguments("read", [*named, *given])
        content = bytearray()
        async for piece in self.iter_bytes():
            content += piece
        return bytes(content)

    def iter_bytes(self, chunk_size: int | None = None) -> AsyncIterator[bytes]:
        """Iterate over the body's bytes: as they come, or in pieces of `chunk_size`."""
        return AsyncPieces(self._next, _framing.Chunks(chunk_size))

    def iter_text(self) -> AsyncIterator[str]:
        """Iterate over the body as text in `encoding`, in whole characters; invalid bytes become U+FFFD."""
        return AsyncPieces(self._next, _framing.Text(self.encoding))

    def iter_lines(self, *given: NoReturn, **named: NoReturn) -> AsyncIterator[str]:
        """Iterate over the lines of the body as text in `encoding`, without their ends: LF, CRLF or CR."""
        if given or named:
            raise _names.no_arguments("iter_lines", [*named, *given])
        return AsyncPieces(self._next, _framing.TextLines(self.encoding))

    def iter_json(self) -> AsyncIterator[Any]:
        """Iterate over the values of a body that has one JSON text on each line; blank lines are skipped.

        Raises DecodingError at a line that is not JSON, and ends there: to skip such lines use `iter_lines`.
        """
        return AsyncPieces(self._next, _framing.Values())

    def iter_sse(self) -> AsyncIterator[ServerSentEvent]:
        """Iterate over the events of a `text/event-stream`."""
        return AsyncPieces(self._next, _framing.Events())

    async def aclose(self) -> None:
        """Cancel the request if it has not finished, and dismiss it. In a child of os.fork() nothing happens."""
        self._is_over = True
        if self._made_in != _fork.generation():
            return
        self._pipe.close()
        _log.closed(self.head.record, self._read_bytes)
        # If the connection has failed, the request cannot be cancelled and ends with it.
        with contextlib.suppress(CarpoolError):
            for method in ("request.cancel", "request.dismiss"):
                await self._ask(method, {"request": self.request_id}, self._pipe.silence_seconds)

    async def _next(self, *, is_first: bool) -> bytes:
        """Return what arrives next, nothing after the last; raises the error of the request.

        For one iterator only: it keeps the part of a line or a chunk that is not complete, which a second one would
        miss.
        """
        _fork.check(self._made_in, "the stream")
        self._check_open()
        if is_first:
            self._pipe.begin_reading()
        block = await self._channel.read_pipe(self._pipe)
        self._check_open()
        if not block:
            self._is_over = True
            await self._check()
        self._read_bytes += len(block)
        return block

    def _check_open(self) -> None:
        if self._is_over:
            raise CarpoolError("the stream was read to its end or closed: make the request again")

    async def _check(self) -> None:
        """Wait for the end of the request, and raise its error."""
        params = {"request": self.request_id, "timeout_ms": operations.MAX_POLL_MS, "detail": "short"}
        while (record := await self._ask("request.wait", params)).get("finished") is False:
            pass
        _log.ended(record)
        Response(record).raise_for_outcome()

    async def _ask(self, method: str, params: dict[str, Any], silence: float | None = None) -> Any:
        """Call a method of the daemon that has the request: it ends with its connection."""
        return await self._channel.ask(self._link, method, params, silence)


class AsyncPieces(Generic[T]):
    """Iterates over what a framing makes of a body. An interrupted step, as of a cancelled task, can be repeated."""

    def __init__(self, read: Callable[..., Any], framing: _framing.Framing[T]) -> None:
        self._read = read
        self._framing = framing
        self._pieces: Iterator[T] = iter(())
        self._has_begun = self._has_ended = False

    def __aiter__(self) -> AsyncPieces[T]:
        return self

    async def __anext__(self) -> T:
        while True:
            try:
                for piece in self._pieces:
                    return piece
            except DecodingError:
                self._has_ended = True
                raise
            if self._has_ended:
                raise StopAsyncIteration
            is_first, self._has_begun = not self._has_begun, True
            block = await self._read(is_first=is_first)
            self._has_ended = not block
            self._pieces = self._framing.add(block) if block else self._framing.rest()
