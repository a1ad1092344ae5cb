from __future__ import annotations

import contextlib
import gc
import json
import os
import socket
import struct
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import carpool
from carpool import _socket


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No daemon of this machine is found by chance."""
    for name in ("CARPOOL_SOCKET", "CARPOOLD", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    ours = _socket._mode_if_ours
    monkeypatch.setattr(_socket, "_mode_if_ours", lambda path: None if path.startswith("/run/user") else ours(path))


def listen(path: Path) -> socket.socket:
    path.parent.mkdir(parents=True, exist_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen()
    return listener


def test_the_runtime_directory_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "ours").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", f"{tmp_path}/ours")
    assert _socket.default_path() == f"{tmp_path}/ours/carpool/carpool.sock"
    for refused in (f"{tmp_path}/open", f"{tmp_path}/none", "relative", ""):
        monkeypatch.setenv("XDG_RUNTIME_DIR", refused)
        assert _socket.default_path() == f"{tmp_path}/state/carpool/run/carpool.sock"


def test_run_user_is_used_without_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_socket, "_mode_if_ours", lambda path: 0o755 if path.startswith("/run/user") else None)
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


def test_a_directory_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ours").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "ours")
    assert _socket._mode_if_ours(f"{tmp_path}/ours") == 0o700
    assert _socket._mode_if_ours(f"{tmp_path}/link") is None
    assert _socket._mode_if_ours(f"{tmp_path}/none") is None
    monkeypatch.setenv("XDG_STATE_HOME", "/x" * 60)
    monkeypatch.setattr(_socket, "_last_resort", lambda: f"{tmp_path}/link")
    with pytest.raises(carpool.DaemonUnreachableError, match="belongs to another user"):
        _socket.default_path()


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


def test_a7_a_listener_of_another_user_gets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with listen(Path(_socket.default_path())) as listener:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        monkeypatch.setattr(_socket, "default_path", lambda: str(listener.getsockname()))
        if os.getuid() == 0:
            # Root's daemon is trusted, so the kernel has to name another user.
            belongs_to(4711, monkeypatch)
        with pytest.raises(carpool.DaemonUnreachableError, match="no daemon at"):
            _socket.connect(may_start=False)
        connection, _ = listener.accept()
        assert connection.recv(1) == b"", "nothing was sent to it"
        connection.close()


def belongs_to(uid: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the kernel name another user as the listener, which only root can start in fact."""
    # Of this module alone: the thread of pytest-xdist that reads messages uses the same function.
    mine = SimpleNamespace(pack=struct.pack, calcsize=struct.calcsize, unpack=lambda _, __: (1, uid, uid))
    monkeypatch.setattr(_socket, "struct", mine)


@pytest.mark.parametrize(("mode", "owner"), [(0o777, 4711), (0o770, 4711), (0o1777, 0)])
def test_a_listener_of_another_user_behind_a_named_socket_gets_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, owner: int
) -> None:
    """Where others can replace the socket, its name says nothing about who listens."""
    directory(tmp_path / "open", mode, owner, monkeypatch)
    with listen(tmp_path / "open" / "s") as listener:
        belongs_to(4711, monkeypatch)
        with pytest.raises(carpool.DaemonUnreachableError, match=rf"uid 4711, and this program to uid {os.geteuid()}"):
            _socket.connect(tmp_path / "open" / "s")
        connection, _ = listener.accept()
        assert connection.recv(1) == b"", "nothing was sent to it"
        connection.close()


@pytest.mark.parametrize("owner", [0, 4711])
def test_the_daemon_of_a_service_is_used_where_only_it_can_listen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: int
) -> None:
    directory(tmp_path / "service", 0o755, owner, monkeypatch)
    with listen(tmp_path / "service" / "s"):
        belongs_to(4711, monkeypatch)
        _socket.connect(tmp_path / "service" / "s").close()
        belongs_to(4712, monkeypatch)
        if owner != 0:
            with pytest.raises(carpool.DaemonUnreachableError, match="uid 4712"):
                _socket.connect(tmp_path / "service" / "s")
        belongs_to(0, monkeypatch)
        _socket.connect(tmp_path / "service" / "s").close()


