"""A daemon without free file descriptors says so, reports it as its own failure, and recovers."""

from __future__ import annotations

import contextlib
import errno
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.command import runner
from harness.daemon import CARPOOLD, Daemon
from harness.waiting import SLOWNESS, eventually
from harness.wire import RemoteError, Wire
from harness.workload import CALL_SECONDS, KINDS, Workload
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin

pytestmark = pytest.mark.own_daemon

UNAVAILABLE = "resource_unavailable"
HEALING_SECONDS = 10 * SLOWNESS


@contextlib.contextmanager
def without_descriptors(daemon: Daemon) -> Iterator[None]:
    """Leave the daemon no free descriptor while the body runs."""
    folder = Path(f"/proc/{daemon.pid}/fd")
    with daemon.wire() as watch:
        open_before = open_connections(watch)
        former = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
        watch.call("daemon.ping")
        most = max(int(entry.name) for entry in folder.iterdir()) + 1
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (most, former[1]))
        with contextlib.ExitStack() as stack:
            stack.callback(resource.prlimit, daemon.pid, resource.RLIMIT_NOFILE, former)
            # Connections take the numbers below the limit that are free, one after the other: none waits behind them.
            while len(list(folder.iterdir())) < most:
                stack.enter_context(daemon.wire()).call("daemon.ping")
                # What had ended before is closed by now, and its number is free.
                watch.call("daemon.ping")
            yield
        # Their numbers would be free again in the middle of the next shortage.
        eventually(lambda: open_connections(watch) <= open_before)


def open_connections(wire: Wire) -> int:
    return int(wire.call("daemon.stats")["connections"]["open"])


def failure(make: Callable[[], Any]) -> str:
    """Return the name with which a request fails, which may be tried again; "ok" if it succeeds."""
    try:
        record = make()
    except RemoteError as error:
        assert error.error["data"]["retryable"] is True, error
        return error.name
    if record["outcome"]["ok"]:
        return "ok"
    failure = record["outcome"]["error"]
    assert failure["retryable"] is True, failure
    return str(failure["name"]).rpartition(".")[2]


def warnings(daemon: Daemon) -> list[str]:
    return [line for line in daemon.log.read_text().splitlines() if "short of a resource" in line]


def warning(daemon: Daemon) -> str:
    """Return the one line about the shortage; a thread writes the log."""
    (line,) = eventually(lambda: warnings(daemon))
    return line


