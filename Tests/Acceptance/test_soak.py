"""Ten thousand requests, a tenth of them cancelled at random moments: everything that was taken is given back."""

from __future__ import annotations

import random
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.waiting import eventually
from harness.wire import Wire
from origins.authority import Authority
from origins.nginx import Nginx

REQUESTS = 10_000
IN_FLIGHT = 48
FILES = ["hello.txt", "200.bin", "20k.bin", "gzip/words.txt", "missing", "moved"]


class Load:
    """Submits requests, cancels some of them after a random number of other answers, and counts what they came to."""

    def __init__(self, wire: Wire, base: str, trust: dict[str, Any], dice: random.Random) -> None:
        self.wire = wire
        self.base = base
        self.trust = trust
        self.dice = dice
        self.waiting: dict[int, str] = {}
        self.doomed: list[tuple[int, str]] = []
        self.finished = 0
        self.cancelled = 0

    def run(self, count: int) -> None:
        for number in range(count):
            request = self.submit()
            if self.dice.random() < 0.1:
                self.doomed.append((number + self.dice.randrange(IN_FLIGHT), request))
            while self.doomed and self.doomed[0][0] <= number:
                self.wire.request("request.cancel", request=self.doomed.pop(0)[1])
            while len(self.waiting) >= IN_FLIGHT:
                self.take()
        while self.waiting:
            self.take()
        self.doomed.clear()

    def submit(self) -> str:
        params = {"url": f"{self.base}/{self.dice.choice(FILES)}", "trust": self.trust}
        call = self.wire.request("request.submit", params)
        while (message := self.wire.receive())["id"] != call:
            self.note(message)
        request: str = message["result"]["request"]
        self.waiting[self.wire.request("request.wait", request=request)] = request
        return request

    def take(self) -> None:
        self.note(self.wire.receive())

    def note(self, message: dict[str, Any]) -> None:
        request = self.waiting.pop(message["id"], None)
        if request is None:
            # The answer of a cancellation or a dismissal; the request may have been gone already.
            assert "result" in message or message["error"]["code"] == 1101
            return
        outcome = message["result"]["outcome"]
        if outcome["ok"]:
            self.finished += 1
        else:
            assert outcome["error"]["name"] == "explicitly_cancelled", outcome
            self.cancelled += 1
        self.wire.request("request.dismiss", request=request)


@pytest.mark.parametrize("base", ["http", "https"])
def test_descriptors_and_memory_return(daemon: Daemon, nginx: Nginx, authority: Authority, base: str) -> None:
    dice = random.Random(5)
    trust = {"ca_file": str(authority.ca_file)}

    def measure() -> tuple[int, int]:
        eventually(daemon.is_idle)
        daemon.call("pool.flush")
        eventually(lambda: daemon.stats()["connections"]["open"] == 1)
        eventually(
            lambda: (
                not daemon.call("pool.stats")["origins"]
                or not any(origin["connections"] for origin in daemon.call("pool.stats")["origins"])
            )
        )
        return len(daemon.descriptors()), daemon.memory_kib()

    with daemon.wire() as wire:
        Load(wire, getattr(nginx, base), trust, dice).run(1_000)
    descriptors, memory = measure()
    with daemon.wire() as wire:
        load = Load(wire, getattr(nginx, base), trust, dice)
        load.run(REQUESTS // 2)
    assert load.finished + load.cancelled == REQUESTS // 2
    assert load.cancelled > REQUESTS // 100
    after_descriptors, after_memory = measure()
    assert after_descriptors <= descriptors
    assert after_memory - memory < 3_072, f"{memory} KiB before, {after_memory} KiB after"
    assert daemon.spooled() == []
    stats = daemon.stats()
    assert stats["requests"]["known"] == 0
