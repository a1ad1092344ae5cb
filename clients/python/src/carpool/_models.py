"""The results of the operations."""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ._paths import local


def field_text(value: Any) -> str:
    """Return a field's name or value; the daemon sends {"base64": ...} for one that is not UTF-8: it is Latin-1."""
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


def is_of_caller(path: str, record: dict[str, Any]) -> bool:
    """Whether the caller has named the file of a body; the daemon's own is named after the request."""
    name, request = path.rpartition("/")[2], record["request"]
    return name != request and not name.startswith(f"{request}_")


def read_file(path: str) -> bytes | None:
    """Read a file of the daemon's; None if this process cannot open it (another user or mount namespace)."""
    with contextlib.suppress(OSError), open(local(path), "rb", buffering=0) as file:  # noqa: PTH123, without pathlib
        return file.read()
    return None


class Headers(Mapping[str, str]):
    """The header fields of a response, in order and with duplicates; names are case-insensitive.

    `headers[name]` joins repeated fields with ", " as RFC 9110 section 5.3 allows; `get_list` keeps them apart.
    """

    __module__ = "carpool"

    __slots__ = ("_pairs",)

    def __init__(self, pairs: list[list[Any]]) -> None:
        self._pairs = pairs

    def __reduce__(self) -> tuple[Any, ...]:
        # The protocols 0 and 1 of pickle have none for slots.
        return Headers, (self._pairs,)

    def __getitem__(self, name: str) -> str:
        if values := self.get_list(name):
            return ", ".join(values)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(field_text(name).lower() for name, _ in self._pairs))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(self.get_list(name))

    def __repr__(self) -> str:
        return f"Headers({self.pairs!r})"

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every field, with order, case and duplicates."""
        return [(field_text(name), field_text(value)) for name, value in self._pairs]

    def get_list(self, name: str) -> list[str]:
        """Return all values of a field, in order."""
        name = name.lower()
        return [field_text(value) for field, value in self._pairs if field_text(field).lower() == name]


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
