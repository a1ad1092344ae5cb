"""Values that take long to read, to encode or to write: a thread does it, and the loop continues."""

from __future__ import annotations

import json
import plistlib
import threading
from collections.abc import Callable, Iterator

import pytest
from harness.calls import line, ping, send_and_read
from harness.daemon import IS_CHECKED, Daemon
from harness.gauge import bounded_turns
from harness.waiting import eventually
from harness.wire import RemoteError, Wire
from origins.scripted import ScriptedOrigin

MEBIBYTE = 1 << 20
ROOM = MEBIBYTE - 1_000


def filled(element: bytes, size: int = ROOM) -> bytes:
    """Return an array of so many bytes."""
    return b"[" + b",".join([element] * ((size - 2) // (len(element) + 1))) + b"]"


def members(size: int) -> bytes:
    """Return an object of so many bytes with as many members as fit."""
    return b"{" + b",".join(b'"k%06d":1' % number for number in range(size // 12)) + b"}"


NUMBERS = filled(b"1")
REALS = filled(b"1.5e3")
STRINGS = filled(b'"\\n\\u00e9"')
DEEP = filled(b"[" * 40 + b"]" * 40)
WIDE = members(ROOM)
FORM = b"{" + b",".join(b'"k%03d":%s' % (number, members(1_000)) for number in range(1_000)) + b"}"
VALUES = {"numbers": NUMBERS, "reals": REALS, "strings": STRINGS, "deep": DEEP, "wide": WIDE, "form": FORM}


def perform(url: str, members: bytes, number: int = 1) -> bytes:
    """Return a call with members that are JSON already."""
    params = b'{"url":"%s","method":"POST",%s}' % (url.encode(), members)
    return b'{"jsonrpc":"2.0","id":%d,"method":"request.perform","params":%s}\n' % (number, params)


@pytest.fixture
def url(origin: ScriptedOrigin) -> str:
    origin.on("/", lambda exchange: exchange.reply(body=b"x"))
    return origin.url + "/"


@pytest.fixture
def bystander(daemon: Daemon) -> Iterator[Callable[[], None]]:
    """Another client that makes small calls all the time; calling it asserts that all were answered."""
    ended, answered = threading.Event(), [0]

    def run() -> None:
        with daemon.wire() as wire:
            while not ended.is_set():
                ping(wire)
                answered[0] += 1
                ended.wait(0.005)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def check() -> None:
        assert thread.is_alive()
        assert answered[0] > 0

    yield check
    ended.set()
    thread.join(20)


@pytest.mark.parametrize("name", list(VALUES))
@pytest.mark.parametrize(
    "members",
    [
        b'"body":{"json":%s}',
        b'"parameters":{"a":%s}',
        b'"encoding":{"json":{"pretty":true,"sorted_keys":true}},"parameters":{"a":%s}',
        b'"encoding":"plist","parameters":{"a":%s}',
        b'"headers":%s',
        b'"tags":%s',
        b'"unknown":%s',
    ],
    ids=["body", "form", "json", "plist", "headers", "tags", "unknown"],
)
def test_b4_messages_of_a_mebibyte(daemon: Daemon, url: str, name: str, members: bytes) -> None:
    message = perform(url, members % VALUES[name])[: -len(b"\n")]
    assert len(message) <= MEBIBYTE + 10_000
    with daemon.wire() as wire, bounded_turns(daemon):
        send_and_read(wire, message + b"\n", 1)


@pytest.mark.parametrize("headers", ["wide", "lists"])
def test_b4_a_request_has_at_most_a_thousand_fields(wire: Wire, url: str, headers: str) -> None:
    fields = (
        {f"x-{number}": "v" for number in range(1_001)}
        if headers == "wide"
        else {f"x-{number}": ["v"] * 100 for number in range(11)}
    )
    wire.request("request.perform", url=url, headers=fields)
    error = wire.receive()["error"]
    assert error["code"] == -32602
    assert error["data"]["path"] == "params.headers"
    assert wire.result(wire.request("request.perform", url=url, headers=dict(list(fields.items())[:9])))["outcome"][
        "ok"
    ]


def test_b4_a_batch_of_a_mebibyte(daemon: Daemon, url: str) -> None:
    body = b'"body":{"json":%s}' % filled(b"1.5", 10_000)
    calls = [perform(url, body, number).strip() for number in range(100)]
    with daemon.wire() as wire, bounded_turns(daemon):
        wire.send_bytes(b"[" + b",".join(calls) + b"]\n")
        answers = wire.receive()
    assert sorted(answer["id"] for answer in answers) == list(range(100))
    assert all(answer["result"]["outcome"]["ok"] for answer in answers)


def test_b4_a_large_call_of_a_batch_keeps_its_place(daemon: Daemon, url: str) -> None:
    """A thread reads it; later calls are answered after it, and the batch when all of its calls are."""
    large = perform(url, b'"start":"manual","body":{"json":%s}' % filled(b"1", 400_000), 2).replace(
        b"perform", b"submit"
    )
    last = line("daemon.stats", 3).strip()
    with daemon.wire() as wire:
        wire.send_bytes(b"[" + line("daemon.stats", 1).strip() + b"," + large.strip() + b"," + last + b"]\n")
        answers = {answer["id"]: answer["result"] for answer in wire.receive()}
        assert answers[1]["requests"]["active"] == 0
        assert answers[3]["requests"]["active"] == 1
        wire.call("request.dismiss", request=answers[2]["request"])


def test_b4_what_follows_a_large_call_waits_for_it(daemon: Daemon, url: str) -> None:
    with daemon.wire() as wire:
        large = perform(url, b'"start":"manual","body":{"json":%s}' % NUMBERS, 7).replace(b"perform", b"submit")
        wire.send_bytes(large + line("daemon.stats", 8))
        submitted, stats = wire.receive(), wire.receive()
        assert (submitted["id"], stats["id"]) == (7, 8)
        assert stats["result"]["requests"]["active"] == 1
        wire.call("request.dismiss", request=submitted["result"]["request"])


def test_b4_a_large_call_before_the_end_is_carried_out(daemon: Daemon, url: str) -> None:
    with daemon.wire() as wire:
        message = perform(url, b'"start":"manual","body":{"json":%s}' % NUMBERS).replace(b"perform", b"submit")
        wire.send_bytes(message)
    eventually(lambda: daemon.stats()["requests"]["made"] == 1)
    daemon.call("session.cancel_requests")


def test_b4_thirty_two_clients_send_a_mebibyte_at_once(daemon: Daemon, url: str) -> None:
    wires = [daemon.wire() for _ in range(32)]
    with bounded_turns(daemon):
        message = perform(url, b'"body":{"json":%s}' % WIDE)
        senders = [threading.Thread(target=wire.send_bytes, args=(message,), daemon=True) for wire in wires]
        for sender in senders:
            sender.start()
        for wire in wires:
            assert wire.receive()["result"]["outcome"]["ok"]
        for sender in senders:
            sender.join(20)
    for wire in wires:
        wire.close()


@pytest.mark.skipif(IS_CHECKED, reason="a build that checks its memory keeps what was freed")
def test_b4_a_pending_call_of_a_megabyte_takes_its_body(daemon: Daemon, origin: ScriptedOrigin) -> None:
    released = origin.hold("/held")
    first, all_ = 10, 30
    before = 0
    with daemon.wire() as wire:
        for number in range(all_):
            # The first ones also fill what the allocator keeps for the next.
            if number == first:
                before = daemon.memory_kib()
            wire.send_bytes(perform(origin.url + "/held", b'"body":{"json":%s}' % REALS, number))
            assert wire.result(wire.request("daemon.stats"))["requests"]["active"] == number + 1
        most = 1.2 * len(REALS) * (all_ - first) / 1024
        # What the thread of the worker that parsed the last one used for it is returned a moment later.
        eventually(lambda: daemon.memory_kib() - before <= most)
        released.set()
        for _ in range(all_):
            wire.receive()


RESPONSES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "json": ("json", lambda: filled(b"1", 16 * MEBIBYTE - 2)),
    "string": ("string", lambda: b'a"\n\x01' * (4 * MEBIBYTE)),
    "data": ("data", lambda: b"\x00\xff" * (8 * MEBIBYTE)),
    "xml": ("plist", lambda: plistlib.dumps([str(number) for number in range(400_000)])),
    "binary": ("plist", lambda: plistlib.dumps([str(n) for n in range(400_000)], fmt=plistlib.FMT_BINARY)),
    "malformed": ("json", lambda: b"[" * (16 * MEBIBYTE - 2)),
}


@pytest.mark.parametrize("name", list(RESPONSES))
def test_b4_values_of_large_responses(
    daemon: Daemon, origin: ScriptedOrigin, bystander: Callable[[], None], name: str
) -> None:
    serializer, make = RESPONSES[name]
    body = make()
    assert len(body) <= 16 * MEBIBYTE
    origin.on("/large", lambda exchange: exchange.reply(body=body))
    with daemon.wire() as wire:
        with bounded_turns(daemon):
            outcome = wire.call("request.perform", url=origin.url + "/large", serialize=serializer)["outcome"]
        bystander()
        assert outcome["ok"] == (name != "malformed")
        assert outcome.get("truncated", False) == (name != "malformed")


def test_b4_a_large_value_for_a_client_that_reads_long_lines(daemon: Daemon, origin: ScriptedOrigin) -> None:
    text = 'é"\n' * 100_000
    origin.on("/large", lambda exchange: exchange.reply(body=text.encode()))
    with daemon.wire() as wire:
        wire.call("client.hello", max_line_bytes=4 * MEBIBYTE)
        for serializer, expected in (("string", None), ({"as": "string", "encoding": "utf-8"}, text)):
            outcome = wire.call("request.perform", url=origin.url + "/large", serialize=serializer)["outcome"]
            assert outcome["value"] == (expected or text.encode().decode("latin-1"))


@pytest.mark.parametrize("byte", [b"x", b"\x01", b"\xff"], ids=["text", "escapes", "binary"])
@pytest.mark.parametrize("serialize", [None, "string"])
def test_b2_the_longest_lines_that_a_client_may_ask_for(
    daemon: Daemon, origin: ScriptedOrigin, byte: bytes, serialize: str | None
) -> None:
    """A body is written to a file from 1 MiB on; a value is written before it is checked."""
    params = {"response_body": "inline", "serialize": serialize} if serialize else {"response_body": "inline"}
    with daemon.wire() as wire:
        with pytest.raises(RemoteError) as refusal:
            wire.call("client.hello", name="wide", max_line_bytes=8 * MEBIBYTE + 1)
        assert refusal.value.error["data"]["path"] == "params.max_line_bytes"
        wire.call("client.hello", name="wide", max_line_bytes=8 * MEBIBYTE)
        url = origin.on("/", lambda exchange: exchange.reply(body=byte * int(exchange.request.target[2:])))
        for size in (1_000_000, 4_000_000, 7_000_000, 12_000_000):
            with bounded_turns(daemon):
                assert wire.call("request.perform", url=f"{url}?{size}", **params)["outcome"]["ok"]


def test_b4_a_request_is_cancelled_while_its_body_is_serialized(daemon: Daemon, origin: ScriptedOrigin) -> None:
    body = plistlib.dumps([str(number) for number in range(400_000)])
    origin.on("/large", lambda exchange: exchange.reply(body=body))
    with daemon.wire() as wire, daemon.wire() as other:
        wire.call("events.subscribe", types=["request.did_finish"])
        made = wire.call("request.submit", url=origin.url + "/large", serialize="plist")["request"]
        assert json.loads(wire.receive_bytes())["params"]["type"] == "request.did_finish"
        # The request is over but for its value, which takes a thread long.
        other.call("request.cancel", request=made)
        record = other.call("request.wait", request=made)
        assert record["state"] in ("cancelled", "finished")
        assert record["outcome"]["ok"] == (record["state"] == "finished")


def test_b10_old_events_for_many_clients(daemon: Daemon) -> None:
    with daemon.wire() as keeper:
        keeper.call("events.subscribe", types=["pool.*"])
        cursor = keeper.call("events.next", types=["request.did_finish"], timeout_ms=0)["cursor"]
        for _ in range(3_000):
            keeper.send_bytes(line("request.submit", None, url="http://127.0.0.1:1/"))
        eventually(lambda: daemon.stats()["requests"]["made"] == 3_000 and daemon.is_idle(), seconds=60)
        with bounded_turns(daemon):
            wires = [daemon.wire() for _ in range(40)]
            for wire in wires:
                wire.send_bytes(line("events.next", 1, types=["*"], since=cursor, scope="all"))
                wire.send_bytes(line("events.next", 2, types=["pool.nothing"], since=cursor, timeout_ms=0))
                wire.send_bytes(line("events.subscribe", 3, types=["*"], since=cursor, scope="all"))
            for wire in wires:
                assert wire.receive_bytes()
            for wire in wires:
                wire.close()
            eventually(lambda: daemon.stats()["connections"]["open"] == 2)
