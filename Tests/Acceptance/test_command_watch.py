"""`carpool watch`: events on lines, resumed where it stopped, across restarts of the daemon and its own."""

from __future__ import annotations

import array
import fcntl
import json
import signal
import subprocess
import termios
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.command import OK, RPC_ERROR, TIMED_OUT, UNREACHABLE, USAGE, Run
from harness.daemon import CARPOOL, Daemon
from harness.process import running
from harness.tool import Tool
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import Wire
from origins.scripted import ScriptedOrigin

FINISH = "request.did_finish"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def watching(variables: dict[str, str], *arguments: str | Path) -> Tool:
    """Start a watcher, and wait until it watches: its first line is the snapshot."""
    tool = Tool(variables, "watch", "--events", "--snapshot", *arguments)
    first = tool.next()
    assert (first["type"], first["data"]["requests"]) == ("snapshot", [])
    return tool


def test_lines_are_what_comes_over_the_socket(
    variables: dict[str, str], run: Run, wire: Wire, origin: ScriptedOrigin
) -> None:
    with watching(variables) as tool:
        wire.call("events.subscribe", scope="all")
        assert run("get", origin.url).returncode == OK
        expected: list[dict[str, Any]] = []
        while not expected or expected[-1]["type"] != FINISH:
            expected.append(wire.receive()["params"])
        # The connections of the command change: they make no requests, and all receive the same events.
        lines = [tool.next() for _ in expected]
        assert [line | {"sub": ""} for line in lines] == [event | {"sub": ""} for event in expected]
        assert list(lines[0]) == list(expected[0])


@pytest.mark.parametrize(
    ("scope", "expected"), [("all", ["carpool", "python"]), ("mine", ["carpool"]), ("session:other", ["other"])]
)
def test_scopes(
    daemon: Daemon, variables: dict[str, str], run: Run, origin: ScriptedOrigin, scope: str, expected: list[str]
) -> None:
    daemon.call("session.create", name="other", configuration={})
    with watching(variables, "--scope", scope, "--count", str(len(expected)), FINISH) as tool:
        names = {}
        carpool = run("get", "-v", origin.url).stderr.decode()
        names[carpool.split("request ")[1].split(",")[0]] = "carpool"
        names[daemon.call("request.perform", url=origin.url)["request"]] = "python"
        names[daemon.call("request.perform", url=origin.url, session="other")["request"]] = "other"
        assert tool.end() == OK
        assert [names[line["request"]] for line in tool.rest()] == expected


def test_it_ends_after_so_many_events_or_so_long(run: Run) -> None:
    assert run("watch", "--timeout", "0.05").returncode == OK
    assert run("watch", "--timeout", "0.05", "--count", "1").returncode == TIMED_OUT
    assert run("watch", "--count", "0").returncode == USAGE
    assert run("watch", "--scope", "everybody").returncode == USAGE
    assert run("watch", "--since", "k3f9.1", "--state", "file").returncode == USAGE


def test_a_cursor_that_is_none_is_refused(run: Run) -> None:
    done = run("watch", "--since", "nonsense")
    assert done.returncode == RPC_ERROR
    assert b"cursor" in done.stderr


def test_it_goes_on_from_its_state(
    daemon: Daemon, variables: dict[str, str], origin: ScriptedOrigin, state: Path
) -> None:
    made = []
    with watching(variables, "--state", state, FINISH) as tool:
        made.append(daemon.call("request.perform", url=origin.url)["request"])
        assert tool.next()["request"] == made[0]
        assert tool.end(signal.SIGTERM) == -signal.SIGTERM
        assert tool.told == ""
    made += [daemon.call("request.perform", url=origin.url)["request"] for _ in range(3)]
    with Tool(variables, "watch", "--state", state, "--count", "2", FINISH) as tool:
        assert tool.end() == OK
        assert [line["request"] for line in tool.rest()] == made[1:3]
    with Tool(variables, "watch", "--state", state, "--count", "1", FINISH) as tool:
        assert tool.next()["request"] == made[3]
        assert tool.end() == OK
    # The watcher has written its cursor to the file, and no other file.
    assert [path.name for path in state.parent.iterdir()] == [state.name]


def test_it_begins_behind_a_cursor(run: Run, wire: Wire, origin: ScriptedOrigin) -> None:
    cursor = wire.call("events.subscribe", types=[FINISH])["cursor"]
    made = [wire.call("request.perform", url=origin.url)["request"] for _ in range(2)]
    done = run("watch", "--since", cursor, "--count", "2", FINISH)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["request"] for line in lines] == made
    done = run("watch", "--since", lines[0]["cursor"], "--count", "1", FINISH)
    assert json.loads(done.stdout)["request"] == made[1]


def test_a_killed_watcher_misses_nothing(
    daemon: Daemon, variables: dict[str, str], origin: ScriptedOrigin, state: Path
) -> None:
    with watching(variables, "--state", state, FINISH) as tool:
        eventually(state.exists)
        made = [daemon.call("request.perform", url=origin.url)["request"] for _ in range(3)]
        assert tool.next()["request"] == made[0]
        assert tool.end(signal.SIGKILL) == -signal.SIGKILL
    with Tool(variables, "watch", "--state", state, "--count", "1", FINISH) as tool:
        # The saved cursor is a second old at most: some events may be repeated, none is left out.
        assert tool.next()["request"] in made


