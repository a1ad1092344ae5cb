"""The arguments of a client, which are the defaults of its requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from . import _checks, _cookies, _forms
from ._inputs import ClientOptions, RetryPolicy
from ._options import RequestOptions

if TYPE_CHECKING:
    from ._jar import ClientCookies
    from ._response import Response

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
_MERGED: Final = ("base_url", "headers", "params", "cookies", "http2", "hooks")
# What may have secrets, and is not shown.
_HIDDEN: Final = ("auth", "proxies", "proxy")


class Defaults:
    """What a client adds to its requests. Values are replaced and never changed: another thread may read them."""

    def __init__(self, session: str | None = None, options: ClientOptions | None = None) -> None:
        given: dict[str, Any] = {**(options or {})}
        _checks.check_names("a client", given, CLIENT_NAMES)
        _checks.check_types({**given, "session": session})
        self.session = session
        self._base_url = _checked_base(given.get("base_url"))
        self.fields: Sequence[tuple[str, str | None]] = _checks.header_pairs(given.get("headers") or ())
        self.query = _forms.fields("params", given["params"]) if given.get("params") else []
        self.jar: ClientCookies | None = _jar_of(given.get("cookies"))
        self._hooks = _hooks_of(given.get("hooks"))
        self._others = {
            name: value
            for name, value in given.items()
            if name not in _MERGED and (value is not None or name in {"timeout", "total"})
        }
        if given.get("http2") is not None:
            self._others["http_version"] = "auto" if given["http2"] else "1.1"

    def replace(self, name: str, value: Any) -> None:
        """Replace one of the values that may be changed; None is none."""
        _checks.check_types({name: value})
        if name == "headers":
            self.fields = _checks.header_pairs(value or ())
        elif name == "params":
            self.query = _forms.fields("params", value) if value else []
        elif name == "cookies":
            self.jar = _jar_of(value)
        elif name == "hooks":
            self._hooks = _hooks_of(value)
        else:
            others = {each: given for each, given in self._others.items() if each != name}
            self._others = others if value is None else {**others, name: value}

    @property
    def auth(self) -> Any:
        """The argument `auth`; None for none."""
        return self._others.get("auth")

    @property
    def shared_hooks(self) -> dict[str, Any]:
        """The functions that are called with each response; changes have an effect."""
        if self._hooks is None:
            self._hooks = {"response": []}
        return self._hooks

    def responders(self, options: RequestOptions) -> Sequence[Callable[[Response], Any]]:
        """Return the functions that are called with the response of a request: its own, in place of the client's."""
        hooks = _hooks_of(options["hooks"]) if "hooks" in options else self._hooks
        if not hooks:
            return ()
        found = hooks.get("response") or ()
        return (found,) if callable(found) else tuple(found)

    @property
    def param_names(self) -> set[str]:
        """The names that are added to queries."""
        return {name for name, _ in self.query}

    def harmless_headers(self, headers: Any) -> list[tuple[str, str | None]]:
        """Return the header fields of a request to another origin: without those that may be secrets."""
        from ._pages import harmless  # noqa: PLC0415, few programs have such requests

        given = [] if headers is None else _checks.header_pairs(headers)
        names = {name.lower() for name, _ in given}
        return harmless([*(pair for pair in self.fields if pair[0].lower() not in names), *given])

    def shown(self) -> list[str]:
        """Return the settings for people, without secrets."""
        from ._secrets import shown  # noqa: PLC0415, few programs print a client

        parts = [] if self.session is None else [f"session={self.session!r}"]
        if self._base_url is not None:
            parts.append(f"base_url={shown(self._base_url)!r}")
        named = {"headers": self.fields, "params": self.query}
        parts += [f"{name}={list(dict(pairs))!r}" for name, pairs in named.items() if pairs]
        if self.jar is not None:
            parts.append(f"cookies={len(self.jar)}")
        for name, value in self._others.items():
            is_plain = name not in _HIDDEN and isinstance(value, (str, int, float, tuple, type(None)))
            parts.append(f"{name}={value!r}" if is_plain else f"{name}=...")
        return parts

    def url(self, url: str, params: Any, *, is_encoded: bool) -> str:
        """Return the URL of a request, with its query. The daemon adds `params` if the request has `encoding`."""
        if self._base_url is not None and not _is_absolute(url):
            url = self._base_url + url.lstrip("/")
        if is_encoded:
            return _forms.add_query(url, _forms.encode(self.query))
        return _forms.url_with(url, self.query, params)

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
        fields = self.fields
        if headers is None and not fields:
            return None
        given = [] if headers is None else _checks.header_pairs(headers)
        names = {name.lower() for name, _ in given}
        kept = [pair for pair in fields if pair[0].lower() not in names]
        return [[name, value] for name, value in [*kept, *given] if value is not None]

    def cookies(self, cookies: Any) -> dict[str, Any] | None:
        """Return the jar of a request: the cookies that the client keeps, and then its own."""
        own = None if cookies is None else _cookies.given(cookies)
        if self.jar is None:
            return own
        kept = self.jar.wire(is_elsewhere=isinstance(cookies, _cookies.Elsewhere))
        return kept if own is None else {**_cookies.joined(kept, own), "export": kept["export"]}


def _jar_of(cookies: Any) -> ClientCookies | None:
    """Return a new jar with the cookies of the argument `cookies`."""
    if cookies is None or cookies is False:
        return None
    from ._jar import ClientCookies  # noqa: PLC0415, few programs keep cookies

    return ClientCookies(None if cookies is True else cookies)


def _hooks_of(hooks: Any) -> dict[str, Any] | None:
    """Return a copy of the argument `hooks`."""
    if hooks is None:
        return None
    return {name: found if callable(found) else list(found or ()) for name, found in hooks.items()}


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
