"""Bodies at full speed, or a byte at a time: no turn takes long, and small requests are still answered."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
from pathlib import Path

import pytest
from harness.calls import line, ping, send_and_read
from harness.daemon import Daemon
from harness.gauge import bounded_turns
from harness.waiting import eventually
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin

SIZE = 16 << 20
CHUNKS = 200_000


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("count", [1, 5, 20, 100])
def test_b9_downloads_from_a_fast_origin(
    daemon: Daemon, nginx: Nginx, authority: Authority, tmp_path: Path, scheme: str, count: int
) -> None:
    """Small requests of another client are answered while the downloads run."""
    origin = nginx.http if scheme == "http" else nginx.https
    common = {"trust": {"ca_file": str(authority.ca_file)}}
    files = [tmp_path / str(number) for number in range(count)]
    large = common | {"url": origin + "/16m.bin", "kind": "download"}
    calls = [line("request.submit", n, destination=str(file), **large) for n, file in enumerate(files)]
    gets = 0
    with daemon.wire() as greedy, daemon.wire() as small, bounded_turns(daemon):
        greedy.call("client.hello", name="greedy")
        send_and_read(greedy, b"".join(calls), count)
        while daemon.stats()["requests"]["active"]:
            assert small.call("request.perform", url=origin + "/hello.txt", **common)["outcome"]["ok"]
            gets += 1
    assert [file.stat().st_size for file in files] == [SIZE] * count
    assert gets >= count // 10


def test_b3_bodies_in_chunks_of_a_byte(daemon: Daemon, origin: ScriptedOrigin) -> None:
    def drip(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        exchange.send(b"1\r\nx\r\n" * CHUNKS + b"0\r\n\r\n")

    url = origin.on("/drip", drip)
    with daemon.wire() as wire, bounded_turns(daemon):
        calls = [line("request.perform", n, url=url, response_body="file") for n in range(10)]
        for answer in send_and_read(wire, b"".join(calls), len(calls)):
            assert b'"ok":true' in answer


def test_b2_the_table_of_descriptors_does_not_grow_while_the_loop_runs(daemon: Daemon) -> None:
    """Each doubling of it waits for all processors, so that it has its size from the start."""
    limit, _ = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
    status = Path(f"/proc/{daemon.pid}/status").read_text()
    (size,) = (int(line.split()[1]) for line in status.splitlines() if line.startswith("FDSize:"))
    assert size >= min(limit, 65_536)


def test_b1_descriptors_of_many_connections(daemon: Daemon) -> None:
    null = os.open("/dev/null", os.O_RDONLY)
    before = len(daemon.descriptors())
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(daemon.wire()) for _ in range(200)]
        for wire in wires:
            ping(wire)
        with bounded_turns(daemon):
            for wire in wires:
                wire.send_bytes(b"[]\n", [null] * 253)
            for wire in wires:
                assert b"-32600" in wire.receive_bytes()
            stack.close()
            eventually(lambda: len(daemon.descriptors()) < before + 20)
    os.close(null)


def test_b9_a_thousand_unread_bodies_end_at_once(daemon: Daemon, origin: ScriptedOrigin) -> None:
    """To close a connection with unread bytes takes the kernel 0.1 ms; those of a client end in many turns."""
    url = origin.on("/large", lambda exchange: exchange.reply(200, bytes(1 << 20)))
    calls = b"".join(line("request.perform", n, url=url, response_body={"fd": "on_demand"}) for n in range(5))
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(daemon.wire()) for _ in range(200)]
        for wire in wires:
            wire.send_bytes(calls)
        for wire in wires:
            for _ in range(5):
                assert b"request.output_needed" in wire.receive_bytes()
        with bounded_turns(daemon) as gauge:
            daemon.stop_between_turns()
            stack.close()
            daemon.signal(signal.SIGCONT)
            eventually(lambda: daemon.stats()["requests"]["active"] == 0)
            assert gauge.check()["longest_turn_us"] < 30_000
