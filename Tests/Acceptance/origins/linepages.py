"""The paths of an origin that the one-line commands of `curl/cases` request, besides the answers of each case."""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from socket import AF_UNIX, SHUT_WR, create_connection, socket
from typing import Any

from harness.waiting import PATIENCE_SECONDS, join

from origins.scripted import Exchange, Handler, ScriptedOrigin, echo

LETTERS = b"abcdefghijklmnopqrstuvwxyz"
_ETAG = '"letters-1"'
_MODIFIED = "Tue, 03 Mar 2020 04:05:06 GMT"
_DIGEST = 'Digest realm="r", nonce="n0", qop="auth", algorithm=MD5, opaque="o"'


def _letters(exchange: Exchange) -> None:
    """Send a file that has a validator and a date, and of which parts can be requested."""
    request = exchange.request
    fields = [("ETag", _ETAG), ("Last-Modified", _MODIFIED), ("Accept-Ranges", "bytes")]
    if _ETAG in request.values("If-None-Match") or _MODIFIED in request.values("If-Modified-Since"):
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
        return exchange.send(f"HTTP/1.1 304 Not Modified\r\n{lines}\r\n".encode())
    span = re.fullmatch(r"bytes=(\d*)-(\d*)", (request.values("Range") or [""])[0])
    if span is None:
        return exchange.reply(200, LETTERS, fields)
    first = int(span[1]) if span[1] else len(LETTERS) - int(span[2])
    last = min(int(span[2]) if span[1] and span[2] else 25, 25)
    if first > last:
        return exchange.reply(416, b"no such range\n", [("Content-Range", "bytes */26")])
    fields.append(("Content-Range", f"bytes {first}-{last}/26"))
    return exchange.reply(206, LETTERS[first : last + 1], fields)


def _basic(exchange: Exchange) -> None:
    """Require the user ada with the password secret."""
    wanted = "Basic " + base64.b64encode(b"ada:secret").decode()
    if exchange.request.values("Authorization") == [wanted]:
        return exchange.reply(200, b"hello ada\n")
    return exchange.reply(401, b"who?\n", [("WWW-Authenticate", 'Basic realm="r"')])


def _digest(exchange: Exchange) -> None:
    """Require ada and her password by Digest; a wrong response is answered with 403."""
    given = (exchange.request.values("Authorization") or [""])[0]
    if not given.startswith("Digest "):
        return exchange.reply(401, b"who?\n", [("WWW-Authenticate", _DIGEST)])
    values = {name: quoted or plain for name, quoted, plain in re.findall(r'(\w+)=(?:"([^"]*)"|([^,\s]*))', given)}

    def md5(text: str) -> str:
        return hashlib.md5(text.encode()).hexdigest()

    first, second = md5("ada:r:secret"), md5(f"{exchange.request.method}:{exchange.request.target}")
    parts = [values.get(name, "") for name in ("nonce", "nc", "cnonce", "qop")]
    if values.get("response") == md5(":".join([first, *parts, second])):
        return exchange.reply(200, b"hello ada\n")
    return exchange.reply(403, b"wrong response\n")


def _compressed(exchange: Exchange) -> None:
    """Send gzip to those who accept it."""
    if "gzip" in " ".join(exchange.request.values("Accept-Encoding")):
        return exchange.reply(200, gzip.compress(LETTERS * 100, mtime=0), [("Content-Encoding", "gzip")])
    return exchange.reply(200, LETTERS * 100)


def _unfinished(exchange: Exchange) -> None:
    """Send ten bytes of a hundred, and then nothing."""
    exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")
    exchange.wait_for_peer_to_close()
    exchange.close()


