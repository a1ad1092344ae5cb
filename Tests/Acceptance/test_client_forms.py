"""Forms of parts, as the command and the Python client write them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import carpool
import pytest
from harness.daemon import CARPOOL, Daemon
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import ScriptedOrigin


def post(daemon: Daemon, directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [CARPOOL, "post", *arguments],
        env={**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket)},
        cwd=directory,
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )


def test_the_command_sends_parts(daemon: Daemon, origin: ScriptedOrigin, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("file")
    form = ["-F", "title=Ada; Countess", "-F", "f=@a.txt;type=text/x;filename=b.txt", "-F", "g=@a.txt"]
    done = post(daemon, tmp_path, *form, origin.url + "/form")
    assert done.returncode == 0, done.stderr
    [request] = origin.requests
    assert request.values("content-type")[0].startswith("multipart/form-data; boundary=")
    assert b'name="title"\r\n\r\nAda; Countess\r\n' in request.body
    assert b'name="f"; filename="b.txt"\r\nContent-Type: text/x\r\n\r\nfile\r\n' in request.body
    assert b'name="g"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nfile\r\n' in request.body


def test_the_command_names_a_file_that_is_not_there(daemon: Daemon, origin: ScriptedOrigin, tmp_path: Path) -> None:
    done = post(daemon, tmp_path, "-F", "f=@missing", origin.url + "/form")
    assert done.returncode == 2, "the command line is wrong, and nothing was sent"
    assert "missing: No such file or directory" in done.stderr
    assert not origin.requests


def test_python_sends_parts(client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path) -> None:
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(b"\xff\xd8photo")
    meta = {"json": {"a": 1}}
    client.post(origin.url + "/form", data={"title": "Ada"}, files={"raw": b"\x00\xff", "photo": photo, "meta": meta})
    [request] = origin.requests
    assert request.values("content-type")[0].startswith("multipart/form-data; boundary=")
    for part in (b'name="title"\r\n\r\nAda\r\n', b'filename="photo.jpg"', b"\xff\xd8photo", b"\x00\xff"):
        assert part in request.body
    assert json.dumps({"a": 1}, separators=(",", ":")).encode() in request.body


def test_python_sends_one_body(client: carpool.Client, origin: ScriptedOrigin) -> None:
    with pytest.raises(ValueError, match="one body"):
        client.post(origin.url, data="a", files={"b": "c"})
