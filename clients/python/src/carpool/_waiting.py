"""How long a call waits for a daemon that is silent.

A call with a time-out waits silently for as long; others, and those with one of more than an hour, wait for
`SILENCE_SECONDS`. Then the client sends `daemon.ping` on the same connection. If the daemon answers, the call
continues: the daemon ends it, by the time-outs of the request. If nothing comes for `PING_SECONDS`, the call fails.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from ._exceptions import CarpoolError, DaemonUnreachableError, RequestTimeoutError

SILENCE_SECONDS: Final = 30.0
PING_SECONDS: Final = 5.0
# How long the next request of an adapter waits for the end of the previous one; then it uses another connection.
SETTLE_SECONDS: Final = 1.0
# A longer time-out stands for none.
_LONGEST_SECONDS: Final = 3600.0
# The pauses between attempts to reach the next daemon, in seconds.
FIRST_PAUSE: Final = 0.01
LONGEST_PAUSE: Final = 0.25

_TIMEOUTS: Final = ("timeout_ms", "resource_timeout_ms")
_REQUESTS: Final = frozenset({"request.perform", "request.submit"})


def silence(params: Mapping[str, Any]) -> float:
    """Return the seconds of silence after which the daemon is asked whether it runs."""
    given = [params[name] for name in _TIMEOUTS if isinstance(params.get(name), (int, float))]
    seconds = min(given) / 1000 if given else SILENCE_SECONDS
    return seconds if seconds <= _LONGEST_SECONDS else SILENCE_SECONDS


def unanswered(method: str, params: Mapping[str, Any]) -> CarpoolError:
    """Return the exception of a call that a silent daemon has not answered."""
    message = f"the daemon has answered neither {method} nor daemon.ping: it is stopped, or its machine is overloaded"
    if method in _REQUESTS and any(name in params for name in _TIMEOUTS):
        return RequestTimeoutError("session_task_failed.timed_out", message, {})
    return DaemonUnreachableError(message)


def silent() -> CarpoolError:
    """Return the exception for a silent daemon whose events or callbacks are waited for."""
    return DaemonUnreachableError(
        "the daemon has not answered daemon.ping: it is stopped, or its machine is overloaded"
    )


def longer(pause: float) -> float:
    """Return the pause after this one, which is longer."""
    return min(2 * pause, LONGEST_PAUSE)


def lock_is_held(path: str) -> bool:
    """Whether the lock of a socket names a running process: a daemon that starts or ends."""
    try:
        with open(f"{path}.lock", encoding="utf-8", errors="replace") as file:  # noqa: PTH123, without pathlib
            pid = file.readline().strip()
    except OSError:
        return False
    return pid.isdigit() and os.path.exists(f"/proc/{pid}")  # noqa: PTH110, as above
