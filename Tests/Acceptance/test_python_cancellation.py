"""Calls of the Python clients that are cancelled, interrupted or killed: their requests end in the daemon too."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import carpool
import pytest
from carpool._link_async import Link
from harness.balance import Balance, sent
from harness.daemon import ROOT, Daemon
from harness.waiting import PATIENCE_SECONDS, eventually, join
from loops import RunLoop
from origins.scripted import Exchange, ScriptedOrigin


async def ends(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks, and check that they end so."""
    for task in tasks:
        task.cancel()
    results = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), PATIENCE_SECONDS)
    assert {type(result) for result in results} == {asyncio.CancelledError}


def test_a_thousand_cancelled_awaits_leave_nothing(
    run_loop: RunLoop, daemon: Daemon, origin: ScriptedOrigin, balance: Balance
) -> None:
    origin.hold("/held")

    async def run() -> None:
        async with carpool.AsyncClient(daemon.socket) as client:
            assert (await client.get(f"{origin.url}/first")).ok
            connections = len((await client.call("client.list"))["clients"])
            for turn in range(5):
                urls = [f"{origin.url}/held?{turn}.{number}" for number in range(200)]
                tasks = [asyncio.create_task(client.get(url)) for url in urls]
                await asyncio.to_thread(eventually, lambda: daemon.stats()["requests"]["active"] == 200)
                await ends(*tasks)
                await asyncio.to_thread(eventually, daemon.is_idle)
            assert len((await client.call("client.list"))["clients"]) == connections
            assert (await client.get(f"{origin.url}/last")).ok
            assert client._channel.link is not None
            assert not client._channel.link.orphans._labels

    run_loop(run())
    assert {"/first", "/last"} <= set(sent(origin))
    origin.release()
    balance.check()


Start = Callable[[carpool.AsyncClient, ScriptedOrigin], Coroutine[Any, Any, Any]]


async def stream(client: carpool.AsyncClient, origin: ScriptedOrigin) -> None:
    async with client.stream("GET", f"{origin.url}/held"):
        pass


async def endless(client: carpool.AsyncClient, origin: ScriptedOrigin) -> None:
    never = asyncio.Event()

    async def blocks() -> Any:
        yield b"first"
        await never.wait()

    await client.post(f"{origin.url}/held", data=blocks())


@pytest.mark.parametrize(
    "begin",
    [
        lambda client, origin: client.get(f"{origin.url}/held", tags={"mine": "1"}),
        lambda client, origin: client.post(f"{origin.url}/held", data=b"x" * 600_000),
        lambda client, origin: client.post(f"{origin.url}/held", data=iter([b"a", b"b"])),
        lambda client, origin: client.download(f"{origin.url}/held", "/tmp"),
        lambda client, origin: client.get(f"{origin.url}/held", hold_for_headers=True),
        stream,
        endless,
    ],
)
def test_a_cancelled_await_cancels_its_request(
    run_loop: RunLoop, daemon: Daemon, origin: ScriptedOrigin, begin: Start
) -> None:
    begun, closed = threading.Event(), threading.Event()

    def held(exchange: Exchange) -> bool:
        begun.set()
        with contextlib.suppress(ConnectionError):
            exchange.take()  # the body, and what follows until the daemon closes the connection
        closed.set()
        return True

    origin.on_head("/held", held)

    async def run() -> None:
        async with carpool.AsyncClient(daemon.socket) as client:
            task = asyncio.create_task(begin(client, origin))
            await asyncio.to_thread(eventually, begun.is_set)
            await ends(task)
            await asyncio.to_thread(eventually, daemon.is_idle)
            assert (await client.call("daemon.ping"))["pong"], "the connection is kept"

    run_loop(run())
    assert closed.wait(PATIENCE_SECONDS)


