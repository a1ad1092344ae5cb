"""Bodies that can be read once, such as pipes, and faults after which a request is sent again.

The origin gets the whole body, or the request fails by name. No sending begins in the middle.
"""

from __future__ import annotations

import base64
import os
import random
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from harness.command import OK, Run
from harness.daemon import Daemon
from harness.wire import Wire
from origins import frames as h2
from origins.peer import StartPeer, Talk
from origins.scripted import Exchange, ScriptedOrigin

CONTENT = random.Random(3).randbytes(1_500_000)
SMALL, LARGE = 5, len(CONTENT)
"""What the daemon can send again as a stream, and what it cannot."""
PIECE = 40_000
RETRY = [{"retry_policy": {"scale_ms": 1, "methods": ["PUT"]}}]
DIGEST = 'Digest realm="r", nonce="n", qop="auth", algorithm=MD5'
EXHAUSTED = "session_task_failed.request_body_stream_exhausted"
LOST = "session_task_failed.network_connection_lost"
FAILURES = {EXHAUSTED, LOST, "request_retry_failed"}


class Sendings:
    """What came of the body, each time that a request was sent: all of it, or the part before the fault."""

    def __init__(self, size: int, *, kind: str) -> None:
        self.content = CONTENT[:size]
        self.kind = kind
        self.bodies: list[bytes] = []

    def whole(self, body: bytes) -> bool:
        if self.kind == "part":
            return body.count(b"\r\n\r\n" + self.content + b"\r\n--B--") == 1
        return body == self.content

    def check(self, outcome: dict[str, Any]) -> None:
        if self.kind == "part":
            begins = [body.partition(b"\r\n\r\n")[2] for body in self.bodies]
            assert all(begin[:SMALL] == self.content[: len(begin[:SMALL])] for begin in begins)
        else:
            assert all(self.content.startswith(body) for body in self.bodies), [len(body) for body in self.bodies]
        if outcome["ok"]:
            assert self.whole(self.bodies[-1]), [len(body) for body in self.bodies]
        else:
            assert outcome["error"]["name"] in FAILURES, outcome


