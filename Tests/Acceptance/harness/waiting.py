"""Polling for what another process does, where no event reports it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection
from typing import TypeVar

T = TypeVar("T")

SLOWNESS = float(os.environ.get("CARPOOL_TEST_SLOWNESS", "1"))
"""A factor for builds that check themselves and for machines that are busy."""

# Generous: it is reached only by a test that fails, on a machine whose two cores may both be busy.
PATIENCE_SECONDS = 20.0 * SLOWNESS


def eventually(look: Callable[[], T], seconds: float = PATIENCE_SECONDS) -> T:
    """Return the first true value of `look`; fails if there is none in time. Prefer to wait for an event."""
    deadline = time.monotonic() + seconds
    never = threading.Event()
    while not (found := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} seconds: {found!r}")
        never.wait(0.005)
    return found


def join(threads: Collection[threading.Thread]) -> None:
    """Wait until the threads, which are daemon threads, have ended; fails if one has not in time."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    left = [thread.name for thread in threads if thread.is_alive()]
    assert not left, f"still running: {left}"
