"""Downloads that are resumed after a cancellation, a failure, a retry or the daemon's death (DL)."""

from __future__ import annotations

import hashlib
import time
import zlib
from email.utils import formatdate
from functools import partial as bound
from pathlib import Path

import pytest
from harness.downloads import HALF, LOST, SIZE, broken, download, is_whole, names, note, opened
from harness.story import METRICS, STARTING, Story, ending
from harness.waiting import eventually
from harness.wire import Wire
from origins.ranges import SECONDS_OF_A_DAY, Resource
from origins.scripted import Exchange, ScriptedOrigin

AT_ONCE = {"retry_policy": {"scale_ms": 1}}


@pytest.fixture
def resource() -> Resource:
    return Resource(SIZE)


@pytest.fixture
def url(origin: ScriptedOrigin, resource: Resource) -> str:
    return origin.on("/resource", resource)


# After a failure and after a cancellation (DL-11 to DL-13)


def test_dl_12_dl_13_a_broken_download_goes_on(
    story: Story, url: str, resource: Resource, folder: Path, origin: ScriptedOrigin
) -> None:
    token = broken(story.wire, url, resource, folder / "a")
    story.forget()
    record = story.perform(url, kind="download", resume_data=token)
    assert is_whole(record, resource, folder / "a")
    assert record["resumed_at_bytes"] == HALF
    assert "restarted" not in record
    assert record["response"]["status"] == 206
    asked = origin.requests[-1]
    assert asked.values("Range") == [f"bytes={HALF}-"]
    assert asked.values("If-Range") == ['"v1"']
    resumed = next(event["data"] for event in story.events if event["type"] == "task.did_resume_at_offset")
    assert resumed == {"offset_bytes": HALF, "total_bytes": SIZE}
    progress = [event["data"]["received_bytes"] for event in story.events if event["type"] == "request.progress"]
    assert progress[0] == HALF
    assert progress[-1] == SIZE


def test_2_7_the_order_of_a_resumed_download(story: Story, url: str, resource: Resource, folder: Path) -> None:
    token = broken(story.wire, url, resource, folder / "a")
    story.forget()
    story.perform(url, kind="download", resume_data=token)
    assert story.words(without={"request.progress"}) == [
        "request.did_resume", "request.did_create_initial_url_request", "request.did_create_url_request", *STARTING,
        "task.did_resume_at_offset", "task.did_write_data", "task.did_finish_downloading", *METRICS,
        "task.did_complete(None)", "request.did_create_destination_url", "request.did_finish_downloading(ok)",
        "request.did_complete_task(None)", *ending(),
    ]  # fmt: skip


def test_2_7_dl_11_a_cancelled_download_goes_on(
    story: Story, origin: ScriptedOrigin, resource: Resource, folder: Path
) -> None:
    def handler(exchange: Exchange) -> None:
        if exchange.request.values("Range"):
            return resource(exchange)
        exchange.reply(body=resource.body[:HALF], length=SIZE, headers=[("ETag", '"v1"')])
        exchange.wait_for_peer_to_close()
        return exchange.close()

    url = origin.on("/slow", handler)
    request = story.submit(url, kind="download", destination=str(folder / "a"))
    story.until("task.did_write_data")
    answer = story.call("request.cancel", request=request, resume_data=True)
    assert answer["state"] == "cancelled"
    record = story.wait(request)
    assert record["outcome"]["error"]["name"] == "explicitly_cancelled"
    assert opened(record["resume_data"]) == opened(answer["resume_data"])
    assert story.words(request, without={"request.progress"})[6:] == [
        "request.did_cancel", "request.did_cancel_task", *METRICS, "task.did_complete(cancelled)",
        "request.did_complete_task(cancelled)", *ending("explicitly_cancelled"),
    ]  # fmt: skip
    assert is_whole(download(story.wire, url, resume_data=record["resume_data"]), resource, folder / "a")


def test_twenty_breaks_are_one_file(wire: Wire, url: str, resource: Resource, folder: Path) -> None:
    token = broken(wire, url, resource, folder / "a", 10_000)
    for _ in range(19):
        resource.breaks = [10_000]
        token = download(wire, url, resume_data=token)["resume_data"]
    assert opened(token)["bytes"] == 200_000
    record = download(wire, url, resume_data=token, sha256=True)
    assert record["body"].pop("sha256") == hashlib.sha256(resource.body).hexdigest()
    assert is_whole(record, resource, folder / "a")


