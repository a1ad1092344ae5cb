"""Raw heads and trailers in records: they fit the line, they have a maximum, and their memory is counted.

And bodies with their transfer coding."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from conftest import StartDaemon
from harness.outputs import Pair
from harness.waiting import eventually
from harness.wire import RemoteError, Wire
from origins.scripted import ScriptedOrigin

LINE_BYTES = 65_535
HEADS = {"response_body": {"fd": 0, "heads": True}}
INLINE = {"response_body": {"fd": 0, "heads": True, "inline_bytes": 1_000}}


def lines(count: int, size: int) -> bytes:
    return b"".join(b"X-%d: %s\r\n" % (number, b"v" * size) for number in range(count))


def redirecting(origin: ScriptedOrigin, count: int, size: int) -> str:
    """Return a URL that redirects to itself, with so many fields."""
    head = b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n" + lines(count, size) + b"\r\n"
    return origin.on("/again", lambda exchange: exchange.send(head))


def perform(wire: Wire, **params: Any) -> tuple[bytes, dict[str, Any]]:
    """Make a request for a pipe, and return the line and the record."""
    read, write = os.pipe()
    call = wire.request_with([write], "request.perform", **params)
    os.close(write)
    answer = wire.answer(call)
    os.close(read)
    return encoded(answer), answer["result"]


def encoded(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode()


@pytest.mark.parametrize("detail", ["short", "standard", "full"])
def test_heads_that_do_not_fit_the_line_are_cut_after_a_line(wire: Wire, origin: ScriptedOrigin, detail: str) -> None:
    """Fifteen redirects of 9 KB: nothing is written, and the heads alone are longer than a line."""
    line, record = perform(wire, url=redirecting(origin, 90, 90), redirect={"max_hops": 15}, detail=detail, **HEADS)
    assert record["outcome"]["error"]["name"] == "session_task_failed.http_too_many_redirects"
    assert len(line) <= LINE_BYTES
    assert record["heads_truncated"] is True
    assert record["raw_heads"].startswith("HTTP/1.1 302 Found\r\n")
    assert record["raw_heads"].endswith("\r\n")
    assert len(record["raw_heads"]) > 8_000


def test_heads_that_fit_are_whole(wire: Wire, origin: ScriptedOrigin) -> None:
    _, record = perform(wire, url=redirecting(origin, 20, 90), redirect={"max_hops": 10}, **HEADS)
    assert record["raw_heads"].count("HTTP/1.1 302 Found\r\n") == 11
    assert "heads_truncated" not in record


def test_bytes_that_are_written_longer_fit_too(wire: Wire, origin: ScriptedOrigin) -> None:
    head = b"HTTP/1.1 404 None\r\nContent-Length: 0\r\n" + b"".join(
        b"X: \xe9%s\r\n" % (b"\x01" * 600) for _ in range(99)
    )
    url = origin.on("/odd", lambda exchange: exchange.send(head + b"\r\n"))
    line, record = perform(wire, url=url, validate=True, **HEADS)
    assert record["response"]["status"] == 404
    assert len(line) <= LINE_BYTES
    assert record["heads_truncated"] is True


@pytest.mark.parametrize("output", [HEADS, INLINE])
def test_long_trailers_leave_the_body(wire: Wire, origin: ScriptedOrigin, output: dict[str, Any]) -> None:
    start = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n"
    url = origin.on("/trailers", lambda exchange: exchange.send(start + lines(100, 1_000) + b"\r\n"))
    pair = Pair()
    record = pair.perform(wire, url=url, **output)
    assert record["outcome"] == {"ok": True}
    assert len(encoded({"result": record})) <= LINE_BYTES
    assert record["raw_trailers"].startswith("X-0: v") and record["heads_truncated"] is True
    body = record["body"]
    if output is HEADS:
        assert body == {"fd": True, "size_bytes": 4} and pair.received.endswith(b"body")
    else:
        assert "gone" not in body and body["size_bytes"] == 4


def test_all_heads_have_a_maximum(wire: Wire, origin: ScriptedOrigin) -> None:
    """As a single one has: 64 redirects would be 19 MB in memory."""
    _, record = perform(wire, url=redirecting(origin, 240, 1_100), redirect={"max_hops": 64}, **HEADS)
    error = record["outcome"]["error"]
    assert error["name"] == "session_task_failed.data_length_exceeds_maximum"
    assert "the heads of the responses have more than 300000 bytes" in error["message"]
    assert len(origin.requests) == 2
    _, record = perform(wire, url=redirecting(origin, 240, 1_100), redirect={"max_hops": 3}, response_body={"fd": 0})
    assert record["outcome"]["error"]["name"] == "session_task_failed.http_too_many_redirects"


def test_heads_of_finished_requests_count(start: StartDaemon, origin: ScriptedOrigin) -> None:
    """200 records with 250 KB each, of which a user keeps 16 MiB."""
    daemon = start(config={"limits": {"retained_bytes_per_user": 16 << 20}})
    head = b"HTTP/1.1 404 None\r\nContent-Length: 0\r\n" + lines(240, 1_000) + b"\r\n"
    url = origin.on("/long", lambda exchange: exchange.send(head))
    read, write = os.pipe()
    with daemon.wire() as wire:
        before = daemon.memory_kib()
        names = []
        # A few at a time: of what all of them have at once the allocator would keep a part.
        for _ in range(40):
            calls = [wire.request_with([write], "request.submit", url=url, validate=True, **HEADS) for _ in range(5)]
            names += [wire.result(call)["request"] for call in calls]
            eventually(lambda: wire.call("daemon.stats")["requests"]["active"] == 0)
        assert daemon.memory_kib() - before < 40 << 10
        kept = 0
        for name in names:
            try:
                kept += bool(wire.call("request.get", request=name))
            except RemoteError as error:
                assert error.name == "request.not_found"
        assert 20 <= kept <= 40
    os.close(read)
    os.close(write)


# transfer_coding


CHUNKS = b"5;note=1\r\nhello\r\n0\r\nX-Sum: 7\r\n\r\n"
CHUNKED_HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nCache-Control: max-age=100\r\n"


@pytest.mark.parametrize("more", [b"", b"Content-Encoding: gzip\r\n"])
@pytest.mark.parametrize("inline", [0, 1_000])
def test_a_body_keeps_its_transfer_coding(wire: Wire, origin: ScriptedOrigin, inline: int, more: bytes) -> None:
    wire.call("session.create", name="caching", configuration={"cache": {}})
    answer = CHUNKED_HEAD + more + b"\r\n" + CHUNKS
    url = origin.on("/chunks", lambda exchange: exchange.send(answer))
    body = {"fd": 0, "transfer_coding": True, "inline_bytes": inline}
    for count in (1, 2):
        pair = Pair()
        record = pair.perform(wire, url=url, session="caching", response_body=body)
        assert record["outcome"] == {"ok": True}
        text = record["body"].get("text", "").encode()
        assert pair.received + text == CHUNKS
        assert len(origin.received(count)) == count, "no stored response is used"
    assert record["attempts"][0]["metrics"][0]["reused"] is True
