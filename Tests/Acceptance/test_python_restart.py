"""The Python clients while the daemon restarts or is stopped (SIGSTOP): calls end, and nothing is sent twice."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import carpool
import pytest
from carpool import _waiting
from carpool._rpc import RPCConnection
from conftest import StartDaemon
from harness.balance import Balance, sent
from harness.daemon import CARPOOL, ROOT, Daemon, environment
from harness.waiting import PATIENCE_SECONDS, SLOWNESS, eventually, join
from loops import LOOPS, RunLoop, running_on
from origins.scripted import Exchange, ScriptedOrigin

MARGIN_SECONDS = 10 * SLOWNESS


PingHook = Callable[[Callable[[], object]], None]


@pytest.fixture
def pinged(monkeypatch: pytest.MonkeyPatch) -> PingHook:
    """Call a function whenever a client asks whether the daemon runs."""
    send = RPCConnection.send_request

    def hook(function: Callable[[], object]) -> None:
        def sending(connection: RPCConnection, method: str, params: dict[str, Any]) -> tuple[int, bytes]:
            if method == "daemon.ping":
                function()
            return send(connection, method, params)

        monkeypatch.setattr(RPCConnection, "send_request", sending)

    return hook


def asynchronously(daemon: Daemon, name: str, *arguments: Any, **named: Any) -> Any:
    async def run() -> Any:
        client = carpool.AsyncClient(daemon.socket)
        try:
            return await getattr(client, name)(*arguments, **named)
        finally:
            await client.aclose()

    return asyncio.run(run())


def blocking(daemon: Daemon, name: str, *arguments: Any, **named: Any) -> Any:
    with carpool.Client(daemon.socket) as client:
        return getattr(client, name)(*arguments, **named)


both = pytest.mark.parametrize("call", [blocking, asynchronously])


@both
def test_a_time_limit_ends_a_call_of_a_stopped_daemon(
    daemon: Daemon, stopped: Callable[[], None], origin: ScriptedOrigin, call: Callable[..., Any]
) -> None:
    stopped()
    began = time.monotonic()
    with pytest.raises(carpool.RequestTimeoutError, match="neither request\\.perform nor"):
        call(daemon, "get", origin.url, timeout=0.5)
    assert 0.5 + _waiting.PING_SECONDS <= time.monotonic() - began < 0.5 + _waiting.PING_SECONDS + MARGIN_SECONDS


@both
def test_other_calls_of_a_stopped_daemon_end_too(
    daemon: Daemon, stopped: Callable[[], None], monkeypatch: pytest.MonkeyPatch, call: Callable[..., Any]
) -> None:
    assert _waiting.SILENCE_SECONDS <= 60
    monkeypatch.setattr(_waiting, "SILENCE_SECONDS", 0.5)
    stopped()
    for method, params in [("session.list", {}), ("request.wait", {"request": "r_1"})]:
        with pytest.raises(carpool.DaemonUnreachableError, match=f"neither {method} nor daemon.ping"):
            call(daemon, "call", method, **params)


def test_a_stopped_daemon_ends_a_call_that_is_under_way(
    daemon: Daemon, stopped: Callable[[], None], client: carpool.Client, origin: ScriptedOrigin
) -> None:
    origin.hold("/held")

    def stop() -> None:
        origin.received(1)
        stopped()

    stopper = threading.Thread(target=stop, daemon=True)
    stopper.start()
    with pytest.raises(carpool.RequestTimeoutError):
        client.get(f"{origin.url}/held", timeout=2)
    join([stopper])
    daemon.signal(signal.SIGCONT)
    eventually(daemon.is_idle)
    assert client.get(origin.url).ok
    assert [request.target for request in origin.requests] == ["/held", "/"]


def test_a_daemon_that_is_stopped_under_load_leaves_nothing(
    run_loop: RunLoop,
    daemon: Daemon,
    stopped: Callable[[], None],
    client: carpool.Client,
    origin: ScriptedOrigin,
    balance: Balance,
) -> None:
    origin.hold("/held")
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            client.get(f"{origin.url}/held?{number}", timeout=2)
        except Exception as error:
            errors.append(error)

    async def run() -> None:
        async with carpool.AsyncClient(daemon.socket) as other:
            calls = [other.get(f"{origin.url}/held?a{number}", timeout=2) for number in range(16)]
            tasks = [asyncio.ensure_future(call) for call in calls]
            await asyncio.to_thread(eventually, lambda: daemon.stats()["requests"]["active"] == 32)
            await asyncio.to_thread(stopped)
            errors.extend([error for error in await asyncio.gather(*tasks, return_exceptions=True) if error])  # type: ignore[misc]

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(16)]
    for thread in threads:
        thread.start()
    run_loop(run())
    join(threads)
    assert [type(error) for error in errors] == [carpool.RequestTimeoutError] * 32
    daemon.signal(signal.SIGCONT)
    eventually(daemon.is_idle)
    assert client.get(f"{origin.url}/after").ok
    assert "/after" in sent(origin)
    origin.release()
    client.close()
    balance.check()


@pytest.mark.parametrize("loop", [None, *LOOPS])
def test_a_time_limit_ends_the_reading_of_a_stream_of_a_stopped_daemon(
    daemon: Daemon, stopped: Callable[[], None], origin: ScriptedOrigin, *, loop: str | None
) -> None:
    def begin(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        exchange.wait_for_peer_to_close()

    url = origin.on("/begun", begin)

    async def read() -> None:
        async with carpool.AsyncClient(daemon.socket) as client, client.stream("GET", url, timeout=2) as stream:
            async for _ in stream.iter_bytes():
                stopped()

    with pytest.raises(carpool.DaemonUnreachableError, match=r"has not answered daemon\.ping"):
        if loop is not None:
            running_on(loop)(asyncio.wait_for(read(), 20 * SLOWNESS))
        else:
            with carpool.Client(daemon.socket) as client, client.stream("GET", url, timeout=2) as stream:
                for _ in stream.iter_bytes():
                    stopped()


@pytest.mark.parametrize("loop", [None, *LOOPS])
def test_the_reader_of_a_silent_stream_asks_whether_the_daemon_runs(
    daemon: Daemon, origin: ScriptedOrigin, pinged: PingHook, monkeypatch: pytest.MonkeyPatch, *, loop: str | None
) -> None:
    """The server sends the rest when the client has asked for the second time."""
    monkeypatch.setattr(_waiting, "SILENCE_SECONDS", 0.2)
    pings: list[None] = []
    pinged(lambda: pings.append(None))

    def begin(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfirst")
        eventually(lambda: len(pings) >= 2)
        exchange.send(b"rest")

    url = origin.on("/begun", begin)

    async def read() -> bytes:
        async with carpool.AsyncClient(daemon.socket) as client, client.stream("GET", url) as stream:
            return await stream.read()

    if loop is not None:
        assert running_on(loop)(asyncio.wait_for(read(), PATIENCE_SECONDS)) == b"firstrest"
    else:
        with carpool.Client(daemon.socket) as client, client.stream("GET", url) as stream:
            assert stream.read() == b"firstrest"


def test_a_message_that_a_stopped_daemon_does_not_read_ends_too(
    daemon: Daemon, stopped: Callable[[], None], client: carpool.Client, origin: ScriptedOrigin
) -> None:
    client.call("daemon.ping")
    stopped()
    with pytest.raises(carpool.DaemonUnreachableError, match="does not read"):
        client.post(origin.url, data="x" * 500_000, timeout=0.5)
    assert origin.requests == []


@both
def test_the_time_limit_does_not_end_what_makes_progress(
    daemon: Daemon, origin: ScriptedOrigin, pinged: PingHook, call: Callable[..., Any]
) -> None:
    """`timeout` is the time without progress: the client asks twice whether the daemon runs, each time after it."""
    pings: list[None] = []
    pinged(lambda: pings.append(None))
    pause = threading.Event()

    def slowly(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while len(pings) < 2:
            exchange.send(b"x")
            pause.wait(0.1)
        exchange.close()

    response = call(daemon, "get", origin.on("/slow", slowly), timeout=1)
    assert set(response.content) == set(b"x")
    assert len(pings) == 2


@both
def test_a_daemon_that_continues_in_time_answers(
    daemon: Daemon, stopped: Callable[[], None], origin: ScriptedOrigin, pinged: PingHook, call: Callable[..., Any]
) -> None:
    """It continues when the client asks whether it runs."""
    pings: list[None] = []
    pinged(lambda: (pings.append(None), daemon.signal(signal.SIGCONT))[0])  # type: ignore[func-returns-value]
    stopped()
    assert call(daemon, "get", origin.url, timeout=0.5).ok
    assert len(pings) == 1
    assert len(origin.requests) == 1


@both
def test_calls_wait_for_the_next_daemon_of_a_named_socket(
    daemon: Daemon,
    start: StartDaemon,
    origin: ScriptedOrigin,
    monkeypatch: pytest.MonkeyPatch,
    call: Callable[..., Any],
) -> None:
    """The call is made when there is no daemon, and the successor starts after three attempts to connect."""
    pauses: list[float] = []
    longer = _waiting.longer
    monkeypatch.setattr(_waiting, "longer", lambda pause: (pauses.append(pause), longer(pause))[1])  # type: ignore[func-returns-value]

    def later() -> None:
        eventually(lambda: len(pauses) >= 3)
        start()

    starter = threading.Thread(target=later, daemon=True)

    def work(client: Any, run: Callable[[Any], Any]) -> None:
        run(client.call("daemon.ping"))
        daemon.terminate()
        starter.start()
        assert run(client.get(origin.url, timeout=20)).ok

    if call is blocking:
        with carpool.Client(daemon.socket) as client:
            work(client, lambda value: value)
    else:
        with asyncio.Runner() if sys.version_info >= (3, 11) else contextlib.nullcontext() as runner:
            if runner is None:
                pytest.skip("asyncio.Runner is new in Python 3.11")
            other = carpool.AsyncClient(daemon.socket)
            work(other, runner.run)
            runner.run(other.aclose())
    join([starter])
    assert len(origin.requests) == 1


def test_without_a_successor_the_call_fails_in_time(daemon: Daemon, client: carpool.Client) -> None:
    client.call("daemon.ping")
    daemon.terminate()
    began = time.monotonic()
    with pytest.raises(carpool.DaemonUnreachableError):
        client.get("http://127.0.0.1:1/", timeout=1)
    assert 0.5 < time.monotonic() - began < 1 + MARGIN_SECONDS
    with pytest.raises(carpool.DaemonUnreachableError), carpool.Client(daemon.socket) as other:
        other.call("daemon.ping")


LOAD = """
import asyncio, os, sys, threading
import carpool

