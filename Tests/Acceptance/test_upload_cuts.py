"""Uploads whose origin, client, daemon or network goes away at any byte: each fails by name, nothing but what was given
arrives, and the next try sends the whole."""

from __future__ import annotations

import base64
import hashlib
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.faults import POINTS, SEED, SILENCE_MS, SIZE
from harness.namespace import Namespace
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import Wire
from origins.scripted import Exchange, ScriptedOrigin

LOST = "session_task_failed.network_connection_lost"
RETRY = [{"retry_policy": {"scale_ms": 1}}]
PIECE = 40_000


@pytest.fixture(scope="module")
def content() -> bytes:
    return random.Random(SEED).randbytes(SIZE)


@pytest.fixture
def large(content: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "large"
    path.write_bytes(content)
    return path


def cut_off(origin: ScriptedOrigin, point: int, cut: Callable[[Exchange, bytes], None]) -> str:
    """Return a URL where the first body is read up to a byte, at which `cut` is called; the next are read whole."""
    seen = threading.Event()

    def head(exchange: Exchange) -> bool:
        if seen.is_set():
            return False
        seen.set()
        cut(exchange, exchange.take(point))
        return True

    path = f"/{point}"
    origin.on(path, lambda exchange: exchange.reply(200))
    return origin.on_head(path, head)


def upload(file: Path, **params: Any) -> dict[str, Any]:
    return {"method": "PUT", "kind": "upload", "body": {"file": str(file)}, **params}


def arrived_whole(origin: ScriptedOrigin, content: bytes) -> bool:
    """Whether the last received body is complete, and the only complete one."""
    (request,) = origin.requests
    return hashlib.sha256(request.body).digest() == hashlib.sha256(content).digest()


def nothing_is_under_way(client: carpool.Client) -> bool:
    return all(place["active"] == 0 for place in client.call("pool.stats")["origins"])


@pytest.mark.parametrize("retries", [False, True])
def test_the_origin_goes(start: StartDaemon, content: bytes, large: Path, tmp_path: Path, retries: bool) -> None:
    with start().client() as client:
        for point in POINTS:
            origin = ScriptedOrigin()
            url = cut_off(origin, point, lambda exchange, _: exchange.reset())
            if retries:
                record = client.call("request.perform", url=url, **upload(large, interceptor=RETRY))
                assert len(record["attempts"]) == 2
            else:
                record = client.call("request.perform", url=url, **upload(large))
                assert record["outcome"]["error"]["name"] == LOST
                assert origin.requests == []
                record = client.call("request.perform", url=url, **upload(large))
            assert record["outcome"]["ok"], point
            assert arrived_whole(origin, content), point
            origin.stop()


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("point", POINTS)
def test_the_client_that_gives_the_body_goes(
    daemon: Daemon, origin: ScriptedOrigin, content: bytes, point: int, known: bool
) -> None:
    """The bytes that it had supplied may have come, the rest not: the body is never ended as if it were complete."""
    raw: list[bytes] = []
    ended = threading.Event()

    def keep(exchange: Exchange, taken: bytes) -> None:
        raw.append(taken + exchange.take())
        ended.set()

    url = cut_off(origin, 1, keep)
    body = {"stream": True} | ({"length_bytes": SIZE} if known else {})
    with daemon.client() as watcher:
        gone = daemon.wire()
        request = gone.call("request.submit", url=url, body=body, on_disconnect="cancel")["request"]
        give(gone, request, content[:point])
        gone.close()
        assert watcher.call("request.wait", request=request)["outcome"]["error"]["name"] == "explicitly_cancelled"
        assert ended.wait(PATIENCE_SECONDS)
        eventually(lambda: nothing_is_under_way(watcher))
        if known:
            assert content[:point].startswith(raw[0])
        else:
            assert not raw[0].endswith(b"0\r\n\r\n")
        with daemon.wire() as again:
            request = again.call("request.submit", url=url, body=body)["request"]
            give(again, request, content, end=True)
            assert again.call("request.wait", request=request)["outcome"]["ok"]
    assert arrived_whole(origin, content)


def give(wire: Wire, request: str, data: bytes, *, end: bool = False) -> None:
    for begin in range(0, len(data), PIECE):
        piece = base64.b64encode(data[begin : begin + PIECE]).decode()
        wire.call("body.put", request=request, base64=piece, end=end and begin + PIECE >= len(data))


def test_the_client_that_named_a_file_goes(daemon: Daemon, content: bytes, large: Path) -> None:
    for point in POINTS:
        origin = ScriptedOrigin()
        reached, gone = threading.Event(), threading.Event()

        def wait(
            exchange: Exchange, _: bytes, reached: threading.Event = reached, gone: threading.Event = gone
        ) -> None:
            reached.set()
            gone.wait(PATIENCE_SECONDS)
            exchange.take()

        url = cut_off(origin, point, wait)
        with daemon.client() as watcher:
            with daemon.wire() as wire:
                request = wire.call("request.submit", url=url, **upload(large, on_disconnect="cancel"))["request"]
                assert reached.wait(PATIENCE_SECONDS)
            record = watcher.call("request.wait", request=request)
            gone.set()
            assert record["outcome"]["error"]["name"] == "explicitly_cancelled"
            eventually(lambda: nothing_is_under_way(watcher))
            assert watcher.call("request.perform", url=url, **upload(large))["outcome"]["ok"]
        assert arrived_whole(origin, content), point
        origin.stop()


def test_the_daemon_is_killed(start: StartDaemon, content: bytes, large: Path) -> None:
    """Its clients are disconnected at once, the origin has no complete body, and the next daemon sends it."""
    for point in POINTS:
        origin = ScriptedOrigin()
        daemon = start()

        def kill(_: Exchange, __: bytes, daemon: Daemon = daemon) -> None:
            daemon.kill()

        url = cut_off(origin, point, kill)
        with daemon.client() as client, pytest.raises(carpool.CarpoolError):
            client.call("request.perform", url=url, **upload(large))
        daemon.process.wait(PATIENCE_SECONDS)
        successor = start()
        with successor.client() as client:
            assert client.call("request.perform", url=url, **upload(large))["outcome"]["ok"], point
        assert arrived_whole(origin, content), point
        successor.terminate()
        origin.stop()


def test_the_link_goes_down(start: StartDaemon, namespace: Namespace, content: bytes, large: Path) -> None:
    """Twenty uploads, each at another byte when it happens."""
    origin = namespace.run(ScriptedOrigin)
    reached = threading.Semaphore(0)
    down = threading.Event()

    def wait(exchange: Exchange, _: bytes) -> None:
        reached.release()
        down.wait(PATIENCE_SECONDS)
        exchange.take()

    try:
        daemon = namespace.run(
            lambda: start(
                config={"limits": {"host_connections": len(POINTS), "host_connections_per_client": len(POINTS)}}
            )
        )
        daemon.enter()
        urls = [cut_off(origin, point, wait) for point in POINTS]
        params = upload(large, timeout_ms=SILENCE_MS)
        with daemon.client() as client:
            requests = [client.call("request.submit", url=url, **params)["request"] for url in urls]
            for _ in POINTS:
                assert reached.acquire(timeout=PATIENCE_SECONDS)
            namespace.down()
            down.set()
            records = [client.call("request.wait", request=request) for request in requests]
            errors = [record["outcome"]["error"] for record in records]
            assert {(error["name"], error["timeout"]) for error in errors} == {
                ("session_task_failed.timed_out", "idle")
            }
            namespace.up()
            for url in urls:
                assert client.call("request.perform", url=url, **params)["outcome"]["ok"], url
        assert sorted(request.target for request in origin.requests) == sorted(f"/{point}" for point in POINTS)
        assert {hashlib.sha256(request.body).digest() for request in origin.requests} == {
            hashlib.sha256(content).digest()
        }
    finally:
        namespace.up()
        origin.stop()
