"""Uploads with faults: early answers, dead connections, silent origins."""

from __future__ import annotations

import errno
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.story import Story
from harness.waiting import eventually
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin


def enough_and_wait(exchange: Exchange) -> bool:
    exchange.reply(413, b"too much", [("Connection", "close")])
    exchange.shutdown()
    exchange.take()
    return True


def enough_and_close(exchange: Exchange) -> bool:
    exchange.reply(413, b"too much", [("Connection", "close")])
    return True


def enough_and_keep(exchange: Exchange) -> bool:
    exchange.reply(413, b"too much")
    exchange.take()
    return True


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large"
    path.write_bytes(random.Random(1).randbytes(5_000_000))
    return path


def uploads(client: carpool.Client, url: str, large: Path, kind: str) -> list[dict[str, Any]]:
    """The records of some uploads, one after the other."""
    body: dict[str, Any] = {"file": str(large)} if kind == "file" else {"stream": True}
    params = {"url": url, "kind": "upload", "body": body}
    requests = (client.call("request.submit", **params)["request"] for _ in range(5))
    return [client.call("request.wait", request=request) for request in requests]


def answer_of(record: dict[str, Any]) -> tuple[int, str]:
    assert record["outcome"]["ok"], record
    return record["response"]["status"], record["body"]["text"]


@pytest.mark.parametrize("answer", [enough_and_wait, enough_and_keep])
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_an_answer_before_the_body_is_sent(
    client: carpool.Client, origin: ScriptedOrigin, large: Path, answer: Callable[[Exchange], bool], kind: str
) -> None:
    """Delivered completely, whether or not the server ends the connection, also while the client has no data."""
    records = uploads(client, origin.on_head("/full", answer), large, kind)
    assert [answer_of(record) for record in records] == [(413, "too much")] * 5


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_an_answer_that_a_reset_may_overtake(
    client: carpool.Client, origin: ScriptedOrigin, large: Path, kind: str
) -> None:
    """The answer of a server that closes with unread bytes: delivered, unless it comes while a piece is being sent."""
    records = uploads(client, origin.on_head("/full", enough_and_close), large, kind)
    lost = [record for record in records if not record["outcome"]["ok"]]
    assert [answer_of(record) for record in records if record not in lost] == [(413, "too much")] * (5 - len(lost))
    assert len(lost) <= 1
    assert all(record["outcome"]["error"]["errno"] == errno.ECONNRESET for record in lost)


@pytest.mark.parametrize("scheme", ["http", "https", "https1"])
def test_an_early_answer_of_nginx(client: carpool.Client, nginx: Nginx, tmp_path: Path, scheme: str) -> None:
    """Over HTTP/2 too, where libcurl is fit for it: more than `client_max_body_size`."""
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(80 << 20)
    record = client.call(
        "request.perform",
        url=f"{getattr(nginx, scheme)}/put/huge",
        method="PUT",
        body={"file": str(tmp_path / "huge")},
        trust={"verify": False},
    )
    assert record["response"]["status"] == 413


def test_the_server_is_asked_only_if_that_is_wanted(
    client: carpool.Client, origin: ScriptedOrigin, large: Path
) -> None:
    def go_on(exchange: Exchange) -> None:
        if exchange.request.values("expect"):
            exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n")

    def refuse(exchange: Exchange) -> bool:
        exchange.reply(413, b"no", [("Connection", "close")])
        exchange.shutdown()
        bodies.append(len(exchange.take()))
        return True

    bodies: list[int] = []
    origin.on_head("/", go_on)
    origin.on("/", lambda exchange: exchange.reply(200))
    origin.on_head("/refuse", refuse)
    body = {"file": str(large)}
    client.call("request.perform", url=f"{origin.url}/", method="PUT", body=body)
    client.call("request.perform", url=f"{origin.url}/", method="PUT", body=body, expect_continue=True)
    record = client.call("request.perform", url=f"{origin.url}/refuse", method="PUT", body=body, expect_continue=True)
    assert [request.values("expect") for request in origin.requests] == [[], ["100-continue"]]
    assert [len(request.body) for request in origin.requests] == [5_000_000] * 2
    assert record["response"]["status"] == 413
    eventually(lambda: bodies == [0])


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_server_that_does_not_know_the_question(
    client: carpool.Client, origin: ScriptedOrigin, large: Path, method: str
) -> None:
    """417: the body is sent without Expect, and the answer is the second one alone."""

    def refuse(exchange: Exchange) -> bool:
        if not exchange.request.values("expect"):
            return False
        exchange.reply(417, b"what?", [("Connection", "close")])
        return True

    origin.on_head("/", refuse)
    origin.on("/", lambda exchange: exchange.reply(200, b"fine"))
    record = client.call(
        "request.perform", url=f"{origin.url}/", method=method, body={"file": str(large)}, expect_continue=True
    )
    assert (record["response"]["status"], record["body"].get("text")) == (200, "fine"), record
    assert [len(request.body) for request in origin.requests] == [5_000_000]


