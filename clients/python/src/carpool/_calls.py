"""The arguments of callback handlers, and the classes of their values. Properties read the daemon's params."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Literal

from . import _names
from ._exceptions import RequestError, make_request_error
from ._inputs import DigestAuth
from ._models import Headers, body_content, read_file


@dataclass(frozen=True, slots=True)
class URLRequest:
    """A request as it is about to be sent."""

    record: dict[str, Any]
    """The daemon's record."""

    @property
    def method(self) -> str:
        """The method."""
        return str(self.record["method"])

    @property
    def url(self) -> str:
        """The URL."""
        return str(self.record["url"])

    @property
    def headers(self) -> Headers:
        """The header fields."""
        return Headers(self.record["headers"])

    @property
    def content(self) -> bytes | None:
        """The body, empty if there is none; None when it is a file, or larger than a message."""
        return _content(self.record.get("body"))


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """The head of a response: status and header fields."""

    record: dict[str, Any]
    """The daemon's record."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise _names.missing("ResponseHead", name, type(self))

    @property
    def status_code(self) -> int:
        """The status code."""
        return int(self.record["status"])

    @property
    def url(self) -> str:
        """The URL that answered."""
        return str(self.record.get("url", ""))

    @property
    def headers(self) -> Headers:
        """The header fields."""
        return Headers(self.record["headers"])


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes that a handler makes to a request; None leaves a member unchanged.

    `headers` replaces all fields; `set_headers` and `remove_headers` change single ones. `body` is text or bytes,
    `json` any value but None; the content type is a field like the others.
    """

    method: str | None = None
    url: str | None = None
    headers: Mapping[str, str] | list[tuple[str, str]] | None = None
    set_headers: Mapping[str, str] | None = None
    remove_headers: list[str] | None = None
    body: str | bytes | None = None
    json: Any = None


@dataclass(frozen=True, slots=True)
class Credential:
    """An OAuth 2.0 credential; `expires_in` is the lifetime of its access token in seconds, if it is known."""

    access_token: str
    refresh_token: str | None = None
    expires_in: float | None = None

    def __repr__(self) -> str:
        return f"Credential(expires_in={self.expires_in!r})"


@dataclass(frozen=True, slots=True)
class CallbackCall:
    """The members that all calls have."""

    params: dict[str, Any]
    """The daemon's params."""

    @property
    def callback(self) -> str:
        """The name under which the handler is registered."""
        return str(self.params["callback"])

    @property
    def session(self) -> str:
        """The session's name; empty for a `TrustCall`, which is about a connection that sessions share."""
        return str(self.params.get("session", ""))

    @property
    def request_id(self) -> str | None:
        """The id of the request; None for a callback of the whole session."""
        return self.params.get("request")

    @property
    def attempt(self) -> int:
        """The number of the request's attempt, from 1; 0 before the first."""
        return int(self.params.get("attempt", 0))

    @property
    def deadline(self) -> float | None:
        """The seconds after which the daemon no longer waits for the answer."""
        milliseconds = self.params.get("deadline_ms")
        return None if milliseconds is None else milliseconds / 1000


@dataclass(frozen=True, slots=True)
class AdaptCall(CallbackCall):
    """A request is about to be sent. Return `Changes`, or None to leave it as it is; `Refuse` fails it."""

    @property
    def request(self) -> URLRequest:
        """The request that is going to be sent."""
        return URLRequest(self.params["url_request"])


@dataclass(frozen=True, slots=True)
class RetryCall(CallbackCall):
    """A request has failed. Return True to retry at once, a number to retry after that many seconds.

    None or False leaves the decision to the next retrier; with `Refuse` the request fails with this reason.
    """

    @property
    def error(self) -> RequestError:
        """Why it has failed."""
        return make_request_error(self.params["error"], self.params)

    @property
    def response(self) -> ResponseHead | None:
        """The response, if there is one."""
        return _head(self.params.get("response"))

    @property
    def retry_count(self) -> int:
        """The number of retries so far."""
        return int(self.params["retry_count"])


@dataclass(frozen=True, slots=True)
class RedirectCall(AdaptCall):
    """The origin redirects. Return None or True to follow, `Changes` to follow with these, False not to follow."""

    @property
    def response(self) -> ResponseHead:
        """The redirect."""
        return ResponseHead(self.params["response"])


@dataclass(frozen=True, slots=True)
class PreprocessCall(CallbackCall):
    """A body is about to be serialized. Return the text or the bytes that replace it; `Refuse` fails the request."""

    @property
    def content(self) -> bytes | None:
        """The body, empty if there is none; None if it is in a file that this process cannot open."""
        return _content(self.params.get("body"))


@dataclass(frozen=True, slots=True)
class ValidateCall(PreprocessCall):
    """A response is validated. Return True or None to accept it, else False, or raise `Refuse` with a reason."""

    @property
    def response(self) -> ResponseHead:
        """The response."""
        return ResponseHead(self.params["response"])


