"""Compression of the bodies of requests."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import carpool
import pytest
from origins.failing import FailingPath
from origins.scripted import Received, ScriptedOrigin

TEXT = "a text that says the same again and again and again and again"
GZIP = 16 + zlib.MAX_WBITS


def post(client: carpool.Client, origin: ScriptedOrigin, **options: Any) -> Received:
    """Send a text through the compressor and return the origin's request."""
    options = {"body": {"text": TEXT}, "method": "POST", "interceptor": ["compress"], **options}
    record = client.call("request.perform", url=origin.url, **options)
    assert record["outcome"]["ok"], record
    request = origin.requests[-1]
    assert request.values("Content-Length") == ([str(len(request.body))] if request.body else [])
    return request


def assert_plain(request: Received, encodings: list[str]) -> None:
    assert request.body == TEXT.encode()
    assert request.values("Content-Encoding") == encodings


def test_co_01_json_parameters_are_compressed(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.post(origin.url, params={"a": [1, 2, 3]}, encoding="json", interceptor=["compress"])
    (request,) = origin.requests
    assert request.values("Content-Encoding") == ["deflate"]
    assert request.values("Content-Type") == ["application/json"]
    assert json.loads(zlib.decompress(request.body)) == {"a": [1, 2, 3]}


def test_co_01_form_parameters_are_compressed(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.post(origin.url, params={"a": "b c"}, encoding="form", interceptor=["compress"])
    assert zlib.decompress(origin.requests[0].body) == b"a=b%20c"


def test_co_01_a_session_may_compress(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.create_session("small", {"interceptor": ["compress"]})
    request = post(client, origin, session="small", interceptor=[])
    assert zlib.decompress(request.body) == TEXT.encode()


def test_co_01_bodies_from_files_pass_unchanged(
    client: carpool.Client, origin: ScriptedOrigin, directory: Path
) -> None:
    file = directory / "text"
    file.write_text(TEXT)
    assert_plain(post(client, origin, body={"file": str(file)}), [])


def test_co_01_every_attempt_is_compressed_once(client: carpool.Client, origin: ScriptedOrigin) -> None:
    path = FailingPath(origin, 503, 200)
    interceptor: list[Any] = ["compress", {"retry_policy": {"scale_ms": 0}}]
    client.put(path.url, data=TEXT, interceptor=interceptor, validate=True)
    assert [zlib.decompress(request.body) for request in origin.requests] == [TEXT.encode()] * 2
    assert [request.values("Content-Encoding") for request in origin.requests] == [["deflate"]] * 2


def test_co_02_a_request_without_a_body_passes_unchanged(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.get(origin.url, interceptor=["compress"])
    (request,) = origin.requests
    assert request.values("Content-Encoding") == []
    assert request.body == b""


def test_co_03_small_bodies_pass_unchanged(client: carpool.Client, origin: ScriptedOrigin) -> None:
    size = len(TEXT)
    assert_plain(post(client, origin, interceptor=[{"compress": {"min_bytes": size + 1}}]), [])
    request = post(client, origin, interceptor=[{"compress": {"min_bytes": size}}])
    assert zlib.decompress(request.body) == TEXT.encode()


@pytest.mark.parametrize("interceptor", ["compress", {"compress": {"duplicate": "error"}}])
def test_co_04_an_encoding_that_is_there_is_an_error(
    client: carpool.Client, origin: ScriptedOrigin, interceptor: Any
) -> None:
    with pytest.raises(carpool.RequestError) as caught:
        client.post(origin.url, data=TEXT, headers={"content-encoding": "br"}, interceptor=[interceptor])
    assert caught.value.name == "request_adaptation_failed"
    assert caught.value.details["underlying"]["name"] == "duplicate_header"
    assert caught.value.details["underlying"]["details"]["header"] == "Content-Encoding"
    assert origin.requests == []


def test_co_05_or_is_replaced(client: carpool.Client, origin: ScriptedOrigin) -> None:
    interceptor = [{"compress": {"duplicate": "replace"}}]
    request = post(client, origin, headers={"content-encoding": "br"}, interceptor=interceptor)
    assert request.values("Content-Encoding") == ["deflate"]
    assert zlib.decompress(request.body) == TEXT.encode()


def test_co_06_or_stays_as_it_is(client: carpool.Client, origin: ScriptedOrigin) -> None:
    interceptor = [{"compress": {"duplicate": "skip"}}]
    assert_plain(post(client, origin, headers={"Content-Encoding": "identity"}, interceptor=interceptor), ["identity"])


def test_co_07_the_format_is_zlibs(client: carpool.Client, origin: ScriptedOrigin) -> None:
    request = post(client, origin)
    assert request.values("Content-Encoding") == ["deflate"]
    assert request.body[:2] == b"\x78\x5e"
    assert request.body[-4:] == zlib.adler32(TEXT.encode()).to_bytes(4, "big")
    assert len(request.body) < len(TEXT)
    zero = post(client, origin, body={"base64": base64.b64encode(b"\0").decode()})
    assert zero.body == bytes.fromhex("78 5E 63 00 00 00 01 00 01")


def test_co_08_gzip_too(client: carpool.Client, origin: ScriptedOrigin) -> None:
    request = post(client, origin, interceptor=[{"compress": {"format": "gzip"}}])
    assert request.values("Content-Encoding") == ["gzip"]
    assert zlib.decompress(request.body, GZIP) == TEXT.encode()
