"""The results of the operations."""

from __future__ import annotations

import base64
import binascii
import codecs
import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._cookies import Cookies
from ._exceptions import CarpoolError, HTTPStatusError, RequestError, request_error


def _text(value: Any) -> str:
    """Return a field's value; the daemon sends {"base64": ...} for one that is not UTF-8: it is read as Latin-1."""
    if isinstance(value, dict):
        try:
            return base64.b64decode(value.get("base64", "")).decode("latin-1")
        except binascii.Error:
            return ""
    return str(value)


def body_content(body: dict[str, Any]) -> bytes | None:
    """Return the bytes of a body in any of its inline forms; None for a body in a file."""
    match body:
        case {"text": str(text)}:
            return text.encode()
        case {"base64": str(text)}:
            return base64.b64decode(text)
        case {"json": value}:
            return json.dumps(value).encode()
        case {"none": True}:
            return b""
    return None


def read_file(path: str) -> bytes | None:
    """Read a file of the daemon's; None if this process cannot open it (another user or mount namespace)."""
    with contextlib.suppress(OSError):
        return Path(path).read_bytes()
    return None


class Headers(Mapping[str, str]):
    """The header fields of a response, in order and with duplicates; names are case-insensitive.

    `headers[name]` joins repeated fields with ", " as RFC 9110 section 5.3 allows; `get_list` keeps them apart.
    """

    __slots__ = ("_pairs",)

    def __init__(self, pairs: list[list[Any]]) -> None:
        self._pairs = pairs

    def __getitem__(self, name: str) -> str:
        if values := self.get_list(name):
            return ", ".join(values)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(str(name).lower() for name, _ in self._pairs))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(self.get_list(name))

    def __repr__(self) -> str:
        return f"Headers({self.pairs!r})"

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every field, with order, case and duplicates."""
        return [(str(name), _text(value)) for name, value in self._pairs]

    def get_list(self, name: str) -> list[str]:
        """Return all values of a field, in order."""
        name = name.lower()
        return [_text(value) for field, value in self._pairs if field.lower() == name]


@dataclass(frozen=True, slots=True)
class CacheOutcome:
    """What the cache did for a response."""

    record: dict[str, Any]
    """The daemon's record."""

    @property
    def status(self) -> str:
        """Where the response came from: hit, stale, revalidated or collapsed; miss or bypass for the origin."""
        return str(self.record["status"])

    @property
    def reason(self) -> str:
        """The reason: a word of the list in docs/cache.md."""
        return str(self.record["reason"])

    @property
    def forward(self) -> str | None:
        """Why the origin was asked, in the words of RFC 9211; None if it was not."""
        return self.record.get("fwd")

    @property
    def age(self) -> float | None:
        """The age in seconds of a response that was stored."""
        return _seconds(self.record.get("age_ms"))

    @property
    def ttl(self) -> float | None:
        """The seconds for which it stays fresh; negative since it became stale, None without freshness."""
        return _seconds(self.record.get("ttl_ms"))

    @property
    def is_stored(self) -> bool:
        """Whether the origin's response was stored."""
        return bool(self.record.get("stored"))

    @property
    def is_from_store(self) -> bool:
        """Whether the body came from the store."""
        return self.status in {"hit", "stale", "revalidated"}


