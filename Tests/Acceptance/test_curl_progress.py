"""The meters of `carpool curl` on a terminal, as those of curl: bytes that are sent count too, also with `-Z`."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.waiting import PATIENCE_SECONDS, eventually
from origins.scripted import Exchange, ScriptedOrigin
from test_command_frames import Kind, Terminal, play

SIZE = 32 << 20
TOTAL = "32.0M"
HEADER = "DL% UL%  Dled  Uled  Xfers  Live Total     Current  Left    Speed"
METER = re.compile(
    r" *(?P<percent>\d+) +(?P<total>\S+) +\d+ +\d+ +(?P<part>\d+) +(?P<sent>\S+) +\S+ +(?P<rate>\S+)"
    r" +(?P<times>(?: ?(?:--:--:--| ?\d+:\d\d:\d\d)){3}) +(?P<current>\S+)"
)
PARALLEL = re.compile(
    r" *(?P<down>\d+|--) +(?P<up>\d+|--) +(?P<received>\S+) +(?P<sent>\S+) +(?P<started>\d+) +(?P<live>\d+) +"
    r"(?P<times>(?: ?(?:--:--:--| ?\d+:\d\d:\d\d)){3}) +(?P<speed>\S+) *"
)


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Until it is set, the origin is slow."""
    gate = threading.Event()
    yield gate
    gate.set()


@pytest.fixture
def slow(origin: ScriptedOrigin, gate: threading.Event, tmp_path: Path) -> str:
    """The URL of an origin that reads and sends slowly; the file `body` to send it."""

    def read(exchange: Exchange) -> bool:
        if exchange.request.values("expect"):
            exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        left = int((exchange.request.values("content-length") or [str(1 << 40)])[0])
        while left > 0 and not gate.wait(0.02):
            left -= len(exchange.take(min(left, 64_000)))
        # Of a body in chunks the origin does not know how much is left.
        if left < SIZE:
            exchange.take(left)
        exchange.reply(200, b"sent")
        exchange.shutdown()
        return exchange.wait_for_peer_to_close()

    def send(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + bytes(200_000))
        gate.wait(PATIENCE_SECONDS)
        exchange.send(bytes(800_000))

    origin.on_head("/read", read)
    origin.on("/send", send)
    with (tmp_path / "body").open("wb") as file:
        file.truncate(SIZE)
    return origin.url


def drawn(terminal: Terminal, line: re.Pattern[str]) -> list[re.Match[str]]:
    return [match for text in re.split(r"[\r\n]+", terminal.text) if (match := line.fullmatch(text))]


UPLOADS = {
    "file": (["-T", "body"], True),
    "input": (["-T", "-"], False),
    "form": (["-F", "a=@body"], True),
    "data": (["--data-binary", "@body"], True),
}


@pytest.mark.parametrize("name", UPLOADS)
def test_the_meter_has_the_bytes_that_were_sent(
    slow: str, gate: threading.Event, variables: dict[str, str], tmp_path: Path, name: str
) -> None:
    words, has_total = UPLOADS[name]

    def is_moving(line: re.Match[str]) -> bool:
        counts = line["part"] not in ("0", "100") and line["total"] == TOTAL if has_total else line["sent"] != "0"
        return counts and line["rate"] != "0" and line["current"] != "0"

    def watch(terminal: Terminal) -> None:
        eventually(lambda: len([line for line in drawn(terminal, METER) if is_moving(line)]) >= 2)
        gate.set()

    terminal = play(Kind(["curl", *words, "-o", "out", "{url}/read"]), slow, variables, tmp_path, watch)
    lines = drawn(terminal, METER)
    expected = ("100", TOTAL) if has_total else ("0", lines[-1]["sent"])
    assert (lines[-1]["part"], lines[-1]["sent"]) == expected, terminal.text


def test_the_bar_grows_with_the_bytes_that_are_sent(
    slow: str, gate: threading.Event, variables: dict[str, str], tmp_path: Path
) -> None:
    def parts(terminal: Terminal) -> list[float]:
        return [float(part) for part in re.findall(r"([\d.]+)%", terminal.text)]

    def watch(terminal: Terminal) -> None:
        eventually(lambda: len({part for part in parts(terminal) if 0 < part < 100}) >= 3)
        gate.set()

    terminal = play(Kind(["curl", "-#", "-T", "body", "-o", "out", "{url}/read"]), slow, variables, tmp_path, watch)
    assert parts(terminal) == sorted(parts(terminal)) and parts(terminal)[-1] == 100


def test_transfers_in_parallel_share_a_line(
    slow: str, gate: threading.Event, variables: dict[str, str], tmp_path: Path
) -> None:
    uploads = ["-T", "body", "-o", "a", "{url}/read", "-T", "body", "-o", "b", "{url}/read"]
    cases = {
        "uploads": (uploads, ("--", "0", "64.0M")),
        "downloads": (["-o", "a", "{url}/send", "-o", "b", "{url}/send"], ("20", "--", "0")),
        "both": ([*uploads[:5], "--next", "-o", "b", "{url}/send"], ("--", "--", TOTAL)),
    }
    for name, (words, (down, up, sent)) in cases.items():
        gate.clear()

        def is_moving(line: re.Match[str], up: str = up, sent: str = sent) -> bool:
            return line["live"] == "2" and line["speed"] != "0" and (sent == "0" or line["sent"] not in ("0", sent))

        def watch(terminal: Terminal) -> None:
            eventually(lambda: len([line for line in drawn(terminal, PARALLEL) if is_moving(line)]) >= 2)
            gate.set()

        terminal = play(Kind(["curl", "-Z", *words]), slow, variables, tmp_path, watch)
        assert terminal.text.startswith(HEADER), name
        lines = drawn(terminal, PARALLEL)
        moving = next(line for line in lines if is_moving(line))
        assert (moving["down"], moving["up"] == "--") == (down, up == "--"), terminal.text
        assert (lines[-1]["started"], lines[-1]["live"], lines[-1]["sent"]) == ("2", "0", sent), terminal.text
        assert terminal.text.endswith("\n") and terminal.text.count("Xfers") == 1


@pytest.mark.parametrize("option", ["-s", "--no-progress-meter"])
def test_transfers_in_parallel_are_silent_if_that_is_wanted(
    slow: str, gate: threading.Event, variables: dict[str, str], tmp_path: Path, option: str
) -> None:
    gate.set()
    terminal = play(Kind(["curl", "-Z", option, "-o", "a", "{url}/send"]), slow, variables, tmp_path, lambda _: None)
    assert terminal.text == ""
