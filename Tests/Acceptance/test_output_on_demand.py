"""Descriptors that the daemon asks for when there is something to write: `"fd": "on_demand"`."""

from __future__ import annotations

import os
import select
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import RemoteError, Wire
from origins.scripted import Exchange, ScriptedOrigin

DATA = os.urandom(300_017)
ON_DEMAND = {"fd": "on_demand", "inline_bytes": 1_000}


def begin(wire: Wire, url: str, **params: Any) -> int:
    return wire.request("request.perform", url=url, response_body=ON_DEMAND | params.pop("body", {}), **params)


def demand(wire: Wire, call: int) -> str:
    """Return the request that needs a descriptor."""
    while (message := wire.receive()).get("method") != "request.output_needed":
        assert message.get("id") != call, message
    assert message["params"]["call"] == call
    return str(message["params"]["request"])


def pass_output(wire: Wire, request: str, descriptor: int) -> Any:
    return wire.result(wire.request_with([descriptor], "request.output", request=request, fd=0))


def rest(descriptor: int) -> bytes:
    """Read to the end, and close."""
    received = bytearray()
    while select.select([descriptor], [], [], PATIENCE_SECONDS)[0]:
        piece = os.read(descriptor, 1 << 20)
        if not piece:
            os.close(descriptor)
            return bytes(received)
        received += piece
    raise AssertionError(f"no end after {len(received)} bytes")


@pytest.fixture
def url(origin: ScriptedOrigin) -> str:
    return origin.on("/large", lambda exchange: exchange.reply(200, DATA))


@pytest.mark.parametrize("size", [0, 1, 1_000])
def test_a_short_body_needs_none(wire: Wire, origin: ScriptedOrigin, size: int) -> None:
    url = origin.on("/short", lambda exchange: exchange.reply(200, b"x" * size))
    call = begin(wire, url)
    message = wire.receive()
    assert message["id"] == call, "no notification comes before the answer"
    body = {"text": "x" * size} if size else {"none": True}
    assert message["result"]["body"] == body | {"size_bytes": size}


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_longer_one_goes_to_the_descriptor(wire: Wire, url: str, kind: str) -> None:
    if kind == "pipe":
        read, write = os.pipe()
    else:
        near, far = socket.socketpair()
        read, write = near.detach(), far.detach()
    call = begin(wire, url)
    assert pass_output(wire, demand(wire, call), write)["changed"]
    os.close(write)
    assert rest(read) == DATA
    record = wire.result(call)
    assert record["body"] == {"fd": True, "size_bytes": len(DATA)}


def test_a_file(wire: Wire, url: str, tmp_path: Path) -> None:
    call = begin(wire, url)
    with (tmp_path / "body").open("wb") as file:
        assert pass_output(wire, demand(wire, call), file.fileno())["changed"]
    assert wire.result(call)["outcome"] == {"ok": True}
    assert (tmp_path / "body").read_bytes() == DATA


