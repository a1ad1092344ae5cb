"""The command line tool in a hostile environment: full disks, readers that leave, signals, other users."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness.daemon import CARPOOL, environment
from harness.process import running
from harness.waiting import PATIENCE_SECONDS, eventually
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin

UNREACHABLE, TRANSFER_FAILED = 3, 7


@pytest.fixture
def variables(directory: Path) -> Iterator[dict[str, str]]:
    """A user of the test's own, whose daemon ends with the test."""
    own = environment(directory)
    own["PATH"] = f"{Path(CARPOOL).resolve().parent}:{own['PATH']}"
    yield own
    subprocess.run([CARPOOL, "daemon", "stop"], env=own, check=True, capture_output=True, timeout=PATIENCE_SECONDS)


@pytest.fixture
def shell(variables: dict[str, str], directory: Path) -> Callable[[str], subprocess.CompletedProcess[str]]:
    def run(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", script],
            env=variables,
            cwd=directory,
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )

    return run


Shell = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("name", ["hello.txt", "1m.bin"])
@pytest.mark.parametrize("output", ["> /dev/full", "-o /dev/full"])
def test_a_full_disk_is_told(shell: Shell, nginx: Nginx, name: str, output: str) -> None:
    done = shell(f"carpool get {nginx.http}/{name} {output}")
    assert done.returncode == TRANSFER_FAILED
    place = "standard output" if output.startswith(">") else "/dev/full"
    assert f"cannot write to {place}: No space left on device" in done.stderr


def test_a_daemon_that_cannot_write_its_log_names_what_to_check(shell: Shell, nginx: Nginx) -> None:
    done = shell(f"touch file; export XDG_STATE_HOME=$PWD/file; carpool get {nginx.http}/hello.txt")
    assert done.returncode == UNREACHABLE
    assert "carpoold did not start: mkdir" in done.stderr and "Not a directory" in done.stderr
    assert "hint: carpool doctor checks the directories; $XDG_STATE_HOME names another one" in done.stderr
    done = shell("export XDG_STATE_HOME=$PWD/file; carpool doctor")
    assert "file/carpool cannot be created: Not a directory; set $XDG_STATE_HOME" in done.stdout, done.stdout


def test_the_cache_of_the_user_may_be_cleared(shell: Shell, nginx: Nginx, directory: Path) -> None:
    whole = f"carpool get --whole {nginx.http}/1m.bin | wc -c"
    assert shell(f"{whole}; rm -r cache/*; {whole}").stdout.split() == [str(1 << 20), str(1 << 20)]
    assert (directory / "cache/carpool/spool").stat().st_mode & 0o777 == 0o700


def test_a_reader_that_leaves_ends_it_as_it_ends_other_filters(shell: Shell, nginx: Nginx) -> None:
    done = shell(f"carpool get {nginx.http}/16m.bin | head -c 1 >first; echo ${{PIPESTATUS[0]}} >&2")
    assert done.stderr == f"{128 + signal.SIGPIPE}\n"
    assert shell("find cache -name 'r_*'").stdout == ""


def test_closed_descriptors_are_not_taken_for_others(shell: Shell, nginx: Nginx) -> None:
    assert shell("carpool get http://127.0.0.1:1/ 2>&-").returncode == TRANSFER_FAILED
    assert shell(f"carpool get {nginx.http}/1m.bin <&- 2>&- | wc -c").stdout.strip() == str(1 << 20)
    # A closed standard output cannot be written to, as a full disk cannot.
    done = shell(f"carpool get {nginx.http}/1m.bin <&- >&-")
    assert (done.returncode, "standard output" in done.stderr) == (TRANSFER_FAILED, True), done.stderr


def test_pipes_devices_and_links_are_written_as_what_they_are(shell: Shell, nginx: Nginx, directory: Path) -> None:
    url = f"{nginx.http}/hello.txt"
    assert shell(f"mkfifo pipe; cat pipe & carpool get -o pipe {url}; wait").stdout == "hello, world\n"
    assert shell(f"carpool get -o /dev/stdout {url} | cat").stdout == "hello, world\n"
    assert shell(f"touch target; ln -s target link; carpool get -o link {url}").returncode == 0
    assert (directory / "link").is_symlink()
    assert (directory / "target").read_text() == "hello, world\n"
    assert shell(f"ln -s new dangling; carpool get -o dangling {url}").returncode == 0
    assert (directory / "dangling").is_symlink()
    assert (directory / "new").read_text() == "hello, world\n"


