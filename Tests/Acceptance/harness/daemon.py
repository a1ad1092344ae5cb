"""carpoold under test: its own directories, its own socket, and a check of what it leaves behind."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket as socket_module
import subprocess
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import carpool

from harness.process import await_end, begin
from harness.waiting import PATIENCE_SECONDS, SLOWNESS, eventually
from harness.wire import LINES, Wire

ROOT = Path(__file__).resolve().parents[3]
CARPOOLD = os.environ.get("CARPOOLD", str(ROOT / ".build/release/carpoold"))
END_SECONDS = min(10 * SLOWNESS, 25)
"""Less than the 30 seconds for which a drain waits for requests."""
IS_CHECKED = "CARPOOL_CHECKED" in os.environ
CARPOOL = os.environ.get("CARPOOL_CLI", str(ROOT / ".build/release/carpool"))


def environment(directory: Path) -> dict[str, str]:
    """Return an environment whose every Carpool directory lies in `directory`, on the libcurl that is to be tested."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "CARPOOL", "LISTEN_"))}
    homes = {f"XDG_{kind}_HOME": str(directory / kind.lower()) for kind in ("CONFIG", "STATE", "CACHE", "DATA")}
    runtime = directory / "runtime"
    runtime.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept |= homes | {"XDG_RUNTIME_DIR": str(runtime), "HOME": str(directory), "CARPOOLD": CARPOOLD}
    if libcurl := os.environ.get("CARPOOL_LIBCURL_DIR"):
        kept["LD_LIBRARY_PATH"] = libcurl
    return kept


