"""The fake daemon of `carpool.testing` under the adapters: the event of the head, and bodies through descriptors."""

from __future__ import annotations

import json
import os
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
from carpool.httpx import CarpoolTransport
from carpool.requests import CarpoolAdapter
from carpool.testing import FakeDaemon
from harness.daemon import Daemon
from harness.doubles import DEAD, LARGE, REPLIES, differing, mock, serve
from harness.transports import content, sending
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import ScriptedOrigin

CONFIG = {"cache": "no_store"}
"""The fake daemon has no cache, which each record would mention."""


KINDS = ["blocking", "asyncio", "trio"]
URL = "http://fake.example"
EVENTS = {"types": ["task.did_receive_response"]}


def messages(path: Path, url: str, body: bytes | None, params: dict[str, Any]) -> list[Any]:
    """Return what a daemon sends for one request: on the socket, and through a pipe if `response_body` is a descriptor.

    `body` is that of the request, through a descriptor too.
    """
    ours, theirs = socket.socketpair()
    reading, writing = os.pipe()
    descriptors = [writing] if "response_body" in params else []
    if body is not None:
        params = {**params, "method": "POST", "kind": "upload", "body": {"fd": len(descriptors)}}
        descriptors.append(theirs.fileno())
    call = {"jsonrpc": "2.0", "id": 1, "method": "request.perform", "params": {**params, "url": url}}
    hello = {"jsonrpc": "2.0", "method": "client.hello", "params": {"max_line_bytes": 1 << 20}}
    with socket.socket(socket.AF_UNIX) as connection, ours, theirs, os.fdopen(reading, "rb") as pipe:
        connection.settimeout(PATIENCE_SECONDS)
        connection.connect(str(path))
        connection.sendall(json.dumps(hello).encode() + b"\n")
        socket.send_fds(connection, [json.dumps(call).encode() + b"\n"], descriptors)
        os.close(writing)
        ours.sendall(body or b"")
        ours.shutdown(socket.SHUT_WR)
        written: list[bytes] = []
        reader = threading.Thread(target=lambda: written.append(pipe.read()), daemon=True)
        reader.start()
        found: list[Any] = []
        with connection.makefile("rb") as lines:
            while not found or "id" not in found[-1]:
                found.append(json.loads(lines.readline()))
        reader.join(PATIENCE_SECONDS)
    return [*found, {"text": written[0].decode("latin-1")}]


PIPE: dict[str, Any] = {"response_body": {"fd": 0}, "events": EVENTS}
SHORT: dict[str, Any] = {"response_body": {"fd": 0, "inline_bytes": 16_384}, "events": EVENTS, "detail": "short"}
RETRY: dict[str, Any] = {"interceptor": [{"retry_policy": {"scale_ms": 1, "without_validation": True}}]}
EXCHANGES: dict[str, tuple[str, bytes | None, dict[str, Any]]] = {
    **{f"{path} to a pipe": (path, None, PIPE) for path in REPLIES},
    **{f"{path}, inline if it is short": (path, None, SHORT) for path in REPLIES},
    "without a pipe": ("/json", None, {"events": EVENTS}),
    "a streamed body": ("/echo", b"abc" * 40_000, PIPE),
    "a streamed body, and a short one": ("/echo", b"abc", SHORT),
    "a streamed body without a pipe": ("/echo", b"abc", {"detail": "short"}),
    "no streamed body": ("/echo", b"", SHORT),
    "retried": ("/busy", None, PIPE | RETRY),
    "refused": ("/missing", None, PIPE | {"validate": True}),
    "broken": ("/broken", None, PIPE),
    "dead": ("", None, SHORT),
}


@pytest.mark.parametrize("name", EXCHANGES)
def test_an_exchange_has_the_messages_of_the_daemon(daemon: Daemon, origin: ScriptedOrigin, name: str) -> None:
    url = serve(origin)
    path, body, params = EXCHANGES[name]
    asked = url + path if path else DEAD
    with FakeDaemon() as fake:
        mock(fake, url)
        found = messages(Path(fake.socket), asked, body, params)
    assert differing(found, messages(daemon.socket, asked, body, params)) == {}
    assert len(found) >= 2


@pytest.fixture
def fake() -> Iterator[FakeDaemon]:
    with FakeDaemon() as running:
        mock(running, URL)
        yield running


@pytest.mark.parametrize("path", ["/json", "/large", "/text", "/empty", "/missing", "/old"])
def test_the_adapters_use_the_fake(fake: FakeDaemon, path: str) -> None:
    with requests.Session() as session, httpx.Client(transport=CarpoolTransport()) as client:
        session.mount("http://", CarpoolAdapter())
        status, body, _ = REPLIES["/new" if path == "/old" else path]
        for _ in range(2):
            response = session.get(URL + path)
            assert (response.status_code, response.content) == (status, body)
            answer = client.get(URL + path, follow_redirects=True)
            assert (answer.status_code, answer.content) == (status, body)
        response = session.post(f"{URL}/echo", data=b"abc", allow_redirects=False)
        assert response.content == b"POSTabc"
        with pytest.raises(requests.ConnectionError):
            session.get(DEAD)
        with pytest.raises(httpx.ConnectError):
            client.get(DEAD)
    assert fake.running == {}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0, 3, 300_000])
def test_bodies_that_are_streamed(fake: FakeDaemon, kind: str, size: int) -> None:
    blocks = [b"x" * min(50_000, size - start) for start in range(0, size, 50_000)]
    response = sending(kind)("POST", f"{URL}/echo", content=content(kind, blocks))
    assert response.content == b"POST" + b"x" * size
    assert fake.requests[-1].content == b"x" * size


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_that_is_not_complete_is_not_received(fake: FakeDaemon, kind: str) -> None:
    def blocks() -> Iterator[bytes]:
        yield b"first"
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        sending(kind)("POST", f"{URL}/echo", content=content(kind, blocks()))
    with fake.changed:
        assert fake.changed.wait_for(lambda: all(each.is_over for each in fake.running.values()), PATIENCE_SECONDS)
    assert fake.requests == []


def test_a_response_that_breaks_off(fake: FakeDaemon) -> None:
    with requests.Session() as session:
        session.mount("http://", CarpoolAdapter())
        with pytest.raises(requests.exceptions.ChunkedEncodingError):
            session.get(f"{URL}/broken")


def test_the_head_comes_before_the_body(fake: FakeDaemon) -> None:
    """The body does not fit the pipe, so that the request is not over when the head is read."""
    fake.route("GET", f"{URL}/long", content=LARGE * 20)
    with httpx.Client(transport=CarpoolTransport()) as client, client.stream("GET", f"{URL}/long") as response:
        assert [request.is_over for request in fake.running.values()] == [False]
        assert response.status_code == 200
        assert response.read() == LARGE * 20


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"events": {"types": ["*"]}}, "params.events: .* events but task.did_receive_response"),
        ({"events": EVENTS, "hold_for_headers": True}, "params.events: .* that is not held"),
        ({"response_body": {"fd": 1}}, "params.response_body: .* a descriptor but one that came with the line"),
    ],
)
def test_what_is_refused(fake: FakeDaemon, params: dict[str, Any], words: str) -> None:
    answer = messages(Path(fake.socket), f"{URL}/json", None, params)[-2]
    assert re.search(words, answer["error"]["message"])
    assert (fake.requests, fake.running) == ([], {})
