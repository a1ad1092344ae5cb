"""Content decoding, and its limit."""

from __future__ import annotations

import base64
import gzip
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import brotli  # type: ignore[import-untyped]
import carpool
import pytest
import zstandard
from harness.daemon import Daemon
from harness.downloads import download, names
from harness.story import Story
from harness.tcp import is_read
from harness.waiting import eventually
from harness.wire import Wire
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin

TEXT = b"the same words again and again, " * 500
NOISE = random.Random(5).randbytes(3_000)

ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
}


def serve(origin: ScriptedOrigin, coding: str, body: bytes) -> str:
    return origin.on("/coded", lambda exchange: exchange.reply(body=body, headers=[("Content-Encoding", coding)]))


@pytest.mark.parametrize("coding", list(ENCODERS))
def test_hh_06_each_coding_is_undone(client: carpool.Client, origin: ScriptedOrigin, coding: str) -> None:
    response = client.get(serve(origin, coding, ENCODERS[coding](TEXT)))
    assert response.content == TEXT
    # HH-06; zstd is decoded too, if an origin sends it although it was not requested.
    assert origin.received(1)[0].values("Accept-Encoding") == ["br;q=1.0, gzip;q=0.9, deflate;q=0.8"]


def test_codings_that_were_put_on_each_other_are_undone(client: carpool.Client, origin: ScriptedOrigin) -> None:
    body = brotli.compress(gzip.compress(TEXT))
    assert client.get(serve(origin, "gzip, br", body)).content == TEXT


def test_nothing_is_decoded_when_the_caller_says_so(client: carpool.Client, origin: ScriptedOrigin) -> None:
    body = gzip.compress(TEXT)
    response = client.get(serve(origin, "gzip", body), decode=False)
    assert response.content == body
    assert response.headers["content-encoding"] == "gzip"
    assert origin.received(1)[0].values("Accept-Encoding") == []


