"""Records of a fake daemon: the members and types that carpoold sends."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from .routes import Reply, Request

# The most bytes of a body in a record, as in the daemon.
INLINE_BYTES: Final = 45_056
# Times that every record has, in microseconds: nothing is sent.
DURATION_US: Final = 1_000
_RETRYABLE: Final = frozenset(
    {"cannot_find_host", "dns_lookup_failed", "cannot_connect_to_host", "not_connected_to_internet", "timed_out"}
    | {"network_connection_lost", "bad_server_response"}
)


def now(later: float = 0) -> str:
    """Return the time in the format of the daemon; `later` by these seconds."""
    seconds = time.time() + later
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1_000_000):06}Z"


def failure(name: str, message: str, **members: Any) -> dict[str, Any]:
    """Return the error of a request."""
    return {
        "code": 2000,
        "name": name,
        "message": message,
        "retryable": name.rpartition(".")[2] in _RETRYABLE,
        **members,
    }


@dataclass(slots=True)
class Hop:
    """One request and its reply."""

    request: Request
    reply: Reply
    connection: int
    is_reused: bool
    fragment: str
    start: str = field(default_factory=now)

    @property
    def url(self) -> str:
        """The URL with its fragment, which is not sent."""
        return f"{self.request.url}#{self.fragment}" if self.fragment else self.request.url

    @property
    def http_version(self) -> str:
        """The protocol: HTTP/2 where the URL has TLS."""
        return "h2" if self.request.url.startswith("https:") else "http/1.1"

    @property
    def head(self) -> dict[str, Any] | None:
        """The head of the response; None if there is none."""
        if not self.reply.has_head:
            return None
        return {
            "status": self.reply.status_code,
            "http_version": self.http_version,
            "headers": [list(pair) for pair in self.reply.headers],
            "url": self.url,
        }

    @property
    def body(self) -> bytes:
        """The body of the response."""
        return b"" if self.request.method == "HEAD" else self.reply.content

    def metrics(self) -> dict[str, Any]:
        """Return the metrics."""
        parts = urlsplit(self.request.url)
        size = len(self.body)
        has_head = self.reply.has_head
        found: dict[str, Any] = {"url": self.url}
        if has_head:
            found["status"] = self.reply.status_code
        is_new = has_head and not self.is_reused
        found |= {
            "fetch_start": self.start,
            "queued_us": 5,
            "dns_us": None if self.is_reused else 10,
            "connect_us": 20 if is_new else None,
            "tls_us": 30 if is_new and parts.scheme == "https" else None,
            "request_us": 40 if has_head else None,
            "first_byte_us": 50 if has_head else None,
            "end_us": DURATION_US,
            "reused": self.is_reused and has_head,
        }
        if is_new:
            found["new_connection"] = "first"
        found["connection"] = self.connection if has_head else None
        if has_head:
            port = parts.port or {"https": 443}.get(parts.scheme, 80)
            found |= {"http_version": self.http_version, "remote": f"192.0.2.1:{port}", "local": "192.0.2.2:50000"}
        sent = len(self.request.content) if has_head else 0
        return found | {
            "request_header_bytes": 100 if has_head else 0,
            "request_body_bytes": sent,
            "response_header_bytes": 100 if has_head else 0,
            "response_body_bytes": size if has_head else 0,
            "decoded_body_bytes": size if has_head else 0,
        }


@dataclass(slots=True)
class Attempt:
    """One attempt: its hops, the last one with the response, and its error."""

    hops: list[Hop] = field(default_factory=list)
    error: dict[str, Any] | None = None
    is_answered: bool = False
    """Whether it has a response, and not a failure or one redirect too many."""

    def record(self, *, is_full: bool) -> dict[str, Any]:
        """Return the record of the attempt; the full one has header fields."""
        made: dict[str, Any] = {}
        if self.hops:
            first = self.hops[0].request
            made["request"] = {"method": first.method, "url": self.hops[0].url}
            if is_full:
                made["request"]["headers"] = [list(pair) for pair in first.headers.pairs]
                if head := self.hops[-1].head:
                    made["response"] = head
        if self.error:
            made["error"] = self.error["name"]
        return made | {"metrics": [hop.metrics() for hop in self.hops]}


def redirects(attempts: list[Attempt]) -> dict[str, Any]:
    """Return what a short record has of its attempts."""
    hops = attempts[-1].hops if attempts else []
    if not hops:
        return {}
    found: dict[str, Any] = {"method": hops[0].request.method, "url": hops[0].url}
    if len(hops) > 1:
        heads = [head for hop in hops[:-1] if (head := hop.head)]
        kept = ("location", "set-cookie")
        found["redirects"] = [
            {**head, "headers": [pair for pair in head["headers"] if pair[0].lower() in kept]} for head in heads
        ]
    return found


def metrics(attempts: list[Attempt]) -> dict[str, Any] | None:
    """Return the sums of all attempts; None if nothing was sent."""
    hops = attempts[-1].hops if attempts else []
    if not hops:
        return None
    return {
        "start": attempts[0].hops[0].start,
        "duration_us": DURATION_US * sum(len(attempt.hops) for attempt in attempts),
        "attempts": len(attempts),
        "redirects": len(hops) - 1,
        "reused": hops[-1].is_reused and hops[-1].reply.has_head,
    }


def inline(content: bytes) -> dict[str, Any] | None:
    """Return a body for a record; None if it is too large."""
    if not content:
        return {"none": True, "size_bytes": 0}
    try:
        text = content.decode()
    except UnicodeDecodeError:
        body, size = {"base64": base64.b64encode(content).decode()}, len(content) * 4 // 3
    else:
        body, size = {"text": text}, len(json.dumps(text, ensure_ascii=False).encode())
    return None if size > INLINE_BYTES else {**body, "size_bytes": len(content)}


def timeline(start: str, *, is_answered: bool) -> dict[str, Any]:
    """Return the timeline of a full record."""
    end = now()
    return {
        "request_start": start,
        **({"initial_response": end, "latency_us": DURATION_US} if is_answered else {}),
        "request_completed": end,
        "serialization_completed": end,
        "request_duration_us": DURATION_US,
        "serialization_duration_us": 1,
        "total_duration_us": DURATION_US + 1,
    }


def errors(code: int, name: str, message: str, **members: Any) -> RefusedError:
    """Return the exception for a call that is refused."""
    return RefusedError(code, message, {"name": name, "retryable": False, **members})


class RefusedError(Exception):
    """A call that is refused: the members of its error."""

    def __init__(self, code: int, message: str, data: dict[str, Any]) -> None:
        self.code = code
        self.message = message
        self.data = data
        super().__init__(message)
