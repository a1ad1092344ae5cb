"""The command `carpool`, run as a program of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from harness.daemon import CARPOOL
from harness.waiting import PATIENCE_SECONDS

Done = subprocess.CompletedProcess[bytes]
Run = Callable[..., Done]

# The exit codes of the command (docs/cli).
OK, RPC_ERROR, USAGE, UNREACHABLE, TIMED_OUT, HTTP_FAILURE, TRANSFER_FAILED = 0, 1, 2, 3, 4, 5, 7


def runner(variables: Mapping[str, str], directory: Path) -> Run:
    """Return a function that runs the command there, waits for its end and returns its output."""

    def call(*arguments: str | Path, stdin: bytes | IO[bytes] = b"", umask: int = -1) -> Done:
        given: dict[str, Any] = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
        return subprocess.run(
            [CARPOOL, *map(str, arguments)],
            env=dict(variables),
            cwd=directory,
            umask=umask,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
            **given,
        )

    return call
