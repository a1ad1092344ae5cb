"""`carpool curl --rate` and `--limit-rate`: never faster than the limit."""

from __future__ import annotations

import time

from harness.command import OK, Run
from origins.scripted import ScriptedOrigin


def seconds(run: Run, *arguments: str) -> float:
    """Return how long a line takes."""
    began = time.monotonic()
    assert run("curl", "--no-fallback", "-sS", *arguments).returncode == OK
    return time.monotonic() - began


def test_transfers_begin_at_the_rate(run: Run, origin: ScriptedOrigin) -> None:
    assert seconds(run, "--rate", "2/s", *[origin.url] * 3) >= 1
    assert len(origin.requests) == 3


def test_a_short_body_is_read_at_the_rate(run: Run, origin: ScriptedOrigin) -> None:
    """Without the limit it comes with the record."""
    url = origin.on("/short", lambda exchange: exchange.reply(body=bytes(8_000)))
    assert seconds(run, "--limit-rate", "4000", "-o", "/dev/null", url) >= 1
