"""Short bodies in the record although a descriptor was passed: `inline_bytes`."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from typing import Any

import pytest
from conftest import StartDaemon
from harness.caches import cache
from harness.daemon import Daemon
from harness.outputs import Pair, refuse
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import Wire
from origins.scripted import Exchange, ScriptedOrigin

LIMIT = 1_000
INLINE = {"response_body": {"fd": 0, "inline_bytes": LIMIT}}


def replying(body: bytes) -> Callable[[Exchange], None]:
    return lambda exchange: exchange.reply(200, body)


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


@pytest.mark.parametrize("size", [0, 1, LIMIT])
def test_a_short_body_is_in_the_record(wire: Wire, origin: ScriptedOrigin, size: int) -> None:
    url = origin.on("/short", lambda exchange: exchange.reply(200, b"x" * size))
    pair = Pair()
    record = pair.perform(wire, url=url, sha256=True, **INLINE)
    body = {"text": "x" * size} if size else {"none": True}
    assert record["body"] == body | {"size_bytes": size, "sha256": digest(b"x" * size)}
    assert pair.received == b""


@pytest.mark.parametrize("size", [LIMIT + 1, 300_000])
def test_a_longer_body_is_written(wire: Wire, origin: ScriptedOrigin, size: int) -> None:
    content = bytes(range(256)) * (size // 256 + 1)
    url = origin.on("/long", lambda exchange: exchange.reply(200, content[:size]))
    pair = Pair()
    record = pair.perform(wire, url=url, sha256=True, **INLINE)
    assert record["body"] == {"fd": True, "size_bytes": size, "sha256": digest(content[:size])}
    assert pair.received == content[:size]


@pytest.mark.parametrize("framing", ["Content-Length: 8", "Transfer-Encoding: chunked"])
def test_a_short_body_that_arrives_slowly_is_written_as_it_arrives(
    wire: Wire, origin: ScriptedOrigin, framing: str
) -> None:
    gate = origin.hold("/never")
    chunks = framing.startswith("Transfer")

    def slowly(exchange: Exchange) -> None:
        exchange.send(f"HTTP/1.1 200 OK\r\n{framing}\r\n\r\n".encode() + (b"4\r\nhalf\r\n" if chunks else b"half"))
        assert gate.wait(60)
        exchange.send(b"4\r\nrest\r\n0\r\n\r\n" if chunks else b"rest")

    pair = Pair()
    pair.start()
    pair.send(wire, url=origin.on("/slow", slowly), sha256=True, **INLINE)
    eventually(lambda: pair.received == b"half")
    gate.set()
    assert pair.finish() == b"halfrest"
    assert wire.answer(901)["result"]["body"] == {"fd": True, "size_bytes": 8, "sha256": digest(b"halfrest")}


def test_a_response_that_is_refused_is_in_the_record_whatever_its_size(wire: Wire, origin: ScriptedOrigin) -> None:
    url = origin.on("/missing", lambda exchange: exchange.reply(404, b"x" * 5_000))
    pair = Pair()
    record = pair.perform(wire, url=url, validate=True, **INLINE)
    assert record["body"] == {"text": "x" * 5_000, "size_bytes": 5_000}
    assert pair.received == b""


def test_a_transfer_that_breaks_off_within_the_limit_is_retried(wire: Wire, origin: ScriptedOrigin) -> None:
    """Nothing was written, so the attempt is not the last one."""
    whole = iter([False, True])

    def breaks(exchange: Exchange) -> None:
        if next(whole):
            return exchange.reply(200, b"whole")
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nwh")
        return exchange.shutdown()

    pair = Pair()
    record = pair.perform(
        wire, url=origin.on("/breaks", breaks), interceptor=[{"retry_policy": {"scale_ms": 1}}], **INLINE
    )
    if record["outcome"]["ok"]:
        assert (record["body"]["size_bytes"], record["metrics"]["attempts"]) == (5, 2)
    else:
        # The first bytes came in a turn of their own, and were written.
        assert pair.received == b"wh"


def test_an_attempt_whose_first_bytes_were_written_is_the_last_one(wire: Wire, origin: ScriptedOrigin) -> None:
    """The bytes could have come with the record, until they were passed on."""
    written = threading.Event()

    def cut(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        assert written.wait(PATIENCE_SECONDS)
        exchange.close()

    pair = Pair()
    pair.start()
    pair.send(wire, url=origin.on("/cut", cut), interceptor=[{"retry_policy": {"scale_ms": 1}}], **INLINE)
    eventually(lambda: pair.received == b"abc")
    written.set()
    record = wire.answer(901)["result"]
    assert record["outcome"]["error"]["name"] == "session_task_failed.network_connection_lost"
    assert record["body"] == {"fd": True, "size_bytes": 3}
    assert pair.finish() == b"abc"
    assert len(origin.requests) == 1


def test_the_descriptor_ends_although_the_record_is_kept(wire: Wire, origin: ScriptedOrigin) -> None:
    url = origin.on("/short", replying(b"short"))
    pair = Pair()
    pair.start()
    pair.send(wire, method="request.submit", url=url, **INLINE)
    request = wire.answer(901)["result"]["request"]
    assert pair.finish() == b""
    assert wire.call("request.get", request=request)["body"] == {"text": "short", "size_bytes": 5}


def test_a_response_of_the_cache(start: StartDaemon, origin: ScriptedOrigin) -> None:
    fields = [("Cache-Control", "max-age=60")]
    url = origin.on("/fresh", lambda exchange: exchange.reply(200, b"stored", headers=fields))
    with Wire(start().socket) as wire:
        for status in ["miss", "hit"]:
            pair = Pair()
            record = pair.perform(wire, url=url, session=cache(wire), **INLINE)
            assert (record["cache"]["status"], record["body"]["text"]) == (status, "stored")


@pytest.mark.parametrize("limit", [0, 500])
def test_a_limit_of_the_configuration_below_it(start: StartDaemon, origin: ScriptedOrigin, limit: int) -> None:
    """A body that would be moved to a file is written."""
    content = b"x" * 400_000
    with Wire(start(config={"limits": {"inline_body_bytes": limit}}).socket) as wire:
        for size in (100, 501, 1_000, 400_000):
            url = origin.on("/sized", replying(content[:size]))
            pair = Pair()
            record = pair.perform(wire, url=url, **INLINE)
            if size <= limit:
                assert record["body"] == {"text": "x" * size, "size_bytes": size}
            else:
                assert record["body"] == {"fd": True, "size_bytes": size}
                assert pair.received == content[:size]


def test_many_leave_no_descriptor(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    def pipes() -> int:
        return sum(name.startswith(("pipe:", "/dev/null")) for name in daemon.descriptors())

    before = pipes()
    for _ in range(50):
        pair = Pair()
        assert pair.perform(wire, url=origin.url, **INLINE)["outcome"] == {"ok": True}
    # One file takes the place of closed ones.
    eventually(lambda: pipes() <= before + 1)


@pytest.mark.parametrize("value", [-1, 32_769, "1", None, 0.5])
def test_other_values_are_refused(wire: Wire, origin: ScriptedOrigin, value: Any) -> None:
    pair = Pair()
    error = refuse(wire, [pair.write], url=origin.url, response_body={"fd": 0, "inline_bytes": value})
    assert error["code"] == -32602
    assert error["data"]["path"].startswith("params.response_body")
    assert origin.requests == []
    pair.close()