def test_nothing_is_decoded_when_the_caller_asks_for_a_coding_itself(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    body = gzip.compress(TEXT)
    assert client.get(serve(origin, "gzip", body), headers={"Accept-Encoding": "gzip"}).content == body
    assert origin.received(1)[0].values("Accept-Encoding") == ["gzip"]


def test_nginx_gzip_is_undone(client: carpool.Client, nginx: Nginx) -> None:
    plain = client.get(f"{nginx.http}/words.txt").content
    assert client.get(f"{nginx.http}/gzip/words.txt").content == plain


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_a_bomb_is_stopped_at_its_ratio(client: carpool.Client, origin: ScriptedOrigin, coding: str) -> None:
    bomb = ENCODERS[coding](bytes(64 << 20))
    with pytest.raises(carpool.DecodingError) as caught:
        client.get(serve(origin, coding, bomb), max_ratio=100)
    assert caught.value.name == "session_task_failed.data_length_exceeds_maximum"
    assert "max_ratio" in caught.value.record["outcome"]["error"]["hint"]
    assert client.get(f"{origin.url}/next").ok


def test_a_ratio_that_the_caller_raised_lets_a_large_body_through(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    body = bytes(8 << 20)
    assert client.get(serve(origin, "gzip", gzip.compress(body)), max_ratio=100_000).content == body


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_a_broken_coding_has_its_name(client: carpool.Client, origin: ScriptedOrigin, coding: str) -> None:
    broken = bytearray(ENCODERS[coding](TEXT))
    broken[0] ^= 0xFF
    broken[len(broken) // 2] ^= 0xFF
    with pytest.raises(carpool.DecodingError) as caught:
        client.get(serve(origin, coding, bytes(broken)))
    assert caught.value.name == "session_task_failed.cannot_decode_content_data"
    assert client.get(f"{origin.url}/next").ok


# Codings that end early


def bare(data: bytes) -> bytes:
    """A deflate stream without its wrapping."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


CUT: dict[str, tuple[str, bytes]] = {
    "gzip": ("gzip", gzip.compress(NOISE)[:-400]),
    "the header of gzip": ("gzip", gzip.compress(NOISE)[:5]),
    "a second member": ("gzip", gzip.compress(TEXT) + gzip.compress(NOISE)[:-400]),
    "deflate": ("deflate", zlib.compress(NOISE)[:-400]),
    "bare deflate": ("deflate", bare(NOISE)[:-1]),
    "br": ("br", brotli.compress(NOISE)[:-1]),
    "zstd": ("zstd", ENCODERS["zstd"](NOISE)[:-1]),
    "a second frame": ("zstd", ENCODERS["zstd"](TEXT) + ENCODERS["zstd"](NOISE)[:-1]),
    "the inner one": ("gzip, br", brotli.compress(gzip.compress(NOISE)[:-400])),
    "the outer one": ("gzip, br", brotli.compress(gzip.compress(NOISE))[:-1]),
}
UNCHECKED = {
    "gzip": ("gzip", gzip.compress(NOISE)[:-8]),
    "gzip with a part of its checksum": ("gzip", gzip.compress(NOISE)[:-3]),
    "a second member": ("gzip", gzip.compress(b"") + gzip.compress(NOISE)[:-8]),
    "deflate": ("deflate", zlib.compress(NOISE)[:-4]),
    "the inner one": ("gzip, br", brotli.compress(gzip.compress(NOISE)[:-8])),
}
CUT_NAME = "session_task_failed.cannot_decode_content_data"


def cacheable(origin: ScriptedOrigin, coding: str, body: bytes, status: int = 200) -> str:
    headers = [("Content-Encoding", coding), ("Cache-Control", "max-age=600")]
    return origin.on("/cut", lambda exchange: exchange.reply(status, body, headers))


@pytest.mark.parametrize("case", list(CUT))
def test_a_coding_that_ends_early_is_a_failure_of_each_kind(
    client: carpool.Client, origin: ScriptedOrigin, folder: Path, case: str
) -> None:
    url = cacheable(origin, *CUT[case])

    def streamed() -> None:
        with client.stream("GET", url) as stream:
            stream.read()

    kinds: list[Callable[[], object]] = [
        lambda: client.get(url), lambda: client.get(url), streamed,
        lambda: client.download(url, folder / "file", decode=True),
    ]  # fmt: skip
    for kind in kinds:
        with pytest.raises(carpool.DecodingError) as caught:
            kind()
        assert caught.value.name == CUT_NAME
        assert CUT[case][0].partition(",")[0] in str(caught.value) or "br" in str(caught.value)
    assert len(origin.requests) == len(kinds), "nothing is stored"
    assert names(folder) == []
    assert client.get(url, decode=False).content == CUT[case][1]


@pytest.mark.parametrize("case", list(UNCHECKED))
def test_only_the_checksum_of_a_coding_is_missing(client: carpool.Client, origin: ScriptedOrigin, case: str) -> None:
    """A failure that says so; the record has all of the data."""
    url = cacheable(origin, *UNCHECKED[case])
    for _ in range(2):
        record = client.call("request.perform", url=url)
        assert record["outcome"]["error"]["name"] == CUT_NAME
        assert "checksum" in record["outcome"]["error"]["message"]
        assert base64.b64decode(record["body"]["base64"]) == NOISE
    assert len(origin.requests) == 2, "nothing is stored"


def test_a_part_of_an_encoded_body_is_not_decoded_alone(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = cacheable(origin, "gzip", gzip.compress(NOISE)[:100], 206)
    with pytest.raises(carpool.DecodingError) as caught:
        client.get(url, headers={"Range": "bytes=0-99"})
    assert caught.value.name == CUT_NAME
    assert "206" in str(caught.value) or "part" in str(caught.value)
    assert client.get(url, headers={"Range": "bytes=0-99"}, decode=False).content == gzip.compress(NOISE)[:100]


@pytest.mark.parametrize("coding", [*ENCODERS, "gzip, br"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_an_empty_body_has_no_coding_that_could_end(
    client: carpool.Client, origin: ScriptedOrigin, coding: str, method: str
) -> None:
    response = client.request(method, serve(origin, coding, b""))
    assert response.content == b""
    assert "warning" not in response.record


def test_zstd_of_several_frames_is_whole(client: carpool.Client, origin: ScriptedOrigin) -> None:
    body = ENCODERS["zstd"](TEXT) + ENCODERS["zstd"](b"end")
    assert client.get(serve(origin, "zstd", body)).content == TEXT + b"end"


@pytest.mark.parametrize("count", [4, 5, 1000])
def test_a_body_of_more_codings_than_the_limit_is_handed_over(
    client: carpool.Client, origin: ScriptedOrigin, count: int
) -> None:
    body = TEXT
    for _ in range(min(count, 5)):
        body = gzip.compress(body)
    response = client.get(serve(origin, ", ".join(["gzip"] * count), body))
    if count <= 4:
        assert response.content == TEXT
        assert "warning" not in response.record
    else:
        assert response.content == body
        assert "more than 4 codings" in response.record["warning"]


# F15: unknown codings


@pytest.mark.parametrize("coding", ["aws-chunked", "utf-8", "UTF-8", "compress", "gzip, none-such", "none-such, gzip"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_f15_a_body_of_an_unknown_coding_is_handed_over(
    client: carpool.Client, origin: ScriptedOrigin, coding: str, method: str
) -> None:
    response = client.request(method, serve(origin, coding, TEXT))
    assert response.content == TEXT
    assert response.headers["content-encoding"] == coding
    assert coding.lower() in response.record["warning"]
    assert origin.received(1)[0].values("Accept-Encoding") == ["br;q=1.0, gzip;q=0.9, deflate;q=0.8"]


@pytest.mark.parametrize("coding", ["identity", "gzip, identity", "x-gzip", "GZIP"])
def test_f15_other_names_of_known_codings(client: carpool.Client, origin: ScriptedOrigin, coding: str) -> None:
    body = TEXT if coding == "identity" else gzip.compress(TEXT)
    response = client.get(serve(origin, coding, body))
    assert response.content == TEXT
    assert "warning" not in response.record


def test_f15_a_deflate_stream_without_its_wrapping(client: carpool.Client, origin: ScriptedOrigin) -> None:
    bare = zlib.compressobj(wbits=-15)
    assert client.get(serve(origin, "deflate", bare.compress(TEXT) + bare.flush())).content == TEXT


def test_f15_gzip_of_several_members_is_whole(client: carpool.Client, origin: ScriptedOrigin) -> None:
    assert client.get(serve(origin, "gzip", gzip.compress(TEXT) + gzip.compress(b"end"))).content == TEXT + b"end"


@pytest.mark.parametrize("is_split", [False, True])
def test_f15_bytes_behind_gzip_are_ignored(client: carpool.Client, origin: ScriptedOrigin, is_split: bool) -> None:
    """As curl does; also if a piece of them begins as a member does."""
    body = gzip.compress(TEXT)

    def behind(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % (len(body) + 7))
        exchange.send(body + b"\0\0\0")
        if is_split:
            eventually(lambda: is_read(exchange.ports))
        exchange.send(b"\x1f\x8b\0\0")

    assert client.get(origin.on("/behind", behind)).content == TEXT


@pytest.mark.parametrize("coding", list(ENCODERS))
def test_f15_what_is_not_in_its_coding_is_told(client: carpool.Client, origin: ScriptedOrigin, coding: str) -> None:
    for body in (b"\xffno such format" * 100, b"\x00" + ENCODERS[coding](TEXT)):
        with pytest.raises(carpool.DecodingError) as caught:
            client.get(serve(origin, coding, body))
        assert caught.value.name == "session_task_failed.cannot_decode_content_data"
    assert client.get(f"{origin.url}/next").ok


@pytest.mark.parametrize("coding", list(ENCODERS))
def test_f15_a_body_that_comes_by_single_bytes(client: carpool.Client, origin: ScriptedOrigin, coding: str) -> None:
    body = ENCODERS[coding](TEXT)

    def slowly(exchange: Exchange) -> None:
        exchange.send(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n" % (coding.encode(), len(body))
        )
        for index in range(len(body)):
            exchange.send(body[index : index + 1])

    assert client.get(origin.on("/slowly", slowly)).content == TEXT


@pytest.mark.parametrize("coding", list(ENCODERS))
def test_f15_a_reader_that_pauses_gets_every_byte(daemon: Daemon, origin: ScriptedOrigin, coding: str) -> None:
    """The body is larger than the daemon's buffer of a stream, so that decoding stops inside a piece."""
    body = b"".join(b"%d " % number for number in range(400_000))
    # Brotli's best quality takes half a minute for that.
    encoded = brotli.compress(body, quality=4) if coding == "br" else ENCODERS[coding](body)
    url = serve(origin, coding, encoded)
    with daemon.client() as client, client.stream("GET", url) as stream:
        assert b"".join(stream.iter_bytes()) == body


# Downloads that keep files and decode everything else


@pytest.mark.parametrize("decode", [True, "unless_file"])
def test_a_part_that_is_the_whole_is_decoded(
    wire: Wire, origin: ScriptedOrigin, tmp_path: Path, decode: bool | str
) -> None:
    """Its range counts encoded bytes, and the file has decoded ones."""
    body = gzip.compress(TEXT)
    headers = [("Content-Encoding", "gzip"), ("Content-Range", f"bytes 0-{len(body) - 1}/{len(body)}")]
    url = origin.on("/page", lambda exchange: exchange.reply(206, body, headers))
    record = download(wire, url, tmp_path / "file", decode=decode)
    assert record["outcome"] == {"ok": True}
    assert (tmp_path / "file").read_bytes() == TEXT


@pytest.mark.parametrize(
    ("path", "coding", "decode", "is_known"),
    [
        ("/a.tar.gz", "gzip", "unless_file", True), ("/page", "gzip", "unless_file", False),
        ("/a.tar.gz", "gzip", True, False), ("/page", "identity", True, True), ("/page", "gzip", False, True),
    ],
)  # fmt: skip
def test_the_length_of_a_body_that_is_not_decoded_is_that_of_its_file(
    story: Story, origin: ScriptedOrigin, tmp_path: Path, path: str, coding: str, decode: bool | str, is_known: bool
) -> None:
    body = gzip.compress(TEXT)
    url = origin.on(path, lambda exchange: exchange.reply(body=body, headers=[("Content-Encoding", coding)]))
    record = story.perform(url, kind="download", destination=str(tmp_path / "file"), decode=decode)
    assert record["outcome"] == {"ok": True}
    written = [event["data"] for event in story.events if event["type"] == "task.did_write_data"]
    assert {data.get("total_bytes") for data in written} == {len(body) if is_known else None}
