"""Where the daemon listens, and how it is started when it does not."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ._exceptions import DaemonUnreachableError

# sockaddr_un.sun_path has 108 bytes, the last one a NUL.
MAX_PATH_BYTES: Final = 107
# A daemon that has not said that it is ready by then hangs; one that failed tells within a second.
START_SECONDS: Final = 10.0
# When our daemon ended because another one holds the lock, that one listens within this time.
RACE_SECONDS: Final = 2.0


def connect(explicit: str | os.PathLike[str] | None = None) -> socket.socket:
    """Give a connected socket; starts the daemon if none answers and no socket was named explicitly.

    Raises DaemonUnreachableError.
    """
    if named := (os.fspath(explicit) if explicit is not None else os.environ.get("CARPOOL_SOCKET")):
        return _connect_to(_checked(named))
    for path in _candidates():
        with contextlib.suppress(DaemonUnreachableError):
            return _connect_to(path)
    return _start()


def default_path() -> str:
    """Give the socket's path when none is named, by the same rule as the daemon's."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and _is_private(Path(runtime)):
        return f"{runtime}/carpool/carpool.sock"
    if _is_private(Path(f"/run/user/{os.getuid()}")):
        return f"/run/user/{os.getuid()}/carpool/carpool.sock"
    path = f"{_state_directory()}/run/carpool.sock"
    if len(os.fsencode(path)) <= MAX_PATH_BYTES:
        return path
    directory = Path(f"/tmp/carpool-{os.getuid()}")  # noqa: S108, refused below if it is not ours
    if directory.exists() and not _is_private(directory):
        raise DaemonUnreachableError(f"{directory} is not ours alone; name a socket with CARPOOL_SOCKET")
    return f"{directory}/carpool.sock"


def _state_directory() -> str:
    if state := os.environ.get("XDG_STATE_HOME"):
        return f"{state}/carpool"
    if home := os.environ.get("HOME"):
        return f"{home}/.local/state/carpool"
    return f"/tmp/carpool-{os.getuid()}"  # noqa: S108, the daemon makes it 0700


def _is_private(directory: Path) -> bool:
    try:
        found = directory.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) == stat.S_IRWXU


def _checked(path: str) -> str:
    if (length := len(os.fsencode(path))) > MAX_PATH_BYTES:
        raise DaemonUnreachableError(
            f"the socket path {path} has {length} bytes, at most {MAX_PATH_BYTES} fit; name another with CARPOOL_SOCKET"
        )
    return path


def _candidates() -> Iterator[str]:
    """Give the default path, then the one in the lock of a running daemon, whose environment may be another."""
    default = default_path()
    yield default
    with contextlib.suppress(OSError, UnicodeDecodeError):
        for line in Path(f"{_state_directory()}/carpoold.lock").read_text().splitlines():
            if line.startswith("/") and line != default and len(os.fsencode(line)) <= MAX_PATH_BYTES:
                yield line


def _connect_to(path: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError as error:
        connection.close()
        raise DaemonUnreachableError(f"cannot connect to {path}: {error.strerror}; is carpoold running?") from error
    return connection


def _connect_to_any(seconds: float) -> socket.socket:
    deadline = time.monotonic() + seconds
    while True:
        for path in _candidates():
            try:
                return _connect_to(path)
            except DaemonUnreachableError as error:
                failure = error
        if time.monotonic() > deadline:
            raise failure
        time.sleep(0.01)


def _start() -> socket.socket:
    """Start carpoold and connect to it, or to the one because of which it ended."""
    program = os.environ.get("CARPOOLD") or shutil.which("carpoold")
    if program is None:
        raise DaemonUnreachableError(f"no daemon at {default_path()}, and no carpoold on PATH or in CARPOOLD to start")
    log = Path(_state_directory(), "carpoold.log")
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
        ready.bind(f"{directory}/ready")
        logged = log.stat().st_size if log.exists() else 0
        process = _spawn(program, log, f"{directory}/ready")
        is_ready = _wait(process, ready)
        try:
            return _connect_to_any(RACE_SECONDS)
        except DaemonUnreachableError:
            if is_ready:
                raise
        with log.open("rb") as lines:
            lines.seek(logged)
            told = lines.read().decode(errors="replace").strip()
        raise DaemonUnreachableError(f"{program} ended at once: {told or 'it said nothing'} (log: {log})")


def _spawn(program: str, log: Path, notify: str) -> int:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("LISTEN_", "WATCHDOG_"))}
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
    ]
    try:
        return os.posix_spawn(
            program,
            [program],
            {**inherited, "NOTIFY_SOCKET": notify},
            file_actions=actions,
            setsid=True,  # the daemon outlives our terminal
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],  # Python ignores these, and a child inherits that
        )
    except OSError as error:
        raise DaemonUnreachableError(f"cannot start {program}: {error.strerror}") from error


def _wait(process: int, ready: socket.socket) -> bool:
    """Whether the daemon said that it is ready; False when it ended instead."""
    ended = os.pidfd_open(process)
    try:
        waiting = select.poll()
        waiting.register(ended, select.POLLIN)
        waiting.register(ready, select.POLLIN)
        deadline = time.monotonic() + START_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            for fd, _ in waiting.poll(left * 1000):
                if fd == ready.fileno() and b"READY=1" in ready.recv(4096).split(b"\n"):
                    return True
                if fd == ended:
                    os.waitpid(process, 0)
                    return False
        raise DaemonUnreachableError(f"carpoold (pid {process}) was not ready after {START_SECONDS:.0f} seconds")
    finally:
        os.close(ended)
