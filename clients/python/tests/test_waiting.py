"""How long the clients wait for a daemon that is silent, and what they send meanwhile."""

from __future__ import annotations

import contextlib
import gc
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import trio
from both_clients import BOTH, Asynchronous, Blocking, Connect, Start, result
from loops import LOOPS, running_on

import carpool
from carpool import _waiting
from carpool._rpc import RPCConnection


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, _waiting.SILENCE_SECONDS),
        ({"timeout_ms": 1500}, 1.5),
        ({"timeout_ms": 5000, "resource_timeout_ms": 250}, 0.25),
        ({"timeout_ms": None}, _waiting.SILENCE_SECONDS),
        ({"timeout_ms": "5"}, _waiting.SILENCE_SECONDS),
    ],
)
def test_silence_is_as_long_as_the_call_may_take(params: dict[str, Any], expected: float) -> None:
    assert _waiting.silence(params) == expected


@pytest.mark.parametrize(
    ("method", "params", "kind"),
    [
        ("request.perform", {"timeout_ms": 1}, carpool.RequestTimeoutError),
        ("request.perform", {"resource_timeout_ms": 1}, carpool.RequestTimeoutError),
        ("request.perform", {}, carpool.DaemonUnreachableError),
        ("request.wait", {"timeout_ms": 1}, carpool.DaemonUnreachableError),
    ],
)
def test_the_time_limit_of_a_request_is_told_as_such(method: str, params: dict[str, Any], kind: type) -> None:
    assert type(_waiting.unanswered(method, params)) is kind


# As docs/python-processes.md says: a message of this size is read at once.
MAX_ATOMIC_BYTES = 16_384


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_waiting, "PING_SECONDS", 0.5)
    monkeypatch.setattr("carpool._link_async.TICK_SECONDS", 0.02)


@pytest.mark.usefixtures("hurried")
def test_a_daemon_that_answers_no_ping_ends_the_call(start: Start, connect: Connect) -> None:
    daemon = start(lambda _: [b""])
    client = connect(daemon.path)
    began = time.monotonic()
    with pytest.raises(carpool.RequestTimeoutError) as caught:
        client.run("get", "http://a/", timeout=0.2)
    assert isinstance(caught.value, TimeoutError)
    assert time.monotonic() - began >= 0.7
    assert [message["method"] for message in daemon.received] == ["request.perform", "daemon.ping"]


