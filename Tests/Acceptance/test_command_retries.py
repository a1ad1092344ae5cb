"""`carpool --retry`: transient failures are retried, and the last response is printed or validated as usual."""

from __future__ import annotations

import signal
import time

import pytest
from harness.command import HTTP_FAILURE, OK, TIMED_OUT, TRANSFER_FAILED, USAGE, Done, Run
from harness.tool import Tool
from harness.waiting import PATIENCE_SECONDS
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


def waits(done: Done) -> list[str]:
    return [line for line in done.stderr.decode().splitlines() if "Will retry" in line]


# Ways by which a response goes: to a pipe, through the command, whole, to a file, several at once, a stream.
WAYS = [[], ["-i"], ["--whole"], ["-o", "file"], ["--parallel", "2"], ["--lines"]]


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_each_wait_is_told(run: Run, origin: ScriptedOrigin, way: list[str]) -> None:
    urls = [busy(origin, 2)] * (2 if "--parallel" in way else 1)
    done = run("get", "--retry", "3", "--retry-delay", "20ms", *way, *urls)
    assert done.returncode == OK
    told_waits = waits(done)
    name = f"{urls[0]}: " if len(urls) > 1 else ""
    assert told_waits[0].startswith(f"carpool: {name}Problem HTTP status 503. Will retry in 0 seconds. ")
    assert len(told_waits) == len(origin.requests) - len(urls) == 2
    if len(urls) == 1:
        assert told_waits[0].endswith("3 retries left.") and told_waits[1].endswith("2 retries left.")


@pytest.mark.parametrize("way", [[], ["--parallel", "2"]], ids=" ".join)
def test_a_wait_of_several_has_the_url(run: Run, origin: ScriptedOrigin, way: list[str]) -> None:
    statuses = iter([503, 200])
    urls = [
        origin.on("/busy", lambda exchange: exchange.reply(next(statuses))),
        origin.on("/idle", lambda exchange: exchange.reply()),
    ]
    done = run("get", "--retry", "1", "--retry-delay", "20ms", *way, *urls)
    told_waits = waits(done)
    assert told_waits[0].startswith(f"carpool: {urls[0]}: Problem HTTP status 503. Will retry") and len(told_waits) == 1


def test_a_failure_is_told_with_its_reason(run: Run, origin: ScriptedOrigin) -> None:
    done = run("get", "--retry", "1", "--retry-delay", "10ms", origin.on("/", lambda exchange: exchange.reset()))
    assert done.returncode == TRANSFER_FAILED
    [line] = waits(done)
    assert "Problem" in line and line.endswith("1 retry left.") and "HTTP status" not in line
    assert waits(run("get", "-s", "--retry", "1", "--retry-delay", "10ms", origin.on("/", lambda x: x.reset()))) == []


def retry_after(origin: ScriptedOrigin, seconds: int) -> str:
    return origin.on("/later", lambda exchange: exchange.reply(503, b"busy", headers=[("Retry-After", str(seconds))]))


@pytest.mark.parametrize("way", [*WAYS[:4], ["--lines"]], ids=" ".join)
def test_a_wait_that_is_longer_than_the_time_limit_ends_at_once(
    run: Run, origin: ScriptedOrigin, way: list[str]
) -> None:
    start = time.monotonic()
    done = run("get", "--retry", "1", "-m", "600", *way, retry_after(origin, 86_400))
    assert done.returncode == TIMED_OUT and time.monotonic() - start < 300
    assert b"the next attempt would begin in 21600000 ms, after the limit of 600000 ms" in done.stderr
    assert b"503" in done.stderr
    assert waits(done) == [] and len(origin.requests) == 1


def test_a_wait_has_a_maximum_and_is_told(variables: dict[str, str], origin: ScriptedOrigin) -> None:
    with Tool(variables, "get", "--retry", "1", retry_after(origin, 86_400)) as tool:
        tool.until_told("carpool: Problem HTTP status 503. Will retry in 21600 seconds. 1 retry left.")
        assert tool.end(signal.SIGINT) == -signal.SIGINT


def test_no_retry_begins_after_the_maximum(run: Run, origin: ScriptedOrigin) -> None:
    done = run("get", "-f", "--retry", "9", "--retry-max-time", "60", retry_after(origin, 61))
    assert (done.returncode, len(origin.requests), waits(done)) == (HTTP_FAILURE, 1, [])
    assert told(run("get", "--retry", "9", "--retry-max-time", "60", "--retry-delay", "61", busy(origin, 9)))[0] == OK
    assert len(origin.requests) == 2


