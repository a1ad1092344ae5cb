"""The time of a process, to the microsecond.

subprocess.run with a timeout waits for the end by sleeping, up to 50 ms at a time: what it measures lies on steps of
1, 3, 7, 15, 31, 63, 113 ms and so on. A pidfd becomes readable at the end itself.
"""

from __future__ import annotations

import os
import select
import subprocess
import time

LIMIT_S = 300.0


def seconds(command: list[str], env: dict[str, str], limit_s: float = LIMIT_S) -> float:
    """Return the seconds from the start to the end of `command`; its output is dropped.

    Raises CalledProcessError if it fails, and TimeoutExpired, after ending it, if it takes longer than `limit_s`.
    """
    began = time.perf_counter()
    with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL) as process:
        pidfd = os.pidfd_open(process.pid)
        try:
            poll = select.poll()
            poll.register(pidfd, select.POLLIN)
            ended = poll.poll(limit_s * 1_000)
            took = time.perf_counter() - began
        finally:
            os.close(pidfd)
        if not ended:
            process.kill()
            raise subprocess.TimeoutExpired(command, limit_s)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return took
