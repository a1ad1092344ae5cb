"""Bodies that the Python clients read while they send them: what the program's object returns is what arrives."""

from __future__ import annotations

import array
import asyncio
import gzip
import io
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import carpool
import httpx
import httpx2
import pytest
import requests
from carpool.httpx import CarpoolTransport
from carpool.httpx2 import CarpoolTransport as CarpoolTransport2
from carpool.requests import CarpoolAdapter
from harness.daemon import Daemon
from loops import RunLoop
from origins.scripted import ScriptedOrigin
from urllib3 import Retry, exceptions

TEXT = b"plain text " * 500
SLOW = "import time\nfor _ in range(25): print('x' * 99, flush=True); time.sleep(0.1)"


class Cipher:
    """A file whose `read` returns something else than the file that it wraps."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, size: int = -1) -> bytes:
        return bytes(byte ^ 1 for byte in self._file.read(size))


@pytest.fixture(autouse=True)
def socket(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))


@pytest.fixture
def session(socket: None) -> Iterator[requests.Session]:
    """A session of requests whose requests go through the test's daemon."""
    with requests.Session() as session:
        session.mount("http://", CarpoolAdapter())
        yield session


@pytest.fixture
def mirror(origin: ScriptedOrigin) -> str:
    """The URL of an origin that answers with the body of the request."""
    return origin.on("/mirror", lambda exchange: exchange.reply(200, exchange.request.body))


def test_a_part_is_what_its_object_reads(client: carpool.Client, mirror: str, tmp_path: Path) -> None:
    (tmp_path / "packed.gz").write_bytes(gzip.compress(TEXT))
    (tmp_path / "plain").write_bytes(TEXT)
    with gzip.open(tmp_path / "packed.gz") as packed:
        assert TEXT in client.post(mirror, files={"a": cast("Any", packed)}).content
    with gzip.open(tmp_path / "packed.gz") as packed, io.BufferedReader(cast("Any", packed)) as buffered:
        assert TEXT in client.post(mirror, files={"a": buffered}).content
    with (tmp_path / "plain").open("rb") as plain:
        content = client.post(mirror, files={"a": cast("Any", Cipher(plain))}).content
        assert TEXT not in content
        assert bytes(byte ^ 1 for byte in TEXT) in content


def test_what_cannot_be_measured_and_read_again_is_not_measured(client: carpool.Client, mirror: str) -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(gzip.compress(TEXT))
    with os.fdopen(reading, "rb") as pipe:
        answer = client.post(mirror, data=cast("Any", gzip.GzipFile(fileobj=pipe)))
    assert answer.content == TEXT


def test_a_position_that_is_lost_is_an_error(client: carpool.Client, mirror: str, origin: ScriptedOrigin) -> None:
    class Forward(io.BytesIO):
        def seek(self, offset: int, whence: int = 0) -> int:
            if whence == 0:
                raise OSError("this goes forward alone")
            return super().seek(offset, whence)

    with pytest.raises(OSError, match="forward alone"):
        client.post(mirror, data=Forward(TEXT))
    assert origin.requests == []


def test_a_pipe_is_sent_as_it_delivers(session: requests.Session, client: carpool.Client, mirror: str) -> None:
    def command() -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE)

    with command() as source:
        # Nothing of a pipe is known: `read` of 64 KiB would wait for its end.
        assert len(session.post(mirror, data=source.stdout, timeout=1).content) == 2_500
    with command() as source:
        assert len(client.post(mirror, data=cast("Any", source.stdout), timeout=1).content) == 2_500


def test_other_tasks_run_while_a_pipe_is_read(daemon: Daemon, mirror: str) -> None:
    async def run() -> bytes:
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb") as source:
            async with carpool.AsyncClient(daemon.socket) as client:
                sending = asyncio.create_task(client.post(mirror, data=source))
                # The end of the pipe comes from this event loop.
                for _ in range(3):
                    await asyncio.sleep(0.02)
                    os.write(writing, b"x")
                os.close(writing)
                return (await sending).content

    assert asyncio.run(asyncio.wait_for(run(), 20)) == b"xxx"