def test_the_first_path_of_a_daemon_without_descriptors_is_no_fault_of_the_client(
    start: StartDaemon, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    """What the daemon is cannot be read then; it is read again by the next call."""
    daemon = start(config={"access": {"sandboxed_network": False}, "cache": "no_store"})
    sent = tmp_path / "sent"
    sent.write_bytes(b"x" * 10_000)
    with daemon.wire() as wire:

        def upload() -> Any:
            return wire.call("request.perform", url=origin.url, method="POST", body={"file": str(sent)})

        def get() -> Any:
            return wire.call("request.perform", url=origin.url)

        wire.call("daemon.ping")
        with without_descriptors(daemon):
            assert failure(upload) == UNAVAILABLE
            assert failure(get) == UNAVAILABLE
        assert failure(upload) == "ok"
        assert failure(get) == "ok"
    assert "RLIMIT_NOFILE" in warning(daemon)


@pytest.mark.parametrize("kind", [*KINDS, "passed"])
def test_what_needs_a_descriptor_fails_for_the_shortage_and_works_after_it(
    start: StartDaemon, origin: ScriptedOrigin, nginx: Nginx, authority: Authority, tmp_path: Path, kind: str
) -> None:
    daemon = start(config={"cache": "no_store"})
    workload = Workload(daemon, origin, nginx, authority, tmp_path)
    with daemon.wire(timeout=CALL_SECONDS) as wire:

        def perform() -> Any:
            if kind != "passed":
                return wire.call("request.perform", **workload.parameters(kind))
            with (tmp_path / "sent").open("rb") as body:
                given = {"url": origin.url, "method": "POST", "body": {"fd": 0}}
                return wire.result(wire.request_with([body.fileno()], "request.perform", **given))

        wire.call("daemon.ping")
        with without_descriptors(daemon):
            assert failure(perform) == UNAVAILABLE
        eventually(lambda: failure(perform) == "ok", HEALING_SECONDS)
    assert warning(daemon)


def test_what_is_no_request_fails_for_the_shortage_too(start: StartDaemon, origin: ScriptedOrigin) -> None:
    """A raw stream, a session with a file of cookies, the reachability of a name."""
    daemon = start()
    with daemon.wire() as wire:
        stream = {"host": "127.0.0.1", "port": origin.port, "tls": False}
        configuration = {"cookies": {"persistent": True}}
        wire.call("daemon.ping")
        with without_descriptors(daemon):
            refused = wire.answer(wire.request("stream.open", stream))["error"]
            assert refused["data"]["error"] == f"session_task_failed.{UNAVAILABLE}", refused
            assert (refused["data"]["retryable"], refused["data"]["errno"]) == (True, errno.EMFILE)
            refused = wire.answer(wire.request("session.create", name="kept", configuration=configuration))["error"]
            assert (refused["data"]["name"], refused["data"]["errno"]) == (UNAVAILABLE, errno.EMFILE), refused
            host = wire.call("reachability.get", host="localhost")["host"]
            assert (host["dns"]["error"], host["status"]) == (UNAVAILABLE, "unknown")
        assert wire.call("stream.open", **stream)["stream"]
        assert wire.call("session.create", name="kept", configuration=configuration)["changed"]
        assert wire.call("reachability.get", host="localhost")["host"]["addresses"]
    assert warning(daemon)


def test_a_watched_name_is_looked_up_again_soon_after_a_shortage(start: StartDaemon) -> None:
    daemon = start()
    with daemon.wire(timeout=HEALING_SECONDS) as wire:
        wire.call("daemon.ping")
        with without_descriptors(daemon):
            assert wire.call("reachability.watch", hosts=["localhost"])["hosts"][0]["addresses"] == []
        changed = wire.receive()["params"]
        assert changed["type"] == "reachability.changed", changed
        assert changed["data"]["hosts"][0]["addresses"]


def first_answer(wire: Wire) -> Any:
    wire.request("daemon.ping")
    return wire.receive()


def test_a_client_that_cannot_be_accepted_is_refused_with_the_reason(start: StartDaemon) -> None:
    """It waits until a descriptor is free; after four seconds it is refused by a spare one."""
    daemon = start()
    for _ in range(2):
        with without_descriptors(daemon), contextlib.ExitStack() as stack:
            while "error" not in (refusal := first_answer(stack.enter_context(daemon.wire()))):
                # A descriptor was free again, such as that of a file which a thread had still to close.
                pass
            assert refusal["id"] is None
            assert refusal["error"]["data"]["name"] == UNAVAILABLE
            assert "file descriptor" in refusal["error"]["message"]
    assert daemon.call("daemon.ping") is not None
    assert warning(daemon)


def test_the_command_ends_with_the_reason_when_the_daemon_has_no_descriptor(start: StartDaemon, tmp_path: Path) -> None:
    daemon = start()
    run = runner({**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket)}, tmp_path)
    with without_descriptors(daemon):
        result = run("call", "daemon.ping")
    assert result.returncode != 0
    assert b"no free file descriptor" in result.stderr


def test_limits_fit_the_number_of_files_that_may_be_open(
    start_by: Callable[[str], Daemon], origin: ScriptedOrigin
) -> None:
    """With 64, clients and origins have eight descriptors each, and the ninth client is refused by a limit."""
    daemon = start_by(f'ulimit -n 64\nexec {CARPOOLD} "$@"')
    limits = daemon.call("daemon.config")["limits"]
    costly = ["connections", "total_connections", "paused_transfers", "raw_streams"]
    assert [limits[name] for name in costly] == [8] * 4
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(daemon.wire()) for _ in range(7)]
        for wire in wires:
            assert wire.call("request.perform", url=origin.url)["outcome"]["ok"]
        refusals = [stack.enter_context(daemon.wire()).receive() for _ in range(20)]
    assert {refusal["error"]["data"]["name"] for refusal in refusals} == {"too_many_in_flight"}
    assert {refusal["error"]["data"]["limit_name"] for refusal in refusals} <= {
        "connections_per_client", "connections_per_user", "connections",
    }  # fmt: skip
    assert warnings(daemon) == []
    eventually(lambda: is_accepted(daemon))


def is_accepted(daemon: Daemon) -> bool:
    """Whether the daemon has noticed that enough of the others have left."""
    try:
        return daemon.call("daemon.ping") is not None
    except carpool.AccessError:
        return False