url, count = sys.argv[1], int(sys.argv[2])
def files():
    return len(os.listdir("/proc/self/fd"))

before = files()
client = carpool.Client()
client.call("daemon.ping")

def note(name, path):
    os.write(1, f"{name} {path}\\n".encode())

def work(number):
    for turn in range(count):
        path = f"/{number}.{turn}"
        try:
            assert client.get(url + path, timeout=20).ok
            note("answered", path)
        except carpool.CarpoolError as error:
            note(type(error).__name__, path)

async def other():
    async with carpool.AsyncClient() as client:
        async def one(number, turn):
            path = f"/a{number}.{turn}"
            try:
                assert (await client.get(url + path, timeout=20)).ok
                note("answered", path)
            except carpool.CarpoolError as error:
                note(type(error).__name__, path)
        async def many(number):
            for turn in range(count):
                await one(number, turn)
        await asyncio.gather(*(many(number) for number in range(8)))

threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads:
    thread.start()
asyncio.run(other())
for thread in threads:
    thread.join()
client.close()
assert files() == before and threading.active_count() == 1
"""


def has_nothing(stats: dict[str, Any]) -> bool:
    """Whether a daemon has no work, and no connection but the one that asks."""
    work = stats["requests"]["active"] + stats["requests"]["tasks"] + stats["transfers"]["active"]
    return bool(work == 0 and stats["connections"]["open"] == 1)


@pytest.mark.parametrize("how", ["restarted", "killed"])
def test_a_daemon_that_is_replaced_under_load_loses_nothing_silently_and_sends_nothing_twice(
    directory: Path, origin: ScriptedOrigin, how: str
) -> None:
    variables = {**environment(directory), "PYTHONPATH": str(ROOT / "clients/python/src")}

    def command(*arguments: str) -> str:
        return subprocess.run(
            [CARPOOL, *arguments], env=variables, check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS
        ).stdout

    def pid() -> int:
        return int(command("call", "daemon.info").partition('"pid":')[2].partition(",")[0].partition("}")[0])

    count = 150
    command("daemon", "start")
    try:
        with subprocess.Popen(
            [sys.executable, "-c", LOAD, origin.url, str(count)], env=variables, stdout=subprocess.PIPE, text=True
        ) as program:
            try:
                for part in range(1, 4):
                    origin.received(part * 100)
                    if how == "restarted":
                        command("daemon", "restart")
                    else:
                        os.kill(pid(), signal.SIGKILL)
                output, _ = program.communicate(timeout=3 * PATIENCE_SECONDS)
            finally:
                program.kill()
        assert program.returncode == 0, "it keeps threads or files"
        eventually(lambda: has_nothing(json.loads(command("call", "daemon.stats"))))
    finally:
        command("daemon", "stop")
    outcomes = [line.split() for line in output.splitlines()]
    assert len(outcomes) == 16 * count, "every call ended"
    names = Counter(name for name, _ in outcomes)
    assert set(names) <= {"answered", "ConnectionLostError"}, names
    assert names["answered"] > 15 * count, "only those under way are lost"
    assert {path for name, path in outcomes if name == "answered"} <= sent(origin)
