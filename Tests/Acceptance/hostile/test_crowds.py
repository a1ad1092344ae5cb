"""Thousands of calls that wait for one event: they are answered in slices, as fast as their clients read."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import StartDaemon
from harness.calls import line, ping
from harness.daemon import Daemon
from harness.gauge import bounded_turns
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import Wire
from origins.scripted import ScriptedOrigin

CALLS = 250
"""The unanswered calls of one connection."""
CONNECTIONS = 10
LARGE = "x" * 44_000
"""A body that just fits a record."""


@pytest.fixture
def wires(daemon: Daemon) -> Iterator[list[Wire]]:
    wires = [daemon.wire() for _ in range(CONNECTIONS)]
    yield wires
    for wire in wires:
        wire.close()


class Reader(threading.Thread):
    """Reads this many answers of one connection."""

    def __init__(self, wire: Wire, count: int) -> None:
        super().__init__(daemon=True)
        self._wire, self._count = wire, count
        self.answers: list[dict[str, Any]] = []
        self.start()

    def run(self) -> None:
        for _ in range(self._count):
            self.answers.append(json.loads(self._wire.receive_bytes()))


def read(wires: list[Wire], count: int = CALLS) -> list[dict[str, Any]]:
    """Read this many answers of each connection, all at once."""
    readers = [Reader(wire, count) for wire in wires]
    for reader in readers:
        reader.join(PATIENCE_SECONDS)
    assert [len(reader.answers) for reader in readers] == [count] * len(wires)
    return [answer for reader in readers for answer in reader.answers]


def under_way(daemon: Daemon) -> int:
    with daemon.wire() as wire:
        return sum(client["calls_in_flight"] for client in wire.call("client.list")["clients"])


def gather(daemon: Daemon, wires: list[Wire], method: str, /, **params: Any) -> None:
    """Have every connection make as many calls as it may."""
    for wire in wires:
        wire.send_bytes(b"".join(line(method, number, **params) for number in range(CALLS)))
    eventually(lambda: under_way(daemon) >= CALLS * len(wires))


@pytest.mark.parametrize(
    ("size", "method"),
    [(44_000, "request.wait"), (100_000, "request.wait"), (44_000, "request.response"), (44_000, "request.perform")],
)
def test_b2_thousands_of_calls_wait_for_one_request(
    daemon: Daemon, origin: ScriptedOrigin, wires: list[Wire], size: int, method: str
) -> None:
    gate = origin.hold("/held", b"x" * size)
    keyed = {"url": f"{origin.url}/held", "key": "one"}
    with daemon.wire() as wire:
        request = wire.call("request.submit", **keyed)["request"]
        gather(daemon, wires, method, **(keyed if method == "request.perform" else {"request": request}))
        with bounded_turns(daemon):
            gate.set()
            answers = read(wires)
            for _ in range(20):
                ping(wire)
    assert {answer["result"]["request"] for answer in answers} == {request}
    assert all(answer["result"]["outcome"]["ok"] for answer in answers)
    bodies = {len(answer["result"]["body"].get("text", "")) for answer in answers}
    assert bodies == ({size} if size == 44_000 else {0})
    assert sorted(answer["id"] for answer in answers) == sorted(list(range(CALLS)) * CONNECTIONS)
    assert origin.received(1) == origin.requests


def test_b2_a_crowd_whose_clients_do_not_read(daemon: Daemon, origin: ScriptedOrigin, wires: list[Wire]) -> None:
    gate = origin.hold("/held", LARGE.encode())
    with daemon.wire() as wire:
        request = wire.call("request.submit", url=f"{origin.url}/held")["request"]
        gather(daemon, wires, "request.wait", request=request)
        before = daemon.memory_kib()
        with bounded_turns(daemon):
            gate.set()
            wire.call("request.wait", request=request)
            for _ in range(20):
                ping(wire)
            # Each holds at most the limit of unread bytes of one connection; the rest is not written yet.
            assert daemon.memory_kib() - before < 64 * 1024
            # Those that are cancelled meanwhile, or whose connections close, are not answered.
            cancelled, gone, reading = wires[0], wires[1:5], wires[5:]
            for gone_wire in gone:
                gone_wire.close()
            cancelled.send_bytes(b"".join(line("rpc.cancel", None, id=number) for number in range(CALLS)))
            answers = read(reading)
            outcomes = read([cancelled])
        assert all(answer["result"]["outcome"]["ok"] for answer in answers)
        assert len({answer["id"] for answer in outcomes}) == CALLS
        assert all("result" in answer or answer["error"]["data"]["name"] == "cancelled" for answer in outcomes)
    eventually(lambda: daemon.stats()["connections"]["open"] == 1 + len(reading) + 1)
    assert "does not read" not in daemon.log.read_text()


def test_b2_a_crowd_leaves_before_the_end(daemon: Daemon, origin: ScriptedOrigin, wires: list[Wire]) -> None:
    gate = origin.hold("/held", LARGE.encode())
    with daemon.wire() as wire:
        request = wire.call("request.submit", url=f"{origin.url}/held")["request"]
        gather(daemon, wires, "request.wait", request=request)
        with bounded_turns(daemon):
            for leaving in wires[1:]:
                leaving.close()
            cancels = b"".join(line("rpc.cancel", None, id=number) for number in range(CALLS))
            wires[0].send_bytes(cancels)
            assert {answer["error"]["data"]["name"] for answer in read(wires[:1])} == {"cancelled"}
            eventually(lambda: under_way(daemon) <= 1)
        gate.set()
        assert wire.call("request.wait", request=request)["outcome"]["ok"]


def test_a_crowd_is_answered_before_the_daemon_ends(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start()
    origin.hold("/held")
    with daemon.wire() as wire, daemon.wire() as waiting:
        request = wire.call("request.submit", url=f"{origin.url}/held")["request"]
        gather(daemon, [waiting], "request.wait", request=request)
        wire.call("daemon.shutdown")
        names = {answer["result"]["outcome"]["error"]["name"] for answer in read([waiting])}
        assert names == {"explicitly_cancelled"}
    assert daemon.process.wait(PATIENCE_SECONDS) == 0


def test_b2_little_is_computed_for_a_client_that_is_gone(daemon: Daemon, origin: ScriptedOrigin) -> None:
    """Values of 60 calls are computed four at a time; those of a client that has disconnected meanwhile are not."""
    url = origin.on("/large", lambda exchange: exchange.reply(body=b"[" + b"1," * 200_000 + b"1]"))
    with daemon.wire() as wire:
        request = wire.call("request.submit", url=url)["request"]
        wire.call("request.wait", request=request)
        before = wire.call("daemon.stats")["worker"]["jobs"]
        with daemon.wire() as other:
            ping(other)
            daemon.signal(signal.SIGSTOP)
            other.send_bytes(
                b"".join(line("request.response", number, request=request, serialize="string") for number in range(60))
            )
        daemon.signal(signal.SIGCONT)
        eventually(lambda: len(wire.call("client.list")["clients"]) == 1)
        eventually(lambda: wire.call("daemon.stats")["worker"]["running"] == 0)
        assert wire.call("daemon.stats")["worker"]["jobs"] - before < 20
