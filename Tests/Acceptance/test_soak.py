"""Ten thousand requests, a tenth of them cancelled at random moments: every resource is released."""

from __future__ import annotations

import random
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import Wire
from origins.authority import Authority
from origins.nginx import Nginx

pytestmark = pytest.mark.own_daemon

REQUESTS = 10_000
AT_A_TIME = 50
TICK_SECONDS = 30.0
FILES = ["hello.txt", "200.bin", "20k.bin", "1m.bin", "gzip/words.txt", "missing", "moved"]


class Load:
    """Submits requests in crowds, cancels a tenth of them at random moments, and counts their outcomes."""

    def __init__(self, wire: Wire, base: str, trust: dict[str, Any]) -> None:
        self.wire = wire
        self.base = base
        self.trust = trust
        self.dice = random.Random(5)
        self.finished = 0
        self.cancelled = 0

    def run(self, count: int) -> None:
        for _ in range(count // AT_A_TIME):
            self.crowd()

    def crowd(self) -> None:
        """Fifty at once; some are cancelled while they wait for a connection, some while they run, some later."""
        urls = (f"{self.base}/{self.dice.choice(FILES)}" for _ in range(AT_A_TIME))
        submitting = {self.wire.request("request.submit", url=url, trust=self.trust) for url in urls}
        waiting: dict[int, str] = {}
        doomed: list[str] = []
        ending: set[int] = set()
        while submitting or waiting or doomed or ending:
            message = self.wire.receive()
            if message["id"] in submitting:
                submitting.remove(message["id"])
                request = message["result"]["request"]
                waiting[self.wire.request("request.wait", request=request)] = request
                if self.dice.random() < 0.15:
                    doomed.append(request)
            elif message["id"] in waiting:
                self.count(message["result"])
                ending.add(self.wire.request("request.dismiss", request=waiting.pop(message["id"])))
            else:
                # A cancellation or a dismissal; a dismissed request cannot be cancelled any more.
                ending.remove(message["id"])
                assert "result" in message or message["error"]["code"] == 1101, message
            if doomed and (self.dice.random() < 0.6 or not waiting):
                ending.add(self.wire.request("request.cancel", request=doomed.pop()))

    def count(self, record: dict[str, Any]) -> None:
        if record["outcome"]["ok"]:
            self.finished += 1
        else:
            assert record["outcome"]["error"]["name"] == "explicitly_cancelled", record
            self.cancelled += 1


@pytest.mark.parametrize("base", ["http", "https"])
def test_descriptors_and_memory_return(daemon: Daemon, nginx: Nginx, authority: Authority, base: str) -> None:
    trust = {"ca_file": str(authority.ca_file)}

    def run(count: int) -> Load:
        with daemon.wire() as wire:
            load = Load(wire, getattr(nginx, base), trust)
            load.run(count)
        return load

    def has_settled() -> bool:
        daemon.call("pool.flush")
        pooled = sum(origin["connections"] for origin in daemon.call("pool.stats")["origins"])
        return pooled == 0 and daemon.stats()["connections"]["open"] == 1 and daemon.is_idle()

    def measure() -> tuple[list[str], int]:
        eventually(has_settled)
        return daemon.descriptors(), daemon.memory_kib()

    run(1_000)
    descriptors, memory = measure()
    load = run(REQUESTS // 2)
    assert load.finished + load.cancelled == REQUESTS // 2
    assert load.cancelled > REQUESTS // 2 // 50, "those that were to be cancelled were over before"
    measure()
    eventually(lambda: len(daemon.descriptors()) <= len(descriptors))
    # What the allocator keeps after a burst differs by megabytes from run to run; the next tick releases it.
    eventually(lambda: daemon.memory_kib() - memory < 3_072, seconds=TICK_SECONDS + PATIENCE_SECONDS)
    eventually(lambda: daemon.spooled() == [])
    assert daemon.stats()["requests"]["known"] == 0
