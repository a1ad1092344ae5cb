"""Bodies that are sent: whole, as they are, with every attempt, and told as they go."""

from __future__ import annotations

from pathlib import Path

import carpool
from harness.story import Story
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