def test_a_retry_goes_on_by_itself(wire: Wire, url: str, resource: Resource, folder: Path) -> None:
    resource.breaks = [HALF, 50_000]
    record = download(wire, url, folder / "a", interceptor=[AT_ONCE], sha256=True)
    assert record["body"].pop("sha256") == hashlib.sha256(resource.body).hexdigest()
    assert is_whole(record, resource, folder / "a")
    assert record["resumed_at_bytes"] == HALF + 50_000
    assert len(record["attempts"]) == 3


def has_received(wire: Wire, request: str) -> bool:
    return bool(wire.call("request.get", request=request)["received_bytes"])


def test_the_token_of_a_cancellation_counts_what_is_in_the_file(
    wire: Wire, origin: ScriptedOrigin, resource: Resource, folder: Path
) -> None:
    """Bytes are on their way to the file when the call comes."""

    def flow(exchange: Exchange) -> None:
        exchange.reply(headers=[("ETag", '"v1"')], length=1 << 30)
        while True:
            exchange.send(bytes(20_000))

    url = origin.on("/flow", flow)
    for number in range(5):
        request = wire.call("request.submit", url=url, kind="download", destination=str(folder / f"{number}"))
        name: str = request["request"]
        eventually(bound(has_received, wire, name))
        answer = wire.call("request.cancel", request=name, resume_data=True)
        assert answer["changed"]
        assert answer["state"] == "cancelled"
        content = opened(answer["resume_data"])
        assert content == opened(wire.call("request.wait", request=name)["resume_data"])
        assert content["bytes"] == Path(content["partial"]).stat().st_size


# The token (DL-17)


def test_dl_17_a_token_tells_what_it_holds(wire: Wire, url: str, resource: Resource, folder: Path) -> None:
    content = opened(broken(wire, url, resource, folder / "a"))
    (partial,) = folder.iterdir()
    assert content == {
        "v": 1,
        "url": url,
        "etag": '"v1"',
        "bytes": HALF,
        "crc32": zlib.crc32(resource.body[:HALF]),
        "total": SIZE,
        "partial": str(partial),
        "destination": str(folder / "a"),
    }


def test_dl_17_another_url_and_another_place(
    wire: Wire, origin: ScriptedOrigin, url: str, resource: Resource, folder: Path
) -> None:
    """An expired URL is replaced by a fresh one; the validator shows whether it is the same resource."""
    token = broken(wire, url, resource, folder / "a")
    record = download(wire, origin.on("/fresh", resource), folder / "b", resume_data=token)
    assert is_whole(record, resource, folder / "b")


def test_the_date_is_a_validator_if_it_is_strong(wire: Wire, origin: ScriptedOrigin, folder: Path) -> None:
    old = formatdate(time.time() - SECONDS_OF_A_DAY, usegmt=True)
    resource = Resource(SIZE, etag=None, modified=old)
    url = origin.on("/dated", resource)
    token = broken(wire, url, resource, folder / "a")
    assert opened(token)["last_modified"] == old
    assert is_whole(download(wire, url, resume_data=token), resource, folder / "a")
    assert origin.requests[-1].values("If-Range") == [old]


@pytest.mark.parametrize(
    ("etag", "age", "headers"),
    [
        (None, None, []),
        ('W/"v1"', SECONDS_OF_A_DAY, []),
        (None, -5, []),
        ('"v1"', None, [("Accept-Ranges", "none")]),
    ],
    ids=["no validator", "weak", "too young", "no ranges"],
)
def test_without_a_strong_validator_nothing_is_kept(
    wire: Wire,
    origin: ScriptedOrigin,
    folder: Path,
    etag: str | None,
    age: int | None,
    headers: list[tuple[str, str]],
) -> None:
    modified = None if age is None else formatdate(time.time() - age, usegmt=True)
    fields = [("Date", formatdate(usegmt=True)), *headers]
    fields += [("ETag", etag)] if etag else []
    fields += [("Last-Modified", modified)] if modified else []

    def handler(exchange: Exchange) -> None:
        exchange.reply(body=b"half", length=8, headers=fields)
        exchange.close()

    record = download(wire, origin.on("/weak", handler), folder / "a")
    assert record["outcome"]["error"]["name"] == LOST
    assert "resume_data" not in record
    assert names(folder) == []