def test_a_caller_that_is_cancelled_while_the_answer_comes(
    daemon: Daemon, origin: ScriptedOrigin, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer has the request's name, and the caller does not get it any more."""
    origin.hold("/held")
    begin = Link.begin

    async def begin_to_be_cancelled(link: Link, method: str, *arguments: Any) -> Any:
        pending = await begin(link, method, *arguments)
        if method == "request.submit":
            caller = asyncio.current_task()
            assert caller is not None
            # It runs before the caller, which waits from now on.
            pending.future.add_done_callback(lambda _: caller.cancel())
        return pending

    monkeypatch.setattr(Link, "begin", begin_to_be_cancelled)

    async def run() -> None:
        async with carpool.AsyncClient(daemon.socket) as client:
            with pytest.raises(asyncio.CancelledError):
                await asyncio.create_task(client.download(f"{origin.url}/held", folder))
            await asyncio.to_thread(eventually, daemon.is_idle)

    asyncio.run(run())


def test_a_request_with_eight_tags_has_no_room_for_the_one_of_a_cancelled_call(
    run_loop: RunLoop, daemon: Daemon, origin: ScriptedOrigin
) -> None:
    gate = origin.hold("/held")

    async def run() -> None:
        async with carpool.AsyncClient(daemon.socket) as client:
            tags = [{f"t{number}": "x" for number in range(count)} for count in (7, 8)]
            tasks = [asyncio.create_task(client.get(f"{origin.url}/held", tags=each)) for each in tags]
            await asyncio.to_thread(origin.received, 2)
            await ends(*tasks)
            await asyncio.to_thread(eventually, lambda: daemon.stats()["requests"]["active"] == 1)
            (entry,) = (await client.call("request.list", state="resumed"))["requests"]
            assert entry["tags"] == tags[1], "the one with seven is cancelled"
            gate.set()
            assert (await client.wait(entry["request"], timeout=PATIENCE_SECONDS)).text == "released"

    run_loop(run())


@pytest.mark.parametrize("options", [{"on_disconnect": "detach"}, {"key": "k"}])
def test_a_detached_request_continues(
    run_loop: RunLoop, daemon: Daemon, origin: ScriptedOrigin, options: dict[str, Any]
) -> None:
    gate = origin.hold("/held")

    async def run() -> None:
        async with carpool.AsyncClient(daemon.socket) as client:
            task = asyncio.create_task(client.get(f"{origin.url}/held", **options))
            await asyncio.to_thread(origin.received, 1)
            await ends(task)

    run_loop(run())
    (entry,) = daemon.call("request.list", scope="all")["requests"]
    assert entry["state"] == "resumed"
    gate.set()
    assert daemon.call("request.wait", request=entry["request"])["outcome"]["ok"]


def test_a_time_limit_of_the_event_loop_ends_the_request(
    run_loop: RunLoop, daemon: Daemon, origin: ScriptedOrigin
) -> None:
    origin.hold("/held")

    async def run() -> None:
        async with carpool.AsyncClient(daemon.socket) as client:
            task = asyncio.create_task(client.get(f"{origin.url}/held"))
            await asyncio.to_thread(origin.received, 1)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(task, 0)
            await asyncio.to_thread(eventually, daemon.is_idle)

    run_loop(run())


def test_a_key_that_interrupts_the_blocking_client_ends_the_request(
    daemon: Daemon, client: carpool.Client, origin: ScriptedOrigin
) -> None:
    origin.hold("/held")
    origin.hold("/other")
    others: list[carpool.Response] = []
    thread = threading.Thread(target=lambda: others.append(client.get(f"{origin.url}/other")), daemon=True)
    thread.start()
    origin.received(1, "/other")

    def press() -> None:
        origin.received(1, "/held")
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    presser = threading.Thread(target=press, daemon=True)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        client.get(f"{origin.url}/held")
    join([presser])
    eventually(lambda: daemon.stats()["requests"]["active"] == 1)
    assert client.call("daemon.ping")["pong"]
    origin._gates[1].set()
    join([thread])
    assert others[0].ok, "another thread's request is not affected"


PROGRAM = """
import asyncio, sys, threading
import carpool

url, socket = sys.argv[1:]
client = carpool.Client(socket)
for number in range(4):
    threading.Thread(target=client.get, args=(f"{url}.{number}",), daemon=True).start()

async def run():
    async with carpool.AsyncClient(socket) as client:
        await asyncio.gather(*(client.get(f"{url}.a{number}") for number in range(4)))

asyncio.run(run())
"""


def test_five_killed_programs_leave_nothing(daemon: Daemon, origin: ScriptedOrigin, balance: Balance) -> None:
    origin.hold("/held")
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python/src")}
    programs = []
    try:
        for number in range(5):
            command = [sys.executable, "-c", PROGRAM, f"{origin.url}/held?{number}", str(daemon.socket)]
            programs.append(subprocess.Popen(command, env=variables, stderr=subprocess.DEVNULL))
        eventually(lambda: daemon.stats()["requests"]["active"] == 40)
    finally:
        for program in programs:
            program.kill()
            program.wait()
    assert sent(origin)
    origin.release()
    balance.check()
