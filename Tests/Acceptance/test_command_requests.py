"""`carpool ls`, `show`, `cancel`, `pause` and `resume`: what runs, when it happened, and how it is steered."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.command import OK, RPC_ERROR, USAGE, Run
from harness.daemon import CARPOOL, Daemon
from harness.process import running
from harness.screen import Screen
from harness.waiting import PATIENCE_SECONDS, eventually
from origins.scripted import Exchange, ScriptedOrigin

SNAPSHOTS = Path(__file__).parent / "snapshots"


def submit(run: Run, url: str) -> str:
    return str(json.loads(run("call", "request.submit", f"url={url}").stdout)["request"])


def finished(run: Run, name: str) -> str:
    eventually(lambda: json.loads(run("call", "request.get", f"request={name}").stdout).get("finished") is not False)
    return name


def test_ls_lists_what_runs_the_newest_first(run: Run, origin: ScriptedOrigin) -> None:
    assert run("ls").stdout.decode().split() == ["REQUEST", "STATE", "METHOD", "AGE", "CLIENT", "URL"]
    gate = origin.hold("/held")
    names = [submit(run, f"{origin.url}/held?{number}") for number in range(3)]
    done = finished(run, submit(run, origin.on("/done", lambda exchange: exchange.reply(404))))
    lines = run("ls").stdout.decode().splitlines()[1:]
    assert [line.split()[0] for line in lines] == names[::-1]
    assert [line.split()[1] for line in lines] == ["running"] * 3
    assert all(line.endswith(f"{origin.url}/held?{number}") for line, number in zip(lines, (2, 1, 0), strict=True))
    assert [json.loads(line)["request"] for line in run("ls", "--json", "--limit", "2").stdout.splitlines()] == names[
        :0:-1
    ]
    ended = run("ls", "--all").stdout.decode().splitlines()[1]
    assert ended.split()[:3] == [done, "404", "GET"]
    gate.set()


def test_ls_lists_more_than_a_page_of_the_daemon(run: Run, daemon: Daemon, origin: ScriptedOrigin) -> None:
    with daemon.wire() as wire:
        names = [
            wire.call("request.submit", url=origin.url, start="manual", on_disconnect="cancel")["request"]
            for _ in range(150)
        ]
        assert wire.call("request.list")["next"] is not None
        listed = [line.split()[0] for line in run("ls").stdout.decode().splitlines()[1:]]
    assert listed == names[::-1]


def test_requests_are_paused_resumed_and_cancelled(run: Run, daemon: Daemon, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    with running(
        [CARPOOL, "get", f"{origin.url}/held"], env=daemon.environment | {"CARPOOL_SOCKET": str(daemon.socket)}
    ):
        origin.received(1, "/held")
        name = run("ls").stdout.decode().splitlines()[1].split()[0]
        for command, first, again in (
            ("pause", "paused", "was paused already"),
            ("resume", "resumed", "was running already"),
        ):
            assert run(command, name).stdout.decode() == f"{name} {first}\n"
            assert run(command, name).stdout.decode() == f"{name} {again}\n"
        done = run("cancel", "unknown", name)
        assert (done.returncode, done.stdout.decode()) == (RPC_ERROR, f"{name} cancelled\n")
        assert b"carpool: unknown: no such request: unknown" in done.stderr
        assert b"hint: carpool ls --all lists them" in done.stderr
    gate.set()
    for command in ("cancel", "pause", "resume", "show"):
        done = run(command)
        assert done.returncode == USAGE
        assert f"{command} needs the name of a request: see carpool ls".encode() in done.stderr


def test_a_request_that_was_cancelled_is_over(run: Run, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    name = submit(run, f"{origin.url}/held")
    origin.received(1)
    assert run("cancel", name).returncode == OK
    finished(run, name)
    assert len(run("ls").stdout.splitlines()) == 1
    assert run("ls", "--all").stdout.decode().splitlines()[1].split()[:2] == [name, "cancelled"]
    gate.set()


@pytest.mark.parametrize(("limit", "shown_as"), [(1, "1 retry"), (2, "2 retries")])
def test_show_counts_retries_and_escapes_the_name_of_the_client(
    run: Run, daemon: Daemon, origin: ScriptedOrigin, limit: int, shown_as: str
) -> None:
    gate = threading.Event()

    def busy(exchange: Exchange) -> None:
        if len(origin.requests) == limit + 1:
            gate.wait(PATIENCE_SECONDS)
        exchange.reply(503)

    policy = {"retry_policy": {"limit": limit, "scale_ms": 1, "without_validation": True}}
    with daemon.wire() as wire:
        wire.call("client.hello", name="a\x1b[2Jb")
        name = wire.call("request.submit", url=origin.on("/busy", busy), interceptor=[policy])["request"]
        origin.received(limit + 1)
        shown = run("show", name).stdout.decode()
        gate.set()
    assert f", {shown_as}\n" in shown
    assert "\x1b" not in shown and "[2Jb\n" in shown


def test_a_request_that_has_ended_cannot_be_steered(run: Run, origin: ScriptedOrigin) -> None:
    names = [finished(run, submit(run, url)) for url in (two_hops(origin), "http://127.0.0.1:1/")]
    held = origin.hold("/held")
    cancelled = submit(run, f"{origin.url}/held")
    assert run("cancel", cancelled).stdout.decode() == f"{cancelled} cancelled\n"
    held.set()
    for name in [*names, cancelled]:
        for command in ("pause", "resume", "cancel"):
            assert run(command, name).stdout.decode() == f"{name} had ended already\n"


def test_show_has_what_a_running_request_has_received(run: Run, origin: ScriptedOrigin) -> None:
    def half(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\n" + b"x" * 2048)
        exchange.wait_for_peer_to_close()

    name = submit(run, origin.on("/half", half))
    eventually(lambda: b"state    running, status 200, 2.00 KiB of 4.00 KiB\n" in run("show", name).stdout)
    run("cancel", name)


def two_hops(origin: ScriptedOrigin) -> str:
    origin.on("/page", lambda exchange: exchange.reply(body=b"page"))
    return origin.on("/moved", lambda exchange: exchange.reply(302, headers=[("Location", "/page")]))


def test_show_has_a_waterfall_for_each_hop(run: Run, origin: ScriptedOrigin) -> None:
    name = finished(run, submit(run, two_hops(origin)))
    text = run("show", name).stdout.decode()
    assert text.startswith(f"{name}  GET {origin.url}/moved\nstate    200, 4 B, ")
    hops = text.split("\n\n")[1:]
    assert [hop.split(",")[0] for hop in hops] == [f"{origin.url}/moved", f"{origin.url}/page"]
    assert "new, to 127.0.0.1" in hops[0] and "reused" in hops[1]
    steps = [[line.split("|")[0].strip() for line in hop.splitlines()[1:]] for hop in hops]
    assert "connect" in steps[0] and "connect" not in steps[1]
    assert steps[0][-1] == steps[1][-1] == "transfer"
    record = json.loads(run("show", "--json", name).stdout)
    assert record["request"] == name and record["attempts"][0]["request"]["headers"]
    done = run("show", "unknown")
    assert done.returncode == RPC_ERROR
    assert b"carpool ls --all lists the requests." in done.stderr


def test_a_failure_is_explained(run: Run) -> None:
    name = finished(run, submit(run, "http://127.0.0.1:1/"))
    text = run("show", name).stdout.decode()
    assert "error    session_task_failed.cannot_connect_to_host: Failed to connect" in text
    assert "hint     check the port" in text
    assert run("ls", "--all").stdout.decode().splitlines()[1].split()[1] == "failed"


@pytest.fixture
def screen(daemon: Daemon, tmp_path: Path) -> Iterator[Screen]:
    screen = Screen(tmp_path / "tmux.sock", daemon)
    yield screen
    screen.stop()


def masked(text: str, *names: str) -> str:
    """The text without what differs from run to run, in places of the same width."""
    for name in names:
        text = text.replace(name, "N" * len(name))
    # Steps that took no time are not drawn.
    short = ("queue", "name", "connect", "send")
    text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith(short))
    text = re.sub(r"\d+(?=\.\d ms)", lambda found: "0" * len(found[0]), text)
    text = re.sub(r"\.\d ms", ".0 ms", text)
    text = re.sub(r"\|[█ ]+\|", lambda found: "|" + "█" * (len(found[0]) - 2) + "|", text)
    text = re.sub(r" +(\d+\.0 ms)", r" \1", text)
    text = re.sub(r"(\d+)(?=\.0 ms)", "0", text)
    text = re.sub(r"\b\d+ (ms|s)( +)", "AGE ", text)
    text = re.sub(r"connection \d+", "connection 1", text)
    return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text)


@pytest.mark.own_daemon  # whose first request has a name of the width in the snapshots
@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_waterfall_fits_any_width(run: Run, screen: Screen, origin: ScriptedOrigin, width: int) -> None:
    name = finished(run, submit(run, two_hops(origin)))
    text = screen.show(width, "show", name)
    assert all(len(line) <= width for line in text.splitlines())
    bars = [line for line in text.splitlines() if "█" in line]
    assert bars and {len(line) for line in bars} == {width}
    snapshot = SNAPSHOTS / f"show-{width}.txt"
    if "RECORD_SNAPSHOTS" in os.environ:
        snapshot.write_text(masked(text, name))
    assert masked(text, name) == snapshot.read_text()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_list_fits_any_width(run: Run, screen: Screen, origin: ScriptedOrigin, width: int) -> None:
    long = "/held/" + "long-" * 40

    def hold(exchange: Exchange) -> None:
        exchange.wait_for_peer_to_close()

    name = submit(run, origin.on(long, hold))
    origin.received(1, long)
    lines = screen.show(width, "ls").splitlines()
    assert len(lines[0]) <= width
    assert len(lines[1]) == width and lines[1].endswith("…")
    assert lines[1].startswith(name[: width - 1])
    assert len([line for line in lines if line.strip()]) == 2, "a line is not wrapped"
    run("cancel", name)
