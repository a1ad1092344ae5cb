"""Bodies through the Python clients: uploads that are made while they are sent, resumed downloads."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hashlib
import io
import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import IO, Any

import carpool
import pytest
from harness.bothclients import KINDS, opened
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS
from loops import RunLoop
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin

SIZES = [0, 1, 32_767, 32_768, 32_769, 65_536, 1_048_583]


def content(size: int) -> bytes:
    return hashlib.shake_128(b"body").digest(size)


@pytest.fixture
def sink(origin: ScriptedOrigin) -> str:
    """Answers with the hash of the received body."""

    def handler(exchange: Exchange) -> None:
        exchange.reply(body=hashlib.sha256(exchange.request.body).hexdigest().encode())

    return origin.on("/sink", handler)


# Uploads


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["bytes", "path", "file", "iterator"])
def test_what_is_uploaded_arrives(client: carpool.Client, sink: str, tmp_path: Path, kind: str, size: int) -> None:
    body = content(size)
    path = tmp_path / "body"
    path.write_bytes(body)
    blocks: Iterator[bytes] = iter([body[start : start + 100_003] for start in range(0, size, 100_003)])
    source = {"bytes": body, "path": path, "file": io.BytesIO(body), "iterator": blocks}[kind]
    assert client.upload(sink, source).text == hashlib.sha256(body).hexdigest()  # type: ignore[arg-type]


def opened_at(path: Path, position: int) -> IO[bytes]:
    file = path.open("rb")
    file.seek(position)
    return file


def piped(path: Path) -> IO[bytes]:
    """Return a pipe with what is in the file: it cannot tell its length."""
    reading, writing = os.pipe()
    os.write(writing, path.read_bytes())
    os.close(writing)
    return os.fdopen(reading, "rb")


@pytest.mark.parametrize(
    ("make", "length"),
    [
        (lambda path: opened_at(path, 0), "5000"),
        (lambda path: opened_at(path, 100), "4900"),
        (lambda path: opened_at(path, 5_000), "0"),
        (lambda path: io.BytesIO(path.read_bytes()), "5000"),
        (lambda path: io.BytesIO(b""), "0"),
        (lambda path: gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(path.read_bytes()))), "5000"),
        (piped, None),
        (lambda path: iter([path.read_bytes()]), None),
        (lambda _: opened_at(Path("/proc/self/limits"), 0), None),
    ],
    ids=["file", "position", "end", "BytesIO", "empty", "gzip", "pipe", "iterator", "proc"],
)
@pytest.mark.parametrize("method", ["put", "upload"])
def test_the_length_of_what_is_sent_is_known_if_it_can_be(
    client: carpool.Client,
    origin: ScriptedOrigin,
    tmp_path: Path,
    make: Callable[[Path], Any],
    length: str | None,
    method: str,
) -> None:
    path = tmp_path / "body"
    path.write_bytes(content(5_000))
    data = make(path)
    with data if hasattr(data, "close") else contextlib.nullcontext():
        assert (client.put(origin.url, data=data) if method == "put" else client.upload(origin.url, data)).ok
    (request,) = origin.requests
    assert request.values("content-length") == ([] if length is None else [length])
    assert request.values("transfer-encoding") == (["chunked"] if length is None else [])
    if length is not None:
        assert request.body == content(5_000)[5_000 - int(length) :]


@pytest.mark.parametrize("size", [300, 600_000])
@pytest.mark.parametrize("folder", ["/dev/fd", "/proc/self/fd"])
def test_the_client_reads_what_the_daemon_cannot_open(
    client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path, folder: str, size: int
) -> None:
    """A path that means a descriptor of this process."""
    (tmp_path / "body").write_bytes(content(size))
    with (tmp_path / "body").open("rb") as file:
        path = Path(folder, str(file.fileno()))
        assert client.put(origin.url, data=path).ok
        assert client.post(origin.url, files={"f": path}).ok
        with path.open("rb") as again:
            assert client.post(origin.url, files={"f": again}).ok
    first, *forms = origin.requests
    assert (first.body, first.values("content-length")) == (content(size), [str(size)])
    for form in forms:
        assert f'name="f"; filename="{path.name}"\r\n'.encode() in form.body
        assert b"\r\n\r\n" + content(size) + b"\r\n--" in form.body


@pytest.mark.parametrize("name", ["Content-Length", "content-length"])
def test_a_given_length_is_sent(run_loop: RunLoop, daemon: Daemon, origin: ScriptedOrigin, name: str) -> None:
    def blocks() -> Iterator[bytes]:
        for _ in range(5):
            yield bytes(1_000)

    async def main() -> None:
        async with carpool.AsyncClient(daemon.socket) as client:
            assert (await client.put(origin.url, data=blocks(), headers={name: "5000", "X-Other": "1"})).ok

    run_loop(main())
    with carpool.Client(daemon.socket) as client:
        assert client.put(origin.url, data=blocks(), headers={name: "5000", "X-Other": "1"}).ok
    for request in origin.requests:
        assert (request.values("content-length"), request.values("x-other")) == (["5000"], ["1"])
        assert request.body == bytes(5_000)


def test_a_given_length_of_bytes_and_of_a_client_is_sent(daemon: Daemon, origin: ScriptedOrigin) -> None:
    fields = {"Content-Length": "5000"}
    with carpool.Client(daemon.socket) as client:
        assert client.put(origin.url, data=bytes(5_000), headers=fields).ok
        assert client.put(origin.url, files={"a": ("a.txt", b"x")}, headers=fields).ok
    with carpool.Client(daemon.socket, headers=fields) as client:
        assert client.put(origin.url, data=bytes(5_000)).ok
        assert client.put(origin.url, data=iter([bytes(5_000)])).ok
        assert client.get(origin.url, headers={"Content-Length": "0"}).ok
    sent = [(request.values("content-length"), len(request.body)) for request in origin.requests]
    assert sent == [(["5000"], 5_000), ([str(sent[1][1])], sent[1][1]), *[(["5000"], 5_000)] * 2, ([], 0)]


@pytest.mark.parametrize("given", ["", "-1", "five", "1, 1"])
def test_a_length_that_is_no_number_is_refused(client: carpool.Client, origin: ScriptedOrigin, given: str) -> None:
    with pytest.raises(ValueError, match="headers: Content-Length is the number of bytes in data, not"):
        client.put(origin.url, data=iter([b"x"]), headers={"Content-Length": given})
    assert origin.requests == []


def test_data_that_is_shorter_than_its_length_is_no_body(client: carpool.Client, sink: str) -> None:
    with pytest.raises(ValueError, match="data: it has 1 bytes, expected 5"):
        client.put(sink, data=iter([b"x"]), headers={"Content-Length": "5"})
    assert [entry["state"] for entry in client.call("request.list")["requests"]] == ["cancelled"]


def test_a_file_that_grows_while_it_is_sent_has_its_first_bytes(client: carpool.Client, sink: str) -> None:
    class Growing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(size) or b"more"

    assert client.put(sink, data=Growing(content(70_000))).text == hashlib.sha256(content(70_000)).hexdigest()


def test_the_asynchronous_client_uploads_what_is_made_meanwhile(run_loop: RunLoop, daemon: Daemon, sink: str) -> None:
    async def make() -> AsyncIterator[bytes]:
        for number in range(10):
            await asyncio.sleep(0)
            yield bytes([number]) * 70_000

    async def main() -> str:
        async with carpool.AsyncClient(daemon.socket) as client:
            return (await client.upload(sink, make(), method="PUT")).text

    expected = hashlib.sha256(b"".join(bytes([number]) * 70_000 for number in range(10))).hexdigest()
    assert run_loop(main()) == expected


def test_an_early_answer_ends_what_is_read(client: carpool.Client, origin: ScriptedOrigin) -> None:
    def refuse(exchange: Exchange) -> bool:
        exchange.reply(413, b"too much", headers=[("Connection", "close")])
        return exchange.wait_for_peer_to_close()

    def endless() -> Iterator[bytes]:
        while True:
            yield bytes(65_536)

    assert client.upload(origin.on_head("/small", refuse), endless()).status_code == 413


def test_a_body_that_cannot_be_read_cancels_its_request(client: carpool.Client, sink: str) -> None:
    def broken() -> Iterator[bytes]:
        yield b"first"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        client.upload(sink, broken())
    [entry] = client.call("request.list")["requests"]
    assert entry["state"] == "cancelled"


# Downloads


@pytest.mark.parametrize("name", ["empty.txt", "200.bin", "1m.bin", "16m.bin"])
def test_a_download_is_the_file(client: carpool.Client, nginx: Nginx, tmp_path: Path, name: str) -> None:
    seen: list[carpool.Progress] = []
    place = tmp_path / "file"
    response = client.download(f"{nginx.http}/{name}", place, progress=seen.append, sha256=True)
    assert response.path == place
    assert response.sha256 == hashlib.sha256(place.read_bytes()).hexdigest() == nginx.hashes[name]
    assert seen[-1].received_bytes == place.stat().st_size
    assert [step.received_bytes for step in seen] == sorted(step.received_bytes for step in seen)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert client.call("request.list")["requests"] == []


def test_a_download_into_a_directory_is_named_by_the_response(
    client: carpool.Client, nginx: Nginx, tmp_path: Path
) -> None:
    assert client.download(f"{nginx.http}/200.bin", tmp_path).path == tmp_path / "200.bin"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("named", ["file", "directory"])
def test_a_file_that_a_download_replaces_keeps_its_attributes(
    daemon: Daemon, nginx: Nginx, tmp_path: Path, kind: str, named: str
) -> None:
    place, other = tmp_path / "200.bin", tmp_path / "other"
    place.write_bytes(b"old")
    place.chmod(0o640)
    os.setxattr(place, "user.carpool-test", b"kept")
    with opened(kind, daemon) as client:
        url = f"{nginx.http}/200.bin"
        assert client.download(url, place if named == "file" else tmp_path).path == place
        assert place.stat().st_mode & 0o777 == 0o640
        assert os.getxattr(place, "user.carpool-test") == b"kept"
        # Another name of the file has the new bytes too.
        other.hardlink_to(place)
        place.write_bytes(b"old")
        client.download(url, place)
    assert other.read_bytes() == place.read_bytes()
    assert hashlib.sha256(other.read_bytes()).hexdigest() == nginx.hashes["200.bin"]


def test_a_new_file_of_a_download_has_the_umask_of_the_program(
    client: carpool.Client, nginx: Nginx, tmp_path: Path
) -> None:
    before = os.umask(0o027)
    try:
        client.download(f"{nginx.http}/200.bin", tmp_path / "file")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


def test_a_download_goes_on_where_it_broke_off(client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path) -> None:
    body = content(300_000)

    def handler(exchange: Exchange) -> None:
        head = 'ETag: "v1"\r\nAccept-Ranges: bytes\r\n'
        wanted = exchange.request.values("range")
        if not wanted:
            exchange.send(f"HTTP/1.1 200 OK\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:100_000])
            exchange.close()
        start = int(wanted[0].removeprefix("bytes=").removesuffix("-"))
        span = f"Content-Range: bytes {start}-{len(body) - 1}/{len(body)}\r\nContent-Length: {len(body) - start}\r\n"
        exchange.send(f"HTTP/1.1 206 Partial Content\r\n{head}{span}\r\n".encode() + body[start:])

    url = origin.on("/large", handler)
    place = tmp_path / "large"
    with pytest.raises(carpool.TransferError) as failure:
        client.download(url, place)
    assert failure.value.resume_data is not None
    assert not place.exists()
    response = client.download(url, place, resume=failure.value.resume_data)
    assert response.record["resumed_at_bytes"] == 100_000
    assert place.read_bytes() == body
    assert [path.name for path in tmp_path.iterdir()] == ["large"]


def test_a_page_of_error_replaces_nothing(client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path) -> None:
    place = tmp_path / "good"
    place.write_text("good")
    url = origin.on("/gone", lambda exchange: exchange.reply(404, b"gone"))
    with pytest.raises(carpool.ValidationError):
        client.download(url, place, validate=True)
    assert place.read_text() == "good"
    assert [path.name for path in tmp_path.iterdir()] == ["good"]


def test_a_cancelled_download_can_go_on(
    run_loop: RunLoop, daemon: Daemon, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    gate = origin.hold("/never")
    begun = asyncio.Event()
    seen: list[carpool.Progress] = []

    def handler(exchange: Exchange) -> None:
        exchange.send(b'HTTP/1.1 200 OK\r\nETag: "v1"\r\nContent-Length: 100000\r\n\r\n' + bytes(50_000))
        gate.wait(PATIENCE_SECONDS)

    def note(progress: carpool.Progress) -> None:
        seen.append(progress)
        if progress.resume_data is not None and progress.received_bytes > 0:
            begun.set()

    async def main() -> None:
        async with carpool.AsyncClient(daemon.socket) as client:
            task = asyncio.create_task(client.download(origin.on("/slow", handler), tmp_path / "file", progress=note))
            await asyncio.wait_for(begun.wait(), PATIENCE_SECONDS)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run_loop(main())
    assert seen[-1].total_bytes == 100_000
    [partial] = tmp_path.iterdir()
    assert partial.name.endswith(".carpool-part")


def test_a_handler_says_where_a_download_goes(client: carpool.Client, nginx: Nginx, tmp_path: Path) -> None:
    client.register("place", destination=lambda call: tmp_path / f"my-{call.suggested_name}")
    place = {"callback": {"name": "place"}}
    response = client.get(f"{nginx.http}/200.bin", kind="download", destination=place)
    assert response.path == tmp_path / "my-200.bin"
    assert hashlib.sha256((tmp_path / "my-200.bin").read_bytes()).hexdigest() == nginx.hashes["200.bin"]
