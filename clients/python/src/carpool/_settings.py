"""What both clients add to their requests, as attributes that can be changed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Final

from . import _names
from ._defaults import CLIENT_NAMES, Defaults
from ._options import RequestOptions

if TYPE_CHECKING:
    from ._cookies import CookieInput
    from ._inputs import AuthInput, HookInput
    from ._jar import ClientCookies

# As much as an adapter reads: a record with 180 cookies of 4 KB.
MAX_LINE_BYTES: Final = 1 << 20
_CHANGEABLE: Final = frozenset({"auth", "cookies", "headers", "hooks", "params"})
# Settings that clients of other packages have: set here, they would silently have no effect.
_OF_OTHERS: Final = frozenset({"event_hooks", "max_redirects", "trust_env"})


class Settings:
    """The part of a client that has its defaults. A request under way keeps those that it began with."""

    _defaults: Defaults
    _channel: Any

    def __repr__(self) -> str:
        parts = [self._channel.place, *self._defaults.shown()]
        return f"<{type(self).__name__} {', '.join(parts)}>"

    @property
    def headers(self) -> MutableMapping[str, str]:
        """The header fields of each request that has none of the same name; names are case-insensitive."""
        from ._fields import ClientHeaders  # noqa: PLC0415, few programs change them

        return ClientHeaders(self._defaults, "fields")

    @headers.setter
    def headers(self, headers: Mapping[str, str] | Iterable[tuple[str, str]] | None) -> None:
        self._defaults.replace("headers", headers)

    @property
    def params(self) -> MutableMapping[str, Any]:
        """The names and values for the query of each request that has none of the same name."""
        from ._fields import ClientParams  # noqa: PLC0415, few programs change them

        return ClientParams(self._defaults, "query")

    @params.setter
    def params(self, params: Any) -> None:
        self._defaults.replace("params", params)

    @property
    def auth(self) -> AuthInput | None:
        """The user and the password of each request without `auth`, or a function; None for none."""
        auth: AuthInput | None = self._defaults.auth
        return auth

    @auth.setter
    def auth(self, auth: AuthInput | None) -> None:
        self._defaults.replace("auth", auth)

    @property
    def cookies(self) -> ClientCookies:
        """The cookies that the client keeps; without `cookies=` it has no such attribute. A value replaces them all."""
        if self._defaults.jar is None:
            # __getattr__ has the message.
            raise AttributeError
        return self._defaults.jar

    @cookies.setter
    def cookies(self, cookies: CookieInput | bool | None) -> None:
        self._defaults.replace("cookies", cookies)
        self._expect_cookies()

    def _expect_cookies(self) -> None:
        """Let the daemon send all changes of the jar: a line of the default length may not have room."""
        if self._defaults.jar is None or self._channel.max_line_bytes is not None:
            return
        self._channel.max_line_bytes = MAX_LINE_BYTES
        # Outside of an event loop there is no connection to tell.
        with contextlib.suppress(RuntimeError):
            self._channel.tell("client.hello", {"max_line_bytes": MAX_LINE_BYTES})

    @property
    def hooks(self) -> dict[str, Any]:
        """The functions that are called with each response: a list, under the name `response`."""
        return self._defaults.shared_hooks

    @hooks.setter
    def hooks(self, hooks: HookInput | None) -> None:
        self._defaults.replace("hooks", hooks)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name == "cookies":
                raise _names.no_cookies(type(self).__name__)
            if name in CLIENT_NAMES:
                raise _names.default_of_client(type(self).__name__, name)
            raise _names.missing_in_client(type(self).__name__, name, type(self))

        def __setattr__(self, name: str, value: object) -> None:
            # Those of the client itself first: clients are made often.
            if not name.startswith("_"):
                _check_settable(type(self), name, value)
            super().__setattr__(name, value)


def _check_settable(kind: type[Settings], name: str, value: object) -> None:
    """Raise AttributeError for an attribute that nothing reads.

    A client has the attributes of its class, and one of a subclass any others, but for settings that have an effect in
    clients of other packages. A function may replace a method.
    """
    if name in CLIENT_NAMES:
        if name not in _CHANGEABLE:
            raise _names.default_of_client(kind.__name__, name)
    elif hasattr(kind, name):
        if callable(getattr(kind, name)) and not callable(value):
            raise _names.method_of_client(kind.__name__, name)
    elif name in _OF_OTHERS or kind.__module__.partition(".")[0] == __package__:
        raise _names.unknown_of_client(kind.__name__, name, CLIENT_NAMES, RequestOptions.__optional_keys__)
