"""Resources of a scripted origin for tests of caches: each answer has the number of the request as its body."""

from __future__ import annotations

import itertools
import time
from email.utils import formatdate
from typing import Any

from harness.caches import SESSION, get
from harness.wire import Wire

from origins.scripted import Exchange, Received, ScriptedOrigin

Fields = dict[str, str | int]
DATES = {"date", "expires", "last-modified"}
MAX_AGE: Fields = {"Cache-Control": "max-age=3600"}
STALE: Fields = {"Cache-Control": "max-age=60", "Age": "100"}
"""What is stale when it arrives, so that no test waits."""

_numbers = itertools.count(1)


def http_date(seconds: int) -> str:
    """Return a date that is so many seconds from now."""
    return formatdate(time.time() + seconds, usegmt=True)


class Page:
    """A resource of an origin, at a path of its own unless one is given.

    Its `fields` are those of each answer; a number in a field of a date is a distance from now. It answers 304 when a
    request has its validator. Each of these may change between two requests.
    """

    def __init__(
        self,
        origin: ScriptedOrigin,
        fields: Fields | None = None,
        *,
        status: int = 200,
        body: bytes | None = None,
        path: str | None = None,
        query: str = "",
    ) -> None:
        self.origin = origin
        self.fields: Fields = dict(fields or {})
        self.status = status
        self.body = body
        self.length: int | None = None
        self.not_modified: Fields | None = None
        """The fields of a 304; those of the page by default."""
        self.path = path or f"/page{next(_numbers)}"
        self.query = query
        self.count = 0
        origin.on(self.path, self._answer)

    @property
    def url(self) -> str:
        return self.origin.url + self.path + self.query

    @property
    def requests(self) -> list[Received]:
        """What the origin has seen for this path."""
        return [each for each in self.origin.requests if each.target.partition("?")[0] == self.path]

    @property
    def last(self) -> Received:
        return self.requests[-1]

    def _answer(self, exchange: Exchange) -> None:
        self.count += 1
        if self._is_valid(exchange.request):
            fields = self.fields if self.not_modified is None else self.not_modified
            lines = [f"{name}: {value}\r\n" for name, value in self._lines(fields)]
            exchange.send(f"HTTP/1.1 304 Not Modified\r\n{''.join(lines)}\r\n".encode("latin-1"))
        else:
            body = str(self.count).encode() if self.body is None else self.body
            exchange.reply(self.status, body, self._lines(self.fields), self.length)

    def _is_valid(self, request: Received) -> bool:
        tag, modified = self.fields.get("ETag"), self.fields.get("Last-Modified")
        if tags := ", ".join(request.values("If-None-Match")):
            return tag is not None and str(tag) in tags
        return modified is not None and request.values("If-Modified-Since") == [_text("last-modified", modified)]

    def _lines(self, fields: Fields) -> list[tuple[str, str]]:
        given: Fields = {"Date": 0} if not any(name.lower() == "date" for name in fields) else {}
        found = []
        for name, value in {**given, **fields}.items():
            # Several lines of one field are separated by newlines; "-" is none.
            found += [(name, line) for line in _text(name, value).split("\n") if line != "-"]
        return found


def _text(name: str, value: str | int) -> str:
    return http_date(value) if isinstance(value, int) and name.lower() in DATES else str(value)


def is_served(wire: Wire, page: Page, session: str = SESSION, **params: Any) -> bool:
    """Ask twice; whether the origin is asked once."""
    count = page.count
    for _ in range(2):
        assert get(wire, page.url, session, **params)["outcome"]["ok"]
    return page.count == count + 1
