"""A client in a sandbox: a program that confines itself, connects, and passes lines on in both directions.

The sandboxes are named after what they take away. "late" confines itself after it has connected; "left" connects and
ends, and a child of it continues with the socket.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

KINDS = ("chroot", "mounts", "network", "users", "groups", "capabilities", "late", "left")
GROUP = 47_110
_CLONE = {"mounts": 0x00020000, "network": 0x40000000, "users": 0x10000000, "late": 0x00020000}
_PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE = 4, 24, 1


class Sandboxed:
    """A connection of such a client."""

    def __init__(self, kind: str, path: Path, user: int | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, kind, str(path), *([] if user is None else [str(user)])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._number = 0

    def __enter__(self) -> Sandboxed:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Return the next message of the daemon; fails if none comes in time."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the connection ended"
        message: dict[str, Any] = json.loads(line)
        return message

    def answer(self, method: str, /, **params: Any) -> dict[str, Any]:
        """Make a call and return its whole answer; messages before it are skipped."""
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while (message := self.receive()).get("id") != self._number:
            pass
        return message

    def refusal(self, method: str, /, **params: Any) -> str:
        """Return the name of a call's error; empty if it has none."""
        error = self.answer(method, **params).get("error", {"data": {"name": ""}})
        return str(error["data"]["name"])


def _check(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), what)


def _shut_in(kind: str, path: str) -> str:
    """Drop a right, and return the path of the socket afterwards."""
    libc = ctypes.CDLL(None, use_errno=True)
    if kind == "chroot":
        os.chroot(str(Path(path).parent))
        os.chdir("/")
        return f"/{Path(path).name}"
    if kind == "groups":
        os.setgroups([*os.getgroups(), GROUP])
    elif kind == "capabilities":
        # An executed program has only the capabilities of the bounding set, from which this one is removed.
        _check(libc.prctl(_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, 0, 0, 0), "prctl")
        os.execv(sys.executable, [sys.executable, __file__, "none", path])
    elif kind in _CLONE:
        _check(libc.unshare(_CLONE[kind]), "unshare")
    return path


def _pass_on(connection: socket.socket) -> None:
    while True:
        for ready in select.select([0, connection.fileno()], [], [])[0]:
            data = os.read(ready, 65_536)
            if not data:
                return
            if ready == 0:
                connection.sendall(data)
            else:
                os.write(1, data)


def _leave() -> None:
    """Continue as a child of the process that connected, once that has ended."""
    connected = os.getpid()
    if os.fork():
        os._exit(0)
    while os.getppid() == connected:
        os.sched_yield()


def _become(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    # A process that has changed its user is not dumpable, so that user's other processes cannot inspect it until it is.
    _check(ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "prctl")


def main(kind: str, path: str, user: str = "") -> None:
    """Be the program."""
    if user:
        _become(int(user))
    if kind not in ("late", "left"):
        path = _shut_in(kind, path)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    if kind == "late":
        _shut_in(kind, path)
    elif kind == "left":
        _leave()
    _pass_on(connection)


if __name__ == "__main__":
    main(*sys.argv[1:])
