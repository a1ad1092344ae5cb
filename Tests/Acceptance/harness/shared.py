"""A daemon that the tests of a module share: lent to one after the other, and looked after between two of them."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import carpool

from harness import leaks
from harness.daemon import Daemon
from harness.waiting import eventually


class SharedDaemon(Daemon):
    """A daemon for several tests. One that a test has signalled or configured is replaced after that test."""

    def __init__(self, directory: Path, config: Mapping[str, Any] | None) -> None:
        super().__init__(directory, config=config)
        self.is_spent = False
        assert self.launch_status == "ready", self.launch_status
        self._configured = self.config_file.read_bytes()
        self._kept = {*directory.iterdir(), *(directory / name for name in ("state", "cache"))}

    def signal(self, number: signal.Signals) -> None:
        self.is_spent = True
        super().signal(number)

    def kill(self) -> None:
        self.is_spent = True
        super().kill()

    def configure(self, config: Mapping[str, Any]) -> None:
        self.is_spent = True
        super().configure(config)

    def memory_kib(self, field: str = "RssAnon") -> int:
        raise AssertionError("a test of the daemon's memory has a daemon of its own: mark it own_daemon")

    def is_as_configured(self) -> bool:
        """Whether its configuration file is that with which it was started."""
        return self.config_file.is_file() and self.config_file.read_bytes() == self._configured

    def settle(self) -> None:
        """Fail if anything of the last test is left, and remove what its daemon has stored or learned for it."""
        for wire in list(self._wires):
            wire.close()
        _await_nothing("unfinished work", self.unfinished)
        with self.client() as client:
            _forget(client)
            _await_nothing("clients that have not left", lambda: client.call("client.list")["clients"][1:])
        _await_nothing("open in the daemon", self._held)
        _await_nothing("in the spool", self.spooled)
        leaks.check(self.directory)
        self._clean()

    def _held(self) -> list[str]:
        """The bodies and the descriptors of clients that are open; of a pipe of the daemon's own both ends are."""
        names = self.descriptors()
        return [
            name
            for name in names
            if name.endswith("(deleted)") or (name.startswith("pipe:") and names.count(name) == 1)
        ]

    def _clean(self) -> None:
        """Empty the log, and remove the files that the test has made; the daemon's own state stays."""
        os.truncate(self.log, 0)
        for path in set(self.directory.iterdir()) - self._kept:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def _pages(client: carpool.Client, method: str, member: str, **params: Any) -> list[dict[str, Any]]:
    """Return the entries of all pages of a list."""
    found: list[dict[str, Any]] = []
    while True:
        page = client.call(method, **params)
        found += page[member]
        if page["next"] is None:
            return found
        params["next"] = page["next"]


def _forget(client: carpool.Client) -> None:
    """Remove requests, sessions, cookies, credentials and stored responses, and close idle connections."""
    for request in _pages(client, "request.list", "requests", scope="all"):
        client.call("request.dismiss", request=request["request"])
    for session in _pages(client, "session.list", "sessions"):
        name = session["session"]
        if name == "default" or session["declared"]:
            _empty(client, name, session["configuration"])
        else:
            client.call("session.invalidate", session=name, mode="cancel", forget=True)
    client.call("cache.purge", all=True)
    client.call("pool.flush")


def _empty(client: carpool.Client, session: str, configuration: Mapping[str, Any]) -> None:
    """Remove what a session that stays has collected."""
    if "cookies" in configuration:
        client.call("cookies.remove", session=session)
    for credential in _pages(client, "credentials.list", "credentials", session=session):
        space = {name: credential[name] for name in ("host", "port", "scheme", "realm") if credential.get(name)}
        client.call("credentials.remove", session=session, **space)


def _await_nothing(what: str, look: Callable[[], object]) -> None:
    """Wait until nothing is left; fails with what is."""
    left: object = None

    def is_over() -> bool:
        nonlocal left
        left = look()
        return not left

    try:
        eventually(is_over)
    except AssertionError as error:
        raise AssertionError(f"{what}: {left}") from error


class Lender:
    """Lends a daemon to tests, and starts another when one was spent or a test has failed."""

    def __init__(self, config: Mapping[str, Any] | None) -> None:
        self._config = config
        self._daemon: SharedDaemon | None = None

    @contextlib.contextmanager
    def lend(self, has_failed: Callable[[], bool]) -> Iterator[Daemon]:
        """Lend it for one test."""
        daemon = self._daemon or self._start()
        # Until the test is over and has left nothing, the daemon is none for a next one.
        self._daemon = None
        try:
            yield daemon
        except BaseException:
            daemon.kill()
            self._end(daemon)
            raise
        if daemon.process.poll() is None and daemon.is_as_configured() and not daemon.is_spent and not has_failed():
            try:
                daemon.settle()
            except carpool.DaemonUnreachableError:
                # The test has made it end.
                self._end(daemon)
            except BaseException:
                daemon.kill()
                self._end(daemon)
                raise
            else:
                self._daemon = daemon
        else:
            self._end(daemon)

    def _start(self) -> SharedDaemon:
        return SharedDaemon(Path(tempfile.mkdtemp(prefix="carpool-")), self._config)

    def _end(self, daemon: SharedDaemon) -> None:
        try:
            daemon.stop()
            leaks.check(daemon.directory)
        finally:
            shutil.rmtree(daemon.directory)

    def close(self) -> None:
        """End the daemon; fails if it leaves anything."""
        if self._daemon is not None:
            self._end(self._daemon)
            self._daemon = None
