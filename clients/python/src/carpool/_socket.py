"""Finds the daemon's socket, and starts the daemon if none listens."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import stat
import struct
import time
from collections.abc import Iterator
from io import FileIO
from typing import Final

from . import _waiting
from ._exceptions import DaemonUnreachableError

# sockaddr_un.sun_path has 108 bytes, the last one a NUL.
MAX_PATH_BYTES: Final = 107
# The timeout of a start; a daemon that fails reports it within a second.
START_SECONDS: Final = 10.0
# The timeout of one connect(2), which waits only while the backlog of the daemon is full.
CONNECT_SECONDS: Final = 10
# If the started daemon ended because another one holds the lock, that one listens within this time.
RACE_SECONDS: Final = 2.0
# The maximum length of a status line: a sentence with one or two paths.
_MAX_STATUS_BYTES: Final = 16_384
# The maximum length of a name in client.hello.
_MAX_NAME_BYTES: Final = 64
# The variables that the daemon inherits: the others belong to this program, and the daemon may run for days.
_INHERITED: Final = frozenset({"HOME", "USER", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS"})
_INHERITED_PREFIXES: Final = ("XDG_", "CARPOOL_")
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


def connect(
    explicit: str | os.PathLike[str] | None = None,
    *,
    may_start: bool = True,
    patience: float = 0.0,
    max_line_bytes: int | None = None,
) -> socket.socket:
    """Return a connected socket; starts the daemon if none answers and no socket was named explicitly.

    The next daemon of a socket that was named is waited for, for `patience` seconds. `max_line_bytes` lets the daemon
    send lines up to this length. Raises DaemonUnreachableError, and ValueError if CARPOOL_CLIENT is no name.
    """
    introduction = _introduction(max_line_bytes)
    try:
        connection = _connect(explicit, may_start, patience)
    except OSError as error:
        # Such as a program that may open no more files.
        raise DaemonUnreachableError(f"cannot connect to the daemon: {error.strerror}") from error
    if introduction:
        try:
            connection.sendall(introduction)
        except OSError as error:
            connection.close()
            raise DaemonUnreachableError(f"the daemon closed the connection: {error.strerror}") from error
    return connection


def described(explicit: str | os.PathLike[str] | None, peer: object) -> str:
    """Return where the daemon listens, for people; `peer` is the address of a connection, or None."""
    if peer:
        return f"connected to {os.fsdecode(peer) if isinstance(peer, bytes) else peer}"
    if named := os.fspath(explicit) if explicit is not None else os.environ.get("CARPOOL_SOCKET"):
        return f"not connected to {os.path.abspath(named)}"  # noqa: PTH100, as below
    try:
        return f"not connected to {default_path()}"
    except DaemonUnreachableError:
        return "not connected"


def _introduction(max_line_bytes: int | None) -> bytes:
    """Return the notification with the client's name, CARPOOL_CLIENT, and its limit; empty without both."""
    name = os.environ.get("CARPOOL_CLIENT", "")
    if len(name.encode(errors="surrogateescape")) > _MAX_NAME_BYTES:
        raise ValueError(f"CARPOOL_CLIENT has more than {_MAX_NAME_BYTES} bytes; unset it, or use a shorter name")
    params = {**({"name": name} if name else {}), **({"max_line_bytes": max_line_bytes} if max_line_bytes else {})}
    if not params:
        return b""
    message = {"jsonrpc": "2.0", "method": "client.hello", "params": params}
    return json.dumps(message).encode() + b"\n"


def _connect(explicit: str | os.PathLike[str] | None, may_start: bool, patience: float) -> socket.socket:
    if named := (os.fspath(explicit) if explicit is not None else os.environ.get("CARPOOL_SOCKET")):
        path = _checked(os.path.abspath(named))  # noqa: PTH100, resolve() would follow links
        return _checked_peer(_connect_within(path, patience), path, is_named=True)
    for path in _candidates():
        with contextlib.suppress(DaemonUnreachableError):
            return _checked_peer(_connect_to(path), path)
    if not may_start:
        raise DaemonUnreachableError(f"no daemon at {default_path()}")
    return _start()