@pytest.mark.parametrize("options", ["", "--whole", "-i"])
def test_a_path_of_a_descriptor_is_that_descriptor(shell: Shell, nginx: Nginx, directory: Path, options: str) -> None:
    # A link of the test's own: as root, a command that replaces links would replace /dev/stdout.
    (directory / "out").symlink_to("/proc/self/fd/3")
    done = shell(f"carpool get {options} -o out {nginx.http}/hello.txt 3>file && cat file")
    assert (done.returncode, done.stdout.endswith("hello, world\n"), done.stderr) == (0, True, "")
    assert (directory / "out").is_symlink()


def test_output_is_appended_where_the_shell_says_so(shell: Shell, nginx: Nginx, directory: Path) -> None:
    assert shell(f"for i in 1 2; do carpool get {nginx.http}/1m.bin >> all; done").returncode == 0
    assert hashlib.sha256((directory / "all").read_bytes()[1_048_576:]).hexdigest() == nginx.hashes["1m.bin"]


def test_a_large_body_from_a_pipe_leaves_no_copy(
    shell: Shell, variables: dict[str, str], origin: ScriptedOrigin
) -> None:
    assert shell(f"head -c 1000000 /dev/zero | carpool post -d @- {origin.url}").returncode == 0
    assert origin.received(1)[0].body == bytes(1_000_000)
    state = Path(variables["XDG_STATE_HOME"], "carpool")
    origin.hold("/held")
    with running([CARPOOL, "post", "-d", "@-", f"{origin.url}/held"], env=variables, stdin=subprocess.PIPE) as tool:
        assert tool.stdin
        tool.stdin.write(bytes(1_000_000))
        tool.stdin.close()
        eventually(lambda: len(list(state.glob("body-*"))) == 1)
        tool.send_signal(signal.SIGINT)
        assert tool.wait(PATIENCE_SECONDS) == -signal.SIGINT
    assert list(state.glob("body-*")) == []


def test_a_daemon_that_was_killed_is_replaced(shell: Shell, nginx: Nginx) -> None:
    kill = "kill -9 $(carpool call daemon.info | jq .server.pid)"
    done = shell(f"{kill}; carpool get {nginx.http}/hello.txt")
    assert (done.stdout, done.stderr) == ("hello, world\n", "")


def test_a_daemon_of_its_own_socket_is_started_when_asked(shell: Shell, nginx: Nginx) -> None:
    assert shell(f"carpool get --socket own.sock {nginx.http}/hello.txt").returncode == UNREACHABLE
    done = shell(f"carpool daemon start --socket own.sock && carpool --socket own.sock get {nginx.http}/hello.txt")
    assert done.stdout.endswith("hello, world\n")
    assert shell("carpool daemon stop --socket own.sock").returncode == 0
    assert shell("carpool daemon status --socket own.sock").returncode == UNREACHABLE


@pytest.mark.skipif(os.geteuid() != 0, reason="changes the owner of a directory")
def test_a_state_directory_of_somebody_else_is_refused(shell: Shell, variables: dict[str, str]) -> None:
    state = Path(variables["XDG_STATE_HOME"], "carpool")
    state.mkdir(parents=True)
    os.chown(state, 65534, 65534)
    done = shell("carpool get http://127.0.0.1:1/")
    assert done.returncode == UNREACHABLE
    assert str(state) in done.stderr
    diagnosis = shell("carpool doctor")
    assert diagnosis.returncode == 1
    assert f"fail  permissions  {state} belongs to another user" in diagnosis.stdout
    os.chown(state, 0, 0)


def test_header_fields_of_a_file_that_is_not_utf_8_are_refused(
    variables: dict[str, str], origin: ScriptedOrigin, tmp_path: Path
) -> None:
    (tmp_path / "fields").write_bytes(b"X-Good: \xc3\xa9\nX-Bad: \xe9\n")
    command = [CARPOOL, "get", "-H", f"@{tmp_path / 'fields'}", f"{origin.url}/"]
    done = subprocess.run(command, env=variables, check=False, capture_output=True, timeout=PATIENCE_SECONDS)
    assert done.returncode == 2
    assert b"line 2 of " in done.stderr and b"is not UTF-8" in done.stderr
    assert origin.requests == []