def serve(origin: ScriptedOrigin) -> None:
    """Set the handlers of the paths that all cases share."""

    def status(code: int) -> Handler:
        return lambda exchange: exchange.reply(code, f"status {code}\n".encode(), [("Content-Type", "text/plain")])

    def redirect(code: int) -> Handler:
        return lambda exchange: exchange.reply(code, b"moved\n", [("Location", "/landed?from=here")])

    def late(answer: Handler) -> Handler:
        """Answer after a second, unless the client leaves before."""

        def handler(exchange: Exchange) -> None:
            if not exchange.wait_for_peer_to_close(1):
                answer(exchange)

        return handler

    for code in (200, 201, 400, 401, 403, 404, 408, 429, 500, 502, 503, 504):
        origin.on(f"/status/{code}", status(code))
    for code in (301, 302, 303, 307, 308):
        origin.on(f"/to/{code}", redirect(code))
    origin.on("/loop", lambda exchange: exchange.reply(302, b"", [("Location", "/loop")]))
    origin.on("/letters", _letters)
    origin.on("/basic", _basic)
    origin.on("/digest", _digest)
    origin.on("/gzip", _compressed)
    origin.on("/unfinished", _unfinished)
    origin.on("/late", late(lambda exchange: exchange.reply(302, b"", [("Location", "/later")])))
    origin.on("/later", late(lambda exchange: exchange.reply(200, b"late\n")))
    origin.on("/silent", answering([{"then": "silence"}]))
    origin.on("/hello", lambda exchange: exchange.reply(200, b"hello, world\n", [("Content-Type", "text/plain")]))
    origin.on("/megabyte", lambda exchange: exchange.reply(200, LETTERS * 40_330))
    cookies = [
        ("Set-Cookie", "sid=1; Path=/"),
        ("Set-Cookie", "theme=dark; Path=/; Expires=Fri, 01 Jan 2100 00:00:00 GMT"),
    ]
    origin.on("/login", lambda exchange: exchange.reply(200, b"in\n", cookies))
    script = b'echo "installed: $*"\n'
    origin.on("/install.sh", lambda exchange: exchange.reply(200, script))


def as_sent(text: str, *, has_length: bool = True) -> bytes:
    """Return the bytes of an answer of a case, whose lines end with LF there. Adds the length that it lacks."""
    interim = b""
    while text.startswith("HTTP/1.1 1"):
        head, _, text = text.partition("\n\n")
        interim += head.replace("\n", "\r\n").encode() + b"\r\n\r\n"
    head, _, body = text.partition("\n\n")
    lower = head.lower()
    says = any(name in lower for name in ("content-length:", "transfer-encoding:", "connection: close"))
    if has_length and not says and not re.match(r"\S+ (204|304)", head):
        head += f"\nContent-Length: {len(body.encode())}"
    return interim + head.replace("\n", "\r\n").encode("latin-1", "replace") + b"\r\n\r\n" + body.encode()


def answering(answers: list[Any]) -> Handler:
    """Give the answers of a case one after the other; the last one again and again."""
    left = list(answers)

    def handler(exchange: Exchange) -> None:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, str):
            answer = {"text": answer}
        if "raw" in answer:
            data = str(answer["raw"]).encode("latin-1")
        elif "text" in answer:
            data = as_sent(answer["text"], has_length=answer.get("length", True))
        else:
            data = b""
        if exchange.request.method == "HEAD":
            data = data.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
        exchange.send(data)
        match answer.get("then", "stay"):
            case "close":
                exchange.close()
            case "reset":
                exchange.reset()
            case "silence":
                exchange.wait_for_peer_to_close()
                exchange.close()
            case "echo":
                echo(exchange)

    return handler


@contextlib.contextmanager
def unix_door(path: Path, port: int) -> Iterator[None]:
    """A Unix socket that leads to a port of this machine."""
    listener = socket(AF_UNIX)
    listener.bind(str(path))
    listener.listen(16)
    threads: list[threading.Thread] = []

    def pump(source: socket, target: socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(SHUT_WR)

    def serve_one(client: socket) -> None:
        with client, create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as server:
            back = threading.Thread(target=pump, args=(server, client), daemon=True)
            back.start()
            pump(client, server)
            join([back])

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                thread = threading.Thread(target=serve_one, args=(listener.accept()[0],), daemon=True)
                threads.append(thread)
                thread.start()

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    yield
    with contextlib.suppress(OSError):
        listener.shutdown(2)
    listener.close()
    join([acceptor])
