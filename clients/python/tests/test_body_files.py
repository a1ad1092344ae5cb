"""Bodies in files of the daemon: read before the file is removed, and never empty in the place of one that is gone."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from both_clients import Connect
from daemon import record
from loops import RunLoop

import carpool
from carpool.testing import FakeDaemon

URL = "https://api.example.com/"
# Around the most bytes that a record has in itself.
SIZES = [0, 1_000, 44_000, 46_000, 140_000, 3_000_000]
LARGE = b"\xffbody" * 20_000


def pieces() -> Iterator[bytes]:
    yield from (b"a", b"b")


async def async_pieces() -> AsyncIterator[bytes]:
    yield b"a"
    yield b"b"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("data", [lambda: b"ab", lambda: io.BytesIO(b"ab"), pieces, lambda: [b"a", b"b"]])
def test_the_answer_to_a_body_is_whole(connect: Connect, fake: FakeDaemon, data: Callable[[], Any], size: int) -> None:
    answer = (LARGE * (size // len(LARGE) + 1))[:size]
    fake.route("POST", URL, content=answer)
    client = connect(Path(fake.socket))
    for _ in range(2):
        response = client.run("post", URL, data=data())
        assert (response.content, fake.requests[-1].content) == (answer, b"ab")
    assert client.run("call", "request.list")["requests"] == []
    assert list(Path(fake.folder).iterdir()) == [Path(fake.socket)]


def test_the_answer_to_an_asynchronous_generator_is_whole(fake: FakeDaemon, run_loop: RunLoop) -> None:
    fake.route("POST", URL, content=LARGE)

    async def main() -> bytes:
        async with carpool.AsyncClient(fake.socket) as client:
            return (await client.post(URL, data=async_pieces())).content

    assert run_loop(main()) == LARGE
    assert fake.requests[-1].content == b"ab"


def test_a_streamed_download_keeps_its_file(connect: Connect, fake: FakeDaemon, tmp_path: Path) -> None:
    fake.route("POST", URL, content=LARGE)
    place = {"path": str(tmp_path / "file")}
    response = connect(Path(fake.socket)).run("post", URL, data=pieces(), kind="download", destination=place)
    assert (response.content, (tmp_path / "file").read_bytes()) == (LARGE, LARGE)


def kept(connect: Connect, fake: FakeDaemon) -> tuple[Any, carpool.Response]:
    fake.route("GET", URL, content=LARGE)
    client = connect(Path(fake.socket))
    response: carpool.Response = client.run("wait", client.run("submit", "GET", URL))
    assert response.path is not None
    return client, response


@pytest.mark.parametrize("method", ["request.dismiss", "body.release"])
def test_a_removed_body_is_an_error_and_not_empty(connect: Connect, fake: FakeDaemon, method: str) -> None:
    client, response = kept(connect, fake)
    assert response.content == LARGE
    client.run("call", method, request=response.request_id)
    for read in (
        lambda: response.content,
        lambda: response.text,
        response.json,
        lambda: list(response.iter_bytes()),
        lambda: pickle.loads(pickle.dumps(response)).content,
    ):
        with pytest.raises(carpool.CarpoolError, match=r"the body of r_.* cannot be read: No such file .* dismissed"):
            read()


def test_a_file_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    response = carpool.Response(record({"file": str(tmp_path), "size_bytes": 5}))
    with pytest.raises(carpool.CarpoolError, match="cannot be read: Is a directory"):
        response.content  # noqa: B018


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"gone": True, "size_bytes": 5}, "was released, or its retention has ended"),
        ({"fd": True, "size_bytes": 5}, "was received by another reader"),
    ],
)
def test_a_body_that_the_daemon_does_not_have_is_an_error(body: dict[str, Any], expected: str) -> None:
    with pytest.raises(carpool.CarpoolError, match=f"the body of r_1 {expected}"):
        carpool.Response(record(body)).content  # noqa: B018


@pytest.mark.parametrize("again", [lambda given: pickle.loads(pickle.dumps(given)), copy.copy, copy.deepcopy])
def test_a_pickled_or_copied_response_has_its_body(connect: Connect, fake: FakeDaemon, again: Any) -> None:
    client, response = kept(connect, fake)
    response.encoding = "latin-1"
    copied = again(response)
    client.run("call", "request.dismiss", request=response.request_id)
    assert (copied.content, copied.encoding, copied) == (LARGE, "iso8859-1", response)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_an_error_is_pickled_with_the_body_of_its_response(connect: Connect, fake: FakeDaemon, protocol: int) -> None:
    client, response = kept(connect, fake)
    data = pickle.dumps(carpool.HTTPStatusError(response), protocol)
    client.run("call", "request.dismiss", request=response.request_id)
    assert pickle.loads(data).response.content == LARGE


def test_a_pickled_download_stays_in_its_file(connect: Connect, fake: FakeDaemon, tmp_path: Path) -> None:
    fake.route("GET", URL, content=LARGE)
    response = connect(Path(fake.socket)).run("download", URL, tmp_path / "file")
    data = pickle.dumps(response)
    assert len(data) < len(LARGE)
    again = pickle.loads(data)
    assert (again.path, again.content, again) == (tmp_path / "file", LARGE, response)
    (tmp_path / "file").unlink()
    with pytest.raises(carpool.CarpoolError, match="cannot be read"):
        again.content  # noqa: B018


@pytest.mark.parametrize("call", ["post", "submit"])
def test_a_download_by_another_method_is_not_read(
    connect: Connect, fake: FakeDaemon, tmp_path: Path, call: str
) -> None:
    fake.route("POST", URL, content=LARGE)
    client = connect(Path(fake.socket))
    options = {"kind": "download", "destination": {"path": str(tmp_path / "file")}}
    if call == "post":
        response = client.run("post", URL, data=pieces(), **options)
    else:
        response = client.run("wait", client.run("submit", "POST", URL, **options))
    assert response.spooled is None
    again = pickle.loads(pickle.dumps(response))
    assert (response.spooled, again.spooled, again.content) == (None, None, LARGE)
