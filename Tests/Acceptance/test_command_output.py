"""Bodies on the standard output of `carpool --stream`, which the daemon writes while they arrive."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pty
import select
import signal
import socket
import subprocess
import time
import tty
from pathlib import Path

import pytest
from harness.command import HTTP_FAILURE, OK, TRANSFER_FAILED, Run
from harness.daemon import CARPOOL, Daemon
from harness.process import running
from harness.waiting import PATIENCE_SECONDS, eventually
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin

LARGE = hashlib.shake_128(b"output").digest(200_000)


def broken(origin: ScriptedOrigin, part: bytes) -> str:
    """Return the URL of a response that breaks off after the part."""

    def handler(exchange: Exchange) -> None:
        exchange.send(f"HTTP/1.1 200 OK\r\nContent-Length: {len(part) + 1}\r\n\r\n".encode() + part)
        exchange.close()

    return origin.on("/broken", handler)


def endless(origin: ScriptedOrigin) -> str:
    """Return the URL of a body without an end."""

    def handler(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            exchange.send(LARGE)

    return origin.on("/endless", handler)


def active(daemon: Daemon) -> int:
    """Return the number of requests that run."""
    return int(daemon.stats()["requests"]["active"])


@pytest.mark.parametrize("options", [[], ["-i"]])
def test_the_body_is_printed_while_it_arrives(
    variables: dict[str, str], origin: ScriptedOrigin, options: list[str]
) -> None:
    gate = origin.hold("/never")

    def handler(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        gate.wait(PATIENCE_SECONDS)
        exchange.send(b"other")

    command = [CARPOOL, "get", "--stream", *options, origin.on("/half", handler)]
    head = b"HTTP/1.1 200\r\nContent-Length: 10\r\n\r\n" if options else b""
    with running(command, env=variables, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(len(head) + 5) == head + b"first"
        gate.set()
        assert process.stdout.read() == b"other"
        assert process.wait(PATIENCE_SECONDS) == OK


def test_the_head_is_printed_before_a_body_that_waits(variables: dict[str, str], origin: ScriptedOrigin) -> None:
    gate = origin.hold("/never")

    def handler(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
        gate.wait(PATIENCE_SECONDS)
        exchange.send(b"body")

    command = [CARPOOL, "get", "--stream", "-i", origin.on("/later", handler)]
    with running(command, env=variables, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        head = b"HTTP/1.1 200\r\nContent-Length: 4\r\n\r\n"
        assert process.stdout.read(len(head)) == head
        gate.set()
        assert process.stdout.read() == b"body"


def test_a_reader_of_the_first_line_has_a_short_response(variables: dict[str, str], origin: ScriptedOrigin) -> None:
    url = origin.on("/short", lambda exchange: exchange.reply(200, b"one\ntwo\n" * 100))
    script = f"for i in $(seq 20); do '{CARPOOL}' get -i {url} | head -1 >/dev/null; echo ${{PIPESTATUS[0]}}; done"
    done = subprocess.run(["bash", "-c", script], env=variables, capture_output=True, timeout=60, check=False)
    assert (done.stdout.split(), done.stderr) == ([b"0"] * 20, b"")


def test_a_reader_of_the_first_line_has_a_body_that_comes_later(
    variables: dict[str, str], origin: ScriptedOrigin, tmp_path: Path
) -> None:
    """The head waits for the first bytes of the body, as in curl's stdio."""
    gone = tmp_path / "gone"

    def handler(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        with contextlib.suppress(AssertionError):
            eventually(gone.exists, 0.5)
        exchange.send(b"body\n")

    url = origin.on("/later", handler)
    for command in ("get -i", "get -iN", "curl -si", "curl -siN"):
        gone.unlink(missing_ok=True)
        script = f"set -o pipefail; '{CARPOOL}' {command} {url} | {{ head -1; : > '{gone}'; }}"
        done = subprocess.run(
            ["bash", "-c", script], env=variables, capture_output=True, timeout=PATIENCE_SECONDS, check=False
        )
        assert (done.returncode, done.stderr, done.stdout[:12]) == (OK, b"", b"HTTP/1.1 200"), command


@pytest.mark.parametrize("part", [b"first", LARGE], ids=["short", "large"])
@pytest.mark.parametrize("head", [[], ["-i"]], ids=["body", "head"])
def test_the_exit_code_says_whether_it_was_whole(
    run: Run, origin: ScriptedOrigin, part: bytes, head: list[str]
) -> None:
    url = broken(origin, part)
    done = run("get", "--stream", *head, url)
    assert done.returncode == TRANSFER_FAILED
    assert done.stdout.endswith(b"\r\n\r\n" + part) if head else done.stdout == part
    assert b"network_connection_lost" in done.stderr
    assert run("get", *head, url).stdout == done.stdout
    done = run("get", "--whole", *head, url)
    assert (done.returncode, done.stdout) == (TRANSFER_FAILED, b"")


@pytest.mark.parametrize("options", [[], ["-i"], ["--whole"], ["-c", "jar"]])
@pytest.mark.parametrize("size", [4, len(LARGE)])
def test_fail_prints_nothing_of_an_error(
    run: Run, daemon: Daemon, origin: ScriptedOrigin, options: list[str], size: int
) -> None:
    url = origin.on("/gone", lambda exchange: exchange.reply(404, LARGE[:size]))
    done = run("get", "--fail", "--stream", *options, url)
    assert (done.returncode, done.stdout) == (HTTP_FAILURE, b"")
    eventually(lambda: daemon.spooled() == [])
    assert run("get", "--stream", url).stdout == LARGE[:size]


def test_nothing_of_a_retried_response_or_a_redirect_is_printed(run: Run, origin: ScriptedOrigin) -> None:
    answers = iter([(503, LARGE, []), (302, LARGE, [("Location", "/page")]), (200, b"page", [])])

    def handler(exchange: Exchange) -> None:
        status, body, headers = next(answers)
        exchange.reply(status, body, headers=[("Retry-After", "0"), *headers])

    done = run("get", "--stream", "-i", "--retry", "1", origin.on("/page", handler))
    assert done.stdout.startswith(b"HTTP/1.1 200\r\n")
    assert done.stdout.endswith(b"\r\n\r\npage")
    assert done.stdout.count(b"HTTP/1.1") == 1


def test_a_reader_that_closes_ends_the_request(
    variables: dict[str, str], daemon: Daemon, origin: ScriptedOrigin
) -> None:
    url = endless(origin)
    for options in ("", "-i"):
        script = f"{CARPOOL} get --stream {options} {url} | head -c 100000 | wc -c; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(
            ["bash", "-c", script], env=variables, capture_output=True, timeout=PATIENCE_SECONDS, check=True
        )
        assert done.stdout.split() == [b"100000", b"141"]
        assert done.stderr == b""
        eventually(lambda: active(daemon) == 0)


