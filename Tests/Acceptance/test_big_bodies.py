"""`carpool get` and `carpool curl` with bodies of gibibytes, and with outputs that end before the body."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import threading
import time
import tty
from collections.abc import Callable, Iterator
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSCTTY

import pytest
from harness.command import TRANSFER_FAILED
from harness.daemon import CARPOOL, IS_CHECKED, Daemon
from harness.large import END, GIB, SIZE, Counter, large_file
from harness.process import running
from harness.waiting import PATIENCE_SECONDS, SLOWNESS, eventually
from origins.nginx import Nginx
from origins.scripted import Exchange, GoneError, ScriptedOrigin

pytestmark = pytest.mark.own_daemon

PEAK_KIB = 32_768
UNREAD = 4 << 20
"""More than the pipes and the daemon's buffers hold: while it is unread, the request goes on."""
AT_ONCE_SECONDS = 2.0 * SLOWNESS
PIPE_CLOSED_BY_READER = 128 + signal.SIGPIPE
CURL_WRITE_ERROR = 23

COMMANDS = {"get": ["get"], "get -i": ["get", "-i"], "curl": ["curl", "-s"]}
every_command = pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)


class Endless:
    """An origin's body without an end, and when the origin lost its reader."""

    def __init__(self, origin: ScriptedOrigin) -> None:
        self.url = origin.on("/endless", self._send)
        self._lost = threading.Event()
        self._lost_at = 0.0

    def _send(self, exchange: Exchange) -> None:
        piece = b"a line of text\n" * 4_096
        try:
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
            while True:
                exchange.send(piece)
        except GoneError:
            self._lost_at = time.monotonic()
            self._lost.set()
            raise

    def seconds_to_the_loss(self, since: float) -> float:
        """Wait until the origin has lost its reader."""
        assert self._lost.wait(PATIENCE_SECONDS)
        return self._lost_at - since


@pytest.fixture
def endless(origin: ScriptedOrigin) -> Endless:
    return Endless(origin)


def peak_kib(pid: int) -> int:
    """Return the highest resident memory of a process, libraries included."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))


# Bodies of gibibytes


@every_command
def test_gibibytes_leave_daemon_and_command_under_32_mebibytes(
    variables: dict[str, str], daemon: Daemon, nginx: Nginx, command: list[str]
) -> None:
    with large_file(nginx.directory / "files", SIZE) as large:
        arguments = [CARPOOL, *command, f"{nginx.http}/{large.name}"]
        with running(arguments, env=variables, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            counter = Counter(process.stdout.fileno(), pause=SIZE - UNREAD)
            assert counter.paused.wait(PATIENCE_SECONDS + 20 * SLOWNESS * SIZE / GIB)
            peak = peak_kib(process.pid)
            counter.may_go_on.set()
            counter.finish()
            assert process.wait(PATIENCE_SECONDS) == 0
    assert counter.end == END
    head_bytes = counter.count - SIZE
    assert 100 < head_bytes < 1_000 if "-i" in command else head_bytes == 0
    assert IS_CHECKED or peak < PEAK_KIB
    assert daemon.memory_kib("VmHWM") < PEAK_KIB
    assert daemon.spooled() == []


# Outputs that end before the body


@every_command
def test_a_reader_that_has_enough_ends_the_request_at_once(
    variables: dict[str, str], daemon: Daemon, endless: Endless, command: list[str]
) -> None:
    with running([CARPOOL, *command, endless.url], env=variables, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert len(process.stdout.read(1 << 20)) == 1 << 20
        process.stdout.close()
        closed = time.monotonic()
        assert endless.seconds_to_the_loss(closed) < AT_ONCE_SECONDS
        code = process.wait(PATIENCE_SECONDS)
    assert code == (CURL_WRITE_ERROR if "curl" in command else -signal.SIGPIPE)
    eventually(daemon.is_idle)


@every_command
def test_head_of_a_shell_ends_the_request(
    variables: dict[str, str], daemon: Daemon, endless: Endless, command: list[str]
) -> None:
    script = '"$@" | head -c 1M | wc -c; echo ${PIPESTATUS[0]}'
    done = subprocess.run(
        ["bash", "-c", script, "-", CARPOOL, *command, endless.url],
        env=variables,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    code = CURL_WRITE_ERROR if "curl" in command else PIPE_CLOSED_BY_READER
    assert (done.stdout.split(), done.stderr) == ([b"1048576", str(code).encode()], b"")
    endless.seconds_to_the_loss(0)
    eventually(daemon.is_idle)


@every_command
def test_a_closed_standard_output_is_an_error(
    variables: dict[str, str], daemon: Daemon, endless: Endless, command: list[str]
) -> None:
    done = subprocess.run(
        ["bash", "-c", '"$@" >&-', "-", CARPOOL, *command, endless.url],
        env=variables,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == (CURL_WRITE_ERROR if "curl" in command else TRANSFER_FAILED)
    eventually(daemon.is_idle)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], check=True, capture_output=True)
    yield place
    subprocess.run(["umount", str(place)], check=True, capture_output=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a disk")
@pytest.mark.parametrize(
    ("command", "place"),
    [(["get"], "-o FILE"), (["curl", "-s"], "-o FILE"), *((command, "> FILE") for command in COMMANDS.values())],
)
def test_a_full_disk_ends_the_request(
    variables: dict[str, str], daemon: Daemon, endless: Endless, disk: Path, command: list[str], place: str
) -> None:
    path = disk / "out"
    with (path if place == "> FILE" else Path(os.devnull)).open("wb") as output:
        done = subprocess.run(
            [CARPOOL, *command, *(["-o", str(path)] if place == "-o FILE" else []), endless.url],
            env=variables,
            stdout=output,
            stderr=subprocess.PIPE,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    assert done.returncode == (CURL_WRITE_ERROR if "curl" in command else TRANSFER_FAILED), done.stderr
    if "curl" not in command:
        assert b"No space left on device" in done.stderr or b"disk_full" in done.stderr
    endless.seconds_to_the_loss(0)
    eventually(daemon.is_idle)
    assert daemon.spooled() == []


def take_terminal(terminal: int) -> Callable[[], None]:
    """Return what makes a terminal the controlling one of a new session."""

    def take() -> None:
        os.setsid()
        ioctl(terminal, TIOCSCTTY, 0)

    return take


@pytest.mark.parametrize("is_controlling", [True, False], ids=["controlling", "other"])
@every_command
def test_a_terminal_that_hangs_up_ends_the_request(
    variables: dict[str, str], daemon: Daemon, endless: Endless, command: list[str], is_controlling: bool
) -> None:
    emulator, terminal = pty.openpty()
    tty.setraw(terminal)
    begins = take_terminal(terminal) if is_controlling else None
    arguments = [CARPOOL, *command, endless.url]
    with running(arguments, env=variables, stdout=terminal, stderr=subprocess.PIPE, preexec_fn=begins) as process:
        os.close(terminal)
        received = 0
        while received < 100_000:
            received += len(os.read(emulator, 65_536))
        os.close(emulator)
        assert endless.seconds_to_the_loss(time.monotonic()) < AT_ONCE_SECONDS
        code = process.wait(PATIENCE_SECONDS)
    if is_controlling:
        assert code == -signal.SIGHUP
    else:
        assert code == (CURL_WRITE_ERROR if "curl" in command else TRANSFER_FAILED)
    eventually(daemon.is_idle)