@pytest.mark.usefixtures("hurried")
def test_a_daemon_that_answers_pings_is_waited_for(start: Start, connect: Connect) -> None:
    held: list[dict[str, Any]] = []

    def answer(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
        if message["method"] != "daemon.ping":
            held.append(message)
            return [b" "]
        pong = result({"pong": True})(message)
        is_last = len(daemon.received) == 5
        return [*pong, *result("answered")(held[0])] if is_last else pong

    daemon = start(answer)
    assert connect(daemon.path).run("call", "request.perform", timeout_ms=50) == "answered"
    assert [message["method"] for message in daemon.received] == ["request.perform", *["daemon.ping"] * 4]


@pytest.mark.usefixtures("hurried")
def test_a_call_is_made_again_when_a_daemon_that_ends_refused_it(start: Start, connect: Connect) -> None:
    refusal = {"code": 1006, "message": "draining", "data": {"name": "draining"}}

    def answer(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
        if len(daemon.received) < 3:
            return [{"id": message["id"], "error": refusal}]
        return result("answered")(message)

    daemon = start(answer)
    assert connect(daemon.path).run("call", "session.list") == "answered"
    assert len(daemon.received) == 3


@pytest.mark.usefixtures("hurried")
def test_a_daemon_that_never_ends_refuses_in_the_end(start: Start, connect: Connect) -> None:
    refusal = {"code": 1006, "message": "draining", "data": {"name": "draining"}}
    daemon = start(lambda message: [{"id": message["id"], "error": refusal}])
    with pytest.raises(carpool.AccessError, match="draining"):
        connect(daemon.path).run("call", "request.perform", timeout_ms=100)


@pytest.mark.parametrize("kind", BOTH)
def test_a_call_that_was_not_read_is_made_again_and_one_that_was_read_is_not(
    tmp_path: Path, kind: type[Blocking | Asynchronous]
) -> None:
    read: list[bytes] = []

    def serve(listener: socket.socket) -> None:
        for reads in (False, False, True):
            connection, _ = listener.accept()
            with connection:
                # The call is there: closing the connection with unread bytes resets it.
                connection.recv(1, socket.MSG_PEEK)
                if reads:
                    read.append(connection.recv(65_536))

    client = kind(tmp_path / "s")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, contextlib.closing(client):
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        server = threading.Thread(target=serve, args=(listener,), daemon=True)
        server.start()
        with pytest.raises(carpool.ConnectionLostError, match="closed the connection"):
            client.run("call", "daemon.ping")
        server.join(10)
    assert len(read) == 1


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("size", [MAX_ATOMIC_BYTES, MAX_ATOMIC_BYTES + 1])
def test_only_a_call_that_is_read_at_once_is_known_to_be_unread(
    tmp_path: Path, kind: type[Blocking | Asynchronous], size: int
) -> None:
    """The first daemon closes the connection with unread bytes. A longer call may have been read in part."""
    read: list[bytes] = []
    params = {"filler": ""}
    params["filler"] = "x" * (size - len(RPCConnection().send_request("daemon.ping", params)[1]))

    def serve(listener: socket.socket) -> None:
        for reads in (False, True):
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as lines:
                assert len(connection.recv(2 * size, socket.MSG_PEEK)) in {size, 1}
                if reads:
                    read.append(lines.readline())
                    connection.sendall(b'{"jsonrpc":"2.0","id":1,"result":1}\n')

    client = kind(tmp_path / "s")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, contextlib.closing(client):
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        server = threading.Thread(target=serve, args=(listener,), daemon=True)
        server.start()
        if size == MAX_ATOMIC_BYTES:
            assert client.run("call", "daemon.ping", **params) == 1
        else:
            with pytest.raises(carpool.ConnectionLostError):
                client.run("call", "daemon.ping", **params)
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as last:
                last.connect(str(tmp_path / "s"))
                last.sendall(b"\n")
                server.join(10)
        server.join(10)
    assert [len(line) for line in read] == [size if size == MAX_ATOMIC_BYTES else 1]


def subscribed(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
    """Answer a subscription, and nothing else."""
    is_answered = message["method"] not in {"daemon.ping", "rpc.cancel"}
    return result({"sub": "s1", "cursor": "a.1"})(message) if is_answered else [b""]


@pytest.mark.usefixtures("hurried")
def test_waiting_for_events_of_a_silent_daemon_ends(
    start: Start, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_waiting, "SILENCE_SECONDS", 0.2)
    client = connect(start(subscribed).path)
    client.run("subscribe")
    with pytest.raises(carpool.DaemonUnreachableError, match=r"daemon\.ping"):
        client.notified(1, timeout=60)


@pytest.mark.usefixtures("hurried")
def test_serving_a_silent_daemon_ends(start: Start, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_waiting, "SILENCE_SECONDS", 0.2)
    client = connect(start(subscribed).path)
    client.run("register", "mine", adapt=lambda _: None)
    with pytest.raises(carpool.DaemonUnreachableError):
        client.run("serve")


# A loop that is closed with a connection warns; that of uvloop hangs if the warning is an error.
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", LOOPS)
def test_an_asyncio_client_goes_from_one_event_loop_to_the_next(start: Start, name: str) -> None:
    daemon = start(result("pong"))
    client = carpool.AsyncClient(daemon.path)

    async def use() -> Any:
        return await client.call("daemon.ping")

    async def leave() -> None:
        await client.aclose()

    async def enter() -> None:
        async with client:
            pass

    for then in (use, enter, leave):
        assert running_on(name)(use()) == "pong"
        running_on(name)(then())
    gc.collect()


def test_trio_needs_another_client() -> None:
    with pytest.raises(RuntimeError, match="AsyncClient needs the event loop of asyncio or uvloop"):
        trio.run(carpool.AsyncClient().call, "daemon.ping")
