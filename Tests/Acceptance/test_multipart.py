"""Forms: their bytes on the wire, and the errors of those that cannot be made."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.daemon import ROOT
from harness.story import Story, ending
from origins.scripted import Exchange, Received, ScriptedOrigin

VECTORS = [json.loads(line) for line in (ROOT / "Tests/Support/vectors/multipart.jsonl").read_text().splitlines()]


def send(client: carpool.Client, origin: ScriptedOrigin, parts: list[Any], **form: Any) -> Received:
    record = client.call("request.perform", url=origin.url, body={"multipart": parts, **form})
    assert record["outcome"]["ok"], record["outcome"]
    return origin.requests[-1]


def failure(client: carpool.Client, parts: list[Any], origin: ScriptedOrigin) -> Any:
    before = len(origin.requests)
    record = client.call("request.perform", url=origin.url, body={"multipart": parts})
    assert len(origin.requests) == before
    return record["outcome"]["error"]


@pytest.mark.parametrize("memory", [0, 10_000_000])
@pytest.mark.parametrize("row", VECTORS, ids=lambda row: row["note"])
def test_mp_03_the_layout(
    client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path, row: dict[str, Any], memory: int
) -> None:
    """MP-03, MP-04, MP-05, MP-06, MP-12: the same bytes from memory and from files."""
    for name, text in row.get("files", {}).items():
        (tmp_path / name).write_text(text)
    parts = [{**part, "file": str(tmp_path / part["file"])} if "file" in part else part for part in row["parts"]]
    received = send(client, origin, parts, boundary="B", memory_bytes=memory)
    assert received.body.decode() == row["body"]
    assert received.values("content-length") == [str(len(row["body"].encode()))]


def test_mp_01_boundaries(client: carpool.Client, origin: ScriptedOrigin) -> None:
    parts = [{"name": "a", "text": "b"}]
    types = [send(client, origin, parts).values("content-type")[0] for _ in range(2)]
    found = [re.fullmatch(r"multipart/form-data; boundary=(carpoold\.multipart\.[0-9a-f]{16})", kind) for kind in types]
    assert all(found)
    assert types[0] != types[1]
    assert origin.requests[0].body.startswith(b"--" + found[0][1].encode() + b"\r\n")  # type: ignore[index]
    given = send(client, origin, parts, boundary="my-own")
    assert given.values("content-type") == ["multipart/form-data; boundary=my-own"]
    for wrong in ["", "with space", "x" * 71, "a\r\nb", 'a"b']:
        with pytest.raises(carpool.RPCError, match="boundary"):
            client.call("request.perform", url=origin.url, body={"multipart": parts, "boundary": wrong})


def test_mp_02_the_type_replaces_any_other(client: carpool.Client, origin: ScriptedOrigin) -> None:
    body = {"multipart": [{"name": "a", "text": "b"}], "boundary": "B"}
    client.call("request.perform", url=origin.url, body=body, headers={"content-type": "text/plain"})
    [received] = origin.requests
    assert received.method == "POST"
    assert received.values("content-type") == ["multipart/form-data; boundary=B"]


def test_mp_04_no_name_injects_a_field(client: carpool.Client, origin: ScriptedOrigin) -> None:
    part = {"name": 'a"\r\nX: y', "file_name": "ü\r\n\r\n.txt", "text": "b"}
    body = send(client, origin, [part], boundary="B").body
    assert (
        body
        == (
            '--B\r\nContent-Disposition: form-data; name="a%22%0D%0AX: y"; filename="ü%0D%0A%0D%0A.txt"\r\n'
            "\r\nb\r\n--B--\r\n"
        ).encode()
    )
    with pytest.raises(carpool.RPCError, match="content_type"):
        send(client, origin, [{"name": "a", "text": "b", "content_type": "a/b\r\nX: y"}])


def test_mp_06_names_and_types_follow_from_the_path(
    client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    types = {"unicorn.png": "image/png", "rainbow.JPG": "image/jpeg", "a.unknown": "application/octet-stream"}
    for name, kind in types.items():
        (tmp_path / name).write_text("x")
        body = send(client, origin, [{"name": "f", "file": str(tmp_path / name)}]).body
        assert f'filename="{name}"\r\nContent-Type: {kind}\r\n\r\nx\r\n'.encode() in body
    (tmp_path / "plain").write_text("x")
    part = {"name": "f", "file": str(tmp_path / "plain"), "content_type": "text/x", "file_name": "other"}
    assert b'filename="other"\r\nContent-Type: text/x\r\n\r\nx' in send(client, origin, [part]).body
    error = failure(client, [{"name": "f", "file": str(tmp_path / "plain")}], origin)
    assert error["name"] == "multipart_encoding_failed.body_part_filename_invalid"
    assert error["details"]["url"] == str(tmp_path / "plain")


def test_mp_07_a_failure_for_each_check(client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path) -> None:
    (tmp_path / "folder.d").mkdir()
    os.mkfifo(tmp_path / "pipe.p")
    (tmp_path / "loop.l").symlink_to(tmp_path / "loop.l")
    (tmp_path / "file.f").write_text("x")
    wrong = {
        "http://a/x.png": ("body_part_url_invalid", None),
        "relative.png": ("body_part_url_invalid", None),
        str(tmp_path / "missing.png"): ("body_part_file_not_reachable", None),
        str(tmp_path / "file.f" / "below.png"): ("body_part_file_not_reachable_with_error", errno.ENOTDIR),
        str(tmp_path / "loop.l"): ("body_part_file_not_reachable_with_error", errno.ELOOP),
        str(tmp_path / "folder.d"): ("body_part_file_is_directory", None),
        str(tmp_path / "pipe.p"): ("body_part_file_size_not_available", None),
    }
    for path, (reason, number) in wrong.items():
        error = failure(client, [{"name": "f", "file": path}], origin)
        assert error["name"] == f"multipart_encoding_failed.{reason}", path
        assert error["details"]["url"] == path
        assert error["details"].get("errno") == number


def test_mp_07_a_file_that_may_not_be_read(client: carpool.Client, origin: ScriptedOrigin) -> None:
    """A file that the kernel opens for reading for no user, not even root."""
    path = str(next(iter(sorted(Path("/sys/bus").glob("*/uevent"))), ""))
    if not path:
        pytest.skip("no sysfs")
    error = failure(client, [{"name": "f", "file": path, "file_name": "a.txt"}], origin)
    assert error["name"] == "multipart_encoding_failed.body_part_input_stream_creation_failed"
    assert error["details"] == {"url": path, "errno": errno.EACCES}


def test_mp_09_the_first_failure_counts(story: Story, origin: ScriptedOrigin, tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("x")
    parts = [
        {"name": "a", "file": str(tmp_path / "missing.txt")},
        {"name": "b", "file": str(tmp_path)},
        {"name": "c", "file": str(tmp_path / "good.txt")},
    ]
    story.perform(origin.url, body={"multipart": parts})
    name = "multipart_encoding_failed.body_part_file_not_reachable"
    assert story.words() == [
        "request.did_resume",
        "request.did_create_initial_url_request",
        f"request.did_fail_to_create_uploadable({name})",
        *ending(name),
    ]
    assert origin.requests == []


@pytest.mark.parametrize("memory", [0, 1_000_000])
def test_mp_10_a_file_that_is_too_short(
    client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path, memory: int
) -> None:
    """MP-10, MP-11: detected before anything is sent, in memory and on the disk."""
    (tmp_path / "short.txt").write_bytes(bytes(499))
    part = {"name": "f", "file": str(tmp_path / "short.txt"), "length_bytes": 500}
    body = {"multipart": [part], "memory_bytes": memory}
    error = client.call("request.perform", url=origin.url, body=body)["outcome"]["error"]
    assert error["name"] == "multipart_encoding_failed.input_stream_read_failed"
    assert error["details"]["bytes_expected"] == 500
    assert error["details"]["bytes_read"] == 499
    assert origin.requests == []


def test_mp_08_parts_of_files(client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path) -> None:
    (tmp_path / "ten.txt").write_text("0123456789")
    part = {"name": "f", "file": str(tmp_path / "ten.txt"), "offset": 3, "length_bytes": 4}
    assert b"\r\n\r\n3456\r\n--" in send(client, origin, [part]).body


def test_mp_13_mp_14_the_threshold(story: Story, origin: ScriptedOrigin, tmp_path: Path) -> None:
    """MP-13, MP-14: the length is known beforehand; from the threshold on files are read as they are sent."""
    (tmp_path / "a.bin").write_bytes(bytes(5_000))
    for memory, kind in {0: "file", 5_000: "file", 10_000: "data"}.items():
        story.forget()
        body = {"multipart": [{"name": "f", "file": str(tmp_path / "a.bin")}], "memory_bytes": memory}
        story.perform(origin.url, body=body)
        [created] = [event["data"] for event in story.events if event["type"] == "request.did_create_uploadable"]
        assert created == {"kind": kind, "size_bytes": len(origin.requests[-1].body)}


def test_mp_15_the_whole_size(client: carpool.Client, origin: ScriptedOrigin) -> None:
    parts = [{"name": "french", "text": "français"}, {"name": "japanese", "text": "日本語"}]
    assert send(client, origin, parts).values("content-length") == ["241"]


@pytest.mark.parametrize("size", [100, 3_000_000])
def test_up_04_a_form_is_sent_again_as_it_was_made(
    client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path, size: int
) -> None:
    """UP-04, UP-06: after a retry and after a redirect; nothing is left in any folder."""
    (tmp_path / "a.bin").write_bytes(os.urandom(size))
    answers = [503, 307, 200]
    origin.on("/", lambda exchange: exchange.reply(answers.pop(0), headers=[("Location", "/")]))
    record = client.call(
        "request.perform",
        url=f"{origin.url}/",
        method="PUT",
        body={"multipart": [{"name": "f", "file": str(tmp_path / "a.bin")}]},
        validate=True,
        interceptor=[{"retry_policy": {"scale_ms": 1}}],
    )
    assert record["outcome"]["ok"]
    bodies = {received.body for received in origin.requests}
    assert len(origin.requests) == 3
    assert len(bodies) == 1
    assert (tmp_path / "a.bin").read_bytes() in bodies.pop()
    assert [path.name for path in tmp_path.iterdir()] == ["a.bin"]


def test_ri_10_a_body_that_cannot_be_made(story: Story, origin: ScriptedOrigin, tmp_path: Path) -> None:
    """The retriers run, and the next attempt makes the body again: by then the file exists."""
    path = tmp_path / "late.txt"
    call = story.begin(
        origin.url,
        body={"multipart": [{"name": "f", "file": str(path)}]},
        interceptor=[{"callback": {"name": "patience", "handles": ["retry"]}}],
    )
    question = story.question("retry")
    assert question["params"]["error"]["name"] == "multipart_encoding_failed.body_part_file_not_reachable"
    assert origin.requests == []
    path.write_text("here")
    story.answer(question, {"decision": "retry"})
    assert story.result(call)["outcome"]["ok"]
    assert b"\r\n\r\nhere\r\n--" in origin.requests[0].body


@pytest.mark.parametrize(
    "policy", [[], [{"retry_policy": {"methods": ["POST"], "scale_ms": 1}}]], ids=["once", "retry"]
)
def test_a_file_that_is_cut_while_it_is_sent_fails_once(
    client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path, policy: list[Any]
) -> None:
    """The body has failed, not its connection: it is not made again."""
    file = tmp_path / "cut.bin"
    file.write_bytes(b"x" * 8_000_000)
    heads: list[str] = []

    def cut(exchange: Exchange) -> bool:
        heads.append(exchange.request.method)
        os.truncate(file, 1_000)
        exchange.take()
        return True

    url = origin.on_head("/form", cut)
    record = client.call(
        "request.perform",
        url=url,
        body={"multipart": [{"name": "a", "file": str(file)}]},
        method="POST",
        interceptor=policy,
    )
    assert record["outcome"]["error"]["name"] == "session_task_failed.request_body_stream_exhausted", record["outcome"]
    assert "ended before 8000000 bytes" in record["outcome"]["error"]["message"]
    assert heads == ["POST"]
