"""A resource that is served in ranges, and breaks off at positions that a test sets."""

from __future__ import annotations

import random
import threading
from email.utils import formatdate

from harness.waiting import PATIENCE_SECONDS

from origins.scripted import Exchange

SECONDS_OF_A_DAY = 86_400


class Resource:
    """The bytes, their validator, and how the next answers go; see `breaks`."""

    def __init__(self, size: int, *, seed: int = 1, etag: str | None = '"v1"', modified: str | None = None) -> None:
        self.body = random.Random(seed).randbytes(size)
        self.etag = etag
        self.modified = modified
        self.breaks: list[int] = []
        """After how many bytes each of the next answers breaks off; the answers behind the last one are whole."""
        self.holds_at: int | None = None
        """After how many bytes of the whole the next answer waits until `gate` is set."""
        self.gate = threading.Event()
        self.ignores_ranges = False
        self.has_length = True

    def __call__(self, exchange: Exchange) -> None:
        asked = exchange.request.values("Range")
        condition = exchange.request.values("If-Range")
        holds = not condition or condition[0] in {self.etag, self.modified}
        if not asked or not holds or self.ignores_ranges:
            return self._send(exchange, 200, self.body, [])
        start = int(asked[0].removeprefix("bytes=").removesuffix("-"))
        if start >= len(self.body):
            return exchange.reply(416, headers=[("Content-Range", f"bytes */{len(self.body)}")])
        content_range = f"bytes {start}-{len(self.body) - 1}/{len(self.body)}"
        return self._send(exchange, 206, self.body[start:], [("Content-Range", content_range)])

    def _send(self, exchange: Exchange, status: int, body: bytes, headers: list[tuple[str, str]]) -> None:
        fields = [*headers, ("Date", formatdate(usegmt=True))]
        if self.etag is not None:
            fields.append(("ETag", self.etag))
        if self.modified is not None:
            fields.append(("Last-Modified", self.modified))
        count = self.breaks.pop(0) if self.breaks else len(body)
        if self.has_length:
            held, self.holds_at = self.holds_at, None
            first = count if held is None else max(0, held - (len(self.body) - len(body)))
            exchange.reply(status, body[:first], fields, length=len(body))
            if first < count:
                self.gate.wait(PATIENCE_SECONDS)
                exchange.send(body[first:count])
        else:
            lines = [f"HTTP/1.1 {status} OK", *(f"{name}: {value}" for name, value in fields)]
            exchange.send("\r\n".join([*lines, "Transfer-Encoding: chunked", "", ""]).encode())
            exchange.send(b"%x\r\n%s\r\n" % (count, body[:count]))
            if count == len(body):
                exchange.send(b"0\r\n\r\n")
        if count < len(body):
            exchange.close()
