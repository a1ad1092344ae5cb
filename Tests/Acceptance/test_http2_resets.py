"""Frames of two HTTP/2 servers that arrive in pieces and by turns: each concerns its own stream only."""

from __future__ import annotations

import select
import socket
import ssl
import struct
import threading
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.stream import Reader
from harness.waiting import PATIENCE_SECONDS
from origins import frames as h2
from origins.peer import StartPeer

LOST = "session_task_failed.network_connection_lost"
RESET_BYTES = len(h2.reset(1, 0))


class Halting:
    """Sends the head and the beginning of a body, and the first bytes of a frame; the rest when it may."""

    def __init__(self, split: int, ending: int = 0) -> None:
        self.split = split
        self.ending = ending
        self.may_go_on = threading.Event()

    def __call__(self, connection: socket.socket) -> None:
        (stream,) = h2.greet(connection, 1)
        head = h2.frame(h2.HEADERS, h2.END_HEADERS, stream, h2.OK)
        reset = h2.reset(stream, 0)
        # In one record of TLS: what reads the body has read the beginning of the frame too.
        connection.sendall(head + h2.frame(h2.DATA, self.ending, stream, b"half") + reset[: self.split])
        self.may_go_on.wait(PATIENCE_SECONDS)
        connection.sendall(reset[self.split :])
        h2.wait_for_the_end(connection)


def answer(connection: socket.socket) -> None:
    """Answer each request when all of it is there."""
    connection.sendall(h2.frame(h2.SETTINGS, 0, 0, h2.MANY_STREAMS) + h2.frame(h2.SETTINGS, h2.ACKNOWLEDGED, 0))
    h2.read_exactly(connection, h2.PREFACE_BYTES)
    while True:
        kind, flags, stream, _ = h2.read(connection)
        if kind in {h2.HEADERS, h2.DATA} and flags & h2.END_STREAM:
            response = h2.frame(h2.HEADERS, h2.END_HEADERS, stream, h2.OK)
            connection.sendall(response + h2.frame(h2.DATA, h2.END_STREAM, stream, b"whole"))


def has_input(connection: socket.socket) -> bool:
    """Whether something has arrived, or arrives at once."""
    assert isinstance(connection, ssl.SSLSocket)
    return connection.pending() > 0 or bool(select.select([connection], [], [], 0.01)[0])


class Strict:
    """Takes a number of requests at a time and refuses others; says so only after what comes with the connection."""

    def __init__(self, limit: int, announced: int) -> None:
        self.limit = limit
        self.announced = announced

    def __call__(self, connection: socket.socket) -> None:
        h2.read_exactly(connection, h2.PREFACE_BYTES)
        connection.sendall(h2.frame(h2.SETTINGS, 0, 0, struct.pack(">HI", 3, self.announced)))
        taken: list[int] = []
        while True:
            # What has arrived is read before anything is answered.
            if taken and not has_input(connection):
                connection.sendall(h2.frame(h2.HEADERS, h2.END_HEADERS | h2.END_STREAM, taken.pop(), h2.OK))
                continue
            kind, flags, stream, _ = h2.read(connection)
            if kind == h2.SETTINGS and not flags & h2.ACKNOWLEDGED:
                connection.sendall(h2.frame(h2.SETTINGS, h2.ACKNOWLEDGED, 0))
            elif kind == h2.HEADERS and len(taken) < self.limit:
                taken.append(stream)
            elif kind == h2.HEADERS:
                connection.sendall(h2.reset(stream, h2.REFUSED_STREAM))


class Refusing:
    """Refuses the request of every other connection, and answers all of the next one, which it asks to end."""

    def __init__(self) -> None:
        self.connections = 0

    def __call__(self, connection: socket.socket) -> None:
        self.connections += 1
        refuses = self.connections % 2 == 1
        (stream,) = h2.greet(connection, 1)
        if refuses:
            connection.sendall(h2.reset(stream, h2.REFUSED_STREAM))
        else:
            head = h2.frame(h2.HEADERS, h2.END_HEADERS, stream, h2.OK)
            connection.sendall(head + h2.frame(h2.DATA, h2.END_STREAM, stream, b"whole") + h2.goaway(stream))
        h2.wait_for_the_end(connection)


