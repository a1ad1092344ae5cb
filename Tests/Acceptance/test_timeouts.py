"""The three time limits of a request, each with an error of its own."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.daemon import Daemon
from harness.waiting import SLOWNESS, eventually, join
from origins.scripted import Exchange, ScriptedOrigin

LATE = 5 * SLOWNESS
"""Seconds after which a request was ended by another limit than that of 300 ms."""


def timed_out(client: carpool.Client, url: str, **limits: Any) -> tuple[str, float]:
    """Return which limit ended the request, and after how many seconds."""
    began = time.monotonic()
    with pytest.raises(carpool.RequestTimeoutError) as caught:
        client.get(url, **limits)
    return caught.value.record["outcome"]["error"]["timeout"], time.monotonic() - began


@pytest.fixture
def full() -> Iterator[str]:
    """The URL of a listener whose queue is full, so that no connection to it is ever made."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    waiting = []
    for _ in range(3):
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex(listener.getsockname())
        waiting.append(connection)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    for connection in [listener, *waiting]:
        connection.close()


def test_an_origin_that_never_answers(client: carpool.Client, origin: ScriptedOrigin) -> None:
    origin.hold("/silent")
    which, seconds = timed_out(client, f"{origin.url}/silent", timeout_ms=300)
    assert which == "idle"
    assert 0.25 < seconds < LATE


