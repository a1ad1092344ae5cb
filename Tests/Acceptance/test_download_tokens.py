"""Resume tokens: which file is resumed, and how long it is kept (DL-17)."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.daemon import Daemon
from harness.downloads import ATTRIBUTE, HALF, SIZE, broken, download, is_whole, names, note, opened, sealed
from harness.story import Story
from harness.waiting import eventually
from harness.wire import Wire
from origins.nginx import Nginx
from origins.ranges import SECONDS_OF_A_DAY, Resource
from origins.scripted import Exchange, ScriptedOrigin

StartDaemon = Callable[..., Daemon]


@pytest.fixture
def resource() -> Resource:
    return Resource(SIZE)


@pytest.fixture
def url(origin: ScriptedOrigin, resource: Resource) -> str:
    return origin.on("/resource", resource)


@pytest.mark.parametrize("token", ["", "rubbish", "e30", sealed({"v": 2}), sealed({"v": 1, "url": "", "bytes": -1})])
def test_rubbish_is_no_token(wire: Wire, url: str, token: str) -> None:
    answer = wire.answer(wire.request("request.perform", url=url, kind="download", resume_data=token))
    assert answer["error"]["code"] == -32602
    assert answer["error"]["data"]["path"] == "params.resume_data"


@pytest.mark.parametrize(
    "case", ["passwd", "hard link", "symbolic link", "directory", "fifo", "relative", "other user"]
)
def test_only_partial_files_of_ours_are_gone_on_with(
    wire: Wire, url: str, resource: Resource, folder: Path, case: str
) -> None:
    content = opened(broken(wire, url, resource, folder / "a"))
    partial = Path(content["partial"])
    other = folder / ".a.r_x_1.carpool-part"
    match case:
        case "passwd":
            content["partial"] = "/etc/passwd"
        case "relative":
            content["partial"] = partial.name
        case "hard link":
            os.link(partial, other)
        case "symbolic link":
            partial.rename(folder / "elsewhere")
            partial.symlink_to(folder / "elsewhere")
        case "directory":
            partial.unlink()
            partial.mkdir()
        case "fifo":
            partial.unlink()
            os.mkfifo(partial)
        case "other user":
            if os.getuid() != 0:
                pytest.skip("needs root")
            os.chown(partial, 65534, 65534)
    answer = wire.answer(wire.request("request.perform", url=url, kind="download", resume_data=sealed(content)))
    assert answer["error"]["code"] == 1301, answer


@pytest.mark.parametrize("where", ["relative", "", "/tmp/nul\0name", "/tmp/", "/dev/null", "/proc/self/fd"])
def test_a_token_is_believed_no_more_than_other_parameters(
    wire: Wire, origin: ScriptedOrigin, url: str, resource: Resource, folder: Path, where: str
) -> None:
    content = opened(broken(wire, url, resource, folder / "a"))
    asked = len(origin.requests)
    token = sealed(content | {"destination": where})
    error = wire.answer(wire.request("request.perform", url=url, kind="download", resume_data=token))["error"]
    kernels = where.startswith(("/dev", "/proc"))
    assert error["code"] == (1301 if kernels else -32602)
    assert error["data"]["path"] == (where if kernels else "params.resume_data")
    assert len(origin.requests) == asked
    assert is_whole(download(wire, url, str(folder / "a"), resume_data=token), resource, folder / "a")


def rewrite_unrecorded(partial: Path) -> None:
    os.removexattr(partial, ATTRIBUTE)
    partial.write_bytes(bytes(HALF))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "shortened": lambda partial: os.truncate(partial, HALF - 1),
    "lengthened": lambda partial: os.truncate(partial, HALF + 1),
    "longer than the whole": lambda partial: os.truncate(partial, SIZE + 1),
    "rewritten": lambda partial: partial.write_bytes(bytes(HALF)),
    "rewritten in one byte": lambda partial: partial.write_bytes(partial.read_bytes()[:-1] + b"\0"),
    "a record of fewer bytes": lambda partial: note(partial, '"v1"', HALF - 1),
    "a record of another version": lambda partial: note(partial, '"v2"'),
    "rewritten, and without a record": rewrite_unrecorded,
}


@pytest.mark.parametrize("case", list(DAMAGES))
def test_a_partial_file_that_is_lost_or_changed_starts_anew(
    wire: Wire, url: str, resource: Resource, folder: Path, case: str
) -> None:
    resource.body = resource.body[:-1] + b"\1"
    token = broken(wire, url, resource, folder / "a")
    (partial,) = folder.iterdir()
    DAMAGES[case](partial)
    record = download(wire, url, resume_data=token)
    if case == "a record of fewer bytes":
        assert record["resumed_at_bytes"] == HALF - 1
        assert "restarted" not in record
    else:
        assert record["restarted"] == ("partial_file_lost" if case in {"gone", "shortened"} else "partial_file_changed")
        assert "resumed_at_bytes" not in record
    assert is_whole(record, resource, folder / "a")


def test_an_old_token_does_not_append_to_another_version(
    wire: Wire, url: str, resource: Resource, folder: Path
) -> None:
    """Two mirrors with two versions: the second version has begun again in the same partial file."""
    old = broken(wire, url, resource, folder / "a")
    first, second = resource.body, resource.body[::-1]
    resource.body, resource.etag, resource.breaks = second, '"v2"', [HALF + 10_000]
    new = download(wire, url, resume_data=old)
    assert new["restarted"] == "resource_changed"
    resource.body, resource.etag = first, '"v1"'
    record = download(wire, url, resume_data=old)
    assert record["restarted"] == "partial_file_changed"
    assert is_whole(record, resource, folder / "a")
    # The other version is gone with its token.
    resource.body, resource.etag = second, '"v2"'
    record = download(wire, url, {"path": str(folder / "a"), "remove_previous": True}, resume_data=new["resume_data"])
    assert record["restarted"] == "partial_file_lost"
    assert is_whole(record, resource, folder / "a")


def test_an_old_token_of_a_download_that_is_complete_and_kept(
    wire: Wire, url: str, resource: Resource, folder: Path
) -> None:
    token = broken(wire, url, resource, folder / "a")
    kept = wire.call("request.submit", url=url, kind="download", resume_data=token)["request"]
    assert is_whole(wire.call("request.wait", request=kept), resource, folder / "a")
    destination = {"path": str(folder / "a"), "remove_previous": True}
    record = download(wire, url, destination, resume_data=token)
    assert record["restarted"] == "partial_file_lost"
    assert is_whole(record, resource, folder / "a")


def test_a_mirror_without_a_validator_leaves_no_record_of_the_version_before(
    wire: Wire, url: str, resource: Resource, folder: Path
) -> None:
    old = broken(wire, url, resource, folder / "a")
    (partial,) = folder.iterdir()
    assert os.getxattr(partial, ATTRIBUTE).split()[1] == str(HALF).encode()
    resource.etag = None
    resource.holds_at = HALF + 1
    request = wire.call("request.submit", url=url, kind="download", resume_data=old)["request"]
    eventually(lambda: wire.call("request.get", request=request).get("received_bytes") == HALF + 1)
    assert os.listxattr(partial) == []
    resource.gate.set()
    assert is_whole(wire.call("request.wait", request=request), resource, folder / "a")


def test_without_extended_attributes_the_token_knows_the_bytes(
    wire: Wire, url: str, resource: Resource, folder: Path
) -> None:
    token = broken(wire, url, resource, folder / "a")
    (partial,) = folder.iterdir()
    os.removexattr(partial, ATTRIBUTE)
    with partial.open("ab") as file:
        file.write(b"what nobody knows")
    record = download(wire, url, resume_data=token)
    assert record["resumed_at_bytes"] == HALF
    assert is_whole(record, resource, folder / "a")


def test_a_token_of_an_earlier_version_needs_the_record(wire: Wire, url: str, resource: Resource, folder: Path) -> None:
    content = opened(broken(wire, url, resource, folder / "a"))
    del content["crc32"]
    (partial,) = folder.iterdir()
    os.removexattr(partial, ATTRIBUTE)
    record = download(wire, url, resume_data=sealed(content))
    assert record["restarted"] == "partial_file_changed"
    assert is_whole(record, resource, folder / "a")


def test_what_a_killed_daemon_has_not_recorded_is_requested_again(
    wire: Wire, url: str, resource: Resource, folder: Path
) -> None:
    token = broken(wire, url, resource, folder / "a")
    (partial,) = folder.iterdir()
    note(partial, '"v1"')
    with partial.open("ab") as file:
        file.write(b"not recorded")
    record = download(wire, url, resume_data=token)
    assert record["resumed_at_bytes"] == HALF
    assert "restarted" not in record
    assert is_whole(record, resource, folder / "a")


def test_long_files_are_read_between_the_files_of_other_calls(
    wire: Wire, origin: ScriptedOrigin, url: str, resource: Resource, folder: Path
) -> None:
    """A client has two threads: two files of half a gibibyte that are compared occupy neither for long."""
    long, calls = 1 << 29, []
    for name in ("a", "b"):
        content = opened(broken(wire, url, resource, folder / name))
        validator = os.getxattr(content["partial"], ATTRIBUTE).split(b" ", 4)[4]
        os.truncate(content["partial"], long)
        # The checksum is another one, which is known when all is read.
        os.setxattr(content["partial"], ATTRIBUTE, b"1 %d 1 - %s" % (long, validator))
        calls.append({"url": url, "kind": "download", "resume_data": sealed(content)})
    (folder / "body").write_bytes(b"x")
    slow = [wire.request("request.perform", call) for call in calls]
    quick = wire.request("request.perform", url=origin.url, method="POST", body={"file": str(folder / "body")})
    first = wire.receive()
    while first.get("id") not in {*slow, quick}:
        first = wire.receive()
    assert first["id"] == quick
    for call in slow:
        assert wire.answer(call)["result"]["outcome"]["ok"]
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes() == resource.body


def test_two_cannot_go_on_with_one_file(
    story: Story, origin: ScriptedOrigin, url: str, resource: Resource, folder: Path
) -> None:
    token = broken(story.wire, url, resource, folder / "a")
    gate = origin.hold("/held")
    request = story.submit(f"{origin.url}/held", kind="download", resume_data=token)
    answer = story.wire.answer(story.wire.request("request.perform", url=url, kind="download", resume_data=token))
    assert answer["error"]["code"] == 1301
    assert "another request" in answer["error"]["message"]
    story.call("request.cancel", request=request, resume_data=True)
    story.wait(request)
    gate.set()
    assert is_whole(download(story.wire, url, resume_data=token), resource, folder / "a")


# How long it is kept


@pytest.mark.own_daemon
def test_dismissing_a_failed_download_removes_its_file(
    wire: Wire, url: str, resource: Resource, folder: Path, daemon: Daemon
) -> None:
    resource.breaks = [HALF]
    request = wire.call("request.submit", url=url, kind="download", destination=str(folder / "a"))["request"]
    assert wire.call("request.wait", request=request)["resume_data"]
    assert len(names(folder)) == len(noted(daemon)) == 1
    wire.call("request.dismiss", request=request)
    assert names(folder) == noted(daemon) == []


def noted(daemon: Daemon) -> list[str]:
    """The partial files in the daemon's index."""
    found = []
    for link in (daemon.directory / "state/carpool/partials").iterdir():
        # The daemon may remove it meanwhile.
        with contextlib.suppress(FileNotFoundError):
            found.append(str(link.readlink()))
    return found


