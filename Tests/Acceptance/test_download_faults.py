"""Downloads whose client, origin, daemon, network or disk fails at any byte: each resumes or fails by name, and the
file is right or not there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.downloads import LOST, download, is_whole, names, opened
from harness.faults import POINTS, SILENCE_MS, SIZE
from harness.namespace import Namespace
from harness.story import Story
from harness.wire import Wire
from origins.ranges import Resource
from origins.scripted import Exchange, ScriptedOrigin

TIMED_OUT = "session_task_failed.timed_out"

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root")
StartDaemon = Callable[..., Daemon]


@pytest.fixture
def resource() -> Resource:
    return Resource(SIZE)


@pytest.fixture
def url(origin: ScriptedOrigin, resource: Resource) -> str:
    return origin.on("/resource", resource)


def held(story: Story, url: str, resource: Resource, path: Path, point: int, **params: Any) -> tuple[str, str]:
    """Begin a download that stops at a byte; return its name and the last token that was reported."""
    resource.gate.clear()
    resource.holds_at = point
    request = story.submit(url, kind="download", destination=str(path), **params)
    while story.until("task.did_write_data", request)["data"]["received_bytes"] < point:
        story.forget()
    token = story.call("request.get", request=request)["resume_data"]
    assert Path(opened(token)["partial"]).parent == path.parent
    return request, token


def has_only_what_can_go_on(folder: Path, token: str) -> bool:
    return names(folder) == [Path(opened(token)["partial"]).name]


@pytest.mark.parametrize("point", POINTS)
def test_the_origin_breaks_off(wire: Wire, url: str, resource: Resource, folder: Path, point: int) -> None:
    resource.breaks = [point]
    record = download(wire, url, folder / "a")
    assert record["outcome"]["error"]["name"] == LOST
    assert opened(record["resume_data"])["bytes"] == point
    assert has_only_what_can_go_on(folder, record["resume_data"])
    assert is_whole(download(wire, url, resume_data=record["resume_data"]), resource, folder / "a")


@pytest.mark.parametrize("points", [sorted(POINTS[:3]), sorted(POINTS[3:11])])
def test_retries_go_on_however_often_it_breaks_off(
    wire: Wire, url: str, resource: Resource, folder: Path, points: list[int]
) -> None:
    resource.breaks = [end - begin for begin, end in zip([0, *points], points, strict=False)]
    policy = {"limit": 20, "scale_ms": 1, "base": 2}
    record = download(wire, url, folder / "a", interceptor=[{"retry_policy": policy}])
    assert is_whole(record, resource, folder / "a")
    assert record["resumed_at_bytes"] == points[-1]


def test_the_client_goes(daemon: Daemon, url: str, resource: Resource, folder: Path) -> None:
    for point in POINTS:
        with daemon.wire() as gone:
            _, token = held(Story(gone), url, resource, folder / "a", point, on_disconnect="cancel")
        resource.gate.set()
        assert has_only_what_can_go_on(folder, token)
        with daemon.wire() as wire:
            record = download(wire, url, resume_data=token)
        assert is_whole(record, resource, folder / "a")
        assert record["resumed_at_bytes"] == point
        (folder / "a").unlink()


def test_the_daemon_is_killed(start: StartDaemon, url: str, resource: Resource, folder: Path) -> None:
    for point in POINTS:
        daemon = start()
        with daemon.wire() as wire:
            _, token = held(Story(wire), url, resource, folder / "a", point)
            daemon.kill()
        resource.gate.set()
        assert has_only_what_can_go_on(folder, token)
        successor = start()
        with successor.wire() as wire:
            record = download(wire, url, resume_data=token)
        assert is_whole(record, resource, folder / "a")
        assert record["resumed_at_bytes"] == point
        (folder / "a").unlink()
        successor.terminate()


def test_the_daemon_ends_in_order(start: StartDaemon, url: str, resource: Resource, folder: Path) -> None:
    daemon = start(config={"drain_ms": 0})
    with daemon.wire() as wire:
        story = Story(wire)
        request, token = held(story, url, resource, folder / "a", POINTS[0])
        story.call("daemon.shutdown")
        story.until("request.did_cancel", request)
    daemon.process.wait(20)
    resource.gate.set()
    with start().wire() as wire:
        assert is_whole(download(wire, url, resume_data=token), resource, folder / "a")


# The network


def test_the_link_goes_down(start: StartDaemon, namespace: Namespace, folder: Path) -> None:
    """Twenty downloads, each at another byte when it happens."""
    origin = namespace.run(ScriptedOrigin)
    resources = {f"/{point}": Resource(SIZE, seed=point) for point in POINTS}
    try:
        daemon = namespace.run(start)
        daemon.enter()
        with daemon.wire() as wire:
            story = Story(wire)
            requests = {}
            for point, (path, resource) in zip(POINTS, resources.items(), strict=True):
                url = origin.on(path, resource)
                requests[url], _ = held(story, url, resource, folder / path[1:], point, timeout_ms=SILENCE_MS)
            namespace.down()
            for resource in resources.values():
                resource.gate.set()
            records = {url: story.wait(request) for url, request in requests.items()}
            assert {record["outcome"]["error"]["name"] for record in records.values()} == {TIMED_OUT}
            namespace.up()
            for url, record in records.items():
                whole = download(wire, url, resume_data=record["resume_data"])
                assert whole["outcome"]["ok"], whole
                assert f"/{whole['resumed_at_bytes']}" == url.removeprefix(origin.url)
        assert names(folder) == sorted(path[1:] for path in resources)
        assert all((folder / path[1:]).read_bytes() == resource.body for path, resource in resources.items())
    finally:
        namespace.up()
        origin.stop()


# The disk


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount small disks."""
    places: list[Path] = []

    def mount(options: str) -> Path:
        place = tmp_path / f"disk{len(places)}"
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], check=True, capture_output=True)
        places.append(place)
        return place

    yield mount
    for place in places:
        subprocess.run(["umount", str(place)], check=True, capture_output=True)


