"""Event streams and clients of Python that another thread or task closes while they are used; and other event loops."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import carpool
import pytest
import trio
from harness.daemon import Daemon
from harness.waiting import eventually, join
from loops import RunLoop
from origins.scripted import ScriptedOrigin


class Waiting:
    """A thread that runs a function, and what it returns or raises."""

    def __init__(self, run: Callable[[], object]) -> None:
        self.result: object = None
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, args=(run,), daemon=True)
        self.thread.start()

    def _run(self, run: Callable[[], object]) -> None:
        try:
            self.result = run()
        except BaseException as error:
            self.error = error

    def end(self) -> object:
        """Return the result, or raise the exception."""
        join([self.thread])
        if self.error is not None:
            raise self.error
        return self.result


@pytest.mark.parametrize("in_block", [True, False])
def test_an_event_stream_that_another_thread_closes_ends(daemon: Daemon, in_block: bool) -> None:
    with daemon.client() as client:
        events = client.events("request.*")
        if in_block:
            events.__enter__()
        waiting = Waiting(lambda: list(events))
        eventually(lambda: daemon.call("daemon.stats")["events"]["subscriptions"] == 1)
        events.close()
        assert waiting.end() == []
        assert list(events) == []
        eventually(lambda: daemon.call("daemon.stats")["events"]["subscriptions"] == 0)


def test_events_before_the_close_are_returned(daemon: Daemon, origin: ScriptedOrigin) -> None:
    with daemon.client() as client:
        events = client.events("request.*")
        seen: list[str] = []

        def read() -> None:
            seen.extend(event.type for event in events)

        waiting = Waiting(read)
        eventually(lambda: daemon.call("daemon.stats")["events"]["subscriptions"] == 1)
        client.get(origin.url)
        eventually(lambda: seen)
        events.close()
        waiting.end()


def test_an_event_stream_is_closed_while_it_waits_for_a_daemon(start_stopped: Path) -> None:
    """Without a daemon the first event is an error, and a closed stream has none."""
    events = carpool.Client(start_stopped).events()
    with pytest.raises(carpool.DaemonUnreachableError):
        next(events)
    events.close()
    assert list(events) == []


@pytest.fixture
def start_stopped(tmp_path: Path) -> Path:
    return tmp_path / "nobody.sock"


def test_an_event_stream_that_another_task_closes_ends(daemon: Daemon, run_loop: RunLoop) -> None:
    async def main() -> list[carpool.Event]:
        async with carpool.AsyncClient(daemon.socket) as client:
            events = client.events("request.*")

            async def read() -> list[carpool.Event]:
                return [event async for event in events]

            reading = asyncio.create_task(read())
            while not daemon.call("daemon.stats")["events"]["subscriptions"]:
                await asyncio.sleep(0.01)
            await events.aclose()
            return await reading

    assert run_loop(main()) == []


def test_a_call_of_a_client_that_another_thread_closes_says_so(daemon: Daemon, origin: ScriptedOrigin) -> None:
    origin.hold("/held")
    client = daemon.client()
    waiting = Waiting(lambda: client.get(f"{origin.url}/held"))
    origin.received(1)
    client.close()
    with pytest.raises(carpool.ConnectionLostError, match="the client was closed by another thread"):
        waiting.end()


def test_trio_is_named_with_what_to_use(daemon: Daemon, origin: ScriptedOrigin) -> None:
    async def ask() -> None:
        async with carpool.AsyncClient(daemon.socket) as client:
            await client.get(origin.url)

    async def watch() -> None:
        async for _ in carpool.AsyncClient(daemon.socket).events():
            raise AssertionError

    for main in (ask, watch):
        with pytest.raises(
            RuntimeError, match=r"this is trio: use a Client .*trio\.to_thread\.run_sync.*AsyncCarpoolTransport"
        ):
            trio.run(main)

    def ask_in_a_thread() -> int:
        with daemon.client() as client:
            return client.get(origin.url).status_code

    assert trio.run(trio.to_thread.run_sync, ask_in_a_thread) == 200
    coroutine = carpool.AsyncClient(daemon.socket).get(origin.url)
    with pytest.raises(RuntimeError, match=r"none is running: use it in a coroutine that asyncio\.run\(\) runs"):
        coroutine.send(None)
