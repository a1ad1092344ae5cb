"""Streams of tiny records, crowds of readers, and heads of many lines: no turn takes long."""

from __future__ import annotations

import contextlib
import json

import pytest
from conftest import StartDaemon
from harness.calls import line, send_and_read
from harness.daemon import Daemon
from harness.gauge import bounded_turns
from harness.stream import Reader
from harness.waiting import eventually
from harness.wire import RemoteError, Wire
from origins.scripted import Exchange, ScriptedOrigin

SIZE = 1 << 20
"""What a stream holds for its readers (limits.stream_bytes)."""
TINY: dict[str, tuple[str, bytes, str]] = {
    "json_lines": ("json_lines", b"1\n", "values"),
    "blank json_lines": ("json_lines", b"\n", "values"),
    "no json": ("json_lines", b"x" * 31 + b"\n", "errors"),
    "lines": ("lines", b"\n", "lines"),
    "sse": ("sse", b"data\n\n", "events"),
    "sse comments": ("sse", b":\n", "events"),
    "sse blank": ("sse", b"\r", "events"),
    "sse fields": ("sse", b"id\n", "events"),
}


def waiting_stream(wire: Wire, origin: ScriptedOrigin, body: bytes) -> str:
    """A stream whose whole body has come and waits for its first reader."""

    def serve(exchange: Exchange) -> None:
        exchange.send(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)

    request: str = wire.call("request.submit", url=origin.on("/tiny", serve), kind="stream")["request"]
    wire.call("request.wait", request=request)
    return request


@pytest.mark.parametrize("kind", list(TINY))
def test_b2_a_stream_of_tiny_records_pushed(daemon: Daemon, wire: Wire, origin: ScriptedOrigin, kind: str) -> None:
    serializer, record, member = TINY[kind]
    count = SIZE // len(record)
    request = waiting_stream(wire, origin, record * count)
    with bounded_turns(daemon):
        reader = Reader(wire, request, serializer)
        assert reader.complete() == {
            "error": None,
            "state": "finished",
            "status": 200,
            "size_bytes": count * len(record),
        }
    found = len(reader.errors) if member == "errors" else len(reader.items(member))
    assert found == (count if kind in ("json_lines", "no json", "lines", "sse") else 0)
    # Lines of fields without the blank line of an event become too long at some point.
    assert reader.size == (count * len(record) if found else 0) or kind == "sse fields"


@pytest.mark.parametrize("kind", ["json_lines", "blank json_lines", "sse comments"])
def test_b2_a_stream_of_tiny_records_pulled(daemon: Daemon, wire: Wire, origin: ScriptedOrigin, kind: str) -> None:
    serializer, record, member = TINY[kind]
    count = SIZE // len(record)
    request = waiting_stream(wire, origin, record * count)
    found = 0
    with bounded_turns(daemon):
        while "complete" not in (
            answer := wire.call(
                "request.read", request=request, **{"as": serializer}, credit_bytes=1 << 20, timeout_ms=0
            )
        ):
            assert answer["size_bytes"] > 0, "bytes that have come are read, however little time is left"
            found += len(answer[member])
    assert found == (count if kind == "json_lines" else 0)


