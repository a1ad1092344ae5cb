"""The end of `carpool curl` breaks off at the origin at once, whatever ends it; what is stopped goes on later."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from harness.command import Run
from harness.daemon import CARPOOL, Daemon
from harness.process import begin
from harness.waiting import PATIENCE_SECONDS, eventually
from origins.scripted import Exchange, ScriptedOrigin

WRITE_ERROR, TIMED_OUT, ENDED_BY_DAEMON = 23, 28, 56
PIECE = bytes(range(256)) * 256
ENDS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL]

Start = Callable[..., "subprocess.Popen[bytes]"]


@dataclass
class Seen:
    """What an origin has seen of its transfers."""

    begun: int = 0
    ended: int = 0
    sent: int = 0
    received: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, name: str, number: int = 1) -> None:
        with self.lock:
            setattr(self, name, getattr(self, name) + number)


@pytest.fixture
def seen(origin: ScriptedOrigin) -> Seen:
    """`/drip` sends a line and no more; `/flood` sends without end; `/take` reads a body without end."""
    seen = Seen()

    def drip(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b"first\n")
        seen.count("begun")
        if exchange.wait_for_peer_to_close():
            seen.count("ended")

    def flood(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000000\r\n\r\n")
        seen.count("begun")
        try:
            while True:
                exchange.send(PIECE)
                seen.count("sent", len(PIECE))
        finally:
            seen.count("ended")

    def take(exchange: Exchange) -> bool:
        seen.count("begun")
        if exchange.wait_for_peer_to_close():
            seen.count("ended")
        return True

    origin.on("/drip", drip)
    origin.on("/flood", flood)
    origin.on_head("/take", take)
    return seen


@pytest.fixture
def launch(variables: dict[str, str]) -> Iterator[Start]:
    """Start `carpool curl`, killed at the end of the test."""
    started: list[subprocess.Popen[bytes]] = []

    def call(*arguments: str, **options: object) -> subprocess.Popen[bytes]:
        process = begin(
            [CARPOOL, "curl", "--no-fallback", "-sS", *arguments],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **{"stdin": subprocess.DEVNULL, **options},
        )
        started.append(process)
        return process

    yield call
    for process in started:
        process.kill()
        process.wait(PATIENCE_SECONDS)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def first_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.mark.parametrize("number", ENDS)
def test_a_download_ends_with_its_caller(launch: Start, origin: ScriptedOrigin, seen: Seen, number: int) -> None:
    process = launch("-N", f"{origin.url}/drip?0")
    assert first_line(process) == b"first\n"
    process.send_signal(number)
    assert process.wait(PATIENCE_SECONDS) == -number
    eventually(lambda: seen.ended == 1)


@pytest.mark.parametrize("number", ENDS)
def test_an_upload_ends_with_its_caller(launch: Start, origin: ScriptedOrigin, seen: Seen, number: int) -> None:
    process = launch("-T", "-", f"{origin.url}/take", stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b"some of the body")
    process.stdin.flush()
    eventually(lambda: seen.begun == 1)
    process.send_signal(number)
    assert process.wait(PATIENCE_SECONDS) == -number
    eventually(lambda: seen.ended == 1)


@pytest.mark.parametrize("number", ENDS)
def test_all_parallel_transfers_end_with_their_caller(
    launch: Start, origin: ScriptedOrigin, daemon: Daemon, seen: Seen, number: int
) -> None:
    process = launch("-Z", "-N", f"{origin.url}/drip?[0-9]")
    eventually(lambda: seen.begun == 10)
    process.send_signal(number)
    assert process.wait(PATIENCE_SECONDS) == -number
    eventually(lambda: seen.ended == 10)
    eventually(lambda: daemon.stats()["transfers"]["active"] == 0)


def test_a_reader_that_leaves_ends_the_transfer(launch: Start, origin: ScriptedOrigin, seen: Seen) -> None:
    process = launch(f"{origin.url}/flood")
    assert process.stdout is not None
    assert process.stdout.read(1_000_000)
    process.stdout.close()
    process.stdout = None
    assert process.wait(PATIENCE_SECONDS) == WRITE_ERROR
    eventually(lambda: seen.ended == 1)


def test_head_ends_the_transfer_at_once(variables: dict[str, str], origin: ScriptedOrigin, seen: Seen) -> None:
    script = f"'{CARPOOL}' curl -sS {origin.url}/flood | head -c 1000000 | wc -c; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script], env=variables, capture_output=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.stdout.split() == [b"1000000", str(WRITE_ERROR).encode()]
    eventually(lambda: seen.ended == 1)
    # What was read beyond is what the pipes and sockets hold, and not the body.
    assert seen.sent < 64 << 20


def test_a_short_response_in_pieces_is_written_at_its_end(
    variables: dict[str, str], origin: ScriptedOrigin, tmp_path: Path
) -> None:
    """As curl's stdio does, so that a reader of the first line, which leaves, has all of it."""
    gone = tmp_path / "gone"

    def pieces(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\none\n")
        with contextlib.suppress(AssertionError):
            eventually(gone.exists, 0.5)
        exchange.send(b"two\n")

    url = origin.on("/pieces", pieces)
    for options, expected in [("-s", 0), ("-si", 0), ("-sN", WRITE_ERROR)]:
        gone.unlink(missing_ok=True)
        script = f"set -o pipefail; '{CARPOOL}' curl {options} {url} | {{ head -1; : > '{gone}'; }}"
        done = subprocess.run(
            ["bash", "-c", script], env=variables, capture_output=True, timeout=PATIENCE_SECONDS, check=False
        )
        assert (done.returncode, done.stderr) == (expected, b""), options
        assert done.stdout.splitlines() == [b"HTTP/1.1 200 OK" if "i" in options else b"one"]


def test_what_is_stopped_goes_on(launch: Start, origin: ScriptedOrigin) -> None:
    total, sent = 64 << 20, [0]

    def many(exchange: Exchange) -> None:
        exchange.send(f"HTTP/1.1 200 OK\r\nContent-Length: {total}\r\n\r\n".encode())
        for _ in range(total // len(PIECE)):
            exchange.send(PIECE)
            sent[0] += len(PIECE)

    process = launch(origin.on("/many", many))
    assert process.stdout is not None
    hashed = hashlib.sha256(process.stdout.read(100_000))
    process.send_signal(signal.SIGSTOP)
    last = [-1]

    def stalls() -> bool:
        before, last[0] = last[0], sent[0]
        # The reader of standard output takes what is in the pipe, as far as it goes.
        os.set_blocking(process.stdout.fileno(), False)  # type: ignore[union-attr]
        while piece := process.stdout.read(1 << 16):  # type: ignore[union-attr]
            hashed.update(piece)
        return before == sent[0]

    eventually(stalls)
    assert sent[0] < total
    os.set_blocking(process.stdout.fileno(), True)
    process.send_signal(signal.SIGCONT)
    while piece := process.stdout.read(1 << 16):
        hashed.update(piece)
    assert process.wait(PATIENCE_SECONDS) == 0
    assert hashed.hexdigest() == hashlib.sha256(PIECE * (total // len(PIECE))).hexdigest()


@pytest.mark.parametrize("path", ["/drip?0", "/take"])
def test_a_daemon_that_is_killed_ends_the_command(
    launch: Start, origin: ScriptedOrigin, daemon: Daemon, seen: Seen, path: str
) -> None:
    arguments = ["-T", "-"] if path == "/take" else ["-N"]
    process = launch(*arguments, origin.url + path, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b"some")
    process.stdin.flush()
    eventually(lambda: seen.begun == 1)
    if path != "/take":
        assert first_line(process) == b"first\n"
    daemon.kill()
    _, told = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == ENDED_BY_DAEMON
    assert told.startswith(b"curl: (56) ")
    eventually(lambda: seen.ended == 1)


def test_a_limit_of_time_holds_while_the_daemon_is_stopped(run: Run, origin: ScriptedOrigin, daemon: Daemon) -> None:
    """Under a debugger, or on a machine that swaps: a script relies on `-m`."""
    assert run("curl", "-sS", origin.url).returncode == 0
    daemon.signal(signal.SIGSTOP)
    try:
        done = run("curl", "--no-fallback", "-sS", "-m", "0.2", origin.url)
    finally:
        daemon.signal(signal.SIGCONT)
    assert done.returncode == TIMED_OUT
    assert done.stderr.startswith(b"curl: (28) Operation timed out after ")


def test_a_transfer_that_fails_ends_at_the_origin_while_the_next_one_runs(
    daemon: Daemon, launch: Start, origin: ScriptedOrigin
) -> None:
    """It fails because it is too slow, before the daemon has asked for a pipe."""
    left = threading.Event()

    def silent(exchange: Exchange) -> None:
        if exchange.wait_for_peer_to_close():
            left.set()

    gate = origin.hold("/held")
    tool = launch("-y", "1", "-Y", "1", origin.on("/silent", silent), "--next", f"{origin.url}/held")
    origin.received(1, "/held")
    assert left.wait(PATIENCE_SECONDS)
    gate.set()
    eventually(lambda: tool.poll() is not None)
    assert tool.returncode == 0
