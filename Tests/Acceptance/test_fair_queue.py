"""The order of the queue: clients share the connections to a host, and none starves another."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import resource
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from carpool.httpx import AsyncCarpoolTransport
from conftest import StartDaemon
from harness.daemon import CARPOOL, CARPOOLD, Daemon
from harness.process import begin
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import RemoteError, Wire
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin


def named(daemon: Daemon, name: str) -> Wire:
    """Connect as the client of that name."""
    wire = daemon.wire()
    wire.call("client.hello", name=name)
    return wire


@pytest.fixture
def silent() -> Iterator[list[str]]:
    """URLs of 300 hosts that accept connections and never answer."""
    listener = socket.socket()
    listener.bind(("", 0))
    listener.listen(512)
    port = listener.getsockname()[1]
    yield [f"http://127.1.{number // 250}.{number % 250 + 1}:{port}/" for number in range(300)]
    listener.close()


def test_b8_six_slow_answers_of_one_client_do_not_block_another(daemon: Daemon, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/slow")
    with named(daemon, "greedy") as greedy, named(daemon, "other") as other:
        for _ in range(20):
            greedy.request("request.perform", url=origin.url + "/slow")
        origin.received(6, "/slow")
        # Nothing of the first client's can end before the second has its answer.
        assert other.call("request.perform", url=origin.url)["outcome"]["ok"]
        assert len([request for request in origin.requests if request.target == "/slow"]) == 6
        gate.set()


def test_a_setting_gives_a_client_more_connections_to_a_host(daemon: Daemon, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/slow")
    url = origin.url + "/slow"
    with named(daemon, "greedy") as greedy, named(daemon, "other") as other:
        greedy.call("session.create", name="wide", configuration={"connections_per_host": 20})
        assert greedy.call("session.get", session="wide")["configuration"]["connections_per_host"] == 20
        for _ in range(30):
            greedy.request("request.perform", url=url, session="wide")
        origin.received(20, "/slow")
        # That of a request replaces that of its session; the largest setting holds, and another client's is its own.
        for _ in range(5):
            greedy.request("request.perform", url=url, session="wide", connections_per_host=22)
        origin.received(22, "/slow")
        for _ in range(10):
            other.request("request.perform", url=url)
        origin.received(28, "/slow")
        assert greedy.call("request.perform", url=origin.url, queue_timeout_ms=100)["outcome"]["ok"] is False
        assert len([request for request in origin.requests if request.target == "/slow"]) == 28
        gate.set()


def test_no_setting_gives_a_client_more_than_half_of_the_connections(
    start: StartDaemon, origin: ScriptedOrigin
) -> None:
    daemon = start(config={"limits": {"host_connections": 16}})
    gate = origin.hold("/slow")
    with named(daemon, "greedy") as greedy, named(daemon, "other") as other:
        for _ in range(20):
            greedy.request("request.perform", url=origin.url + "/slow", connections_per_host=256)
        origin.received(8, "/slow")
        assert other.call("request.perform", url=origin.url)["outcome"]["ok"]
        assert len([request for request in origin.requests if request.target == "/slow"]) == 8
        gate.set()
    for number in (0, 257, "six"):
        with daemon.wire() as wire, pytest.raises(RemoteError, match="connections_per_host"):
            wire.call("request.perform", url=origin.url, connections_per_host=number)


@pytest.mark.parametrize("connections", [128, 200])
def test_a_transport_of_httpx_gets_half_of_the_connections(
    start: StartDaemon, monkeypatch: pytest.MonkeyPatch, origin: ScriptedOrigin, connections: int
) -> None:
    """128 is the default; a program with more long answers at a time configures more."""
    daemon = start(config={"limits": {"host_connections": connections}})
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    together = threading.Barrier(connections // 2)

    def meet(exchange: Exchange) -> None:
        together.wait(PATIENCE_SECONDS)
        exchange.reply()

    url = origin.on("/together", meet)

    async def send_all() -> list[int]:
        async with httpx.AsyncClient(transport=AsyncCarpoolTransport(), timeout=PATIENCE_SECONDS * 2) as client:
            answers = await asyncio.gather(*(client.get(url) for _ in range(together.parties)))
            return [answer.status_code for answer in answers]

    assert asyncio.run(send_all()) == [200] * together.parties


def test_b8_silent_hosts_of_one_client_leave_connections_to_another(
    daemon: Daemon, origin: ScriptedOrigin, silent: list[str]
) -> None:
    with named(daemon, "greedy") as greedy, named(daemon, "other") as other:
        for url in silent:
            greedy.call("request.submit", url=url)
        eventually(lambda: greedy.call("pool.stats")["total"]["origins"] >= 128)
        assert other.call("request.perform", url=origin.url)["outcome"]["ok"]
        greedy.call("session.cancel_requests", session="default")


def test_b8_slow_answers_over_http2_leave_streams_to_another(
    daemon: Daemon, nginx: Nginx, behind: ScriptedOrigin, authority: Authority
) -> None:
    place = f"/held/{daemon.pid}"
    gate = behind.hold(place)
    params = {"trust": {"ca_file": str(authority.ca_file)}, "http_version": "2"}
    # Without multiplexing each request has a connection, of which a client has six.
    most = 75 if daemon.call("daemon.info")["libcurl"]["profile"] == "multiplex" else 6
    with named(daemon, "greedy") as greedy, named(daemon, "other") as other:
        for _ in range(150):
            greedy.call("request.submit", url=nginx.https + place, **params)
        behind.received(most, place)
        # Nothing of the first client's can end before the second has its answer.
        assert other.call("request.perform", url=nginx.https + "/hello.txt", **params)["outcome"]["ok"]
        late = other.call("request.perform", url=nginx.https + "/hello.txt", **params)
        assert late["outcome"]["ok"]
        record = greedy.call("request.perform", url=nginx.https + place, queue_timeout_ms=100, **params)
        assert record["outcome"]["error"]["waited_for"] == "client"
        assert daemon.stats()["transfers"]["active"] == most
        gate.set()
        greedy.call("session.cancel_requests", session="default")


def test_b8_a_time_out_in_the_queue_says_so(daemon: Daemon, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/slow")
    with named(daemon, "one") as wire:
        for _ in range(6):
            wire.request("request.perform", url=origin.url + "/slow")
        origin.received(6, "/slow")
        ahead = wire.call("request.submit", url=origin.url + "/ahead")
        record = wire.call("request.perform", url=origin.url + "/late", queue_timeout_ms=100)
        error = record["outcome"]["error"]
        assert error["name"] == "session_task_failed.timed_out"
        assert (error["timeout"], error["queued"], error["position"]) == ("queue", True, 2)
        assert error["waited_for"] == "client"
        assert "host_connections_per_client" in error["hint"]
        assert "nothing was sent" in error["message"]
        record = wire.call("request.perform", url=origin.url + "/late", resource_timeout_ms=100)
        error = record["outcome"]["error"]
        assert (error["timeout"], error["queued"]) == ("resource", True)
        assert "resource_timeout_ms" not in error["hint"]
        gate.set()
        wire.call("request.wait", request=ahead["request"])
        assert not [request for request in origin.requests if request.target == "/late"]


def order(origin: ScriptedOrigin) -> list[str]:
    return [request.target for request in origin.requests if request.target != "/slow"]


def test_priorities_decide_who_goes_next(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start(config={"limits": {"host_connections": 1}})
    gate = origin.hold("/slow")
    with daemon.wire() as wire:
        wire.request("request.perform", url=origin.url + "/slow")
        origin.received(1, "/slow")
        submitted: dict[str, Any] = {}
        for name, priority in [("/low", "low"), ("/normal", None), ("/high", "high"), ("/raised", "low")]:
            chosen = {} if priority is None else {"priority": priority}
            submitted[name] = wire.call("request.submit", url=origin.url + name, **chosen)["request"]
        assert wire.call("request.set_priority", request=submitted["/raised"], priority="high")["changed"]
        assert not wire.call("request.set_priority", request=submitted["/raised"], priority="high")["changed"]
        gate.set()
        for request in submitted.values():
            wire.call("request.wait", request=request)
        assert order(origin) == ["/high", "/raised", "/normal", "/low"]


def test_the_command_takes_a_priority(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start(config={"limits": {"host_connections": 1}})
    gate = origin.hold("/slow")

    def are_queued(count: int) -> bool:
        return bool(daemon.stats()["transfers"]["queued"] == count)

    with daemon.wire() as wire:
        wire.request("request.perform", url=origin.url + "/slow")
        origin.received(1, "/slow")
        programs = []
        for number, (name, priority) in enumerate([("/low", "low"), ("/high", "high")], start=1):
            command = [CARPOOL, "get", "--socket", str(daemon.socket), "--priority", priority, origin.url + name]
            programs.append(begin(command, env=daemon.environment))
            eventually(functools.partial(are_queued, number))
        gate.set()
        assert [program.wait(PATIENCE_SECONDS) for program in programs] == [0, 0]
        assert order(origin) == ["/high", "/low"]


@pytest.fixture
def few_files(start_by: Callable[[str], Daemon]) -> Daemon:
    """Start a daemon that may have 400 files open: 84 each for clients and for origins."""
    return start_by(f'ulimit -n 400\nexec {CARPOOLD} "$@"')


def test_b7_idle_connections_do_not_keep_clients_out(few_files: Daemon) -> None:
    answering = threading.Event()
    listener = socket.socket()
    listener.bind(("", 0))
    listener.listen(512)
    connections: list[socket.socket] = []

    def serve() -> None:
        while not answering.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connections.append(connection)
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        port = listener.getsockname()[1]
        # The 64 connections to origins and 60 clients need more than is left; the older libcurl has pipes of its own.
        resource.prlimit(few_files.pid, resource.RLIMIT_NOFILE, (130, 400))
        with few_files.wire() as wire:
            for number in range(64):
                wire.call("request.perform", url=f"http://127.2.0.{number + 1}:{port}/")
            with contextlib.ExitStack() as stack:
                for other in [stack.enter_context(few_files.wire()) for _ in range(59)]:
                    call = other.request("daemon.ping")
                    message = other.receive()
                    assert message["id"] == call, message
    finally:
        answering.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for connection in connections:
            connection.close()


@pytest.mark.parametrize("way", ["connection", "cancel_requests", "invalidate"])
def test_what_waits_is_not_sent_while_all_are_cancelled(
    daemon: Daemon, origin: ScriptedOrigin, wire: Wire, way: str
) -> None:
    """Those that wait end before those whose connections they would get."""
    origin.hold("/held")
    wire.call("session.create", name="many")
    with daemon.wire() as many:
        for _ in range(250):
            many.request("request.perform", url=origin.url + "/held", method="POST", session="many")
        eventually(lambda: wire.call("daemon.stats")["requests"]["active"] == 250)
        origin.received(6)
        if way == "connection":
            many.close()
        elif way == "cancel_requests":
            assert wire.call("session.cancel_requests", session="many") == {"cancelled": 250}
        else:
            wire.call("session.invalidate", session="many", mode="cancel")
        eventually(lambda: wire.call("daemon.stats")["requests"]["active"] == 0)
    assert wire.call("request.perform", url=origin.url)["response"]["status"] == 200
    assert len(origin.requests) == 7
