"""Streams through the Python clients."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import json
import sys
import termios
from typing import Any

import carpool
import pytest
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS, eventually
from loops import LOOPS, RunLoop, running_on
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin

# fcntl has no name for it before Python 3.10.
GET_PIPE_SIZE = 1032


def waiting(descriptor: int) -> int:
    """How many bytes wait in a pipe."""
    return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)), sys.byteorder)


def events_of(exchange: Exchange, pieces: list[bytes], kind: str = "text/event-stream") -> None:
    """Answer with one chunk for each piece."""
    exchange.send(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    for piece in pieces:
        exchange.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
    exchange.send(b"0\r\n\r\n")


def test_a_stream_is_read_while_it_comes(client: carpool.Client, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/never")

    def half(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nX-Kind: half\r\nContent-Length: 10\r\n\r\nfirst")
        gate.wait(PATIENCE_SECONDS)
        exchange.send(b"other")

    with client.stream("GET", origin.on("/half", half)) as stream:
        assert stream.raise_for_status().status_code == 200
        assert stream.headers["x-kind"] == "half"
        pieces = stream.iter_bytes()
        assert next(pieces) == b"first"
        gate.set()
        assert b"".join(pieces) == b"other"


@pytest.mark.parametrize(
    ("iterator", "sent", "expected"),
    [
        ("iter_bytes", [b"a\xff", b"b"], [b"a\xffb"]),
        ("iter_text", [b"caf\xc3", b"\xa9"], ["café"]),
        ("iter_lines", [b"one\r\ntw", b"o\n\nthree"], ["one", "two", "", "three"]),
        ("iter_json", [b'{"a":1}\n\n[2', b"]\n3\n"], [{"a": 1}, [2], 3]),
        (
            "iter_sse",
            [b"id: 1\nevent: x\ndata: a\ndata: b\n\n", b"retry: 5\ndata: c\n\n"],
            [carpool.ServerSentEvent("x", "a\nb", "1", None), carpool.ServerSentEvent("message", "c", "1", 5)],
        ),
    ],
)
@pytest.mark.parametrize("loop", [None, *LOOPS])
def test_a_stream_is_read_as(
    daemon: Daemon,
    origin: ScriptedOrigin,
    iterator: str,
    sent: list[bytes],
    expected: list[Any],
    *,
    loop: str | None,
) -> None:
    url = origin.on("/stream", lambda exchange: events_of(exchange, sent))

    async def read() -> list[Any]:
        async with carpool.AsyncClient(daemon.socket) as client, client.stream("GET", url) as stream:
            return [piece async for piece in getattr(stream, iterator)()]

    if loop is not None:
        found = running_on(loop)(read())
    else:
        with carpool.Client(daemon.socket) as client, client.stream("GET", url) as stream:
            found = list(getattr(stream, iterator)())
    if iterator in {"iter_bytes", "iter_text"}:
        found = [type(found[0])().join(found)]
    assert found == expected


TEXT = "café\r\n日本\nthird"


@pytest.mark.parametrize(
    ("charset", "encoding"),
    [("shift_jis", "shift_jis"), ('"UTF-16"', "utf-16"), ("base64", "utf-8"), ("none-such", "utf-8")],
)
@pytest.mark.parametrize("loop", [None, *LOOPS])
def test_a_stream_is_text_in_its_charset(
    daemon: Daemon, origin: ScriptedOrigin, charset: str, encoding: str, loop: str | None
) -> None:
    data = TEXT.encode(encoding, "ignore")
    text = data.decode(encoding)
    pieces = [data[at : at + 3] for at in range(0, len(data), 3)]
    url = origin.on("/text", lambda exchange: events_of(exchange, pieces, f"text/plain; charset={charset}"))

    async def read(iterator: str) -> list[str]:
        async with carpool.AsyncClient(daemon.socket) as client, client.stream("GET", url) as stream:
            return [piece async for piece in getattr(stream, iterator)()]

    def read_here(iterator: str) -> list[str]:
        with carpool.Client(daemon.socket) as client, client.stream("GET", url) as stream:
            return list(getattr(stream, iterator)())

    for iterator, expected in (("iter_text", text), ("iter_lines", text.replace("\r", "").replace("\n", ""))):
        found = read_here(iterator) if loop is None else running_on(loop)(read(iterator))
        assert "".join(found) == expected
    with carpool.Client(daemon.socket) as client, client.stream("GET", url) as stream:
        stream.encoding = "latin-1"
        assert "".join(stream.iter_text()) == data.decode("latin-1")


def test_a_response_and_a_stream_divide_a_body_alike(client: carpool.Client, origin: ScriptedOrigin) -> None:
    body = "one\r\ntwo\n\nthree\rfour\n\rfive\u2028six\x0bseven\x85eight".encode()
    url = origin.on("/lines", lambda exchange: exchange.reply(body=body))
    response = client.get(url)
    with client.stream("GET", url) as stream:
        lines = list(stream.iter_lines())
    assert lines == list(response.iter_lines())
    assert lines == ["one", "two", "", "three", "four", "", "five\u2028six\x0bseven\x85eight"]
    for size in (None, 1, 7, 1_000):
        with client.stream("GET", url) as stream:
            assert list(stream.iter_bytes(size)) == list(response.iter_bytes(size))
    with client.stream("GET", url) as stream:
        for readable in (response, stream):
            with pytest.raises(ValueError, match="chunk_size: expected 1 or more, not 0"):
                list(readable.iter_bytes(0))
    assert list(client.get(origin.on("/empty", lambda exchange: exchange.reply())).iter_bytes()) == []


def test_what_is_read_while_it_is_sent_cannot_wait_for_the_head(client: carpool.Client, origin: ScriptedOrigin) -> None:
    """The caller cannot send it while it waits."""
    with (
        pytest.raises(ValueError, match="waits for the head"),
        client.stream("POST", origin.url, data=iter([b"a"])),
    ):
        pass
    with pytest.raises(ValueError, match="waits for the head"):
        client.post(origin.url, data=iter([b"a"]), hold_for_headers=True)
    assert origin.requests == []


def test_a_stream_that_breaks_raises(client: carpool.Client, origin: ScriptedOrigin) -> None:
    def broken(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        exchange.close()

    with client.stream("GET", origin.on("/broken", broken)) as stream:
        pieces = stream.iter_bytes()
        assert next(pieces) == b"first"
        with pytest.raises(carpool.TransferError, match="network_connection_lost"):
            list(pieces)


@pytest.mark.parametrize("loop", [None, *LOOPS])
def test_callbacks_are_answered_while_a_stream_is_read(
    daemon: Daemon, origin: ScriptedOrigin, *, loop: str | None
) -> None:
    """The validator of a session is asked at the end, before the pipe is closed."""
    url = origin.on("/checked", lambda exchange: exchange.reply(200, b"body"))
    session = {"validate": [{"callback": {"name": "check", "deadline_ms": 3_000}}]}

    async def read() -> bytes:
        async with carpool.AsyncClient(daemon.socket, session="checked") as client:
            await client.register("check", validate=lambda call: call.response.status_code == 200)
            await client.create_session("checked", session)
            async with client.stream("GET", url) as stream:
                return await stream.read()

    if loop is not None:
        assert running_on(loop)(read()) == b"body"
        return
    with carpool.Client(daemon.socket, session="checked") as client:
        client.register("check", validate=lambda call: call.response.status_code == 200)
        client.create_session("checked", session)
        with client.stream("GET", url) as stream:
            assert stream.read() == b"body"


@pytest.mark.parametrize("loop", [None, *LOOPS])
def test_a_daemon_that_is_killed_while_a_stream_is_read(
    daemon: Daemon, origin: ScriptedOrigin, *, loop: str | None
) -> None:
    def begin(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        exchange.wait_for_peer_to_close()

    url = origin.on("/begun", begin)

    async def read() -> None:
        async with carpool.AsyncClient(daemon.socket) as client, client.stream("GET", url) as stream:
            async for _ in stream.iter_bytes():
                daemon.kill()

    with pytest.raises(carpool.ConnectionLostError):
        if loop is not None:
            running_on(loop)(read())
        else:
            with carpool.Client(daemon.socket) as client, client.stream("GET", url) as stream:
                for _ in stream.iter_bytes():
                    daemon.kill()


@pytest.mark.parametrize("loop", [None, *LOOPS])
@pytest.mark.parametrize(
    ("value", "error", "words"),
    [(0, ValueError, "at least 1 byte, not 0"), (-1, ValueError, "not -1"), ("1", TypeError, "not str")],
)
def test_credit_is_a_number_of_bytes(
    daemon: Daemon, origin: ScriptedOrigin, value: Any, error: type[Exception], words: str, *, loop: str | None
) -> None:
    async def read() -> None:
        async with carpool.AsyncClient(daemon.socket) as client, client.stream("GET", origin.url, credit_bytes=value):
            pass

    with pytest.raises(error, match=f"credit_bytes: expected .*{words}"):
        if loop is not None:
            running_on(loop)(read())
        else:
            with carpool.Client(daemon.socket) as client, client.stream("GET", origin.url, credit_bytes=value):
                pass
    assert origin.requests == []


@pytest.mark.parametrize(("given", "size"), [(1_000, 4_096), (65_536, 65_536), (262_144, 262_144)])
def test_credit_is_the_size_of_the_pipe(client: carpool.Client, nginx: Nginx, given: int, size: int) -> None:
    """The kernel rounds it up to a page. As long as nothing is read, the pipe is full."""
    with client.stream("GET", nginx.http + "/16m.bin", credit_bytes=given) as stream:
        assert fcntl.fcntl(stream._pipe.descriptor, GET_PIPE_SIZE) == size
        eventually(lambda: waiting(stream._pipe.descriptor) == size)
        assert len(next(stream.iter_bytes())) == min(given, 65_536)


def test_a_fast_stream_does_not_keep_other_tasks_from_running(run_loop: RunLoop, daemon: Daemon, nginx: Nginx) -> None:
    async def read() -> list[int]:
        turns, seen = 0, []

        async def turn() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        url = nginx.http + "/16m.bin"
        async with (
            carpool.AsyncClient(daemon.socket) as client,
            client.stream("GET", url, credit_bytes=1 << 20) as stream,
        ):
            await asyncio.to_thread(eventually, lambda: waiting(stream._pipe.descriptor) >= 8 * 65_536)
            other = asyncio.create_task(turn())
            async for _ in stream.iter_bytes():
                seen.append(turns)
                if len(seen) == 8:
                    break
            other.cancel()
        return seen

    seen = run_loop(read())
    assert seen == sorted(set(seen)), "it runs between two blocks that were there"
    assert seen[0] > 0


def test_a_stream_is_read_once(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/once", lambda exchange: exchange.reply(200, b"one\ntwo\n"))
    with client.stream("GET", url) as stream:
        assert stream.read() == b"one\ntwo\n"
        with pytest.raises(carpool.CarpoolError, match="read to its end or closed"):
            stream.read()
    with client.stream("GET", url) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "one"
    with pytest.raises(carpool.CarpoolError, match="read to its end or closed"):
        list(lines)


SECOND_READERS: list[tuple[str, tuple[int, ...], str]] = [
    ("iter_lines", (), "iter_lines"),
    ("iter_lines", (), "read"),
    ("iter_bytes", (16,), "iter_bytes"),
    ("iter_text", (), "iter_json"),
    ("iter_json", (), "iter_sse"),
]


@pytest.mark.parametrize(("first", "arguments", "second"), SECOND_READERS)
def test_a_second_iterator_is_refused_as_soon_as_one_has_begun(
    client: carpool.Client, origin: ScriptedOrigin, first: str, arguments: tuple[int, ...], second: str
) -> None:
    """It would miss what the first one has read and not returned."""
    body = b'"a long first line"\n"two"\n3'
    with client.get(origin.on("/begun", lambda exchange: exchange.reply(body=body)), stream=True) as stream:
        pieces = getattr(stream, first)(*arguments)
        found = [next(pieces)]
        for _ in range(2):
            with pytest.raises(carpool.CarpoolError, match=r"keep that one and continue it, or use read\(\)"):
                list(getattr(stream, second)())
        found += pieces
    expected = {
        "iter_bytes": [body[:16], body[16:]],
        "iter_text": [body.decode()],
        "iter_json": [json.loads(line) for line in body.splitlines()],
    }
    assert found == expected.get(first, body.decode().splitlines()), "the first one continues"


@pytest.mark.parametrize(("first", "arguments", "second"), SECOND_READERS)
def test_a_second_asynchronous_iterator_is_refused_too(
    run_loop: RunLoop, daemon: Daemon, origin: ScriptedOrigin, first: str, arguments: tuple[int, ...], second: str
) -> None:
    url = origin.on("/begun", lambda exchange: exchange.reply(body=b'"a long first line"\n"two"\n3'))

    async def main() -> None:
        async with carpool.AsyncClient(daemon.socket) as client, client.stream("GET", url) as stream:
            async for _ in getattr(stream, first)(*arguments):
                break
            with pytest.raises(carpool.CarpoolError, match="keep that one and continue it"):
                if second == "read":
                    await stream.read()
                async for _ in getattr(stream, second)():
                    pass

    run_loop(main())


def test_no_line_is_lost_after_one_that_is_not_json(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/bad", lambda exchange: exchange.reply(body=b"1\nbad\n3\n"))
    found: list[Any] = []
    with client.stream("GET", url) as stream:
        with pytest.raises(carpool.DecodingError, match="a line of the stream is not JSON"):
            found.extend(stream.iter_json())
        with pytest.raises(carpool.CarpoolError, match="has begun, or has failed"):
            found.extend(stream.iter_json())
    assert found == [1]


def test_an_iterator_that_was_refused_has_not_begun(client: carpool.Client, origin: ScriptedOrigin) -> None:
    with client.stream("GET", origin.on("/zero", lambda exchange: exchange.reply(body=b"abc"))) as stream:
        with pytest.raises(ValueError, match="chunk_size: expected 1 or more"):
            list(stream.iter_bytes(0))
        unused = stream.iter_lines()
        assert stream.read() == b"abc"
        with pytest.raises(carpool.CarpoolError, match="read to its end or closed"):
            list(unused)


def test_a_stream_that_is_left_ends(client: carpool.Client, nginx: Nginx) -> None:
    with client.stream("GET", nginx.http + "/16m.bin", credit_bytes=1_000) as stream:
        assert 0 < len(next(stream.iter_bytes())) <= 1_000
    assert client.call("request.list")["requests"] == []


def test_a_large_stream_comes_whole(client: carpool.Client, nginx: Nginx) -> None:
    with client.stream("GET", nginx.http + "/16m.bin") as stream:
        digest = hashlib.sha256()
        for piece in stream.iter_bytes():
            digest.update(piece)
    assert digest.hexdigest() == nginx.hashes["16m.bin"]
