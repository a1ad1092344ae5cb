"""The effect of one client on another: small gets beside downloads, behind a queue, beside slow answers."""

from __future__ import annotations

import contextlib
import json
import selectors
import shutil
import socket
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attackers import Connection, line
from bench import Bench
from daemon import Daemon
from programs import CARPOOLD
from report import Row, limit_row, quantity

DOWNLOADS = (1, 5, 20, 100)
GET_AIM_MS = 20.0
THROUGHPUT_AIM = 0.95
PAIRS, PAIRS_S = 9, 60.0
"""How often downloads alone and beside gets are compared: pairs differ by a fifth, with or without gets. On a busy
machine fewer pairs are compared, so that each number of downloads takes little more than these seconds."""
READER_AIM = 0.8
QUEUE, QUEUE_AIM = 10_000, 4.0
SLOW, SLOW_AIM = 6, 2.0
DEMANDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
FIRST_ANSWERS = 1_000
AT_A_TIME = 200
"""Calls of a connection that wait for their answers; the daemon takes 256."""
JAIN_AIM = 0.99


class GatedOrigin:
    """HTTP/1.1 on loopback: requests below /held wait for the gate, all others are answered at once."""

    _ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    def __init__(self) -> None:
        """Listen; every connection has a thread."""
        self.gate = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self._listener.accept()[0],), daemon=True).start()

    def _serve(self, peer: socket.socket) -> None:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(OSError), peer, peer.makefile("rb") as stream:
            while first := stream.readline():
                while stream.readline() not in {b"\r\n", b""}:
                    pass
                if b"/held" in first:
                    self.gate.wait(120)
                peer.sendall(self._ANSWER)

    def stop(self) -> None:
        """Accept no more connections, and answer the waiting ones."""
        self.gate.set()
        self._listener.close()


def measure(bench: Bench) -> list[Row]:
    """Measure with the built daemon."""
    pinger = bench.compile("pinger")
    rows = [row for count in DOWNLOADS for row in _beside_downloads(bench, pinger, count)]
    return [*rows, _beside_a_slow_reader(bench), _behind_a_queue(bench), _beside_slow_answers(bench), _index(bench)]


@contextlib.contextmanager
def _daemon(bench: Bench, name: str, program: Path = CARPOOLD) -> Iterator[Daemon]:
    directory = bench.scratch / f"fairness-{name}"
    daemon = Daemon(directory, program=program)
    try:
        yield daemon
    finally:
        daemon.process.kill()
        daemon.process.wait(30)
        shutil.rmtree(directory)


@contextlib.contextmanager
def _gated() -> Iterator[GatedOrigin]:
    origin = GatedOrigin()
    try:
        yield origin
    finally:
        origin.stop()


# Downloads


def _beside_downloads(bench: Bench, pinger: str, count: int) -> list[Row]:
    """Download so many files alone and beside another client's gets, in turn, each first in every second pair."""
    size = (1 << 30 if bench.quick else 4 << 30) // count
    name = bench.origin.make_file("download", size)
    alone, beside, small = [], [], []
    try:
        with _daemon(bench, f"downloads-{count}") as daemon:
            for number in _numbers(bench):
                if number % 2 == 0:
                    alone.append(_download(bench, daemon, name, count))
                gets = _gets(pinger, daemon, bench.origin.http)
                beside.append(_download(bench, daemon, name, count))
                small.append(json.loads(gets.communicate(b"end\n", timeout=60)[0])["daemon"])
                if number % 2 == 1:
                    alone.append(_download(bench, daemon, name, count))
    finally:
        (bench.origin.directory / name).unlink()
    what = f"beside {count} download{'s' if count > 1 else ''}"
    p50, p99 = (statistics.median(each[field] for each in small) / 1000 for field in ("p50_us", "p99_us"))
    kept = statistics.median(before / after for before, after in zip(alone, beside, strict=True))
    rate = count * size / (1 << 20)
    return [
        limit_row(f"small gets {what}: p99 (p50 {quantity(p50, 'ms')})", p99, "ms", GET_AIM_MS),
        Row(
            f"throughput of the downloads {what} and small gets, against alone",
            quantity(rate / statistics.median(beside), "MiB/s"),
            quantity(rate / statistics.median(alone), "MiB/s"),
            f"{kept:.2f}",
            f"at least {THROUGHPUT_AIM:.2f}",
            kept >= THROUGHPUT_AIM,
        ),
    ]


