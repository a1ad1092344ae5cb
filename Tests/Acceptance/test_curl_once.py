"""What changes something is sent once, as by curl, although `carpool curl` finds pooled connections.

curl makes a connection for each command. A server that closes it after it has read the request gets the request once,
and curl ends with 52 or 56. Over a pooled connection libcurl sends it again: that is left to it for GET and HEAD alone,
because a connection that the server closes at the same time would be a failure that curl does not have.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from harness.command import OK, Run
from harness.daemon import Daemon
from harness.waiting import eventually
from origins.scripted import Exchange, ScriptedOrigin

EMPTY_REPLY, RECEIVE_FAILED = 52, 56

REQUESTS = {
    "GET": [],
    "HEAD": ["-I"],
    "POST": ["-d", "a=1"],
    "form": ["-F", "a=1"],
    "PUT": ["-T", "body"],
    "chunked": ["-T", "-"],
    "PATCH": ["-X", "PATCH", "-d", "a=1"],
    "DELETE": ["-X", "DELETE"],
    "large": ["-d", "@large"],
}
SAFE = {"GET", "HEAD"}


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "body").write_bytes(b"the body")
    (tmp_path / "large").write_bytes(b"x" * 3_000_000)


def test_a_refused_body_without_end_is_not_read(run: Run, origin: ScriptedOrigin) -> None:
    def flood(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 404 Gone\r\nContent-Length: 100000000000\r\n\r\n")
        with contextlib.suppress(OSError):
            while True:
                exchange.send(bytes(65_536))

    done = run("curl", "--no-fallback", "-sSf", origin.on("/flood", flood))
    assert (done.returncode, done.stdout) == (22, b"")


def warm(run: Run, origin: ScriptedOrigin) -> None:
    """Leave a connection to the origin in the pool."""
    assert run("curl", "-sS", origin.url).returncode == OK


@pytest.mark.parametrize("kind", REQUESTS)
@pytest.mark.parametrize("end", ["close", "reset"])
def test_a_request_that_was_read_is_not_sent_again(run: Run, origin: ScriptedOrigin, kind: str, end: str) -> None:
    def leave(exchange: Exchange) -> None:
        getattr(exchange, end)()

    url = origin.on("/gone", leave)
    times = 2 if kind in SAFE else 1
    for number in range(2):
        warm(run, origin)
        done = run("curl", "--no-fallback", "-sS", *REQUESTS[kind], url, stdin=b"the body")
        assert done.returncode in ({EMPTY_REPLY} if end == "close" else {RECEIVE_FAILED, EMPTY_REPLY}), done.stderr
        seen = [request for request in origin.requests if request.target == "/gone"]
        assert len(seen) == times * (number + 1), done.stderr


@pytest.mark.parametrize("kind", REQUESTS)
def test_a_connection_that_the_server_has_closed_is_not_used(
    run: Run, daemon: Daemon, origin: ScriptedOrigin, kind: str
) -> None:
    for _ in range(5):
        warm(run, origin)
        origin.close_connections()
        before = len(origin.requests)
        assert run("curl", "--no-fallback", "-sS", *REQUESTS[kind], origin.url, stdin=b"the body").returncode == OK
        assert len(origin.requests) == before + 1
    eventually(lambda: daemon.stats()["transfers"]["active"] == 0)


@pytest.mark.parametrize("kind", REQUESTS)
def test_an_answer_that_closes_the_connection_counts_once(run: Run, origin: ScriptedOrigin, kind: str) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.reply(headers=[("Connection", "close")], body=b"once")
        exchange.close()

    url = origin.on("/once", answer)
    for number in range(1, 6):
        assert run("curl", "--no-fallback", "-sS", *REQUESTS[kind], url, stdin=b"the body").returncode == OK
        assert len(origin.requests) == number


def test_retries_are_those_that_were_asked_for(run: Run, origin: ScriptedOrigin) -> None:
    url = origin.on("/busy", lambda exchange: exchange.reply(503, headers=[("Retry-After", "0")]))
    assert run("curl", "-sS", "-d", "a", url).returncode == OK
    assert len(origin.requests) == 1
    assert run("curl", "-sS", "--retry", "2", "--retry-delay", "0", "-d", "a", url).returncode == OK
    assert [request.body for request in origin.requests[1:]] == [b"a"] * 3


@pytest.mark.parametrize(("status", "expected"), [(302, ("GET", b"")), (307, ("POST", b"a=1"))])
def test_a_body_is_sent_again_only_by_a_redirect_that_says_so(
    run: Run, origin: ScriptedOrigin, status: int, expected: tuple[str, bytes]
) -> None:
    url = origin.on("/from", lambda exchange: exchange.reply(status, headers=[("Location", "/to")]))
    assert run("curl", "-sSL", "-d", "a=1", url).returncode == OK
    first, second = origin.requests
    assert (first.method, first.body) == ("POST", b"a=1")
    assert (second.method, second.body) == expected
