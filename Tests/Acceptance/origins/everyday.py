"""The paths of an origin that the examples of the documentation request."""

from __future__ import annotations

from origins.scripted import Exchange, ScriptedOrigin, statuses

_ARCHIVE = bytes(range(256)) * 1_000


def _archive(exchange: Exchange) -> None:
    """Send a part, and the rest when it is asked for."""
    head = f'ETag: "1"\r\nAccept-Ranges: bytes\r\nContent-Length: {len(_ARCHIVE)}\r\n'
    wanted = exchange.request.values("Range")
    if not wanted:
        exchange.send(f"HTTP/1.1 200 OK\r\n{head}\r\n".encode() + _ARCHIVE[:100_000])
        exchange.close()
    start = int(wanted[0].removeprefix("bytes=").removesuffix("-"))
    span = f"Content-Range: bytes {start}-{len(_ARCHIVE) - 1}/{len(_ARCHIVE)}"
    length = f"Content-Length: {len(_ARCHIVE) - start}"
    exchange.send(
        f'HTTP/1.1 206 Partial Content\r\nETag: "1"\r\n{span}\r\n{length}\r\n\r\n'.encode() + _ARCHIVE[start:]
    )


def serve(origin: ScriptedOrigin) -> None:
    """Set the handlers of the paths."""

    def reply(path: str, content_type: str, body: bytes) -> None:
        origin.on(path, lambda exchange: exchange.reply(body=body, headers=[("Content-Type", content_type)]))

    reply("/users", "application/json", b'{"users": ["Ada"]}')
    reply("/events", "text/event-stream", b"event: greeting\ndata: hello\n\ndata: bye\n\n")
    reply("/install.sh", "text/x-shellscript", b'echo "installed: $*"\n')
    reply("/lines", "application/x-ndjson", b'{"a": 1}\n{"a": 2}\n')
    reply("/large", "application/octet-stream", bytes(100_000))
    origin.on("/archive", _archive)
    origin.on("/old", lambda exchange: exchange.reply(302, headers=[("Location", "/new")]))
    origin.on("/login", lambda exchange: exchange.reply(headers=[("Set-Cookie", "sid=1; Path=/")]))
    for page, link in (("", '<items2>; rel="next"'), ("2", '<items>; rel="first"')):
        fields = [("Content-Type", "application/json"), ("Link", link)]
        origin.on(f"/items{page}", lambda exchange, fields=fields: exchange.reply(body=b'["Ada"]', headers=fields))  # type: ignore[misc]
    origin.on("/busy", statuses(503, 200))
    origin.on("/missing", statuses(404))
    origin.on("/slow", lambda exchange: (exchange.wait_for_peer_to_close(), None)[1])
