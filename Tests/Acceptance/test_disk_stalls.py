"""The disk under a body or a download does not answer: its own request waits, no other does (B1)."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import stall
from harness.daemon import Daemon
from harness.waiting import eventually
from harness.wire import Wire
from origins.scripted import Exchange, ScriptedOrigin

BODY = bytes(range(256)) * 12_000
SMALL_GETS = 50
# Far below what a test waits, far above what a busy machine adds.
TURN_MICROSECONDS = 2_000_000
StartDaemon = Callable[..., Daemon]


@pytest.fixture
def place(origin: ScriptedOrigin) -> ScriptedOrigin:
    origin.on("/large", lambda exchange: exchange.reply(body=BODY))
    origin.on("/small", lambda exchange: exchange.reply(body=b"small"))
    return origin


class Disk:
    """A daemon whose spool or destination stalls."""

    def __init__(self, start: StartDaemon, directory: Path, folder: Path, kind: str) -> None:
        self.kind = kind
        self.target = folder / "file"
        self.stalled = stall.build(directory / "library", directory / "cache" if kind == "spool" else folder)
        self.daemon = start(variables=self.stalled.variables, config={"drain_ms": 0})
        assert self.daemon.launch_status == "ready", self.daemon.log.read_text()

    @property
    def params(self) -> dict[str, Any]:
        """What a request says so that its body goes to the disk."""
        if self.kind == "destination":
            return {"kind": "download", "destination": str(self.target)}
        return {"response_body": "file"}

    def submit_and_stall(self, wire: Wire, place: ScriptedOrigin) -> str:
        """Submit a request whose disk stalls when its body comes."""
        gate = threading.Event()

        def held(exchange: Exchange) -> None:
            gate.wait(20)
            exchange.reply(body=BODY)

        url = place.on("/held", held)
        request: str = wire.call("request.submit", url=url, **self.params)["request"]
        eventually(lambda: len(place.requests) == 1)
        self.stalled.stall()
        gate.set()
        self.stalled.wait()
        return request


@pytest.fixture(params=["spool", "destination"])
def disk(request: pytest.FixtureRequest, start: StartDaemon, directory: Path, folder: Path) -> Iterator[Disk]:
    made = Disk(start, directory, folder, request.param)
    yield made
    made.stalled.release()


def test_b1_another_client_goes_on_while_a_disk_stalls(disk: Disk, place: ScriptedOrigin) -> None:
    with disk.daemon.wire() as wire, disk.daemon.wire() as other:
        other.call("client.hello", name="other")
        disk.stalled.stall()
        # A destination is looked at before the call is answered.
        call = wire.request("request.submit", url=f"{place.url}/large", **disk.params)
        disk.stalled.wait()
        for _ in range(SMALL_GETS):
            assert other.call("request.perform", url=f"{place.url}/small")["body"]["text"] == "small"
        assert other.call("daemon.stats")["loop"]["longest_turn_us"] < TURN_MICROSECONDS
        disk.stalled.release()
        request = wire.result(call)["request"]
        assert wire.call("request.wait", request=request)["outcome"]["ok"]


def test_b1_a_request_ends_when_its_disk_answers_again(disk: Disk, place: ScriptedOrigin) -> None:
    with disk.daemon.wire() as wire:
        request = disk.submit_and_stall(wire, place)
        assert wire.call("request.get", request=request)["finished"] is False
        disk.stalled.release()
        record = wire.call("request.wait", request=request)
        assert record["outcome"]["ok"], record
        assert Path(record["body"]["file"]).read_bytes() == BODY


def test_b1_a_cancelled_request_does_not_wait_for_its_disk(disk: Disk, place: ScriptedOrigin) -> None:
    with disk.daemon.wire() as wire:
        request = disk.submit_and_stall(wire, place)
        assert wire.call("request.cancel", request=request)["changed"] is True
        record = wire.call("request.wait", request=request)
        assert record["outcome"]["error"]["name"] == "explicitly_cancelled"


def test_b1_the_daemon_ends_while_a_disk_stalls(disk: Disk, place: ScriptedOrigin) -> None:
    with disk.daemon.wire() as wire:
        disk.submit_and_stall(wire, place)
        disk.daemon.process.send_signal(signal.SIGTERM)
        assert disk.daemon.process.wait(20) == 0
