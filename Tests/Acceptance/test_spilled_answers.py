"""Answers whose body goes to the spool first: abandoned meanwhile, or awaited by a daemon that drains."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import stall
from harness.daemon import Daemon
from harness.waiting import eventually
from harness.wire import Wire
from origins.scripted import Exchange, ScriptedOrigin

# Kept in memory, and too large for a line in base64.
BODY = bytes(range(256)) * 160
StartDaemon = Callable[..., Daemon]


class Slow:
    """A daemon whose spool stalls, and an origin with a body that has to be spilled."""

    def __init__(self, start: StartDaemon, directory: Path, origin: ScriptedOrigin) -> None:
        self.url = origin.on("/body", lambda exchange: exchange.reply(body=BODY))
        self.stalled = stall.build(directory / "library", directory / "cache")
        self.daemon = start(variables=self.stalled.variables)
        assert self.daemon.launch_status == "ready", self.daemon.log.read_text()

    def perform(self, wire: Wire) -> int:
        """Perform a request, up to the point at which its body waits for the disk."""
        self.stalled.stall()
        call = wire.request("request.perform", url=self.url, on_disconnect="detach")
        self.stalled.wait()
        return call


@pytest.fixture
def slow(start: StartDaemon, directory: Path, origin: ScriptedOrigin) -> Iterator[Slow]:
    made = Slow(start, directory, origin)
    yield made
    made.stalled.release()


@pytest.mark.parametrize("leaves", [False, True])
def test_a_call_given_up_while_its_body_spills_leaves_its_record(slow: Slow, leaves: bool) -> None:
    with slow.daemon.wire() as other:
        with slow.daemon.wire() as wire:
            wire.call("client.hello", name="same")
            other.call("client.hello", name="same")
            call = slow.perform(wire)
            if not leaves:
                assert wire.call("rpc.cancel", id=call)["changed"] is True
        slow.stalled.release()
        (listed,) = other.call("request.list")["requests"]
        record = other.call("request.wait", request=listed["request"])
        assert Path(record["body"]["file"]).read_bytes() == BODY
        other.call("request.dismiss", request=listed["request"])
        eventually(lambda: slow.daemon.spooled() == [])


def test_a_daemon_that_ends_waits_for_a_body_that_spills(slow: Slow) -> None:
    with slow.daemon.wire() as wire, slow.daemon.wire() as other:
        call = slow.perform(wire)
        other.call("daemon.drain")
        slow.stalled.release()
        assert wire.result(call)["body"]["size_bytes"] == len(BODY)
    assert slow.daemon.process.wait(20) == 0


def test_a_daemon_that_ends_answers_all_that_wait_for_one_request(daemon: Daemon, origin: ScriptedOrigin) -> None:
    """More than the queue of one client: the rest is written as it reads."""
    waits = 120
    url = origin.on("/text", lambda exchange: exchange.reply(body=b"x" * 45_000))
    with daemon.wire() as wire, daemon.wire() as other:
        request = wire.call("request.submit", url=url, start="manual")["request"]
        calls = [wire.request("request.wait", request=request) for _ in range(waits)]
        assert wire.call("request.get", request=request)["finished"] is False
        last = other.request("request.wait", request=request)
        other.call("request.resume", request=request)
        other.call("daemon.drain")
        assert other.result(last)["outcome"]["ok"]
        assert all(len(wire.result(call)["body"]["text"]) == 45_000 for call in calls)
    assert daemon.process.wait(20) == 0


def test_a_body_that_spills_for_one_who_waits_is_its_client_s(daemon: Daemon, origin: ScriptedOrigin) -> None:
    """The caller gets the body in its line, so that its request is forgotten; another of the same client waits."""
    gate = threading.Event()

    def held(exchange: Exchange) -> None:
        gate.wait(20)
        exchange.reply(body=BODY)

    url = origin.on("/held", held)
    with daemon.wire() as wire, daemon.wire() as other:
        wire.call("client.hello", max_line_bytes=1_000_000)
        call = wire.request("request.perform", url=url)
        request = eventually(lambda: other.call("request.list", scope="all")["requests"])[0]["request"]
        wait = other.request("request.wait", request=request)
        other.call("request.get", request=request)
        gate.set()
        assert "base64" in wire.result(call)["body"]
        assert Path(other.result(wait)["body"]["file"]).read_bytes() == BODY
        assert other.call("body.read", request=request)["size_bytes"] == len(BODY)
        assert other.call("body.release", request=request)["changed"] is True


@pytest.mark.parametrize("leaves", [False, True])
def test_the_answer_of_a_body_that_spills_has_the_limit_of_its_request(
    slow: Slow, origin: ScriptedOrigin, leaves: bool
) -> None:
    """The record comes without the body, which can be read when the disk answers, until its connection has ended."""
    wide = [("X-Wide", "x" * 30_000)] * 3
    url = origin.on("/wide", lambda exchange: exchange.reply(body=b"body", headers=wide))
    with slow.daemon.wire() as other:
        with slow.daemon.wire() as wire:
            slow.stalled.stall()
            record = wire.call("request.perform", url=url, resource_timeout_ms=300)
            assert record["outcome"]["ok"] and record["body"] == {"gone": True, "size_bytes": 4}
            if not leaves:
                slow.stalled.release()
                eventually(lambda: "result" in wire.answer(wire.request("body.read", request=record["request"])))
        slow.stalled.release()
        # A removal needs a thread of the worker, which is done with the body then.
        eventually(lambda: other.call("daemon.stats")["worker"]["running"] == 0)
        eventually(lambda: slow.daemon.spooled() == [])
