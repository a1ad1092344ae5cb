"""The Python clients after os.fork(): the child has connections of its own, and the parent's are not disturbed."""

from __future__ import annotations

import asyncio
import gc
import os
import select
import signal
import threading
import traceback
from collections.abc import Callable
from pathlib import Path

import carpool
import pytest
from harness.balance import Balance, sent
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, eventually, join
from loops import RunLoop
from origins.scripted import ScriptedOrigin

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def fork(work: Callable[[], None]) -> int:
    """Run a function in a child, which ends with status 0 if it raised nothing; return its process id."""
    if (pid := os.fork()) != 0:
        return pid
    status = 1
    try:
        work()
        gc.collect()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def check(*children: int) -> None:
    """Wait until the children have ended, without an error."""
    for child in children:
        descriptor = os.pidfd_open(child)
        try:
            if not select.select([descriptor], [], [], PATIENCE_SECONDS)[0]:
                os.kill(child, signal.SIGKILL)
        finally:
            os.close(descriptor)
        assert os.waitpid(child, 0) == (child, 0), "the child has failed: see its output"


def test_a_child_that_lives_on_does_not_keep_a_stream_from_ending(
    daemon: Daemon, client: carpool.Client, origin: ScriptedOrigin
) -> None:
    """It is made while the head is awaited: then this process has the daemon's end of the pipe too."""
    gate = origin.hold("/held", b"the body")
    bodies: list[bytes] = []

    def read() -> None:
        with client.stream("GET", f"{origin.url}/held") as stream:
            bodies.append(stream.read())

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    origin.received(1, "/held")
    kept, ending = os.pipe()
    child = fork(lambda: (os.close(ending), os.read(kept, 1))[0])  # type: ignore[func-returns-value]
    gate.set()
    try:
        join([thread])
        assert bodies == [b"the body"]
    finally:
        os.close(ending)
        os.close(kept)
        check(child)


def test_eight_children_have_connections_of_their_own(
    client: carpool.Client, origin: ScriptedOrigin, balance: Balance
) -> None:
    mine = client.call("client.hello")["client"]

    def work(number: int) -> None:
        assert client.call("client.hello")["client"] != mine
        for turn in range(10):
            assert client.get(f"{origin.url}/{number}/{turn}").url.endswith(f"/{number}/{turn}")

    children = [fork(lambda number=number: work(number)) for number in range(8)]  # type: ignore[misc]
    for turn in range(20):
        assert client.get(f"{origin.url}/parent/{turn}").url.endswith(f"/parent/{turn}")
    check(*children)
    assert client.call("client.hello")["client"] == mine
    assert len(sent(origin)) == 100
    client.close()
    balance.check()


def test_what_the_parent_reads_belongs_to_the_parent(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/body", lambda exchange: exchange.reply(body=b"x" * 300_000))
    client.subscribe(["request.did_finish"])
    with client.stream("GET", url, credit_bytes=10_000) as stream, client.events("request.*", timeout=20) as events:
        pieces, notifications = stream.iter_bytes(), client.notifications(timeout=20)
        size = len(next(pieces))
        client.get(origin.url)
        next(notifications)

        def work() -> None:
            for use in (lambda: next(pieces), lambda: next(stream.iter_text()), lambda: next(events)):
                with pytest.raises(carpool.ForkedError):
                    use()
            with pytest.raises(carpool.ForkedError):
                next(notifications)
            stream.close()
            events.close()
            client.close()
            assert client.call("daemon.ping")["pong"]

        check(fork(work))
        assert next(events).type.startswith("request.")
        assert size + sum(map(len, pieces)) == 300_000


def test_a_child_that_leaves_the_download_of_its_parent_does_not_cancel_it(
    client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    gate = origin.hold("/held", b"whole")
    children: list[int] = []

    def progress(_: carpool.Progress) -> None:
        if not children:
            children.append(os.fork())
            if children == [0]:
                raise SystemExit
            check(*children)
            gate.set()

    try:
        response = client.download(f"{origin.url}/held", tmp_path / "file", progress=progress)
    except BaseException:
        if children == [0]:
            os._exit(0)
        raise
    assert response.ok and (tmp_path / "file").read_bytes() == b"whole"


def test_the_daemon_learns_that_the_parent_has_ended(daemon: Daemon, origin: ScriptedOrigin) -> None:
    """A child holds the descriptors of the parent, unless it closes them."""
    origin.hold("/held")
    reader, writer = os.pipe()

    def parent() -> None:
        client = carpool.Client(daemon.socket)
        client.submit("GET", f"{origin.url}/held", on_disconnect="cancel")
        if os.fork() == 0:
            os.close(writer)
            os.read(reader, 1)
            os._exit(0)
        os._exit(0)

    check(fork(parent))
    try:
        eventually(daemon.is_idle)
    finally:
        os.close(writer)
        os.close(reader)


def test_an_asynchronous_client_after_a_fork(run_loop: RunLoop, daemon: Daemon, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")

    async def run() -> None:
        client = carpool.AsyncClient(daemon.socket)
        mine = (await client.call("client.hello"))["client"]
        held = asyncio.create_task(client.get(f"{origin.url}/held"))
        events = client.events("request.*")
        await events.__aenter__()
        await asyncio.to_thread(origin.received, 1)

        async def inside() -> None:
            assert (await client.call("client.hello"))["client"] != mine
            assert (await client.get(origin.url)).ok
            with pytest.raises(carpool.ForkedError):
                await events.__anext__()
            await client.aclose()

        def work() -> None:
            asyncio.events._set_running_loop(None)
            run_loop(inside())

        child = fork(work)
        assert (await client.call("client.hello"))["client"] == mine
        await asyncio.to_thread(check, child)
        gate.set()
        assert (await held).ok
        assert (await events.__anext__()).type
        await events.aclose()
        await client.aclose()

    run_loop(run())
