"""Instructions that callgrind counts of one build: of its daemon, its command and its Python client."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from bench import Bench
from daemon import Daemon
from origin import BODY
from programs import Programs
from pythonloop import environment, interpreter

WHAT: Final = {
    "http": "a bare request: daemon",
    "get_daemon": "Client.get: daemon",
    "adapter_daemon": "requests with CarpoolAdapter: daemon",
    "event": "an event for one subscriber: daemon",
    "command": "carpool get: command",
    "curl": "carpool curl: command",
    "get_client": "Client.get: Python",
    "adapter_client": "requests with CarpoolAdapter: Python",
}
"""What is counted, by its name in instructions.json."""
START_S: Final = 300
WARM: Final = 40
# The instructions of a window are divided by its repetitions, and the least of all windows counts.
WINDOWS, REPETITIONS = 10, 16
# The session has no cache, and an older daemon may know none.
SESSION: Final = "bare"
# What a request that is suspended and resumed has: two events and two notifications of each.
EVENTS: Final = 8

PYTHON: Final = """
import gc, os, sys
os.environ["CARPOOL_SOCKET"] = {socket!r}
import carpool, requests
from carpool.requests import CarpoolAdapter
client = carpool.Client({socket!r}, session="bare")
session = requests.Session()
session.trust_env = False
session.mount("http://", CarpoolAdapter())
def get(): return len(client.get({url!r}).content)
def adapter(): return len(session.get({url!r}).content)
gc.freeze()
print("ready", flush=True)
for line in sys.stdin:
    name, count = line.split()
    once = globals()[name]
    for _ in range(int(count)): size = once()
    gc.collect()
    print(size, flush=True)
"""


class Build:
    """Copies of the programs of a build and of its Python client.

    The names of their places are as long for each build: a longer path costs instructions.
    """

    def __init__(self, bench: Bench, name: str, programs: Programs) -> None:
        """Copy them to a folder of this name, which has one letter."""
        self.name = name
        self.bench = bench
        folder = bench.scratch / f"build-{name}"
        folder.mkdir()
        self.daemon = without_debug_information(programs.daemon, folder)
        self.command = without_debug_information(programs.command, folder)
        self.sources = folder / "src"
        shutil.copytree(programs.sources, self.sources, ignore=shutil.ignore_patterns("__pycache__"))

    def python_environment(self) -> dict[str, str]:
        """Return the environment of a Python program that uses this client, the same in each run."""
        bytecode = str(self.bench.scratch / f"bytecode-{self.name}")
        own = {"PYTHONPATH": str(self.sources), "PYTHONPYCACHEPREFIX": bytecode, "PYTHONHASHSEED": "0"}
        return environment(self.bench) | own


def without_debug_information(program: Path, folder: Path) -> Path:
    """Return a copy that every valgrind can read: 3.19 refuses some of the DWARF that Swift 6 writes."""
    copy = folder / program.name
    subprocess.run(["objcopy", "--strip-debug", str(program), str(copy)], check=True)
    return copy


# Tables of Swift have the same order in each process. The daemon would execute itself without this variable, unless the
# other one says that it has.
SAME: Final = ("sh", "-c", 'SWIFT_DETERMINISTIC_HASHING=1 CARPOOL_EXECUTED=$$ exec "$@"', "sh")


def callgrind(directory: Path, *more: str) -> tuple[str, ...]:
    """Return the beginning of a command that callgrind counts. A process that executes itself again is counted too."""
    return ("valgrind", "--tool=callgrind", *more, "--trace-children=yes", f"--callgrind-out-file={directory}/out")


def count_daemon(build: Build, directory: Path) -> dict[str, float]:
    """Count what requests and events cost the daemon."""
    bench = build.bench
    limits = {"journal_linger_ms": 0}
    prefix = (*SAME, *callgrind(directory, "--instr-atstart=no"))
    daemon = Daemon(
        directory, prefix, program=build.daemon, patience_s=START_S, configuration={"cache": None, "limits": limits}
    )
    try:
        daemon.call("session.create", name=SESSION, configuration={})
        window = Window(daemon.pid, directory)
        params = {"url": bench.origin.http, "session": SESSION}
        found = {"http": window.least(lambda times: daemon.call_in_turn("request.perform", params, times))}
        with _python(build, daemon) as ask:
            found["get_daemon"] = window.least(partial(ask, "get"))
            found["adapter_daemon"] = window.least(partial(ask, "adapter"))
        with _held(daemon) as suspend_and_resume:
            without = window.least(suspend_and_resume)
            with _subscriber(daemon):
                found["event"] = (window.least(suspend_and_resume) - without) / EVENTS
        return found
    finally:
        daemon.stop()


def count_client(build: Build, directory: Path) -> dict[str, float]:
    """Count what requests cost a Python program."""
    daemon = Daemon(directory, program=build.daemon, configuration={"cache": None})
    try:
        daemon.call("session.create", name=SESSION, configuration={})
        # At the same addresses in each run: objects are sorted by theirs in places.
        prefix = ("setarch", "-R", *callgrind(directory, "--instr-atstart=no"))
        with _python(build, daemon, prefix) as ask:
            window = Window(ask.pid, directory)
            return {f"{name}_client": window.least(partial(ask, name)) for name in ("get", "adapter")}
    finally:
        daemon.stop()


def count_command(build: Build, directory: Path) -> dict[str, float]:
    """Count what `carpool get` and `carpool curl` execute from start to exit, with a daemon that runs already."""
    daemon = Daemon(directory, program=build.daemon)
    variables = {**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket_path)}
    found: dict[str, float] = {}
    try:
        for name, arguments in {"command": ("get",), "curl": ("curl", "-s")}.items():
            command = [str(build.command), *arguments, build.bench.origin.http]
            subprocess.run(command, check=True, env=variables, stdout=subprocess.DEVNULL)
            counted = [*SAME, *callgrind(directory), *command]
            subprocess.run(counted, check=True, env=variables, capture_output=True, timeout=START_S)
            found[name] = total(directory / "out")
        return found
    finally:
        daemon.stop()


class Window:
    """Counts a process for a part of its time."""

    def __init__(self, pid: int, directory: Path) -> None:
        self._pid = pid
        self._directory = directory
        self._control("--instr=on")

    def least(self, repeat: Callable[[int], object]) -> float:
        """Return the fewest instructions of one repetition in several windows."""
        repeat(WARM)
        self._dump()
        counts = []
        for _ in range(WINDOWS):
            repeat(REPETITIONS)
            counts.append(self._dump())
        return min(counts) / REPETITIONS

    def _dump(self) -> int:
        """Return the instructions since the last dump; callgrind begins to count at zero after each."""
        before = set(self._directory.glob("out*"))
        self._control("--dump")
        (made,) = set(self._directory.glob("out*")) - before
        return total(made)

    def _control(self, what: str) -> None:
        command = ["callgrind_control", what, str(self._pid)]
        subprocess.run(command, check=True, capture_output=True, timeout=START_S)


class Asking:
    """A running Python program: a call repeats the work of a name."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.pid = process.pid
        self._process = process

    def __call__(self, name: str, times: int) -> None:
        """Repeat it; each time it receives a whole body."""
        if self._process.stdin is None:
            raise OSError("the program has no pipe")
        self._process.stdin.write(f"{name} {times}\n")
        self._process.stdin.flush()
        self.expect(str(len(BODY)))

    def expect(self, answer: str) -> None:
        """Wait for a line of the program."""
        line = "" if self._process.stdout is None else self._process.stdout.readline()
        if line != f"{answer}\n":
            raise OSError(f"the program has printed {line!r}, expected {answer}")