def directory(path: Path, mode: int, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a directory that belongs to a user, as far as stat(2) says."""
    path.mkdir()
    path.chmod(mode)
    real = os.stat

    def stat(name: Any, **arguments: Any) -> os.stat_result:
        found = real(name, **arguments)
        if str(name) != str(path):
            return found
        return os.stat_result((found.st_mode, found.st_ino, found.st_dev, found.st_nlink, owner, owner, 0, 0, 0, 0))

    monkeypatch.setattr(os, "stat", stat)


def test_a_daemon_that_accepts_nothing_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_socket, "CONNECT_SECONDS", 1)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, contextlib.ExitStack() as opened:
        listener.bind(str(tmp_path / "s"))
        listener.listen(0)

        def fill() -> None:
            for _ in range(10):
                opened.enter_context(_socket.connect(tmp_path / "s"))

        with pytest.raises(carpool.DaemonUnreachableError, match="does not accept connections"):
            fill()


@pytest.mark.parametrize("waits", ["for its patience", "for the process in the lock"])
def test_the_next_daemon_of_a_named_socket_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits: str
) -> None:
    has_failed = threading.Event()
    real = _socket._connect_to

    def once(path: str) -> socket.socket:
        try:
            return real(path)
        except carpool.DaemonUnreachableError:
            has_failed.set()
            raise

    monkeypatch.setattr(_socket, "_connect_to", once)
    path = tmp_path / "s"
    is_locked = waits == "for the process in the lock"
    Path(f"{path}.lock").write_text(f"{os.getpid() if is_locked else 999_999_999}\n{path}\n")
    with contextlib.ExitStack() as opened, ThreadPoolExecutor(1) as threads:
        connecting = threads.submit(_socket.connect, path, patience=0.0 if is_locked else 20.0)
        assert has_failed.wait(20)
        opened.enter_context(listen(path))
        opened.enter_context(connecting.result(20))


def test_a_name_is_sent_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARPOOL_CLIENT", 'nightly "é"')
    with listen(tmp_path / "named.sock") as listener, _socket.connect(tmp_path / "named.sock"):
        connection, _ = listener.accept()
        message = json.loads(connection.recv(1000))
        connection.close()
    assert (message["method"], message["params"], "id" in message) == ("client.hello", {"name": 'nightly "é"'}, False)
    monkeypatch.setenv("CARPOOL_CLIENT", "x" * 65)
    with pytest.raises(ValueError, match="CARPOOL_CLIENT"):
        _socket.connect(tmp_path / "named.sock")


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
if "CARPOOL_STATUS_FD" in os.environ:
    os.write(int(os.environ["CARPOOL_STATUS_FD"]), b"ready\\n")
connection, _ = listener.accept()
connection.recv(1)
"""

LOSE = """
if os.fork():
    os.write(3, b"another one runs\\n")
    sys.exit(1)
del os.environ["CARPOOL_STATUS_FD"]
"""


def test_a_daemon_is_started_when_none_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARPOOLD", program(tmp_path, LISTEN))
    with _socket.connect() as connection:
        assert connection.getpeername() == f"{tmp_path}/state/carpool/run/carpool.sock"
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, 0)  # the daemon is no child of ours, which would stay a zombie


def test_why_a_daemon_could_not_start_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_socket, "RACE_SECONDS", 0.05)
    monkeypatch.setenv("CARPOOLD", program(tmp_path, 'os.write(3, b"config.json: unknown key\\n")'))
    with pytest.raises(carpool.DaemonUnreachableError, match=r"could not start: config\.json: unknown key"):
        _socket.connect()
    monkeypatch.setenv("CARPOOLD", program(tmp_path, 'sys.exit("a crash")'))
    with pytest.raises(carpool.DaemonUnreachableError, match=r"it wrote no message; see .*carpoold\.log"):
        _socket.connect()
    assert (tmp_path / "state" / "carpool" / "carpoold.log").read_text() == "a crash\n"


def test_losing_the_race_to_start_is_winning_a_daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARPOOLD", program(tmp_path, LOSE + LISTEN))
    with _socket.connect() as connection:
        assert connection.getpeername() == f"{tmp_path}/state/carpool/run/carpool.sock"


def test_waiting_for_a_daemon_keeps_nothing_of_its_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cycle would keep the seat of a thread that has ended, and so its connection."""
    listeners: list[socket.socket] = []
    monkeypatch.setattr("carpool._socket.time.sleep", lambda _: listeners.append(listen(Path(_socket.default_path()))))

    class Held:
        pass

    def connect() -> weakref.ref[Held]:
        held = Held()
        _socket._connect_to_any(5).close()
        return weakref.ref(held)

    gc.disable()
    try:
        reference = connect()
        assert len(listeners) == 1, "the first attempt fails"
        assert reference() is None
    finally:
        gc.enable()
        listeners[0].close()


def test_a_daemon_that_hangs_is_not_waited_for_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_socket, "START_SECONDS", 0.2)
    monkeypatch.setenv("CARPOOLD", program(tmp_path, "import signal; signal.alarm(5); signal.pause()"))
    with pytest.raises(carpool.DaemonUnreachableError, match="was not ready"):
        _socket.connect()
