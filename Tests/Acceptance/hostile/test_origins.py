"""Requests to tens of thousands of origins: the figures of the pool are counted as they change, and come in pages."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from harness.calls import line, send_and_read
from harness.daemon import Daemon
from harness.gauge import bounded_turns
from harness.waiting import eventually
from harness.wire import Wire

ORIGINS = 45_000
"""A user may have 50,000 requests that wait, and each of these has an origin of its own."""


@pytest.fixture
def port() -> Iterator[int]:
    """A port of every address at which connections are made and no request is answered."""
    with socket.create_server(("0.0.0.0", 0), backlog=1_024) as server:
        yield server.getsockname()[1]


@pytest.fixture
def crowd(daemon: Daemon, port: int) -> Iterator[None]:
    """So many origins, each with a request that waits."""
    for client in range(ORIGINS // 9_000):
        with daemon.wire() as wire:
            wire.call("client.hello", name=f"client-{client}")
            urls = (f"http://127.{client + 1}.{n // 250}.{n % 250 + 1}:{port}/" for n in range(9_000))
            data = b"".join(line("request.submit", n, url=url, timeout_ms=600_000) for n, url in enumerate(urls))
            send_and_read(wire, data, 9_000)
    yield
    daemon.call("session.cancel_requests", session="default")


def pages(wire: Wire, **params: Any) -> Iterator[dict[str, Any]]:
    page = wire.call("pool.stats", **params)
    yield page
    while page["next"] is not None:
        page = wire.call("pool.stats", **params, next=page["next"])
        yield page


def test_b2_statistics_of_tens_of_thousands_of_origins(daemon: Daemon, crowd: None) -> None:
    with daemon.wire() as wire:
        asked: list[tuple[str, dict[str, Any]]] = [
            ("pool.stats", {}),
            ("pool.stats", {"limit": 1_000}),
            ("daemon.stats", {}),
            ("events.subscribe", {"snapshot": True}),
            ("events.subscribe", {"snapshot": True, "scope": "all"}),
        ]
        for method, params in asked:
            with bounded_turns(daemon):
                for _ in range(10):
                    wire.call(method, **params)
        stats = wire.call("daemon.stats")["transfers"]
        assert stats["queued"] + stats["active"] == ORIGINS


def test_pages_of_the_pool_tell_every_origin_once(daemon: Daemon, crowd: None) -> None:
    with daemon.wire() as wire:
        origins = [origin for page in pages(wire, limit=1_000) for origin in page["origins"]]
        total = wire.call("pool.stats")["total"]
    assert len({origin["origin"] for origin in origins}) == len(origins) == ORIGINS == total["origins"]
    for name in ("connections", "idle", "active", "queued"):
        assert sum(origin[name] for origin in origins) == total[name]


def test_b2_tens_of_thousands_of_origins_leave(daemon: Daemon, crowd: None) -> None:
    with daemon.wire() as wire, bounded_turns(daemon):
        assert wire.call("session.cancel_requests", session="default")["cancelled"] == ORIGINS
        eventually(lambda: wire.call("pool.stats")["total"]["origins"] <= 1)
