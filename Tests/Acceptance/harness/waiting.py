"""Waiting for what another process does, where it cannot tell us."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Generous: it is reached only by a test that fails, on a machine whose two cores may both be busy.
PATIENCE_SECONDS = 20.0


def eventually(look: Callable[[], T], seconds: float = PATIENCE_SECONDS) -> T:
    """Return the first true value of `look`; fails when there is none in time. Prefer to wait for an event."""
    deadline = time.monotonic() + seconds
    never = threading.Event()
    while not (found := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} seconds: {found!r}")
        never.wait(0.005)
    return found