def _numbers(bench: Bench) -> Iterator[int]:
    """Number the pairs; after `PAIRS_S` there are no more, but at least one of each order."""
    end = time.monotonic() + PAIRS_S
    for number in range(1 if bench.quick else PAIRS):
        if number >= 2 and time.monotonic() > end:
            return
        yield number


def _beside_a_slow_reader(bench: Bench) -> Row:
    """Download over HTTP/2 alone, and beside a stream of the same origin that its client does not read, in turn."""
    size = (1 << 27) if bench.quick else (1 << 29)
    name = bench.origin.make_file("beside", size)
    params = {"trust": {"ca_file": str(bench.origin.ca_file)}, "http_version": "2"}
    alone, beside = [], []
    try:
        with _daemon(bench, "slow-reader") as daemon:
            for _ in range(3):
                alone.append(_download(bench, daemon, name, 1, base=bench.origin.https, **params))
                slow = Connection(str(daemon.socket_path), "slow")
                slow.call(
                    "request.submit", url=bench.origin.https + name, kind="stream", on_disconnect="cancel", **params
                )
                beside.append(_download(bench, daemon, name, 1, base=bench.origin.https, **params))
                slow.socket.close()
    finally:
        (bench.origin.directory / name).unlink()
    kept = statistics.median(before / after for before, after in zip(alone, beside, strict=True))
    before, after = (quantity(size / (1 << 20) / statistics.median(times), "MiB/s") for times in (alone, beside))
    title = "throughput of a download beside a stream that is not read, over HTTP/2, against alone"
    return Row(title, after, before, f"{kept:.2f}", f"at least {READER_AIM:.2f}", kept >= READER_AIM)


def _download(bench: Bench, daemon: Daemon, name: str, count: int, base: str = "", **params: Any) -> float:
    """Return how long so many downloads of a file take."""
    folder = daemon.directory / "files"
    folder.mkdir()
    try:
        began = time.perf_counter()
        daemon.call_all(
            "request.perform",
            [
                {
                    "url": (base or bench.origin.http) + name,
                    "kind": "download",
                    "destination": str(folder / str(number)),
                }
                | params
                for number in range(count)
            ],
        )
        return time.perf_counter() - began
    finally:
        shutil.rmtree(folder)


def _gets(pinger: str, daemon: Daemon, url: str) -> subprocess.Popen[bytes]:
    """Begin to make small gets as another client, one every 5 ms, until stopped."""
    command = [pinger, "call", str(daemon.socket_path), "300", "5000", json.dumps({"url": url})]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


# Queues


def _times(connection: Connection, url: str, count: int) -> list[float]:
    """Make requests one after the other, and return how long each takes, in milliseconds."""
    found = []
    for number in range(count):
        began = time.perf_counter()
        record = connection.call("request.perform", url=f"{url}/{number}")
        assert record["response"]["status"] == 200, record
        found.append((time.perf_counter() - began) * 1000)
    return found


def _compare(what: str, alone: list[float], beside: list[float], aim: float) -> Row:
    before, after = statistics.median(alone), statistics.median(beside)
    ratio = after / before
    told = (quantity(after, "ms"), quantity(before, "ms"), f"{ratio:.2f}", f"at most {aim:.2f}")
    return Row(what, *told, ratio <= aim)