@pytest.fixture(params=[SMALL, LARGE], ids=["small", "large"])
def size(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(params=["pipe", "known", "part", "stream"])
def sendings(request: pytest.FixtureRequest, size: int) -> Sendings:
    return Sendings(size, kind=request.param)


def send(daemon: Daemon, sendings: Sendings, **params: Any) -> dict[str, Any]:
    """Make a request with the body, and return its record."""
    params = {"method": "PUT", "resource_timeout_ms": 30_000, **params}
    with daemon.wire() as wire:
        return give(wire, sendings, params) if sendings.kind == "stream" else pass_pipe(wire, sendings, params)


def give(wire: Wire, sendings: Sendings, params: dict[str, Any]) -> dict[str, Any]:
    request = wire.call("request.submit", body={"stream": True}, **params)["request"]
    for begin in range(0, len(sendings.content), PIECE):
        piece = base64.b64encode(sendings.content[begin : begin + PIECE]).decode()
        call = wire.request("body.put", request=request, base64=piece, end=begin + PIECE >= len(sendings.content))
        if "error" in wire.answer(call):
            break
    return dict(wire.call("request.wait", request=request))


def pass_pipe(wire: Wire, sendings: Sendings, params: dict[str, Any]) -> dict[str, Any]:
    read, write = os.pipe()
    threading.Thread(target=fill, args=(write, sendings.content), daemon=True).start()
    body: dict[str, Any] = {"fd": 0}
    if sendings.kind != "pipe":
        body["length_bytes"] = len(sendings.content)
    if sendings.kind == "part":
        body = {"multipart": [{"name": "a", **body}], "boundary": "B"}
    call = wire.request_with([read], "request.perform", body=body, **params)
    os.close(read)
    answer = wire.answer(call)
    return dict(answer["result"])


def fill(write: int, content: bytes) -> None:
    with os.fdopen(write, "wb", buffering=0) as pipe:
        try:
            while content:
                content = content[pipe.write(content) or 0 :]
        except BrokenPipeError:
            pass


# MARK: over HTTP/1.1


def dechunked(exchange: Exchange, raw: bytes) -> bytes:
    """Return the bytes of a part of a body as it came."""
    if "chunked" not in exchange.request.values("transfer-encoding"):
        return raw
    content = b""
    while (line := raw.partition(b"\r\n"))[1]:
        count = int(line[0], 16)
        content += line[2][:count]
        raw = line[2][count + 2 :]
    return content


def breaking(
    origin: ScriptedOrigin, sendings: Sendings, faults: int, after: int, end: Callable[[Exchange], None]
) -> str:
    """Return a URL at which the first requests are read up to a byte, and ended; the next ones are answered."""
    left = [faults]

    def head(exchange: Exchange) -> bool:
        if not left[0]:
            return False
        left[0] -= 1
        sendings.bodies.append(dechunked(exchange, exchange.take(after)))
        end(exchange)
        return True

    def whole(exchange: Exchange) -> None:
        sendings.bodies.append(exchange.request.body)
        exchange.reply(200)

    origin.on("/put", whole)
    return origin.on_head("/put", head)


@pytest.mark.parametrize("retries", [False, True], ids=["once", "retried"])
@pytest.mark.parametrize("kept", [False, True], ids=["new", "kept"])
@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize("end", [Exchange.reset, Exchange.close], ids=["reset", "close"])
def test_a_connection_that_breaks(
    daemon: Daemon, origin: ScriptedOrigin, sendings: Sendings, end: Callable[[Exchange], None], after: int,
    kept: bool, retries: bool,
) -> None:  # fmt: skip
    url = breaking(origin, sendings, 1, after, end)
    with daemon.wire() as wire:
        if kept:
            wire.call("request.perform", url=origin.url)
    record = send(daemon, sendings, url=url, **({"interceptor": RETRY} if retries else {}))
    assert sendings.bodies
    sendings.check(record["outcome"])


def answering(origin: ScriptedOrigin, sendings: Sendings, first: tuple[int, list[tuple[str, str]]]) -> str:
    """Return a URL at which the first request gets this answer, and the next ones 200."""
    answers = [first]

    def answer(exchange: Exchange) -> None:
        sendings.bodies.append(exchange.request.body)
        status, fields = answers.pop() if answers else (200, [])
        exchange.reply(status, headers=fields)

    origin.on("/new", answer)
    return origin.on("/put", answer)


@pytest.mark.parametrize(
    ("status", "fields"),
    [(307, [("Location", "/new")]), (308, [("Location", "/new")]), (421, []), (425, []), (503, []), (417, []),
     (401, [("WWW-Authenticate", DIGEST)])],
)  # fmt: skip
@pytest.mark.parametrize("exact", [False, True], ids=["usual", "exact"])
def test_an_answer_after_which_it_is_sent_again(
    daemon: Daemon, origin: ScriptedOrigin, sendings: Sendings, status: int, fields: list[tuple[str, str]], exact: bool
) -> None:
    url = answering(origin, sendings, (status, fields))
    more: dict[str, Any] = {"credential": {"username": "a", "password": "b"}, "default_headers": not exact}
    if not exact:
        more["interceptor"] = [{"retry_policy": {"scale_ms": 1, "methods": ["PUT"], "statuses": [421, 425, 503]}}]
    record = send(daemon, sendings, url=url, validate=status in {421, 425, 503}, **more)
    if not record["outcome"]["ok"] and record["outcome"]["error"]["name"].startswith("response_validation"):
        assert len(sendings.bodies) == 1
        return
    sendings.check(record["outcome"])


# MARK: over HTTP/2


@pytest.fixture
def multiplex(daemon: Daemon) -> Iterator[Daemon]:
    if daemon.call("daemon.info")["libcurl"]["profile"] != "multiplex":
        pytest.skip("the older libcurl sends bodies of this kind over HTTP/1.1")
    yield daemon


def read_body(connection: socket.socket, least: int) -> tuple[int, bytes, bool]:
    """Return the stream of the next request, so many bytes of its body and whether that is all of it."""
    stream, body = 0, b""
    while True:
        kind, flags, number, payload = h2.read(connection)
        if kind == h2.HEADERS:
            stream = number
        if kind == h2.DATA and number == stream:
            body += payload
            if payload:
                room = len(payload).to_bytes(4, "big")
                for target in (0, stream):
                    connection.sendall(h2.frame(h2.WINDOW_UPDATE, 0, target, room))
        has_ended = bool(flags & h2.END_STREAM) and number == stream and kind in {h2.HEADERS, h2.DATA}
        if stream and (has_ended or len(body) >= least):
            return stream, body, has_ended


def refusing(sendings: Sendings, fault: str, after: int, kept: bool) -> Talk:
    """Make a server that refuses the first request with a body, and answers the next ones."""
    refused = threading.Event()

    def answer(connection: socket.socket, stream: int) -> None:
        connection.sendall(h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, stream, h2.OK))

    def talk(connection: socket.socket) -> None:
        connection.sendall(h2.frame(h2.SETTINGS, 0, 0, h2.MANY_STREAMS) + h2.frame(h2.SETTINGS, h2.ACKNOWLEDGED, 0))
        h2.read_exactly(connection, h2.PREFACE_BYTES)
        if kept and not refused.is_set():
            answer(connection, read_body(connection, 1)[0])
        while refused.is_set():
            stream, body, _ = read_body(connection, 1 << 40)
            sendings.bodies.append(body)
            answer(connection, stream)
        refused.set()
        stream, body, _ = read_body(connection, after)
        sendings.bodies.append(body)
        if fault == "goaway":
            connection.sendall(h2.goaway(max(0, stream - 2)))
        elif fault == "refused":
            connection.sendall(h2.reset(stream, h2.REFUSED_STREAM))
        else:
            return
        h2.wait_for_the_end(connection)

    return talk


@pytest.mark.parametrize("retries", [False, True], ids=["once", "retried"])
@pytest.mark.parametrize("kept", [False, True], ids=["new", "kept"])
@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize("fault", ["refused", "goaway", "close"])
def test_a_stream_that_is_refused(
    multiplex: Daemon, peer: StartPeer, sendings: Sendings, fault: str, after: int, kept: bool, retries: bool
) -> None:
    origin = peer(refusing(sendings, fault, after, kept), tls=True, protocols=("h2",))
    target = {"url": f"https://127.0.0.1:{origin['port']}/", "trust": origin["trust"]}
    with multiplex.wire() as wire:
        if kept:
            assert wire.call("request.perform", **target)["outcome"]["ok"]
    record = send(multiplex, sendings, **target, **({"interceptor": RETRY} if retries else {}))
    assert sendings.bodies
    sendings.check(record["outcome"])


# MARK: of the command


@pytest.mark.parametrize("end", [Exchange.reset, Exchange.close], ids=["reset", "close"])
@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize("command", ["put", "post"])
def test_the_command_sends_standard_input_once(
    run: Run, origin: ScriptedOrigin, size: int, command: str, after: int, end: Callable[[Exchange], None]
) -> None:
    sendings = Sendings(size, kind="pipe")
    url = breaking(origin, sendings, 1, after, end)
    done = run(command, "--retry", "2", "-T", "-", url, stdin=sendings.content)
    assert all(sendings.content.startswith(body) for body in sendings.bodies)
    assert (done.returncode == OK) == sendings.whole(sendings.bodies[-1])
