"""Calls as other users of the machine, where the tests may become them."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.waiting import PATIENCE_SECONDS
from harness.wire import Wire

NOBODY = 65534
# setresgid and setresuid, in the order in which rights are dropped.
_SET_IDS = (119, 117) if os.uname().machine == "x86_64" else (149, 147)
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")


def ask_as(uid: int, path: Path, method: str, /, **params: Any) -> dict[str, Any]:
    """Make a call as another user, with nothing but nc."""
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    done = subprocess.run(
        [shutil.which("nc") or "nc", "-N", "-U", str(path)],
        input=message + "\n",
        user=uid,
        group=uid,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.stdout, f"no answer: {done.stderr}"
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[0])
    return answer


def wire_as(uid: int, path: Path) -> Wire:
    """Connect as another user. Only this thread changes, and only while it connects: the kernel records its user."""
    libc = ctypes.CDLL(None, use_errno=True)

    def become(user: int) -> None:
        # The C library's functions would change every thread of the process.
        for number in _SET_IDS:
            if libc.syscall(number, -1, user, -1) != 0:
                raise OSError(ctypes.get_errno(), "setresuid")

    become(uid)
    try:
        return Wire(path)
    finally:
        for number in reversed(_SET_IDS):
            libc.syscall(number, -1, 0, -1)