def test_old_partial_files_go_with_the_next_start(
    start: StartDaemon, url: str, origin: ScriptedOrigin, resource: Resource, folder: Path
) -> None:
    first: Daemon = start()
    with first.wire() as wire:
        broken(wire, url, resource, folder / "old")
        broken(wire, url, resource, folder / "young")
    first.terminate()
    old, young = sorted(folder.iterdir())
    week = 7 * SECONDS_OF_A_DAY
    os.utime(old, (time.time() - week - 60,) * 2)
    second: Daemon = start()
    assert second.launch_status == "ready"
    eventually(lambda: noted(second) == [str(young)])
    assert sorted(folder.iterdir()) == [young]


def test_the_token_outlives_a_killed_daemon(start: StartDaemon, nginx: Nginx, folder: Path) -> None:
    """With `kill -9` there is no last event: the client has the last token that was reported."""
    first: Daemon = start()
    with first.wire() as wire:
        story = Story(wire)
        request = story.submit(f"{nginx.http}/slow/1m.bin", kind="download", destination=str(folder / "a"))
        story.until("task.did_write_data", request)
        told = next(event["data"] for event in story.events if event["type"] == "request.progress")
        assert wire.call("request.get", request=request)["resume_data"]
        first.kill()
    second: Daemon = start()
    with second.wire() as wire:
        record = download(wire, f"{nginx.http}/1m.bin", resume_data=told["resume_data"])
    assert record["resumed_at_bytes"] > opened(told["resume_data"])["bytes"]
    assert hashlib.sha256((folder / "a").read_bytes()).hexdigest() == nginx.hashes["1m.bin"]
    assert names(folder) == ["a"]
    assert noted(second) == []


