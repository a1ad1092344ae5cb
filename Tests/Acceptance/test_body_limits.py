"""`max_body_bytes`: bodies that are larger than the caller wants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.command import OK, TRANSFER_FAILED, USAGE, Run
from harness.downloads import LOST, broken, download, is_whole, names, opened
from harness.waiting import eventually
from harness.wire import RemoteError, Wire
from origins.nginx import Nginx
from origins.ranges import Resource
from origins.scripted import Exchange, ScriptedOrigin

TOO_LARGE = "response_too_large"
SIZE = 100_000


def failure(record: dict[str, Any]) -> str | None:
    """Return the name of a record's failure."""
    outcome = record["outcome"]
    return None if outcome["ok"] else outcome["error"]["name"]


def fields(record: dict[str, Any]) -> dict[str, str]:
    return {name.lower(): value for name, value in record["response"]["headers"]}


def perform(wire: Wire, url: str, **params: Any) -> dict[str, Any]:
    record: dict[str, Any] = wire.call("request.perform", url=url, **params)
    return record


def unannounced(exchange: Exchange) -> None:
    """Answer without a length: nginx passes it on in chunks."""
    exchange.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"x" * SIZE)
    exchange.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "downloads"
    path.mkdir()
    return path


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_announced_body_fails_before_it_is_received(client: carpool.Client, nginx: Nginx, scheme: str) -> None:
    url = f"{getattr(nginx, scheme)}/100k.bin"
    options: Any = {"verify": False} if scheme == "https" else {}
    assert len(client.get(url, max_body_bytes=SIZE, **options).content) == SIZE
    with pytest.raises(carpool.RequestError) as caught:
        client.get(url, max_body_bytes=SIZE - 1, **options)
    assert caught.value.name == TOO_LARGE
    error = caught.value.record["outcome"]["error"]
    assert error["details"] == {"limit_bytes": SIZE - 1, "size_bytes": SIZE}
    assert "max_body_bytes" in error["hint"]
    assert not error["retryable"]
    assert caught.value.record["response"]["status"] == 200


def test_an_announced_body_is_not_waited_for(wire: Wire, origin: ScriptedOrigin) -> None:
    def announce(exchange: Exchange) -> None:
        exchange.reply(length=SIZE)
        exchange.wait_for_peer_to_close()

    url = origin.on("/", announce)
    assert failure(perform(wire, url, max_body_bytes=10)) == TOO_LARGE


def test_chunks_are_counted(wire: Wire, nginx: Nginx, behind: ScriptedOrigin) -> None:
    behind.on("/held/chunks", unannounced)
    url = f"{nginx.http}/held/chunks"
    record = perform(wire, url, max_body_bytes=SIZE)
    assert failure(record) is None
    assert record["body"]["size_bytes"] == SIZE
    assert "content-length" not in fields(record)
    record = perform(wire, url, max_body_bytes=SIZE - 1)
    assert failure(record) == TOO_LARGE
    assert record["outcome"]["error"]["details"] == {"limit_bytes": SIZE - 1}


def test_decoded_bytes_are_counted(wire: Wire, nginx: Nginx) -> None:
    url, size = f"{nginx.http}/gzip/words.txt", (nginx.directory / "files" / "words.txt").stat().st_size
    whole = perform(wire, url, max_body_bytes=size)
    assert failure(whole) is None
    assert fields(whole)["content-encoding"] == "gzip"
    assert failure(perform(wire, url, max_body_bytes=size - 1)) == TOO_LARGE


def test_encoded_bytes_are_counted_where_nothing_is_decoded(wire: Wire, nginx: Nginx) -> None:
    url, size = f"{nginx.http}/gzip/words.txt", (nginx.directory / "files" / "words.txt").stat().st_size
    record = perform(wire, url, max_body_bytes=size - 1, decode=False, headers={"Accept-Encoding": "gzip"})
    assert failure(record) is None
    assert record["body"]["size_bytes"] < size


@pytest.mark.parametrize("target", ["100k.bin", "held/chunks"])
def test_a_download_leaves_no_partial_file(
    wire: Wire, nginx: Nginx, behind: ScriptedOrigin, folder: Path, target: str
) -> None:
    behind.on("/held/chunks", unannounced)
    url = f"{nginx.http}/{target}"
    params = {"kind": "download", "destination": str(folder / "a")}
    record = perform(wire, url, max_body_bytes=SIZE - 1, **params)
    assert failure(record) == TOO_LARGE
    assert "resume_data" not in record
    assert names(folder) == []
    assert failure(perform(wire, url, max_body_bytes=SIZE, **params)) is None
    assert (folder / "a").stat().st_size == SIZE


def test_a_resumed_download_counts_the_bytes_on_disk(wire: Wire, nginx: Nginx, folder: Path) -> None:
    def partial() -> str:
        """Interrupt a download, and return its token."""
        request = wire.call(
            "request.submit", url=f"{nginx.http}/slow/1m.bin", kind="download", destination=str(folder / "a")
        )["request"]
        eventually(lambda: any(path.stat().st_size > 0 for path in folder.iterdir()))
        token: str = wire.call("request.cancel", request=request, resume_data=True)["resume_data"]
        return token

    url, size = f"{nginx.http}/1m.bin", 1 << 20
    record = perform(wire, url, kind="download", resume_data=partial(), max_body_bytes=size - 1)
    assert failure(record) == TOO_LARGE
    assert names(folder) == []
    record = perform(wire, url, kind="download", resume_data=partial(), max_body_bytes=size)
    assert failure(record) is None
    assert record["resumed_at_bytes"] > 0
    assert (folder / "a").stat().st_size == size


