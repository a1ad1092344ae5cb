"""Files that a client names on a disk that does not answer: only that client's calls wait."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness import stall
from harness.daemon import Daemon
from harness.stall import StalledDisk
from harness.waiting import SLOWNESS, eventually
from origins.scripted import ScriptedOrigin

# The limit of a turn of the loop, in microseconds; a debug build is slower, and a stalled turn never ends.
TURN_MICROSECONDS = 1_000_000


@pytest.fixture
def disk(directory: Path, tmp_path: Path) -> Iterator[StalledDisk]:
    (tmp_path / "slow").mkdir()
    made = stall.build(directory / "library", tmp_path / "slow")
    yield made
    made.release()


@pytest.fixture
def daemon(start: StartDaemon, disk: StalledDisk) -> Daemon:
    started = start(variables=disk.variables)
    assert started.launch_status == "ready", started.log.read_text()
    return started


@pytest.fixture
def url(origin: ScriptedOrigin) -> str:
    return origin.on("/", lambda exchange: exchange.reply(200)) + "?"


def waiting(daemon: Daemon) -> int:
    worker = daemon.stats()["worker"]
    count: int = worker["running"] + worker["waiting"]
    return count


CALLS: dict[str, dict[str, Any]] = {
    "body": {"method": "POST", "body": {"file": "{}"}},
    "upload": {"kind": "upload", "body": {"file": "{}"}},
    "part": {"body": {"multipart": [{"name": "f", "file": "{}"}]}},
    "authorities": {"trust": {"ca_file": "{}"}},
}


def params(call: dict[str, Any], path: Path, url: str) -> dict[str, Any]:
    def fill(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: fill(member) for name, member in value.items()}
        if isinstance(value, list):
            return [fill(member) for member in value]
        return str(path) if value == "{}" else value

    filled: dict[str, Any] = fill(call)
    return {"url": url, **filled}


@pytest.fixture
def files(disk: StalledDisk) -> tuple[Path, Path]:
    """A file on the stalling disk, and one elsewhere."""
    path, good = disk.folder / "file.txt", disk.folder.parent / "good.txt"
    path.write_bytes(b"content")
    good.write_bytes(b"good")
    return path, good


@pytest.mark.parametrize("kind", CALLS)
def test_b1_a_file_on_a_stalled_disk_holds_its_call_alone(
    daemon: Daemon, disk: StalledDisk, files: tuple[Path, Path], origin: ScriptedOrigin, url: str, kind: str
) -> None:
    """More calls than there are threads; another client reads, writes and sends files meanwhile."""
    path, good = files
    disk.stall()
    with daemon.wire() as stalled, daemon.wire() as other:
        other.call("client.hello", name="other")
        ids = [stalled.request("request.perform", params(CALLS[kind], path, url)) for _ in range(20)]
        eventually(lambda: waiting(daemon) == len(ids))
        assert other.call("daemon.ping")["pong"]
        assert other.call("request.perform", url=url)["outcome"]["ok"]
        assert other.call("request.perform", url=url, body={"file": str(good)}, kind="upload")["outcome"]["ok"]
        assert origin.requests[-1].body == b"good"
        count = len(origin.requests)
        assert daemon.stats()["loop"]["longest_turn_us"] < TURN_MICROSECONDS
        disk.release()
        answers = [stalled.answer(call) for call in ids]
    if kind == "authorities":
        assert {answer["error"]["data"]["path"] for answer in answers} == {"params.trust.ca_file"}
    else:
        assert all(answer["result"]["outcome"]["ok"] for answer in answers)
        assert all(b"content" in request.body for request in origin.requests[count:])


@pytest.mark.parametrize("count", [2, 20])
def test_b1_large_messages_of_a_client_whose_disk_stalls_are_read(
    daemon: Daemon, disk: StalledDisk, files: tuple[Path, Path], origin: ScriptedOrigin, url: str, count: int
) -> None:
    """Also with more calls than its user has threads; and beside two stalled calls files of other disks are read."""
    path, good = files
    disk.stall()
    with daemon.wire() as wire:
        for _ in range(count):
            wire.request("request.perform", {"url": url, "body": {"file": str(path)}, "kind": "upload"})
        eventually(lambda: waiting(daemon) == count)
        large = {"url": url, "method": "POST", "body": {"json": [[]] * 20_000}}
        assert wire.result(wire.request("request.perform", large))["outcome"]["ok"]
        if count == 2:
            assert wire.call("request.perform", url=url, method="POST", body={"file": str(good)})["outcome"]["ok"]
            assert origin.requests[-1].body == b"good"


def test_b3_a_body_on_a_disk_that_stalls_while_it_is_sent(
    daemon: Daemon, disk: StalledDisk, origin: ScriptedOrigin, url: str
) -> None:
    path = disk.folder / "file"
    data = bytes(range(256)) * 40_000
    path.write_bytes(data)
    with path.open("rb") as file, daemon.wire() as wire, daemon.wire() as other:
        other.call("client.hello", name="other")
        message = {"url": url, "body": {"fd": 0}, "kind": "upload"}
        line = json.dumps({"jsonrpc": "2.0", "id": 900, "method": "request.perform", "params": message}).encode()
        disk.stall()
        wire.send_bytes(line + b"\n", [file.fileno()])
        eventually(lambda: waiting(daemon) > 0)
        assert other.call("request.perform", url=url)["outcome"]["ok"]
        disk.release()
        assert wire.answer(900)["result"]["outcome"]["ok"]
    assert origin.requests[-1].body == data


def test_b1_a_caller_that_goes_while_its_files_open(
    daemon: Daemon, disk: StalledDisk, origin: ScriptedOrigin, url: str
) -> None:
    """It has had no effect, and no descriptor stays open."""
    path = disk.folder / "file"
    path.write_bytes(b"content")
    disk.stall()
    with daemon.wire() as wire:
        for _ in range(8):
            wire.request("request.submit", {"url": url, "body": {"file": str(path)}, "kind": "upload"})
        eventually(lambda: waiting(daemon) == 8)
    eventually(lambda: daemon.stats()["connections"]["open"] == 1)
    disk.release()
    eventually(lambda: waiting(daemon) == 0)
    assert not [name for name in daemon.descriptors() if str(disk.folder) in name]
    assert origin.requests == []
    assert daemon.stats()["requests"]["made"] == 0


def test_files_have_the_time_limit_of_the_session(daemon: Daemon, disk: StalledDisk, url: str) -> None:
    path = disk.folder / "file"
    path.write_bytes(b"content")
    disk.stall()
    with daemon.wire() as wire:
        wire.call("session.create", name="short", configuration={"resource_timeout_ms": 300})
        for method in ("request.perform", "request.submit", "request.explain"):
            answer = wire.answer(wire.request(method, url=url, session="short", body={"file": str(path)}))
            assert answer["error"]["code"] == 1204, answer
            assert "within 300 ms" in answer["error"]["message"]


def test_files_of_a_stream_have_its_time_limit(daemon: Daemon, disk: StalledDisk, origin: ScriptedOrigin) -> None:
    path = disk.folder / "file"
    path.write_bytes(b"content")
    disk.stall()
    with daemon.wire() as wire:
        place = {"host": "127.0.0.1", "port": origin.port, "trust": {"ca_file": str(path)}}
        answer = wire.answer(wire.request("stream.open", timeout_ms=300, **place))
        assert answer["error"]["code"] == 1204, answer
        assert "raise timeout_ms" in json.dumps(answer["error"])


def test_the_time_of_a_request_begins_with_its_call(daemon: Daemon, disk: StalledDisk, origin: ScriptedOrigin) -> None:
    """A part of it has passed when the files are open."""
    limit = 3 * SLOWNESS
    path = disk.folder / "file"
    path.write_bytes(b"content")
    origin.hold("/silent")
    disk.stall()
    with daemon.wire() as wire:
        began = time.monotonic()
        call = wire.request(
            "request.perform",
            url=f"{origin.url}/silent",
            method="POST",
            body={"file": str(path)},
            resource_timeout_ms=int(limit * 1_000),
        )
        eventually(lambda: waiting(daemon) == 1)
        threading.Event().wait(2 * SLOWNESS)
        opened = time.monotonic() - began
        disk.release()
        record = wire.result(call)
        assert record["outcome"]["error"]["timeout"] == "resource", record
        assert time.monotonic() - began < opened + limit


def test_b1_the_daemon_ends_though_a_disk_stalls(daemon: Daemon, disk: StalledDisk, url: str) -> None:
    path = disk.folder / "file"
    path.write_bytes(b"content")
    disk.stall()
    with daemon.wire() as wire:
        wire.request("request.perform", {"url": url, "body": {"file": str(path)}})
        eventually(lambda: waiting(daemon) == 1)
        daemon.process.terminate()
        assert daemon.process.wait(20) == 0


def test_b1_the_configuration_on_a_stalled_disk(start: StartDaemon, directory: Path) -> None:
    disk = stall.build(directory / "library", directory / "config")
    daemon = start(config={"drain_ms": 1_000}, variables=disk.variables)
    disk.stall()
    try:
        with daemon.wire() as wire, daemon.client() as other:
            reload = wire.request("daemon.config_reload")
            eventually(lambda: waiting(daemon) == 1)
            daemon.configure({"drain_ms": 2_000})
            assert other.call("daemon.config")["drain_ms"] == 1_000
            disk.release()
            assert wire.answer(reload)["result"]["changed"] == ["drain_ms"]
    finally:
        disk.release()