def test_a_pooled_connection_that_had_died(start: StartDaemon, origin: ScriptedOrigin) -> None:
    """A body that can be read again is resent from its beginning over a new connection, without an error."""

    died: list[int] = []

    def die(exchange: Exchange) -> bool:
        if died or not origin.requests:
            return False
        died.append(exchange.request.connection)
        exchange.take(1_000)
        exchange.reset()
        return True

    origin.on_head("/", die)
    origin.on("/", lambda exchange: exchange.reply(200))
    with start().client() as client:
        for _ in range(2):
            request = client.call("request.submit", url=f"{origin.url}/", method="PUT", body={"stream": True})[
                "request"
            ]
            client.call("body.put", request=request, text="x" * 100_000, end=True)
            assert client.call("request.wait", request=request)["outcome"]["ok"]
    assert died == [1]
    assert [(len(request.body), request.connection) for request in origin.requests] == [(100_000, 1), (100_000, 2)]


def test_rl_03_a_suspended_upload_sends_nothing(story: Story, origin: ScriptedOrigin) -> None:
    origin.on("/", lambda exchange: exchange.reply(200))
    request = story.submit(f"{origin.url}/", body={"stream": True})
    story.call("body.put", request=request, text="first")
    story.until("task.did_send_body_data", request)
    story.call("request.suspend", request=request)
    story.forget()
    story.call("body.put", request=request, text="second", end=True)
    story.call("daemon.ping")
    assert "task.did_send_body_data" not in story.words(request)
    story.call("request.resume", request=request)
    assert story.wait(request)["outcome"]["ok"]
    assert origin.requests[0].body == b"firstsecond"


def test_a_network_that_goes_silent(client: carpool.Client, origin: ScriptedOrigin, large: Path) -> None:
    """The origin stops reading, and the connection stays open."""
    gate = threading.Event()
    origin.on_head("/", lambda _: gate.wait(30))
    record = client.call(
        "request.perform", url=f"{origin.url}/", method="PUT", body={"file": str(large)}, timeout_ms=500
    )
    gate.set()
    error = record["outcome"]["error"]
    assert (error["name"], error["timeout"]) == ("session_task_failed.timed_out", "idle")


def test_a_file_that_becomes_shorter(client: carpool.Client, origin: ScriptedOrigin, large: Path) -> None:
    def cut(exchange: Exchange) -> bool:
        os.truncate(large, 1_000)
        exchange.take()
        return True

    origin.on_head("/", cut)
    with large.open("ab") as file:
        file.truncate(60_000_000)
    record = client.call("request.perform", url=f"{origin.url}/", method="PUT", body={"file": str(large)})
    error = record["outcome"]["error"]
    assert error["name"] == "session_task_failed.request_body_stream_exhausted"
    assert str(large) in error["message"]


@pytest.mark.parametrize("size", [1_000, 3_000_000])
def test_a_response_before_the_body_ends_the_connection(
    client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path, size: int
) -> None:
    """The origin may wait for the body that it was promised, and take the next request for it (RFC 9112, 9.3)."""
    file = tmp_path / "sent"
    file.write_bytes(b"x" * size)

    def early(exchange: Exchange) -> bool:
        exchange.reply(body=b"early")
        exchange.take()
        return True

    url = origin.on_head("/early", early)
    record = client.call("request.perform", url=url, method="PUT", body={"file": str(file)}, expect_continue=True)
    assert record["outcome"]["ok"], record["outcome"]
    assert client.get(f"{origin.url}/next", timeout=10).status_code == 200
    assert origin.requests[-1].connection == 2