def test_a_length_beside_chunks_does_not_count(wire: Wire, origin: ScriptedOrigin) -> None:
    def contradict(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nTransfer-Encoding: chunked\r\n\r\n")
        exchange.send(b"5\r\nhello\r\n0\r\n\r\n")

    record = perform(wire, origin.on("/", contradict), max_body_bytes=5)
    assert (failure(record), record["body"]["text"]) == (None, "hello")


def test_an_error_page_over_the_limit_leaves_the_partial_file(wire: Wire, origin: ScriptedOrigin, folder: Path) -> None:
    resource, path = Resource(1_000), folder / "a"
    url = origin.on("/a", resource)
    token = broken(wire, url, resource, path, 100)
    limited = {"resume_data": token, "max_body_bytes": 1_000}
    origin.on("/a", lambda exchange: exchange.reply(404, b"x" * 1_001))
    record = download(wire, url, **limited)
    assert failure(record) == TOO_LARGE
    # A hash of the URL may stand beside the URL.
    assert {**opened(record["resume_data"]), "source": None} == {**opened(token), "source": None}
    origin.on("/a", resource)
    record = download(wire, url, **limited)
    assert record["resumed_at_bytes"] == 100
    assert is_whole(record, resource, path)


def test_a_retry_after_too_large_a_file_can_be_resumed(wire: Wire, origin: ScriptedOrigin, folder: Path) -> None:
    resource = Resource(1_000)
    resource.breaks = [100]
    sizes = [1_001]

    def answer(exchange: Exchange) -> None:
        if sizes:
            return exchange.reply(200, b"x" * sizes.pop())
        return resource(exchange)

    interceptor = [{"callback": {"name": "retry", "handles": ["retry"]}}]
    params = {"kind": "download", "destination": str(folder / "a"), "max_body_bytes": 1_000}
    call = wire.request("request.perform", url=origin.on("/a", answer), interceptor=interceptor, **params)
    wire.reply(wire.question("retry"), decision="retry")
    wire.reply(wire.question("retry"), decision="do_not_retry")
    record = wire.result(call)
    assert failure(record) == LOST
    assert opened(record["resume_data"])["bytes"] == 100


def test_a_stream_ends_where_the_limit_is(wire: Wire, nginx: Nginx, behind: ScriptedOrigin) -> None:
    behind.on("/held/chunks", unannounced)
    limit = 50_000
    request = wire.call(
        "request.submit", url=f"{nginx.http}/held/chunks", kind="stream", max_body_bytes=limit, start="manual"
    )["request"]
    wire.call("request.resume", request=request)
    received = 0
    while True:
        piece = wire.call("request.read", request=request)
        received += piece["size_bytes"]
        if "complete" in piece:
            break
    assert piece["complete"]["error"]["name"] == TOO_LARGE
    assert received <= limit


def test_the_body_of_a_followed_redirect_is_not_counted(wire: Wire, nginx: Nginx) -> None:
    record = perform(wire, f"{nginx.http}/moved", max_body_bytes=13)
    assert (failure(record), record["body"]["size_bytes"]) == (None, 13)
    assert failure(perform(wire, f"{nginx.http}/moved", max_body_bytes=12)) == TOO_LARGE
    assert failure(perform(wire, f"{nginx.http}/moved", max_body_bytes=12, redirect="do_not_follow")) == TOO_LARGE


def test_zero_accepts_no_body(wire: Wire, nginx: Nginx) -> None:
    for target in ("empty.txt", "nothing"):
        assert failure(perform(wire, f"{nginx.http}/{target}", max_body_bytes=0)) is None
    assert failure(perform(wire, f"{nginx.http}/100k.bin", method="HEAD", max_body_bytes=0)) is None
    assert failure(perform(wire, f"{nginx.http}/hello.txt", max_body_bytes=0)) == TOO_LARGE


def test_a_session_has_a_limit_that_a_request_replaces(wire: Wire, nginx: Nginx) -> None:
    url = f"{nginx.http}/hello.txt"
    wire.call("session.create", name="small", configuration={"max_body_bytes": 12})
    assert wire.call("session.get", session="small")["configuration"]["max_body_bytes"] == 12
    assert "max_body_bytes" not in wire.call("session.get")["configuration"]
    assert failure(perform(wire, url, session="small")) == TOO_LARGE
    assert failure(perform(wire, url, session="small", max_body_bytes=13)) is None


@pytest.mark.parametrize("value", [-1, 1.5, "1k"])
def test_a_limit_is_a_count(wire: Wire, nginx: Nginx, value: object) -> None:
    with pytest.raises(RemoteError) as caught:
        perform(wire, f"{nginx.http}/hello.txt", max_body_bytes=value)
    assert caught.value.error["data"]["path"] == "params.max_body_bytes"


def test_the_command_has_the_option_of_curl(run: Run, nginx: Nginx, tmp_path: Path) -> None:
    url = f"{nginx.http}/hello.txt"
    assert run("get", "--max-filesize", "13", url).returncode == OK
    done = run("get", "--max-filesize", "12", url)
    assert (done.returncode, done.stdout) == (TRANSFER_FAILED, b"")
    assert b"response_too_large" in done.stderr
    done = run("get", "--max-filesize", "12", "-o", "a", url)
    assert done.returncode == TRANSFER_FAILED
    assert not (tmp_path / "a").exists()
    for value in ("many", "-1", "1k", "+1"):
        assert run("get", "--max-filesize", value, url).returncode == USAGE
