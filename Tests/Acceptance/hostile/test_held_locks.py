"""Pipes and sockets that a client passes while one of its threads holds their kernel locks: no turn waits."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.gauge import bounded_turns
from harness.heldpage import LIBC, HeldPage, held_page
from harness.waiting import eventually, join
from harness.wire import Wire
from origins.scripted import ScriptedOrigin

KINDS = ["pipe", "unix", "tcp"]


def pair(kind: str) -> tuple[int, int]:
    """Make the end that is read and the end that is written."""
    if kind == "pipe":
        return os.pipe()
    if kind == "unix":
        near, far = socket.socketpair()
        return near.detach(), far.detach()
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname())
        far, _ = server.accept()
    return near.detach(), far.detach()


class Held:
    """A descriptor with the bytes `hello` in it, and a thread in the kernel that holds its lock until `release`."""

    def __init__(self, kind: str, page: HeldPage) -> None:
        self.read, self._write = pair(kind)
        self._page = page
        call: Callable[..., int]
        arguments: tuple[int, ...]
        if kind == "pipe":
            # write(2) copies from the page with the pipe's mutex held.
            os.write(self._write, b"hello")
            call, arguments = LIBC.write, (self._write, page.address, 4)
        else:
            # recv(2) copies to the page with the lock held that every reader of the socket takes.
            os.write(self._write, b"1234hello")
            call, arguments = LIBC.recv, (self.read, page.address, 4, 0)
        self._thread = threading.Thread(target=call, args=arguments, daemon=True)
        self._thread.start()
        page.wait()

    def is_open_in(self, daemon: Daemon) -> bool:
        return str(Path(f"/proc/self/fd/{self.read}").readlink()) in daemon.descriptors()

    def release(self) -> None:
        self._page.release()
        join([self._thread])

    def close(self) -> None:
        self.release()
        os.close(self.read)
        os.close(self._write)


@pytest.fixture(params=KINDS)
def held(request: pytest.FixtureRequest) -> Iterator[Held]:
    with held_page() as page:
        held = Held(request.param, page)
        yield held
        held.close()


def send(wire: Wire, method: str, held: Held, body: dict[str, Any], **params: Any) -> None:
    message = {"jsonrpc": "2.0", "id": 900, "method": method, "params": {"method": "POST", "body": body, **params}}
    wire.send(message, [held.read])


def reads(wire: Wire) -> bool:
    """Whether a job of the worker runs. A daemon that hangs fails the test by the deadline of the wire."""
    return bool(wire.call("daemon.stats")["worker"]["running"])


@pytest.mark.parametrize("is_part", [False, True], ids=["body", "part"])
def test_a6_a_lock_that_is_held_holds_no_turn(
    daemon: Daemon, origin: ScriptedOrigin, held: Held, is_part: bool
) -> None:
    url = origin.on("/", lambda exchange: exchange.reply(200))
    body: dict[str, Any] = {"fd": 0, "length_bytes": 5}
    if is_part:
        body = {"multipart": [{"name": "a", **body}]}
    with daemon.wire() as wire, daemon.wire() as other:
        with bounded_turns(daemon):
            send(wire, "request.perform", held, body, url=url)
            eventually(lambda: reads(other))
            for _ in range(20):
                assert other.call("daemon.ping")["pong"]
                assert other.call("request.perform", url=url)["outcome"]["ok"]
        held.release()
        assert wire.answer(900)["result"]["outcome"]["ok"]
    assert b"hello" in origin.requests[-1].body


def test_a6_a_request_whose_body_is_in_a_held_read_is_cancelled(
    daemon: Daemon, origin: ScriptedOrigin, held: Held
) -> None:
    """The request ends at once; its descriptor is closed when the read returns."""
    url = origin.on("/", lambda exchange: exchange.reply(200))
    with daemon.wire() as wire:
        with bounded_turns(daemon):
            send(wire, "request.submit", held, {"fd": 0, "length_bytes": 5}, url=url)
            request = wire.answer(900)["result"]["request"]
            eventually(lambda: reads(wire))
            wire.call("request.cancel", request=request)
            outcome = wire.call("request.wait", request=request)["outcome"]
            assert outcome["error"]["name"] == "explicitly_cancelled"
            assert reads(wire)
            assert held.is_open_in(daemon)
        held.release()
        eventually(lambda: not reads(wire) and not held.is_open_in(daemon))


def test_a6_a_client_that_leaves_during_a_held_read(daemon: Daemon, origin: ScriptedOrigin, held: Held) -> None:
    url = origin.on("/", lambda exchange: exchange.reply(200))
    with daemon.wire() as other:
        with bounded_turns(daemon):
            with daemon.wire() as wire, contextlib.suppress(BrokenPipeError):
                send(wire, "request.perform", held, {"fd": 0}, url=url)
                eventually(lambda: reads(other))
            eventually(lambda: other.call("daemon.stats")["requests"]["active"] == 0)
            for _ in range(20):
                assert other.call("daemon.ping")["pong"]
        held.release()
        eventually(lambda: not held.is_open_in(daemon))


@pytest.mark.parametrize("held", ["unix", "tcp"], indirect=True)
def test_a6_a_connected_socket_whose_lock_is_held_holds_no_turn(
    daemon: Daemon, origin: ScriptedOrigin, held: Held
) -> None:
    """The socket is the connection of a request: `unix_socket` of `addresses`."""
    url = origin.on("/", lambda exchange: exchange.reply(200))
    with daemon.wire() as wire, daemon.wire() as other:
        with bounded_turns(daemon):
            params = {"url": "http://service.example/", "addresses": {"unix_socket": {"fd": 0}}}
            message = {"jsonrpc": "2.0", "id": 900, "method": "request.submit", "params": params}
            wire.send(message, [held.read])
            request = wire.answer(900)["result"]["request"]
            eventually(lambda: reads(other))
            for _ in range(20):
                assert other.call("daemon.ping")["pong"]
                assert other.call("request.perform", url=url)["outcome"]["ok"]
            wire.call("request.cancel", request=request)
            assert wire.call("request.wait", request=request)["outcome"]["error"]["name"] == "explicitly_cancelled"
        held.release()
        eventually(lambda: not reads(other) and not held.is_open_in(daemon))
