"""A connection that watches the network, and the events that it receives."""

from __future__ import annotations

import time
from typing import Any

from harness.daemon import Daemon


class Watcher:
    """A `reachability.watch` on a connection of its own."""

    def __init__(self, daemon: Daemon, **params: Any) -> None:
        self.wire = daemon.wire()
        self.answer: dict[str, Any] = self.wire.call("reachability.watch", **params)
        self.sub: str = self.answer["sub"]
        self.first: dict[str, Any] = self.answer["reachability"]

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.wire.close()

    def next(self) -> dict[str, Any]:
        """Return the `data` of the next event; `arrived` is when it came."""
        event = self.wire.event("reachability.changed")
        assert event["sub"] == self.sub
        data: dict[str, Any] = event["data"]
        return data | {"arrived": time.monotonic()}

    def until(self, **members: Any) -> dict[str, Any]:
        """Return the next event whose snapshot has these members."""
        while True:
            data = self.next()
            if all(data["reachability"].get(name) == value for name, value in members.items()):
                return data
