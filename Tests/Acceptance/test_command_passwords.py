"""Passwords of the command line: `-u` without one asks on the terminal, and no other user sees one in /proc."""

from __future__ import annotations

import base64
import contextlib
import os
import pty
import subprocess
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.command import OK, USAGE
from harness.daemon import CARPOOL
from harness.waiting import PATIENCE_SECONDS, eventually
from origins.authority import Certificate
from origins.scripted import ScriptedOrigin

PASSWORD = "typed-päss"
FIELD = "Basic " + base64.b64encode(f"ada:{PASSWORD}".encode()).decode()


class Terminal:
    """The command with a terminal of its own."""

    def __init__(self, variables: dict[str, str], *arguments: str) -> None:
        self.master, self._slave = pty.openpty()
        self.process = subprocess.Popen(
            ["setsid", "--ctty", CARPOOL, *arguments],
            env=variables,
            stdin=self._slave,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.shown = b""

    def until(self, text: str) -> None:
        while text.encode() not in self.shown:
            self.shown += os.read(self.master, 4_096)

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self._slave)[3] & termios.ECHO)

    def end(self) -> tuple[int, bytes, bytes]:
        out, err = self.process.communicate(timeout=PATIENCE_SECONDS)
        os.set_blocking(self.master, False)
        with contextlib.suppress(BlockingIOError):
            self.shown += os.read(self.master, 4_096)
        return self.process.returncode, out, err

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self._slave)


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.close()


@pytest.mark.parametrize("command", [["get"], ["curl", "-s"]], ids=["get", "curl"])
def test_a_missing_password_is_asked_for(
    variables: dict[str, str], origin: ScriptedOrigin, terminals: list[Terminal], command: list[str]
) -> None:
    terminal = Terminal(variables, *command, "-u", "ada", origin.url)
    terminals.append(terminal)
    terminal.until("Enter host password for user 'ada':")
    assert not terminal.echoes
    terminal.type(f"{PASSWORD}x\x7f\n")
    code, _, err = terminal.end()
    assert (code, err) == (OK, b"")
    assert origin.requests[0].values("authorization") == [FIELD]
    assert PASSWORD.encode() not in terminal.shown and terminal.echoes


def test_several_urls_have_one_password(
    variables: dict[str, str], origin: ScriptedOrigin, terminals: list[Terminal]
) -> None:
    terminal = Terminal(variables, "get", "-u", "ada", f"{origin.url}/a", f"{origin.url}/b")
    terminals.append(terminal)
    terminal.until("'ada':")
    terminal.type(f"{PASSWORD}\n")
    assert terminal.end()[0] == OK
    assert [request.values("authorization") for request in origin.requests] == [[FIELD]] * 2


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["interrupt", "end"])
def test_the_user_may_give_up(
    variables: dict[str, str], origin: ScriptedOrigin, terminals: list[Terminal], key: str
) -> None:
    terminal = Terminal(variables, "get", "-u", "ada", origin.url)
    terminals.append(terminal)
    terminal.until("'ada':")
    terminal.type(f"half{key}{key}")
    code, _, _ = terminal.end()
    assert code == (-2 if key == "\x03" else USAGE)
    assert terminal.echoes and origin.requests == []


def test_without_a_terminal_the_option_is_named(variables: dict[str, str], origin: ScriptedOrigin) -> None:
    done = subprocess.run(
        [CARPOOL, "get", "--user", "ada", origin.url],
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        start_new_session=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == USAGE
    assert b"--user has no password" in done.stderr and b"terminal" in done.stderr
    assert origin.requests == []


def test_doctor_asks_no_password(variables: dict[str, str], origin: ScriptedOrigin) -> None:
    done = subprocess.run(
        [CARPOOL, "doctor", "-u", "ada", origin.url],
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        start_new_session=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == OK and b"user ada" in done.stdout, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["-u", "ada:{}"],
        ["-uada:{}"],
        ["--user", "ada:{}"],
        ["--user=ada:{}"],
        ["-x", "http://127.0.0.1:9", "-U", "u:{}"],
        ["-x", "http://u:{}@127.0.0.1:9"],
        ["--socks5-hostname", "u:{}@127.0.0.1:9"],
        ["-b", "sid={}"],
        ["--pass", "{}"],
    ],
)
def test_no_other_user_sees_a_password(variables: dict[str, str], origin: ScriptedOrigin, arguments: list[str]) -> None:
    not_seen(variables, origin, ["get"], arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["-u", "ada:{}"],
        ["-uada:{}"],
        ["-x", "http://127.0.0.1:9", "-U", "u:{}"],
        ["--oauth2-bearer", "{}"],
        ["-E", "none.pem:{}"],
        ["--pass", "{}"],
    ],
)
def test_no_other_user_sees_a_password_of_curl(
    variables: dict[str, str], origin: ScriptedOrigin, arguments: list[str]
) -> None:
    not_seen(variables, origin, ["curl", "-s"], arguments)


def test_no_other_user_sees_the_password_of_a_certificate(
    variables: dict[str, str], origin: ScriptedOrigin, person: Certificate
) -> None:
    not_seen(variables, origin, ["get"], ["-E", f"{person.chain}:{{}}", "--key", str(person.key)])


def not_seen(variables: dict[str, str], origin: ScriptedOrigin, command: list[str], arguments: list[str]) -> None:
    """Look for the password where other users see it, while the request is held."""
    gate = origin.hold("/held")
    given = [argument.format(PASSWORD) for argument in arguments]
    process = subprocess.Popen(
        [CARPOOL, *command, *given, "--noproxy", "*", f"{origin.url}/held"], env=variables, stdout=subprocess.DEVNULL
    )
    try:
        origin.received(1)
        line = Path(f"/proc/{process.pid}/cmdline").read_bytes()
        assert PASSWORD.encode() not in line and b"/held" in line
        assert PASSWORD.encode() not in Path(f"/proc/{process.pid}/environ").read_bytes()
    finally:
        gate.set()
        eventually(lambda: process.poll() is not None)
    assert process.returncode == OK
