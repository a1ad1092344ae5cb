"""What this process and a daemon hold, before and after a test that must leave nothing."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from origins.scripted import ScriptedOrigin

from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, eventually, join

_FIRST = "/first-of-the-balance"


def _kinds(names: Iterable[str]) -> Counter[str]:
    """Count open files by their kind, such as "socket".

    The daemon keeps one /dev/null, which replaces a closed descriptor until its number is free.
    """
    return Counter(name.partition(":[")[0] for name in names if name != "/dev/null")


def _own() -> Iterable[str]:
    for entry in list(Path("/proc/self/fd").iterdir()):
        try:
            yield str(entry.readlink())
        except FileNotFoundError:  # that of the listing
            continue


@dataclass(frozen=True)
class Holdings:
    """The open files and threads of this process, and what the daemon has of its clients."""

    files: Counter[str]
    threads: int
    files_of_the_daemon: Counter[str]
    requests: int
    clients: int

    def beyond(self, before: Holdings) -> dict[str, object]:
        """Return what there is more of than before. There may be less: what an earlier test left may end meanwhile."""
        more = {
            "files": self.files - before.files,
            "threads": max(0, self.threads - before.threads),
            "files of the daemon": self.files_of_the_daemon - before.files_of_the_daemon,
            "requests": max(0, self.requests - before.requests),
            "clients": max(0, self.clients - before.clients),
        }
        return {name: count for name, count in more.items() if count}


class Balance:
    """The holdings at the beginning of a test, to compare with those at its end: the fixture `balance`."""

    def __init__(self, daemon: Daemon, origin: ScriptedOrigin) -> None:
        self._daemon, self._origin = daemon, origin
        # Its connection is there before and after. The first request opens files that stay; its connection does not.
        self._asking = daemon.client()
        url = origin.on(_FIRST, lambda exchange: exchange.reply(headers=[("Connection", "close")]))
        assert self._asking.get(url).ok
        eventually(lambda: len(self._clients()) == 1)
        self._before = self._holdings()

    def _clients(self) -> list[object]:
        clients: list[object] = self._asking.call("client.list", limit=1000)["clients"]
        return clients

    def _holdings(self) -> Holdings:
        # Connections that are idle are no leak, but they count, also in this process, in which the origin is.
        self._origin.close_connections()
        join(self._origin._threads[1:])
        clients = len(self._clients())
        requests = len(self._asking.call("request.list", scope="all")["requests"])
        files = self._daemon.descriptors()
        return Holdings(_kinds(_own()), threading.active_count(), _kinds(files), requests, clients)

    def check(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until there is no more of anything than before; fails with what is left."""
        eventually(self._daemon.is_idle)
        left: dict[str, object] = {}

        def is_as_before() -> bool:
            nonlocal left
            left = self._holdings().beyond(self._before)
            return not left

        try:
            eventually(is_as_before, seconds)
        except AssertionError as error:
            raise AssertionError(f"left: {left}\nbefore: {self._before}") from error

    def close(self) -> None:
        self._asking.close()


def sent(origin: ScriptedOrigin) -> set[str]:
    """Return the targets that tests have requested; fails if one was requested twice."""
    counts = Counter(request.target for request in origin.requests)
    twice = [target for target, count in counts.items() if count > 1]
    assert not twice, f"sent twice: {twice}"
    return set(counts) - {_FIRST}
