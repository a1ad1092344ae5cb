"""Bodies in each way that a client sends them, and what has to arrive and come back."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import random
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs

FRAMES: Final = """
way                     client   async client  requests  httpx    async httpx
nothing                 length   length        length    length   length
bytes                   length   length        length    length   length
bytearray               length   length        length    -        -
memoryview              length   length        -         -        -
text                    length   length        length    length   length
form                    length   length        length    length   length
JSON                    length   length        length    length   length
files                   length   length        length    length   length
multipart               length   length        length    length   length
path                    length   length        -         -        -
list                    length   length        -         -        -
file                    length   length        length    length   -
file at a position      length   length        length    -        -
unbuffered file         length   length        length    length   -
BytesIO                 length   length        length    length   -
BytesIO at a position   length   length        length    -        -
pipe                    chunks   chunks        chunks    -        -
iterator                chunks   chunks        chunks    chunks   -
generator               chunks   chunks        chunks    chunks   -
async generator         -        chunks        -         -        chunks
"""
"""How each kind of client sends a body that it gets in a way: with Content-Length, in chunks, or without a body.

`-` is a way that it does not have: an asynchronous client of httpx takes no blocking files and iterables, httpx takes
the size of a pipe, which is 0, for the length of the body, and that of a whole file wherever it stands.
"""

OPTIONS: Final = {
    "nothing": "length",
    "-d TEXT": "length",
    "-d FORM": "length",
    "-d @FILE": "length",
    "-d @- of a pipe": "length",
    "-d @- of a file": "length",
    "--json TEXT": "length",
    "--json @FILE": "length",
    "-T FILE": "length",
    "-T - of a pipe": "chunks",
    "-T - of a file": "length",
    "-F TEXT": "length",
    "-F FILE": "length",
}
"""The same of the options of the command."""

ONCE: Final = {
    "list", "file", "file at a position", "unbuffered file", "BytesIO", "BytesIO at a position",
    "pipe", "iterator", "generator", "async generator", "-T - of a pipe", "-T - of a file",
}  # fmt: skip
"""Ways in which a body may be read only once: a request that has to send it again may fail."""

_ENDED: Final = ["closed file", "closed BytesIO", "ended generator"]
ENDED: Final = {
    "client": _ENDED,
    "async client": [*_ENDED, "ended async generator"],
    "requests": _ENDED,
    "httpx": _ENDED,
    "async httpx": ["ended async generator"],
}
"""Bodies that cannot be read, by the kinds of clients that take them."""

BODIES: Final = (0, 1_000, 70_000, 600_000, 1_500_000)
# Around the most bytes that a record has in itself, 45,056, and what is more than all pipes and buffers hold.
ANSWERS: Final = (0, 1_000, 44_000, 46_000, 1_000_000, 20_000_000)
# The longest argument of a program has 131,072 bytes.
MAX_ARGUMENT_BYTES: Final = 100_000


def table() -> dict[str, dict[str, str]]:
    """How each kind of client sends, by kind and way."""
    head, *lines = ([part.strip() for part in line.split("  ") if part.strip()] for line in FRAMES.strip().splitlines())
    found = {kind: {line[0]: line[number] for line in lines} for number, kind in enumerate(head) if number}
    return {**found, "command": OPTIONS}


@dataclass(frozen=True)
class Cell:
    """A body of a size, sent in a way, and an answer of a size."""

    way: str
    frame: str
    body: int
    answer: int
    event: str
    """What happens before the answer: nothing (`plain`), a `redirect` that keeps the body, or a `retry`."""
    is_chunked: bool
    """Whether the answer has no Content-Length."""

    def __str__(self) -> str:
        chunks = " in chunks" if self.is_chunked else ""
        return f"{self.way} of {self.body:,} bytes, {self.event}, {self.answer:,} bytes back{chunks}"

    @property
    def path(self) -> str:
        return f"/{self.event}/{self.answer}/{'chunks' if self.is_chunked else 'length'}"


def cells(kind: str, events: tuple[str, ...]) -> list[Cell]:
    """Return all cells of a kind of clients: each way, body and answer; events and chunks take turns."""
    found = []
    sizes = list(itertools.product(enumerate(BODIES), enumerate(ANSWERS)))
    for (way, frame), ((row, body), (column, answer)) in itertools.product(table()[kind].items(), sizes):
        is_argument = kind == "command" and way.endswith(("TEXT", "FORM"))
        if frame == "-" or (way == "nothing" and body) or (is_argument and body > MAX_ARGUMENT_BYTES):
            continue
        event, is_chunked = events[(row + column) % len(events)], (row + column // 3) % 2 == 1
        found.append(Cell(way, _frame(kind, way, frame, body), body, answer, event, is_chunked))
    return found


def _frame(kind: str, way: str, frame: str, body: int) -> str:
    # requests takes the length of an empty file for an unknown one.
    return "chunks" if kind == "requests" and not body and way in ONCE else frame


def sample(all_cells: list[Cell], count: str, seed: int) -> list[Cell]:
    """Return so many cells of each way, and of those with the longest answer, which take most of the time; or `all`."""
    if count == "all":
        return all_cells
    chosen = random.Random(seed)
    groups: dict[str, list[Cell]] = {}
    for cell in all_cells:
        groups.setdefault(cell.way if cell.answer < max(ANSWERS) else "longest", []).append(cell)
    return [cell for group in groups.values() for cell in chosen.sample(group, min(int(count), len(group)))]


def content(size: int) -> bytes:
    """Return the bytes of this size: each size has its own."""
    return _CONTENTS.setdefault(size, random.Random(size).randbytes(size))


_CONTENTS: Final[dict[int, bytes]] = {}


def text(size: int) -> str:
    """Return the same as text, a character for each byte."""
    return content(size).decode("latin-1")


def plain(size: int) -> str:
    """Return letters that an argument of a program may have."""
    return content(size // 2).hex()


class Place:
    """Makes bodies, and the files of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened = contextlib.ExitStack()

    def close(self) -> None:
        """Close what the bodies of one request had open."""
        self._opened.close()

    def arguments(self, kind: str, cell: Cell) -> dict[str, Any]:
        """Return the arguments of a request."""
        size = cell.body
        match cell.way:
            case "nothing":
                return {}
            case "form":
                return {"data": {"a": text(size)}}
            case "JSON":
                return {"json": {"a": text(size)}}
            case "files":
                return {"files": {"a": ("name", content(size))}}
            case "multipart":
                return {"data": {"b": "c"}, "files": {"a": self._file(size)}}
        return {"content" if "httpx" in kind else "data": self.value(cell.way, size)}

    def value(self, way: str, size: int) -> Any:
        """Return a body that is one object."""
        body = content(size)
        made: dict[str, Callable[[], Any]] = {
            "bytes": lambda: body,
            "bytearray": lambda: bytearray(body),
            "memoryview": lambda: memoryview(body),
            "text": lambda: text(size),
            "path": lambda: self.path(size),
            "list": lambda: list(_pieces(body)),
            "file": lambda: self._file(size),
            "file at a position": lambda: _at(self._file(size, b"before it"), 9),
            "unbuffered file": lambda: self._file(size, buffering=0),
            "BytesIO": lambda: io.BytesIO(body),
            "BytesIO at a position": lambda: _at(io.BytesIO(b"before it" + body), 9),
            "pipe": lambda: self._pipe(body),
            "iterator": lambda: iter(list(_pieces(body))),
            "generator": lambda: _pieces(body),
            "async generator": lambda: _async_pieces(body),
        }
        return made[way]()

    async def ended(self, way: str) -> Any:
        """Return a body that cannot be read any more."""
        size = 1_000
        match way:
            case "closed file" | "closed BytesIO":
                file = self._file(size) if way == "closed file" else io.BytesIO(content(size))
                file.close()
                return file
            case "ended generator":
                blocks = _pieces(content(size))
                assert b"".join(blocks) == content(size)
                return blocks
        later = _async_pieces(content(size))
        assert [block async for block in later] == [content(size)]
        return later

    def words(self, cell: Cell) -> tuple[list[str], Any]:
        """Return the options of the command, and its standard input."""
        if cell.way == "nothing":
            return [], None
        option, what, *_ = cell.way.split()
        file = str(self.path(cell.body))
        of = {
            "-d TEXT": plain(cell.body),
            "-d FORM": "a=" + plain(cell.body),
            "--json TEXT": json.dumps({"a": plain(cell.body)}),
            "--json @FILE": f"@{self._json(cell.body)}",
            "-F TEXT": "a=" + plain(cell.body),
            "-F FILE": f"a=@{file}",
        }
        stdin = None
        if cell.way.endswith("of a pipe"):
            stdin = self._pipe(content(cell.body))
        elif cell.way.endswith("of a file"):
            stdin = self._file(cell.body)
        more = ["-F", "b=c"] if option == "-F" else []
        return [*more, option, of.get(cell.way, what.replace("FILE", file))], stdin

    def path(self, size: int, before: bytes = b"") -> Path:
        """Return a file with a body."""
        path = self._folder / f"{len(before)}-{size}"
        if not path.exists():
            path.write_bytes(before + content(size))
        return path

    def _json(self, size: int) -> Path:
        path = self._folder / f"{size}.json"
        path.write_text(json.dumps({"a": plain(size)}))
        return path

    def _file(self, size: int, before: bytes = b"", buffering: int = -1) -> Any:
        return self._opened.enter_context(self.path(size, before).open("rb", buffering=buffering))

    def _pipe(self, body: bytes) -> Any:
        """Return the end of a pipe, into which a thread writes."""
        reading, writing = os.pipe()

        def write() -> None:
            # The reader may end before the body.
            with contextlib.suppress(BrokenPipeError), os.fdopen(writing, "wb", buffering=0) as file:
                for piece in _pieces(body):
                    file.write(piece)

        threading.Thread(target=write, daemon=True).start()
        return self._opened.enter_context(os.fdopen(reading, "rb"))