@needs_root
def test_a_full_disk_is_named_and_the_rest_comes_when_there_is_room(
    wire: Wire, url: str, resource: Resource, mounted: Callable[[str], Path]
) -> None:
    disk = mounted("size=2m")
    record = download(wire, url, disk / "a")
    error = record["outcome"]["error"]
    assert error["name"] == "disk_full"
    assert error["details"]["errno"] == 28
    assert error["details"]["path"] == str(disk / names(disk)[0])
    subprocess.run(["mount", "-o", f"remount,size={2 * SIZE}", str(disk)], check=True, capture_output=True)
    assert is_whole(download(wire, url, resume_data=record["resume_data"]), resource, disk / "a")


@needs_root
def test_a_disk_that_cannot_be_written_to_is_named(wire: Wire, url: str, mounted: Callable[[str], Path]) -> None:
    disk = mounted("ro")
    error = download(wire, url, disk / "a")["outcome"]["error"]
    assert error["name"] == "downloaded_file_move_failed"
    assert error["details"] == {"destination": str(disk / "a"), "errno": 30}


@needs_root
def test_another_disk_is_no_place_to_go_on(
    wire: Wire, url: str, resource: Resource, folder: Path, mounted: Callable[[str], Path]
) -> None:
    disk = mounted("size=8m")
    resource.breaks = [1_000_000]
    token = download(wire, url, folder / "a")["resume_data"]
    record = download(wire, url, disk / "a", resume_data=token)
    assert record["outcome"]["error"]["details"]["errno"] == 18
    assert names(disk) == []
    assert is_whole(download(wire, url, folder / "a", resume_data=record["resume_data"]), resource, folder / "a")


# What the origin calls a part


@pytest.mark.parametrize(
    "ranges", [[], ["bytes 0-4/20"], ["bytes 0-4/*"], ["bytes 15-19/20"], ["bytes 0-4/5", "bytes 0-4/20"]]
)
def test_a_part_that_was_not_requested_is_no_file(
    wire: Wire, origin: ScriptedOrigin, folder: Path, ranges: list[str]
) -> None:
    fields = [("ETag", '"v"'), *(("Content-Range", each) for each in ranges)]
    url = origin.on("/part", lambda exchange: exchange.reply(206, b"01234", fields))
    record = download(wire, url, folder / "a")
    error = record["outcome"]["error"]
    assert (error["name"], error["retryable"]) == ("session_task_failed.cannot_parse_response", False)
    assert "206" in error["message"]
    assert names(folder) == []
    assert "resume_data" not in record


def test_a_part_that_is_everything_is_a_file(wire: Wire, origin: ScriptedOrigin, folder: Path) -> None:
    fields = [("Content-Range", "bytes 0-4/5")]
    url = origin.on("/part", lambda exchange: exchange.reply(206, b"01234", fields))
    assert download(wire, url, folder / "a")["outcome"]["ok"]
    assert (folder / "a").read_bytes() == b"01234"


@pytest.mark.parametrize("has_size", [False, True])
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ([("Content-Range", "bytes 8-12/*"), ("ETag", '"v"')], "range_mismatch"),
        ([("Content-Range", "bytes 8-12/20"), ("ETag", '"v"')], "range_mismatch"),
        ([("Content-Range", "bytes 8-19/20"), ("Content-Range", "bytes 8-12/13"), ("ETag", '"v"')], "range_mismatch"),
        ([("Content-Range", "bytes 8-19/20"), ("ETag", '"v"'), ("ETag", '"w"')], "resource_changed"),
    ],
)
def test_a_part_of_the_rest_is_not_taken_for_the_rest(
    wire: Wire, origin: ScriptedOrigin, folder: Path, fields: list[tuple[str, str]], reason: str, has_size: bool
) -> None:
    whole = b"0123456789ABCDEFGHIJ"

    def serve(exchange: Exchange) -> None:
        if len(origin.requests) == 1:
            length = b"Content-Length: 20\r\n\r\n" if has_size else b"Transfer-Encoding: chunked\r\n\r\n8\r\n"
            exchange.send(b'HTTP/1.1 200 OK\r\nETag: "v"\r\n' + length + whole[:8])
            return exchange.close()
        if exchange.request.values("Range"):
            return exchange.reply(206, whole[8:13], fields)
        return exchange.reply(200, whole, [("ETag", '"v"')])

    url = origin.on("/rest", serve)
    token = download(wire, url, folder / "a")["resume_data"]
    assert opened(token)["bytes"] == 8
    record = download(wire, url, resume_data=token)
    assert (record["outcome"]["ok"], record["restarted"]) == (True, reason)
    assert (folder / "a").read_bytes() == whole
    assert [request.values("Range") for request in origin.requests] == [[], ["bytes=8-"], []]