@dataclass(frozen=True, slots=True)
class Response:
    """The response of a request. Properties read the daemon's record.

    `status`, `url`, `http_version` and `headers` are those of the origin's answer; where there is none, they raise the
    error that the request ended with.
    """

    record: dict[str, Any]
    """The daemon's record."""
    spooled: bytes | None = None
    """The body, when it was too large for the record."""

    @property
    def request_id(self) -> str:
        """The daemon's id of the request."""
        return str(self.record["request"])

    @property
    def status(self) -> int:
        """The status code."""
        return int(self._answer["status"])

    @property
    def ok(self) -> bool:
        """Whether the status is below 400."""
        return self.status < 400  # noqa: PLR2004, the first error status of RFC 9110

    @property
    def url(self) -> str:
        """The URL that answered, after redirects."""
        return str(self._answer["url"])

    @property
    def http_version(self) -> str:
        """The protocol of the origin's answer, by its name in ALPN: "h2", "http/1.1" or "http/1.0"."""
        return str(self._answer["http_version"])

    @property
    def headers(self) -> Headers:
        """The header fields of the answer."""
        return Headers(self._answer["headers"])

    @property
    def cookies(self) -> Cookies:
        """The jar of the request at its end, if it had the argument `cookies`: an empty one suffices."""
        return Cookies(self.record.get("cookies") or {})

    @property
    def cache(self) -> CacheOutcome | None:
        """What the cache did; None if the session has no cache."""
        record = self.record.get("cache")
        return None if record is None else CacheOutcome(record)

    @property
    def content(self) -> bytes:
        """The body. Decoded from the record, or read from `path`, at each access."""
        if self.spooled is not None:
            return self.spooled
        content = body_content(self.record.get("body") or {})
        if content is None and self.path is not None:
            content = read_file(str(self.path))
        return content or b""

    @property
    def text(self) -> str:
        """The body as text, decoded by the charset of Content-Type, or UTF-8; invalid bytes become U+FFFD."""
        return self.content.decode(_charset(self.headers.get("content-type", "")), "replace")

    def json(self) -> Any:
        """Return the body parsed as JSON; raises ValueError if it is not JSON."""
        body = self.record.get("body") or {}
        return body["json"] if "json" in body else json.loads(self.content)

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """The hops of the last attempt, each with its times in microseconds and sizes in bytes."""
        attempts = self.attempts
        return list(attempts[-1].get("metrics", [])) if attempts else []

    @property
    def attempts(self) -> list[dict[str, Any]]:
        """All attempts; the last one has this answer."""
        return list(self.record.get("attempts", []))

    @property
    def timeline(self) -> dict[str, Any] | None:
        """The points in time of the request and the durations between them; only `Client.response` returns it."""
        return self.record.get("timeline")

    @property
    def path(self) -> Path | None:
        """The file that holds the body: a download's own, or one of the daemon's that stays as long as the request."""
        file = (self.record.get("body") or {}).get("file")
        return None if file is None else Path(file)

    @property
    def sha256(self) -> str | None:
        """The body's SHA-256 in hexadecimal digits, if the request has `sha256`."""
        return (self.record.get("body") or {}).get("sha256")

    @property
    def resume_data(self) -> str | None:
        """The resume data of an incomplete download."""
        return self.record.get("resume_data")

    @property
    def finished(self) -> bool:
        """Whether the request is over; with `hold_for_headers` it may not be."""
        return "outcome" in self.record

    @property
    def value(self) -> Any:
        """The value of the serializer, of the first one if there are several; bytes and dates in their wire format.

        None without a serializer, after a failure, and if it was too large for a message: then there is the body.
        """
        return (self.record.get("outcome") or {}).get("value")

    @property
    def values(self) -> list[Any]:
        """The results of several serializers, in order: each has `serializer`, `ok`, and `value` or `error`."""
        return list((self.record.get("outcome") or {}).get("values", []))

    @property
    def error(self) -> RequestError | None:
        """The error of the request; None if it succeeded."""
        return request_error(self.record) if self.record.get("outcome", {}).get("ok") is False else None

    def raise_for_outcome(self) -> Response:
        """Raise the error of the request; return the response if there is none."""
        if error := self.error:
            raise error
        return self

    def raise_for_status(self) -> Response:
        """Raise HTTPStatusError if the status is 400 or above; otherwise return the response."""
        if not self.ok:
            raise HTTPStatusError(self)
        return self

    @property
    def _answer(self) -> dict[str, Any]:
        """The origin's answer in the record."""
        answer: dict[str, Any] | None = self.record.get("response")
        if answer is None:
            self.raise_for_outcome()
            raise CarpoolError("the origin has not answered yet")
        return answer


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a download."""

    received_bytes: int
    """The received bytes, including those of an earlier download."""
    total_bytes: int | None
    """The size of the complete body, if the origin sent it."""
    resume_data: str | None
    """The resume data for another download, if this one is interrupted. Save it if the program may be killed."""


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event of a `text/event-stream`."""

    event: str
    """Its type; `message` if the stream names none."""
    data: str
    """Its data."""
    id: str
    """The last id that the stream has named; empty if none."""
    retry_ms: int | None
    """The delay before a new request, if the stream has set it with this event."""


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _charset(content_type: str) -> str:
    for part in content_type.split(";")[1:]:
        name, _, value = part.partition("=")
        if name.strip().lower() == "charset":
            try:
                return codecs.lookup(value.strip().strip("\"'")).name
            except LookupError:
                break
    return "utf-8"