def test_a_call_that_waits_for_a_pipe_is_cancelled_at_once(daemon: Daemon, mirror: str) -> None:
    reading, writing = os.pipe()

    async def run() -> None:
        with os.fdopen(reading, "rb") as source:
            async with carpool.AsyncClient(daemon.socket) as client:
                sending = asyncio.create_task(client.post(mirror, data=source))
                os.write(writing, b"x")
                # The byte has left the pipe: the call waits for the next.
                while select.select([reading], [], [], 0)[0]:
                    await asyncio.sleep(0.01)
                sending.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await sending

    # `asyncio.run` waits for the threads that its loop has started.
    running = threading.Thread(target=asyncio.run, args=(run(),), daemon=True)
    running.start()
    running.join(20)
    has_ended = not running.is_alive()
    os.close(writing)
    assert has_ended


def test_a_pipe_of_which_a_line_was_read_is_sent_from_there(daemon: Daemon, mirror: str) -> None:
    async def run(data: bytes) -> bytes:
        reading, writing = os.pipe()
        feeding = threading.Thread(target=write_all, args=(writing, b"line\n" + data), daemon=True)
        feeding.start()
        with os.fdopen(reading, "rb", buffering=200_000) as source:
            assert source.readline() == b"line\n"
            async with carpool.AsyncClient(daemon.socket) as client:
                return (await client.post(mirror, data=source)).content

    for size in (0, 1, 65_536, 300_000):
        assert asyncio.run(asyncio.wait_for(run(b"x" * size), 20)) == b"x" * size


def test_a_pipe_is_sent_whole_and_stays_as_it_was(run_loop: RunLoop, daemon: Daemon, mirror: str) -> None:
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "wb", buffering=0) as pipe:
            for _ in range(10):
                pipe.write(bytes(65_536))
                # The next block comes when the client waits for it.
                while select.select([reading], [], [], 0)[0]:
                    time.sleep(0.001)
                time.sleep(0.005)

    async def run() -> bytes:
        with os.fdopen(reading, "rb") as source:
            async with carpool.AsyncClient(daemon.socket) as client:
                content = (await client.post(mirror, data=source)).content
            assert os.get_blocking(reading)
            return content

    threading.Thread(target=write, daemon=True).start()
    assert run_loop(asyncio.wait_for(run(), 20)) == bytes(655_360)


def test_a_device_is_sent(daemon: Daemon, mirror: str) -> None:
    async def run() -> bytes:
        with Path("/dev/null").open("rb") as source:
            async with carpool.AsyncClient(daemon.socket) as client:
                return (await client.post(mirror, data=source)).content

    assert asyncio.run(asyncio.wait_for(run(), 20)) == b""


def write_all(descriptor: int, data: bytes) -> None:
    with os.fdopen(descriptor, "wb") as pipe:
        pipe.write(data)


@pytest.mark.parametrize("count", [4, 6])
def test_the_bytes_of_an_iterable_are_as_many_as_its_length(client: carpool.Client, mirror: str, count: int) -> None:
    with pytest.raises(ValueError, match=r"data: it has (more bytes than 5|4 bytes, expected 5)"):
        client.post(mirror, data=iter([b"x"] * count), headers={"Content-Length": "5"})
    assert client.post(mirror, data=iter([b"x"] * 5), headers={"Content-Length": "5"}).content == b"xxxxx"


def test_what_the_program_raises_while_it_is_read_comes_back(
    session: requests.Session, client: carpool.Client, mirror: str
) -> None:
    def source() -> Iterator[bytes]:
        yield b"first"
        client.wait("r_none_1")

    with pytest.raises(carpool.ObjectError, match="r_none_1"):
        client.post(mirror, data=source())
    with pytest.raises(carpool.ObjectError, match="r_none_1"):
        session.post(mirror, data=source())
    with httpx.Client(transport=CarpoolTransport()) as transport, pytest.raises(carpool.ObjectError, match="r_none_1"):
        transport.post(mirror, content=source())


@pytest.mark.parametrize(
    ("length", "content", "message"),
    [
        ("5", b"xxxxxx", "more bytes than 5"),
        ("5", b"xxxx", "4 bytes, fewer than 5"),
        ("x", b"xxxx", "a number of bytes, not 'x'"),
    ],
)
def test_httpx_raises_its_own_error_for_a_wrong_length(mirror: str, length: str, content: bytes, message: str) -> None:
    with httpx.Client(transport=CarpoolTransport()) as client:
        for body in (content, iter([content])):
            with pytest.raises(httpx.LocalProtocolError, match=message):
                client.post(mirror, content=body, headers={"Content-Length": length})
        assert client.post(mirror, content=iter([content])).content == content


