"""Clients that die, send wrong data, flood or never read: the daemon answers or closes them, and serves all others."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import carpool
import pytest
from conftest import StartDaemon
from harness.daemon import ROOT, Daemon
from harness.process import begin
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import FRAMINGS, SEQUENCE, Wire, frame
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin

pytestmark = pytest.mark.own_daemon

MEBIBYTE = 1 << 20
PING = '{"jsonrpc":"2.0","id":"after","method":"daemon.ping"}'


@pytest.fixture
def bystander(daemon: Daemon, nginx: Nginx) -> Iterator[None]:
    """Another client that makes requests all the time; the test fails if one of them does."""
    is_over = False

    def work() -> int:
        count = 0
        with daemon.client() as client:
            while not is_over:
                assert client.get(f"{nginx.http}/hello.txt", timeout=15).text == "hello, world\n"
                count += 1
        return count

    with ThreadPoolExecutor(1) as threads:
        counting: Future[int] = threads.submit(work)
        yield
        is_over = True
        assert counting.result() > 0


def assert_lives_on(wire: Wire) -> None:
    wire.send_text(PING)
    while (message := wire.receive()).get("id") != "after":
        assert "error" in message
    assert message["result"]["pong"] is True


def message_of(size: int) -> bytes:
    """A call of exactly `size` bytes."""
    head, tail = b'{"jsonrpc":"2.0","id":1,"method":"daemon.ping","params":{"a":"', b'"}}'
    return head + b"x" * (size - len(head) - len(tail)) + tail


@pytest.mark.parametrize("framing", FRAMINGS)
def test_a_message_of_the_limit_is_read_and_one_byte_more_is_refused(
    daemon: Daemon, bystander: None, framing: str
) -> None:
    with daemon.wire(framing) as wire:
        wire.send_text(message_of(MEBIBYTE))
        assert wire.receive()["error"]["code"] == -32602, "it was read: its parameter is unknown"
        wire.send_text(message_of(MEBIBYTE + 1))
        error = wire.receive()
        assert error["id"] is None
        assert (error["error"]["code"], error["error"]["data"]["name"]) == (1003, "message_too_large")
        assert_lives_on(wire)


@pytest.mark.parametrize("framing", FRAMINGS)
def test_a_message_far_over_the_limit_costs_no_memory(daemon: Daemon, bystander: None, framing: str) -> None:
    with daemon.wire(framing) as wire:
        wire.call("daemon.ping")
        before = daemon.memory_kib()
        size = 64 * MEBIBYTE
        if framing == "content-length":
            wire.send_bytes(b"Content-Length: %d\r\n\r\n" % size)
        else:
            wire.send_bytes((b"\x1e" if framing == SEQUENCE else b"") + b'{"a":"')
            size -= 6
        for _ in range(size // MEBIBYTE):
            wire.send_bytes(b"x" * MEBIBYTE)
        wire.send_bytes(b"x" * (size % MEBIBYTE) + (b"" if framing == "content-length" else b'"}\n'))
        assert wire.receive()["error"]["code"] == 1003
        assert_lives_on(wire)
        assert daemon.memory_kib() - before < 16 * 1024


BAD = {
    "half a message": b'{"jsonrpc":"2.0","id":1,"meth',
    "depth 65": b"[" * 65 + b"]" * 65,
    "depth 65 in params": b'{"jsonrpc":"2.0","id":1,"method":"m","params":' + b"[" * 64 + b"]" * 64 + b"}",
    "depth 100,000": b"[" * 100_000,
    "invalid UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}',
    "a surrogate in UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}',
    "half a surrogate pair": b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}',
    "duplicate keys": b'{"jsonrpc":"2.0","id":1,"id":2,"method":"daemon.ping"}',
    "a trailing comma": b'{"jsonrpc":"2.0","id":1,"method":"daemon.ping",}',
    "a comment": b'{"jsonrpc":"2.0",/*id*/"id":1,"method":"daemon.ping"}',
    "single quotes": b"{'jsonrpc':'2.0'}",
    "a wrong bracket": b'{"jsonrpc":"2.0","id":1,"method":"daemon.ping"]',
    "no JSON": b"hello",
    "an HTTP request": b"GET / HTTP/1.1",
    "zero bytes": b"\0\0\0\0",
    "NaN": b'{"jsonrpc":"2.0","id":NaN,"method":"daemon.ping"}',
    "a raw line feed in a string": b'{"jsonrpc":"2.0","id":1,"method":"da\nemon.ping"}',
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_a_bad_line_is_answered_and_the_connection_lives_on(daemon: Daemon, bad: bytes, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    with daemon.wire() as wire:
        call = wire.request("request.perform", url=f"{origin.url}/held")
        origin.received(1)
        wire.send_text(bad)
        error = wire.receive()
        assert error["id"] is None
        assert error["error"]["code"] in {-32700, -32600}
        assert_lives_on(wire)
        gate.set()
        assert wire.result(call)["body"]["text"] == "released"


@pytest.mark.parametrize("framing", FRAMINGS)
def test_half_a_message_and_then_nothing(daemon: Daemon, bystander: None, framing: str) -> None:
    whole = frame(PING.encode(), framing)
    for length in range(len(whole)):
        with daemon.wire(framing) as wire:
            wire.send_bytes(whole[:length])
            if length % 2:
                wire.finish()
                assert wire.is_ended()
    eventually(lambda: daemon.stats()["connections"]["open"] <= 2)


def test_a_message_that_comes_byte_by_byte_is_read(daemon: Daemon) -> None:
    with daemon.wire() as wire:
        for byte in PING.encode() + b"\n":
            wire.send_bytes(bytes([byte]))
        assert wire.receive()["result"]["pong"]


def test_random_bytes_never_end_the_daemon(daemon: Daemon, bystander: None) -> None:
    dice = random.Random(11)
    alphabet = b'{}[]",:\\\n\r\x1eContent-Length: 0123456789truefalsenull \xff\x00'
    for _ in range(150):
        with daemon.wire() as wire:
            size = dice.randrange(1, 3000)
            noise = dice.randbytes(size) if dice.random() < 0.5 else bytes(dice.choices(alphabet, k=size))
            wire.send_bytes(noise)
            wire.finish()
            assert wire.is_ended()
    assert daemon.process.poll() is None


def test_a_client_that_never_reads_is_not_read_from_and_costs_bounded_memory(daemon: Daemon, bystander: None) -> None:
    before = daemon.memory_kib()
    call = b'{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}\n'
    calls = call * 5_000
    rest, looks = calls, 0
    with daemon.wire() as wire, daemon.wire() as other:
        wire.socket.setblocking(False)

        def is_full() -> bool:
            """Whether the daemon has read nothing in twenty turns, in each of which it could have."""
            nonlocal rest, looks
            assert other.call("daemon.ping")["pong"]
            try:
                rest = rest[wire.socket.send(rest) :] or calls
                looks = 0
            except BlockingIOError:
                looks += 1
            return looks == 20

        eventually(is_full)
        assert daemon.memory_kib() - before < 32 * 1024


def test_a_client_that_reads_late_gets_everything(daemon: Daemon) -> None:
    count = 2_000
    with daemon.wire() as wire, ThreadPoolExecutor(1) as threads:
        calls = [{"jsonrpc": "2.0", "id": number, "method": "daemon.config"} for number in range(count)]
        sending = threads.submit(wire.send_bytes, b"".join(json.dumps(call).encode() + b"\n" for call in calls))
        # When the daemon has stopped reading this one, it must still serve another.
        daemon.call("daemon.ping")
        assert [wire.receive()["id"] for _ in range(count)] == list(range(count))
        sending.result()


KILLED = """
import carpool, itertools, sys
socket, base = sys.argv[1:]
client = carpool.Client(socket)
client.subscribe(["*"], "all")
print("ready", flush=True)
for number in itertools.count():
    client.call("request.submit", url=f"{base}/20k.bin", on_disconnect="cancel")
    client.get(f"{base}/{'100k.bin' if number % 2 else 'hello.txt'}")
