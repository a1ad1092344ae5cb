"""Calls that are cheap to make and expensive to answer, and crowds that come or leave at once: no turn takes long."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from conftest import StartDaemon
from harness.calls import NOBODY, line, send_and_read, submit
from harness.daemon import Daemon
from harness.gauge import bounded_turns
from harness.waiting import eventually
from harness.wire import Wire

KNOWN = 10_000


@pytest.fixture
def retained(daemon: Daemon) -> Iterator[Wire]:
    """A client whose requests are over and kept, as many as the daemon keeps."""
    with daemon.wire() as wire:
        wire.call("client.hello", name="hoarder")
        wire.call("events.subscribe", types=["request.did_finish"], scope="mine")
        for _ in range(KNOWN // 250):
            wire.send_bytes(b"".join(line("request.submit", None, url=NOBODY) for _ in range(250)))
        eventually(lambda: daemon.stats()["requests"]["known"] >= KNOWN * 9 // 10 and daemon.is_idle())
    with daemon.wire() as wire:
        wire.call("client.hello", name="hoarder")
        yield wire


@pytest.mark.parametrize("params", [{}, {"state": "suspended"}, {"scope": "all", "session": "nosuch"}], ids=str)
def test_b2_b10_lists_of_ten_thousand_requests(daemon: Daemon, retained: Wire, params: dict[str, str]) -> None:
    with bounded_turns(daemon):
        data = b"".join(line("request.list", number, **params) for number in range(750))
        send_and_read(retained, data, 750)


def test_b10_pages_tell_every_request_once(retained: Wire) -> None:
    for params in ({}, {"state": "cancelled"}):
        names: list[str] = []
        page = {"next": "0"}
        while page["next"] is not None:
            page = retained.call("request.list", **params, next=page["next"])
            names += [entry["request"] for entry in page["requests"]]
        assert len(set(names)) == len(names)
        assert len(names) >= KNOWN * 9 // 10 if not params else not names


def test_b2_batches_of_large_answers(daemon: Daemon) -> None:
    batch = json.dumps([{"jsonrpc": "2.0", "id": n, "method": "rpc.discover"} for n in range(100)]).encode() + b"\n"
    with daemon.wire() as wire, bounded_turns(daemon):
        before = daemon.memory_kib()
        wire.send_bytes(batch * 4)
        for _ in range(4):
            answers = wire.receive()
            assert len(answers) == 100
            errors = [answer["error"]["data"] for answer in answers if "error" in answer]
            assert {(error["name"], error["limit_bytes"]) for error in errors} == {("answers_too_large", 4_194_304)}
            assert len(json.dumps(answers)) < 6 << 20
        assert daemon.memory_kib() - before < 40 * 1024


def test_b2_many_batches_that_nobody_reads(daemon: Daemon) -> None:
    batch = json.dumps([{"jsonrpc": "2.0", "id": n, "method": "rpc.discover"} for n in range(100)]).encode() + b"\n"
    with bounded_turns(daemon):
        wires = [daemon.wire() for _ in range(40)]
        for wire in wires:
            wire.send_bytes(batch * 8)
        for _ in range(200):
            daemon.call("daemon.ping")
        for wire in wires:
            wire.close()
        eventually(lambda: daemon.stats()["connections"]["open"] == 1)


def test_b2_ten_thousand_subscriptions_leave(daemon: Daemon) -> None:
    wires = [daemon.wire() for _ in range(313)]
    for wire in wires:
        wire.send_bytes(b"".join(line("events.subscribe", number, types=["pool.*"]) for number in range(32)))
    for wire in wires:
        for _ in range(32):
            wire.receive_bytes()
    with bounded_turns(daemon):
        for wire in wires:
            wire.close()
        eventually(lambda: daemon.stats()["events"]["subscriptions"] == 0)


def test_b2_one_client_leaves_ten_thousand_requests(daemon: Daemon) -> None:
    with daemon.wire() as wire:
        submit(wire, 9_000, start="manual", on_disconnect="cancel")
        with bounded_turns(daemon):
            wire.close()
            eventually(lambda: daemon.stats()["requests"]["active"] == 0)


@pytest.mark.parametrize("method", ["session.cancel_requests", "session.invalidate"])
def test_b2_a_session_with_ten_thousand_requests_ends(daemon: Daemon, method: str) -> None:
    with daemon.wire() as wire:
        wire.call("session.create", name="crowd")
        submit(wire, 9_000, start="manual", session="crowd", on_disconnect="detach")
        with bounded_turns(daemon):
            more = {"mode": "cancel"} if method == "session.invalidate" else {}
            result = wire.call(method, session="crowd", **more)
            assert result.get("cancelled", 9_000) == 9_000
            eventually(lambda: daemon.stats()["requests"]["active"] == 0)


def test_b2_nine_hundred_connections_close_at_once(daemon: Daemon) -> None:
    # A client may have 960 (limits.connections_per_client).
    wires = [daemon.wire() for _ in range(900)]
    for wire in wires:
        wire.send_bytes(line("daemon.ping", 1))
    for wire in wires:
        wire.receive_bytes()
    with bounded_turns(daemon):
        for wire in wires:
            wire.close()
        eventually(lambda: daemon.stats()["connections"]["open"] == 1)


def test_b10_a_hundred_clients_with_a_hundred_calls(daemon: Daemon) -> None:
    wires = [daemon.wire() for _ in range(100)]
    data = b"".join(line("daemon.config", number) for number in range(100))
    with bounded_turns(daemon):
        for wire in wires:
            wire.send_bytes(data)
        for wire in wires:
            assert [json.loads(wire.receive_bytes())["id"] for _ in range(100)] == list(range(100))
    for wire in wires:
        wire.close()


def test_b2_what_was_written_before_the_end_is_carried_out(daemon: Daemon) -> None:
    with daemon.wire() as wire:
        wire.send_bytes(b"".join(line("request.submit", None, url=NOBODY, start="manual") for _ in range(1_500)))
    eventually(lambda: daemon.stats()["requests"]["made"] == 1_500)
    daemon.call("session.cancel_requests")


def test_b2_the_daemon_ends_with_ten_thousand_requests(start: StartDaemon) -> None:
    daemon = start()
    with daemon.wire() as wire:
        submit(wire, 9_000, start="manual", on_disconnect="detach")
        with daemon.wire() as other:
            wire.call("daemon.shutdown")
            other.is_ended()
    assert daemon.process.wait(20) == 0
