"""Memory that requests and sessions take besides their bodies: accounted to a user, bounded, and freed."""

from __future__ import annotations

import base64
import random
import struct
from typing import Any

import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.users import NOBODY, as_root, wire_as
from harness.waiting import eventually
from harness.wire import RemoteError, Wire
from origins.scripted import Exchange, ScriptedOrigin

MEBIBYTE = 1 << 20
HEAD = [(f"x-{number}", "v" * 1_000) for number in range(250)]
BARE = "http://127.0.0.1:1/"


def submit(wire: Wire, count: int, **params: Any) -> list[str]:
    """Submit so many requests, and wait until they are over."""
    names = [wire.call("request.submit", **params)["request"] for _ in range(count)]
    eventually(lambda: wire.call("daemon.stats")["requests"]["active"] == 0, seconds=30)
    return names


def kept(wire: Wire, names: list[str]) -> int:
    """How many of these there still are."""
    found = 0
    for name in names:
        try:
            wire.call("request.get", request=name)
            found += 1
        except RemoteError as error:
            assert error.name == "request.not_found"
    return found


def test_b5_heads_of_finished_requests(start: StartDaemon, origin: ScriptedOrigin) -> None:
    """300 records of 250 KB, of which a user keeps 16 MiB; the latest are there."""
    daemon = start(config={"limits": {"retained_bytes_per_user": 16 * MEBIBYTE}})
    origin.on("/", lambda exchange: exchange.reply(headers=HEAD))
    with daemon.wire() as wire:
        before = daemon.memory_kib()
        names = submit(wire, 300, url=origin.url + "/")
        assert daemon.memory_kib() - before < 32 * 1024
        left = kept(wire, names)
        assert 40 <= left <= 64
        assert kept(wire, names[-40:]) == 40


