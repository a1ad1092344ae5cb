"""Streams of the Python clients while the daemon is stopped (SIGSTOP)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import carpool
import pytest
from carpool import _waiting
from harness.daemon import Daemon
from harness.waiting import SLOWNESS
from origins.scripted import ScriptedOrigin

MARGIN_SECONDS = 10 * SLOWNESS


@pytest.mark.parametrize("is_asynchronous", [False, True])
def test_the_block_of_a_stream_of_a_stopped_daemon_ends_in_time(
    daemon: Daemon, stopped: Callable[[], None], origin: ScriptedOrigin, *, is_asynchronous: bool
) -> None:
    """Nothing is read from the stream, and another call waits on the connection of the asyncio client."""
    origin.hold("/held")
    url = origin.on("/begun", lambda exchange: exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfirst"))

    async def leave() -> None:
        async with carpool.AsyncClient(daemon.socket) as client:
            waiting = asyncio.create_task(client.get(f"{origin.url}/held"))
            async with client.stream("GET", url, timeout=1):
                stopped()
            waiting.cancel()

    began = time.monotonic()
    if is_asynchronous:
        asyncio.run(leave())
    else:
        with carpool.Client(daemon.socket) as client, client.stream("GET", url, timeout=1):
            stopped()
    assert time.monotonic() - began < 1 + _waiting.PING_SECONDS + MARGIN_SECONDS