def _behind_a_queue(bench: Bench) -> Row:
    """Compare the medians of three rounds, of which the middle ratio counts."""
    count = 1_000 if bench.quick else QUEUE
    what = f"a request behind another client's {count:,}, against alone"
    rounds = [_behind(bench, count) for _ in range(1 if bench.quick else 3)]
    rounds.sort(key=lambda each: each[1] / each[0])
    before, after = rounds[len(rounds) // 2]
    return _compare(what, [before], [after], QUEUE_AIM)


def _behind(bench: Bench, count: int) -> tuple[float, float]:
    """Return how long a request takes alone and behind so many, in milliseconds.

    The queue is held until the first begins. One that is served behind all others is the only one, and counts.
    """
    samples = 20 if bench.quick else 100
    with _gated() as origin, _daemon(bench, "queue") as daemon:
        one, other = Connection(str(daemon.socket_path), "one"), Connection(str(daemon.socket_path), "other")
        _times(other, origin.url, 10)
        alone = _times(other, origin.url, samples)
        calls = b"".join(line("request.submit", {"url": f"{origin.url}/held"}, number) for number in range(count))
        one.socket.sendall(calls)
        for _ in range(count):
            answer = json.loads(one.lines.readline())
            assert "result" in answer, answer
        origin.gate.set()
        beside = _times(other, origin.url, 1)
        while len(beside) < samples and daemon.call("daemon.stats")["transfers"]["queued"] > 0:
            beside += _times(other, origin.url, 1)
    return statistics.median(alone), statistics.median(beside)


def _beside_slow_answers(bench: Bench) -> Row:
    with _gated() as origin, _daemon(bench, "slow") as daemon:
        one, other = Connection(str(daemon.socket_path), "one"), Connection(str(daemon.socket_path), "other")
        _times(other, origin.url, 10)
        alone = _times(other, origin.url, 100)
        for number in range(SLOW):
            one.socket.sendall(line("request.perform", {"url": f"{origin.url}/held"}, number))
        _until(lambda: daemon.call("daemon.stats")["transfers"]["active"] >= SLOW)
        # Without a share of its own the request would wait for the gate.
        opening = threading.Timer(5, origin.gate.set)
        opening.start()
        beside: list[float] = []
        while len(beside) < 100 and not origin.gate.is_set():
            beside += _times(other, origin.url, 1)
        opening.cancel()
        origin.gate.set()
    return _compare(f"a request beside another client's {SLOW} slow answers, against alone", alone, beside, SLOW_AIM)


def _index(bench: Bench) -> Row:
    """Queue different numbers of requests for ten clients, and see whose answers come first."""
    with _gated() as origin, _daemon(bench, "index") as daemon:
        params = {"url": f"{origin.url}/held"}
        connections: list[tuple[int, Connection]] = []
        for client, demand in enumerate(DEMANDS):
            for begun in range(0, demand, AT_A_TIME):
                connections.append((client, Connection(str(daemon.socket_path), f"client {client}")))
                count = min(AT_A_TIME, demand - begun)
                calls = b"".join(line("request.perform", params, number) for number in range(count))
                connections[-1][1].socket.sendall(calls)
        total = sum(DEMANDS)

        def all_known() -> bool:
            stats = daemon.call("daemon.stats")["transfers"]
            return bool(stats["queued"] + stats["active"] >= total)

        _until(all_known)
        origin.gate.set()
        answers = _first_answers(connections, FIRST_ANSWERS)
    shares = max_min(DEMANDS, FIRST_ANSWERS)
    parts = [count / share for count, share in zip(answers, shares, strict=True)]
    index = sum(parts) ** 2 / (len(parts) * sum(part * part for part in parts))
    told = f"{index:.4f}"
    title = f"Jain's index of the first {FIRST_ANSWERS:,} answers to ten clients with 1 to 1,000 queued: {answers}"
    return Row(title, told, "", told, f"at least {JAIN_AIM}", index >= JAIN_AIM)


def _first_answers(connections: list[tuple[int, Connection]], most: int) -> list[int]:
    """Count the answers of each client until so many have come in all."""
    counts = [0] * len(DEMANDS)
    with selectors.DefaultSelector() as ready:
        for client, connection in connections:
            connection.socket.setblocking(False)
            ready.register(connection.socket, selectors.EVENT_READ, client)
        while sum(counts) < most:
            found = ready.select(60)
            assert found, f"nothing for 60 s: {counts}"
            for key, _ in found:
                # Little at a time: what has come later must not be counted first.
                data = key.fileobj.recv(4096)  # type: ignore[union-attr]
                counts[key.data] += min(data.count(b"\n"), most - sum(counts))
    return counts


def max_min(demands: tuple[int, ...], supply: int) -> list[float]:
    """Return the max-min fair share of each demand."""
    shares: dict[int, float] = {}
    left = float(supply)
    for place in sorted(range(len(demands)), key=lambda place: demands[place]):
        shares[place] = min(demands[place], left / (len(demands) - len(shares)))
        left -= shares[place]
    return [shares[place] for place in range(len(demands))]


def _until(condition: Callable[[], Any], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.01)
