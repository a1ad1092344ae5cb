"""`carpool --retry`: transient failures are retried, and the last response is printed or validated as usual."""

from __future__ import annotations

import pytest
from harness.command import HTTP_FAILURE, OK, TRANSFER_FAILED, USAGE, Done, Run
from origins.scripted import Exchange, ScriptedOrigin


def told(done: Done) -> tuple[int, bytes]:
    return done.returncode, done.stdout


def busy(origin: ScriptedOrigin, times: int) -> str:
    """Return the URL of a path that answers 503 the first `count` times."""

    def handler(exchange: Exchange) -> None:
        is_busy = len(origin.requests) <= times
        exchange.reply(503 if is_busy else 200, b"busy" if is_busy else b"done")

    return origin.on("/busy", handler)


def test_a_status_that_passes_is_not_seen(run: Run, origin: ScriptedOrigin) -> None:
    assert told(run("get", "--retry", "2", busy(origin, 1))) == (OK, b"done")
    assert len(origin.requests) == 2


@pytest.mark.parametrize(("options", "expected"), [([], (OK, b"busy")), (["--fail"], (HTTP_FAILURE, b""))])
def test_a_status_that_stays_is_the_response(
    run: Run, origin: ScriptedOrigin, options: list[str], expected: tuple[int, bytes]
) -> None:
    assert told(run("get", *options, "--retry", "1", busy(origin, 9))) == expected
    assert len(origin.requests) == 2


def test_a_transfer_that_fails_is_tried_again(run: Run, origin: ScriptedOrigin) -> None:
    assert run("get", "--retry", "1", origin.on("/", lambda exchange: exchange.reset())).returncode == TRANSFER_FAILED
    assert len(origin.requests) == 2


def test_a_post_and_what_will_not_pass_are_sent_once(run: Run, origin: ScriptedOrigin) -> None:
    missing = origin.on("/missing", lambda exchange: exchange.reply(404, b"nothing"))
    assert told(run("get", "--retry", "3", missing)) == (OK, b"nothing")
    assert told(run("post", "-d", "x", "--retry", "3", busy(origin, 9))) == (OK, b"busy")
    assert len(origin.requests) == 2


def test_without_the_option_nothing_is_sent_again(run: Run, origin: ScriptedOrigin) -> None:
    assert told(run("get", busy(origin, 9))) == (OK, b"busy")
    assert told(run("get", "--retry", "0", busy(origin, 9))) == (OK, b"busy")
    assert len(origin.requests) == 2


def test_a_count_is_a_number(run: Run, origin: ScriptedOrigin) -> None:
    assert told(run("get", "--retry", "often", origin.url)) == (USAGE, b"")
