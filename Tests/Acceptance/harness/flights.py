"""Requests at the same time for one URL, whose answer waits until a test lets it go."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping
from typing import Any

from origins.scripted import Exchange, ScriptedOrigin

from harness.caches import SESSION, connections
from harness.daemon import Daemon
from harness.waiting import eventually
from harness.wire import Wire

CONNECTIONS = 4


class Gate:
    """A handler that answers when it is opened, with the number of the answer as its body."""

    def __init__(self, origin: ScriptedOrigin, path: str, fields: Mapping[str, str], body: bytes | None = None) -> None:
        self.url = origin.on(path, self._answer)
        self._origin, self._path, self._fields, self._body = origin, path, fields, body
        self._open = threading.Event()
        self._numbers = itertools.count(1)

    def _answer(self, exchange: Exchange) -> None:
        number = next(self._numbers)
        self._open.wait(120)
        body = str(number).encode() if self._body is None else self._body
        exchange.reply(body=body, headers=self._fields.items())

    @property
    def count(self) -> int:
        return sum(request.target == self._path for request in self._origin.requests)

    def open(self) -> None:
        self._open.set()

    def close(self) -> None:
        self._open.clear()


FRESH = {"Cache-Control": "max-age=3600"}


def waits_of(wire: Wire) -> int:
    """Return how many requests have waited for another one so far."""
    stores = [each for each in wire.call("cache.stats")["stores"] if each["store"] == SESSION]
    return int(stores[0]["counters"]["waits"]) if stores else 0


def crowd(daemon: Daemon, wire: Wire, gate: Gate, params: list[dict[str, Any]], flights: int) -> list[dict[str, Any]]:
    """Make requests at the same time; the gate opens when those that wait are counted and the others have come."""
    seen, before = gate.count, waits_of(wire)
    with connections(daemon, len(params)) as wires:
        calls = [
            each.request("request.perform", {"url": gate.url, "session": SESSION, **more})
            for each, more in zip(wires, params, strict=True)
        ]
        # A host has a few connections; the other requests queue for them.
        least = min(flights, CONNECTIONS)
        eventually(lambda: gate.count - seen >= least and waits_of(wire) - before >= len(params) - flights)
        gate.open()
        return [each.result(call) for each, call in zip(wires, calls, strict=True)]
