from __future__ import annotations

import io
import itertools
import json
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from carpool import DecodingError, ServerSentEvent, _framing


def cuts(data: bytes) -> Iterator[list[bytes]]:
    """Yield the data whole, byte by byte, and in every two pieces."""
    yield [data]
    yield [data[at : at + 1] for at in range(len(data))]
    for at in range(len(data) + 1):
        yield [data[:at], data[at:]]


def framed(framing: Any, blocks: Iterable[bytes]) -> list[Any]:
    found = list(itertools.chain.from_iterable(framing.add(block) for block in blocks if block))
    return found + list(framing.rest() if hasattr(framing, "rest") else ())


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"one", [b"one"]),
        (b"one\n", [b"one"]),
        (b"one\r\ntwo\n\nthree", [b"one", b"two", b"", b"three"]),
        (b"\n\n", [b"", b""]),
        (b"a\rb\r\n", [b"a\rb"]),
        (b"cut\r", [b"cut\r"]),
    ],
)
def test_lines(data: bytes, expected: list[bytes]) -> None:
    for blocks in cuts(data):
        assert framed(_framing.Lines(), blocks) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"one", ["one"]),
        (b"one\r\ntwo\n\nthree\r", ["one", "two", "", "three"]),
        (b"a\rb\r\n\r\nc\n\rd", ["a", "b", "", "c", "", "d"]),
        ("a\u2028b\x0bc\x85d\n".encode(), ["a\u2028b\x0bc\x85d"]),
        (b"a\xe2\nb\xff", ["a\ufffd", "b\ufffd"]),
    ],
)
def test_lines_of_text(data: bytes, expected: list[str]) -> None:
    for blocks in cuts(data):
        assert framed(_framing.TextLines(), blocks) == expected


@pytest.mark.parametrize(
    ("data", "expected"), [("café €".encode(), "café €"), (b"a\xffb", "a\ufffdb"), (b"cut \xe2\x82", "cut \ufffd")]
)
def test_text_has_whole_characters(data: bytes, expected: str) -> None:
    for blocks in cuts(data):
        assert "".join(framed(_framing.Text("utf-8"), blocks)) == expected


@pytest.mark.parametrize("text", ["", "a", "añb\r\nx\ry\n\nlast", "日本\n語"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be", "utf-32", "shift_jis", "iso2022_jp", "cp1252"])
def test_text_in_an_encoding(encoding: str, text: str) -> None:
    data = text.encode(encoding, "ignore")
    text = data.decode(encoding)
    for blocks in cuts(data):
        assert "".join(framed(_framing.Text(encoding), blocks)) == text
        assert framed(_framing.TextLines(encoding), blocks) == io.StringIO(text, newline=None).read().splitlines()


def test_utf_16_without_a_mark_begins_with_the_little_end() -> None:
    for blocks in cuts("hé".encode("utf-16-le")):
        assert "".join(framed(_framing.Text("utf-16"), blocks)) == "hé"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"data: a\n\n", [("message", "a", "", None)]),
        (b"\xef\xbb\xbfdata: a\n\n", [("message", "a", "", None)]),
        (b"event: x\r\nid: 7\r\ndata: a\r\ndata: b\r\n\r\n", [("x", "a\nb", "7", None)]),
        (b"data:a\rdata\r\r", [("message", "a\n", "", None)]),
        (b"data: a\r\n\ndata: b\n\n", [("message", "a", "", None), ("message", "b", "", None)]),
        (b"id: 1\ndata: a\n\ndata: b\n\n", [("message", "a", "1", None), ("message", "b", "1", None)]),
        (b"id: 1\nid: a\0b\ndata: c\n\n", [("message", "c", "1", None)]),
        (b"retry: 5\n\ndata: a\n\ndata: b\n\n", [("message", "a", "", 5), ("message", "b", "", None)]),
        (b"retry: x\nretry: \xc2\xb2\ndata: a\n\n", [("message", "a", "", None)]),
        (b"retry: " + b"9" * 5000 + b"\ndata: a\n\n", [("message", "a", "", None)]),
        (b": comment\nother: x\ndata: a\n\n", [("message", "a", "", None)]),
        (b"event: x\n\ndata: a\n\n", [("message", "a", "", None)]),
        (b"data: cut off\n", []),
        (b"data: a\xff\n\n", [("message", "a\ufffd", "", None)]),
    ],
)
def test_events(data: bytes, expected: list[tuple[str, str, str, int | None]]) -> None:
    for blocks in cuts(data):
        assert framed(_framing.Events(), blocks) == [ServerSentEvent(*event) for event in expected]


def test_a_line_that_is_not_json_names_the_reason() -> None:
    assert _framing.value(b'{"a": 1}') == {"a": 1}
    with pytest.raises(DecodingError, match="not JSON") as caught:
        _framing.value(b"{")
    assert isinstance(caught.value.__cause__, json.JSONDecodeError)
    for line in (b"\xff", b"[" * 100_000, b"9" * 5000):
        with pytest.raises(DecodingError, match="not JSON"):
            _framing.value(line)
