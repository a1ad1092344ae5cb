"""Frames of two HTTP/2 servers that arrive in pieces and by turns: each concerns its own stream only."""

from __future__ import annotations

import socket
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
