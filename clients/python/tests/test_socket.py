from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

import carpool
from carpool import _socket


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No daemon of this machine is found by chance."""
    for name in ("CARPOOL_SOCKET", "CARPOOLD", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(_socket, "_is_private", lambda path: path.exists() and not str(path).startswith("/run/user"))


def listen(path: Path) -> socket.socket:
    path.parent.mkdir(parents=True, exist_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen()
    return listener


def test_the_runtime_directory_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert _socket.default_path() == f"{tmp_path}/carpool/carpool.sock"


def test_run_user_is_used_without_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_socket, "_is_private", lambda _: True)
    assert _socket.default_path() == f"/run/user/{os.getuid()}/carpool/carpool.sock"


def test_the_state_directory_is_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _socket.default_path() == f"{tmp_path}/state/carpool/run/carpool.sock"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/home/x")
    assert _socket.default_path() == "/home/x/.local/state/carpool/run/carpool.sock"


def test_without_a_home_or_with_a_long_one_it_is_tmp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/x" * 60)
    assert _socket.default_path() == f"/tmp/carpool-{os.getuid()}/carpool.sock"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME")
    assert _socket.default_path() == f"/tmp/carpool-{os.getuid()}/run/carpool.sock"


def test_a_directory_of_somebody_else_is_not_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "ours").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "ours")
    assert _socket._is_private(tmp_path / "ours")
    assert not _socket._is_private(tmp_path / "open")
    assert not _socket._is_private(tmp_path / "link")
    assert not _socket._is_private(tmp_path / "none")


def test_a_path_that_is_too_long_is_refused_with_its_length() -> None:
    with pytest.raises(carpool.DaemonUnreachableError, match=r"120 bytes, at most 107 .* CARPOOL_SOCKET"):
        _socket.connect("/" + "x" * 119)


def test_the_variable_names_the_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(tmp_path / "named.sock"))
    with listen(tmp_path / "named.sock"), _socket.connect() as connection:
        assert connection.getpeername() == str(tmp_path / "named.sock")


def test_a_daemon_elsewhere_is_found_by_its_lock(tmp_path: Path) -> None:
    lock = tmp_path / "state" / "carpool" / "carpoold.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text(f"4711\n{tmp_path}/elsewhere.sock\n")
    with listen(tmp_path / "elsewhere.sock"), _socket.connect() as connection:
        assert connection.getpeername() == str(tmp_path / "elsewhere.sock")


def test_without_a_program_to_start_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(carpool.DaemonUnreachableError, match="no carpoold on PATH"):
        _socket.connect()
    monkeypatch.setenv("CARPOOLD", "/none/such")
    with pytest.raises(carpool.DaemonUnreachableError, match="cannot start /none/such"):
        _socket.connect()


def program(directory: Path, body: str) -> str:
    path = directory / "carpoold"
    path.write_text(f"#!{sys.executable}\nimport os, socket, sys\n{body}\n")
    path.chmod(0o700)
    return str(path)


LISTEN = """
path = os.environ["XDG_STATE_HOME"] + "/carpool/run/carpool.sock"
os.makedirs(os.path.dirname(path), exist_ok=True)
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
if "NOTIFY_SOCKET" in os.environ:
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.connect(os.environ["NOTIFY_SOCKET"])
    notify.send(b"STATUS=starting")
    notify.send(b"STATUS=listening\\nREADY=1")
connection, _ = listener.accept()
connection.recv(1)
"""


def test_a_daemon_is_started_when_none_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARPOOLD", program(tmp_path, LISTEN))
    with _socket.connect() as connection:
        assert connection.getpeername() == f"{tmp_path}/state/carpool/run/carpool.sock"
    os.waitpid(-1, 0)


def test_why_a_daemon_could_not_start_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_socket, "RACE_SECONDS", 0.05)
    monkeypatch.setenv("CARPOOLD", program(tmp_path, 'sys.exit("config.json: unknown key")'))
    with pytest.raises(carpool.DaemonUnreachableError, match=r"ended at once: config\.json: unknown key"):
        _socket.connect()


def test_losing_the_race_to_start_is_winning_a_daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = 'pid = os.fork()\nif pid:\n    sys.exit("another one runs")\ndel os.environ["NOTIFY_SOCKET"]\n'
    monkeypatch.setenv("CARPOOLD", program(tmp_path, body + LISTEN))
    with _socket.connect() as connection:
        assert connection.getpeername() == f"{tmp_path}/state/carpool/run/carpool.sock"


def test_a_daemon_that_hangs_is_not_waited_for_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_socket, "START_SECONDS", 0.2)
    monkeypatch.setenv("CARPOOLD", program(tmp_path, "import signal; signal.alarm(5); signal.pause()"))
    with pytest.raises(carpool.DaemonUnreachableError, match="was not ready"):
        _socket.connect()