def test_all_errors_are_retried_if_that_is_asked_for(run: Run, origin: ScriptedOrigin) -> None:
    missing = origin.on("/missing", lambda exchange: exchange.reply(404, b"nothing"))
    options = ["--retry", "2", "--retry-delay", "10ms"]
    assert told(run("get", "-f", *options, "--retry-all-errors", missing)) == (HTTP_FAILURE, b"")
    assert len(origin.requests) == 3
    assert told(run("post", "-d", "x", *options, "--retry-all-errors", missing)) == (OK, b"nothing")
    assert len(origin.requests) == 4, "a POST is not repeated"


@pytest.mark.parametrize("option", [["--retry-delay", "1"], ["--retry-max-time", "1"], ["--retry-all-errors"]])
def test_an_option_without_retries_is_refused(run: Run, origin: ScriptedOrigin, option: list[str]) -> None:
    done = run("get", *option, origin.url)
    assert done.returncode == USAGE and b"it needs --retry N" in done.stderr
    assert origin.requests == []


# Streams: what standard output has got cannot be taken back.

SHORT = ["--retry", "2", "--retry-delay", "10ms"]


def failing_at_first(origin: ScriptedOrigin, times: int, first: bytes) -> str:
    """Return the URL of an event stream that answers 503 with a body the first `times` times."""

    def handler(exchange: Exchange) -> None:
        is_busy = len(origin.requests) <= times
        exchange.reply(503 if is_busy else 200, first if is_busy else b"data: done\n\n")

    return origin.on("/stream", handler)


@pytest.mark.parametrize("size", [0, 100, 5_000_000])
@pytest.mark.parametrize("options", [[], ["-i"], ["-f"]], ids=" ".join)
@pytest.mark.parametrize("way", ["--lines", "--sse"])
def test_a_stream_prints_nothing_of_a_response_that_is_retried(
    run: Run, origin: ScriptedOrigin, way: str, options: list[str], size: int
) -> None:
    url = failing_at_first(origin, 2, b"data: busy\n\n" + b"x" * size)
    done = run("get", way, *SHORT, *options, url)
    head, _, body = done.stdout.rpartition(b"\r\n\r\n")
    assert (done.returncode, len(origin.requests)) == (OK, 3), done.stderr
    assert (b"done" in body, b"busy" in done.stdout, b"x" in body) == (True, False, False)
    assert head.split(b"\r\n")[0] == (b"HTTP/1.1 200" if "-i" in options else b"")


@pytest.mark.parametrize(
    ("options", "expected"), [([], (OK, b"data: busy\n\n")), (["-f"], (HTTP_FAILURE, b""))], ids=["printed", "-f"]
)
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_stream_prints_the_last_response(
    run: Run, origin: ScriptedOrigin, method: str, options: list[str], expected: tuple[int, bytes]
) -> None:
    url = failing_at_first(origin, 9, b"data: busy\n\n")
    assert told(run(method, "--lines", *SHORT, *options, url)) == expected
    assert len(origin.requests) == (3 if method == "get" else 1)


@pytest.mark.parametrize("upload", [[], ["-T", "-"]], ids=["get", "upload"])
def test_a_stream_that_breaks_off_is_not_printed_again(run: Run, origin: ScriptedOrigin, upload: list[str]) -> None:
    def handler(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n%d\nhalf" % len(origin.requests))
        exchange.close()

    done = run("put" if upload else "get", "--lines", *SHORT, *upload, origin.on("/broken", handler), stdin=b"body")
    assert told(done) == (TRANSFER_FAILED, b"1\nhalf\n")
    assert len(origin.requests) <= (3 if upload else 1)


def test_a_stream_that_begins_late_is_printed_while_it_comes(variables: dict[str, str], origin: ScriptedOrigin) -> None:
    gate = origin.hold("/never")

    def handler(exchange: Exchange) -> None:
        if len(origin.requests) == 1:
            exchange.reset()
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nfirst\n")
        gate.wait(PATIENCE_SECONDS)
        exchange.send(b"other\n")

    with Tool(variables, "get", "--lines", *SHORT, origin.on("/late", handler)) as tool:
        assert tool.line() == "first"
        gate.set()
        assert (tool.line(), tool.end()) == ("other", OK)
    assert len(origin.requests) == 2
