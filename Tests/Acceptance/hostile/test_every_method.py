"""Every method that reads, called many times while the tables are full: no turn takes long."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.calls import NOBODY, line, send_and_read
from harness.daemon import Daemon
from harness.gauge import LongTurnError, bounded_turns
from harness.waiting import eventually
from harness.wire import RemoteError, Wire
from origins.scripted import ScriptedOrigin

TIMES = 300
CLIENTS = 60
SESSIONS = 250
"""Of a client; a user has 500."""
SUBSCRIPTIONS = 32
ORIGINS = 120
KNOWN = 10_000

QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("client.list", {}),
    ("daemon.config", {}),
    ("daemon.info", {}),
    ("daemon.stats", {}),
    ("pool.stats", {}),
    ("reachability.get", {}),
    ("reachability.get", {"fresh": True}),
    ("request.get", {}),
    ("request.curl", {}),
    ("request.list", {"scope": "all"}),
    ("request.list", {"scope": "all", "state": "cancelled", "session": "s-1-1"}),
    ("rpc.discover", {}),
    ("session.get", {"session": "s-0-1"}),
    ("session.list", {}),
]


@contextlib.contextmanager
def listening() -> Iterator[list[str]]:
    """URLs of origins that answer nothing: a connection to each stays under way."""
    with socket.socket() as listener:
        listener.bind(("", 0))
        listener.listen(512)
        port = listener.getsockname()[1]
        yield [f"http://127.2.{number // 250}.{number % 250 + 1}:{port}/" for number in range(ORIGINS)]


@pytest.fixture
def crowded(daemon: Daemon) -> Iterator[tuple[Wire, str]]:
    """A client of a daemon that knows many clients, sessions, subscriptions, origins and requests, and a request."""
    with contextlib.ExitStack() as open_wires, listening() as urls:
        wires = [open_wires.enter_context(daemon.wire()) for _ in range(CLIENTS)]
        for number, wire in enumerate(wires):
            wire.call("client.hello", name=f"client {number}")
            calls = [line("events.subscribe", index, types=["pool.*"]) for index in range(SUBSCRIPTIONS)]
            send_and_read(wire, b"".join(calls), SUBSCRIPTIONS)
        headers = {f"X-Header-{index}": "value " * 10 for index in range(20)}
        for number, wire in enumerate(wires[:2]):
            names = [f"s-{number}-{index}" for index in range(SESSIONS)]
            calls = [line("session.create", 1, name=name, configuration={"headers": headers}) for name in names]
            for begun in range(0, SESSIONS, 50):
                send_and_read(wire, b"".join(calls[begun : begun + 50]), len(calls[begun : begun + 50]))
        for url in urls:
            wires[2].call("request.submit", url=url)
        for begun in range(0, KNOWN, 250):
            wires[3 + begun % 7].send_bytes(b"".join(line("request.submit", None, url=NOBODY) for _ in range(250)))
        eventually(lambda: daemon.stats()["requests"]["known"] >= KNOWN * 9 // 10)
        request = wires[4].call("request.submit", url=NOBODY, headers=headers, start="manual")["request"]
        yield wires[4], request
        wires[2].call("session.cancel_requests", session="default")
        eventually(lambda: daemon.stats()["requests"]["active"] == 0)


def test_b2_every_question_over_full_tables(daemon: Daemon, crowded: tuple[Wire, str]) -> None:
    wire, request = crowded
    slow = {}
    for method, params in QUESTIONS:
        needs_request = method in {"request.get", "request.curl"}
        chosen = params | ({"request": request} if needs_request else {})
        answer = wire.answer(wire.request(method, chosen))
        assert "result" in answer, (method, answer)
        try:
            with bounded_turns(daemon):
                send_and_read(wire, b"".join(line(method, number, **chosen) for number in range(TIMES)), TIMES)
        except LongTurnError as error:
            slow[f"{method} {params}"] = str(error)[:300]
    if slow:
        raise LongTurnError(slow)


@pytest.mark.parametrize(
    ("url", "times"),
    [
        (NOBODY + "?" + "&".join(["a=b"] * 16_000), 300),
        # Each colon with two backslashes may begin an authority, in which a password is looked for.
        ("http://127.0.0.1:1/@" + ":\\\\" * 20_000, 5),
    ],
    ids=["parameters", "authorities"],
)
def test_b2_a_url_of_many_parts_is_shown_to_another(daemon: Daemon, url: str, times: int) -> None:
    """What another client reads of a URL has its secrets taken out."""
    with daemon.wire() as owner, daemon.wire() as other:
        owner.call("client.hello", name="owner")
        other.call("client.hello", name="other")
        other.call("events.subscribe", types=["*"], scope="all")
        with bounded_turns(daemon):
            for _ in range(times):
                request = owner.call("request.submit", url=url)["request"]
                owner.call("request.wait", request=request)
                other.call("request.get", request=request)
            other.call("request.list", scope="all")
            owner.call("request.curl", request=request)


def test_b2_a_file_name_of_flags(daemon: Daemon, origin: ScriptedOrigin, tmp_path: Path) -> None:
    """Where a character ends in a row of regional indicators depends on all that are before it."""
    field = b'Content-Disposition: attachment; filename="' + "\U0001f1e6".encode() * 24_000 + b'"\r\n'
    origin.on("/", lambda exchange: exchange.send(b"HTTP/1.1 200 OK\r\n" + field + b"Content-Length: 2\r\n\r\nok"))
    with daemon.wire() as wire, bounded_turns(daemon):
        record = wire.call(
            "request.perform", url=origin.url + "/", kind="download", destination={"directory": str(tmp_path)}
        )
        assert record["outcome"]["ok"]
    assert [len(path.name.encode()) for path in tmp_path.iterdir()] == [248]


def test_b2_names_that_are_all_escapes(daemon: Daemon) -> None:
    """A name is decoded once, however many others it is compared with."""
    names = [b"\\u%04x" % (0x4E00 + number) * 10_000 for number in range(15)]
    message = (
        b'{"jsonrpc":"2.0","id":1,"method":"daemon.ping","params":{' + b",".join(b'"%s":1' % n for n in names) + b"}}\n"
    )
    with daemon.wire() as wire, bounded_turns(daemon):
        for _ in range(5):
            send_and_read(wire, message, 1)


def test_b2_codings_without_number(daemon: Daemon, origin: ScriptedOrigin) -> None:
    field = b"Content-Encoding: " + b"gzip," * 19_000 + b"\r\n"
    origin.on("/", lambda exchange: exchange.send(b"HTTP/1.1 200 OK\r\n" + field * 3 + b"Content-Length: 2\r\n\r\nok"))
    with daemon.wire() as wire, bounded_turns(daemon):
        for _ in range(5):
            record = wire.call("request.perform", url=origin.url + "/")
            assert "more than 4 codings" in record["warning"]


def test_b2_a_list_of_sessions_with_large_configurations(start: StartDaemon) -> None:
    names = ("session_bytes_per_client", "session_bytes_per_user", "session_bytes")
    daemon = start(config={"limits": dict.fromkeys(names, 1 << 30)})
    headers = {f"X-{number}": "v" * 900 for number in range(900)}
    with daemon.wire() as wire:
        for number in range(60):
            wire.call("session.create", name=f"large-{number}", configuration={"headers": headers})
        with bounded_turns(daemon):
            page = wire.call("session.list")
        assert page["sessions"][1]["left_out"] == ["headers"]


def test_a_page_that_was_not_told_is_refused(daemon: Daemon) -> None:
    with daemon.wire() as wire:
        for method, place in [("request.list", "junk!!"), ("request.list", "-1"), ("client.list", "x")]:
            with pytest.raises(RemoteError) as refusal:
                wire.call(method, next=place)
            assert refusal.value.error["data"]["path"] == "params.next"
