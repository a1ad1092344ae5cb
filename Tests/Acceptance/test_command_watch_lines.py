"""`carpool watch` without `--events`: a line for each request, when it has ended."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.command import OK, TRANSFER_FAILED, Run
from harness.daemon import Daemon
from harness.tool import Tool
from harness.waiting import eventually
from harness.wire import Wire
from origins.scripted import ScriptedOrigin

# The time, the status, the method, the duration, the size, where the response came from, and the rest.
LINE = re.compile(
    r"\d\d:\d\d:\d\d\.\d{3} (?P<status>\w+) +(?P<method>\w+) +(?P<time>[\d.]+ m?s)? +(?P<size>[\d.]+ \w+) "
    r"(?P<source>\w*) +(?P<rest>http.*)"
)


@contextmanager
def watching(daemon: Daemon, variables: dict[str, str], *arguments: str | Path) -> Iterator[Tool]:
    """Start a watcher, and wait until it has subscribed."""
    before = daemon.stats()["events"]["subscriptions"]
    with Tool(variables, "watch", *arguments) as tool:
        eventually(lambda: daemon.stats()["events"]["subscriptions"] == before + 1)
        yield tool


def parts(line: str) -> dict[str, str]:
    found = LINE.fullmatch(line)
    assert found, line
    return found.groupdict("")


def test_a_request_has_one_line(daemon: Daemon, variables: dict[str, str], run: Run, origin: ScriptedOrigin) -> None:
    origin.on("/large", lambda exchange: exchange.reply(body=b"x" * 2_048))
    origin.on("/large?2", lambda exchange: exchange.reply(body=b"x" * 2_048))
    origin.on("/missing", lambda exchange: exchange.reply(404, b"no"))
    with watching(daemon, variables, "--count", "4") as tool:
        assert run("get", f"{origin.url}/large").returncode == OK
        assert run("curl", "-s", f"{origin.url}/large?2").returncode == OK
        assert run("get", f"{origin.url}/missing").returncode == OK
        assert run("get", "http://127.0.0.1:1/").returncode == TRANSFER_FAILED
        lines = [parts(tool.line()) for _ in range(4)]
        assert tool.end() == OK
    assert [(line["status"], line["method"], line["size"], line["source"]) for line in lines] == [
        ("200", "GET", "2.00 KiB", "new"),
        ("200", "GET", "2.00 KiB", "reused"),
        ("404", "GET", "2 B", "reused"),
        ("failed", "GET", "0 B", ""),
    ]
    assert [line["rest"].split("  ")[0] for line in lines] == [
        f"{origin.url}/large",
        f"{origin.url}/large?2",
        f"{origin.url}/missing",
        "http://127.0.0.1:1/",
    ]
    assert "Failed to connect" in lines[3]["rest"]


def test_a_request_that_runs_already_has_its_url(
    daemon: Daemon, variables: dict[str, str], origin: ScriptedOrigin
) -> None:
    gate = origin.hold("/slow")
    with Tool(variables, "get", f"{origin.url}/slow") as slow:
        origin.received(1, "/slow")
        with watching(daemon, variables, "--snapshot", "--count", "1") as tool:
            running = tool.line()
            assert "running" in running
            assert running.endswith(f"{origin.url}/slow")
            gate.set()
            ended = parts(tool.line())
            assert (ended["status"], ended["rest"]) == ("200", f"{origin.url}/slow")
            assert tool.end() == OK
        assert slow.end() == OK


def test_a_cancelled_request_and_the_state_file(
    daemon: Daemon, variables: dict[str, str], run: Run, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    gate = origin.hold("/slow")
    with watching(daemon, variables, "--state", state) as tool:
        with Tool(variables, "get", f"{origin.url}/slow") as slow:
            origin.received(1, "/slow")
            assert slow.end(signal.SIGTERM) == -signal.SIGTERM
        assert parts(tool.line())["status"] == "cancelled"
        assert tool.end(signal.SIGTERM) == -signal.SIGTERM
    gate.set()
    assert run("get", origin.url).returncode == OK
    with Tool(variables, "watch", "--state", state, "--count", "1") as tool:
        ended = parts(tool.line())
        assert (ended["status"], ended["rest"]) == ("200", origin.url)
        assert tool.end() == OK


def test_a_request_from_before_the_cursor_is_looked_up(
    variables: dict[str, str], wire: Wire, origin: ScriptedOrigin
) -> None:
    gate = origin.hold("/slow")
    request = wire.call("request.submit", url=f"{origin.url}/slow", method="PUT")["request"]
    origin.received(1, "/slow")
    cursor = wire.call("events.subscribe", types=["request.did_finish"], scope="all")["cursor"]
    gate.set()
    wire.event("request.did_finish")
    with Tool(variables, "watch", "--since", cursor, "--count", "1") as tool:
        ended = parts(tool.line())
        assert (ended["method"], ended["rest"]) == ("PUT", f"{origin.url}/slow")
        assert tool.end() == OK
    wire.call("request.dismiss", request=request)
    with Tool(variables, "watch", "--since", cursor, "--count", "1") as tool:
        line = tool.line()
        assert " ? " in line and line.endswith(" ?")
        assert tool.end() == OK


def test_the_event_has_the_name_of_the_client(wire: Wire, variables: dict[str, str], origin: ScriptedOrigin) -> None:
    wire.call("events.subscribe", types=["request.did_finish"], scope="all")
    for name in ["nightly", ""]:
        with Tool(variables | ({"CARPOOL_CLIENT": name} if name else {}), "get", origin.url) as tool:
            assert tool.end() == OK
        assert wire.event("request.did_finish")["data"].get("client_name", "") == name