def test_the_head_of_a_refused_response_is_not_printed_either(run: Run, origin: ScriptedOrigin) -> None:
    def slowly(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 404 Gone\r\nContent-Length: 4\r\n\r\n")
        # Longer than the command waits for the body before it prints a head.
        time.sleep(0.2)
        exchange.send(b"gone")

    done = run("get", "-i", "--fail", origin.on("/slowly", slowly))
    assert (done.returncode, done.stdout) == (HTTP_FAILURE, b"")


@pytest.mark.parametrize("options", [[], ["-i"]])
def test_a_reader_that_closes_while_nothing_comes_ends_the_request(
    variables: dict[str, str], daemon: Daemon, origin: ScriptedOrigin, options: list[str]
) -> None:
    gate = origin.hold("/held")
    with running([CARPOOL, "get", *options, f"{origin.url}/held"], env=variables, stdout=subprocess.PIPE) as process:
        origin.received(1)
        assert process.stdout is not None
        process.stdout.close()
        eventually(lambda: process.poll() is not None)
        eventually(lambda: active(daemon) == 0)
    gate.set()


@pytest.mark.parametrize("options", [[], ["-i"]])
def test_the_death_of_the_command_ends_the_request(
    variables: dict[str, str], daemon: Daemon, origin: ScriptedOrigin, options: list[str]
) -> None:
    command = [CARPOOL, "get", "--stream", *options, endless(origin)]
    with running(command, env=variables, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(1)
        process.send_signal(signal.SIGKILL)
        eventually(lambda: active(daemon) == 0)


def test_the_bytes_do_not_go_through_the_command(variables: dict[str, str], origin: ScriptedOrigin) -> None:
    with running([CARPOOL, "get", "--stream", endless(origin)], env=variables, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(1)
        process.send_signal(signal.SIGSTOP)
        # More than a pipe and the daemon's buffers hold.
        assert len(process.stdout.read(8 << 20)) == 8 << 20
        process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("options", [[], ["-i"]])
def test_a_daemon_that_closes_before_it_reads_is_asked_again(
    variables: dict[str, str], daemon: Daemon, origin: ScriptedOrigin, tmp_path: Path, options: list[str]
) -> None:
    """As one that is shutting down does; the kernel reports the unread call as a reset."""
    url = origin.on("/page", lambda exchange: exchange.reply(body=b"page"))
    path = tmp_path / "relay.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        command = [CARPOOL, "get", "--socket", str(path), "--stream", *options, url]
        with running(command, env=variables, stdout=subprocess.PIPE) as process:
            first, _ = listener.accept()
            select.select([first], [], [], PATIENCE_SECONDS)
            path.unlink()
            path.symlink_to(daemon.socket)
            first.close()
            assert process.stdout is not None
            assert process.stdout.read().endswith(b"page")
            assert process.wait(PATIENCE_SECONDS) == OK
    assert len(origin.requests) == 1


@pytest.mark.parametrize("options", [[], ["-i"], ["--whole"]])
def test_a_full_disk_is_an_error(variables: dict[str, str], nginx: Nginx, options: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [CARPOOL, "get", "--stream", *options, f"{nginx.http}/16m.bin"],
            env=variables,
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    assert done.returncode == TRANSFER_FAILED
    assert b"No space left on device" in done.stderr or b"disk_full" in done.stderr


@pytest.mark.parametrize("options", [[], ["-i"]])
def test_a_file_gets_it_at_its_position(
    variables: dict[str, str], nginx: Nginx, tmp_path: Path, options: list[str]
) -> None:
    for mode in ("wb", "ab"):
        with (tmp_path / "out").open(mode) as out:
            out.write(b"before ")
            out.flush()
            command = [CARPOOL, "get", "--stream", *options, f"{nginx.http}/16m.bin"]
            subprocess.run(command, env=variables, stdout=out, timeout=PATIENCE_SECONDS, check=True)
        text = (tmp_path / "out").read_bytes()
        assert text.startswith(b"before ")
        assert hashlib.sha256(text[-(16 << 20) :]).hexdigest() == nginx.hashes["16m.bin"]


@pytest.mark.parametrize("side", ["terminal", "emulator"])
def test_a_terminal_gets_it(variables: dict[str, str], origin: ScriptedOrigin, side: str) -> None:
    """The daemon refuses the emulator's side; the command then copies the body itself."""
    url = origin.on("/text", lambda exchange: exchange.reply(body=LARGE.hex().encode()))
    emulator, terminal = pty.openpty()
    tty.setraw(terminal)
    output, reader = (terminal, emulator) if side == "terminal" else (emulator, terminal)
    with running([CARPOOL, "get", "--stream", url], env=variables, stdout=output, stderr=subprocess.PIPE) as process:
        received = b""
        while len(received) < 2 * len(LARGE):
            received += os.read(reader, 65_536)
        assert process.wait(PATIENCE_SECONDS) == OK
    assert received == LARGE.hex().encode()
    os.close(emulator)
    os.close(terminal)


def test_a_field_that_is_not_utf_8_is_shown_as_iso_8859_1(run: Run, origin: ScriptedOrigin) -> None:
    head = b"X-A: caf\xe9\r\nX-B: caf\xc3\xa9\r\n"
    url = origin.on(
        "/a", lambda exchange: exchange.send(b"HTTP/1.1 200 OK\r\n" + head + b"Content-Length: 2\r\n\r\nok")
    )
    done = run("get", "-v", "-w", " %header{x-a} %header{x-b}", url)
    assert done.stdout.decode() == "ok café café"
    assert "X-A: café" in done.stderr.decode()