@contextmanager
def _python(build: Build, daemon: Daemon, prefix: tuple[str, ...] = ()) -> Iterator[Asking]:
    code = PYTHON.format(socket=str(daemon.socket_path), url=build.bench.origin.http)
    with subprocess.Popen(
        [*prefix, interpreter(), "-c", code],
        env=build.python_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if prefix else None,
        text=True,
    ) as process:
        try:
            asking = Asking(process)
            # callgrind_control says nothing about a process that valgrind has not begun yet.
            asking.expect("ready")
            yield asking
        finally:
            process.communicate(timeout=START_S)


@contextmanager
def _held(daemon: Daemon) -> Iterator[Callable[[int], None]]:
    """Return a function that suspends and resumes a request, whose server does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as server, daemon.connection() as call:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        request = call("request.submit", {"url": url, "session": SESSION, "timeout_ms": 1_000 * START_S * 10})[
            "request"
        ]
        received, _ = server.accept()
        with received:
            received.recv(1)

            def suspend_and_resume(times: int) -> None:
                for _ in range(times):
                    call("request.suspend", {"request": request})
                    call("request.resume", {"request": request})

            yield suspend_and_resume
            call("request.cancel", {"request": request})


@contextmanager
def _subscriber(daemon: Daemon) -> Iterator[None]:
    """Follow all events on a connection that a thread reads."""
    with socket.socket(socket.AF_UNIX) as wire:
        wire.connect(str(daemon.socket_path))
        params = {"types": ["*", "notification.*"], "scope": "all"}
        wire.sendall(
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "events.subscribe", "params": params}).encode() + b"\n"
        )
        with wire.makefile("rb") as lines:
            lines.readline()
            reader = threading.Thread(target=lambda: [None for _ in lines], daemon=True)
            reader.start()
            yield
            wire.shutdown(socket.SHUT_RDWR)
            reader.join(START_S)


def total(made: Path) -> int:
    """Return the instructions that a file of callgrind has."""
    found = re.search(r"^(?:totals|summary): (\d+)", made.read_text(), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{made}: no totals")
    return int(found[1])
