"""Bodies that are written to a descriptor of the client (`response_body` with `fd`) as they arrive."""

from __future__ import annotations

import gzip
import hashlib
import os
import pty
import select
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.caches import cache
from harness.daemon import Daemon
from harness.outputs import Pair, at_end, flags, perform, send
from harness.users import NOBODY, as_root, wire_as
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import Wire
from origins.authority import Authority
from origins.nghttpd import Nghttpd
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin

DATA = os.urandom(3_000_017)
TEXT = b"a line\n"


@pytest.fixture
def url(origin: ScriptedOrigin) -> str:
    return origin.on("/", lambda exchange: exchange.reply(200, DATA))


@pytest.fixture
def text(origin: ScriptedOrigin) -> str:
    return origin.on("/text", lambda exchange: exchange.reply(200, TEXT))


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_all_bytes_arrive_and_the_record_counts_them(wire: Wire, url: str, kind: str) -> None:
    pair = Pair(kind)
    record = pair.perform(wire, url=url, sha256=True)
    assert record["outcome"] == {"ok": True}
    assert record["body"] == {"fd": True, "size_bytes": len(DATA), "sha256": hashlib.sha256(DATA).hexdigest()}
    assert pair.received == DATA


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_the_reader_sees_the_end_before_the_answer(wire: Wire, text: str, kind: str) -> None:
    for _ in range(20):
        pair = Pair(kind)
        pair.send(wire, url=text)
        assert wire.answer(901)["result"]["outcome"]["ok"]
        assert at_end(pair.read) == TEXT
        pair.close()


@pytest.mark.parametrize("kind", ["pipe", "socket"])
@pytest.mark.parametrize("blocks", [True, False])
def test_the_flags_of_the_descriptor_stay(wire: Wire, url: str, kind: str, blocks: bool) -> None:
    pair = Pair(kind)
    os.set_blocking(pair.write, blocks)
    mine = os.dup(pair.write)
    before = flags(mine)
    pair.start()
    pair.send(wire, url=url)
    eventually(lambda: len(pair.received) > 0)
    assert flags(mine) == before
    wire.answer(901)
    assert flags(mine) == before
    os.close(mine)
    assert pair.finish() == DATA


@pytest.mark.parametrize("appends", [False, True])
def test_a_file_is_written_at_the_position_that_its_users_share(
    wire: Wire, text: str, tmp_path: Path, appends: bool
) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"0123456789" if appends else b"")
    descriptor = os.open(path, os.O_WRONLY | (os.O_APPEND if appends else 0))
    if not appends:
        os.write(descriptor, b"head ")
    assert perform(wire, [descriptor], url=text)["body"] == {"fd": True, "size_bytes": len(TEXT)}
    os.write(descriptor, b"tail")
    os.close(descriptor)
    assert path.read_bytes() == (b"0123456789" if appends else b"head ") + TEXT + b"tail"


def test_a_terminal(wire: Wire, text: str) -> None:
    near, far = pty.openpty()
    record = perform(wire, [far], url=text)
    assert record["body"] == {"fd": True, "size_bytes": len(TEXT)}
    assert os.read(near, 100) == TEXT.replace(b"\n", b"\r\n")
    os.close(far)
    os.close(near)


def test_a_terminal_that_hangs_up_ends_the_request(wire: Wire, origin: ScriptedOrigin) -> None:
    silent = _Silent(origin)
    near, far = pty.openpty()
    send(wire, [far], url=silent.url)
    assert os.read(near, 100) == b"first"
    os.close(far)
    os.close(near)
    assert wire.answer(901)["result"]["outcome"]["error"]["name"] == "response_output_closed"
    silent.has_ended()


# Before the first byte


def test_the_body_of_a_refused_response_is_in_the_record(wire: Wire, origin: ScriptedOrigin) -> None:
    missing = origin.on("/missing", lambda exchange: exchange.reply(404, b"not here"))
    pair = Pair()
    record = pair.perform(wire, url=missing, validate=True)
    assert record["outcome"]["error"]["name"] == "response_validation_failed.unacceptable_status_code"
    assert record["body"] == {"text": "not here", "size_bytes": 8}
    assert pair.received == b""


def test_a_wrong_content_type_is_refused_before_the_first_byte(wire: Wire, origin: ScriptedOrigin) -> None:
    page = origin.on("/page", lambda exchange: exchange.reply(200, b"<p>", headers=[("Content-Type", "text/html")]))
    pair = Pair()
    record = pair.perform(wire, url=page, validate=[{"content_type": ["application/json"]}])
    assert record["outcome"]["error"]["name"] == "response_validation_failed.unacceptable_content_type"
    assert pair.received == b""