@pytest.mark.parametrize("status", [204, 206, 401, 404, 503])
@pytest.mark.parametrize("first", ["another version", "416"])
def test_an_error_after_a_restart_is_no_file(
    wire: Wire, origin: ScriptedOrigin, url: str, resource: Resource, folder: Path, first: str, status: int
) -> None:
    """The part that was there stays, and the token is valid."""
    token = broken(wire, url, resource, folder / "a")

    def refuse(exchange: Exchange) -> None:
        if not exchange.request.values("Range"):
            exchange.reply(status, b"" if status == 204 else b"busy", [("Content-Range", f"bytes 0-3/{SIZE}")])
        elif first == "416":
            exchange.reply(416, b"")
        else:
            fields = [("Content-Range", f"bytes {HALF}-{SIZE - 1}/{SIZE}"), ("ETag", '"v2"')]
            exchange.reply(206, resource.body[HALF:], fields)

    origin.on("/resource", refuse)
    record = download(wire, url, resume_data=token)
    assert record["outcome"]["error"]["name"] == "response_validation_failed.unacceptable_status_code", record
    assert "restarted" not in record
    assert len(names(folder)) == 1 and not (folder / "a").exists()
    origin.on("/resource", resource)
    record = download(wire, url, resume_data=record["resume_data"])
    assert record["resumed_at_bytes"] == HALF
    assert is_whole(record, resource, folder / "a")
