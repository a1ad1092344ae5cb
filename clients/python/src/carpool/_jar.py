"""The cookies that a client keeps."""

from __future__ import annotations

import threading
import time
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any, Final

from . import _cookies, _fork
from ._cookies import Cookies
from ._log import logger

if TYPE_CHECKING:
    from ._cookies import CookieInput

    # Name, domain, whether for the host alone, and path: a cookie replaces another one with the same.
    _Identity = tuple[str, str, bool | None, str]

# The class has a member of this name.
_List = list
# What a request may bring: cookies with a domain, their bytes as lines of a file, and cookies without a domain.
MAX_COOKIES: Final = 3_000
MAX_BYTES: Final = 1_000_000
MAX_OWN: Final = 180
# About what a line has besides name, value, domain and path.
_LINE_BYTES: Final = 48
# The requests of `submit` whose response has not been received.
_MAX_SUBMITTED: Final = 10_000


class _Turn:
    """A lock; in a child a thread that it does not have may hold that of the parent."""

    def __init__(self) -> None:
        self.abandon()
        _fork.add(self)

    def abandon(self) -> None:
        """Replace the lock."""
        self.lock = threading.Lock()


class ClientCookies(Cookies, MutableMapping[str, str]):
    """The cookies of one client: those that responses set, and those that the program sets. No other client has them.

    It is a mapping of names to values, of cookies with the same name the first. A cookie is sent where its domain, path
    and other members allow it. One without a domain is for the origin of each request's URL, until a response sets or
    removes a cookie of the same name and path.
    """

    __slots__ = ("_kept", "_submitted", "_turn", "_wire")

    def __init__(self, cookies: CookieInput | None = None) -> None:
        self._kept: dict[_Identity, dict[str, Any]] = {}
        self._wire: dict[str, Any] | None = None
        self._submitted: dict[str, None] = {}
        self._turn = _Turn()
        if cookies is not None:
            self.update(cookies)

    @property
    def list(self) -> _List[dict[str, Any]]:  # type: ignore[override]
        """The cookies with all members, as `cookies` takes them; without those that have expired."""
        with self._turn.lock:
            return [dict(cookie) for cookie in self._alive()]

    @property
    def left_out(self) -> int:  # type: ignore[override]
        """Always 0: all cookies are here."""
        return 0

    def __repr__(self) -> str:
        # Without the values, which are secrets.
        return f"ClientCookies({list(self)!r})"

    def __reduce__(self) -> tuple[type[ClientCookies], tuple[_List[dict[str, Any]]]]:
        return ClientCookies, (self.list,)

    def __setitem__(self, name: str, value: str) -> None:
        self.set(name, value)

    def __delitem__(self, name: str) -> None:
        if not self._remove(lambda cookie: cookie["name"] == name):
            raise KeyError(name)

    def get(  # type: ignore[override]
        self, name: str, default: str | None = None, domain: str | None = None, path: str | None = None
    ) -> str | None:
        """Return the value of the first cookie with this name, domain and path; without one the default."""
        for cookie in self.list:
            if cookie["name"] == name and _is_at(cookie, domain, path):
                return str(cookie["value"])
        return default

    def set(self, name: str, value: str | None, domain: str | None = None, path: str = "/", **members: Any) -> None:
        """Set a cookie; the value None removes it.

        `members` are `host_only`, `secure`, `http_only`, `expires` (seconds since 1970) and `same_site`. Raises
        TypeError and ValueError for a cookie that cannot be sent.
        """
        if value is None:
            self.delete(name, domain, path)
            return
        self.update([{"name": name, "value": value, "path": path, **members, **({"domain": domain} if domain else {})}])

    def delete(self, name: str, domain: str | None = None, path: str | None = None) -> None:
        """Remove the cookies with this name, of all domains and paths unless they are given."""
        self._remove(lambda cookie: cookie["name"] == name and _is_at(cookie, domain, path))

    def clear(self, domain: str | None = None, path: str | None = None) -> None:
        """Remove all cookies, or those of a domain and a path."""
        self._remove(lambda cookie: _is_at(cookie, domain, path))

    def update(self, cookies: CookieInput = (), /, **values: str) -> None:  # type: ignore[override]
        """Add cookies in any form that the argument `cookies` of a request takes."""
        made = [_checked(cookie) for cookie in [*_cookies.members(cookies), *_cookies.members(values)]]
        with self._turn.lock:
            self._check_own(made)
            for cookie in made:
                self._put(cookie)
            self._trim()

    def _check_own(self, made: _List[dict[str, Any]]) -> None:
        identities = {*self._kept, *map(_identity, made)}
        if sum(is_host_only is None for _, _, is_host_only, _ in identities) > MAX_OWN:
            raise ValueError(f"cookies: at most {MAX_OWN} may lack domain or host_only, and are sent with each request")

    def _remove(self, condition: Any) -> bool:
        with self._turn.lock:
            found = [identity for identity, cookie in self._kept.items() if condition(cookie)]
            for identity in found:
                del self._kept[identity]
            self._wire = None
        return bool(found)

    def _put(self, cookie: dict[str, Any]) -> None:
        name, domain, is_host_only, path = identity = _identity(cookie)
        if is_host_only is not None:
            # The daemon has decided what the program had left open.
            for own in ((name, "", None, path), (name, domain, None, path)):
                self._kept.pop(own, None)
        if _is_over(cookie):
            self._kept.pop(identity, None)
        else:
            self._kept[identity] = cookie
        self._wire = None

    def _alive(self) -> _List[dict[str, Any]]:
        return [cookie for cookie in self._kept.values() if not _is_over(cookie)]

    def _trim(self) -> None:
        """Remove the oldest cookies, as long as there are more than a request may bring."""
        size = sum(map(_size, self._kept.values()))
        for identity, cookie in list(self._kept.items()):
            if len(self._kept) <= MAX_COOKIES and size <= MAX_BYTES:
                return
            size -= _size(cookie)
            del self._kept[identity]

    def wire(self, *, is_elsewhere: bool = False) -> dict[str, Any]:
        """Return the parameter `cookies` of a request, whose record then has the changes."""
        with self._turn.lock:
            if is_elsewhere:
                kept = [cookie for cookie in self._alive() if "domain" in cookie]
                return {**_cookies.wire(kept), "export": "changes"}
            if self._wire is None:
                self._wire = {**_cookies.wire(self._alive()), "export": "changes"}
            return self._wire

    def made(self, record: dict[str, Any]) -> None:
        """Take what a request has changed from the answer to the call that made it, or expect that later."""
        if "outcome" in record or "held" in record:
            self.receive(record)
            return
        with self._turn.lock:
            self._submitted[record["request"]] = None
            if len(self._submitted) > _MAX_SUBMITTED:
                del self._submitted[next(iter(self._submitted))]

    def receive(self, record: dict[str, Any], *, is_later: bool = False) -> None:
        """Take what a request has changed from its record; of one that comes later only if this client has made it."""
        found = record.get("cookies")
        if found is None or "changes" not in found:
            return
        del record["cookies"]
        if left_out := found.get("left_out"):
            logger().warning("%d cookies that %s has changed did not fit the record", left_out, record["request"])
        with self._turn.lock:
            if is_later and self._submitted.pop(record["request"], self) is self:
                return
            for cookie in found["changes"]:
                self._put(cookie)
            if found["changes"]:
                self._trim()