@pytest.mark.parametrize("validates", [True, False])
def test_only_the_response_that_is_not_retried_is_written(wire: Wire, origin: ScriptedOrigin, validates: bool) -> None:
    answers = iter([503, 503, 200])

    def reply(exchange: Exchange) -> None:
        status = next(answers)
        exchange.reply(status, b"%d" % status)

    url = origin.on("/flaky", reply)
    policy = {"scale_ms": 1, "limit": 3, **({} if validates else {"without_validation": True})}
    pair = Pair()
    record = pair.perform(wire, url=url, interceptor=[{"retry_policy": policy}], validate=validates)
    assert record["outcome"]["ok"]
    assert len(record["attempts"]) == 3
    assert pair.received == b"200"


def test_a_redirect_and_a_body_that_is_held(wire: Wire, origin: ScriptedOrigin, text: str) -> None:
    old = origin.on("/old", lambda exchange: exchange.reply(302, b"moved", headers=[("Location", "/text")]))
    pair = Pair()
    pair.send(wire, url=old, hold_for_headers=True)
    record = wire.answer(901)["result"]
    assert record["response"]["status"] == 200
    wire.call("request.resume", request=record["request"])
    assert pair.finish() == TEXT


def test_an_empty_body(wire: Wire, origin: ScriptedOrigin) -> None:
    nothing = origin.on("/nothing", lambda exchange: exchange.reply(204))
    pair = Pair()
    assert pair.perform(wire, url=nothing)["outcome"]["ok"]
    assert pair.received == b""


# After the first byte


