"""The progress that a terminal sees: of downloads, of bodies that go into a pipe, and of uploads, at any width."""

from __future__ import annotations

import os
import re
import shlex
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness.daemon import CARPOOL, Daemon
from harness.screen import Screen
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import Exchange, Handler, ScriptedOrigin

SNAPSHOTS = Path(__file__).parent / "snapshots"
WIDTHS = [40, 80, 200]


@pytest.fixture
def screen(daemon: Daemon, tmp_path: Path) -> Iterator[Screen]:
    screen = Screen(tmp_path / "tmux.sock", daemon)
    yield screen
    screen.stop()


@pytest.fixture
def gate(origin: ScriptedOrigin) -> Iterator[threading.Event]:
    """Lets the other half of `/half` come."""
    gate = origin.hold("/never")
    origin.on("/half", half_until(gate))
    yield gate
    gate.set()


def half_until(gate: threading.Event) -> Handler:
    """Sends a half, and the other one when the gate opens."""

    def half(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n")
        # A report is due a tenth of a second after the last one, when more arrives.
        for _ in range(20):
            exchange.send(bytes(1_000))
            time.sleep(0.03)
        gate.wait(PATIENCE_SECONDS)
        exchange.send(bytes(20_000))

    return half


def command(*words: str) -> str:
    return shlex.join([CARPOOL, *words])


def masked(text: str) -> str:
    """The text without what differs from run to run."""
    text = re.sub(r"\[[# ]+\]", "[BAR]", re.sub(r"[\d.]+", "N", text))
    return re.sub(r"N (B|KiB|MiB)", "N B", text).strip() + "\n"


def last(text: str) -> str:
    """The last line: a terminal that gets narrower may wrap what was drawn before."""
    return text.rstrip().rpartition("\n")[2]


def has_bar(text: str) -> bool:
    return "% [" in last(text)


def has_no_bar(text: str) -> bool:
    return "%" in last(text) and "[" not in last(text)


def judge(name: str, text: str) -> None:
    snapshot = SNAPSHOTS / name
    if "RECORD_SNAPSHOTS" in os.environ:
        snapshot.write_text(text)
    assert text == snapshot.read_text()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", ["file", "pipe", "head", "whole"])
def test_the_progress_of_what_comes(
    screen: Screen, origin: ScriptedOrigin, gate: threading.Event, tmp_path: Path, width: int, kind: str
) -> None:
    url = f"{origin.url}/half"
    line = {
        "file": command("get", "-o", str(tmp_path / "out"), url),
        "pipe": f"{command('get', url)} | wc -c",
        "head": f"{command('get', '-i', url)} | tail -c 1 | wc -c",
        "whole": f"{command('get', '--whole', url)} | wc -c",
    }[kind]
    screen.open(width, f"{line}; echo END")
    text = screen.wait(lambda text: bool(re.match(r" *[1-9]\d?% ", text)) and " 0 B" not in text)
    judge(f"progress-{width}.txt", masked(text))
    gate.set()
    left = screen.wait(lambda text: "END" in text)
    assert "%" not in left
    printed = {"file": "", "head": "1\n"}.get(kind, "40000\n")
    # A download that was slow enough has a summary; of the others nothing is left.
    assert re.fullmatch(rf"(39\.1 KiB in 0:\d\d, .*\n)?{printed}END\n*", left)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_progress_of_what_is_sent(screen: Screen, origin: ScriptedOrigin, tmp_path: Path, width: int) -> None:
    gate = origin.hold("/never")

    def wait(exchange: Exchange) -> bool:
        gate.wait(PATIENCE_SECONDS)
        exchange.reply(204)
        exchange.shutdown()
        exchange.wait_for_peer_to_close()
        return True

    url = origin.on_head("/slow", wait)
    body = tmp_path / "body"
    with body.open("wb") as file:
        file.truncate(64 << 20)
    screen.open(width, f"{command('put', '-T', str(body), url)}; echo END")
    text = screen.wait(lambda text: "KiB sent" in text or "MiB sent" in text)
    judge(f"progress-sent-{width}.txt", masked(text))
    gate.set()
    assert screen.wait(lambda text: "END" in text).strip() == "END"


def test_the_progress_of_what_is_sent_from_a_pipe(screen: Screen, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/never")

    def wait(exchange: Exchange) -> bool:
        gate.wait(PATIENCE_SECONDS)
        exchange.reply(413)
        exchange.shutdown()
        exchange.wait_for_peer_to_close()
        return True

    url = origin.on_head("/slow", wait)
    screen.open(80, f"(head -c 1000000 /dev/zero; sleep 1; cat /dev/zero) | {command('put', '-T', '-', url)}; echo END")
    screen.wait(lambda text: bool(re.match(r"[\d.]+ \w+ sent  [\d.]+ \w+/s", text)))
    gate.set()
    assert screen.wait(lambda text: "END" in text).strip() == "END"


@pytest.mark.parametrize("option", ["-d", "--json"])
def test_what_is_read_before_it_is_sent_has_a_line(
    screen: Screen, origin: ScriptedOrigin, tmp_path: Path, option: str
) -> None:
    url = origin.on("/sent", lambda exchange: exchange.reply(204))
    pieces = [f"until [ -e {shlex.quote(str(tmp_path / name))} ]; do sleep 0.05; done" for name in ("more", "end")]
    writer = f"({pieces[0]}; head -c 500 /dev/zero; {pieces[1]}; head -c 69500 /dev/zero; sleep 0.7)"
    screen.open(80, f"{writer} | {command('post', option, '@-', url)}; echo END")
    screen.wait(lambda text: text.strip() == "reading standard input")
    (tmp_path / "more").touch()
    screen.wait(lambda text: text.strip() == "reading standard input, 500 B")
    (tmp_path / "end").touch()
    screen.wait(lambda text: text.strip() == "reading standard input, 68.4 KiB")
    assert screen.wait(lambda text: "END" in text).strip() == "END"
    (request,) = origin.requests
    assert len(request.body) == 70_000


def test_a_paused_request_says_so(
    screen: Screen, origin: ScriptedOrigin, gate: threading.Event, daemon: Daemon, tmp_path: Path
) -> None:
    url = f"{origin.url}/half"
    for line in (command("get", "-o", str(tmp_path / "out"), url), f"{command('get', url)} | wc -c"):
        gate.clear()
        screen.open(80, f"{line}; echo END")
        screen.wait(lambda text: "%" in text)
        (name,) = [entry["request"] for entry in daemon.call("request.list", scope="all", state="resumed")["requests"]]
        daemon.call("request.suspend", request=name)
        paused = screen.wait(lambda text: "paused" in text)
        assert masked(paused) == "N% [BAR] N B of N B  paused\n"
        daemon.call("request.resume", request=name)
        screen.wait(lambda text: "/s" in text)
        gate.set()
        screen.wait(lambda text: "END" in text)
        screen.close()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("options", [[], ["-i"]], ids=["pipe", "head"])
def test_a_pipe_that_is_not_read_is_a_pause(
    screen: Screen, origin: ScriptedOrigin, tmp_path: Path, width: int, options: list[str]
) -> None:
    size = 8 << 20
    url = origin.on("/large", lambda exchange: exchange.reply(200, bytes(size)))
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = f"{{ cat {shlex.quote(str(fifo))}; tail -c {size} | wc -c; }}"
    screen.open(width, f"{command('get', *options, url)} | {reader}; echo END")
    paused = screen.wait(lambda text: "paused" in text)
    form = "N% N B  " if width == 40 else "N% [BAR] N B of N B  "
    assert masked(paused) == f"{form}paused: output not read\n"
    fifo.write_bytes(b"")
    assert screen.wait(lambda text: "END" in text).split() == [str(size), "END"]


@pytest.mark.parametrize("kind", ["pipe", "head", "whole"])
def test_a_body_that_stalls_at_once_shows_what_has_come(screen: Screen, origin: ScriptedOrigin, kind: str) -> None:
    gate = origin.hold("/never")

    def stall(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n" + bytes(5_000))
        gate.wait(PATIENCE_SECONDS)
        exchange.send(bytes(5_000))

    origin.on("/stall", stall)
    options = {"pipe": [], "head": ["-i"], "whole": ["--whole"]}[kind]
    screen.open(80, f"{command('get', *options, f'{origin.url}/stall')} | tail -c 10000 | wc -c; echo END")
    text = screen.wait(lambda text: "4.88 KiB" in text)
    assert masked(text) == "N% [BAR] N B of N B  N B/s  N:N left\n"
    assert text.startswith(" 50% [")
    gate.set()
    assert screen.wait(lambda text: "END" in text).split() == ["10000", "END"]


def test_the_line_follows_the_width_of_the_terminal(
    screen: Screen, origin: ScriptedOrigin, gate: threading.Event
) -> None:
    screen.open(80, f"{command('get', f'{origin.url}/half')} | wc -c; echo END")
    screen.wait(lambda text: "% [" in text)
    for width in (120, 20, 30, 100):
        screen.resize(width)
        text = screen.wait(has_bar if width > 75 else has_no_bar)
        assert len(last(text)) < width
    gate.set()
    screen.wait(lambda text: "40000" in text)


@pytest.mark.parametrize("width", WIDTHS)
def test_json_is_laid_out_at_any_width(screen: Screen, origin: ScriptedOrigin, width: int) -> None:
    body = b'{"name":"car pool","list":[1,2,{"empty":{}}],"text":"' + b"long " * 20 + b'","none":null}'
    headers = [("Content-Type", "application/json")]
    url = origin.on("/json", lambda exchange: exchange.reply(200, body, headers))
    judge(f"pretty-{width}.txt", screen.show(width, "get", url).rstrip() + "\n")


def at_once(screen: Screen, folder: Path, *words: str) -> None:
    """Run several downloads on a terminal, in this directory."""
    screen.open(120, f"cd {shlex.quote(str(folder))} && {command('get', '--parallel', '3', '-O', *words)}; echo END")


def test_a_wait_before_a_retry_stands_above_all_lines(
    screen: Screen, origin: ScriptedOrigin, gate: threading.Event, tmp_path: Path
) -> None:
    busy = threading.Event()
    statuses = iter([503, 200])

    def answer(exchange: Exchange) -> None:
        busy.wait(PATIENCE_SECONDS)
        exchange.reply(next(statuses))

    urls = [origin.on("/other", half_until(gate)), origin.on("/busy", answer)]
    at_once(screen, tmp_path, "--retry", "1", "--retry-delay", "1", f"{origin.url}/half", *urls)
    screen.wait(lambda text: text.count("% [") == 2)
    busy.set()
    notice = f"carpool: {origin.url}/busy: Problem HTTP status 503. Will retry in 1 second. 1 retry left."
    # The lines are drawn again below it.
    screen.wait(lambda text: text.startswith(notice) and text.count("% [") == 2)
    gate.set()
    lines = screen.wait(lambda text: "END" in text).splitlines()
    assert (lines[0], [line.split()[0] for line in lines[1:] if line]) == (notice, ["half", "other", "busy", "END"])


def test_each_slow_download_of_several_has_a_summary(
    screen: Screen, origin: ScriptedOrigin, gate: threading.Event, tmp_path: Path
) -> None:
    soon = threading.Event()
    urls = [f"{origin.url}/half", origin.on("/soon", half_until(soon)), f"{origin.url}/next"]
    at_once(screen, tmp_path, "--parallel", "2", *urls)
    screen.wait(lambda text: text.count("% [") == 2)
    soon.set()
    # It begins when the end of the one before was noticed.
    origin.received(1, "/next")
    gate.set()
    lines = screen.wait(lambda text: "END" in text).splitlines()
    assert [line.split()[0] for line in lines if line][:2] == ["half", "soon"]


def test_an_error_while_a_body_is_sent_replaces_the_line(
    start: Callable[..., Daemon], origin: ScriptedOrigin, tmp_path: Path
) -> None:
    gate = origin.hold("/never")
    url = origin.on_head("/slow", lambda _: gate.wait(PATIENCE_SECONDS))
    daemon = start()
    screen = Screen(tmp_path / "tmux.sock", daemon)
    body = f"head -c 9 /dev/zero; sleep 1; head -c 9 /dev/zero; until [ -e {tmp_path}/killed ]; do sleep 0.05; done"
    try:
        screen.open(80, f"({body}; cat /dev/zero) | {command('put', '-T', '-', url)}; echo END")
        screen.wait(lambda text: "B sent" in text)
        daemon.kill()
        (tmp_path / "killed").touch()
        assert screen.wait(lambda text: "END" in text).startswith("carpool: ")
    finally:
        gate.set()
        screen.stop()
