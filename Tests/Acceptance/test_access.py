"""Who may use the daemon, and how it starts and ends: one daemon per socket, and an orderly drain."""

from __future__ import annotations

import json
import re
import signal
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.daemon import CARPOOLD, Daemon, environment
from harness.process import begin, running
from harness.tracing import needs_strace, traced
from harness.users import NOBODY, as_root, ask_as
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import Wire
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin


def open_modes(daemon: Daemon) -> None:
    daemon.directory.chmod(0o755)
    daemon.socket.chmod(0o666)


def test_the_socket_is_for_its_owner_alone(daemon: Daemon) -> None:
    assert stat.S_IMODE(daemon.socket.stat().st_mode) == 0o600


@as_root
def test_another_user_is_refused_by_its_credentials_whatever_the_modes(daemon: Daemon) -> None:
    open_modes(daemon)
    refused = ask_as(NOBODY, daemon.socket, "daemon.ping")
    assert (refused["id"], refused["error"]["code"]) == (None, 1005)
    assert str(NOBODY) in refused["error"]["message"] + str(refused["error"]["data"])
    assert daemon.stats()["connections"]["refused"] == 1


@as_root
@pytest.mark.parametrize(
    ("role", "allowed", "forbidden"),
    [
        (
            "observe",
            ["daemon.stats", "pool.stats"],
            ["request.perform", "session.create", "daemon.shutdown"],
        ),
        ("submit", ["daemon.stats", "request.perform"], ["daemon.shutdown", "daemon.config_reload"]),
        ("admin", ["daemon.stats", "request.perform", "daemon.config_reload"], []),
    ],
)
def test_a_listed_user_gets_its_role(
    start: StartDaemon, nginx: Nginx, role: str, allowed: list[str], forbidden: list[str]
) -> None:
    daemon = start(config={"access": {"uids": {str(NOBODY): role}}})
    assert stat.S_IMODE(daemon.socket.stat().st_mode) == 0o666, "the credentials alone decide"
    open_modes(daemon)
    params: dict[str, dict[str, Any]] = {"request.perform": {"url": f"{nginx.http}/hello.txt"}}
    params["session.create"] = {"name": "theirs"}
    for method in allowed:
        assert "result" in ask_as(NOBODY, daemon.socket, method, **params.get(method, {})), method
    for method in forbidden:
        assert ask_as(NOBODY, daemon.socket, method, **params.get(method, {}))["error"]["code"] == 1005, method


@as_root
def test_another_user_cannot_have_the_daemon_read_its_owner_s_files(
    start: StartDaemon, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    daemon = start(config={"access": {"uids": {str(NOBODY): "submit"}}})
    open_modes(daemon)
    body = {"file": str(secret)}
    refused = ask_as(NOBODY, daemon.socket, "request.perform", url=origin.url, method="POST", body=body)
    assert (refused["error"]["code"], refused["error"]["data"]["name"]) == (1302, "file.not_owner")
    params: dict[str, Any]
    for params in (
        {"trust": {"ca_file": str(secret)}},
        {"client_certificate": {"file": str(secret)}},
        {"client_certificate": {"pem": "", "key_file": str(secret)}},
        {"client_certificate": {"pem": "", "password_file": str(secret)}},
    ):
        assert ask_as(NOBODY, daemon.socket, "request.perform", url=origin.url, **params)["error"]["code"] == 1302
    assert origin.requests == []


@as_root
def test_users_do_not_see_each_other_s_requests(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start(config={"access": {"uids": {str(NOBODY): "submit"}}})
    open_modes(daemon)
    with daemon.client() as client:
        request = client.call("request.submit", url=origin.url)["request"]
        client.call("request.wait", request=request)
    for method in ("request.get", "request.cancel", "body.read"):
        assert ask_as(NOBODY, daemon.socket, method, request=request)["error"]["code"] == 1101, method
    assert ask_as(NOBODY, daemon.socket, "request.list", scope="all")["result"]["requests"] == []


def test_a_second_daemon_refuses_and_says_where_the_first_is(daemon: Daemon, start: StartDaemon) -> None:
    second = start()
    assert second.process.returncode != 0
    assert str(daemon.pid) in second.launch_status
    assert str(daemon.socket) in second.launch_status
    assert daemon.call("daemon.ping")["pong"]


def test_a_socket_that_a_killed_daemon_left_is_replaced(daemon: Daemon, start: StartDaemon) -> None:
    daemon.kill()
    assert daemon.socket.exists()
    with pytest.raises(carpool.DaemonUnreachableError):
        daemon.call("daemon.ping")
    second = start()
    assert second.launch_status == "ready"
    assert second.call("daemon.info")["server"]["pid"] == second.pid


def test_what_a_killed_daemon_left_in_the_spool_is_cleared(daemon: Daemon, start: StartDaemon, nginx: Nginx) -> None:
    daemon.call("request.perform", url=f"{nginx.http}/1m.bin", on_disconnect="detach")
    assert daemon.spooled()
    daemon.kill()
    start()
    assert daemon.spooled() == []


def test_a_file_that_is_no_socket_is_left_alone(start: StartDaemon, directory: Path) -> None:
    path = directory / "precious"
    path.write_text("data")
    daemon = start(socket=path)
    assert daemon.process.returncode != 0
    assert str(path) in daemon.launch_status
    assert path.read_text() == "data"


def test_a_path_that_is_too_long_is_named_with_its_length(start: StartDaemon, directory: Path) -> None:
    path = directory / ("x" * 110)
    daemon = start(socket=path)
    assert daemon.process.returncode != 0
    assert str(len(str(path))) in daemon.launch_status
    assert "107" in daemon.launch_status


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"limit": {}}, ["limit", "limits"]),
        ({"limits": {"message_byte": 1}}, ["message_byte", "message_bytes"]),
        ({"limits": {"message_bytes": "1"}}, ["limits.message_bytes"]),
        ({"limits": {"message_bytes": 1}}, ["limits.message_bytes"]),
        ({"log_level": "loud"}, ["log_level", "debug"]),
        ({"access": {"uids": {"root": "admin"}}}, ["root"]),
    ],
)
def test_a_wrong_configuration_is_refused_at_start(start: StartDaemon, config: dict[str, Any], told: list[str]) -> None:
    daemon = start(config=config)
    assert daemon.process.returncode != 0
    for word in [*told, "config.json"]:
        assert word in daemon.launch_status