def default_path() -> str:
    """Return the default path of the socket, by the same rules as the daemon."""
    runtime = _variable("XDG_RUNTIME_DIR")
    if runtime and _mode_if_ours(runtime) == stat.S_IRWXU:
        return f"{runtime}/carpool/carpool.sock"
    if _mode_if_ours(f"/run/user/{os.geteuid()}") is not None:
        return f"/run/user/{os.geteuid()}/carpool/carpool.sock"
    path = f"{_state_directory()}/run/carpool.sock"
    if len(os.fsencode(path)) <= MAX_PATH_BYTES:
        return path
    # Here as below without pathlib, whose import takes a tenth of that of the package.
    if os.path.exists(_last_resort()) and _mode_if_ours(_last_resort()) is None:  # noqa: PTH110
        raise DaemonUnreachableError(f"{_last_resort()} belongs to another user; name a socket with CARPOOL_SOCKET")
    return f"{_last_resort()}/carpool.sock"


def _state_directory() -> str:
    if state := _variable("XDG_STATE_HOME"):
        return f"{state}/carpool"
    if home := _variable("HOME"):
        return f"{home}/.local/state/carpool"
    return _last_resort()


def _last_resort() -> str:
    return f"/tmp/carpool-{os.geteuid()}"  # noqa: S108, the daemon refuses it if it belongs to another user


def _variable(name: str) -> str | None:
    """Return an absolute path from the environment; the XDG specification requires to ignore others."""
    value = os.environ.get(name, "")
    return value if value.startswith("/") else None


def _mode_if_ours(directory: str) -> int | None:
    """Return the permission bits of a directory of this user; None if it is something else."""
    try:
        found = os.lstat(directory)
    except OSError:
        return None
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return stat.S_IMODE(found.st_mode) if is_ours else None


def _checked(path: str) -> str:
    if (length := len(os.fsencode(path))) > MAX_PATH_BYTES:
        raise DaemonUnreachableError(
            f"the socket path {path} has {length} bytes, at most {MAX_PATH_BYTES} fit; set CARPOOL_SOCKET to another"
        )
    return path


def _candidates() -> Iterator[str]:
    """Yield the default path, then the one in the lock of a running daemon, whose environment may differ."""
    default = default_path()
    yield default
    with (
        contextlib.suppress(OSError, UnicodeDecodeError),
        open(f"{_state_directory()}/carpoold.lock", encoding="utf-8") as lock,  # noqa: PTH123, as above
    ):
        for line in lock.read().splitlines():
            if line.startswith("/") and line != default and len(os.fsencode(line)) <= MAX_PATH_BYTES:
                yield line


