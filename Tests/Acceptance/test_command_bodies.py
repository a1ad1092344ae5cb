"""`carpool` with bodies of any size: downloads with progress that are resumed, uploads."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import pty
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.command import HTTP_FAILURE, OK, TRANSFER_FAILED, UNREACHABLE, USAGE, Run
from harness.daemon import CARPOOL, Daemon
from harness.process import begin
from harness.waiting import PATIENCE_SECONDS, eventually
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin

LARGE = hashlib.shake_128(b"large").digest(300_000)


def resumable(origin: ScriptedOrigin, cut: int, *, waits: bool = False) -> str:
    """Return the URL of a body that breaks off, or stops, after `cut` bytes, unless it is resumed."""
    gate = origin.hold("/never")

    def handler(exchange: Exchange) -> None:
        wanted = exchange.request.values("range")
        tag = 'ETag: "v1"\r\n'
        if not wanted:
            exchange.send(f"HTTP/1.1 200 OK\r\n{tag}Content-Length: {len(LARGE)}\r\n\r\n".encode() + LARGE[:cut])
            if waits:
                gate.wait(PATIENCE_SECONDS)
            exchange.close()
        start = int(wanted[0].removeprefix("bytes=").removesuffix("-"))
        span = f"Content-Range: bytes {start}-{len(LARGE) - 1}/{len(LARGE)}\r\nContent-Length: {len(LARGE) - start}\r\n"
        exchange.send(f"HTTP/1.1 206 Partial Content\r\n{tag}{span}\r\n".encode() + LARGE[start:])

    return origin.on("/large", handler)


# Downloads


@pytest.mark.parametrize("name", ["empty.txt", "hello.txt", "16m.bin"])
def test_the_output_is_the_file(run: Run, nginx: Nginx, tmp_path: Path, name: str) -> None:
    (tmp_path / "out").write_text("old")
    done = run("get", "-o", "out", f"{nginx.http}/{name}")
    assert (done.returncode, done.stdout, done.stderr) == (OK, b"", b"")
    assert hashlib.sha256((tmp_path / "out").read_bytes()).hexdigest() == nginx.hashes[name]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_mode_is_the_callers(run: Run, nginx: Nginx, tmp_path: Path) -> None:
    assert run("get", "-o", "out", f"{nginx.http}/hello.txt", umask=0o027).returncode == OK
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o640


def test_a_download_that_broke_off_goes_on(run: Run, origin: ScriptedOrigin, tmp_path: Path) -> None:
    url = resumable(origin, 100_000)
    first = run("get", "-o", "out", url)
    assert first.returncode == TRANSFER_FAILED
    assert b"network_connection_lost" in first.stderr
    assert b"hint: use -C - to resume" in first.stderr
    assert not (tmp_path / "out").exists()
    assert (tmp_path / ".out.carpool-resume").stat().st_mode & 0o777 == 0o600
    assert run("get", "-C", "-", "-o", "out", url).returncode == OK
    assert (tmp_path / "out").read_bytes() == LARGE
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert origin.requests[-1].values("range") == ["bytes=100000-"]


def test_an_interrupted_download_that_begins_again_leaves_nothing(
    run: Run, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    url = resumable(origin, 100_000)
    assert run("get", "-o", "out", url).returncode == TRANSFER_FAILED
    begun = {path.name for path in tmp_path.iterdir()}
    assert len(begun) == 2
    again = resumable(origin, 50_000)
    assert run("get", "-o", "out", again).returncode == TRANSFER_FAILED
    assert len({path.name for path in tmp_path.iterdir()} | begun) == 3, "one part, in place of that of the first one"
    assert len(list(tmp_path.iterdir())) == 2
    page = origin.on("/page", lambda exchange: exchange.reply(body=b"page"))
    assert run("get", "-o", "out", page).returncode == OK
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_download_leaves_one_that_runs_to_the_same_file(
    run: Run, variables: dict[str, str], origin: ScriptedOrigin, tmp_path: Path
) -> None:
    gate = origin.hold("/never")

    def slow(exchange: Exchange) -> None:
        exchange.send(
            f'HTTP/1.1 200 OK\r\nETag: "v1"\r\nContent-Length: {len(LARGE)}\r\n\r\n'.encode() + LARGE[:100_000]
        )
        gate.wait(PATIENCE_SECONDS)
        exchange.send(LARGE[100_000:])

    page = origin.on("/page", lambda exchange: exchange.reply(body=b"page"))
    first = begin([CARPOOL, "get", "-o", "out", origin.on("/slow", slow)], env=variables, cwd=tmp_path)
    eventually((tmp_path / ".out.carpool-resume").exists)
    assert run("get", "-o", "out", page).returncode == OK
    assert (tmp_path / "out").read_bytes() == b"page"
    gate.set()
    assert first.wait(PATIENCE_SECONDS) == OK
    assert (tmp_path / "out").read_bytes() == LARGE
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", [".out.notes", "out.carpool-part", ".out.x/.carpool-part"])
def test_resume_data_deletes_nothing_but_a_part(run: Run, nginx: Nginx, tmp_path: Path, name: str) -> None:
    other = tmp_path / name
    other.parent.mkdir(exist_ok=True)
    other.write_text("mine")
    data = json.dumps({"partial": str(other)}).encode()
    (tmp_path / ".out.carpool-resume").write_bytes(base64.urlsafe_b64encode(data).rstrip(b"="))
    assert run("get", "-o", "out", f"{nginx.http}/hello.txt").returncode == OK
    assert not (tmp_path / ".out.carpool-resume").exists()
    assert other.read_text() == "mine"


def test_what_cannot_be_resumed_is_deleted(run: Run, origin: ScriptedOrigin, tmp_path: Path) -> None:
    (tmp_path / ".out.carpool-resume").mkdir()
    assert run("get", "-o", "out", resumable(origin, 100_000)).returncode == TRANSFER_FAILED
    assert [path.name for path in tmp_path.iterdir()] == [".out.carpool-resume"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_download_goes_on(
    run: Run, variables: dict[str, str], origin: ScriptedOrigin, tmp_path: Path, how: signal.Signals
) -> None:
    url = resumable(origin, 100_000, waits=True)
    process = begin([CARPOOL, "get", "-o", "out", url], env=variables, cwd=tmp_path)
    eventually((tmp_path / ".out.carpool-resume").exists)
    process.send_signal(how)
    assert process.wait(PATIENCE_SECONDS) == -how
    assert run("get", "-C", "-", "-o", "out", url).returncode == OK
    assert (tmp_path / "out").read_bytes() == LARGE
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_download_goes_on_after_its_daemon_was_killed(
    start: Callable[..., Daemon], origin: ScriptedOrigin, tmp_path: Path
) -> None:
    url = resumable(origin, 100_000, waits=True)
    first = start()
    variables = {**first.environment, "CARPOOL_SOCKET": str(first.socket)}
    process = begin([CARPOOL, "get", "-o", "out", url], env=variables, cwd=tmp_path, stderr=subprocess.PIPE)
    eventually((tmp_path / ".out.carpool-resume").exists)
    first.kill()
    assert b"hint: use -C - to resume" in process.communicate(timeout=PATIENCE_SECONDS)[1]
    assert process.returncode == UNREACHABLE
    start()
    command = [CARPOOL, "get", "-C", "-", "-o", "out", url]
    assert subprocess.run(command, env=variables, cwd=tmp_path, check=False, timeout=PATIENCE_SECONDS).returncode == OK
    assert (tmp_path / "out").read_bytes() == LARGE
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_there_may_be_nothing_to_go_on_with(run: Run, nginx: Nginx, tmp_path: Path) -> None:
    assert run("get", "-C", "-", "-o", "out", f"{nginx.http}/1m.bin").returncode == OK
    assert hashlib.sha256((tmp_path / "out").read_bytes()).hexdigest() == nginx.hashes["1m.bin"]


def test_a_page_of_error_replaces_a_file_only_if_it_is_wanted(run: Run, origin: ScriptedOrigin, tmp_path: Path) -> None:
    url = origin.on("/gone", lambda exchange: exchange.reply(404, b"gone"))
    (tmp_path / "out").write_text("good")
    assert run("get", "--fail", "-o", "out", url).returncode == HTTP_FAILURE
    assert (tmp_path / "out").read_text() == "good"
    assert run("get", "-o", "out", url).returncode == OK
    assert (tmp_path / "out").read_text() == "gone"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def on_a_terminal(
    command: list[str], variables: dict[str, str], directory: Path, look: Callable[[str], object]
) -> tuple[int, str]:
    """Run with standard error on a terminal; return the exit code and the output, which `look` gets meanwhile."""
    ours, theirs = pty.openpty()
    process = begin(command, env=variables, cwd=directory, stderr=theirs)
    os.close(theirs)
    seen = b""
    with contextlib.suppress(OSError):  # Linux: the last one has closed the terminal
        while piece := os.read(ours, 65_536):
            seen += piece
            look(seen.decode())
    os.close(ours)
    return process.wait(PATIENCE_SECONDS), seen.decode()


def test_a_terminal_sees_the_progress(variables: dict[str, str], origin: ScriptedOrigin, tmp_path: Path) -> None:
    gate = origin.hold("/never")

    def handler(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n" + bytes(20_000))
        gate.wait(PATIENCE_SECONDS)
        exchange.send(bytes(20_000))

    def look(seen: str) -> None:
        # Long enough for a report at the end too.
        if seen.count("50%") == 4:
            gate.set()

    command = [CARPOOL, "get", "-o", "out", origin.on("/slow", handler)]
    code, seen = on_a_terminal(command, variables, tmp_path, look)
    assert code == OK
    assert " 50% [##########          ] 19.5 KiB of 39.1 KiB" in seen
    assert "39.1 KiB in 0:0" in seen
    code, seen = on_a_terminal([*command, "-s"], variables, tmp_path, look)
    assert (code, seen) == (OK, "")


# Uploads


@pytest.mark.parametrize("size", [0, 1, 65_536, 300_000])
def test_files_and_what_comes_in_are_uploaded(run: Run, origin: ScriptedOrigin, tmp_path: Path, size: int) -> None:
    (tmp_path / "body").write_bytes(LARGE[:size])
    assert run("put", "-T", "body", origin.url + "/file").returncode == OK
    assert run("put", "-T", "-", origin.url + "/input", stdin=LARGE[:size]).returncode == OK
    file, piped = origin.requests
    assert file.method == piped.method == "PUT"
    assert file.body == piped.body == LARGE[:size]
    assert file.values("content-length") == [str(size)]
    assert piped.values("transfer-encoding") == ["chunked"]
    assert not file.values("content-type") + piped.values("content-type")


@pytest.mark.parametrize("position", [0, 5, 300_000])
def test_a_file_as_standard_input_is_sent_with_its_length(
    run: Run, origin: ScriptedOrigin, tmp_path: Path, position: int
) -> None:
    (tmp_path / "body").write_bytes(LARGE)
    with (tmp_path / "body").open("rb") as body:
        body.seek(position)
        assert run("put", "-T", "-", origin.url + "/input", stdin=body).returncode == OK
    (seen,) = origin.requests
    assert (seen.body, seen.values("content-length")) == (LARGE[position:], [str(300_000 - position)])


def test_a_file_that_seems_to_be_empty_is_sent_in_chunks(run: Run, origin: ScriptedOrigin) -> None:
    with Path("/proc/version").open("rb") as version:
        assert run("put", "-T", "-", origin.url + "/input", stdin=version).returncode == OK
    (seen,) = origin.requests
    assert (seen.body, seen.values("content-length")) == (Path("/proc/version").read_bytes(), [])


@pytest.mark.parametrize("size", [300, 300_000])
@pytest.mark.parametrize(
    "options", [["put", "-T", "{}"], ["post", "-d", "@{}"], ["post", "--json", "@{}"], ["post", "-F", "f=@{}"]]
)
@pytest.mark.parametrize("path", ["/dev/stdin", "/proc/self/fd/0"])
def test_the_command_reads_what_the_daemon_cannot_open(
    run: Run, origin: ScriptedOrigin, tmp_path: Path, path: str, options: list[str], size: int
) -> None:
    """A path that means a descriptor of the command: a file and a pipe."""
    body = (b'"%s"' % base64.b64encode(LARGE))[:size]
    (tmp_path / "body").write_bytes(body)
    words = [word.format(path) for word in options]
    assert run(*words, origin.url, stdin=body).returncode == OK
    with (tmp_path / "body").open("rb") as file:
        assert run(*words, origin.url, stdin=file).returncode == OK
    for seen in origin.requests:
        if "-F" in options:
            assert f'name="f"; filename="{Path(path).name}"\r\n'.encode() in seen.body
            assert b"\r\n\r\n" + body + b"\r\n--" in seen.body
        else:
            assert seen.body == body
    if "-T" in options:
        assert seen.values("content-length") == [str(size)], "the length of a file is known"


def test_several_parts_of_a_form_are_read_by_the_command(run: Run, origin: ScriptedOrigin, tmp_path: Path) -> None:
    (tmp_path / "own").write_bytes(b"file")
    form = ["-F", "a=@/dev/stdin;filename=a.txt", "-F", "b=@own", "-F", "c=@/proc/version;type=text/x"]
    assert run("post", *form, origin.url, stdin=LARGE).returncode == OK
    (seen,) = origin.requests
    version = Path("/proc/version").read_bytes()
    assert b'name="a"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n' + LARGE + b"\r\n--" in seen.body
    assert b"\r\n\r\nfile\r\n--" in seen.body
    assert b'filename="version"\r\nContent-Type: text/x\r\n\r\n' + version + b"\r\n--" in seen.body


@pytest.mark.parametrize("change", [1, -1])
def test_a_file_that_changes_while_it_is_sent(run: Run, origin: ScriptedOrigin, tmp_path: Path, change: int) -> None:
    large, size = tmp_path / "large", 64 << 20
    with large.open("wb") as written:
        written.truncate(size)

    def grow_or_cut(exchange: Exchange) -> None:
        # Of the body no more was read than the buffers on the way hold.
        os.truncate(large, size + change * (size >> 1))

    def reply(exchange: Exchange) -> None:
        exchange.reply()

    origin.on("/input", reply)
    with large.open("rb") as body:
        done = run("put", "-T", "-", origin.on_head("/input", grow_or_cut), stdin=body)
    if change > 0:
        assert (done.returncode, len(origin.requests[0].body)) == (OK, size)
    else:
        assert done.returncode == USAGE
        assert b"the file was cut while it was sent" in done.stderr
        assert not origin.requests


def test_an_early_answer_ends_what_is_read(run: Run, origin: ScriptedOrigin) -> None:
    def refuse(exchange: Exchange) -> bool:
        exchange.reply(413, b"too much", headers=[("Connection", "close")])
        return exchange.wait_for_peer_to_close()

    url = origin.on_head("/small", refuse)
    with Path("/dev/zero").open("rb") as endless:
        done = run("put", "--fail", "-T", "-", url, stdin=endless)
    assert done.returncode == HTTP_FAILURE
