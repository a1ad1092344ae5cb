"""Bodies that are sent: complete, unchanged, with every attempt, and with events of their progress."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import carpool
import pytest
from harness.story import COMPLETING, STARTING, Story, ending
from origins.scripted import ScriptedOrigin


def test_up_01_bytes_and_files_are_sent(client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"0123456789")
    bodies = [
        {"text": "Grüße"},
        {"json": {"a": [1]}},
        {"base64": "AAH/"},
        {"file": str(file)},
        {"file": str(file), "offset": 2, "length_bytes": 3},
    ]
    for body in bodies:
        client.call("request.perform", url=origin.url, method="POST", body=body)
    sent = [request.body for request in origin.requests]
    assert sent == ["Grüße".encode(), b'{"a":[1]}', b"\0\1\xff", b"0123456789", b"234"]


def test_up_02_no_type_is_added(client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("<p>")
    for body in [{"text": "a=b"}, {"base64": "AAH/"}, {"file": str(file)}]:
        client.call("request.perform", url=origin.url, method="PUT", body=body)
    assert [request.values("content-type") for request in origin.requests] == [[], [], []]


def test_up_02_an_upload_is_a_post(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.call("request.perform", url=origin.url, kind="upload", body={"text": "a"})
    client.call("request.perform", url=origin.url, kind="upload", method="PUT", body={"text": "a"})
    assert [request.method for request in origin.requests] == ["POST", "PUT"]


def test_up_03_a_wrong_file_is_an_error_of_the_call(
    client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    """Named with its path and the kernel's number, before anything is sent."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    wrong = {
        tmp_path / "missing": errno.ENOENT,
        tmp_path: errno.EISDIR,
        fifo: errno.EINVAL,
        loop: errno.ELOOP,
        Path("/dev/zero"): errno.EINVAL,
    }
    for path, number in wrong.items():
        with pytest.raises(carpool.RPCError) as caught:
            client.call("request.perform", url=origin.url, kind="upload", body={"file": str(path)})
        assert (caught.value.name, caught.value.data["errno"]) == ("file.cannot_open", number), path
    with pytest.raises(carpool.RPCError, match="relative"):
        client.call("request.perform", url=origin.url, kind="upload", body={"file": "missing"})
    assert origin.requests == []


def test_up_04_every_attempt_sends_the_whole_body(
    client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    file = tmp_path / "large"
    file.write_bytes(bytes(range(256)) * 4096)
    origin.on("/busy", lambda exchange: exchange.reply(503))
    for body, content in [({"file": str(file)}, file.read_bytes()), ({"text": "small"}, b"small")]:
        before = len(origin.requests)
        client.call(
            "request.perform",
            url=f"{origin.url}/busy",
            method="PUT",
            body=body,
            validate=True,
            interceptor=[{"retry_policy": {"scale_ms": 1}}],
        )
        assert [request.body for request in origin.requests[before:]] == [content] * 3


def test_up_07_every_byte_that_is_sent_is_told(story: Story, origin: ScriptedOrigin, tmp_path: Path) -> None:
    """Small bodies too, and before the response is."""
    origin.on("/", lambda exchange: exchange.reply(200))
    for size in (5, 3_000_000):
        file = tmp_path / str(size)
        file.write_bytes(bytes(size))
        story.forget()
        story.perform(f"{origin.url}/", method="POST", body={"file": str(file)})
        types = [event["type"] for event in story.events]
        sent = [event for event in story.events if event["type"] == "task.did_send_body_data"]
        assert sum(event["data"]["size_bytes"] for event in sent) == size
        assert types.index("task.did_receive_response") > max(
            index for index, name in enumerate(types) if name == "task.did_send_body_data"
        )


@pytest.mark.parametrize("size", [0, 5, 3_000_000])
def test_up_07_progress_begins_and_ends(story: Story, origin: ScriptedOrigin, tmp_path: Path, size: int) -> None:
    origin.on("/", lambda exchange: exchange.reply(200))
    (tmp_path / "file").write_bytes(bytes(size))
    story.perform(f"{origin.url}/", kind="upload", body={"file": str(tmp_path / "file")})
    data = [event["data"] for event in story.events if event["type"] == "request.upload_progress"]
    assert data[0] == {"sent_bytes": 0, "total_bytes": size}
    assert data[-1] == {"sent_bytes": size, "total_bytes": size}
    assert [step["sent_bytes"] for step in data] == sorted(step["sent_bytes"] for step in data)
    [created] = [event["data"] for event in story.events if event["type"] == "request.did_create_uploadable"]
    assert created == {"kind": "file", "size_bytes": size}


def test_up_07_the_order_of_an_upload(story: Story, origin: ScriptedOrigin) -> None:
    origin.on("/", lambda exchange: exchange.reply(200, b"x"))
    story.perform(f"{origin.url}/", kind="upload", body={"text": "hello"})
    assert story.words() == [
        "request.did_resume",
        "request.did_create_initial_url_request",
        "request.did_create_uploadable",
        "request.did_create_url_request",
        *STARTING,
        "request.upload_progress",
        "task.did_send_body_data",
        "request.upload_progress",
        "task.did_receive_response(200)",
        "task.did_receive_data",
        *COMPLETING,
        *ending(),
    ]


@pytest.mark.parametrize("body", [{"text": "query"}, {"base64": "cXVlcnk="}])
def test_f7_an_upload_may_be_a_get(client: carpool.Client, origin: ScriptedOrigin, body: dict[str, str]) -> None:
    record = client.call("request.perform", url=origin.url, method="GET", kind="upload", body=body)
    assert record["outcome"]["ok"], record["outcome"]
    (sent,) = origin.requests
    assert (sent.method, sent.body) == ("GET", b"query")
    refused = client.call("request.perform", url=origin.url, method="GET", body=body)["outcome"]["error"]
    assert refused["name"] == "url_request_validation_failed.body_data_in_get_request"
    assert "upload" in refused["hint"]
    assert len(origin.requests) == 1


def test_f7_a_form_may_be_sent_with_a_get(client: carpool.Client, origin: ScriptedOrigin) -> None:
    body = {"multipart": [{"name": "a", "text": "1"}]}
    record = client.call("request.perform", url=origin.url, method="GET", body=body)
    assert record["outcome"]["ok"], record["outcome"]
    assert origin.requests[0].method == "GET" and b'name="a"' in origin.requests[0].body
