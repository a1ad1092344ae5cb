"""yt-dlp: a download whose connection breaks and that continues, a playlist of fragments, redirects and cookies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from loopback import Origin, adapter, serving
from yt_dlp import YoutubeDL
from yt_dlp.networking._requests import RequestsRH
from yt_dlp.networking.common import Request, register_preference, register_rh
from yt_dlp.networking.exceptions import HTTPError

CarpoolAdapter = adapter().CarpoolAdapter


@register_rh
class CarpoolRH(RequestsRH):
    RH_NAME = "carpool"

    def _create_instance(self, **settings: Any) -> Any:
        session = super()._create_instance(**settings)
        session.mount("https://", CarpoolAdapter())
        session.mount("http://", CarpoolAdapter())
        session.verify = self.verify
        return session


@register_preference(CarpoolRH)
def prefer(_handler: Any, _request: Any) -> int:
    return 1000


OPTIONS: dict[str, Any] = {
    "quiet": True, "noprogress": True, "cachedir": False, "outtmpl": "%(title)s.%(ext)s", "retries": 3,
    "retry_sleep_functions": {"http": lambda n: 0, "fragment": lambda n: 0}, "proxy": "", "hls_use_mpegts": True,
}  # fmt: skip


def downloads(origin: Origin) -> None:
    content = os.urandom(2_000_000)
    broken = []

    def video(exchange: Any) -> None:
        if exchange.request.method == "HEAD":
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 2000000\r\n\r\n")
            return
        asked = exchange.request.values("range")
        start = int(asked[0].removeprefix("bytes=").partition("-")[0]) if asked else 0
        lines = [("Content-Type", "video/mp4"), ("Accept-Ranges", "bytes")]
        lines += [("Content-Range", f"bytes {start}-1999999/2000000")] if asked else []
        left = content[start:]
        if start == 0 and asked != ["bytes=0-"] and not broken and len(origin.requests) > 1:
            broken.append(True)
            exchange.reply(200, left[:700_000], lines, length=len(left))
            exchange.close()
        exchange.reply(206 if asked else 200, left, lines)

    origin.on("/clip.mp4", video)
    with YoutubeDL(OPTIONS) as loader:
        assert loader.download([f"{origin.url}/clip.mp4"]) == 0
    assert Path("clip.mp4").read_bytes() == content
    # It continues after the last whole block that it has written.
    continued = origin.requests[-1].values("range")[0].removeprefix("bytes=").removesuffix("-")
    assert broken and 0 < int(continued) <= 700_000, continued


def fragments(origin: Origin) -> None:
    pieces = [b"\x47" + os.urandom(100_000) for _ in range(8)]
    for number, piece in enumerate(pieces):
        origin.on(f"/part{number}.ts", lambda exchange, piece=piece: exchange.reply(body=piece))
    playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + "".join(f"#EXTINF:4,\npart{number}.ts\n" for number in range(8))
    kind = [("Content-Type", "application/vnd.apple.mpegurl")]
    origin.on(
        "/list.m3u8", lambda exchange: exchange.reply(body=(playlist + "#EXT-X-ENDLIST\n").encode(), headers=kind)
    )
    with YoutubeDL(OPTIONS | {"concurrent_fragment_downloads": 4, "fixup": "never"}) as loader:
        assert loader.download([f"{origin.url}/list.m3u8"]) == 0
    assert next(Path.cwd().glob("list.*")).read_bytes() == b"".join(pieces)


def requests_of_extractors(origin: Origin) -> None:
    origin.on(
        "/set", lambda exchange: exchange.reply(302, headers=[("Location", "/get"), ("Set-Cookie", "s=1; Path=/")])
    )
    origin.on("/get", lambda exchange: exchange.reply(body="größe".encode()))
    with YoutubeDL(OPTIONS) as loader:
        response = loader.urlopen(Request(f"{origin.url}/set", headers={"X-A": "b"}))
        assert response.read() == "größe".encode() and response.url == f"{origin.url}/get"
        assert origin.requests[-1].values("cookie") == ["s=1"] and origin.requests[-1].values("x-a") == ["b"]
        origin.on("/none", lambda exchange: exchange.reply(404, b"nothing"))
        try:
            loader.urlopen(f"{origin.url}/none")
        except HTTPError as error:
            assert error.status == 404 and error.response.read() == b"nothing"
        else:
            raise AssertionError("no HTTPError")


with serving() as origin:
    downloads(origin)
    fragments(origin)
    requests_of_extractors(origin)
