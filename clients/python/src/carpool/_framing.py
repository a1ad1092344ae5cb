"""Chunks, texts, lines, JSON lines and server-sent events in the bytes of a body."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any, Final

from ._exceptions import DecodingError
from ._models import ServerSentEvent

# The blanks of RFC 8259, section 2, without LF.
BLANKS: Final = b" \t\r"
_BOM: Final = b"\xef\xbb\xbf"


class Chunks:
    """Divides the pieces of a body into chunks of one size; without a size they stay as they are."""

    def __init__(self, size: int | None) -> None:
        if size is not None and size < 1:
            raise ValueError(f"chunk_size: expected 1 or more, not {size}")
        self._size = size
        self._pending = bytearray()

    def add(self, piece: bytes) -> Iterator[bytes]:
        """Yield the chunks that are complete."""
        if self._size is None:
            yield piece
            return
        self._pending += piece
        while len(self._pending) >= self._size:
            yield bytes(self._pending[: self._size])
            del self._pending[: self._size]

    def rest(self) -> Iterator[bytes]:
        """Yield the last chunk, if there is one."""
        if self._pending:
            yield bytes(self._pending)


class Text:
    """Whole characters of UTF-8; invalid bytes become U+FFFD."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, block: bytes) -> Iterator[str]:
        """Yield what is complete."""
        if text := self._decoder.decode(block):
            yield text

    def rest(self) -> Iterator[str]:
        """Yield what a character that is cut off becomes."""
        if text := self._decoder.decode(b"", final=True):
            yield text


class Lines:
    """Lines of JSON: they end with LF or CRLF, and are returned without their ends. The last one may have none."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def add(self, block: bytes) -> Iterator[bytes]:
        """Yield the lines that are complete."""
        first, *others = block.split(b"\n")
        self._parts.append(first)
        if not others:
            return
        yield b"".join(self._parts).removesuffix(b"\r")
        self._parts = [others.pop()]
        for line in others:
            yield line.removesuffix(b"\r")

    def rest(self) -> Iterator[bytes]:
        """Yield the line without an end."""
        line = b"".join(self._parts)
        self._parts = []
        if line:
            yield line


class TextLines:
    """Lines that end with LF, CRLF or CR, without their ends. The last one may have none.

    The separators of Unicode, at which `str.splitlines` divides too, end no line: a JSON text may contain U+2028.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._has_returned = False

    def add(self, block: bytes) -> Iterator[bytes]:
        """Yield the lines that are complete. One that ends with CR is; an LF that follows belongs to it."""
        if self._has_returned and block.startswith(b"\n"):
            block = block[1:]
        self._has_returned = block.endswith(b"\r")
        if not block:
            return
        first, *others = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._parts.append(first)
        if others:
            yield b"".join(self._parts)
            self._parts = [others.pop()]
            yield from others

    def rest(self) -> Iterator[bytes]:
        """Yield the line without an end."""
        line = b"".join(self._parts)
        self._parts = []
        if line:
            yield line


def value(line: bytes) -> Any:
    """Return the value of a line of JSON; raises DecodingError."""
    try:
        return json.loads(line)
    except ValueError as error:
        raise DecodingError(
            "response_serialization_failed.decoding_failed", f"a line of the stream is not JSON: {error}", {}
        ) from error


class Events:
    """Events of a `text/event-stream` (HTML standard, section 9.2.6)."""

    def __init__(self) -> None:
        self._lines = TextLines()
        self._is_first = True
        self._id = ""
        self._begin()
        self._retry: int | None = None

    def _begin(self) -> None:
        self._type = ""
        self._data: list[str] = []

    def add(self, block: bytes) -> Iterator[ServerSentEvent]:
        """Yield the events that are complete."""
        for line in self._lines.add(block):
            if event := self._line(line):
                yield event

    def _line(self, line: bytes) -> ServerSentEvent | None:
        if self._is_first:
            self._is_first = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatched()
        name, _, text = line.decode(errors="replace").partition(":")
        text = text.removeprefix(" ")
        match name:
            case "data":
                self._data.append(text)
            case "event":
                self._type = text
            case "id" if "\0" not in text:
                self._id = text
            case "retry" if text.isascii() and text.isdigit():
                self._retry = int(text)
        return None

    def _dispatched(self) -> ServerSentEvent | None:
        kind, data = self._type, self._data
        self._begin()
        if not data:
            return None
        retry, self._retry = self._retry, None
        return ServerSentEvent(kind or "message", "\n".join(data), self._id, retry)
