"""Bodies of gibibytes that are written to a pipe: the daemon holds a part of them at a time."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.daemon import Daemon
from harness.waiting import SLOWNESS, join
from harness.wire import Wire
from origins.authority import Authority
from origins.nghttpd import Nghttpd
from origins.nginx import Nginx

END = os.urandom(1 << 20)
PIECE = 1 << 20


@pytest.fixture
def large(nginx: Nginx, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A file of zeros, which take no place, and an end that is checked. Both servers have it."""
    path = nginx.directory / "files" / "large.bin"
    with path.open("wb") as file:
        file.seek(request.param - len(END))
        file.write(END)
    yield path
    path.unlink()


class Counter:
    """A reader that keeps the last mebibyte."""

    def __init__(self, descriptor: int) -> None:
        self.count = 0
        self._last: deque[bytes] = deque()
        self._descriptor = descriptor
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def end(self) -> bytes:
        return b"".join(self._last)[-len(END) :]

    def _read(self) -> None:
        kept = 0
        while block := os.read(self._descriptor, PIECE):
            self.count += len(block)
            self._last.append(block)
            kept += len(block)
            while kept - len(self._last[0]) >= len(END):
                kept -= len(self._last.popleft())

    def finish(self) -> None:
        """Wait for the end, which the daemon has written."""
        join([self._thread])


@pytest.mark.parametrize(
    ("large", "version"),
    [pytest.param(5 << 30, "1.1", id="5-gibibytes"), pytest.param(1 << 30, "2", id="http-2")],
    indirect=["large"],
)
def test_gibibytes_leave_the_daemon_under_32_mebibytes(
    daemon: Daemon, wire: Wire, nginx: Nginx, nghttpd: Nghttpd, authority: Authority, large: Path, version: str
) -> None:
    """Its whole resident memory, libraries included, at its highest."""
    base = nginx.http if version == "1.1" else nghttpd.https
    read, write = os.pipe()
    counter = Counter(read)
    params = {"http_version": version, "trust": {"ca_file": str(authority.ca_file)}, "response_body": {"fd": 0}}
    call = wire.request_with([write], "request.perform", url=f"{base}/{large.name}", **params)
    os.close(write)
    wire.socket.settimeout(100 * SLOWNESS)
    record = wire.answer(call)["result"]
    counter.finish()
    os.close(read)
    size = large.stat().st_size
    assert record["outcome"] == {"ok": True}
    assert record["response"]["http_version"] == ("http/1.1" if version == "1.1" else "h2")
    assert record["body"] == {"fd": True, "size_bytes": size}
    assert (counter.count, counter.end) == (size, END)
    assert daemon.memory_kib("VmHWM") < 32_768
    assert daemon.spooled() == []
