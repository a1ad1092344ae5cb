"""Bodies that the command writes to a file of `-o` while they arrive: behind the head, and into pipes and devices."""

from __future__ import annotations

import hashlib
import os
import signal
from pathlib import Path

import pytest
from conftest import StartDaemon
from harness.command import HTTP_FAILURE, OK, TRANSFER_FAILED, Run, runner
from harness.daemon import Daemon, environment
from harness.tool import Tool
from harness.waiting import PATIENCE_SECONDS, eventually
from origins.scripted import Exchange, ScriptedOrigin

LARGE = hashlib.shake_128(b"files").digest(3_000_000)


def test_a_file_with_the_head_has_bodies_larger_than_the_spool(
    start: StartDaemon, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    daemon = start(config={"limits": {"spool_bytes": 500_000}})
    url = origin.on("/large", lambda exchange: exchange.reply(body=LARGE))
    run = runner(environment(daemon.directory) | {"CARPOOL_SOCKET": str(daemon.socket)}, tmp_path)
    assert b"spool" in run("get", "--whole", "-i", "-o", tmp_path / "whole", url).stderr
    done = run("get", "-i", "-o", tmp_path / "file", url)
    assert (done.returncode, done.stdout, done.stderr) == (OK, b"", b"")
    head, _, body = (tmp_path / "file").read_bytes().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200\r\n") and body == LARGE
    assert [path.name for path in tmp_path.iterdir() if path.name in ("file", "whole")] == ["file"]


@pytest.mark.parametrize("body", [b"", b"short", LARGE], ids=["empty", "short", "large"])
def test_the_file_is_the_head_and_the_body_with_the_umask(
    run: Run, origin: ScriptedOrigin, tmp_path: Path, body: bytes
) -> None:
    url = origin.on("/page", lambda exchange: exchange.reply(body=body))
    printed = run("get", "-i", url).stdout
    former = os.umask(0o027)
    try:
        assert run("get", "-i", "-o", tmp_path / "file", url).returncode == OK
    finally:
        os.umask(former)
    # The field Date may differ.
    lines = [line for line in (tmp_path / "file").read_bytes().split(b"\r\n") if not line.startswith(b"Date:")]
    assert lines == [line for line in printed.split(b"\r\n") if not line.startswith(b"Date:")]
    assert (tmp_path / "file").read_bytes().partition(b"\r\n\r\n")[2] == body
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("options", [["-i"], ["-i", "--fail"]])
def test_a_failure_leaves_the_file_as_it_was(
    run: Run, origin: ScriptedOrigin, tmp_path: Path, options: list[str]
) -> None:
    def broken(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n" + LARGE)
        exchange.close()

    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").write_text("old")

    def short(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        exchange.close()

    for url in (origin.on("/broken", broken), origin.on("/short", short)):
        cut = run("get", *options, "-o", folder / "file", url)
        assert (cut.returncode, cut.stdout) == (TRANSFER_FAILED, b"")
    gone = run("get", *options, "-o", folder / "file", origin.on("/gone", lambda exchange: exchange.reply(404, LARGE)))
    if "--fail" in options:
        assert gone.returncode == HTTP_FAILURE
        assert (folder / "file").read_text() == "old"
    else:
        assert gone.returncode == OK
        assert (folder / "file").read_bytes().endswith(LARGE)
    assert [path.name for path in Path(folder).iterdir()] == ["file"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_is_killed_leaves_nothing(
    daemon: Daemon, variables: dict[str, str], origin: ScriptedOrigin, tmp_path: Path, number: signal.Signals
) -> None:
    gate = origin.hold("/never")

    def half(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n" + LARGE)
        gate.wait(PATIENCE_SECONDS)

    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").write_text("old")
    with Tool(variables, "get", "-i", "-o", folder / "file", origin.on("/half", half)) as tool:
        # The file is open, without a name, when the body is in it.
        descriptors = Path(f"/proc/{tool.process.pid}/fd")
        eventually(lambda: any(path.stat().st_size >= len(LARGE) for path in descriptors.iterdir() if path.is_file()))
        assert daemon.spooled() == []
        assert tool.end(number) == -number
    gate.set()
    assert (folder / "file").read_text() == "old"
    assert [path.name for path in Path(folder).iterdir()] == ["file"]


def test_a_named_pipe_gets_the_body_while_it_arrives(
    daemon: Daemon, variables: dict[str, str], origin: ScriptedOrigin, tmp_path: Path
) -> None:
    gate = origin.hold("/never")

    def half(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        gate.wait(PATIENCE_SECONDS)
        exchange.send(b"other")

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with Tool(variables, "get", "-o", pipe, origin.on("/half", half)) as tool, pipe.open("rb", buffering=0) as reader:
        assert reader.read(5) == b"first"
        gate.set()
        assert reader.read(5) == b"other"
        assert tool.end() == OK
    assert daemon.spooled() == []


def test_a_failed_download_is_not_kept(daemon: Daemon, run: Run, origin: ScriptedOrigin, tmp_path: Path) -> None:
    """Nothing is left of one that cannot be resumed, neither a file nor a record."""
    missing = origin.on("/missing", lambda exchange: exchange.reply(status=404))
    assert run("get", "-f", "-o", tmp_path / "got", missing).returncode == HTTP_FAILURE
    assert run("get", "-o", tmp_path / "got", "http://127.0.0.1:1/").returncode == TRANSFER_FAILED
    assert run("get", "-o", tmp_path / "got", origin.url).returncode == OK
    assert daemon.call("request.list")["requests"] == []