def test_an_attempt_that_has_written_is_the_last_one(wire: Wire, origin: ScriptedOrigin) -> None:
    def cut(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        exchange.close()

    url = origin.on("/cut", cut)
    pair = Pair()
    record = pair.perform(wire, url=url, interceptor=[{"retry_policy": {"scale_ms": 1}}])
    assert record["outcome"]["error"]["name"] == "session_task_failed.network_connection_lost"
    assert record["body"] == {"fd": True, "size_bytes": 3}
    assert pair.received == b"abc"
    assert len(origin.requests) == 1


class _Silent:
    """A response that begins, and then waits until its client is gone."""

    def __init__(self, origin: ScriptedOrigin) -> None:
        self.url = origin.on("/silent", self._serve)
        self._over = False

    def _serve(self, exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nfirst")
        self._over = exchange.wait_for_peer_to_close()

    def has_ended(self) -> None:
        eventually(lambda: self._over)


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_reader_that_closes_ends_the_request_although_nothing_arrives(
    wire: Wire, origin: ScriptedOrigin, kind: str
) -> None:
    silent = _Silent(origin)
    pair = Pair(kind)
    pair.send(wire, url=silent.url)
    assert os.read(pair.read, 5) == b"first"
    pair.close_read()
    record = wire.answer(901)["result"]
    assert record["outcome"]["error"]["name"] == "response_output_closed"
    assert record["body"] == {"fd": True, "size_bytes": 5}
    silent.has_ended()


@pytest.mark.parametrize("version", ["1.1", "2"])
def test_a_reader_that_closes_after_a_mebibyte(
    wire: Wire, nginx: Nginx, nghttpd: Nghttpd, authority: Authority, version: str
) -> None:
    base = nginx.https1 if version == "1.1" else nghttpd.https
    pair = Pair()
    params: dict[str, Any] = {"http_version": version, "trust": {"ca_file": str(authority.ca_file)}}
    pair.send(wire, url=f"{base}/16m.bin", **params)
    taken = 0
    while taken < 1 << 20:
        taken += len(os.read(pair.read, (1 << 20) - taken))
    pair.close_read()
    record = wire.answer(901)["result"]
    assert record["outcome"]["error"]["name"] == "response_output_closed"
    assert 1 << 20 <= record["body"]["size_bytes"] < 16 << 20
    assert wire.call("request.perform", url=f"{base}/hello.txt", **params)["outcome"]["ok"], "the others go on"


def test_a_full_disk(wire: Wire, url: str) -> None:
    with Path("/dev/full").open("wb", buffering=0) as full:
        record = perform(wire, [full.fileno()], url=url)
    assert record["outcome"]["error"]["name"] == "disk_full"
    assert record["body"]["size_bytes"] == 0


def test_a_client_that_disconnects_leaves_no_writer(daemon: Daemon, origin: ScriptedOrigin) -> None:
    silent = _Silent(origin)
    pair = Pair()
    with Wire(daemon.socket) as wire:
        pair.send(wire, url=silent.url)
        assert os.read(pair.read, 5) == b"first"
    assert pair.finish() == b""
    silent.has_ended()


def test_bodies_that_are_never_read_leave_no_descriptor(daemon: Daemon, origin: ScriptedOrigin) -> None:
    """All bytes have arrived, and wait for their readers when the client disconnects."""
    url = origin.on("/some", lambda exchange: exchange.reply(200, DATA[:200_000]))
    # A closed descriptor is replaced by /dev/null until its number is free; one such file stays open.
    most = daemon.descriptors().count("/dev/null") + 1
    for _ in range(10):
        pair = Pair()
        with Wire(daemon.socket) as wire:
            pair.send(wire, url=url, events={"types": ["task.did_receive_data"]})
            arrived = 0
            while arrived < 200_000:
                arrived += wire.event("task.did_receive_data")["data"]["size_bytes"]
        pair.close()
    eventually(lambda: daemon.unfinished() == {})
    eventually(lambda: daemon.descriptors().count("/dev/null") <= most)


@pytest.mark.parametrize("version", ["1.1", "2"])
def test_a_reader_that_stops_pauses_its_own_transfer_alone(
    wire: Wire, nginx: Nginx, nghttpd: Nghttpd, authority: Authority, version: str
) -> None:
    base = nginx.https1 if version == "1.1" else nghttpd.https
    params: dict[str, Any] = {"http_version": version, "trust": {"ca_file": str(authority.ca_file)}}
    url = f"{base}/16m.bin"
    stopped = Pair()
    stopped.send(wire, call=1, url=url, **params)
    assert select.select([stopped.read], [], [], PATIENCE_SECONDS)[0]
    for _ in range(3):
        other = Pair()
        record = other.perform(wire, url=url, **params)
        assert record["outcome"] == {"ok": True}
        assert hashlib.sha256(other.received).hexdigest() == nginx.hashes["16m.bin"]
    assert hashlib.sha256(stopped.finish()).hexdigest() == nginx.hashes["16m.bin"]
    assert wire.answer(1)["result"]["outcome"] == {"ok": True}


@pytest.mark.own_daemon
def test_a_large_body_takes_little_memory(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    piece, count = bytes(1 << 20), 256

    def send_much(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (count * len(piece)))
        for _ in range(count):
            exchange.send(piece)

    url = origin.on("/much", send_much)
    before = daemon.memory_kib("VmHWM")
    pair = Pair()
    record = pair.perform(wire, url=url)
    assert record["body"] == {"fd": True, "size_bytes": count * len(piece)}
    assert len(pair.received) == count * len(piece)
    assert daemon.memory_kib("VmHWM") - before < 16_384
    assert daemon.spooled() == []


# Contents


@pytest.mark.parametrize("decode", [True, False])
def test_it_is_decoded_unless_decode_is_false(wire: Wire, origin: ScriptedOrigin, decode: bool) -> None:
    packed = gzip.compress(TEXT * 100)
    url = origin.on("/gzip", lambda exchange: exchange.reply(200, packed, headers=[("Content-Encoding", "gzip")]))
    pair = Pair()
    assert pair.perform(wire, url=url, decode=decode)["outcome"]["ok"]
    assert pair.received == (TEXT * 100 if decode else packed)


@pytest.mark.parametrize("size", [10, 200_000])
def test_a_response_of_the_cache(start: StartDaemon, origin: ScriptedOrigin, size: int) -> None:
    fields = [("Cache-Control", "max-age=60")]
    url = origin.on("/fresh", lambda exchange: exchange.reply(200, DATA[:size], headers=fields))
    with Wire(start().socket) as wire:
        for status in ["miss", "hit"]:
            pair = Pair()
            record = pair.perform(wire, url=url, session=cache(wire), sha256=True)
            assert record["cache"]["status"] == status
            assert record["body"]["sha256"] == hashlib.sha256(DATA[:size]).hexdigest()
            assert pair.received == DATA[:size]


@as_root
def test_other_users(start: StartDaemon, text: str) -> None:
    daemon = start(config={"access": {"uids": {str(NOBODY): "submit"}}})
    daemon.directory.chmod(0o711)
    with wire_as(NOBODY, daemon.socket) as wire:
        pair = Pair()
        assert pair.perform(wire, url=text)["outcome"] == {"ok": True}
        assert pair.received == TEXT