def test_bytes_that_take_their_time_and_heads(wire: Wire, origin: ScriptedOrigin) -> None:
    release = origin.hold("/held")

    def slow(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
        release.wait()
        exchange.send(b"ab")

    call = begin(wire, origin.on("/slow", slow), body={"heads": True})
    read, write = os.pipe()
    pass_output(wire, demand(wire, call), write)
    os.close(write)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
    expected = b"%08x\n%s" % (len(head), head)
    received = b""
    while len(received) < len(expected):
        received += os.read(read, 4_096)
    assert received == expected, "the head comes before the body"
    release.set()
    assert rest(read) == b"ab"
    assert wire.result(call)["outcome"] == {"ok": True}


def test_it_is_asked_for_once(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    step = threading.Semaphore(0)

    def in_pieces(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 8000\r\n\r\n" + b"a" * 4_000)
        step.acquire(timeout=PATIENCE_SECONDS)
        exchange.send(b"b" * 4_000)

    call = begin(wire, origin.on("/pieces", in_pieces))
    request = demand(wire, call)
    step.release()
    eventually(lambda: daemon.call("request.get", request=request).get("received_bytes") == 8_000)
    assert wire.is_silent()
    read, write = os.pipe()
    pass_output(wire, request, write)
    os.close(write)
    assert rest(read) == b"a" * 4_000 + b"b" * 4_000
    assert wire.result(call)["outcome"] == {"ok": True}


def test_a_submitted_request_asks_too(wire: Wire, url: str) -> None:
    call = wire.request("request.submit", url=url, response_body=ON_DEMAND, on_disconnect="cancel")
    request = wire.result(call)["request"]
    assert demand(wire, call) == request
    read, write = os.pipe()
    assert pass_output(wire, request, write)["changed"]
    os.close(write)
    assert rest(read) == DATA
    assert wire.call("request.wait", request=request)["body"] == {"fd": True, "size_bytes": len(DATA)}


@pytest.mark.own_daemon
def test_a_body_without_a_descriptor_waits_at_the_origin(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    piece, count = os.urandom(1 << 20), 64
    url = origin.on("/huge", lambda exchange: exchange.reply(200, piece * count))
    before = daemon.memory_kib()
    call = begin(wire, url)
    request = demand(wire, call)
    eventually(lambda: daemon.call("request.get", request=request)["state"] == "resumed")
    assert daemon.call("request.perform", url=origin.url)["response"]["status"] == 200
    assert daemon.memory_kib() < before + (16 << 10)
    read, write = os.pipe()
    pass_output(wire, request, write)
    os.close(write)
    assert rest(read) == piece * count
    assert wire.result(call)["outcome"] == {"ok": True}


def test_what_cannot_be_written_to_is_refused_and_the_request_waits_for_another(wire: Wire, url: str) -> None:
    call = begin(wire, url)
    request = demand(wire, call)
    read, write = os.pipe()
    with pytest.raises(RemoteError) as caught:
        pass_output(wire, request, read)
    assert caught.value.name == "file.cannot_open"
    with pytest.raises(RemoteError) as caught:
        wire.call("request.output", request=request, fd=0)
    assert (caught.value.name, "params.fd" in str(caught.value)) == ("invalid_params", True)
    assert pass_output(wire, request, write)["changed"]
    assert not pass_output(wire, request, write)["changed"], "it has one"
    os.close(write)
    assert rest(read) == DATA
    assert wire.result(call)["outcome"] == {"ok": True}


def test_one_that_was_not_asked_for_is_closed(wire: Wire, origin: ScriptedOrigin) -> None:
    release = origin.hold("/held")
    call = begin(wire, origin.url + "/held")
    origin.received(1)
    (entry,) = wire.call("request.list")["requests"]
    request = entry["request"]
    read, write = os.pipe()
    assert not pass_output(wire, request, write)["changed"]
    os.close(write)
    assert rest(read) == b""
    release.set()
    assert wire.result(call)["body"]["text"] == "released"


@pytest.mark.parametrize("method", ["request.perform", "request.submit"])
def test_a_request_that_outlives_its_caller_needs_its_descriptor_at_once(
    wire: Wire, origin: ScriptedOrigin, method: str
) -> None:
    with pytest.raises(RemoteError) as caught:
        wire.call(method, url=origin.url, response_body=ON_DEMAND, on_disconnect="detach")
    assert (caught.value.name, "params.response_body.fd" in str(caught.value)) == ("invalid_params", True)
    assert origin.requests == []


def test_the_client_leaves_without_passing_one(daemon: Daemon, url: str) -> None:
    with daemon.wire() as wire:
        demand(wire, begin(wire, url))
    eventually(lambda: daemon.call("request.list", scope="all")["requests"] == [])


@pytest.mark.parametrize("passes", [False, True])
def test_cancelling_the_call_with_its_request(wire: Wire, origin: ScriptedOrigin, passes: bool) -> None:
    lost: list[bool] = []

    def endless(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nabc")
        lost.append(exchange.wait_for_peer_to_close())

    call = begin(wire, origin.on("/endless", endless))
    request = demand(wire, call)
    read, write = os.pipe()
    if passes:
        pass_output(wire, request, write)
    assert wire.call("rpc.cancel", id=call, request=True) == {"changed": True, "state": "cancelled"}
    assert wire.answer(call)["error"]["code"] == -32_800
    eventually(lambda: lost == [True])
    assert wire.call("request.list")["requests"] == []
    os.close(write)
    assert rest(read) in {b"", b"abc"}


def test_cancelling_the_call_alone_leaves_the_request(wire: Wire, origin: ScriptedOrigin) -> None:
    release = origin.hold("/held")
    call = begin(wire, origin.url + "/held")
    origin.received(1)
    wire.call("rpc.cancel", id=call)
    release.set()
    (entry,) = wire.call("request.list")["requests"]
    assert wire.call("request.wait", request=entry["request"])["body"]["text"] == "released"
