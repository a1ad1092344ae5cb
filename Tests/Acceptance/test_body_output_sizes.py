"""Bodies of gibibytes that are written to a pipe: the daemon holds a part of them at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.daemon import Daemon
from harness.large import END, GIB, SIZE, Counter, large_file
from harness.waiting import SLOWNESS
from harness.wire import Wire
from origins.authority import Authority
from origins.nghttpd import Nghttpd
from origins.nginx import Nginx

pytestmark = pytest.mark.own_daemon


@pytest.fixture
def large(nginx: Nginx, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A file that both servers have."""
    with large_file(nginx.directory / "files", request.param) as path:
        yield path


@pytest.mark.parametrize(
    ("large", "version"),
    [pytest.param(SIZE, "1.1", id="http-1"), pytest.param(GIB, "2", id="http-2")],
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
