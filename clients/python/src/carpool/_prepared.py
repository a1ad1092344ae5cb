"""A function as the argument `auth`: it changes the request before it is sent."""

from __future__ import annotations

import base64
import inspect
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Final

from . import _checks, _names
from ._fields import ClientHeaders
from ._paths import encodable

if TYPE_CHECKING:
    from ._operations import Large


class PreparedRequest:
    """A request that is about to be sent, for a function as `auth`. It may change all of the members.

    The names are those of the package requests, whose subclasses of `AuthBase` can be used. `url` is the whole URL with
    the query, `headers` are those of the program, and `Content-Type`; the daemon adds others, such as `User-Agent`.
    `body` is the body as bytes; None if there is none, and for files, forms with files, and what is read while it is
    sent.
    """

    def __init__(self, method: str, url: str, headers: list[tuple[str, str]], body: bytes | None) -> None:
        self.method: str = method
        self.url: str = url
        self.body: bytes | str | None = body
        self._pairs: list[tuple[str, str]] = headers

    def __repr__(self) -> str:
        from ._secrets import shown  # noqa: PLC0415, few programs print one

        return f"<PreparedRequest {self.method} {shown(self.url)}>"

    @property
    def headers(self) -> MutableMapping[str, str]:
        """The header fields; names are case-insensitive."""
        return ClientHeaders(self, "_pairs")

    @headers.setter
    def headers(self, headers: Mapping[str, str] | Iterable[tuple[str, str]]) -> None:
        self.prepare_headers(headers)

    def prepare_headers(self, headers: Mapping[str, str] | Iterable[tuple[str, str]] | None) -> None:
        """Replace the header fields, as in requests."""
        pairs = _checks.header_pairs({} if headers is None else _as_text(headers))
        self._pairs = [(name, value) for name, value in pairs if value is not None]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise _missing(name, type(self))


_MISSING: Final = {
    "content": "use body",
    "register_hook": "for a digest pass auth=carpool.DigestAuth(user, password); a challenge is answered by the daemon",
}


def _missing(name: str, has: object) -> AttributeError:
    if name in _MISSING:
        return AttributeError(f"PreparedRequest has no attribute {name!r}: {_MISSING[name]}")
    return _names.missing("PreparedRequest", name, has)


def _as_text(headers: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return header fields with names and values as str: libraries that sign requests also use bytes."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return [(_text(name), _text(value)) for name, value in pairs]


def _text(value: Any) -> Any:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def authorize(auth: Callable[[PreparedRequest], Any], params: dict[str, Any], large: list[Large]) -> None:
    """Let a function change the parameters of a request."""
    headers = [(name, value) for name, value in params.get("headers", [])]
    body = _content(params.get("body"), large)
    request = PreparedRequest(params["method"], params["url"], headers, body)
    answer = auth(request)
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise TypeError("auth: the function is asynchronous; pass one that returns the request")
    if answer is None:
        answer = request
    if not isinstance(answer, PreparedRequest):
        raise TypeError(f"auth: the function returned {type(answer).__name__}, expected the request that it was given")
    method, url = _checks.check_target(answer.method, _text(answer.url)), _text(answer.url)
    params |= {"method": method, "url": url, "headers": _sent(answer)}
    if answer.body != body:
        _replace_body(params, answer.body, large)


def _sent(request: PreparedRequest) -> list[list[str]]:
    pairs = [(name, _text(value)) for name, value in request._pairs]  # noqa: SLF001, of this module
    # The daemon sends the length of the body itself.
    return [[name, str(value)] for name, value in pairs if name.lower() != "content-length"]


def _content(body: dict[str, Any] | None, large: list[Large]) -> bytes | None:
    """Return the bytes of a parameter `body`; None if they are not in memory."""
    if body is None:
        return None
    for place, content in large:
        if place is body:
            return content
    if "text" in body:
        return str(body["text"]).encode()
    return base64.b64decode(body["base64"]) if "base64" in body else None


def _replace_body(params: dict[str, Any], body: bytes | str | None, large: list[Large]) -> None:
    from ._bodies import MAX_INLINE_BODY_BYTES  # noqa: PLC0415, few functions do it

    large.clear()
    if body is None:
        params.pop("body", None)
        return
    if not isinstance(body, (str, bytes)):
        raise TypeError(f"auth: the body is bytes, str or None, not {type(body).__name__}")
    raw = encodable(body, "auth: the body").encode() if isinstance(body, str) else body
    params["body"] = {"base64": base64.b64encode(raw).decode()}
    if len(raw) > MAX_INLINE_BODY_BYTES:
        params["body"] = {}
        large.append((params["body"], raw))