def _connect_to(path: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # A daemon that is stopped does not accept, and when its backlog is full connect() waits.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", CONNECT_SECONDS, 0))
    try:
        connection.connect(path)
    except OSError as error:
        connection.close()
        reason = "it does not accept connections" if isinstance(error, BlockingIOError) else error.strerror
        raise DaemonUnreachableError(f"cannot connect to {path}: {reason}; is carpoold running?") from error
    return connection


def _connect_within(path: str, patience: float) -> socket.socket:
    """Connect to a named socket, or to the next daemon that listens there."""
    if patience <= 0 and _waiting.lock_is_held(path):
        patience = _waiting.SILENCE_SECONDS
    end, pause = time.monotonic() + patience, _waiting.FIRST_PAUSE
    while True:
        try:
            return _connect_to(path)
        except DaemonUnreachableError:
            if time.monotonic() + pause > end:
                raise
        time.sleep(pause)
        pause = _waiting.longer(pause)


def _checked_peer(connection: socket.socket, path: str, *, is_named: bool = False) -> socket.socket:
    """Refuse a listener of another user, before anything is sent.

    Without a runtime directory the path may lie where others can write. Behind a socket that the user names there may
    also be a service's own user, if no other user can replace the socket.
    """
    size = struct.calcsize("iII")
    _, uid, _ = struct.unpack("iII", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    if uid in (0, os.geteuid()) or (is_named and _is_controlled_by(os.path.dirname(path), uid)):  # noqa: PTH120
        return connection
    connection.close()
    advice = (
        "its directory must be one that only this user and root can write"
        if is_named
        else "if you trust it, set CARPOOL_SOCKET to this path"
    )
    raise DaemonUnreachableError(
        f"the daemon at {path} belongs to uid {uid}, and this program to uid {os.geteuid()}: {advice}"
    )


def _is_controlled_by(directory: str, uid: int) -> bool:
    """Whether only this user and root can replace the files of a directory."""
    try:
        found = os.stat(directory)  # noqa: PTH116
    except OSError:
        return False
    return found.st_uid in (0, uid) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _connect_to_any(seconds: float) -> socket.socket:
    deadline = time.monotonic() + seconds
    failure: DaemonUnreachableError | None = None
    try:
        while True:
            for path in _candidates():
                try:
                    return _checked_peer(_connect_to(path), path)
                except DaemonUnreachableError as error:
                    failure = error
            if failure is not None and time.monotonic() > deadline:
                raise failure
            time.sleep(0.01)
    finally:
        # Its traceback has this frame: the cycle would keep what the callers hold, such as the seat of a thread.
        del failure


def _start() -> socket.socket:
    """Start carpoold and connect to it, or to the running one because of which it ended."""
    import shutil  # noqa: PLC0415, it brings three compressors along, and this happens once in a daemon's life

    program = os.environ.get("CARPOOLD") or shutil.which("carpoold")
    if program is None:
        raise DaemonUnreachableError(
            f"no daemon at {default_path()}, and no carpoold on PATH to start; set CARPOOLD to its path"
        )
    reader, writer = os.pipe()
    with open(reader, "rb", buffering=0) as status:  # noqa: PTH123, a descriptor
        try:
            _spawn(program, writer)
        finally:
            os.close(writer)
        answer = _launch_status(status)
    try:
        return _connect_to_any(RACE_SECONDS)
    except DaemonUnreachableError as error:
        if answer == b"ready":
            raise
        reason = answer.decode(errors="replace") or f"it wrote no message; see {_state_directory()}/carpoold.log"
        raise DaemonUnreachableError(f"{program} could not start: {reason}") from error


def _spawn(program: str, status: int) -> None:
    """Start the program in the background; it writes one line with the result to `status`.

    A shell starts it and ends: a child of this process would stay a zombie if it ended first.
    """
    from pathlib import Path  # noqa: PLC0415, few programs start the daemon

    if not os.access(program, os.X_OK):
        reason = "Permission denied" if Path(program).exists() else "No such file or directory"
        raise DaemonUnreachableError(f"cannot start {program}: {reason}")
    log = Path(_state_directory(), "carpoold.log")
    inherited = {
        name: value for name, value in os.environ.items() if name in _INHERITED or name.startswith(_INHERITED_PREFIXES)
    }
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
        (os.POSIX_SPAWN_DUP2, status, 3),
    ]
    try:
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shell = os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", '"$0" &', program],
            {**inherited, "PATH": _PATH, "CARPOOL_STATUS_FD": "3"},
            file_actions=actions,
            setsid=True,  # the daemon outlives this terminal
            # The daemon does not inherit ignored signals: Python itself ignores two of these.
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP, signal.SIGTERM],
            setsigmask=[],
        )
    except OSError as error:
        raise DaemonUnreachableError(f"cannot start {program}: {error.strerror}") from error
    with contextlib.suppress(ChildProcessError):  # another thread waits for all children, or SIGCHLD is ignored
        os.waitpid(shell, 0)


def _launch_status(status: FileIO) -> bytes:
    """Return the daemon's status line: "ready", or why it cannot start; empty if it ended without one."""
    line = b""
    deadline = time.monotonic() + START_SECONDS
    waiting = select.poll()
    waiting.register(status, select.POLLIN)
    while (left := deadline - time.monotonic()) > 0 and len(line) < _MAX_STATUS_BYTES:
        if waiting.poll(left * 1000):
            piece = status.read(_MAX_STATUS_BYTES)
            line += piece
            if not piece or line.endswith(b"\n"):
                return line.strip()
    raise DaemonUnreachableError(f"carpoold was not ready within {START_SECONDS:.0f} seconds")
