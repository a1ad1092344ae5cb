"""Chunks, texts, lines, JSON lines and server-sent events in the bytes of a body."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any, Final, Protocol, TypeVar

from ._exceptions import DecodingError
from ._models import ServerSentEvent

# The blanks of RFC 8259, section 2, without LF.
BLANKS: Final = b" \t\r"
_MARKS: Final = {
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
}
_MARK_BYTES: Final = 4
_BOM: Final = "\ufeff"
# More digits than any sensible delay has; Python converts no number of any length.
_RETRY_DIGITS: Final = 18


T_co = TypeVar("T_co", covariant=True)


class Framing(Protocol[T_co]):
    """Divides the bytes of a body."""

    def add(self, block: bytes, /) -> Iterator[T_co]:
        """Yield what is complete with the next bytes."""

    def rest(self) -> Iterator[T_co]:
        """Yield what is left at the end."""


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
    """Whole characters of an encoding; invalid bytes become U+FFFD."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._decoder: codecs.IncrementalDecoder | None = None
        self._begun = b""

    def add(self, block: bytes, *, is_last: bool = False) -> Iterator[str]:
        """Yield what is complete."""
        if self._decoder is None:
            block = self._begun + block
            if self._encoding in _MARKS and len(block) < _MARK_BYTES and not is_last:
                self._begun = block
                return
            self._decoder = codecs.getincrementaldecoder(_with_order(self._encoding, block))("replace")
        if text := self._decoder.decode(block, is_last):
            yield text

    def rest(self) -> Iterator[str]:
        """Yield what a character that is cut off becomes."""
        yield from self.add(b"", is_last=True)


def _with_order(encoding: str, start: bytes) -> str:
    """Return the encoding with an order of its bytes: the little end first (WHATWG), unless a mark says otherwise."""
    marks = _MARKS.get(encoding, ())
    return encoding if not marks or start.startswith(marks) else f"{encoding}-le"


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


class Values:
    """The values of lines of JSON; blank lines are skipped. Raises DecodingError for others."""

    def __init__(self) -> None:
        self._lines = Lines()

    def add(self, block: bytes) -> Iterator[Any]:
        """Yield the values of the lines that are complete."""
        return _values(self._lines.add(block))

    def rest(self) -> Iterator[Any]:
        """Yield the value of the line without an end."""
        return _values(self._lines.rest())


def _values(lines: Iterator[bytes]) -> Iterator[Any]:
    return (value(line) for line in lines if line.strip(BLANKS))


class TextLines:
    """Lines that end with LF, CRLF or CR, without their ends. The last one may have none.

    The separators of Unicode, at which `str.splitlines` divides too, end no line: a JSON text may contain U+2028.
    """

    def __init__(self, encoding: str = "utf-8") -> None:
        self._text = Text(encoding)
        self._parts: list[str] = []
        self._has_returned = False

    def add(self, block: bytes) -> Iterator[str]:
        """Yield the lines that are complete. One that ends with CR is; an LF that follows belongs to it."""
        for text in self._text.add(block):
            yield from self._divided(text)

    def rest(self) -> Iterator[str]:
        """Yield the line without an end."""
        for text in self._text.rest():
            yield from self._divided(text)
        line = "".join(self._parts)
        self._parts = []
        if line:
            yield line

    def _divided(self, text: str) -> Iterator[str]:
        if self._has_returned:
            text = text.removeprefix("\n")
        self._has_returned = text.endswith("\r")
        if not text:
            return
        first, *others = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._parts.append(first)
        if others:
            yield "".join(self._parts)
            self._parts = [others.pop()]
            yield from others


def value(line: bytes) -> Any:
    """Return the value of a line of JSON; raises DecodingError."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
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

    def rest(self) -> Iterator[ServerSentEvent]:
        """Yield nothing: an event without its end is none."""
        return iter(())

    def _line(self, line: str) -> ServerSentEvent | None:
        if self._is_first:
            self._is_first = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatched()
        name, _, text = line.partition(":")
        text = text.removeprefix(" ")
        match name:
            case "data":
                self._data.append(text)
            case "event":
                self._type = text
            case "id" if "\0" not in text:
                self._id = text
            case "retry" if text.isascii() and text.isdigit() and len(text) <= _RETRY_DIGITS:
                self._retry = int(text)
        return None

    def _dispatched(self) -> ServerSentEvent | None:
        kind, data = self._type, self._data
        self._begin()
        if not data:
            return None
        retry, self._retry = self._retry, None
        return ServerSentEvent(kind or "message", "\n".join(data), self._id, retry)