def test_b5_values_of_finished_requests(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start(config={"limits": {"retained_bytes_per_user": 32 * MEBIBYTE}})
    origin.on("/", lambda exchange: exchange.reply(body=b'"' + b"v" * 4_000_000 + b'"'))
    with daemon.wire() as wire:
        wire.call("client.hello", max_line_bytes=8 * MEBIBYTE)
        before = daemon.memory_kib()
        names = [wire.call("request.submit", url=origin.url + "/", serialize="json")["request"] for _ in range(40)]
        eventually(lambda: daemon.stats()["requests"]["active"] == 0)
        assert 2 <= kept(wire, names) <= 8
        # Buffers of reads and writes are freed.
        eventually(lambda: daemon.memory_kib() - before < 48 * 1024, seconds=75)


def test_b5_values_that_are_made_for_calls(daemon: Daemon, origin: ScriptedOrigin) -> None:
    """They are made as the client reads. Once all sixty were made at once, and the client was cut off as too slow."""
    origin.on("/", lambda exchange: exchange.reply(body=b'"' + b"v" * 900_000 + b'"'))
    with daemon.wire() as wire:
        wire.call("client.hello", max_line_bytes=2 * MEBIBYTE)
        request = submit(wire, 1, url=origin.url + "/")[0]
        before, jobs = daemon.memory_kib("VmHWM"), wire.call("daemon.stats")["worker"]["jobs"]
        calls = [wire.request("request.response", {"request": request, "serialize": "json"}) for _ in range(60)]
        with daemon.wire() as other:
            eventually(lambda: other.call("daemon.stats")["worker"]["jobs"] >= jobs + 4)
            for _ in range(200):
                other.call("daemon.ping")
        for call in calls:
            assert len(wire.result(call)["outcome"]["value"]) == 900_000
        assert daemon.memory_kib("VmHWM") - before < 32 * 1024


def test_b5_redirects_keep_no_heads(daemon: Daemon, origin: ScriptedOrigin) -> None:
    """A record has the fields of its last response; those of sixteen redirects were 4 MB."""

    def redirect(exchange: Exchange) -> None:
        number = int(exchange.request.target.removeprefix("/hop/"))
        if number == 16:
            exchange.reply(headers=HEAD[:1])
        else:
            exchange.reply(302, headers=[*HEAD, ("Location", f"/hop/{number + 1}")])

    for number in range(17):
        origin.on(f"/hop/{number}", redirect)
    with daemon.wire() as wire:
        submit(wire, 1, url=origin.url + "/hop/0")
        before = daemon.memory_kib()
        names = submit(wire, 20, url=origin.url + "/hop/0")
        assert daemon.memory_kib() - before < 12 * 1024
        record = wire.call("request.get", request=names[0])
        assert record["metrics"]["redirects"] == 16
        assert dict(record["response"]["headers"])["x-0"] == HEAD[0][1]


def test_b5_heads_of_attempts_while_a_request_waits(daemon: Daemon, origin: ScriptedOrigin) -> None:
    """Requests that wait to be sent again hold no large heads."""
    origin.on("/", lambda exchange: exchange.reply(503, headers=HEAD))
    retry = [{"retry_policy": {"statuses": [503], "without_validation": True, "scale_ms": 600_000}}]
    with daemon.wire() as wire:
        before = daemon.memory_kib()
        names = [wire.call("request.submit", url=origin.url + "/", interceptor=retry)["request"] for _ in range(100)]
        origin.received(100)
        eventually(lambda: all("response" in wire.call("request.get", request=name) for name in names))
        eventually(lambda: daemon.memory_kib() - before < 12 * 1024, seconds=75)
        head = wire.call("request.get", request=names[0])["response"]
        assert (head["status"], head["headers"], head["truncated"]) == (503, [], True)
        wire.call("session.cancel_requests")


@as_root
def test_b6_finished_requests_of_one_user_push_out_none_of_another(start: StartDaemon, origin: ScriptedOrigin) -> None:
    limits = {"retained_requests": 100, "retained_bytes": 16 * MEBIBYTE}
    daemon = start(config={"access": {"uids": {str(NOBODY): "submit"}}, "limits": limits})
    daemon.directory.chmod(0o755)
    origin.on("/", lambda exchange: exchange.reply())
    origin.on("/large", lambda exchange: exchange.reply(headers=HEAD))
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        mine = submit(owner, 30, url=origin.url + "/")
        theirs = submit(other, 300, url=origin.url + "/")
        theirs += submit(other, 100, url=origin.url + "/large")
        assert kept(owner, mine) == 30
        assert kept(other, theirs[-20:]) == 20
        assert kept(other, theirs) <= 70


def test_b5_bodies_of_earlier_attempts(daemon: Daemon, origin: ScriptedOrigin) -> None:
    """Each attempt compresses the body again, and kept it to the end of the request."""
    origin.on("/", lambda exchange: exchange.reply(503))
    policy = {"limit": 60, "methods": ["POST"], "statuses": [503], "without_validation": True, "scale_ms": 0}
    body = {"base64": base64.b64encode(random.Random(1).randbytes(700_000)).decode()}
    with daemon.wire() as wire:
        wire.call("daemon.ping")
        before = daemon.memory_kib("VmHWM")
        interceptor = ["compress", {"retry_policy": policy}]
        names = submit(wire, 1, url=origin.url + "/", method="POST", body=body, interceptor=interceptor)
        assert wire.call("request.get", request=names[0])["metrics"]["attempts"] == 61
        assert daemon.memory_kib("VmHWM") - before < 16 * 1024


def test_b5_bodies_that_adapters_give(start: StartDaemon, origin: ScriptedOrigin) -> None:
    """A short call whose adapter answers a long body: the body counts as one that came with the call."""
    daemon = start(config={"limits": {"request_body_bytes_per_client": 16 * MEBIBYTE}})
    origin.on("/", lambda exchange: exchange.reply(503))
    before = daemon.memory_kib()
    interceptor = [
        {"callback": {"name": "c", "handles": ["adapt"]}},
        {"retry_policy": {"methods": ["POST"], "statuses": [503], "without_validation": True, "scale_ms": 600_000}},
    ]
    body = {"text": "v" * 1_000_000}
    with daemon.wire() as wire:
        wire.call("client.hello", name="test", callbacks=["c"])
        for _ in range(40):
            wire.call("request.submit", url=origin.url + "/", method="POST", interceptor=interceptor)
            wire.reply(wire.question("adapt"), body=body)
        eventually(lambda: daemon.stats()["requests"]["active"] <= 16)
        eventually(lambda: len(origin.requests) >= 10)
        assert daemon.memory_kib() - before < 40 * 1024
        failures = [entry for entry in wire.call("request.list")["requests"] if entry["state"] == "finished"]
        assert len(failures) >= 20
        error = wire.call("request.get", request=failures[0]["request"])["outcome"]["error"]
        assert error["name"] == "request_adaptation_failed"
        assert "request_body_bytes_per_client" in str(error)
        wire.call("session.cancel_requests")


@pytest.mark.parametrize("form", ["one", "many"])
def test_b5_fields_of_requests_that_wait(start: StartDaemon, form: str) -> None:
    """Fields, tags and parameters count as bodies do: 10,000 waiting requests took 9 GB."""
    daemon = start(config={"limits": {"request_body_bytes_per_client": 16 * MEBIBYTE}})
    headers = {"x": "v" * 900_000} if form == "one" else {f"x-{number}": "v" * 900 for number in range(950)}
    before = daemon.memory_kib()
    with daemon.wire() as wire:
        with pytest.raises(RemoteError) as refused:
            for _ in range(50):
                wire.call("request.submit", url=BARE, start="manual", headers=headers)
        assert refused.value.name == "queue_full"
        assert refused.value.error["data"]["limit_name"] == "request_body_bytes_per_client"
        assert daemon.stats()["requests"]["active"] >= 15
        assert daemon.memory_kib() - before < 30 * 1024
        # A small one still goes.
        wire.call("request.submit", url=BARE, start="manual")
        wire.call("session.cancel_requests")


def test_b5_lists_of_a_sessions_fields(start: StartDaemon) -> None:
    """Each request has a list of its session's fields: short calls of a session with many fields count too."""
    daemon = start(config={"limits": {"request_body_bytes_per_client": 4 * MEBIBYTE}})
    with daemon.wire() as wire:
        headers = {f"x-{number}": "v" for number in range(1_000)}
        wire.call("session.create", name="many", configuration={"headers": headers})
        with pytest.raises(RemoteError) as refused:
            for _ in range(200):
                wire.call("request.submit", url=BARE, start="manual", session="many")
        assert refused.value.error["data"]["limit_name"] == "request_body_bytes_per_client"
        assert daemon.stats()["requests"]["active"] >= 100
        wire.call("request.submit", url=BARE, start="manual")
        wire.call("session.cancel_requests", session="many")
        wire.call("session.cancel_requests")


@as_root
def test_b5_configurations_of_sessions(start: StartDaemon) -> None:
    daemon = start(config={"access": {"uids": {str(NOBODY): "submit"}}})
    daemon.directory.chmod(0o755)
    headers = {f"x-{number}": "v" * 900 for number in range(950)}
    before = daemon.memory_kib()
    with daemon.wire() as wire, wire_as(NOBODY, daemon.socket) as other:
        with pytest.raises(RemoteError) as refused:
            for number in range(100):
                wire.call("session.create", name=f"s{number}", configuration={"headers": headers})
        assert refused.value.name == "queue_full"
        assert refused.value.error["data"]["limit_name"] == "session_bytes_per_client"
        assert daemon.memory_kib() - before < 64 * 1024
        # There are as many short ones as before, and other users are not affected.
        other.call("session.create", name="s", configuration={"headers": headers})
        assert wire.call("session.invalidate", session="s0")["changed"]
        assert wire.call("session.create", name="again", configuration={"headers": headers})["changed"]


def test_b5_configurations_of_invalidated_sessions(daemon: Daemon) -> None:
    """A kept request holds its session, whose long configuration counts until the request is dropped."""
    headers = {f"x-{number}": "v" * 900 for number in range(950)}
    before = daemon.memory_kib()
    names: list[str] = []
    with daemon.wire() as wire:
        with pytest.raises(RemoteError) as refused:
            for number in range(50):
                wire.call("session.create", name=f"s{number}", configuration={"headers": headers})
                names += submit(wire, 1, url=BARE, session=f"s{number}")
                wire.call("session.invalidate", session=f"s{number}")
        assert refused.value.name == "queue_full"
        assert refused.value.error["data"]["limit_name"] == "session_bytes_per_client"
        assert daemon.memory_kib() - before < 48 * 1024
        # A short one still goes, however many there were; a long one when the requests have been dismissed.
        wire.call("session.create", name="short", configuration={"headers": {"x": "v"}})
        for name in names:
            wire.call("request.dismiss", request=name)
        assert wire.call("session.create", name="again", configuration={"headers": headers})["changed"]


def binary_list(references: int) -> bytes:
    """Return a binary property list with an array that holds itself so many times."""
    array = b"\xaf\x12" + struct.pack(">I", references) + bytes(references)
    table = len(b"bplist00" + array)
    trailer = bytes(6) + b"\x01\x01" + struct.pack(">QQQ", 1, 0, table)
    return b"bplist00" + array + b"\x08" + trailer


def test_b5_a_property_list_that_holds_itself(daemon: Daemon, origin: ScriptedOrigin) -> None:
    """Each of 64 levels took eight bytes for every reference before any was counted: 1 GB for these 2 MB."""
    body = binary_list(2_000_000)
    origin.on("/", lambda exchange: exchange.reply(body=body))
    with daemon.wire() as wire:
        wire.call("daemon.ping")
        before = daemon.memory_kib("VmHWM")
        outcome = wire.call("request.perform", url=origin.url + "/", serialize="plist")["outcome"]
        assert not outcome["ok"]
        assert "more than 500000 values" in str(outcome["error"])
        assert daemon.memory_kib("VmHWM") - before < 40 * 1024
