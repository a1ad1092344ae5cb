"""Downloads: the complete file or none, its destination, the events, the validators' decisions (DL)."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.downloads import download, names
from harness.story import BEGINNING, METRICS, STARTING, Story, ending, failing
from harness.wire import Wire
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin, statuses

BODY = bytes(range(256)) * 400
UNACCEPTABLE = "response_validation_failed.unacceptable_status_code"
MOVE_FAILED = "downloaded_file_move_failed"
WRITING = ["task.did_write_data", "task.did_finish_downloading"]
MOVING = ["request.did_create_destination_url", "request.did_finish_downloading(ok)"]
COMPLETE = "request.did_complete_task(None)"
STANDARD = ["request.did_validate(status, ok)", "request.did_validate(content_type, ok)"]


@pytest.fixture
def place(origin: ScriptedOrigin) -> ScriptedOrigin:
    origin.on("/file", lambda exchange: exchange.reply(body=BODY))
    origin.on("/empty", lambda exchange: exchange.reply())
    origin.on("/missing", statuses(404, body=b"no such page"))
    return origin


def error(record: dict[str, Any]) -> dict[str, Any]:
    failure: dict[str, Any] = record["outcome"]["error"]
    return failure


def words(story: Story) -> list[str]:
    """Return the events except for progress, whose number varies."""
    return story.words(without={"request.progress"})


# The file (DL-01, DL-02, DL-04, DL-05)


def test_dl_01_the_file_has_its_name_when_it_is_whole(story: Story, origin: ScriptedOrigin, folder: Path) -> None:
    def handler(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
        held.wait(20)
        exchange.send(b"cd")

    held = origin.hold("/unused")
    request = story.submit(origin.on("/halves", handler), kind="download", destination=str(folder / "a"))
    story.until("task.did_write_data")
    (partial,) = folder.iterdir()
    assert partial.name == f".a.{request}.carpool-part"
    assert partial.stat().st_mode & 0o777 == 0o600
    held.set()
    record = story.wait(request)
    assert record["outcome"] == {"ok": True}
    assert record["body"] == {"file": str(folder / "a"), "size_bytes": 4}
    assert names(folder) == ["a"]
    assert (folder / "a").read_bytes() == b"abcd"


@pytest.mark.parametrize("server", ["http", "https1", "https"])
@pytest.mark.parametrize("name", ["empty.txt", "200.bin", "100k.bin", "16m.bin"])
def test_dl_01_every_byte_arrives(
    wire: Wire, nginx: Nginx, authority: Authority, folder: Path, server: str, name: str
) -> None:
    record = download(
        wire,
        f"{getattr(nginx, server)}/{name}",
        str(folder / name),
        trust={"ca_file": str(authority.ca_file)},
        sha256=True,
    )
    assert record["outcome"]["ok"], record
    assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == nginx.hashes[name] == record["body"]["sha256"]
    assert names(folder) == [name]


@pytest.mark.parametrize(("umask", "mode"), [(None, 0o644), (0, 0o666), (0o077, 0o600)])
def test_the_mode_is_0666_less_the_umask(
    wire: Wire, place: ScriptedOrigin, folder: Path, umask: int | None, mode: int
) -> None:
    destination: dict[str, Any] = {"path": str(folder / "a")}
    if umask is not None:
        destination["umask"] = umask
    download(wire, f"{place.url}/file", destination)
    assert (folder / "a").stat().st_mode & 0o777 == mode


def test_dl_02_without_a_destination_the_spool_has_it(story: Story, daemon: Daemon, place: ScriptedOrigin) -> None:
    record = story.perform(f"{place.url}/file", kind="download")
    (spooled,) = daemon.spooled()
    assert record["body"]["file"] == str(spooled)
    assert spooled.read_bytes() == BODY
    assert words(story) == [
        *BEGINNING, *WRITING, *METRICS, "task.did_complete(None)", *MOVING, COMPLETE, *ending()
    ]  # fmt: skip


def test_dl_06_an_occupied_name_fails_with_both_paths(story: Story, place: ScriptedOrigin, folder: Path) -> None:
    (folder / "a").write_bytes(b"previous")
    record = story.perform(f"{place.url}/file", kind="download", destination=str(folder / "a"))
    failure = error(record)
    assert failure["name"] == MOVE_FAILED
    assert failure["details"]["destination"] == str(folder / "a")
    assert Path(failure["details"]["source"]).parent == folder
    assert failure["details"]["errno"] == 17
    assert (folder / "a").read_bytes() == b"previous"
    assert names(folder) == ["a"], "no client could resume it, so nothing stays"
    assert words(story) == [
        *BEGINNING, *WRITING, *METRICS, "task.did_complete(None)", "request.did_create_destination_url",
        f"request.did_finish_downloading({MOVE_FAILED})", COMPLETE, *ending(MOVE_FAILED),
    ]  # fmt: skip


def test_dl_06_a_missing_directory_fails_before_the_body(wire: Wire, place: ScriptedOrigin, folder: Path) -> None:
    failure = error(download(wire, f"{place.url}/file", str(folder / "x" / "a")))
    assert failure["name"] == MOVE_FAILED
    assert failure["details"] == {"destination": str(folder / "x" / "a"), "errno": 2}


# Validation comes before the move, unless the model's order is requested (DL-07, DL-15)


def test_dl_07_a_page_of_error_replaces_no_good_file(story: Story, place: ScriptedOrigin, folder: Path) -> None:
    (folder / "a").write_bytes(b"good")
    destination = {"path": str(folder / "a"), "remove_previous": True}
    record = story.perform(f"{place.url}/missing", kind="download", destination=destination, validate=True)
    assert error(record)["name"] == UNACCEPTABLE
    assert record["body"] == {"text": "no such page", "size_bytes": 12}, "the origin's error body is kept"
    assert (folder / "a").read_bytes() == b"good"
    assert names(folder) == ["a"]
    assert words(story) == [
        *BEGINNING, *WRITING, *METRICS, "task.did_complete(None)", f"request.did_validate(status, {UNACCEPTABLE})",
        COMPLETE, *ending(UNACCEPTABLE),
    ]  # fmt: skip


def test_dl_07_the_model_s_order(story: Story, place: ScriptedOrigin, folder: Path) -> None:
    """§2.7 literally: the move, the metrics, the validators; and the file with an error page stays."""
    destination = {"path": str(folder / "a"), "validate_before_move": False}
    story.perform(f"{place.url}/file", kind="download", destination=destination, validate=True)
    assert words(story) == [
        *BEGINNING, *WRITING, *MOVING, *METRICS, "task.did_complete(None)", *STANDARD, COMPLETE, *ending()
    ]  # fmt: skip
    story.forget()
    destination["path"] = str(folder / "b")
    record = story.perform(f"{place.url}/missing", kind="download", destination=destination, validate=True)
    assert error(record)["name"] == UNACCEPTABLE
    assert record["body"]["file"] == str(folder / "b")
    assert (folder / "b").read_bytes() == b"no such page"


def test_2_7_the_better_order(story: Story, place: ScriptedOrigin, folder: Path) -> None:
    story.perform(f"{place.url}/file", kind="download", destination=str(folder / "a"), validate=True)
    assert words(story) == [
        *BEGINNING, *WRITING, *METRICS, "task.did_complete(None)", *STANDARD, *MOVING, COMPLETE, *ending()
    ]  # fmt: skip
    files = [event["data"].get("file") for event in story.events if "download" in event["type"]]
    assert files[0].endswith(".carpool-part")
    assert files[1] == str(folder / "a")


def test_2_7_an_empty_body_is_an_empty_file(story: Story, place: ScriptedOrigin, folder: Path) -> None:
    record = story.perform(f"{place.url}/empty", kind="download", destination=str(folder / "a"))
    assert record["body"] == {"file": str(folder / "a"), "size_bytes": 0}
    assert words(story) == [
        *BEGINNING, "task.did_finish_downloading", *METRICS, "task.did_complete(None)", *MOVING, COMPLETE, *ending()
    ]  # fmt: skip
    assert (folder / "a").read_bytes() == b""


def test_dl_08_files_are_no_resources(wire: Wire, folder: Path) -> None:
    failure = error(download(wire, "file:///etc/hostname", str(folder / "a")))
    assert failure["name"] == "session_task_failed.unsupported_url"
    assert names(folder) == []


def test_dl_09_progress_grows_and_ends_whole(story: Story, nginx: Nginx, folder: Path) -> None:
    record = story.perform(f"{nginx.http}/16m.bin", kind="download", destination=str(folder / "a"))
    assert record["outcome"]["ok"]
    told = [event["data"] for event in story.events if event["type"] == "request.progress"]
    received = [data["received_bytes"] for data in told]
    assert received == sorted(received)
    assert received[0] == 0
    assert told[-1]["received_bytes"] == told[-1]["total_bytes"] == 16 << 20
    assert all(data["total_bytes"] == 16 << 20 and data["resume_data"] for data in told)
    pieces = [event["data"] for event in story.events if event["type"] == "task.did_write_data"]
    assert sum(data["size_bytes"] for data in pieces) == 16 << 20
    assert pieces[-1]["received_bytes"] == 16 << 20


def test_dl_10_dl_16_a_cancelled_download_leaves_nothing(
    story: Story, origin: ScriptedOrigin, folder: Path, daemon: Daemon
) -> None:
    def handler(exchange: Exchange) -> None:
        exchange.send(b'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nETag: "1"\r\n\r\nab')
        exchange.wait_for_peer_to_close()
        exchange.close()

    url = origin.on("/half", handler)
    request = story.submit(
        url, kind="download", destination=str(folder / "a"), interceptor=[{"retry_policy": {"scale_ms": 1}}]
    )
    story.until("task.did_write_data")
    assert story.call("request.cancel", request=request) == {"changed": True, "state": "cancelled"}
    record = story.wait(request)
    assert "resume_data" not in record
    assert error(record)["name"] == "explicitly_cancelled"
    assert names(folder) == []
    assert len(origin.requests) == 1


def test_dl_14_values_are_made_of_the_file(wire: Wire, nginx: Nginx, folder: Path) -> None:
    path = folder / "a.json"
    record = download(wire, f"{nginx.http}/small.json", str(path), serialize=["json", "string", "data", "none"])
    first, second, third, fourth = record["outcome"]["values"]
    assert first["value"]["name"] == "carpool"
    assert second["ok"]
    assert third["ok"]
    assert "value" not in fourth
    assert record["body"]["file"] == str(path)


@pytest.mark.parametrize("before", [True, False])
def test_dl_15_a_file_that_somebody_takes_away(story: Story, place: ScriptedOrigin, folder: Path, before: bool) -> None:
    def take_away(_: dict[str, Any]) -> dict[str, Any]:
        for path in folder.iterdir():
            path.unlink()
        return {"valid": True}

    story.answerers["validate"] = take_away
    record = story.perform(
        f"{place.url}/file",
        kind="download",
        destination={"path": str(folder / "a"), "validate_before_move": before},
        validate=[{"callback": {"name": "c"}}, {"content_type": ["*/*"]}],
    )
    assert error(record)["name"] == "response_validation_failed.data_file_read_failed"
    assert names(folder) == []


def test_dl_15_an_empty_file_has_any_type(wire: Wire, place: ScriptedOrigin, folder: Path) -> None:
    record = download(wire, f"{place.url}/empty", str(folder / "a"), validate=[{"content_type": ["text/html"]}])
    assert record["outcome"]["ok"]


def test_a_retry_without_a_validator_begins_anew(story: Story, origin: ScriptedOrigin, folder: Path) -> None:
    answers: list[tuple[bytes, int]] = [(b"half", 8), (b"new body", 8)]

    def handler(exchange: Exchange) -> None:
        body, length = answers.pop(0)
        exchange.reply(body=body, length=length)
        if len(body) < length:
            exchange.close()

    record = story.perform(
        origin.on("/flaky", handler),
        kind="download",
        destination=str(folder / "a"),
        interceptor=[{"retry_policy": {"scale_ms": 1}}],
    )
    assert record["outcome"]["ok"]
    assert (folder / "a").read_bytes() == b"new body"
    assert origin.requests[1].values("Range") == []
    assert names(folder) == ["a"]


def test_a_download_is_asked_for_as_it_is(wire: Wire, origin: ScriptedOrigin, folder: Path) -> None:
    download(wire, f"{origin.url}/a", str(folder / "a"))
    assert origin.requests[0].values("Accept-Encoding") == ["identity"]
    download(wire, f"{origin.url}/b", str(folder / "b"), decode=True)
    assert origin.requests[1].values("Accept-Encoding") != ["identity"]


def test_a_decoded_download_cannot_be_gone_on_with(story: Story, nginx: Nginx, folder: Path) -> None:
    record = story.perform(
        f"{nginx.http}/gzip/words.txt", kind="download", destination=str(folder / "a"), decode=True, sha256=True
    )
    assert record["body"]["sha256"] == nginx.hashes["words.txt"]
    assert all("resume_data" not in event["data"] for event in story.events)


def test_only_downloads_have_a_destination(wire: Wire, origin: ScriptedOrigin) -> None:
    answer = wire.answer(wire.request("request.perform", url=origin.url, destination="/tmp/a"))
    assert answer["error"]["code"] == -32602
    assert answer["error"]["data"]["path"] == "params.destination"


def test_a_redirect_s_target_is_downloaded(story: Story, nginx: Nginx, folder: Path) -> None:
    record = story.perform(f"{nginx.http}/moved", kind="download", destination={"directory": str(folder)})
    assert record["outcome"]["ok"]
    assert (folder / "hello.txt").read_bytes() == b"hello, world\n"


def test_the_transport_s_failure_is_the_download_s(story: Story, origin: ScriptedOrigin, folder: Path) -> None:
    def cut(exchange: Exchange) -> None:
        exchange.reply(body=b"ab", length=4)
        exchange.close()

    record = story.perform(origin.on("/cut", cut), kind="download", destination=str(folder / "a"))
    code = "network_connection_lost"
    assert error(record)["name"] == f"session_task_failed.{code}"
    assert names(folder) == []
    assert words(story) == [
        "request.did_resume", *BEGINNING[1:3], *STARTING, "task.did_write_data", *failing(code),
        *ending(f"session_task_failed.{code}"),
    ]  # fmt: skip


def test_sha256_of_a_body_that_is_kept(wire: Wire, nginx: Nginx) -> None:
    for name in ["empty.txt", "200.bin", "1m.bin", "gzip/words.txt"]:
        record = wire.call("request.perform", url=f"{nginx.http}/{name}", sha256=True)
        assert record["body"]["sha256"] == nginx.hashes[name.removeprefix("gzip/")]


def test_a_refused_body_leaves_nothing_to_go_on_with(wire: Wire, origin: ScriptedOrigin, folder: Path) -> None:
    """All of it has come, and the origin serves ranges: a resumed download would be refused again."""
    headers = [("ETag", '"1"'), ("Content-Type", "text/html")]
    url = origin.on("/page", lambda exchange: exchange.reply(body=BODY, headers=headers))
    record = download(wire, url, folder / "a", validate=[{"content_type": ["image/png"]}])
    assert error(record)["name"] == "response_validation_failed.unacceptable_content_type"
    assert "resume_data" not in record
    assert names(folder) == []