@dataclass(frozen=True, slots=True)
class TrustCall(CallbackCall):
    """A server presents its certificates. Return True to trust it, else False, or raise `Refuse` with a reason."""

    @property
    def host(self) -> str:
        """The host of the URL; an IPv6 address has no brackets."""
        return str(self.params["host"])

    @property
    def port(self) -> int:
        """The port of the URL."""
        return int(self.params["port"])

    @property
    def certificates(self) -> list[bytes]:
        """The certificates that the server has sent (DER), its own first."""
        return [base64.b64decode(text) for text in self.params["certificates"]]


# What a handler of `authenticate` returns: see AuthenticateCall.
Authentication = tuple[str, str] | DigestAuth | Literal[False] | None


@dataclass(frozen=True, slots=True)
class AuthenticateCall(CallbackCall):
    """A server asks for a user and a password. Return them as a pair, or a `DigestAuth`.

    None is for the credential of the request or the session, False leaves the challenge unanswered; `Refuse` fails the
    request.
    """

    @property
    def host(self) -> str:
        """The host of the server; an IPv6 address has no brackets."""
        return str(self.params["host"])

    @property
    def port(self) -> int:
        """The port of the server."""
        return int(self.params["port"])

    @property
    def realm(self) -> str | None:
        """The realm, as the server names it."""
        return self.params.get("realm")

    @property
    def scheme(self) -> str:
        """The strongest scheme that the server offers: basic or digest."""
        return str(self.params["scheme"])

    @property
    def is_proxy(self) -> bool:
        """Whether the server is a proxy."""
        return bool(self.params.get("proxy"))

    @property
    def previous_failure_count(self) -> int:
        """How often the server has refused a credential of this attempt."""
        return int(self.params["previous_failure_count"])


@dataclass(frozen=True, slots=True)
class SerializeCall(PreprocessCall):
    """A body is serialized. Return any value that has a JSON form; `Refuse` fails the request."""

    @property
    def response(self) -> ResponseHead | None:
        """The response."""
        return _head(self.params.get("response"))


@dataclass(frozen=True, slots=True)
class DestinationCall(CallbackCall):
    """A download has its head. Return the path of its file, or None for one of the daemon's; `Refuse` fails it."""

    @property
    def response(self) -> ResponseHead:
        """The response."""
        return ResponseHead(self.params["response"])

    @property
    def suggested_name(self) -> str:
        """The file name of the response, sanitized."""
        return str(self.params["suggested_name"])


@dataclass(frozen=True, slots=True)
class BodyCall(CallbackCall):
    """A request needs its body. Return text, bytes or the path of a file; `Refuse` fails it."""

    @property
    def request(self) -> URLRequest:
        """The request that is going to be sent."""
        return URLRequest(self.params["url_request"])


@dataclass(frozen=True, slots=True)
class CacheChanges:
    """The changes to a response before it is stored; None leaves a member unchanged.

    `ttl` is how long it is fresh, in seconds; `storage="memory"` keeps it from the disk.
    """

    set_headers: Mapping[str, str] | None = None
    remove_headers: list[str] | None = None
    body: str | bytes | None = None
    ttl: float | None = None
    storage: Literal["memory", "disk"] | None = None


@dataclass(frozen=True, slots=True)
class CacheCall(CallbackCall):
    """A response is about to be stored. Return None or True to store it, `CacheChanges` to store it with these.

    False does not store it, and neither does `Refuse`. The request does not wait for the answer.
    """

    @property
    def request(self) -> URLRequest:
        """The request that was sent."""
        return URLRequest(self.params["url_request"])

    @property
    def response(self) -> ResponseHead:
        """The response."""
        return ResponseHead(self.params["response"])

    @property
    def size_bytes(self) -> int:
        """The size of the body."""
        return int(self.params["body"]["size_bytes"])

    @property
    def ttl(self) -> float | None:
        """The seconds for which it would be fresh; None if it would be validated first."""
        milliseconds = self.params["proposed"].get("ttl_ms")
        return None if milliseconds is None else milliseconds / 1000

    @property
    def storage(self) -> str:
        """Where it would be stored: memory or disk."""
        return str(self.params["proposed"]["storage"])


@dataclass(frozen=True, slots=True)
class RefreshCall(CallbackCall):
    """A session's credential has expired. Return the new `Credential`; `Refuse` fails the requests that wait for it."""

    @property
    def credential(self) -> Credential:
        """The old one."""
        record = self.params["credential"]
        return Credential(record["access_token"], record.get("refresh_token"), _seconds_until(record.get("expires")))


def _content(body: dict[str, Any] | None) -> bytes | None:
    if body is None:
        return b""
    content = body_content(body)
    return read_file(body["file"]) if content is None and "file" in body else content


def _head(record: dict[str, Any] | None) -> ResponseHead | None:
    return None if record is None else ResponseHead(record)


def _seconds_until(time: str | None) -> float | None:
    if time is None:
        return None
    # Before 3.11 fromisoformat does not accept the Z of RFC 3339.
    expires = datetime.fromisoformat(time.replace("Z", "+00:00"))
    return (expires - datetime.now(timezone.utc)).total_seconds()
