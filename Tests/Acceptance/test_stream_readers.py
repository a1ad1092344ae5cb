"""What readers of a stream get: every serializer, pushed and pulled."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
from typing import Any

import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.stream import Reader
from harness.vectors import rows
from harness.wire import RemoteError, Wire
from origins.httpbin import Httpbin
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin
from origins.trickle import Trickle

MEMBERS = {"lines": "lines", "json_lines": "values", "sse": "events"}


def submit(wire: Wire, url: str, **params: Any) -> str:
    return str(wire.call("request.submit", url=url, kind="stream", **params)["request"])


def told(serializer: str, messages: list[dict[str, Any]]) -> list[Any]:
    """Return the received records in the form of the vectors."""
    if serializer == "text":
        text = "".join(message.get("text", "") for message in messages)
        return [text] if text else []
    items: list[Any] = []
    for message in messages:
        items += message.get(MEMBERS[serializer], [])
        if "error" in message:
            items.append({"error": message["error"]["name"]})
    return items


def test_st_07_the_vectors(start: StartDaemon, origin: ScriptedOrigin) -> None:
    bodies: dict[str, bytes] = {}
    vectors = list(rows("streams"))
    for number, row in enumerate(vectors):
        bodies[f"/{number}"] = base64.b64decode(row["base64"])
        origin.on(f"/{number}", lambda exchange: exchange.reply(body=bodies[exchange.request.target]))
    with start(config={"limits": {"inline_body_bytes": 1024}}).wire() as wire:
        for number, row in enumerate(vectors):
            reader = Reader(wire, submit(wire, f"{origin.url}/{number}"), row["as"])
            assert reader.complete()["error"] is None
            assert told(row["as"], reader.messages) == row["records"], row["note"]
            assert reader.size <= len(bodies[f"/{number}"])


@pytest.mark.parametrize("serializer", ["text", "lines", "json_lines", "sse"])
def test_st_07_records_that_come_in_two_pieces_are_whole(origin: ScriptedOrigin, wire: Wire, serializer: str) -> None:
    whole = {"text": "é€🚗", "lines": "one\ntwo\n", "json_lines": '{"é": [1, 2]}\n', "sse": "data: é\nid: 1\n\n"}[
        serializer
    ]
    body = whole.encode()
    expected = {"text": ["é€🚗"], "lines": ["one", "two"], "json_lines": [{"é": [1, 2]}]}.get(
        serializer, [{"event": "message", "data": "é", "id": "1"}]
    )
    trickle = Trickle(origin)
    for cut in range(1, len(body)):
        reader = Reader(wire, submit(wire, trickle.url), serializer)
        trickle.send(body[:cut])
        trickle.send(body[cut:])
        trickle.end()
        reader.complete()
        assert told(serializer, reader.messages) == expected, cut


def test_st_07_bytes_come_as_they_are(wire: Wire, nginx: Nginx) -> None:
    reader = Reader(wire, submit(wire, f"{nginx.http}/16m.bin"))
    assert reader.complete()["size_bytes"] == 16 << 20
    assert hashlib.sha256(reader.bytes).hexdigest() == nginx.hashes["16m.bin"]
    assert reader.size == 16 << 20


def test_st_07_lines_of_an_independent_origin(wire: Wire, httpbin: Httpbin) -> None:
    reader = Reader(wire, submit(wire, f"{httpbin.url}/stream/20"), "json_lines")
    reader.complete()
    assert [value["id"] for value in reader.items("values")] == list(range(20))


def test_numbers_and_the_order_of_members_stay_as_they_are(origin: ScriptedOrigin, wire: Wire) -> None:
    text = b'{"z":1,"a":123456789012345678901234567890,"b":1.10}\n'
    url = origin.on("/numbers", lambda exchange: exchange.reply(body=text))
    wire.call("request.attach", request=submit(wire, url), **{"as": "json_lines"}, credit_bytes=1 << 20)
    while b'"values"' not in (line := wire.receive_bytes()):
        pass
    assert text.strip() in line


def test_every_message_fits_the_line(origin: ScriptedOrigin, wire: Wire) -> None:
    body = b"\x00" * 300_000 + b"\n" + b"\xff" * 300_000 + b"\n" + b"short\n"
    url = origin.on("/controls", lambda exchange: exchange.reply(body=body))
    for serializer in ["bytes", "text", "lines"]:
        wire.call("request.attach", request=submit(wire, url), **{"as": serializer}, credit_bytes=1 << 30)
        while b'"complete"' not in (line := wire.receive_bytes()):
            assert len(line) < 65_536


def test_a_longer_line_takes_longer_records(daemon: Daemon, origin: ScriptedOrigin) -> None:
    url = origin.on("/long", lambda exchange: exchange.reply(body=b"x" * 200_000 + b"\n"))
    with daemon.wire() as wire:
        reader = Reader(wire, submit(wire, url), "lines")
        reader.complete()
        assert [error["name"] for error in reader.errors] == ["response_serialization_failed.input_too_large"]
        wire.call("client.hello", max_line_bytes=400_000)
        reader = Reader(wire, submit(wire, url), "lines")
        reader.complete()
        assert reader.items("lines") == ["x" * 200_000]


# Pulling


def pull(wire: Wire, request: str, **params: Any) -> list[dict[str, Any]]:
    """Read to the end."""
    messages = []
    while "complete" not in (message := wire.call("request.read", request=request, **params)):
        messages.append(message)
    return [*messages, message]


@pytest.mark.parametrize("serializer", ["text", *MEMBERS])
def test_a_stream_is_read_piece_by_piece(wire: Wire, httpbin: Httpbin, serializer: str) -> None:
    request = submit(wire, f"{httpbin.url}/stream/20")
    messages = pull(wire, request, **{"as": serializer}, credit_bytes=1_000)
    assert [message["seq"] for message in messages] == list(range(1, len(messages) + 1))
    assert messages[-1]["complete"]["error"] is None
    pushed = Reader(wire, submit(wire, f"{httpbin.url}/stream/20"), serializer)
    pushed.complete()
    assert told(serializer, messages) == told(serializer, pushed.messages)


def test_pulling_takes_no_more_than_was_asked_for(wire: Wire, nginx: Nginx) -> None:
    request = submit(wire, f"{nginx.http}/100k.bin")
    messages = pull(wire, request, credit_bytes=5_000)
    assert max(message["size_bytes"] for message in messages) == 5_000
    body = b"".join(base64.b64decode(message.get("base64", "")) for message in messages)
    assert hashlib.sha256(body).hexdigest() == nginx.hashes["100k.bin"]


def test_a_read_waits_for_data_and_for_no_longer_than_it_was_told(wire: Wire, origin: ScriptedOrigin) -> None:
    trickle = Trickle(origin)
    request = submit(wire, trickle.url)
    empty = wire.call("request.read", request=request, timeout_ms=50)
    assert empty == {"request": request, "as": "bytes", "seq": 0, "attempt": 1, "size_bytes": 0}
    call = wire.request("request.read", request=request)
    trickle.send(b"now")
    assert base64.b64decode(wire.result(call)["base64"]) == b"now"
    trickle.end()
    assert wire.call("request.read", request=request)["complete"]["error"] is None
    assert "complete" not in wire.call("request.read", request=request, timeout_ms=0)


def test_pulled_data_is_there_when_the_request_is_over(wire: Wire, nginx: Nginx) -> None:
    request = submit(wire, f"{nginx.http}/hello.txt")
    assert wire.call("request.wait", request=request)["outcome"]["ok"]
    assert wire.call("request.read", request=request, **{"as": "text"})["text"] == "hello, world\n"


def test_one_reader_pulls_at_a_time_and_always_the_same(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    trickle = Trickle(origin)
    request = submit(wire, trickle.url)
    waiting = wire.request("request.read", request=request, **{"as": "lines"})
    with daemon.wire() as other:
        with pytest.raises(RemoteError) as refusal:
            other.call("request.read", request=request, **{"as": "lines"})
        assert refusal.value.error["data"]["state"] == "being read"
        with pytest.raises(RemoteError) as refusal:
            other.call("request.read", request=request, **{"as": "text"})
        assert refusal.value.error["data"]["expected"] == '"lines"'
        trickle.send(b"one\n")
        assert wire.result(waiting)["lines"] == ["one"]
        trickle.send(b"two\n")
        assert other.call("request.read", request=request, **{"as": "lines"})["lines"] == ["two"]
    trickle.end()


def test_a_read_that_is_cancelled_loses_nothing(wire: Wire, origin: ScriptedOrigin) -> None:
    trickle = Trickle(origin)
    request = submit(wire, trickle.url)
    call = wire.request("request.read", request=request)
    wire.call("rpc.cancel", id=call)
    trickle.send(b"kept")
    assert base64.b64decode(wire.call("request.read", request=request)["base64"]) == b"kept"
    trickle.end()


def test_pulling_and_pushing_side_by_side(wire: Wire, origin: ScriptedOrigin) -> None:
    trickle = Trickle(origin)
    request = submit(wire, trickle.url)
    wire.call("request.read", request=request, timeout_ms=0, **{"as": "lines"})
    reader = Reader(wire, request, "text")
    trickle.send(b"a\nb\n")
    trickle.end()
    reader.until(4)
    assert wire.call("request.read", request=request, **{"as": "lines"})["lines"] == ["a", "b"]


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_a_stream_is_read_with_nc_and_jq(daemon: Daemon, httpbin: Httpbin) -> None:
    url = f"{httpbin.url}/stream/3"
    script = f"""
    call() {{
        printf '{{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}}\\n' "$1" "$2" |
            nc -N -U {daemon.socket} | jq -c "$3"
    }}
    request=$(call request.submit '{{"url":"{url}","kind":"stream"}}' .result.request)
    call request.read '{{"request":'"$request"',"as":"json_lines"}}' '.result.values[].id'
    """
    output = subprocess.run(["bash", "-c", script], capture_output=True, check=True, text=True).stdout
    ids = [json.loads(line) for line in output.split()]
    assert ids == list(range(len(ids)))
    assert ids


def test_an_origin_of_events_is_followed(wire: Wire, origin: ScriptedOrigin) -> None:
    def serve(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        for number in range(100):
            exchange.send(b"event: tick\nid: %d\ndata: %d\n\n" % (number, number))
        exchange.close()

    reader = Reader(wire, submit(wire, origin.on("/events", serve)), "sse")
    assert reader.complete()["error"] is None
    assert [int(event["data"]) for event in reader.items("events")] == list(range(100))
    assert reader.items("events")[99] == {"event": "tick", "data": "99", "id": "99"}
