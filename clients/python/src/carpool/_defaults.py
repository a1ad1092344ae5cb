"""The arguments of a client, which are the defaults of its requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from . import _checks, _cookies, _forms
from ._inputs import ClientOptions, RetryPolicy
from ._options import RequestOptions

CLIENT_NAMES: Final = frozenset(ClientOptions.__optional_keys__)
# Arguments that are about the same thing: one of a request replaces a default for any of its group.
_GROUPS: Final = (
    ("auth", "credential", "credentials", "authenticate"),
    ("verify", "trust"),
    ("cert", "client_certificate"),
    ("proxies", "proxy"),
    ("timeout", "timeout_ms"),
    ("total", "resource_timeout_ms"),
    ("allow_redirects", "follow_redirects", "redirect"),
    ("retry",),
    ("http_version",),
)
_GROUP_OF: Final = {name: group for group in _GROUPS for name in group}
_MERGED: Final = ("base_url", "headers", "params", "cookies", "http2")


class Defaults:
    """What a client adds to its requests."""

    def __init__(self, session: str | None = None, options: ClientOptions | None = None) -> None:
        given: dict[str, Any] = {**(options or {})}
        _checks.check_names("a client", given, CLIENT_NAMES)
        _checks.check_types({**given, "session": session})
        self.session = session
        self._base_url = _checked_base(given.get("base_url"))
        self._headers = _checks.header_pairs(given.get("headers") or ())
        self._params = _forms.fields("params", given["params"]) if given.get("params") else []
        self._cookies = None if given.get("cookies") is None else _cookies.given(given["cookies"])
        self._others = {
            name: value
            for name, value in given.items()
            if name not in _MERGED and (value is not None or name in {"timeout", "total"})
        }
        if given.get("http2") is not None:
            self._others["http_version"] = "auto" if given["http2"] else "1.1"

    def url(self, url: str, params: Any, *, is_encoded: bool) -> str:
        """Return the URL of a request, with its query. The daemon adds `params` if the request has `encoding`."""
        if self._base_url is not None and not _is_absolute(url):
            url = self._base_url + url.lstrip("/")
        if is_encoded:
            return _forms.add_query(url, _forms.encode(self._params))
        return _forms.url_with(url, self._params, params)

    def options(self, options: RequestOptions) -> dict[str, Any]:
        """Return the options of a request with the defaults; a None of the request replaces a default too."""
        given = {name: value for name, value in options.items() if value is not None or name in {"timeout", "total"}}
        taken = {name for given_name in options for name in _GROUP_OF.get(given_name, ())}
        defaults = {name: value for name, value in self._others.items() if name not in taken}
        if "connect_timeout_ms" in given and isinstance(defaults.get("timeout"), (list, tuple)):
            defaults["timeout"] = defaults["timeout"][1]
        return {"session": self.session, **defaults, **given}

    def headers(self, headers: Any) -> list[list[str]] | None:
        """Return the header fields of a request: those of the client whose names it does not have, then its own."""
        if headers is None and not self._headers:
            return None
        given = [] if headers is None else _checks.header_pairs(headers)
        names = {name.lower() for name, _ in given}
        kept = [pair for pair in self._headers if pair[0].lower() not in names]
        return [[name, value] for name, value in kept + given if value is not None]

    def cookies(self, cookies: Any) -> dict[str, Any] | None:
        """Return the jar of a request: the cookies of the client, and then its own."""
        own = None if cookies is None else _cookies.given(cookies)
        if own is None or self._cookies is None:
            return own or self._cookies
        return _cookies.joined(self._cookies, own)


def _is_absolute(url: str) -> bool:
    scheme, mark, _ = url.partition("://")
    return bool(mark) and scheme.replace("+", "").replace("-", "").replace(".", "").isalnum()


def _checked_base(base_url: str | None) -> str | None:
    """Return the argument `base_url` with a slash at its end; an empty one is none."""
    if not base_url:
        return None
    if not _is_absolute(base_url):
        raise ValueError(f"base_url: expected an absolute URL, such as https://example.com/api, not {base_url!r}")
    if "?" in base_url or "#" in base_url:
        raise ValueError("base_url: expected a URL without a query and a fragment; use params= for the query")
    return base_url.rstrip("/") + "/"


def retry_interceptor(retry: bool | int | RetryPolicy | Mapping[str, Any] | None) -> list[Any]:
    """Return the element of `interceptor` for the argument `retry`.

    A number is the same policy as that of the command: error statuses are retried, although they are accepted.
    """
    if retry is None or retry is False or (retry == 0 and not isinstance(retry, Mapping)):
        return []
    if isinstance(retry, Mapping):
        return [{"retry_policy": dict(retry)}]
    limit = {} if retry is True else {"limit": retry}
    return [{"retry_policy": {**limit, "without_validation": True, "respect_retry_after": True}}]