def _at(file: Any, position: int) -> Any:
    file.seek(position)
    return file


def _pieces(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), 30_011):
        yield body[start : start + 30_011]


async def _async_pieces(body: bytes) -> AsyncIterator[bytes]:
    for piece in _pieces(body):
        yield piece


# MARK: What arrives


def arrived(cell: Cell, content_type: str, body: bytes) -> bool:
    """Whether a server has received the body of a cell."""
    # To read a long form takes longer than to send it.
    if _SEEN.get((cell.way, cell.body)) == body:
        return True
    is_right = _arrived(cell, content_type, body)
    if is_right:
        _SEEN[cell.way, cell.body] = body
    return is_right


_SEEN: Final[dict[tuple[str, int], bytes]] = {}


def _arrived(cell: Cell, content_type: str, body: bytes) -> bool:
    size = cell.body
    match cell.way:
        case "nothing":
            return body == b""
        case "text" | "-d TEXT":
            return body == (text if cell.way == "text" else plain)(size).encode()
        case "form" | "-d FORM":
            return parse_qs(body.decode(), keep_blank_values=True) == {
                "a": [(text if cell.way == "form" else plain)(size)]
            }
        case "JSON" | "--json TEXT" | "--json @FILE":
            return bool(json.loads(body) == {"a": (text if cell.way == "JSON" else plain)(size)})
        case "files" | "multipart" | "-F FILE" | "-F TEXT":
            wanted = plain(size).encode() if cell.way == "-F TEXT" else content(size)
            return parts(content_type, body) == {"a": wanted} | ({} if cell.way == "files" else {"b": b"c"})
    return body == content(size)


def parts(content_type: str, body: bytes) -> dict[str, bytes]:
    """Return the contents of the parts of a form by their names."""
    found = {}
    mark = b"--" + str(_parameter(content_type, "content-type", "boundary")).encode()
    assert body.startswith(mark + b"\r\n"), body[:200]
    assert body.endswith(b"\r\n" + mark + b"--\r\n"), body[-200:]
    for part in body[len(mark) : -len(mark) - 6].split(b"\r\n" + mark):
        head, _, inner = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        [line] = [each for each in head.decode().split("\r\n") if each.lower().startswith("content-disposition:")]
        found[str(_parameter(line.partition(":")[2].strip(), "content-disposition", "name"))] = inner
    return found


def _parameter(value: str, field: str, name: str) -> Any:
    message = Message()
    message[field] = value
    return message.get_param(name, header=field)
