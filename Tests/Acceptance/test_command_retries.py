"""`carpool --retry`: what may pass is sent again, and what came last is printed or judged as any response."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest
from harness.daemon import CARPOOL, Daemon
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import Exchange, ScriptedOrigin

OK, USAGE, HTTP_FAILURE, TRANSFER_FAILED = 0, 2, 5, 7
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(daemon: Daemon) -> Run:
    def call(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [CARPOOL, *arguments],
            env={**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket)},
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        return done.returncode, done.stdout

    return call


def busy(origin: ScriptedOrigin, times: int) -> str:
    """Return the URL of a path that is busy the first so many times."""

    def handler(exchange: Exchange) -> None:
        is_busy = len(origin.requests) <= times
        exchange.reply(503 if is_busy else 200, b"busy" if is_busy else b"done")

    return origin.on("/busy", handler)


def test_a_status_that_passes_is_not_seen(run: Run, origin: ScriptedOrigin) -> None:
    assert run("get", "--retry", "2", busy(origin, 1)) == (OK, "done")
    assert len(origin.requests) == 2


@pytest.mark.parametrize(("options", "expected"), [([], (OK, "busy")), (["--fail"], (HTTP_FAILURE, ""))])
def test_a_status_that_stays_is_the_response(
    run: Run, origin: ScriptedOrigin, options: list[str], expected: tuple[int, str]
) -> None:
    assert run("get", *options, "--retry", "1", busy(origin, 9)) == expected
    assert len(origin.requests) == 2


def test_a_transfer_that_fails_is_tried_again(run: Run, origin: ScriptedOrigin) -> None:
    assert run("get", "--retry", "1", origin.on("/", lambda exchange: exchange.reset()))[0] == TRANSFER_FAILED
    assert len(origin.requests) == 2


def test_a_post_and_what_will_not_pass_are_sent_once(run: Run, origin: ScriptedOrigin) -> None:
    missing = origin.on("/missing", lambda exchange: exchange.reply(404, b"nothing"))
    assert run("get", "--retry", "3", missing) == (OK, "nothing")
    assert run("post", "-d", "x", "--retry", "3", busy(origin, 9)) == (OK, "busy")
    assert len(origin.requests) == 2


def test_without_the_option_nothing_is_sent_again(run: Run, origin: ScriptedOrigin) -> None:
    assert run("get", busy(origin, 9)) == (OK, "busy")
    assert run("get", "--retry", "0", busy(origin, 9)) == (OK, "busy")
    assert len(origin.requests) == 2


def test_a_count_is_a_number(run: Run, origin: ScriptedOrigin) -> None:
    assert run("get", "--retry", "often", origin.url) == (USAGE, "")