def test_a_daemon_that_was_killed_is_waited_for(
    start: StartDaemon, daemon: Daemon, variables: dict[str, str], origin: ScriptedOrigin, state: Path
) -> None:
    with watching(variables, "--state", state, FINISH) as tool:
        daemon.call("request.perform", url=origin.url)
        last = tool.next()["cursor"]
        daemon.kill()
        tool.until_told("waiting for it")
        successor = start()
        gap, snapshot = tool.next(), tool.next()
        assert (gap["type"], gap["data"]) == ("gap", {"since": last})
        assert (snapshot["type"], snapshot["data"]["requests"]) == ("snapshot", [])
        assert gap["cursor"].split(".")[0] != last.split(".")[0]
        tool.until_told("events were lost")
        name = successor.call("request.perform", url=origin.url)["request"]
        assert tool.next()["request"] == name
        assert tool.end(signal.SIGINT) == -signal.SIGINT
    assert state.read_text().split(".")[0] == gap["cursor"].split(".")[0]


def test_a_connection_that_was_lost_is_made_again_without_a_gap(
    daemon: Daemon, variables: dict[str, str], origin: ScriptedOrigin
) -> None:
    with Tool(variables, "watch", "--snapshot", FINISH) as tool:
        assert tool.next()["type"] == "snapshot"
        with daemon.client() as client:
            (other,) = [one for one in client.call("client.list")["clients"] if one["name"] == "carpool"]
            client.call("client.disconnect", client=other["client"])
            name = client.call("request.perform", url=origin.url)["request"]
        lines = [tool.next()]
        while lines[-1]["type"] != FINISH:
            lines.append(tool.next())
        assert [line["type"] for line in lines if line["type"] not in {"subscription.closed", "snapshot"}] == [FINISH]
        assert lines[-1]["request"] == name


def test_no_daemon_is_started_at_a_socket_that_was_named(run: Run, daemon: Daemon) -> None:
    daemon.terminate()
    done = run("watch")
    assert done.returncode == UNREACHABLE
    assert b"no daemon listens there" in done.stderr


def test_a_reader_that_leaves_ends_it_before_the_next_event(daemon: Daemon, variables: dict[str, str]) -> None:
    script = f"'{CARPOOL}' watch --events --snapshot | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script],
        env=variables,
        capture_output=True,
        check=False,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    snapshot, code = done.stdout.splitlines()
    assert '"snapshot"' in snapshot
    assert (int(code), done.stderr) == (128 + signal.SIGPIPE, "")
    eventually(lambda: daemon.stats()["events"]["subscriptions"] == 0)


def test_a_reader_that_does_not_read_is_told_of_what_it_has_lost(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start(config={"limits": {"unread_event_bytes": 65_536}})
    variables = {**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket)}
    command = [CARPOOL, "watch", "--events", "--snapshot"]
    with running(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with daemon.client() as client:
            while daemon.stats()["events"]["dropped"] == 0:
                for _ in range(20):
                    client.get(f"{origin.url}/{'x' * 4_000}")
        lines = (json.loads(line) for line in process.stdout)
        assert next(line for line in lines if line["type"] == "lagged")["data"]["dropped"] > 0
        process.terminate()
        assert process.wait(PATIENCE_SECONDS) == -signal.SIGTERM


def test_a_reader_that_does_not_read_keeps_no_signal_waiting(
    daemon: Daemon, variables: dict[str, str], origin: ScriptedOrigin
) -> None:
    with running([CARPOOL, "watch", "--events", "--snapshot"], env=variables, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pipe = process.stdout.fileno()
        process.stdout.readline()
        with daemon.client() as client:
            for _ in range(20):
                client.get(f"{origin.url}/{'x' * 4_000}")
        # The events of 20 requests are more than a pipe holds, whose pages need not be full.
        held = array.array("i", [0])
        eventually(lambda: not fcntl.ioctl(pipe, termios.FIONREAD, held) and held[0] > 30_000)
        process.terminate()
        assert process.wait(PATIENCE_SECONDS) == -signal.SIGTERM


def test_signals_end_it_while_the_daemon_hangs_and_those_ignored_do_not(
    daemon: Daemon, variables: dict[str, str], origin: ScriptedOrigin
) -> None:
    with Tool(variables, "watch", "--snapshot", FINISH, shell='trap \'\' HUP; exec "$0" "$@"') as tool:
        tool.next()
        tool.process.send_signal(signal.SIGHUP)
        daemon.call("request.perform", url=origin.url)
        assert tool.next()["type"] == FINISH
        daemon.signal(signal.SIGSTOP)
        try:
            with Tool(variables, "watch") as other:
                assert other.end(signal.SIGINT) == -signal.SIGINT
            assert tool.end(signal.SIGINT) == -signal.SIGINT
        finally:
            daemon.signal(signal.SIGCONT)


def test_lines_for_people(daemon: Daemon, variables: dict[str, str], origin: ScriptedOrigin) -> None:
    with Tool(variables, "watch", "--snapshot", "--pretty", FINISH) as tool:
        assert tool.line().split()[:2] == ["snapshot", "requests=0"]
        name = daemon.call("request.perform", url=origin.url)["request"]
        time, request, kind, *rest = tool.line().split()
        assert (len(time), request, kind) == (len("10:00:00.123"), name, FINISH)
        assert {"finished", "ok=true", "status=200"} <= set(rest)
        daemon.call("request.perform", url="http://127.0.0.1:1/")
        line = tool.line()
        assert "session_task_failed.cannot_connect_to_host: " in line
        assert "\x1b" not in line
