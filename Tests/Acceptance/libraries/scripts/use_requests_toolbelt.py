"""requests-toolbelt: forms that are read while they are sent, downloads, a session with a base, dumps, threads."""

from __future__ import annotations

import io
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests
from loopback import Origin, adapter, answer, form_parts, serving
from requests_toolbelt import MultipartEncoder, MultipartEncoderMonitor
from requests_toolbelt.auth.guess import GuessAuth
from requests_toolbelt.downloadutils import stream
from requests_toolbelt.sessions import BaseUrlSession
from requests_toolbelt.streaming_iterator import StreamingIterator
from requests_toolbelt.utils import dump

CONTENT = os.urandom(5_000_003)


def mounted(session: requests.Session) -> requests.Session:
    session.mount("http://", adapter().CarpoolAdapter())
    return session


def uploads(origin: Origin, session: requests.Session) -> None:
    Path("big.bin").write_bytes(CONTENT)
    url = origin.json("/upload", {"taken": True})
    with Path("big.bin").open("rb") as file:
        form = MultipartEncoder({"field": "größe", "file": ("big.bin", file, "application/octet-stream")})
        told: list[int] = []
        monitor = MultipartEncoderMonitor(form, lambda state: told.append(state.bytes_read))
        response = session.post(url, data=monitor, headers={"Content-Type": monitor.content_type})
    assert response.json() == {"taken": True}
    request = origin.requests[-1]
    assert form_parts(request) == {"field": (None, "größe".encode()), "file": ("big.bin", CONTENT)}
    assert request.values("content-length") == [str(monitor.len)]
    assert told == sorted(told) and told[-1] == monitor.len and len(told) > 5

    pieces = (CONTENT[start : start + 10_000] for start in range(0, 100_000, 10_000))
    session.put(url, data=StreamingIterator(100_000, pieces)).raise_for_status()
    assert origin.requests[-1].body == CONTENT[:100_000]
    assert origin.requests[-1].values("content-length") == ["100000"]


def downloads(origin: Origin, session: requests.Session) -> None:
    url = origin.on("/download", lambda exchange: exchange.reply(body=CONTENT))
    response = session.get(url, stream=True)
    assert stream.stream_response_to_file(response, path="copy.bin", chunksize=65_536) == "copy.bin"
    assert Path("copy.bin").read_bytes() == CONTENT
    target = io.BytesIO()
    stream.stream_response_to_file(session.get(url, stream=True), path=target)
    assert target.getvalue() == CONTENT


def sessions(origin: Origin) -> None:
    with BaseUrlSession(f"{origin.url}/api/") as session:
        mounted(session)
        origin.json("/api/items", [1])
        assert session.get("items", params={"q": "a b"}).json() == [1]
        text = dump.dump_all(session.get("items")).decode()
        assert "GET /api/items HTTP/1.1" in text and "HTTP/1.1 200" in text, text

    def challenge(exchange: object) -> None:
        if exchange.request.values("authorization"):
            answer(exchange, {"ok": True})
        else:
            exchange.reply(401, b"who?", [("WWW-Authenticate", 'Digest realm="r", nonce="n", qop="auth"')])

    with mounted(requests.Session()) as session:
        origin.on("/private", challenge)
        assert session.get(f"{origin.url}/private", auth=GuessAuth("u", "p")).json() == {"ok": True}
        assert origin.requests[-1].values("authorization")[0].startswith('Digest username="u"')


def threads(origin: Origin) -> None:
    """Share a session; the pools of the package itself lose requests on a busy machine."""
    origin.json("/items", 1)
    with BaseUrlSession(origin.url) as session, ThreadPoolExecutor(8) as pool:
        mounted(session)
        assert [response.json() for response in pool.map(session.get, ["/items"] * 80)] == [1] * 80


with serving() as origin:
    with mounted(requests.Session()) as session:
        uploads(origin, session)
        downloads(origin, session)
    sessions(origin)
    threads(origin)