def test_b2_tiny_records_cost_others_no_turn(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    """Eight streams of tiny records at once, beside which small calls are answered."""
    requests = [waiting_stream(wire, origin, b"1\n" * (SIZE // 2)) for _ in range(8)]
    with daemon.wire() as other, bounded_turns(daemon):
        readers = {
            wire.call("request.attach", request=request, **{"as": "json_lines"})["reader"] for request in requests
        }
        for request in requests:
            wire.request("request.credit", request=request, credit_bytes=SIZE)
        values = 0
        while readers:
            message = wire.receive()
            if "params" in message:
                values += len(message["params"].get("values", []))
                if "complete" in message["params"]:
                    readers.remove(message["params"]["reader"])
            other.call("daemon.ping")
        assert values == 8 * SIZE // 2


def test_b2_a_thousand_readers_of_one_stream(daemon: Daemon, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/stream")
    with contextlib.ExitStack() as wires:
        first = wires.enter_context(daemon.wire())
        request = first.call("request.submit", url=origin.url + "/stream", kind="stream")["request"]
        readers = [wires.enter_context(daemon.wire()) for _ in range(30)]
        attach = b"".join(line("request.attach", n, request=request, credit_bytes=1 << 20) for n in range(32))
        for wire in readers:
            send_and_read(wire, attach, 32)
        with bounded_turns(daemon):
            gate.set()
            for wire in readers:
                messages: dict[str, list[str]] = {}
                while sum("complete" in message for message in messages.values()) < 32:
                    params = json.loads(wire.receive_bytes())["params"]
                    messages.setdefault(params["reader"], []).append("complete" if "complete" in params else "data")
                assert all(message[-1] == "complete" and "data" in message for message in messages.values())
        with bounded_turns(daemon):
            for wire in readers:
                wire.close()
            eventually(lambda: daemon.stats()["connections"]["open"] == 2)


def test_b10_readers_of_streams_have_a_maximum(start: StartDaemon, origin: ScriptedOrigin) -> None:
    limits = {"stream_readers_per_connection": 2, "stream_readers_per_client": 3}
    daemon = start(config={"limits": limits})
    origin.hold("/stream")
    with daemon.wire() as wire, daemon.wire() as other:
        request = wire.call("request.submit", url=origin.url + "/stream", kind="stream")["request"]
        for name, client, count in [("connection", wire, 2), ("client", other, 1)]:
            for _ in range(count):
                client.call("request.attach", request=request)
            with pytest.raises(RemoteError) as refusal:
                client.call("request.attach", request=request)
            data = refusal.value.error["data"]
            limit = f"stream_readers_per_{name}"
            assert (data["name"], data["limit_name"], data["limit"]) == ("too_many_in_flight", limit, limits[limit])
            assert f"limits.{limit}" in refusal.value.error["message"]
        # A reader that has left makes room.
        wire.close()
        eventually(lambda: daemon.stats()["connections"]["open"] == 2)
        other.call("request.attach", request=request)


HEADS: dict[str, bytes] = {
    "folds": b"X: y\r\n" + b" z\r\n" * 70_000,
    "empty folds": b"X: y\r\n" + b" \n" * 120_000,
    "fields": b"a:\n" * 75_000,
    "lines without a name": b"x\n" * 100_000,
    "interim heads": b"X: y\r\n\r\n" + b"HTTP/1.1 103 \r\n\r\n" * 15_000,
}


@pytest.mark.parametrize("kind", list(HEADS))
def test_b2_heads_of_many_lines(daemon: Daemon, wire: Wire, origin: ScriptedOrigin, kind: str) -> None:
    first = b"HTTP/1.1 103 Early Hints\r\n" if kind == "interim heads" else b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
    url = origin.on("/head", lambda exchange: exchange.send(first + HEADS[kind] + b"\r\n"))
    with bounded_turns(daemon):
        outcome = wire.call("request.perform", url=url)["outcome"]
    name, message = outcome["error"]["name"], outcome["error"]["message"]
    # libcurl refuses lines that are no fields before they are counted here.
    if name != "session_task_failed.cannot_parse_response":
        assert name == "session_task_failed.data_length_exceeds_maximum"
        assert "head" in message


def test_a_head_of_many_lines_is_read(wire: Wire, origin: ScriptedOrigin) -> None:
    fields = "".join(f"X-{number}: {number}\r\n y\r\n" for number in range(120))
    url = origin.on(
        "/head", lambda exchange: exchange.send(f"HTTP/1.1 200 OK\r\n{fields}Content-Length: 0\r\n\r\n".encode())
    )
    headers = dict(wire.call("request.perform", url=url)["response"]["headers"])
    assert [headers[f"X-{number}"] for number in range(120)] == [f"{number} y" for number in range(120)]


@pytest.mark.parametrize(
    "value", [b";" * 95_000, b"a" * 95_000 + b"/b", b"text/plain;" + b'x="\\' * 23_000, b" ;=" * 31_000]
)
def test_b2_a_long_content_type(daemon: Daemon, wire: Wire, origin: ScriptedOrigin, value: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: " + value + b"\r\n\r\nok"
    url = origin.on("/type", lambda exchange: exchange.send(head))
    with bounded_turns(daemon):
        for _ in range(3):
            wire.call("request.perform", url=url, serialize="string")
            wire.call("request.perform", url=url, validate=True)
            wire.call("request.perform", url=url, validate=[{"content_type": ["text/plain"]}])