# The origin's answers to a range request


def test_a_changed_resource_starts_anew_and_says_so(wire: Wire, url: str, resource: Resource, folder: Path) -> None:
    token = broken(wire, url, resource, folder / "a")
    resource.body, resource.etag = resource.body[::-1], '"v2"'
    record = download(wire, url, resume_data=token, sha256=True)
    assert record["restarted"] == "resource_changed"
    assert "resumed_at_bytes" not in record
    assert record["body"].pop("sha256") == hashlib.sha256(resource.body).hexdigest()
    assert is_whole(record, resource, folder / "a")


@pytest.mark.parametrize("etag", ["v1", "v2"])
def test_a_download_that_started_anew_can_be_resumed(
    wire: Wire, url: str, resource: Resource, folder: Path, etag: str
) -> None:
    token = broken(wire, url, resource, folder / "a")
    resource.body, resource.etag, resource.breaks = resource.body[::-1], f'"{etag}"', [HALF]
    resource.ignores_ranges = etag == "v1"
    record = download(wire, url, resume_data=token)
    assert record["outcome"]["error"]["name"] == LOST
    assert record["restarted"] == ("range_ignored" if etag == "v1" else "resource_changed")
    assert opened(record["resume_data"])["bytes"] == HALF
    resource.ignores_ranges = False
    record = download(wire, url, resume_data=record["resume_data"])
    assert record["resumed_at_bytes"] == HALF
    assert is_whole(record, resource, folder / "a")


def test_an_origin_without_ranges_sends_the_whole(wire: Wire, url: str, resource: Resource, folder: Path) -> None:
    token = broken(wire, url, resource, folder / "a")
    resource.ignores_ranges = True
    record = download(wire, url, resume_data=token)
    assert record["restarted"] == "range_ignored"
    assert is_whole(record, resource, folder / "a")


@pytest.mark.parametrize(
    ("content_range", "etag", "reason"),
    [
        (f"bytes 0-{SIZE - 1}/{SIZE}", '"v1"', "range_mismatch"),
        (f"bytes {HALF}-{SIZE - 1}/{SIZE + 1}", '"v1"', "range_mismatch"),
        (f"bytes {HALF}-{SIZE}/{SIZE + 1}", '"v1"', "range_mismatch"),
        ("rubbish", '"v1"', "range_mismatch"),
        (None, '"v1"', "range_mismatch"),
        (f"bytes {HALF}-{SIZE - 1}/{SIZE}", '"v2"', "resource_changed"),
        (f"bytes {HALF}-{SIZE - 1}/{SIZE}", None, "validator_missing"),
    ],
)
def test_a_part_that_does_not_fit_is_not_used(
    wire: Wire,
    origin: ScriptedOrigin,
    url: str,
    resource: Resource,
    folder: Path,
    content_range: str | None,
    etag: str | None,
    reason: str,
) -> None:
    def wrong(exchange: Exchange) -> None:
        if not exchange.request.values("Range"):
            return resource(exchange)
        headers = [("ETag", etag)] if etag else []
        headers += [("Content-Range", content_range)] if content_range else []
        return exchange.reply(206, b"x" * (SIZE - HALF), headers)

    token = broken(wire, url, resource, folder / "a")
    record = download(wire, origin.on("/wrong", wrong), resume_data=token)
    assert record["restarted"] == reason
    assert is_whole(record, resource, folder / "a")
    assert len(record["attempts"]) == 1, "a second request is no retry"


def test_a_file_that_is_whole_is_checked_by_its_last_byte(
    wire: Wire, url: str, resource: Resource, folder: Path, origin: ScriptedOrigin
) -> None:
    token = broken(wire, url, resource, folder / "a", SIZE - 1)
    partial = Path(opened(token)["partial"])
    with partial.open("ab") as file:
        file.write(resource.body[-1:])
    note(partial, '"v1"')
    assert is_whole(download(wire, url, resume_data=token), resource, folder / "a")
    assert origin.requests[-1].values("Range") == [f"bytes={SIZE - 1}-"]


