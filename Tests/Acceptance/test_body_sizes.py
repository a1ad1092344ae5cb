"""Bodies of every size over every version of HTTP, from and to independent servers, by their hashes."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import random
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.waiting import PATIENCE_SECONDS
from harness.wire import Wire
from origins.authority import Authority
from origins.httpbin import Httpbin
from origins.nghttpd import Nghttpd
from origins.nginx import Nginx

SIZES = [0, 1, 32_767, 32_768, 32_769, 65_536, 1_048_583]
SERVED_BY_HTTPBIN = [size for size in SIZES if 0 < size <= 100 * 1024]
HTTP2 = {"https", "nghttpd"}
PIECE = 65_536


def content(size: int) -> bytes:
    return random.Random(11 + size).randbytes(size)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def version(record: dict[str, Any]) -> str:
    return str(record["attempts"][0]["metrics"][0]["http_version"])


@pytest.fixture
def options(authority: Authority) -> dict[str, Any]:
    return {"trust": {"ca_file": str(authority.ca_file)}}


# Responses


@pytest.fixture(scope="module")
def served(nginx: Nginx) -> Iterator[None]:
    """Files of these sizes among those that nginx and nghttpd serve."""
    paths = {size: nginx.directory / "files" / f"size-{size}.bin" for size in SIZES}
    for size, path in paths.items():
        path.write_bytes(content(size))
    yield
    for path in paths.values():
        path.unlink()


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("server", ["http", "https1", "https", "nghttpd"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["data", "download"])
def test_every_size_arrives_whole(
    wire: Wire,
    nginx: Nginx,
    nghttpd: Nghttpd,
    options: dict[str, Any],
    folder: Path,
    server: str,
    size: int,
    kind: str,
) -> None:
    origin = nghttpd.https if server == "nghttpd" else getattr(nginx, server)
    params = {"destination": str(folder / "a")} if kind == "download" else {}
    record = wire.call(
        "request.perform",
        url=f"{origin}/size-{size}.bin",
        kind=kind,
        sha256=True,
        http_version="2" if server in HTTP2 else "auto",
        **options,
        **params,
    )
    assert record["body"]["sha256"] == digest(content(size))
    assert record["body"]["size_bytes"] == size
    if "file" in record["body"]:
        assert digest(Path(record["body"]["file"]).read_bytes()) == digest(content(size))
    hop = record["attempts"][0]["metrics"][0]
    assert hop["response_body_bytes"] == hop["decoded_body_bytes"] == size
    assert version(record) == ("h2" if server in HTTP2 else "http/1.1")


@pytest.mark.parametrize("path", ["bytes", "stream-bytes"])
@pytest.mark.parametrize("size", SERVED_BY_HTTPBIN)
@pytest.mark.parametrize("kind", ["data", "download"])
def test_httpbin_s_bytes_arrive_whole(
    wire: Wire, httpbin: Httpbin, folder: Path, path: str, size: int, kind: str
) -> None:
    """With a length and in chunks; another client downloads the expected bytes."""
    url = f"{httpbin.url}/{path}/{size}?seed=5"
    with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as response:
        expected = digest(response.read())
    params = {"destination": str(folder / "a")} if kind == "download" else {}
    record = wire.call("request.perform", url=url, kind=kind, sha256=True, **params)
    assert (record["body"]["size_bytes"], record["body"]["sha256"]) == (size, expected)


# Requests


@pytest.fixture
def multiplexes(wire: Wire) -> bool:
    """Whether the library is fit for bodies over HTTP/2 beyond the first window; otherwise they use HTTP/1.1."""
    return bool(wire.call("daemon.info")["libcurl"]["profile"] == "multiplex")


def fits_first_window(source: str, size: int) -> bool:
    """RFC 9113, section 6.9.2; a body of unknown length does not."""
    return source != "chunks" and size <= 65_535


def send(wire: Wire, source: str, data: bytes, folder: Path, **params: Any) -> dict[str, Any]:
    """Send a body from a file, a descriptor or pieces of known or unknown length; return the record."""
    (folder / "body").write_bytes(data)
    message = {"jsonrpc": "2.0", "id": 900, "method": "request.submit", "params": params}
    match source:
        case "file":
            params["body"] = {"file": str(folder / "body")}
        case "descriptor":
            params["body"] = {"fd": 0}
        case "stream":
            params["body"] = {"stream": True, "length_bytes": len(data)}
        case "chunks":
            params["body"] = {"stream": True}
    with (folder / "body").open("rb") as file:
        passed = [file.fileno()] if source == "descriptor" else []
        wire.send(message, passed)
        request = wire.result(900)["request"]
    # A stream of a known length ends with its last byte, and one of none before its first.
    if source == "chunks" or (source == "stream" and data):
        for begin in range(0, max(1, len(data)), PIECE):
            piece = base64.b64encode(data[begin : begin + PIECE]).decode()
            wire.call("body.put", request=request, base64=piece, end=begin + PIECE >= len(data))
    record: dict[str, Any] = wire.call("request.wait", request=request)
    assert record["outcome"]["ok"], record
    assert record["attempts"][0]["metrics"][0]["request_body_bytes"] == len(data)
    return record


@pytest.mark.parametrize("server", ["http", "https1", "https"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("source", ["file", "descriptor", "stream", "chunks"])
def test_every_size_is_sent_whole_to_nginx(
    wire: Wire,
    nginx: Nginx,
    options: dict[str, Any],
    multiplexes: bool,
    folder: Path,
    server: str,
    size: int,
    source: str,
) -> None:
    name = f"{server}-{source}-{size}"
    record = send(
        wire,
        source,
        content(size),
        folder,
        url=f"{getattr(nginx, server)}/put/{name}",
        method="PUT",
        http_version="2" if server in HTTP2 else "auto",
        **options,
    )
    assert record["response"]["status"] == 201
    assert digest((nginx.directory / "put" / name).read_bytes()) == digest(content(size))
    is_http2 = server in HTTP2 and (multiplexes or fits_first_window(source, size))
    assert version(record) == ("h2" if is_http2 else "http/1.1")


def test_every_size_is_echoed_whole_by_nghttpd(
    wire: Wire, nghttpd: Nghttpd, options: dict[str, Any], multiplexes: bool, folder: Path
) -> None:
    """Both directions at once over HTTP/2, this server's only protocol; with the older library only small bodies."""
    sources = ["file", "descriptor", "stream", "chunks"]
    for source, size in itertools.product(sources, SIZES):
        if not multiplexes and not fits_first_window(source, size):
            continue
        record = send(
            wire,
            source,
            content(size),
            folder,
            url=f"{nghttpd.https}/",
            method="POST",
            http_version="2",
            sha256=True,
            **options,
        )
        assert version(record) == "h2"
        assert record["body"]["sha256"] == digest(content(size)), (source, size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("source", ["file", "descriptor", "stream"])
def test_every_size_is_sent_whole_to_httpbin(
    wire: Wire, httpbin: Httpbin, folder: Path, size: int, source: str
) -> None:
    """httpbin reports bytes as base64 in a `data:` URL, and text as text."""
    data = content(size) if size > 1 else b"x"[:size]
    record = send(
        wire,
        source,
        data,
        folder,
        url=f"{httpbin.url}/post",
        method="POST",
        headers={"Content-Type": "application/octet-stream"},
    )
    body = record["body"]
    told = json.loads(Path(body["file"]).read_text()) if "file" in body else json.loads(body["text"])
    text = told["data"]
    assert digest(base64.b64decode(text.partition(",")[2]) if "base64," in text else text.encode()) == digest(data)
