"""The jar of a request to a fake daemon: the parameter `cookies`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from .. import _cookies

_LOCAL: Final = ("localhost", "127.", "::1")
_MEMBERS: Final = ("name", "value", "domain", "host_only", "path", "expires", "secure", "http_only")
# Name, domain, whether for the host alone, path.
_Identity = tuple[str, str, bool, str]


class Jar:
    """The cookies that a request brings, and those that the replies set."""

    def __init__(self, given: dict[str, Any], url: str) -> None:
        self._export = given.get("export")
        self._kept: dict[_Identity, dict[str, Any]] = {}
        # Those without a domain are for this origin alone, and are not exported.
        self._own: dict[_Identity, dict[str, Any]] = {}
        self._origin = _origin(urlsplit(url))
        for cookie in _of_lines(given.get("import", ""), url):
            self._put(cookie)
        for cookie in given.get("set", ()):
            self._put(_whole(cookie, urlsplit(url).hostname or ""))
            if "domain" not in cookie:
                made = _whole(cookie, urlsplit(url).hostname or "")
                self._own[_identity(made)] = made
        self._first = dict(self._kept)

    @property
    def is_about_changes(self) -> bool:
        """Whether the record has only what the replies have changed."""
        return self._export == "changes"

    def _put(self, cookie: dict[str, Any]) -> None:
        self._own.pop(_identity(cookie), None)
        if cookie["expires"] is not None and cookie["expires"] <= time.time():
            self._kept.pop(_identity(cookie), None)
        else:
            self._kept[_identity(cookie)] = cookie

    def field(self, url: str) -> list[list[str]]:
        """Return the field `Cookie` for a URL, if any cookie is for it."""
        parts = urlsplit(url)
        sent = [cookie for cookie in self._kept.values() if self._is_for(cookie, parts)]
        sent.sort(key=lambda cookie: -len(cookie["path"]))
        pairs = [f"{cookie['name']}={cookie['value']}" if cookie["name"] else cookie["value"] for cookie in sent]
        return [["Cookie", "; ".join(pairs)]] if pairs else []

    def _is_for(self, cookie: dict[str, Any], parts: SplitResult) -> bool:
        if _identity(cookie) in self._own and self._origin != _origin(parts):
            return False
        host, path = parts.hostname or "", parts.path or "/"
        is_below = not cookie["host_only"] and host.endswith("." + cookie["domain"])
        is_secure = parts.scheme == "https" or host.startswith(_LOCAL)
        if (host != cookie["domain"] and not is_below) or (cookie["secure"] and not is_secure):
            return False
        return path == cookie["path"] or path.startswith(cookie["path"].rstrip("/") + "/")

    def store(self, url: str, fields: Sequence[str]) -> None:
        """Store the cookies of the `Set-Cookie` fields of a reply."""
        for cookie in _cookies.set_by(url, fields):
            self._put(_whole(cookie, ""))

    def exported(self) -> dict[str, Any]:
        """Return the member `cookies` of the record."""
        shown = [cookie for identity, cookie in self._kept.items() if identity not in self._own]
        if self._export == "json":
            return {"cookies": {"list": shown}}
        if self.is_about_changes:
            changed = [cookie for cookie in shown if self._first.get(_identity(cookie)) != cookie]
            gone = [cookie for identity, cookie in self._first.items() if identity not in self._kept]
            return {"cookies": {"changes": changed + [{**cookie, "value": "", "expires": 0} for cookie in gone]}}
        if self._export:
            return {"cookies": {"text": "# Netscape HTTP Cookie File\n" + _cookies.wire(shown).get("import", "")}}
        return {}


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port


def _identity(cookie: dict[str, Any]) -> _Identity:
    return cookie["name"], cookie["domain"], cookie["host_only"], cookie["path"]


def _whole(cookie: dict[str, Any], host: str) -> dict[str, Any]:
    """Return a cookie with all members; one without a domain is for the host."""
    domain = cookie.get("domain", host).removeprefix(".").lower()
    is_host_only = "domain" not in cookie or "." not in domain
    defaults = {"host_only": is_host_only, "path": "/", "expires": None, "secure": False, "http_only": False}
    made = {**defaults, **cookie, "domain": domain}
    return {name: made[name] for name in (*_MEMBERS, "same_site") if name in made}


def _of_lines(text: str, url: str) -> list[dict[str, Any]]:
    """Return the cookies of a file, or of lines `Set-Cookie: ...`."""
    found = []
    for line in text.splitlines():
        if line.lower().startswith("set-cookie:"):
            found += [_whole(cookie, "") for cookie in _cookies.set_by(url, [line.partition(":")[2].strip()])]
            continue
        fields = line.removeprefix("#HttpOnly_").split("\t", 6)
        if len(fields) != len(_MEMBERS) - 1 or (line.startswith("#") and not line.startswith("#HttpOnly_")):
            continue
        domain, is_domain, path, is_secure, expires, name, value = fields
        found.append(
            _whole(
                {
                    "name": name,
                    "value": value,
                    "domain": domain,
                    "host_only": is_domain != "TRUE",
                    "path": path,
                    "secure": is_secure == "TRUE",
                    "expires": int(expires) or None,
                    "http_only": line.startswith("#HttpOnly_"),
                },
                "",
            )
        )
    return found
