"""One Python client that many threads share."""

from __future__ import annotations

import _thread
import asyncio
import gc
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.balance import Balance, sent
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, eventually, join
from loops import LOOPS, running_on
from origins.scripted import ScriptedOrigin

CALLBACK: carpool.InterceptorOptions = {"callback": {"name": "c"}}


def in_threads(count: int, work: Callable[[int], object]) -> None:
    """Run a function in many threads at the same time; raises their first error."""
    failed: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    join(threads)
    if failed:
        raise failed[0]


def connections(daemon: Daemon) -> int:
    """The connections to the daemon, without the one that asks."""
    return len(daemon.call("client.list", limit=1000)["clients"]) - 1


def test_thirty_two_threads_share_a_client(
    daemon: Daemon, client: carpool.Client, origin: ScriptedOrigin, balance: Balance
) -> None:
    together = threading.Barrier(32)

    def work(number: int) -> None:
        together.wait(PATIENCE_SECONDS)
        for turn in range(20):
            body = f"{number}.{turn}"
            response = client.post(f"{origin.url}/echo/{body}", data=body)
            assert response.url.endswith(f"/echo/{body}"), "an answer of another thread"

    in_threads(32, work)
    assert len(sent(origin)) == 640
    identities = {entry["identity"] for entry in daemon.call("client.list")["clients"]}
    assert len(identities) == 1, "one client for the limits of the daemon"
    client.close()
    balance.check()