def request(origin: dict[str, Any], **params: Any) -> dict[str, Any]:
    url = f"https://127.0.0.1:{origin['port']}/"
    return {"url": url, "trust": origin["trust"], "http_version": "2", "resource_timeout_ms": 20_000, **params}


@pytest.mark.parametrize("others", [1, 2])
@pytest.mark.parametrize("split", range(1, RESET_BYTES))
def test_a_reset_that_arrives_in_pieces_cuts_its_own_stream_alone(
    daemon: Daemon, peer: StartPeer, split: int, others: int
) -> None:
    """The streams of both servers have the same number, or the other one's second has another."""
    halting = Halting(split)
    cut, good = (peer(talk, tls=True, protocols=("h2",)) for talk in (halting, answer))
    with daemon.wire() as wire, daemon.wire() as other:
        name = wire.call("request.submit", kind="stream", **request(cut))["request"]
        reader = Reader(wire, name)
        reader.until(len(b"half"))
        for _ in range(others):
            record = other.call("request.perform", **request(good, method="POST", body={"text": "x"}))
            assert (record["outcome"], record["body"]["text"]) == ({"ok": True}, "whole")
        halting.may_go_on.set()
        assert reader.complete()["error"]["name"] == LOST


@pytest.mark.parametrize("split", [1, 9, RESET_BYTES - 1])
def test_a_reset_behind_a_whole_response_cuts_no_stream(daemon: Daemon, peer: StartPeer, split: int) -> None:
    halting = Halting(split, h2.END_STREAM)
    whole, good = (peer(talk, tls=True, protocols=("h2",)) for talk in (halting, answer))
    with daemon.wire() as wire:
        for origin in (whole, good):
            record = wire.call("request.perform", **request(origin))
            assert record["outcome"] == {"ok": True}
        halting.may_go_on.set()


def test_two_servers_that_reset_by_turns(daemon: Daemon, peer: StartPeer) -> None:
    """The frame of one is complete between the pieces of the other's."""
    first, second = Halting(9), Halting(11)
    origins = [peer(talk, tls=True, protocols=("h2",)) for talk in (first, second)]
    with daemon.wire() as one, daemon.wire() as other:
        readers = []
        for wire, origin in zip((one, other), origins, strict=True):
            name = wire.call("request.submit", kind="stream", **request(origin))["request"]
            readers.append(Reader(wire, name))
            readers[-1].until(len(b"half"))
        for talk, reader in ((second, readers[1]), (first, readers[0])):
            talk.may_go_on.set()
            assert reader.complete()["error"]["name"] == LOST


def test_a_stream_that_is_refused_cuts_no_stream_of_the_next_connection(daemon: Daemon, peer: StartPeer) -> None:
    """libcurl sends the request again; the next session has the same stream, and often the same address."""
    refusing = Refusing()
    origin = peer(refusing, tls=True, protocols=("h2",))
    with daemon.wire() as wire:
        for number in range(1, 17):
            record = wire.call("request.perform", **request(origin))
            assert (record["outcome"], record["body"]["text"]) == ({"ok": True}, "whole")
            assert refusing.connections == 2 * number


@pytest.mark.parametrize("limit", [1, 2])
def test_requests_wait_for_a_server_that_takes_few_at_a_time(daemon: Daemon, peer: StartPeer, limit: int) -> None:
    """Refused is what the first connections get before the server's settings are there."""
    origin = peer(Strict(limit, limit), tls=True, protocols=("h2",))
    with daemon.wire() as wire:
        for _ in range(3):
            wire.call("pool.flush")
            calls = {wire.request("request.perform", request(origin, method=method)) for method in ["GET", "POST"] * 50}
            outcomes = [wire.receive()["result"]["outcome"] for _ in calls]
            assert outcomes == [{"ok": True}] * len(calls)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_server_that_refuses_every_request_is_named(daemon: Daemon, peer: StartPeer, method: str) -> None:
    if method == "POST" and daemon.call("daemon.info")["libcurl"]["profile"] != "multiplex":
        pytest.skip("this libcurl does not say that a stream was refused, so that a POST is not repeated")
    origin = peer(Strict(0, 100), tls=True, protocols=("h2",))
    with daemon.wire() as wire:
        error = wire.call("request.perform", **request(origin, method=method))["outcome"]["error"]
    assert error["name"] == LOST
    assert "the server has refused the request 24 times: it may take fewer at a time" in error["message"]
