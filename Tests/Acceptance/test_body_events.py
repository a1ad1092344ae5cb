"""The events of bodies: complete orders of uploads, and the data of the events of downloads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness.downloads import HALF, SIZE, broken
from harness.story import COMPLETING, STARTING, Story, ending
from origins.ranges import Resource
from origins.scripted import ScriptedOrigin, statuses

UNACCEPTABLE = "response_validation_failed.unacceptable_status_code"
PROGRESS = {"request.progress", "request.upload_progress"}
MADE = ["request.did_resume", "request.did_create_initial_url_request"]
ANSWERED = ["task.did_receive_response(200)", *COMPLETING, *ending()]


def payloads(story: Story, kind: str) -> list[dict[str, Any]]:
    return [event["data"] for event in story.events if event["type"] == kind]


@pytest.fixture
def url(origin: ScriptedOrigin) -> str:
    return origin.on("/", statuses(200))


@pytest.fixture
def resource(origin: ScriptedOrigin) -> Resource:
    made = Resource(SIZE)
    origin.on("/resource", made)
    return made


# Uploads (§2.6)


@pytest.mark.parametrize("adapted", [False, True])
def test_2_6_a_file(story: Story, url: str, tmp_path: Path, adapted: bool) -> None:
    (tmp_path / "file").write_bytes(b"content")
    interceptor = {"interceptor": [{"set_header": {"name": "X-A", "value": "1"}}]} if adapted else {}
    story.perform(url, kind="upload", body={"file": str(tmp_path / "file")}, **interceptor)
    assert story.words(without=PROGRESS) == [
        *MADE, *(["request.did_adapt_initial_request"] if adapted else []), "request.did_create_uploadable",
        "request.did_create_url_request", *STARTING, "task.did_send_body_data", *ANSWERED,
    ]  # fmt: skip


@pytest.mark.parametrize("memory", [0, 1_000_000])
def test_2_6_a_form_in_memory_and_on_the_disk(story: Story, url: str, tmp_path: Path, memory: int) -> None:
    (tmp_path / "a.txt").write_bytes(b"content")
    parts = [{"name": "f", "file": str(tmp_path / "a.txt")}]
    story.perform(url, body={"multipart": parts, "memory_bytes": memory})
    words = story.words(without={*PROGRESS, "task.did_send_body_data"})
    assert words == [
        *MADE, "request.did_create_uploadable", "request.did_create_url_request", *STARTING, *ANSWERED
    ]  # fmt: skip
    (sent,) = {data["total_bytes"] for data in payloads(story, "task.did_send_body_data")}
    assert sum(data["size_bytes"] for data in payloads(story, "task.did_send_body_data")) == sent


def test_2_6_a_stream(story: Story, url: str) -> None:
    request = story.submit(url, body={"stream": True})
    story.call("body.put", request=request, text="content", end=True)
    story.wait(request)
    assert story.words(without=PROGRESS) == [
        *MADE, "request.did_create_uploadable", "request.did_create_url_request", *STARTING,
        "task.needs_new_body_stream", "request.did_provide_input_stream", "task.did_send_body_data", *ANSWERED,
    ]  # fmt: skip


def test_2_6_a_form_without_its_file_and_the_retriers(story: Story, url: str, tmp_path: Path) -> None:
    """The retriers run, and the next attempt has the file."""

    def bring_it(_: dict[str, Any]) -> dict[str, Any]:
        (tmp_path / "a.txt").write_bytes(b"content")
        return {"decision": "retry"}

    story.answerers["retry"] = bring_it
    interceptor = [{"callback": {"name": "c", "handles": ["retry"]}}]
    parts = [{"name": "f", "file": str(tmp_path / "a.txt")}]
    record = story.perform(url, body={"multipart": parts}, interceptor=interceptor)
    assert record["outcome"]["ok"]
    begun = ["request.did_create_initial_url_request", "request.did_adapt_initial_request"]
    assert story.words(without=PROGRESS) == [
        "request.did_resume", *begun,
        "request.did_fail_to_create_uploadable(multipart_encoding_failed.body_part_file_not_reachable)",
        "request.is_retrying(1)", *begun, "request.did_create_uploadable", "request.did_create_url_request",
        *STARTING, "task.did_send_body_data", *ANSWERED,
    ]  # fmt: skip


def test_rh_09_a_redirect_needs_the_stream_again(story: Story, origin: ScriptedOrigin, url: str) -> None:
    moved = origin.on("/moved", lambda exchange: exchange.reply(307, headers=[("Location", "/")]))
    request = story.submit(moved, body={"stream": True})
    story.call("body.put", request=request, text="content", end=True)
    assert story.wait(request)["outcome"]["ok"]
    assert [received.body for received in origin.requests] == [b"content"] * 2
    again = ["task.needs_new_body_stream", "request.did_provide_input_stream"]
    words = story.words(without={*PROGRESS, "task.did_send_body_data"})
    assert words[6:] == [*again, "task.will_redirect(307)", *again, *ANSWERED]


# Downloads (§2.7)


def test_em_13_em_14_em_40_em_41_what_the_steps_tell(story: Story, origin: ScriptedOrigin, folder: Path) -> None:
    url = origin.on("/file", statuses(200, body=b"content"))
    story.perform(url, kind="download", destination=str(folder / "a"))
    assert payloads(story, "task.did_write_data") == [{"size_bytes": 7, "received_bytes": 7, "total_bytes": 7}]
    (partial,) = payloads(story, "task.did_finish_downloading")
    assert Path(partial["file"]).parent == folder
    assert partial["file"].endswith(".carpool-part")
    assert payloads(story, "request.did_create_destination_url") == [{"file": str(folder / "a")}]
    assert payloads(story, "request.did_finish_downloading") == [{"file": str(folder / "a")}]


def test_em_12_where_a_download_goes_on(story: Story, origin: ScriptedOrigin, resource: Resource, folder: Path) -> None:
    token = broken(story.wire, f"{origin.url}/resource", resource, folder / "a")
    story.forget()
    story.perform(f"{origin.url}/resource", kind="download", resume_data=token)
    assert payloads(story, "task.did_resume_at_offset") == [{"offset_bytes": HALF, "total_bytes": SIZE}]


@pytest.mark.parametrize("status", [200, 404])
def test_em_42_em_43_em_44_how_a_download_is_judged(
    story: Story, origin: ScriptedOrigin, folder: Path, status: int
) -> None:
    url = origin.on("/file", statuses(status, body=b'"text"'))
    destination = str(folder / "a")
    story.perform(url, kind="download", destination=destination, validate=True, serialize=["none", "json", "string"])
    judged = [(data["validator"], data["ok"]) for data in payloads(story, "request.did_validate")]
    parsed = [(data["serializer"], data["ok"]) for data in payloads(story, "request.did_parse_response")]
    fine = status == 200
    assert judged == ([("status", True), ("content_type", True)] if fine else [("status", False)])
    assert parsed == [("none", fine), ("json", fine), ("string", fine)]
    if not fine:
        assert {data["error"]["name"] for data in payloads(story, "request.did_parse_response")} == {UNACCEPTABLE}


def test_ri_11_adapters_see_a_download_that_goes_on(
    story: Story, origin: ScriptedOrigin, resource: Resource, folder: Path
) -> None:
    """Their fields are sent with the range: a credential may have expired since."""
    token = broken(story.wire, f"{origin.url}/resource", resource, folder / "a")
    story.answerers["adapt"] = lambda _: {"set_headers": {"Authorization": "Bearer fresh"}}
    interceptor = [{"callback": {"name": "c", "handles": ["adapt"]}}]
    record = story.perform(f"{origin.url}/resource", kind="download", resume_data=token, interceptor=interceptor)
    assert record["resumed_at_bytes"] == HALF
    assert len(story.asked) == 1
    assert origin.requests[-1].values("Range") == [f"bytes={HALF}-"]
    assert origin.requests[-1].values("Authorization") == ["Bearer fresh"]


def test_rs_07_without_a_file_there_is_no_value(story: Story, folder: Path) -> None:
    """Every value has the failure because of which there is no file."""
    record = story.perform(
        "http://127.0.0.1:1/", kind="download", destination=str(folder / "a"), serialize=["none", "string"]
    )
    names = {value["error"]["name"] for value in record["outcome"]["values"]}
    assert names == {"session_task_failed.cannot_connect_to_host"}
    assert "file" not in record["body"]
    assert "resume_data" not in record


def test_rl_23_progress_of_both_ways(story: Story, origin: ScriptedOrigin, url: str, folder: Path) -> None:
    """From 0 to the size of the body, of uploads and of downloads."""
    origin.on("/file", statuses(200, body=bytes(300_000)))
    story.perform(url, kind="upload", body={"text": "x" * 200_000})
    sent = payloads(story, "request.upload_progress")
    story.forget()
    story.perform(f"{origin.url}/file", kind="download", destination=str(folder / "a"))
    assert (sent[0]["sent_bytes"], sent[-1]["sent_bytes"], sent[-1]["total_bytes"]) == (0, 200_000, 200_000)
    come = payloads(story, "request.progress")
    assert (come[0]["received_bytes"], come[-1]["received_bytes"], come[-1]["total_bytes"]) == (0, 300_000, 300_000)
