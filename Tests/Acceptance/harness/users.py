"""Other users of the machine, where the tests may be them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.waiting import PATIENCE_SECONDS

NOBODY = 65534
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
