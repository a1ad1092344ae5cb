"""Readers that are slow, stop, or disconnect: their cost to the daemon and to others."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator

import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.stream import PLENTY, Reader
from harness.tcp import is_stopped
from harness.waiting import PATIENCE_SECONDS, eventually, join
from harness.wire import Wire
from origins.authority import Authority
from origins.nghttpd import Nghttpd
from origins.nginx import Nginx
from origins.scripted import Exchange, GoneError, ScriptedOrigin

pytestmark = pytest.mark.own_daemon

PIECE = b"0123456789abcdef" * 4_096


class Fountain:
    """An endless body, and the number of bytes that were read."""

    def __init__(self, origin: ScriptedOrigin, path: str = "/fountain") -> None:
        self.url = origin.on(path, self._serve)
        self.sent = 0
        self.over = threading.Event()
        self._ports: tuple[int, int] | None = None

    def _serve(self, exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        self._ports = exchange.ports
        try:
            while True:
                exchange.send(PIECE)
                self.sent += len(PIECE)
        except GoneError:
            self.over.set()
            raise

    def rest(self) -> int:
        """Wait until no more is read, and return how much was."""
        eventually(lambda: self._ports is not None and is_stopped(*self._ports))
        return self.sent


def submit(wire: Wire, url: str, **params: object) -> str:
    return str(wire.call("request.submit", url=url, kind="stream", on_disconnect="cancel", **params)["request"])


@pytest.fixture
def fountain(origin: ScriptedOrigin) -> Fountain:
    return Fountain(origin)


# Credit


@pytest.mark.parametrize("serializer", ["bytes", "text"])
def test_credit_is_not_exceeded_by_a_byte(wire: Wire, fountain: Fountain, serializer: str) -> None:
    reader = Reader(wire, submit(wire, fountain.url), serializer, credit=0)
    eventually(lambda: fountain.sent > 0)
    assert wire.is_silent()
    total = 0
    for credit in [1, 10, 100_000, 777]:
        reader.grant(credit)
        total += credit
        reader.until(total)
        assert reader.size == total
        assert wire.is_silent()
    text = reader.text.encode() if serializer == "text" else reader.bytes
    assert text == (PIECE * 2)[:total]


def test_credit_is_read_with_too_many_calls_under_way(start: StartDaemon, fountain: Fountain) -> None:
    with start(config={"limits": {"calls_per_connection": 2}}).wire() as wire:
        request = submit(wire, fountain.url)
        reader = Reader(wire, request, credit=0)
        calls = [wire.request("request.wait", request=request) for _ in range(3)]
        assert wire.answer(calls[2])["error"]["data"]["name"] == "too_many_in_flight"
        reader.grant(5)
        reader.until(5)


def test_credit_for_all_readers_of_a_connection(wire: Wire, fountain: Fountain) -> None:
    request = submit(wire, fountain.url, start="manual")
    first, second = Reader(wire, request, credit=0), Reader(wire, request, "text", credit=0)
    wire.call("request.resume", request=request)
    wire.request("request.credit", request=request, credit_bytes=3)
    got: dict[str, int] = {}
    while got != {first.name: 3, second.name: 3}:
        message = wire.receive()
        if message.get("method") == "request.data":
            got[message["params"]["reader"]] = message["params"]["size_bytes"]


# Readers that stop


@pytest.mark.parametrize("stop", ["no reader", "no credit", "no read"])
def test_a_reader_that_stops_costs_a_bounded_buffer(daemon: Daemon, wire: Wire, fountain: Fountain, stop: str) -> None:
    wire.call("daemon.ping")
    before = daemon.memory_kib()
    with daemon.wire() as other:
        request = submit(other, fountain.url)
        if stop != "no reader":
            Reader(other, request, credit=PLENTY if stop == "no read" else 0)
        taken = fountain.rest()
        assert taken < 32 << 20
        assert daemon.memory_kib() - before < 8_192
        assert wire.call("request.get", request=request)["finished"] is False
    assert fountain.over.wait(PATIENCE_SECONDS), "on_disconnect ends the request with its client"


def test_st_01_gigabytes_pass_through_a_flat_daemon(daemon: Daemon, wire: Wire, fountain: Fountain) -> None:
    reader = Reader(wire, submit(wire, fountain.url))
    reader.until(16 << 20)
    before = daemon.memory_kib()
    size = 0
    while size < 256 << 20:
        size += reader.next()["size_bytes"]
        reader.messages[-1] = {}
    assert daemon.memory_kib() - before < 4_096


@pytest.mark.parametrize(
    ("serializer", "content"), [("lines", b"x"), ("json_lines", b" " * 62 + b"\r\n"), ("sse", b": ping\n\n")]
)
def test_what_makes_no_record_is_not_kept(
    daemon: Daemon, wire: Wire, origin: ScriptedOrigin, serializer: str, content: bytes
) -> None:
    """An endless line, blank lines, and the comments that keep an event stream alive."""
    piece = content * (len(PIECE) // len(content))

    def serve(exchange: Exchange) -> None:
        exchange.send(f"HTTP/1.1 200 OK\r\nContent-Length: {200 * len(piece)}\r\n\r\n".encode())
        for _ in range(200):
            exchange.send(piece)

    before = daemon.memory_kib()
    reader = Reader(wire, submit(wire, origin.on("/nothing", serve)), serializer)
    assert reader.complete()["size_bytes"] == 200 * len(piece)
    assert daemon.memory_kib() - before < 6_144


def test_a_dead_reader_is_not_waited_for(daemon: Daemon, wire: Wire, nginx: Nginx) -> None:
    request = str(wire.call("request.submit", url=f"{nginx.http}/16m.bin", kind="stream", start="manual")["request"])
    with daemon.wire() as other:
        Reader(other, request, credit=10)
        reader = Reader(wire, request)
        wire.call("request.resume", request=request)
        reader.until(1 << 20)
        assert daemon.call("request.get", request=request)["finished"] is False
    assert reader.complete()["error"] is None
    assert hashlib.sha256(reader.bytes).hexdigest() == nginx.hashes["16m.bin"]


def test_all_streams_together_are_bounded(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start(config={"limits": {"total_stream_bytes": 2_097_152}})
    fountains = [Fountain(origin, f"/{number}") for number in range(24)]
    with daemon.wire() as wire:
        wire.call("daemon.ping")
        before = daemon.memory_kib()
        requests = [submit(wire, fountain.url) for fountain in fountains]
        for fountain in fountains:
            assert fountain.rest() > 0
        # The buffer for readers; each transfer has a receive buffer of 128 KiB, and as much that waits to be passed on.
        assert daemon.memory_kib() - before < 2_048 + 24 * 256 + 4_096
        readers = [Reader(wire, request, credit=0) for request in requests]
        for reader in readers:
            reader.grant(200_000)
            reader.until(200_000)


# A slow one beside a fast one


LARGE = 100_000_000
SLOW_RATE = 1_024
SLOW_STEP = 64
GROWTH_KIB = 8_192


@pytest.fixture(scope="module")
def large(nginx: Nginx) -> Iterator[str]:
    """The path of 100 MB that nginx and nghttpd serve."""
    path = nginx.directory / "files" / "large.bin"
    with path.open("wb") as file:
        file.truncate(LARGE)
    yield "/large.bin"
    path.unlink()


class SlowReader:
    """Reads 1 KiB of a stream a second, until it is stopped."""

    def __init__(self, wire: Wire, request: str) -> None:
        self.request = request
        self._reader = Reader(wire, request, credit=0)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while not self._over.wait(SLOW_STEP / SLOW_RATE):
            self._reader.grant(SLOW_STEP)
            self._reader.until(self._reader.size + SLOW_STEP)

    def stop(self) -> int:
        """Return how many bytes it has read."""
        self._over.set()
        join([self._thread])
        return self._reader.size


def read_whole(wire: Wire, request: str) -> None:
    """Read a stream to its end at full speed."""
    reader = Reader(wire, request, credit=0)
    reader.grant(PLENTY)
    size = 0
    while size < LARGE:
        size += reader.next()["size_bytes"]
        reader.messages[-1] = {}
    wire.call("request.wait", request=request)


@pytest.mark.parametrize("server", ["nginx", "nghttpd"])
def test_a_slow_reader_holds_up_nobody_at_its_http2_origin(
    daemon: Daemon, nginx: Nginx, nghttpd: Nghttpd, authority: Authority, large: str, server: str
) -> None:
    """1 KiB a second of 100 MB: another reader of the same file gets all of its stream meanwhile.

    What it keeps of its throughput is measured in Tests/Benchmarks/fairness.py.
    """
    url = (nginx.https if server == "nginx" else nghttpd.https) + large
    params = {"http_version": "2", "trust": {"ca_file": str(authority.ca_file)}}
    with daemon.wire() as fast, daemon.wire() as slow:
        read_whole(fast, submit(fast, url, **params))
        before = daemon.memory_kib("VmRSS")
        reader = SlowReader(slow, submit(slow, url, **params))
        begun = time.monotonic()
        read_whole(fast, submit(fast, url, **params))
        assert daemon.memory_kib("VmRSS") - before < GROWTH_KIB
        read = reader.stop()
        assert 0 < read <= SLOW_RATE * (time.monotonic() - begun) + SLOW_STEP
        assert fast.call("request.get", request=reader.request)["finished"] is False
