"""The timeouts of requests that share a response: each has its own, and none ends with another's."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from harness.caches import SESSION, cache, failure, text
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, SLOWNESS
from harness.wire import Wire
from origins.scripted import Exchange, ScriptedOrigin

SHORT_MS = 700
LONG_MS = int(30_000 * SLOWNESS)


class Half:
    """Sends half of a body, and the rest when it may."""

    def __init__(self, origin: ScriptedOrigin, *, drips: bool) -> None:
        self.url = origin.on("/half", self._answer)
        self.count = 0
        self._drips = drips
        self.has_begun = threading.Event()
        self.may_end = threading.Event()

    def _answer(self, exchange: Exchange) -> None:
        self.count += 1
        exchange.send(
            b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"
        )
        self.has_begun.set()
        ends = time.monotonic() + PATIENCE_SECONDS
        while not self.may_end.wait(0.05 if self._drips else PATIENCE_SECONDS) and time.monotonic() < ends:
            exchange.send(b"1\r\n-\r\n")
        exchange.send(b"3\r\nend\r\n0\r\n\r\n")


@pytest.mark.parametrize("limit", ["resource_timeout_ms", "timeout_ms"])
@pytest.mark.parametrize("first_is_patient", [False, True])
def test_each_that_shares_a_response_has_its_own_timeout(
    daemon: Daemon, wire: Wire, origin: ScriptedOrigin, limit: str, first_is_patient: bool
) -> None:
    cache(wire)
    half = Half(origin, drips=limit == "resource_timeout_ms")
    limits = [{limit: LONG_MS}, {limit: SHORT_MS}] if first_is_patient else [{limit: SHORT_MS}, {limit: LONG_MS}]
    with daemon.wire() as one, daemon.wire() as other:
        common: dict[str, Any] = {"url": half.url, "session": SESSION}
        first = one.request("request.perform", {**common, **limits[0]})
        assert half.has_begun.wait(PATIENCE_SECONDS)
        second = other.request("request.perform", {**common, **limits[1]})
        (patient, hasty) = ((one, first), (other, second))[:: 1 if first_is_patient else -1]
        record = hasty[0].result(hasty[1])
        assert "timed_out" in failure(record), record["outcome"]
        assert record["outcome"]["error"]["timeout"] == ("resource" if limit == "resource_timeout_ms" else "idle")
        half.may_end.set()
        whole = text(patient[0].result(patient[1])).replace("-", "")
        assert (whole, half.count) == ("halfend", 1)