@pytest.fixture
def manager(directory: Path) -> Iterator[socket.socket]:
    """A service manager's end of sd_notify."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.settimeout(PATIENCE_SECONDS)
        listener.bind(str(directory / "notify"))
        yield listener


def told(manager: socket.socket, word: str) -> str:
    """Wait until the daemon has notified the service manager with this word."""
    while word not in (text := manager.recv(4096).decode()):
        pass
    return text


def test_a_service_manager_is_told_of_every_step(start: StartDaemon, directory: Path, manager: socket.socket) -> None:
    daemon = start(variables={"NOTIFY_SOCKET": str(directory / "notify")})
    told(manager, "READY=1")
    daemon.signal(signal.SIGHUP)
    assert "MONOTONIC_USEC=" in told(manager, "RELOADING=1")
    told(manager, "READY=1")
    daemon.signal(signal.SIGTERM)
    told(manager, "STOPPING=1")
    assert daemon.process.wait(PATIENCE_SECONDS) == 0


def test_the_watchdog_is_fed(start: StartDaemon, directory: Path, manager: socket.socket) -> None:
    start(variables={"NOTIFY_SOCKET": str(directory / "notify"), "WATCHDOG_USEC": "200000"})
    for _ in range(3):
        told(manager, "WATCHDOG=1")


def test_a_socket_that_the_service_manager_opened_is_served(directory: Path, nginx: Nginx) -> None:
    path = directory / "activated"
    with socket.socket(socket.AF_UNIX) as listener, (directory / "log").open("wb") as log:
        listener.bind(str(path))
        listener.listen()
        # A connection from before the daemon's start is served too.
        with Wire(path) as early:
            call = early.request("request.perform", url=f"{nginx.http}/hello.txt")
            script = 'exec env LISTEN_FDS=1 LISTEN_PID=$$ "$@" 3<&"$LISTENER"'
            process = begin(
                ["bash", "-c", script, "bash", CARPOOLD],
                env={**environment(directory), "LISTENER": str(listener.fileno())},
                pass_fds=[listener.fileno()],
                stdout=log,
                stderr=log,
            )
            assert early.result(call)["outcome"]["ok"]
    process.terminate()
    assert process.wait(PATIENCE_SECONDS) == 0
    assert path.exists(), "the socket is the service manager's"


def test_sighup_reads_the_configuration_and_says_what_it_came_to(daemon: Daemon, client: carpool.Client) -> None:
    daemon.configure({"limits": {"batch": 1}})
    with pytest.raises(carpool.RPCError) as caught:
        client.call("daemon.config_reload")
    assert "limits.batch" in str(caught.value)
    assert client.call("daemon.config")["drain_ms"] == 30_000
    daemon.configure({"drain_ms": 5_000, "limits": {"host_connections": 3}})
    answer = client.call("daemon.config_reload")
    assert "drain_ms" in answer["changed"]
    assert "limits.host_connections" in answer["needs_restart"]
    assert client.call("daemon.config")["drain_ms"] == 5_000
    daemon.configure({"drain_ms": 6_000})
    daemon.signal(signal.SIGHUP)
    eventually(lambda: client.call("daemon.config")["drain_ms"] == 6_000)


def test_signals_that_the_starter_ignores_are_heard(directory: Path) -> None:
    log = directory / "log"
    path = directory / "s"
    command = ["bash", "-c", "trap '' HUP INT; exec \"$@\"", "bash", CARPOOLD, "--socket", str(path)]
    with log.open("wb") as output, running(command, env=environment(directory), stderr=output) as process:
        eventually(lambda: "serving" in log.read_text())
        process.send_signal(signal.SIGHUP)
        eventually(lambda: "configuration read" in log.read_text())
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_SECONDS) == 0


def test_sigterm_finishes_what_is_under_way_and_refuses_what_is_new(daemon: Daemon, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    with daemon.wire() as wire:
        call = wire.request("request.perform", url=f"{origin.url}/held")
        origin.received(1)
        daemon.signal(signal.SIGTERM)
        eventually(lambda: wire.call("daemon.info")["state"] == "draining")
        assert wire.answer(wire.request("request.perform", url=origin.url))["error"]["code"] == 1006
        gate.set()
        assert wire.result(call)["body"]["text"] == "released"
        assert wire.is_ended()
    assert daemon.process.wait(PATIENCE_SECONDS) == 0
    assert len(origin.requests) == 1


def test_a_second_sigterm_ends_at_once_and_tells_the_callers(daemon: Daemon, origin: ScriptedOrigin) -> None:
    origin.hold("/held")
    with daemon.wire() as wire:
        call = wire.request("request.perform", url=f"{origin.url}/held")
        origin.received(1)
        daemon.signal(signal.SIGTERM)
        eventually(lambda: wire.call("daemon.info")["state"] == "draining")
        daemon.signal(signal.SIGTERM)
        assert wire.result(call)["outcome"]["error"]["name"] == "explicitly_cancelled"
    assert daemon.process.wait(PATIENCE_SECONDS) == 0


def test_shutdown_by_a_call_answers_and_ends(daemon: Daemon) -> None:
    with daemon.wire() as wire:
        assert wire.call("daemon.shutdown")["changed"] is True
        assert wire.is_ended()
    assert daemon.process.wait(PATIENCE_SECONDS) == 0


def test_a_python_client_starts_a_daemon_that_ends_when_nobody_needs_it(
    directory: Path, monkeypatch: pytest.MonkeyPatch, nginx: Nginx
) -> None:
    for name, value in environment(directory).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("CARPOOL_SOCKET", raising=False)
    config = directory / "config" / "carpool" / "config.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"idle_exit_ms": 300}))
    with carpool.Client() as client:
        assert client.get(f"{nginx.http}/hello.txt").ok
        pid = client.call("daemon.info")["server"]["pid"]
        # Work counts, and so does a connection: it does not end under its client.
        assert client.get(f"{nginx.http}/slow/100k.bin").ok
        assert client.call("daemon.ping")["pong"]
    eventually(lambda: not Path(f"/proc/{pid}").exists())
    assert not (directory / "runtime" / "carpool" / "carpool.sock").exists()
    with carpool.Client() as client:
        pid = client.call("daemon.info")["server"]["pid"]
    eventually(lambda: not Path(f"/proc/{pid}").exists())


def test_a_daemon_that_cannot_start_is_reported_at_once(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(directory).items():
        monkeypatch.setenv(name, value)
    config = directory / "config" / "carpool" / "config.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"log_levle": "info"}')
    monkeypatch.setattr("carpool._socket.RACE_SECONDS", 0.1)
    # The daemon reports it: a client that waited for it to serve would not return before the test's deadline.
    monkeypatch.setattr("carpool._socket.START_SECONDS", 10 * PATIENCE_SECONDS)
    with pytest.raises(carpool.DaemonUnreachableError, match=r"log_levle.*log_level"), carpool.Client() as client:
        client.call("daemon.ping")


@pytest.mark.own_daemon
def test_signals_without_a_meaning_do_not_end_the_daemon(daemon: Daemon) -> None:
    numbers = [signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGIO]
    for number in [*numbers, signal.SIGPWR, signal.SIGPIPE, signal.SIGRTMIN, signal.SIGRTMAX]:
        daemon.signal(number)
        assert daemon.call("daemon.ping")["pong"]


@needs_strace
@as_root
@pytest.mark.own_daemon
def test_no_thread_takes_the_signals_of_the_loop(daemon: Daemon, origin: ScriptedOrigin, tmp_path: Path) -> None:
    """A thread that does not block SIGTERM would let it end the daemon at once, with its socket left."""
    log = tmp_path / "strace"
    with traced(daemon, log, "trace=rt_sigprocmask"), daemon.wire() as wire:
        wire.call("reachability.get", host="localhost")
        wire.call("request.perform", url="http://name.invalid/")
        for kind in ("data", "download"):
            assert wire.call("request.perform", url=origin.url, kind=kind)["outcome"]["ok"]
    masks = re.findall(r"rt_sigprocmask\(SIG_SETMASK, (~?)\[([^]]*)\]", log.read_text())
    assert masks
    assert [names for inverted, names in masks if not inverted and "TERM" not in names] == []