def test_a_client_that_was_made_before_gevent_replaced_threads_has_a_connection_for_each_greenlet(
    daemon: Daemon, client: carpool.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """gunicorn reads the program, forks, and replaces threads in the worker (`--preload --worker-class gevent`)."""
    running = ["first"]

    class OfGreenlets:
        """Has its own attributes in each greenlet; which one runs is said by `running`."""

        def __init__(self) -> None:
            vars(self)["all"] = {}

        def __getattr__(self, name: str) -> object:
            try:
                return vars(self)["all"][running[0], name]
            except KeyError:
                raise AttributeError(name) from None

        def __setattr__(self, name: str, value: object) -> None:
            vars(self)["all"][running[0], name] = value

    monkeypatch.setattr(_thread, "_local", OfGreenlets)
    for running[0] in ("first", "second", "first"):
        client.call("daemon.ping")
    assert connections(daemon) == 2
    for running[0] in ("first", "second"):
        client.close()


def test_a_thousand_short_threads_leave_nothing(daemon: Daemon, client: carpool.Client) -> None:
    client.call("daemon.ping")
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(50):
        in_threads(20, lambda _: client.call("daemon.ping"))
    assert len(list(Path("/proc/self/fd").iterdir())) - descriptors <= 16
    eventually(lambda: connections(daemon) <= 17)
    assert daemon.stats()["connections"]["accepted"] < 300, "they are used again"
    client.close()
    eventually(lambda: connections(daemon) == 0)


def test_sixteen_connections_of_threads_that_have_ended_are_kept(daemon: Daemon, client: carpool.Client) -> None:
    together = threading.Barrier(24)

    def work(_: int) -> None:
        client.call("daemon.ping")
        together.wait(PATIENCE_SECONDS)

    in_threads(24, work)
    eventually(lambda: connections(daemon) == 16)
    accepted = daemon.stats()["connections"]["accepted"]
    in_threads(16, lambda _: client.call("daemon.ping"))
    assert daemon.stats()["connections"]["accepted"] == accepted + 1, "that of this process alone"


def test_closing_a_client_ends_the_calls_of_other_threads(
    daemon: Daemon, client: carpool.Client, origin: ScriptedOrigin
) -> None:
    origin.hold("/held")
    lost: list[carpool.CarpoolError] = []

    def work() -> None:
        try:
            client.get(f"{origin.url}/held")
        except carpool.CarpoolError as error:
            lost.append(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    origin.received(4)
    client.close()
    join(threads)
    assert [type(error) for error in lost] == [carpool.ConnectionLostError] * 4
    eventually(daemon.is_idle)
    assert client.call("daemon.ping")["pong"]


def test_the_callback_of_a_request_runs_in_the_thread_that_makes_it(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    seen: list[tuple[str, int]] = []
    client.register("c", adapt=lambda call: seen.append((call.request.url.rpartition("/")[2], threading.get_ident())))
    expected: list[tuple[str, int]] = []

    def work(number: int) -> None:
        expected.append((str(number), threading.get_ident()))
        assert client.get(f"{origin.url}/{number}", interceptor=[CALLBACK]).ok

    in_threads(8, work)
    assert sorted(seen) == sorted(expected)


@pytest.mark.parametrize("registers", ["before", "after its first call", "while it serves"])
def test_the_callback_of_a_session_runs_in_the_thread_that_serves(
    client: carpool.Client, origin: ScriptedOrigin, registers: str
) -> None:
    seen: list[int] = []
    serving, connected, registered = threading.Event(), threading.Event(), threading.Event()

    def adapt(_: carpool.AdaptCall) -> None:
        seen.append(threading.get_ident())

    def serve() -> None:
        if registers == "after its first call":
            # The connection of the thread is older than the one that declares the name.
            client.call("daemon.ping")
            connected.set()
            assert registered.wait(PATIENCE_SECONDS)
        serving.set()
        with pytest.raises(carpool.ConnectionLostError):
            client.serve()

    if registers == "before":
        client.register("c", adapt=adapt)
    server = threading.Thread(target=serve, daemon=True)
    server.start()
    if registers == "after its first call":
        assert connected.wait(PATIENCE_SECONDS)
        client.register("c", adapt=adapt)
        registered.set()
    assert serving.wait(PATIENCE_SECONDS)
    eventually(lambda: bool(client._channel._serving))
    if registers == "while it serves":
        client.register("c", adapt=adapt)
    # Before, the thread that has registered declares the name too.
    eventually(lambda: declaring(client) == (1 if registers == "while it serves" else 2))
    client.create_session("signed", {"interceptor": [CALLBACK]})
    assert client.get(origin.url, session="signed").ok
    in_threads(4, lambda _: client.get(origin.url, session="signed"))
    assert seen == [server.ident] * 5
    client.close()
    join([server])


def declaring(client: carpool.Client) -> int:
    return sum(entry["callbacks"] == ["c"] for entry in client.call("client.list")["clients"])


def test_each_thread_reads_the_events_that_it_subscribed_to(client: carpool.Client, origin: ScriptedOrigin) -> None:
    def work(number: int) -> None:
        client.subscribe(["request.did_finish"])
        client.get(f"{origin.url}/{number}")
        found: list[Any] = []
        for notification in client.notifications(PATIENCE_SECONDS):
            found.append(notification.params["type"])
            break
        assert found == ["request.did_finish"]

    in_threads(4, work)
    assert list(client.notifications(timeout=0)) == []


def test_a_stream_can_be_read_by_another_thread(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/body", lambda exchange: exchange.reply(body=b"x" * 100_000))
    with client.stream("GET", url) as stream:
        sizes: list[int] = []
        in_threads(1, lambda _: sizes.append(sum(map(len, stream.iter_bytes()))))
    assert sizes == [100_000]


def test_the_handler_of_a_signal_may_call_while_its_thread_waits(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    gate = origin.hold("/held")
    pongs: list[bool] = []

    def handle(*_: object) -> None:
        pongs.append(client.call("daemon.ping")["pong"])

    def send() -> None:
        origin.received(1)
        for count in range(1, 4):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
            eventually(lambda count=count: len(pongs) == count)  # type: ignore[misc]
        gate.set()

    previous = signal.signal(signal.SIGUSR1, handle)
    sender = threading.Thread(target=send, daemon=True)
    try:
        sender.start()
        assert client.get(f"{origin.url}/held").ok
    finally:
        join([sender])
        signal.signal(signal.SIGUSR1, previous)
    assert pongs == [True] * 3


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", LOOPS)
def test_several_event_loops_share_an_asyncio_client(daemon: Daemon, origin: ScriptedOrigin, name: str) -> None:
    client = carpool.AsyncClient(daemon.socket)
    together = threading.Barrier(8)

    async def work(number: int) -> None:
        together.wait(PATIENCE_SECONDS)
        urls = [f"{origin.url}/echo/{number}.{turn}" for turn in range(20)]
        answers = await asyncio.gather(*(client.post(url, data=url) for url in urls))
        assert [answer.url for answer in answers] == urls

    in_threads(8, lambda number: running_on(name)(work(number)))
    assert len(sent(origin)) == 160
    running_on(name)(client.aclose())
    gc.collect()
    eventually(lambda: connections(daemon) == 0)


@pytest.mark.parametrize("name", LOOPS)
def test_a_call_in_another_event_loop_ends_with_the_client(daemon: Daemon, origin: ScriptedOrigin, name: str) -> None:
    client = carpool.AsyncClient(daemon.socket)
    origin.hold("/held")

    async def wait() -> None:
        with pytest.raises(carpool.ConnectionLostError, match="the client was closed"):
            await client.get(f"{origin.url}/held")

    thread = threading.Thread(target=lambda: running_on(name)(wait()), daemon=True)
    thread.start()
    origin.received(1, "/held")
    running_on(name)(client.aclose())
    join([thread])
    eventually(lambda: connections(daemon) == 0)


@pytest.mark.parametrize("name", LOOPS)
def test_the_callback_of_a_session_runs_in_the_event_loop_that_has_registered_it(
    daemon: Daemon, origin: ScriptedOrigin, name: str
) -> None:
    client = carpool.AsyncClient(daemon.socket)
    seen: list[int] = []
    registered, is_over = threading.Event(), threading.Event()

    async def serve() -> None:
        await client.register("c", adapt=lambda _: seen.append(threading.get_ident()))
        registered.set()
        await asyncio.to_thread(is_over.wait, PATIENCE_SECONDS)

    async def ask() -> None:
        await client.create_session("signed", {"interceptor": [CALLBACK]})
        for _ in range(3):
            assert (await client.get(origin.url, session="signed")).ok
        await client.aclose()

    server = threading.Thread(target=lambda: running_on(name)(serve()), daemon=True)
    server.start()
    assert registered.wait(PATIENCE_SECONDS)
    running_on(name)(ask())
    is_over.set()
    join([server])
    assert seen == [server.ident] * 3
