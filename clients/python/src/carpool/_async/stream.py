"""A response body that is read while it arrives."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import AsyncIterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import _fork, _names
from .._bodies import Chunks
from .._channel_async import AsyncChannel
from .._exceptions import CarpoolError, make_request_error
from .._models import Headers, ServerSentEvent
from .._response import Response

# The timeout of one request.read, after which the answer is empty.
_POLL_MS = 60_000


class AsyncStream:
    """The response of `AsyncClient.stream`, and of a request with `stream=True`: its head at once, its body in pieces.

    One of the iterators reads the body, once. As long as none of them reads, the daemon buffers little and the origin
    waits. They raise RequestError if the transfer fails, or if a line or event is too long for a message. The request
    ends with `aclose`, or with a `with` block.
    """

    def __init__(self, channel: AsyncChannel, record: dict[str, Any], credit_bytes: int) -> None:
        self.head = Response(record)
        self._channel = channel
        self._credit_bytes = credit_bytes
        self._is_over = False
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

    def raise_for_status(self) -> AsyncStream:
        """Raise HTTPStatusError if the status is 400 or above; otherwise return the stream."""
        self.head.raise_for_status()
        return self

    async def read(self) -> bytes:
        """Return the body, or the rest of it."""
        content = bytearray()
        async for piece in self.iter_bytes():
            content += piece
        return bytes(content)

    async def iter_bytes(self, chunk_size: int | None = None) -> AsyncIterator[bytes]:
        """Iterate over the body's bytes: as they come, or in pieces of `chunk_size`."""
        chunks = Chunks(chunk_size)
        async for piece in self._pieces("bytes"):
            if "base64" in piece:
                for chunk in chunks.add(base64.b64decode(piece["base64"])):
                    yield chunk
        for chunk in chunks.rest():
            yield chunk

    async def iter_text(self) -> AsyncIterator[str]:
        """Iterate over the body as text in UTF-8, in whole characters; invalid bytes become U+FFFD."""
        async for piece in self._pieces("text"):
            if "text" in piece:
                yield piece["text"]

    async def iter_lines(self) -> AsyncIterator[str]:
        """Iterate over the body's lines, without their ends."""
        async for piece in self._pieces("lines"):
            for line in piece.get("lines", ()):
                yield line

    async def iter_json(self) -> AsyncIterator[Any]:
        """Iterate over the values of a body that has one JSON text on each line."""
        async for piece in self._pieces("json_lines"):
            for value in piece.get("values", ()):
                yield value

    async def iter_sse(self) -> AsyncIterator[ServerSentEvent]:
        """Iterate over the events of a `text/event-stream`."""
        async for piece in self._pieces("sse"):
            for event in piece.get("events", ()):
                yield ServerSentEvent(event["event"], event["data"], event["id"], event.get("retry_ms"))

    async def aclose(self) -> None:
        """Cancel the request if it has not finished, and dismiss it. In a child of os.fork() nothing happens."""
        self._is_over = True
        if self._made_in != _fork.generation():
            return
        # If the connection has failed, the request cannot be cancelled and ends with it.
        with contextlib.suppress(CarpoolError):
            await self._channel.call("request.cancel", {"request": self.request_id})
            await self._channel.call("request.dismiss", {"request": self.request_id})

    async def _pieces(self, serializer: str) -> AsyncIterator[dict[str, Any]]:
        """Iterate over the pieces until the last one; raises the error of the request."""
        params = {
            "request": self.request_id,
            "as": serializer,
            "credit_bytes": self._credit_bytes,
            "timeout_ms": _POLL_MS,
        }
        _fork.check(self._made_in, "the stream")
        while not self._is_over:
            piece = await self._channel.call("request.read", params)
            completion = piece.get("complete")
            self._is_over = completion is not None
            error = piece.get("error")
            if error is None:
                yield piece
                _fork.check(self._made_in, "the stream")
                error = completion and completion["error"]
            if error:
                raise make_request_error(error, self.head.record)