"""


def test_clients_that_are_killed_at_any_moment_leave_nothing(daemon: Daemon, bystander: None, nginx: Nginx) -> None:
    dice = random.Random(3)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python/src")}
    for _ in range(12):
        process = begin(
            [sys.executable, "-c", KILLED, str(daemon.socket), nginx.http],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        with process.stdout:
            process.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(dice.random() * 0.1)
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE_SECONDS)
    eventually(lambda: daemon.stats()["connections"]["open"] <= 2)
    assert daemon.stats()["events"]["subscriptions"] == 0


def test_connections_that_are_opened_and_left_are_given_back(daemon: Daemon, bystander: None) -> None:
    before = len(daemon.descriptors())
    for _ in range(300):
        with socket.socket(socket.AF_UNIX) as silent:
            silent.connect(str(daemon.socket))
    eventually(lambda: len(daemon.descriptors()) <= before + 8)


def test_too_many_calls_at_once_are_refused_one_by_one(daemon: Daemon, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    with daemon.wire() as wire:
        calls = [wire.request("request.perform", url=f"{origin.url}/held") for _ in range(257)]
        refused = wire.receive()
        assert (refused["id"], refused["error"]["code"]) == (calls[-1], 1004)
        wire.send({"jsonrpc": "2.0", "method": "rpc.cancel", "params": {"id": calls[0]}})
        assert wire.receive()["error"]["code"] == -32800
        gate.set()
        assert {wire.receive()["id"] for _ in calls[1:-1]} == set(calls[1:-1])


def serves(daemon: Daemon) -> bool:
    try:
        return bool(daemon.call("daemon.ping")["pong"])
    except carpool.CarpoolError:
        return False


def test_no_user_gets_more_connections_than_the_limit(start: StartDaemon) -> None:
    daemon = start(config={"limits": {"connections_per_user": 5}})
    wires = [daemon.wire() for _ in range(5)]
    for wire in wires:
        wire.call("daemon.ping")
    with daemon.wire() as sixth:
        refusal = sixth.receive()
        assert refusal["id"] is None
        assert "error" in refusal
        assert sixth.is_ended()
    for wire in wires:
        wire.close()
    eventually(lambda: serves(daemon))