@pytest.mark.parametrize("changed", [False, True])
def test_416_is_the_end_or_another_resource(wire: Wire, origin: ScriptedOrigin, folder: Path, changed: bool) -> None:
    resource = Resource(SIZE)
    resource.has_length = False
    url = origin.on("/chunked", resource)
    token = broken(wire, url, resource, folder / "a", SIZE - 1)
    partial = Path(opened(token)["partial"])
    with partial.open("ab") as file:
        file.write(resource.body[-1:])
    note(partial, '"v1"')
    if changed:
        resource.body = resource.body[:1000]
    resource.has_length = True
    record = download(wire, url, resume_data=token)
    assert record.get("restarted") == ("resource_changed" if changed else None)
    assert is_whole(record, resource, folder / "a")


def test_a_page_of_error_leaves_the_bytes_alone(
    wire: Wire, origin: ScriptedOrigin, url: str, resource: Resource, folder: Path
) -> None:
    token = broken(wire, url, resource, folder / "a")
    busy = origin.on("/busy", lambda exchange: exchange.reply(503, b"busy"))
    record = download(wire, busy, resume_data=token)
    assert record["outcome"]["error"]["name"] == "response_validation_failed.unacceptable_status_code"
    assert record["body"] == {"text": "busy", "size_bytes": 4}
    assert opened(record["resume_data"])["bytes"] == HALF
    assert is_whole(download(wire, url, resume_data=record["resume_data"]), resource, folder / "a")


@pytest.mark.parametrize("count", [SIZE - HALF - 7, SIZE - HALF + 7], ids=["fewer", "more"])
@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_range_with_other_bytes_than_it_names_is_no_success(
    wire: Wire, origin: ScriptedOrigin, url: str, resource: Resource, folder: Path, count: int, is_chunked: bool
) -> None:
    """With fewer the rest can be requested again; which of too many are right is unknown."""

    def wrong(exchange: Exchange) -> None:
        body = (resource.body[HALF:] + b"x" * 7)[:count]
        head = f'HTTP/1.1 206 Part\r\nETag: "v1"\r\nContent-Range: bytes {HALF}-{SIZE - 1}/{SIZE}\r\n'
        framing = "Transfer-Encoding: chunked" if is_chunked else f"Content-Length: {count}"
        exchange.send(f"{head}{framing}\r\n\r\n".encode())
        exchange.send(b"%x\r\n%s\r\n0\r\n\r\n" % (count, body) if is_chunked else body)

    record = download(wire, origin.on("/wrong", wrong), resume_data=broken(wire, url, resource, folder / "a"))
    assert not record["outcome"]["ok"]
    assert "Content-Range" in record["outcome"]["error"]["message"]
    assert not (folder / "a").exists()
    if count < SIZE - HALF:
        assert record["outcome"]["error"]["name"] == LOST
        assert is_whole(download(wire, url, resume_data=record["resume_data"]), resource, folder / "a")
    else:
        assert record["outcome"]["error"]["name"] == "session_task_failed.cannot_parse_response"
        assert "resume_data" not in record
        assert list(folder.iterdir()) == []


def test_a_range_with_a_content_coding_is_not_used(
    wire: Wire, origin: ScriptedOrigin, url: str, resource: Resource, folder: Path
) -> None:
    def wrong(exchange: Exchange) -> None:
        if not exchange.request.values("Range"):
            return resource(exchange)
        content_range = f"bytes {HALF}-{SIZE - 1}/{SIZE}"
        headers = [("ETag", '"v1"'), ("Content-Range", content_range), ("Content-Encoding", "gzip")]
        return exchange.reply(206, zlib.compress(resource.body[HALF:], wbits=31), headers)

    token = broken(wire, url, resource, folder / "a")
    record = download(wire, origin.on("/wrong", wrong), resume_data=token)
    assert record["restarted"] == "range_mismatch"
    assert is_whole(record, resource, folder / "a")


def test_a_response_with_a_content_coding_is_not_resumed(
    wire: Wire, origin: ScriptedOrigin, resource: Resource, folder: Path
) -> None:
    """None was asked for; the next response may have another one, with the same entity tag."""

    def encoded(exchange: Exchange) -> None:
        body = zlib.compress(resource.body, wbits=31)
        headers = [("ETag", '"v1"'), ("Content-Encoding", "gzip")]
        exchange.reply(200, body[: HALF // 2], headers, length=len(body))
        exchange.close()

    record = download(wire, origin.on("/encoded", encoded), folder / "a")
    assert record["outcome"]["error"]["name"] == LOST
    assert "resume_data" not in record
    assert list(folder.iterdir()) == []