def test_an_origin_that_stops_in_the_middle(client: carpool.Client, origin: ScriptedOrigin) -> None:
    def stop(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfirst")
        assert exchange.wait_for_peer_to_close()

    which, _ = timed_out(client, origin.on("/stops", stop), timeout_ms=300)
    assert which == "idle"


def test_progress_keeps_the_idle_limit_away_but_not_the_resource_limit(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    limit = 2 * SLOWNESS
    dripped: list[tuple[float, int]] = []

    def drip(exchange: Exchange) -> None:
        """Send something twenty times within the limit, until it has passed."""
        began, count = time.monotonic(), 0
        exchange.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while time.monotonic() - began < 1.1 * limit:
            threading.Event().wait(limit / 20)
            exchange.send(b".")
            count += 1
        dripped.append((time.monotonic() - began, count))
        exchange.close()

    url = origin.on("/drip", drip)
    text = client.get(url, timeout_ms=int(limit * 1_000)).text
    [(lasted, count)] = dripped
    assert (text, lasted > limit) == ("." * count, True)
    which, seconds = timed_out(client, url, timeout_ms=60_000, resource_timeout_ms=600)
    assert which == "resource"
    assert seconds < LATE


def test_a_connection_that_cannot_be_made(client: carpool.Client, full: str) -> None:
    which, seconds = timed_out(client, full, connect_timeout_ms=300, timeout_ms=60_000)
    assert which == "connect"
    assert 0.25 < seconds < LATE


def test_the_limits_hold_while_a_request_waits_for_a_connection(
    daemon: Daemon, client: carpool.Client, origin: ScriptedOrigin
) -> None:
    gate = origin.hold("/held")
    held = [client.call("request.submit", url=f"{origin.url}/held")["request"] for _ in range(6)]
    origin.received(6)
    which, _ = timed_out(client, f"{origin.url}/waits", resource_timeout_ms=300)
    assert which == "resource"
    gate.set()
    for request in held:
        assert client.call("request.wait", request=request, timeout_ms=10_000)["outcome"]["ok"]


def test_the_next_request_is_served_after_each(client: carpool.Client, origin: ScriptedOrigin) -> None:
    origin.hold("/silent")
    for _ in range(8):
        timed_out(client, f"{origin.url}/silent", timeout_ms=50)
    assert client.get(f"{origin.url}/next").ok


def test_a_wait_that_ends_before_its_request_says_so(client: carpool.Client, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    request = client.call("request.submit", url=f"{origin.url}/held")["request"]
    early = client.call("request.wait", request=request, timeout_ms=50)
    assert early["state"] != "finished"
    assert early["finished"] is False
    gate.set()
    assert client.call("request.wait", request=request, timeout_ms=10_000)["body"]["text"] == "released"


def test_thousands_of_limits_do_not_hold_up_one_another(daemon: Daemon, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    with daemon.client() as client:
        requests = [
            client.call("request.submit", url=f"{origin.url}/held?{number}", resource_timeout_ms=limit)["request"]
            for number, limit in zip(range(500), itertools.cycle([100, 200, 300]), strict=False)
        ]
        for request in requests:
            record = client.call("request.wait", request=request, timeout_ms=10_000)
            assert record["outcome"]["error"]["timeout"] == "resource"
    gate.set()
    eventually(daemon.is_idle)


@pytest.mark.parametrize("limit", ["resource_timeout_ms", "timeout_ms", "connect_timeout_ms"])
def test_a_dead_first_address_leaves_time_for_the_second(
    daemon: Daemon, origin: ScriptedOrigin, full: str, limit: str
) -> None:
    """Whichever limit is the shortest, the addresses of a host share it."""
    if daemon.call("daemon.info")["libcurl"]["version"].startswith("7."):
        pytest.skip("this libcurl tries no second address of a family")
    port = full.rpartition(":")[2].strip("/")
    second = ScriptedOrigin(address="127.0.0.2", port=int(port))
    addresses = {"resolve": [f"two.test:{port}:127.0.0.1,127.0.0.2"]}
    try:
        with daemon.wire() as wire:
            url = f"http://two.test:{port}/"
            record = wire.call("request.perform", url=url, addresses=addresses, **{limit: int(3_000 * SLOWNESS)})
        assert record["outcome"]["ok"], record["outcome"]
    finally:
        second.stop()


def test_an_upload_that_is_received_slowly_is_not_idle(daemon: Daemon, tmp_path: Path) -> None:
    """libcurl and the kernel hold much of the body: its source is asked for nothing for longer than the limit."""
    file = tmp_path / "sent"
    file.write_bytes(b"x" * 300_000)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    listener.bind(("127.0.0.1", 0))
    listener.listen()

    def receive() -> None:
        connection, _ = listener.accept()
        with connection:
            count = 0
            while count < 300_000 and (piece := connection.recv(5_000)):
                count += len(piece)
                time.sleep(0.04)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    thread = threading.Thread(target=receive, daemon=True)
    thread.start()
    with listener, daemon.wire() as wire:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        record = wire.call("request.perform", url=url, method="PUT", body={"file": str(file)}, timeout_ms=800)
        assert record["outcome"]["ok"], record["outcome"]
        join([thread])


STORED = {"fresh": "max-age=600", "confirmed": "max-age=0", "stale": "max-age=0, stale-while-revalidate=600"}
UNANSWERED = {"callback": {"name": "unanswered", "deadline_ms": 60_000}}
HELD: dict[str, dict[str, Any]] = {
    "at its head": {"hold_for_headers": True},
    "at a redirect": {"redirect": UNANSWERED},
    "for its destination": {"kind": "download", "destination": UNANSWERED},
}


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("stored", STORED)
def test_a_response_from_the_store_that_is_not_taken_ends_at_the_limit(
    daemon: Daemon, origin: ScriptedOrigin, stored: str, held: str
) -> None:
    def serve(exchange: Exchange) -> None:
        fields = [("Cache-Control", STORED[stored]), ("ETag", '"1"'), ("Location", "/next")]
        if exchange.request.values("If-None-Match"):
            return exchange.reply(304, headers=fields)
        return exchange.reply(301 if held == "at a redirect" else 200, b"stored", fields)

    origin.on("/next", lambda exchange: exchange.reply(body=b"next"))
    url = origin.on("/stored", serve)
    with daemon.wire() as wire, daemon.wire() as other:
        wire.call("request.perform", url=url, redirect="do_not_follow")
        began = time.monotonic()
        request = wire.call("request.submit", url=url, resource_timeout_ms=300, **HELD[held])["request"]
        record = other.call("request.wait", request=request, timeout_ms=20_000)
        assert record["outcome"]["error"]["timeout"] == "resource", record
        assert time.monotonic() - began < LATE
