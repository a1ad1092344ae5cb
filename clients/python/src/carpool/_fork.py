"""What os.fork() changes: a child shares the descriptors of its parent's connections, and must not use them."""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet

from ._exceptions import ForkedError


class Forkable(Protocol):
    """Holds connections; `abandon` releases them in a child."""

    def abandon(self) -> None:
        """Close this process's descriptors of the connections, without a word to the daemon."""


_holders: WeakSet[Forkable] = WeakSet()
_generation = 0


def add(holder: Forkable) -> None:
    """Call `abandon` of this object in each child."""
    _holders.add(holder)


def generation() -> int:
    """Return a number that differs between a process and its children."""
    return _generation


def check(made_in: int, what: str) -> None:
    """Raise ForkedError if `what` was made in the parent, whose generation was `made_in`."""
    if made_in != _generation:
        raise ForkedError(f"{what} belongs to the parent process; make a new one after os.fork()")


def _in_child() -> None:
    global _generation  # noqa: PLW0603, the number of this process
    _generation += 1
    for holder in list(_holders):
        holder.abandon()


os.register_at_fork(after_in_child=_in_child)
