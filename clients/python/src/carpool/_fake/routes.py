"""Routes: what a fake daemon answers, and what it has received."""

from __future__ import annotations

import json as _json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from .._checks import header_pairs
from .._exceptions import RequestError, make_request_error
from .._models import Headers

# The maximum number of routes that the error about a missing one lists: it stays readable.
MAX_LISTED: Final = 20
# The name of the failure of a request without a route.
NO_ROUTE: Final = "testing.no_route"
_PORTS: Final = {"http": 80, "https": 443}
_MAX_STATUS: Final = 999
_MIN_STATUS: Final = 100


@dataclass(frozen=True, slots=True)
class Request:
    """A request that a fake daemon has received."""

    method: str
    """The method."""
    url: str
    """The URL, with its query."""
    headers: Headers
    """The header fields that the program has set. The real daemon adds others, such as User-Agent."""
    content: bytes
    """The body."""
    params: Mapping[str, Any]
    """The parameters of the call, as the daemon gets them: `timeout_ms`, `session`, `tags` and so on."""

    @property
    def text(self) -> str:
        """The body as text in UTF-8; invalid bytes become U+FFFD."""
        return self.content.decode(errors="replace")

    def json(self) -> Any:
        """Return the body parsed as JSON; raises ValueError if it is not JSON."""
        return _json.loads(self.content)


class Reply:
    """A response, or a failure: `error` is its name, such as session_task_failed.cannot_connect_to_host.

    `json` is a value that is sent as JSON, `content` text or bytes. A reply with an `error` has no response, or one
    that breaks off after `content`.
    """

    __slots__ = ("content", "error", "has_head", "headers", "status_code")

    def __init__(
        self,
        status_code: int = 200,
        *,
        headers: Mapping[str, str] | Iterable[tuple[str, str]] | None = None,
        json: Any = None,
        content: str | bytes | None = None,
        error: str | None = None,
    ) -> None:
        if not isinstance(status_code, int) or not _MIN_STATUS <= status_code <= _MAX_STATUS:
            raise ValueError(f"status_code: expected a number from 100 to 999, not {status_code!r}")
        if json is not None and content is not None:
            raise ValueError("a reply has one body: pass only one of json and content")
        if not isinstance(content, (str, bytes, type(None))):
            raise TypeError(f"content: expected str or bytes, not {type(content).__name__}")
        if error is not None:
            check_error(error)
        kind, body = _body(json, content)
        fields = [[name, value] for name, value in header_pairs(headers or ()) if value is not None]
        names = {name.lower() for name, _ in fields}
        length = None if {"content-length", "transfer-encoding"} & names else str(len(body))
        defaults = {"Content-Type": kind, "Content-Length": length}
        fields += [[name, text] for name, text in defaults.items() if text is not None and name.lower() not in names]
        self.status_code = status_code
        self.headers = fields
        self.content = body
        self.error = error
        self.has_head = error is None or json is not None or content is not None


def _body(json: Any, content: str | bytes | None) -> tuple[str | None, bytes]:
    """Return the type of a body, and its bytes."""
    if json is not None:
        return "application/json", _json.dumps(json, ensure_ascii=False, separators=(",", ":")).encode()
    if isinstance(content, str):
        return "text/plain; charset=utf-8", content.encode()
    return None, content or b""


def check_error(name: str) -> None:
    """Raise ValueError unless failures of requests have names like this one."""
    if type(make_request_error({"name": name}, {})) is RequestError and "." not in name and name not in _OTHERS:
        raise ValueError(
            f"error: expected the name of a failure of a request, as docs/failures.md lists them, not {name!r}"
        )


_OTHERS: Final = frozenset(
    {"invalid_url", "callback_failed", "client_refused", "create_uploadable_failed", "response_too_large"}
    | {"spool_full", "disk_full", "cannot_write_to_file", "response_output_closed", "downloaded_file_move_failed"}
)


def unrouted() -> Reply:
    """Return the reply to a request without a route."""
    reply = Reply()
    reply.error, reply.has_head = NO_ROUTE, False
    return reply


Answer = Reply | Callable[[Request], Reply]


@dataclass(eq=False)
class Route:
    """A method, a URL, and its replies in order; the last one is repeated."""

    method: str
    url: str | re.Pattern[str]
    replies: Sequence[Answer]
    requests: list[Request] = field(default_factory=list)
    """The requests that this route has answered, in order."""

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or not self.method:
            raise TypeError(f'method: expected the name of a method, or "*" for all, not {self.method!r}')
        if isinstance(self.url, str) and urlsplit(self.url).scheme not in _PORTS:
            raise ValueError(f"url: expected an absolute http or https URL, or a compiled pattern, not {self.url!r}")
        if not isinstance(self.url, (str, re.Pattern)):
            raise TypeError(f"url: expected str or a compiled pattern, not {type(self.url).__name__}")
        if not self.replies:
            raise ValueError("replies: expected at least one reply")
        for reply in self.replies:
            if not isinstance(reply, Reply) and not callable(reply):
                raise TypeError(f"replies: expected a Reply or a function of a request, not {type(reply).__name__}")

    def __str__(self) -> str:
        return f"{self.method} {self.url if isinstance(self.url, str) else self.url.pattern}"

    @property
    def has_function(self) -> bool:
        """Whether one of the replies is a function."""
        return any(not isinstance(reply, Reply) for reply in self.replies)

    def matches(self, method: str, url: str) -> bool:
        """Whether a request is for this route. Without a query in its URL the route has all queries."""
        if self.method not in {"*", method}:
            return False
        if not isinstance(self.url, str):
            return bool(self.url.match(url))
        own, asked = _parts(self.url), _parts(url)
        return own[0] == asked[0] and (not own[1] or own[1] == asked[1])

    def next(self, request: Request) -> Answer:
        """Note a request, and return its reply."""
        self.requests.append(request)
        return self.replies[min(len(self.requests), len(self.replies)) - 1]


def _parts(url: str) -> tuple[tuple[Any, ...], list[tuple[str, str]]]:
    """Return what identifies a resource, and the sorted query."""
    parts = urlsplit(url)
    port = parts.port or _PORTS.get(parts.scheme)
    place = (parts.scheme, parts.hostname, port, parts.path or "/")
    return place, sorted(parse_qsl(parts.query, keep_blank_values=True))


def no_route(method: str, url: str, routes: Sequence[Route]) -> str:
    """Return the message about a request without a route."""
    listed = [str(route) for route in routes[-MAX_LISTED:]]
    if len(routes) > MAX_LISTED:
        listed.insert(0, f"{len(routes) - MAX_LISTED} others")
    return f"the fake daemon has no route for {method} {url}; its routes are: {', '.join(listed) or 'none'}"
