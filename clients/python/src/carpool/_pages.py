"""The pages of a resource: which request is next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import parse_qsl, unquote_plus, urljoin, urlsplit

from . import _checks, _forms
from ._cookies import Elsewhere
from ._exceptions import CarpoolError
from ._paths import encodable
from ._secrets import is_secret

if TYPE_CHECKING:
    from ._defaults import Defaults
    from ._options import RequestOptions
    from ._response import Response

# Without `max_pages` more are an error: a server without an end, or a program that does not know what it reads.
MAX_PAGES: Final = 1_000
# What proves who asks: another origin does not get it.
_CREDENTIALS: Final = ("auth", "credential", "credentials", "authenticate", "cert", "client_certificate")
# The interceptors that add nothing to a request of which its server could learn who asks.
_HARMLESS_INTERCEPTORS: Final = frozenset({"retry_policy", "connection_lost", "offline", "compress"})
_BODIES: Final = ("json", "data", "files", "body")
_PORTS: Final = {"http": 80, "https": 443}


class Pages:
    """The requests of an iteration: `url` and `options` are those of the next one, which `advance` finds."""

    def __init__(
        self,
        url: str,
        options: RequestOptions,
        defaults: Defaults,
        *,
        next_url: str | None,
        cursor: str | None,
        cursor_param: str | None,
        max_pages: int | None,
    ) -> None:
        for name, value in (("next_url", next_url), ("cursor", cursor), ("cursor_param", cursor_param)):
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{name}: expected str, not {type(value).__name__}")
        if (cursor is None) != (cursor_param is None):
            raise ValueError(
                "cursor and cursor_param belong together: where a page has the cursor, and where it is sent"
            )
        if cursor is not None and next_url is not None:
            raise ValueError("cursor and next_url are two ways to the next page: pass only one of them")
        if max_pages is not None and (not isinstance(max_pages, int) or isinstance(max_pages, bool)):
            raise TypeError(f"max_pages: expected a number of pages or None, not {type(max_pages).__name__}")
        if max_pages is not None and max_pages < 1:
            raise ValueError(f"max_pages: expected at least 1 page, not {max_pages}")
        _checks.check_target("GET", url)
        self.url = url
        self.options: RequestOptions = options
        self._defaults = defaults
        self._next_url = next_url
        self._cursor = cursor
        self._cursor_param = cursor_param
        self._max_pages = max_pages
        self._count = 0
        first = defaults.url(url, None, is_encoded=False)
        self._origin = _origin(first)
        self._seen = {first}

    def advance(self, response: Response) -> bool:
        """Find the request of the page after this one; return False if there is none.

        Raises CarpoolError for a page that does not say what it should, and if there are too many; ValueError for one
        that is not JSON.
        """
        self._count += 1
        found = None if response.is_error else self._found(response)
        if found is None or found in self._seen:
            return False
        if self._count >= (self._max_pages or MAX_PAGES):
            if self._max_pages is None:
                raise CarpoolError(
                    f"{MAX_PAGES:,} pages were read, and there are more: pass max_pages= for their number"
                )
            return False
        self._seen.add(found)
        if self._cursor_param is None:
            self._go_to(found)
        else:
            self._send(self._cursor_param, found)
        return True

    def _found(self, response: Response) -> str | None:
        """Return the URL of the next page, or its cursor."""
        if (place := self._cursor or self._next_url) is None:
            link = response.links.get("next")
            return None if link is None else _url(response, link["url"])
        value = _member(response.json(), place)
        if value is None or value is False or value == "":
            return None
        if self._cursor is not None and isinstance(value, int):
            return str(value)
        if not isinstance(value, str):
            raise CarpoolError(f"pages: {place} of {response.url} is of type {type(value).__name__}, expected text")
        return _encodable(response, value) if self._cursor is not None else _url(response, value)

    def _go_to(self, url: str) -> None:
        """Request a URL that has the whole query, with the credentials only at the first page's origin."""
        names = {unquote_plus(pair.partition("=")[0]) for pair in urlsplit(url).query.split("&")}
        given: dict[str, Any] = {name: value for name, value in self.options.items() if name != "encoding"}
        is_same = _origin(url) == self._origin
        known = self._defaults.param_names
        given["params"] = {name: None for name in known if not is_same or name in names} or None
        if not is_same:
            if any(given.get(name) for name in _BODIES):
                raise CarpoolError(f"pages: the next page is at another origin, {url}, which does not get the body")
            given |= dict.fromkeys(_CREDENTIALS)
            given["interceptor"] = _harmless_interceptors(given.get("interceptor"))
            given["headers"] = self._defaults.harmless_headers(given.get("headers"))
            if given.get("cookies") is not None or self._defaults.jar is not None:
                given["cookies"] = Elsewhere.made(given.get("cookies"))
        self.url, self.options = url, cast("RequestOptions", given)

    def _send(self, name: str, cursor: str) -> None:
        """Request the first page's URL with a cursor in its query."""
        base, mark, query = self.url.partition("?")
        rest = [pair for pair in query.split("&") if unquote_plus(pair.partition("=")[0]) != name]
        self.url = base + mark + "&".join(rest) if mark and query else self.url
        params = self.options.get("params")
        if isinstance(params, (str, bytes)):
            params = parse_qsl(params if isinstance(params, str) else params.decode(), keep_blank_values=True)
        fields = [] if params is None else _forms.fields("params", params)
        given = [*(pair for pair in fields if pair[0] != name), (name, cursor)]
        self.options = cast("RequestOptions", {**self.options, "params": given})


def _url(response: Response, reference: str) -> str:
    """Return the absolute URL of a next page; raises CarpoolError if it cannot be parsed."""
    try:
        url = urljoin(response.url, reference)
        urlsplit(url)
    except ValueError as error:
        raise CarpoolError(f"pages: the next page of {response.url} is no URL, {reference!a}: {error}") from error
    return _encodable(response, url)


def _encodable(response: Response, text: str) -> str:
    try:
        return encodable(text)
    except ValueError as error:
        raise CarpoolError(f"pages: {text!a}, the next page of {response.url}, has no UTF-8") from error


def _origin(url: str) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit(url)
    except ValueError:
        # The request of the first page fails, as any other with this URL.
        return "", url, None
    try:
        port = parts.port
    except ValueError:
        port = -1
    return parts.scheme.lower(), parts.hostname or "", port or _PORTS.get(parts.scheme.lower())


def _member(value: Any, place: str) -> Any:
    """Return the member of a JSON value at a pointer (RFC 6901), or of this name; None if there is none."""
    if not place.startswith("/"):
        return value.get(place) if isinstance(value, Mapping) else None
    for part in place[1:].split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, Sequence) and not isinstance(value, str) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def _harmless_interceptors(interceptors: Sequence[str | Mapping[str, Any]] | None) -> list[Any] | None:
    """Return the interceptors that add no credentials: without those that set fields or ask a function."""
    return [
        each
        for each in interceptors or ()
        if _HARMLESS_INTERCEPTORS.issuperset([each] if isinstance(each, str) else each)
    ] or None


def harmless(pairs: Sequence[tuple[str, str | None]]) -> list[tuple[str, str | None]]:
    """Return header fields without the values of those that may be secrets."""
    return [(name, None if is_secret(name) else value) for name, value in pairs]
