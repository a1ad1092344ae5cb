"""The memory of a burst is returned to the system: within two of the daemon's ticks, of half a minute each."""

from __future__ import annotations

import json
import plistlib
import threading

import pytest
from harness.calls import line, ping
from harness.daemon import Daemon
from harness.waiting import eventually
from origins.scripted import ScriptedOrigin

pytestmark = pytest.mark.own_daemon

KEPT_KIB = 8 << 10
TWO_TICKS_SECONDS = 75
MEMBERS = {f"k{number:06}": 1 for number in range(60_000)}
"""Nearly a mebibyte of JSON."""


def test_of_requests_that_are_dismissed(daemon: Daemon) -> None:
    with daemon.wire() as wire:
        ping(wire)
    before = daemon.memory_kib()
    with daemon.wire() as wire:
        data = b"".join(
            line("request.submit", None, url="http://127.0.0.1:1/", start="manual", headers={"x": "y" * 500})
            for _ in range(9_500)
        )
        wire.send_bytes(data)
        eventually(lambda: daemon.stats()["requests"]["active"] == 9_500)
        wire.call("session.cancel_requests")
        names: list[str] = []
        page = {"next": "0"}
        while page["next"] is not None:
            page = wire.call("request.list", next=page["next"])
            names += [entry["request"] for entry in page["requests"]]
        for start in range(0, len(names), 100):
            calls = [
                {"jsonrpc": "2.0", "id": n, "method": "request.dismiss", "params": {"request": name}}
                for n, name in enumerate(names[start : start + 100])
            ]
            wire.send_text(json.dumps(calls))
            wire.receive()
    eventually(lambda: daemon.memory_kib() - before <= KEPT_KIB, seconds=TWO_TICKS_SECONDS)


def test_of_calls_of_a_mebibyte(daemon: Daemon, origin: ScriptedOrigin) -> None:
    url = origin.on("/", lambda exchange: exchange.reply(body=b"x"))
    message = line("request.perform", 1, url=url, method="POST", body={"json": MEMBERS})
    with daemon.wire() as wire:
        ping(wire)
    before = daemon.memory_kib()
    wires = [daemon.wire() for _ in range(32)]
    senders = [threading.Thread(target=wire.send_bytes, args=(message,), daemon=True) for wire in wires]
    for sender in senders:
        sender.start()
    for wire in wires:
        assert wire.receive()["result"]["outcome"]["ok"]
        wire.close()
    for sender in senders:
        sender.join(20)
    eventually(lambda: daemon.memory_kib() - before <= KEPT_KIB, seconds=TWO_TICKS_SECONDS)


@pytest.mark.parametrize("form", [plistlib.FMT_XML, plistlib.FMT_BINARY], ids=["xml", "binary"])
def test_of_a_value_of_many_parts(daemon: Daemon, origin: ScriptedOrigin, form: plistlib.PlistFormat) -> None:
    """A thread parses it, whose heap the daemon's own trimming does not reach."""
    body = plistlib.dumps([str(number) for number in range(400_000)], fmt=form)
    url = origin.on("/large", lambda exchange: exchange.reply(body=body))
    with daemon.wire() as wire:
        ping(wire)
        before = daemon.memory_kib()
        assert wire.call("request.perform", url=url, serialize="plist")["outcome"]["truncated"]
    eventually(lambda: daemon.memory_kib() - before <= KEPT_KIB, seconds=TWO_TICKS_SECONDS)


def test_of_events_that_nobody_reads(daemon: Daemon, origin: ScriptedOrigin) -> None:
    """The journal is kept for programs that reconnect; a minute later only a part of it."""
    url = origin.on("/", lambda exchange: exchange.reply(body=b"x"))
    with daemon.wire() as wire:
        wire.call("request.perform", url=url)
        before = daemon.memory_kib()
        cursor = wire.call("events.subscribe", types=["*"], scope="all")["cursor"]
        with daemon.wire() as other:
            while daemon.stats()["events"]["journal_bytes"] < 24 << 20:
                calls = [other.request("request.perform", url=url, headers={"x": "y" * 4_000}) for _ in range(100)]
                for call in calls:
                    other.result(call)
    with daemon.wire() as wire:
        assert "gap" not in wire.call("events.subscribe", since=cursor)
    eventually(lambda: daemon.stats()["events"]["journal_bytes"] <= 9 << 20, seconds=TWO_TICKS_SECONDS)
    eventually(lambda: daemon.memory_kib() - before <= 2 * KEPT_KIB, seconds=TWO_TICKS_SECONDS)
    with daemon.wire() as wire:
        assert wire.call("events.subscribe", since=cursor)["gap"]