def _identity(cookie: dict[str, Any]) -> _Identity:
    return cookie["name"], cookie.get("domain", ""), cookie.get("host_only"), cookie["path"]


def _is_over(cookie: dict[str, Any]) -> bool:
    expires = cookie.get("expires")
    return expires is not None and expires <= time.time()


def _size(cookie: dict[str, Any]) -> int:
    members = (cookie["name"], cookie["value"], cookie.get("domain", ""), cookie["path"])
    return _LINE_BYTES + sum(len(member.encode()) for member in members)


def _is_at(cookie: dict[str, Any], domain: str | None, path: str | None) -> bool:
    has_domain = domain is None or cookie.get("domain", "") == _domain(domain)
    return has_domain and (path is None or cookie["path"] == path)


def _domain(domain: str) -> str:
    return domain.removeprefix(".").lower()


def _checked(cookie: dict[str, Any]) -> dict[str, Any]:
    """Return a cookie with the members that identify it; raises TypeError and ValueError for one that is invalid."""
    made = {
        "path": "/",
        **{member: value for member, value in cookie.items() if value is not None or member == "expires"},
    }
    for member in ("name", "value", "path", *(["domain"] if "domain" in made else [])):
        value = made.get(member)
        if not isinstance(value, str):
            raise TypeError(f"cookies: the {member} of {made.get('name')!r} is str, not {type(value).__name__}")
        if _cookies.has_control(value) or (member != "path" and ";" in value):
            raise ValueError(f"cookies: the {member} of {made['name']!r} has a character that no cookie may have")
    if not isinstance(expires := made.get("expires"), (int, float, type(None))):
        raise TypeError(f"cookies: expires of {made['name']!r} is in seconds since 1970, not {type(expires).__name__}")
    if isinstance(expires, float):
        made["expires"] = int(expires)
    if unknown := made.keys() - {"name", "value", "domain", "path", *_OTHERS}:
        raise TypeError(
            f"cookies: {made['name']!r} has an unknown member {min(unknown)!r}; known are {', '.join(_OTHERS)}"
        )
    if "domain" in made:
        made["domain"] = _domain(made["domain"])
    else:
        made.pop("host_only", None)
    return made


_OTHERS: Final = ("host_only", "secure", "http_only", "expires", "same_site")
