"""What origins do to clients, for tests that compare two clients byte by byte."""

from __future__ import annotations

import gzip

from origins.scripted import Exchange, Received, ScriptedOrigin

LONG = b"x" * 1_000


def faulty(origin: ScriptedOrigin) -> ScriptedOrigin:
    """Add a path to an origin for each kind of answer, right and wrong."""

    def chunked(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")

    def cut(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello")
        exchange.close()

    def cut_chunks(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        exchange.close()

    def silent(exchange: Exchange) -> None:
        exchange.wait_for_peer_to_close()

    def stalled(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello")
        exchange.wait_for_peer_to_close()

    def zipped(exchange: Exchange) -> None:
        exchange.reply(body=gzip.compress(LONG), headers=[("Content-Encoding", "gzip")])

    def cookie(exchange: Exchange) -> None:
        exchange.reply(headers=[("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2; Path=/")])

    origin.on("/chunked", chunked)
    origin.on("/cut", cut)
    origin.on("/cut-chunks", cut_chunks)
    origin.on("/silent", silent)
    origin.on("/stalled", stalled)
    origin.on("/gzip", zipped)
    origin.on("/cookie", cookie)
    origin.on("/gone", lambda exchange: exchange.close())
    origin.on("/reset", lambda exchange: exchange.reset())
    origin.on("/nothing", lambda exchange: exchange.send(b"HTTP/1.1 204 No Content\r\n\r\n"))
    origin.on("/moved", lambda exchange: exchange.reply(302, headers=[("Location", "/cookie")]))
    return origin


def difference(plain: Received, ours: Received) -> dict[str, tuple[object, object]]:
    """Return what differs between two requests: the target, the body, and the fields with their order.

    `Connection`, and the places of `Host` and of the fields of the framing, differ always: the daemon sets them.
    """
    framing = {"connection", "content-length", "transfer-encoding"}

    def parts(request: Received) -> dict[str, object]:
        first = request.head.split(b"\r\n")[0]
        fields = [field for field in request.headers if field[0].lower() not in framing]
        fields.sort(key=lambda field: field[0].lower() != "host")
        lengths = sorted(field for field in request.headers if field[0].lower() in framing - {"connection"})
        return {"line": first, "fields": fields, "framing": lengths, "body": request.body}

    ours_parts = parts(ours)
    return {name: (part, ours_parts[name]) for name, part in parts(plain).items() if part != ours_parts[name]}
