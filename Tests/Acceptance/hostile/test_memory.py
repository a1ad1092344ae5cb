"""Memory that clients cause: bounded in sum, and freed afterwards."""

from __future__ import annotations

import contextlib

from conftest import StartDaemon
from harness.calls import line, ping
from harness.daemon import Daemon
from harness.gauge import bounded_turns
from harness.waiting import eventually

MEBIBYTE = 1 << 20


def test_b5_half_messages_of_many_connections(daemon: Daemon) -> None:
    half = b'{"jsonrpc":"2.0","id":1,"method":"daemon.ping","params":{"a":"' + b"x" * (MEBIBYTE - 100)
    before = daemon.memory_kib()
    with contextlib.ExitStack() as open_wires, bounded_turns(daemon):
        wires = [open_wires.enter_context(daemon.wire()) for _ in range(200)]
        for wire in wires:
            wire.send_bytes(half)
        # Each of these is complete at last, and read: the oldest incomplete ones were dropped.
        with daemon.wire() as other:
            for _ in range(20):
                other.send_bytes(half + b'"}}\n')
                assert other.receive()["error"]["code"] == -32602
        assert daemon.memory_kib() - before < 100 * 1024
        refused = [wire for wire in wires if wire.is_readable(0)]
        assert len(refused) > 100
        for wire in refused:
            assert wire.receive()["error"]["data"]["name"] == "memory_full"
            wire.send_bytes(b'"}}\n')
            ping(wire)


def test_b5_whole_messages_of_a_connection_that_does_not_read_protect_no_half_ones(daemon: Daemon) -> None:
    """What is held for longest cannot be dropped; the incomplete messages behind it are dropped all the same."""
    before = daemon.memory_kib()
    with contextlib.ExitStack() as wires:
        stuck = wires.enter_context(daemon.wire())
        stuck.socket.setblocking(False)
        calls = line("rpc.discover", 1) * 2_000
        with contextlib.suppress(BlockingIOError):
            while calls:
                calls = calls[stuck.socket.send(calls) :]
        eventually(lambda: daemon.stats()["connections"]["open"] >= 1)
        for _ in range(200):
            wire = wires.enter_context(daemon.wire())
            wire.send_bytes(b'{"jsonrpc":"2.0","method":"' + b"x" * 1_000_000)
        eventually(lambda: daemon.memory_kib() - before < 160 << 10)


def test_b5_many_clients_that_do_not_read(daemon: Daemon) -> None:
    before = daemon.memory_kib()
    with contextlib.ExitStack() as open_wires, bounded_turns(daemon):
        wires = [open_wires.enter_context(daemon.wire()) for _ in range(60)]
        for wire in wires:
            wire.send_bytes(b"".join(line("rpc.discover", number) for number in range(100)))
        for _ in range(100):
            daemon.call("daemon.ping")
        assert daemon.memory_kib() - before < 110 * 1024
        # Connections that read in the end lose nothing.
        for wire in wires:
            for number in range(100):
                assert wire.receive_bytes().startswith(b'{"jsonrpc":"2.0","id":%d,' % number)


def test_b5_batches_that_wait_for_an_answer_count_as_unread(start: StartDaemon) -> None:
    daemon = start(config={"limits": {"unread_bytes": 1_048_576}})
    waiting = {"jsonrpc": "2.0", "id": "w", "method": "events.next", "params": {"types": ["pool.*"]}}
    before = daemon.memory_kib()
    with daemon.wire() as wire:
        for number in range(50):
            calls = [{"jsonrpc": "2.0", "id": f"{number}-{n}", "method": "rpc.discover"} for n in range(90)]
            wire.send([waiting | {"id": f"w{number}"}, *calls])
        # The first one waits; once so much does, further calls are refused, so that the other batches are complete.
        for number in range(1, 50):
            answers = wire.receive()
            assert {answer["id"] for answer in answers} >= {f"w{number}", f"{number}-0"}
            assert {answer["error"]["data"]["name"] for answer in answers} == {"answers_too_large"}
        ping(wire)
    assert daemon.memory_kib() - before < 30 * 1024


def test_b5_the_answers_of_batches_of_many_connections_are_bounded(start: StartDaemon) -> None:
    daemon = start(config={"limits": {"total_unread_bytes": 4 * MEBIBYTE}})
    waiting = {"jsonrpc": "2.0", "id": "w", "method": "events.next", "params": {"types": ["pool.*"]}}
    calls = [{"jsonrpc": "2.0", "id": n, "method": "rpc.discover"} for n in range(90)]
    before = daemon.memory_kib()
    with contextlib.ExitStack() as wires:
        for _ in range(40):
            wire = wires.enter_context(daemon.wire())
            wire.send([waiting, *calls])
            # It has been carried out, and the connection lives on.
            ping(wire)
    assert daemon.memory_kib() - before < 30 * 1024
