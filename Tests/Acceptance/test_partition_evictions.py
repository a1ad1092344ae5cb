"""Connections make room for others, and no client's requests leave the pool empty."""

from __future__ import annotations

import pytest
from conftest import StartDaemon
from harness.wire import Wire
from origins.authority import Authority
from origins.nginx import Nginx

pytestmark = pytest.mark.own_daemon

CONNECTIONS = 16


def request(wire: Wire, nginx: Nginx, trust: str | dict[str, str], number: int) -> bool:
    """Send a request with settings of its own."""
    addresses = {"resolve": [f"other{number}.example:1:192.0.2.1"]}
    record = wire.call("request.perform", url=f"{nginx.https1}/hello.txt", trust=trust, addresses=addresses)
    return bool(record["outcome"]["ok"])


def test_refused_connections_do_not_empty_the_pool(start: StartDaemon, nginx: Nginx, authority: Authority) -> None:
    daemon = start(config={"limits": {"total_connections": CONNECTIONS}})
    trusted = {"ca_file": str(authority.ca_file)}
    with daemon.wire() as wire:
        for number in range(4 * CONNECTIONS):
            assert request(wire, nginx, trusted, 2 * number)
            assert not request(wire, nginx, "system", 2 * number + 1)
            assert not request(wire, nginx, "system", 2 * number + 1)
        # A few may be closing.
        assert wire.call("pool.stats")["total"]["connections"] >= CONNECTIONS - 3
        sockets = [name for name in daemon.descriptors() if name.startswith("socket:")]
        assert len(sockets) < 5 * CONNECTIONS
        # What was used last is used again.
        last = 2 * (4 * CONNECTIONS - 1)
        before = wire.call("pool.stats")["reused"]
        assert request(wire, nginx, trusted, last)
        assert wire.call("pool.stats")["reused"] == before + 1