class Daemon:
    """A carpoold that serves. `config` is its configuration file's content; root may start one for another user."""

    def __init__(
        self,
        directory: Path,
        arguments: Sequence[str] = (),
        *,
        config: Mapping[str, Any] | None = None,
        variables: Mapping[str, str] | None = None,
        socket: Path | None = None,
        user: int | None = None,
    ) -> None:
        self.directory = directory
        self.socket = socket or directory / "s"
        self._entrance = self.socket
        self._door: subprocess.Popen[bytes] | None = None
        # A failed test leaves its own open; the garbage collector would report them in a later test.
        self._wires: weakref.WeakSet[Wire] = weakref.WeakSet()
        self.environment = environment(directory)
        self.arguments = ["--socket", str(self.socket), *arguments]
        # A test may have written a file, or a daemon of the same directory may have left one.
        if config is not None or not os.path.lexists(self.config_file):
            self.configure(config or {})
        self.log = directory / "log"
        self._user = user
        if user is not None:
            for path in (directory, directory / "runtime"):
                os.chown(path, user, user)
        self._start(variables or {})

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def config_file(self) -> Path:
        return self.directory / "config" / "carpool" / "config.json"

    def configure(self, config: Mapping[str, Any]) -> None:
        """Write the configuration file; a running daemon reads it at the next reload."""
        self.config_file.parent.mkdir(parents=True, exist_ok=True)
        self.config_file.write_text(json.dumps(config))

    def _start(self, variables: Mapping[str, str]) -> None:
        reader, writer = os.pipe()
        with self.log.open("ab") as log, os.fdopen(reader, "rb") as status:
            try:
                self.process = begin(
                    [CARPOOLD, *self.arguments],
                    env={**self.environment, "CARPOOL_STATUS_FD": str(writer), **variables},
                    pass_fds=[writer],
                    user=self._user,
                    group=self._user,
                    extra_groups=None if self._user is None else [],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            finally:
                os.close(writer)
            if not select.select([status], [], [], PATIENCE_SECONDS)[0]:
                self.kill()
                raise AssertionError("carpoold printed nothing")
            self.launch_status = status.readline().decode().strip()
        if self.launch_status != "ready":
            await_end(self.process, PATIENCE_SECONDS)

    def enter(self) -> None:
        """Let clients connect from the daemon's own network: it opens no paths for clients of another one."""
        self._entrance = self.directory / "door"
        door = ["socat", f"UNIX-LISTEN:{self._entrance},fork,mode=600", f"UNIX-CONNECT:{self.socket}"]
        self._door = begin(["nsenter", f"--net=/proc/{self.pid}/ns/net", *door])
        eventually(self._is_open)

    def _is_open(self) -> bool:
        # The file exists before the daemon listens on it.
        with socket_module.socket(socket_module.AF_UNIX) as probe:
            return probe.connect_ex(str(self._entrance)) == 0

    def client(self, **arguments: Any) -> carpool.Client:
        return carpool.Client(self._entrance, **arguments)

    def wire(self, framing: str = LINES, timeout: float = PATIENCE_SECONDS) -> Wire:
        wire = Wire(self._entrance, framing, timeout)
        self._wires.add(wire)
        return wire

    def call(self, method: str, **params: Any) -> Any:
        """Make one call on a connection of its own."""
        with self.client() as client:
            return client.call(method, **params)

    def stats(self) -> dict[str, Any]:
        stats: dict[str, Any] = self.call("daemon.stats")
        return stats

    def descriptors(self) -> list[str]:
        """The daemon's open descriptors, by the kernel's names."""
        names = []
        for entry in Path(f"/proc/{self.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                names.append(str(entry.readlink()))
        return names

    def memory_kib(self, field: str = "RssAnon") -> int:
        """Its anonymous resident memory; 0 for a build that checks its memory, which keeps what was freed."""
        if IS_CHECKED:
            return 0
        status = Path(f"/proc/{self.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(f"{field}:"))

    def spooled(self) -> list[Path]:
        """The bodies in the spool."""
        return [path for path in (self.directory / "cache").rglob("r_*") if path.is_file()]

    def unfinished(self) -> dict[str, int]:
        """The unfinished work of the daemon, by its own tables; empty when there is none."""
        stats = self.stats()
        counts = {
            "requests": stats["requests"]["active"],
            "tasks": stats["requests"]["tasks"],
            "transfers": stats["transfers"]["active"] + stats["transfers"]["queued"],
            "callbacks": stats["callbacks"]["waiting"],
            "of sessions": sum(session["active"] for session in self.call("session.list")["sessions"]),
        }
        return {name: count for name, count in counts.items() if count}

    def is_idle(self) -> bool:
        return not self.unfinished()

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def sleeps_ms(self) -> int:
        """Return the timeout with which the loop waits for events; 0 if it does not wait."""
        number, *arguments = Path(f"/proc/{self.pid}/syscall").read_text().split()
        # epoll_wait and epoll_pwait of x86-64, and epoll_pwait of other machines. Without a timeout it is 2^32 - 1.
        return int(arguments[3], 16) & 0xFFFF_FFFF if number in {"232", "281", "22"} else 0

    def stop_between_turns(self) -> None:
        """Stop the process (SIGSTOP) while the loop waits for events: a turn would be as long as the stop."""

        def is_stopped() -> bool:
            return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"

        def stops_outside() -> bool:
            self.signal(signal.SIGSTOP)
            eventually(is_stopped)
            if self.sleeps_ms() > 0:
                return True
            self.signal(signal.SIGCONT)
            return False

        eventually(stops_outside)

    def terminate(self) -> None:
        """End the daemon as a service manager does, and check what it leaves."""
        self.signal(signal.SIGTERM)
        began = time.monotonic()
        code = await_end(self.process, PATIENCE_SECONDS)
        assert code == 0, f"exit code {code}:\n{self.log.read_text()}"
        assert time.monotonic() - began < END_SECONDS, "SIGTERM took too long"
        assert not self.socket.exists()
        assert self.spooled() == []

    def stop(self) -> None:
        """End the daemon, unless the test did; fails if anything of a request outlived its test."""
        if self.process.poll() is not None:
            return self._close()
        try:
            try:
                eventually(self.is_idle)
            except AssertionError as error:
                raise AssertionError(f"unfinished work: {self.unfinished()}") from error
            except carpool.DaemonUnreachableError:
                # The test has made it end, and it is about to.
                assert await_end(self.process, PATIENCE_SECONDS) == 0
            else:
                self.terminate()
        finally:
            self._close()
            if self.process.poll() is None:
                self.kill()

    def _close(self) -> None:
        for wire in list(self._wires):
            wire.close()
        if self._door is not None:
            self._door.kill()
            self._door.wait(PATIENCE_SECONDS)

    def kill(self) -> None:
        self.process.kill()
        await_end(self.process, PATIENCE_SECONDS)