def test_requests_raises_its_own_error_for_a_wrong_length(session: requests.Session, mirror: str) -> None:
    for content in (b"xxxxxx", b"xxxx"):
        with pytest.raises((requests.exceptions.InvalidHeader, exceptions.InvalidHeader), match="Content-Length"):
            session.post(mirror, data=iter([content]), headers={"Content-Length": "5"})


def test_a_response_may_be_closed_before_its_end_after_a_sent_body(
    session: requests.Session, origin: ScriptedOrigin
) -> None:
    url = origin.on("/large", lambda exchange: exchange.reply(200, bytes(3_000_000)))
    for _ in range(2):
        with session.post(url, data=iter([b"a"] * 50), stream=True) as response:
            assert len(next(response.iter_content(100))) == 100


def test_an_iterator_that_was_read_is_not_sent_again(
    session: requests.Session, mirror: str, origin: ScriptedOrigin
) -> None:
    kept = origin.on("/kept", lambda exchange: exchange.reply(307, headers=[("Location", "/mirror")]))
    seen = origin.on("/seen", lambda exchange: exchange.reply(303, headers=[("Location", "/mirror")]))
    busy = origin.on("/busy", lambda exchange: exchange.reply(503))
    with pytest.raises(requests.exceptions.UnrewindableBodyError):
        session.post(kept, data=iter([b"a"]))
    assert session.post(seen, data=iter([b"a"])).content == b""
    session.mount("http://", CarpoolAdapter(max_retries=Retry(2, status_forcelist=[503], allowed_methods=None)))
    with pytest.raises(requests.exceptions.UnrewindableBodyError):
        session.post(busy, data=iter([b"a"]))
    # The failure is said, and not that the body cannot be sent again.
    with pytest.raises(requests.exceptions.ConnectionError, match=r"127\.0\.0\.1"):
        session.post("http://127.0.0.1:1/", data=iter([b"a"]))
    with httpx.Client(transport=CarpoolTransport(), follow_redirects=True) as client:
        with pytest.raises(httpx.StreamConsumed):
            client.post(kept, content=iter([b"a"]))
        assert client.post(seen, content=iter([b"a"])).content == b""
        # A list has its pieces again.
        assert client.post(kept, content=[b"a", b"b"]).content == b"ab"


NUMBERS = array.array("i", range(500, 800))
BUFFERS: dict[str, Any] = {
    "bytearray": bytearray(b"x" * 60_000),
    "array": array.array("B", b"xyz" * 20_000),
    "array of ints": NUMBERS,
    "large array": array.array("i", range(300_000)),
    "memoryview of ints": memoryview(NUMBERS),
    "every second": memoryview(b"abcdef")[::2],
    "empty": array.array("i"),
}


@pytest.mark.parametrize("buffer", BUFFERS.values(), ids=BUFFERS)
def test_what_has_a_buffer_is_its_bytes(
    client: carpool.Client, session: requests.Session, daemon: Daemon, mirror: str, buffer: Any
) -> None:
    content = memoryview(buffer).tobytes()

    async def run() -> list[bytes]:
        async with carpool.AsyncClient(daemon.socket) as other:
            return [(await other.post(mirror, data=data)).content for data in (buffer, [buffer], iter([buffer]))]

    sent = [client.post(mirror, data=data).content for data in (buffer, [buffer], iter([buffer]))]
    sent += asyncio.run(asyncio.wait_for(run(), 60))
    sent += [session.post(mirror, data=data).content for data in (buffer, iter([buffer]))]
    for kind, transport in ((httpx.Client, CarpoolTransport()), (httpx2.Client, CarpoolTransport2())):
        with kind(transport=cast("Any", transport)) as other:
            sent.append(other.post(mirror, content=buffer).content)
    assert sent == [content] * 10
    form = client.post(mirror, files={"a": ("a.bin", buffer)}).content
    assert b"\r\n\r\n" + content + b"\r\n--" in form


def test_numbers_are_no_blocks_of_a_body(client: carpool.Client, session: requests.Session, mirror: str) -> None:
    numbers: Any = [200, 100]
    for post in (client.post, session.post):
        with pytest.raises(TypeError, match="int"):
            post(mirror, data=iter(numbers))
