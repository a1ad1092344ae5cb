"""The progress on a terminal, frame by frame: every kind of transfer draws again while its bytes move."""

from __future__ import annotations

import fcntl
import gzip
import itertools
import os
import pty
import re
import statistics
import struct
import termios
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from harness.daemon import CARPOOL
from harness.process import running
from harness.waiting import PATIENCE_SECONDS, SLOWNESS, eventually
from origins.scripted import Exchange, ScriptedOrigin

TOTAL = 4 << 20
PIECE = 2_000
PAUSE_SECONDS = 0.02
FASTEST = PIECE / PAUSE_SECONDS
"""The bytes a second that the origin never exceeds before its gate is open."""

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
LINE = re.compile(
    r"(?P<name>\S+ +)?(?:(?P<percent> *\d+)% \[[# ]{20}\] )?(?P<moved>[\d.]+ \w+)(?P<sent> sent)?"
    r"(?: of (?P<total>[\d.]+ \w+))?  (?P<rate>[\d.]+ \w+)/s(?:  (?P<left>[\d:]+) left)?"
)


def size(text: str) -> float:
    number, unit = text.split()
    return float(number) * UNITS[unit]


@dataclass
class Terminal:
    """The other side of a terminal: records what is drawn and when."""

    pieces: list[tuple[float, str]] = field(default_factory=list)

    def read(self, descriptor: int) -> None:
        while True:
            try:
                piece = os.read(descriptor, 65_536)
            except OSError:
                return
            self.pieces.append((time.monotonic(), piece.decode()))

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)

    @property
    def frames(self) -> list[list[re.Match[str]]]:
        """What each drawing shows: a match for each of its lines."""
        drawings = [re.sub(r"\x1b\[\d*[AJ]", "", text).split("\n") for text in self.text.split("\r")]
        return [[line for text in lines if (line := LINE.fullmatch(text))] for lines in drawings]

    def moving(self, name: str | None = None) -> list[re.Match[str]]:
        """The lines of one transfer, without those that repeat the number of bytes of the one before."""
        lines: list[re.Match[str]] = []
        for line in itertools.chain.from_iterable(self.frames):
            is_wanted = name is None or (line["name"] or "").strip() == name
            if is_wanted and (not lines or lines[-1]["moved"] != line["moved"]):
                lines.append(line)
        return lines


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Until it is set, the origin is slow."""
    gate = threading.Event()
    yield gate
    gate.set()


class Slowness:
    """What the origin answers, slowly until the gate is open."""

    def __init__(self, gate: threading.Event) -> None:
        self.gate = gate
        self.refusals = 1

    def trickle(self, exchange: Exchange, body: bytes, frame: Callable[[bytes], bytes] = bytes) -> None:
        sent = 0
        while sent < len(body) and not self.gate.wait(PAUSE_SECONDS):
            exchange.send(frame(body[sent : sent + PIECE]))
            sent += PIECE
        exchange.send(frame(body[sent:]))

    def known(self, exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % TOTAL)
        self.trickle(exchange, bytes(TOTAL))

    def chunked(self, exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        self.trickle(exchange, bytes(TOTAL), lambda piece: b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b"")
        exchange.send(b"0\r\n\r\n")

    def coded(self, exchange: Exchange) -> None:
        body = gzip.compress(os.urandom(TOTAL), 1)
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body))
        self.trickle(exchange, body)

    def resumed(self, exchange: Exchange) -> None:
        if not exchange.request.values("range"):
            exchange.send(b'HTTP/1.1 200 OK\r\nETag: "1"\r\nContent-Length: %d\r\n\r\n' % TOTAL + bytes(TOTAL // 2))
            exchange.reset()
        start = int(exchange.request.values("range")[0].removeprefix("bytes=").removesuffix("-"))
        head = b'HTTP/1.1 206 Partial\r\nETag: "1"\r\nContent-Range: bytes %d-%d/%d\r\nContent-Length: %d\r\n\r\n'
        exchange.send(head % (start, TOTAL - 1, TOTAL, TOTAL - start))
        self.trickle(exchange, bytes(TOTAL - start))

    def elsewhere(self, exchange: Exchange) -> None:
        exchange.reply(302, headers=[("Location", "/known")])

    def retried(self, exchange: Exchange) -> None:
        if self.refusals:
            self.refusals -= 1
            return exchange.reply(503)
        return self.known(exchange)

    def read(self, exchange: Exchange) -> bool:
        while not self.gate.wait(PAUSE_SECONDS):
            exchange.take(16_000)
        exchange.reply(204)
        exchange.shutdown()
        return exchange.wait_for_peer_to_close()


@pytest.fixture
def slow(origin: ScriptedOrigin, gate: threading.Event) -> str:
    """The URL of an origin that sends and reads slowly."""
    slowness = Slowness(gate)
    for path in ["/known", "/other", "/third"]:
        origin.on(path, slowness.known)
    for path in ["chunked", "coded", "resumed", "elsewhere", "retried"]:
        origin.on(f"/{path}", getattr(slowness, path))
    origin.on_head("/read", slowness.read)
    return origin.url


@dataclass
class Kind:
    """A kind of transfer: the words of the command, and what its lines have."""

    words: list[str]
    is_sent: bool = False
    has_total: bool = True
    names: tuple[str, ...] = ()


KINDS = {
    "pipe": Kind(["get", "{url}/known"]),
    "pipe-with-head": Kind(["get", "-i", "{url}/known"]),
    "pipe-whole": Kind(["get", "--whole", "{url}/known"]),
    "pipe-of-unknown-length": Kind(["get", "{url}/chunked"], has_total=False),
    "pipe-decoded": Kind(["get", "{url}/coded"], has_total=False),
    "pipe-after-redirect": Kind(["get", "{url}/elsewhere"]),
    "pipe-after-retry": Kind(["get", "--retry", "1", "{url}/retried"]),
    "pipe-of-answer-to-post": Kind(["post", "-d", "a=1", "{url}/known"]),
    "pipe-with-jar": Kind(["get", "-c", "jar", "{url}/known"]),
    "file": Kind(["get", "-o", "out", "{url}/known"]),
    "file-of-unknown-length": Kind(["get", "-o", "out", "{url}/chunked"], has_total=False),
    "file-with-head": Kind(["get", "-i", "-o", "out", "{url}/known"]),
    "file-remote-name": Kind(["get", "-O", "{url}/known"]),
    "file-resumed": Kind(["get", "-C", "-", "-o", "out", "{url}/resumed"]),
    "device": Kind(["get", "-o", "/dev/null", "{url}/known"]),
    "files-in-turn": Kind(["get", "-O", "{url}/known", "{url}/other"], names=("known",)),
    "pipes-in-turn": Kind(["get", "{url}/known", "{url}/other"], names=("{url}/known",)),
    "pipes-in-turn-with-head": Kind(["get", "-i", "{url}/known", "{url}/other"], names=("{url}/known",)),
    "pipes-in-turn-whole": Kind(["get", "--whole", "{url}/known", "{url}/other"], names=("{url}/known",)),
    "uploads-in-turn": Kind(["put", "-T", "body", "{url}/read", "{url}/read"], is_sent=True, names=("{url}/read",)),
    "files-at-once": Kind(
        ["get", "-O", "--parallel", "3", "{url}/known", "{url}/other", "{url}/third"],
        names=("known", "other", "third"),
    ),
    "pipes-at-once": Kind(["get", "--parallel", "2", "{url}/known", "{url}/other"], names=("{url}/other",)),
    "upload": Kind(["put", "-T", "body", "{url}/read"], is_sent=True),
    "upload-from-input": Kind(["put", "-T", "-", "{url}/read"], is_sent=True),
    "upload-with-file": Kind(["put", "-T", "body", "-o", "out", "{url}/read"], is_sent=True),
    "upload-with-jar": Kind(["put", "-T", "body", "-c", "jar", "{url}/read"], is_sent=True),
    "form": Kind(["post", "-F", "a=@body", "{url}/read"], is_sent=True),
    "data": Kind(["post", "-d", "@body", "{url}/read"], is_sent=True),
}


def play(
    kind: Kind, url: str, variables: dict[str, str], directory: Path, watch: Callable[[Terminal], None]
) -> Terminal:
    """Run the command on a terminal of 120 columns until it ends; `watch` is called while it runs."""
    own, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    attributes = termios.tcgetattr(its)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(its, termios.TCSANOW, attributes)
    terminal = Terminal()
    reader = threading.Thread(target=terminal.read, args=[own], daemon=True)
    words = [CARPOOL, *[word.format(url=url) for word in kind.words]]
    with (
        (directory / "printed").open("wb") as printed,
        (directory / "body").open("rb") as body,
        running(words, env=variables, cwd=directory, stdin=body, stdout=printed, stderr=its) as command,
    ):
        os.close(its)
        reader.start()
        watch(terminal)
        assert command.wait(PATIENCE_SECONDS) == 0, terminal.text
    reader.join(PATIENCE_SECONDS)
    os.close(own)
    return terminal


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_transfer_draws_while_its_bytes_move(
    slow: str, gate: threading.Event, variables: dict[str, str], tmp_path: Path, name: str
) -> None:
    kind = KINDS[name]
    with (tmp_path / "body").open("wb") as file:
        file.truncate(64 << 20)
    if name == "file-resumed":
        first = [CARPOOL, "get", "-o", "out", f"{slow}/resumed"]
        with running(first, env=variables, cwd=tmp_path) as command:
            assert command.wait(PATIENCE_SECONDS) != 0
    names: list[str | None] = [each.format(url=slow) for each in kind.names] or [None]

    def have_moved(terminal: Terminal) -> bool:
        return all(len([1 for line in terminal.moving(each) if size(line["moved"])]) >= 4 for each in names)

    def watch(terminal: Terminal) -> None:
        eventually(lambda: have_moved(terminal))
        gate.set()

    terminal = play(kind, slow, variables, tmp_path, watch)
    for each in names:
        lines = terminal.moving(each)
        moved = [size(line["moved"]) for line in lines]
        assert moved == sorted(moved), terminal.text
        for line in lines:
            judge(line, kind)
    # At the end nothing of it is left but summaries.
    assert not LINE.search(terminal.text.rpartition("\x1b[J")[2]), terminal.text


def judge(line: re.Match[str], kind: Kind) -> None:
    """The numbers of a line agree with each other."""
    moved, rate = size(line["moved"]), size(line["rate"])
    assert (line["sent"] is not None, line["total"] is not None) == (kind.is_sent, kind.has_total), line[0]
    if not kind.has_total:
        return
    total = size(line["total"])
    assert abs(int(line["percent"]) - moved / total * 100) <= 1.5, line[0]
    if rate and line["left"]:
        minutes, seconds = line["left"].split(":")[-2:]
        hours = int(line["left"].split(":")[0]) if line["left"].count(":") == 2 else 0
        left = (hours * 60 + int(minutes)) * 60 + int(seconds)
        assert left == pytest.approx((total - moved) / rate, rel=0.03, abs=2), line[0]


def test_the_rate_is_that_of_the_bytes_that_arrive(
    slow: str, gate: threading.Event, variables: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "body").touch()
    for name in ["pipe", "file", "files-at-once"]:
        gate.clear()

        def watch(terminal: Terminal) -> None:
            eventually(lambda: len(terminal.moving()) >= 8)
            gate.set()

        terminal = play(KINDS[name], slow, variables, tmp_path, watch)
        # The origin may be slower on a busy machine, and is never faster.
        rates = [size(line["rate"]) for line in terminal.moving()[:8] if size(line["moved"]) < TOTAL / 2]
        assert rates and max(rates) < 1.5 * FASTEST, terminal.text


def test_a_quick_transfer_draws_nothing(
    slow: str, gate: threading.Event, variables: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "body").touch()
    gate.set()
    for name in ["pipe", "file", "files-at-once"]:
        began = time.monotonic()
        terminal = play(KINDS[name], slow, variables, tmp_path, lambda _: None)
        if time.monotonic() - began < 0.5:
            assert terminal.text == ""


@pytest.mark.parametrize("name", ["pipe", "pipe-with-head", "file", "files-at-once", "upload", "upload-from-input"])
def test_the_line_is_drawn_from_half_a_second_on_four_times_a_second(
    slow: str, gate: threading.Event, variables: dict[str, str], tmp_path: Path, name: str
) -> None:
    with (tmp_path / "body").open("wb") as file:
        file.truncate(64 << 20)

    def drawings(terminal: Terminal) -> list[float]:
        return [when for when, text in terminal.pieces if text.startswith("\r")]

    def watch(terminal: Terminal) -> None:
        eventually(lambda: len(drawings(terminal)) >= 15)
        gate.set()

    began = time.monotonic()
    times = drawings(play(KINDS[name], slow, variables, tmp_path, watch))[:15]
    assert 0.5 < times[0] - began < 0.5 + 1.5 * SLOWNESS
    # The median: a machine that is busy for a moment delays a few of them.
    assert statistics.median(later - earlier for earlier, later in itertools.pairwise(times)) < 0.5 * SLOWNESS
