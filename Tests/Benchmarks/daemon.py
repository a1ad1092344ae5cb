"""A carpoold of its own for a benchmark: own socket, own directories, ended with the benchmark."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from programs import CARPOOLD


def environment(directory: Path) -> dict[str, str]:
    """Return an environment in which the daemon and its clients meet in `directory` and nowhere else."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("XDG_", "CARPOOL", "SSL_CERT_")) and not name.endswith("_CA_BUNDLE")
    }
    home = {f"XDG_{kind}_HOME": str(directory / kind.lower()) for kind in ("CONFIG", "STATE", "CACHE")}
    runtime = directory / "runtime"
    runtime.mkdir(parents=True, exist_ok=True)
    runtime.chmod(0o700)
    return kept | home | {"XDG_RUNTIME_DIR": str(runtime)}


DEFAULTS: dict[str, Any] = {"cache": "no_store"}
"""What every configuration of a benchmark has unless it says otherwise: each request reaches the origin."""


class Daemon:
    """A running carpoold."""

    def __init__(
        self,
        directory: Path,
        prefix: tuple[str, ...] = (),
        *,
        program: Path = CARPOOLD,
        patience_s: float = 10,
        configuration: dict[str, Any] | None = None,
    ) -> None:
        """Start the daemon on a socket in `directory` and wait until it answers."""
        directory.mkdir(parents=True, exist_ok=True)
        settings = {**DEFAULTS, **(configuration or {})}
        folder = directory / "config/carpool"
        folder.mkdir(parents=True, exist_ok=True)
        # None leaves a member out: an older daemon refuses what it does not know.
        content = {name: value for name, value in settings.items() if value is not None}
        (folder / "config.json").write_text(json.dumps(content))
        self.directory = directory
        self.socket_path = directory / "s"
        self.environment = environment(directory)
        self.log = (directory / "log").open("wb")
        began = time.monotonic()
        self.process = subprocess.Popen(
            [*prefix, str(program), "--socket", str(self.socket_path)],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
        )
        self._wait_for_socket(deadline=began + patience_s)
        self.started_s = time.monotonic() - began
        """The time from the start to the first answer."""

    @property
    def pid(self) -> int:
        """The process id: `ip netns exec` and the like replace themselves by the daemon."""
        return self.process.pid

    def _wait_for_socket(self, deadline: float) -> None:
        while True:
            try:
                self.call("daemon.ping")
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.001)
            else:
                return

    def call(self, method: str, /, **params: Any) -> Any:
        """Make one call on a connection of its own and return its result."""
        return self.call_all(method, [params])[0]

    def call_all(self, method: str, calls: list[dict[str, Any]]) -> list[Any]:
        """Make calls at once on a connection of their own and return their results."""
        lines = [
            json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"
            for number, params in enumerate(calls)
        ]
        results: list[Any] = [None] * len(calls)
        with socket.socket(socket.AF_UNIX) as wire:
            wire.settimeout(120)
            wire.connect(str(self.socket_path))
            wire.sendall(b"".join(lines))
            with wire.makefile("rb") as stream:
                for _ in calls:
                    answer = json.loads(stream.readline())
                    if "error" in answer:
                        raise RuntimeError(f"{method}: {answer['error']}")
                    results[answer["id"]] = answer["result"]
        return results

    @contextmanager
    def connection(self) -> Iterator[Callable[[str, dict[str, Any]], Any]]:
        """Return a function that makes calls on one connection, each after the answer of the previous one."""
        with socket.socket(socket.AF_UNIX) as wire:
            wire.settimeout(120)
            wire.connect(str(self.socket_path))
            with wire.makefile("rb") as stream:

                def call(method: str, params: dict[str, Any]) -> Any:
                    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
                    wire.sendall(line.encode() + b"\n")
                    answer = json.loads(stream.readline())
                    if "error" in answer:
                        raise RuntimeError(f"{method}: {answer['error']}")
                    return answer["result"]

                yield call

    def call_in_turn(self, method: str, params: dict[str, Any], count: int) -> None:
        """Repeat a request on one connection, each after the response of the previous one."""
        with self.connection() as call:
            for _ in range(count):
                result = call(method, params)
                if result.get("response", {}).get("status") != 200:
                    raise RuntimeError(f"{method}: {result}")

    def status(self, field: str) -> int:
        """Read a number from the process's status: memory in kB, or a count."""
        return status(self.pid, field)

    def cpu_seconds(self) -> float:
        """Return the CPU time that it has used, in user and system mode."""
        # The number of a process's CPU clock, as clock_getcpuclockid(3) makes it on Linux.
        return time.clock_gettime((~self.pid << 3) | 2)

    def begin_peak(self) -> int:
        """Reset the peak of the memory, and return the current memory in kB."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")
        return self.status("VmRSS")

    def peak(self) -> int:
        """Return the peak of the memory since then, in kB."""
        return self.status("VmHWM")

    def voluntary_switches(self) -> int:
        """Count how often any of its threads has gone to sleep, that is, the wake-ups."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(_number((task / "status").read_text(), "voluntary_ctxt_switches") for task in tasks)

    def stop(self) -> None:
        """End the daemon."""
        self.process.terminate()
        self.process.wait(timeout=30)
        self.log.close()


def status(pid: int, field: str) -> int:
    """Read a number from the status of process `pid`."""
    return _number(Path(f"/proc/{pid}/status").read_text(), field)


def _number(text: str, field: str) -> int:
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith(field + ":"))
