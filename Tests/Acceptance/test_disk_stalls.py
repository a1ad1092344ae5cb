"""The disk under a body or a download does not answer: its own request waits, no other does (B1)."""

from __future__ import annotations

import hashlib
import json
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import stall
from harness.daemon import Daemon
from harness.downloads import broken, download, is_whole, names
from harness.story import Story
from harness.waiting import eventually
from harness.wire import Wire
from origins.ranges import Resource
from origins.scripted import Exchange, ScriptedOrigin

BODY = bytes(range(256)) * 12_000
SMALL_GETS = 50
# Far below the patience of a test, far above the delays of a busy machine.
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
        """The parameters of a request whose body is written to the disk."""
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
        # A destination is checked before the call is answered.
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


@pytest.fixture
def resource() -> Resource:
    return Resource(300_000)


def on_the_loop(disk: Disk) -> list[str]:
    """The calls below the folder that the loop's thread has made; fails if no thread has made any."""
    calls = disk.stalled.calls
    assert calls
    return [name for thread, name in calls if thread == disk.daemon.pid]


@pytest.mark.parametrize("disk", ["destination"], indirect=True)
def test_b1_no_step_of_a_download_is_the_loop_s(disk: Disk, place: ScriptedOrigin, resource: Resource) -> None:
    """Whole, broken off, continued, refused, dismissed, made into a value: the thread of the loop makes no call."""
    url, folder = place.on("/resource", resource), disk.stalled.folder
    (folder / "link").symlink_to(folder)
    disk.stalled.watch()
    with disk.daemon.wire() as wire:
        made = {"path": str(folder / "link" / "new" / "a"), "create_directories": True}
        assert download(wire, url, made, sha256=True)["outcome"]["ok"]
        assert download(wire, url, {"directory": str(folder / "new")})["outcome"]["ok"]
        token = broken(wire, url, resource, folder / "b")
        call = wire.request("request.perform", url=url, kind="download", resume_data=token, headers=[["a b", "c"]])
        assert wire.answer(call)["error"]["code"] == -32602
        assert download(wire, url, resume_data=token, sha256=True)["outcome"]["ok"]
        assert (folder / "b").read_bytes() == resource.body
        resource.breaks = [120_000]
        request = wire.call("request.submit", url=url, kind="download", destination=str(folder / "c"))["request"]
        assert wire.call("request.wait", request=request)["resume_data"]
        wire.call("request.dismiss", request=request)
        refused = download(wire, url, folder / "c", validate=[{"content_type": ["text/plain"]}])
        assert refused["outcome"]["error"]["name"].startswith("response_validation_failed"), refused
        value = download(wire, f"{place.url}/small", folder / "d", serialize=["string"])
        assert value["outcome"]["ok"] and "small" in json.dumps(value)
        assert names(folder) == ["b", "d", "link", "new"]
        assert on_the_loop(disk) == []


@pytest.mark.parametrize("disk", ["spool"], indirect=True)
def test_b1_no_step_of_a_spooled_body_is_the_loop_s(disk: Disk, place: ScriptedOrigin) -> None:
    disk.stalled.watch()
    with disk.daemon.wire() as wire:
        for _ in range(3):
            request = wire.call("request.submit", url=f"{place.url}/large", **disk.params)["request"]
            record = wire.call("request.wait", request=request)
            assert Path(record["body"]["file"]).read_bytes() == BODY
            assert wire.call("body.read", request=request, length_bytes=100)["size_bytes"] == len(BODY)
            wire.call("request.dismiss", request=request)
        assert on_the_loop(disk) == []


@pytest.mark.parametrize("disk", ["destination"], indirect=True)
def test_b1_a_download_that_continues_on_a_stalled_disk(disk: Disk, place: ScriptedOrigin, resource: Resource) -> None:
    """The partial file is opened, hashed and written when the disk answers again; no other client waits for it."""
    url = place.on("/resource", resource)
    with disk.daemon.wire() as wire, disk.daemon.wire() as other:
        other.call("client.hello", name="other")
        token = broken(wire, url, resource, disk.target)
        disk.stalled.stall()
        call = wire.request("request.perform", url=url, kind="download", resume_data=token, sha256=True)
        disk.stalled.wait()
        assert other.call("request.perform", url=f"{place.url}/small")["body"]["text"] == "small"
        assert other.call("daemon.stats")["loop"]["longest_turn_us"] < TURN_MICROSECONDS
        disk.stalled.release()
        record = wire.result(call)
        assert record["body"].pop("sha256") == hashlib.sha256(resource.body).hexdigest()
        assert is_whole(record, resource, disk.target)


@pytest.mark.parametrize("disk", ["destination"], indirect=True)
def test_b1_the_path_of_an_answer_on_a_stalled_disk(disk: Disk, place: ScriptedOrigin, resource: Resource) -> None:
    url = place.on("/resource", resource)
    with disk.daemon.wire() as wire, disk.daemon.wire() as other:
        other.call("client.hello", name="other")
        story = Story(wire)
        disk.stalled.stall()
        call = story.begin(url, kind="download", destination={"callback": {"name": "c"}})
        story.answer(story.question("destination"), {"path": str(disk.target)})
        disk.stalled.wait()
        assert other.call("request.perform", url=f"{place.url}/small")["body"]["text"] == "small"
        disk.stalled.release()
        assert is_whole(story.result(call), resource, disk.target)


@pytest.mark.parametrize("disk", ["destination"], indirect=True)
def test_b1_downloads_lose_nothing_while_a_disk_stalls(disk: Disk, place: ScriptedOrigin) -> None:
    """Bytes that do not fit in memory stay at the origin until the disk answers."""
    with disk.daemon.wire() as wire:
        url, gate = place.url, threading.Event()

        def gated(exchange: Exchange) -> None:
            gate.wait(20)
            exchange.reply(body=BODY)

        place.on("/gated", gated)
        paths = [disk.stalled.folder / str(number) for number in range(6)]
        params = {"url": f"{url}/gated", "kind": "download"}
        calls = [wire.request("request.perform", **params, destination=str(path)) for path in paths]
        eventually(lambda: len(place.requests) == len(paths))
        disk.stalled.stall()
        gate.set()
        disk.stalled.wait()
        disk.stalled.release()
        assert all(wire.result(call)["outcome"]["ok"] for call in calls)
        assert all(path.read_bytes() == BODY for path in paths)


@pytest.mark.parametrize("disk", ["destination"], indirect=True)
def test_a_download_waits_for_the_end_of_the_one_before_within_its_limit(
    disk: Disk, place: ScriptedOrigin, resource: Resource
) -> None:
    """The one before is cancelled, but its file is closed when the disk answers."""
    url = place.on("/resource", resource)
    resource.holds_at = 120_000
    with disk.daemon.wire() as wire:
        first = wire.call("request.submit", url=url, **disk.params)["request"]
        token = eventually(lambda: wire.call("request.get", request=first).get("resume_data"))
        disk.stalled.stall()
        resource.gate.set()
        disk.stalled.wait()
        assert wire.call("request.cancel", request=first)["changed"] is True
        wire.call("request.wait", request=first)
        again = {"url": url, "kind": "download", "resume_data": token}
        answer = wire.answer(wire.request("request.perform", again | {"resource_timeout_ms": 300}))
        assert answer["error"]["code"] == 1204, answer
        disk.stalled.release()
        assert wire.call("request.perform", **again)["outcome"]["ok"]
        assert disk.target.read_bytes() == resource.body
