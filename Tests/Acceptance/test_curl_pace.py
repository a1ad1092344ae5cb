"""`carpool curl --rate` and `--limit-rate`: never faster than the limit; `-y` and `-Y`: not slower for too long."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from harness.command import OK, Done, Run
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import Exchange, ScriptedOrigin

TOO_SLOW = 28
LARGE = 3_000_000


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


# -y and -Y


def limited(run: Run, *arguments: str | Path) -> tuple[Done, float]:
    """Run a line, and return how long it took too."""
    began = time.monotonic()
    done = run("curl", "--no-fallback", "-sS", *arguments)
    return done, time.monotonic() - began


def assert_too_slow(done: Done, limit: int, seconds: int) -> None:
    message = f"curl: (28) Operation too slow. Less than {limit} bytes/sec transferred the last {seconds} seconds\n"
    assert (done.returncode, done.stderr.decode()) == (TOO_SLOW, message)


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large"
    path.write_bytes(bytes(LARGE))
    return path


def test_a_silent_server_is_too_slow(run: Run, origin: ScriptedOrigin) -> None:
    origin.hold("/silent")
    done, seconds = limited(run, "-y", "2", "-Y", "5", f"{origin.url}/silent")
    assert_too_slow(done, 5, 2)
    assert seconds >= 2


def test_a_time_of_zero_is_no_limit(run: Run, origin: ScriptedOrigin) -> None:
    origin.hold("/silent")
    done, _ = limited(run, "-Y", "5", "-y", "0", "-m", "2", f"{origin.url}/silent")
    assert done.stderr.startswith(b"curl: (28) Operation timed out after")


def test_an_upload_that_is_read_slowly_is_not_too_slow(run: Run, origin: ScriptedOrigin, large: Path) -> None:
    """It takes longer than -y, and nothing comes meanwhile."""

    def read(exchange: Exchange) -> bool:
        wait = threading.Event()
        left = LARGE
        while left > 0 and (piece := exchange.take(min(left, 70_000))):
            left -= len(piece)
            wait.wait(0.08)
        exchange.reply(200)
        return exchange.wait_for_peer_to_close()

    done, seconds = limited(run, "-y", "1", "-Y", "1000", "-T", large, origin.on_head("/slow", read))
    assert done.returncode == OK, done.stderr
    assert seconds > 3


def test_an_upload_that_is_read_no_more_is_too_slow(run: Run, origin: ScriptedOrigin, large: Path) -> None:
    released = threading.Event()
    url = origin.on_head("/stalled", lambda _: released.wait(PATIENCE_SECONDS))
    done, seconds = limited(run, "-y", "1", "-Y", "1000", "-T", large, url)
    released.set()
    assert_too_slow(done, 1_000, 1)
    assert seconds >= 6
