"""HTTP/2 with another implementation than nginx's: one connection where the library is fit for it, else few."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.daemon import Daemon
from harness.wire import Wire
from origins.authority import Authority
from origins.nghttpd import Nghttpd
from origins.nginx import Nginx

CONFIG = {"cache": "no_store"}
"""nghttpd says of each file that it is fresh for an hour."""


FILES = ["hello.txt", "200.bin", "20k.bin", "100k.bin", "1m.bin"]


@pytest.fixture
def most_connections(daemon: Daemon) -> int:
    """The maximum of connections for many requests at a time, which depends on the version of the library."""
    return 1 if daemon.call("daemon.info")["libcurl"]["profile"] == "multiplex" else 6


@pytest.fixture
def wire(daemon: Daemon) -> Iterator[Wire]:
    with daemon.wire() as connected:
        yield connected


def params(nghttpd: Nghttpd, authority: Authority, name: str) -> dict[str, Any]:
    # This server supports only HTTP/2; a library that is unfit for many streams uses it only when it is forced.
    return {"url": f"{nghttpd.https}/{name}", "trust": {"ca_file": str(authority.ca_file)}, "http_version": "2"}


def test_each_library_speaks_it_when_asked_to(client: carpool.Client, nghttpd: Nghttpd, authority: Authority) -> None:
    response = client.get(f"{nghttpd.https}/hello.txt", verify=authority.ca_file, http_version="2")
    assert (response.http_version, response.text) == ("h2", "hello, world\n")


def test_a_hundred_at_a_time_share_what_the_library_is_fit_for(
    wire: Wire, most_connections: int, nghttpd: Nghttpd, authority: Authority
) -> None:
    calls = {wire.request("request.perform", params(nghttpd, authority, "200.bin")) for _ in range(100)}
    connections = set()
    while calls:
        message = wire.receive()
        calls.remove(message["id"])
        (hop,) = message["result"]["attempts"][0]["metrics"]
        assert hop["http_version"] == "h2"
        connections.add(hop["connection"])
    assert len(connections) <= most_connections


def test_bodies_of_all_sizes_arrive_whole_side_by_side(
    daemon: Daemon, wire: Wire, nghttpd: Nghttpd, nginx: Nginx, authority: Authority
) -> None:
    with daemon.client() as client:
        requests = {
            wire.call("request.submit", **params(nghttpd, authority, name))["request"]: name for name in FILES * 4
        }
        for request, name in requests.items():
            record = client.call("request.wait", request=request)
            assert record["outcome"]["ok"], record
            path = record["body"].get("file")
            body = carpool.Response(record, Path(path).read_bytes() if path else None)
            assert hashlib.sha256(body.content).hexdigest() == nginx.hashes[name]


def test_one_that_is_cancelled_does_not_disturb_the_others(
    wire: Wire, most_connections: int, nghttpd: Nghttpd, authority: Authority
) -> None:
    slow = [wire.call("request.submit", **params(nghttpd, authority, "16m.bin"))["request"] for _ in range(4)]
    for request in slow[:2]:
        wire.call("request.cancel", request=request)
    assert wire.call("request.perform", **params(nghttpd, authority, "hello.txt"))["outcome"]["ok"]
    outcomes = [wire.call("request.wait", request=request)["outcome"]["ok"] for request in slow]
    assert outcomes[2:] == [True, True]
    pool = wire.call("pool.stats")["origins"]
    # None, if late bytes of the cancelled ones have ended the idle connection.
    assert all(origin["connections"] <= most_connections for origin in pool)


def test_a_body_that_http1_would_have_in_chunks_has_its_length(
    wire: Wire, nghttpd: Nghttpd, authority: Authority
) -> None:
    fields = {"default_headers": False, "headers": [["Transfer-Encoding", "chunked"], ["X-Mark", "length"]]}
    more = {"method": "POST", "body": {"text": "abc"}} | fields
    record = wire.call("request.perform", **params(nghttpd, authority, "hello.txt"), **more)
    assert (record["response"]["http_version"], record["body"]["text"]) == ("h2", "abc")
    head = nghttpd.head("length")
    # The older version sends no length either.
    is_older = wire.call("daemon.info")["libcurl"]["profile"] != "multiplex"
    assert (head.get("content-length"), head.get("transfer-encoding")) == (None if is_older else "3", None)
