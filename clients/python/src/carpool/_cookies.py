"""The argument `cookies` of a request, and the cookies of a response."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from . import _names

if TYPE_CHECKING:
    from http.cookiejar import Cookie, CookieJar

    # `Cookies` are a mapping too.
    CookieInput = Mapping[str, str] | Sequence[Mapping[str, Any]] | CookieJar

# The last second of the year 9999, and more digits than a time until then has.
_LAST_SECOND: Final = 253_402_300_799
_AGE_DIGITS: Final = 13


class Cookies(Mapping[str, str]):
    """The jar of a request at its end: values by name, of cookies with the same name the first.

    It has the cookies that responses have set, and those that the request has brought with a domain of their own. Empty
    if the request had no argument `cookies`. As the argument `cookies` of another request, each is sent only where it
    may be sent, by its domain, path and the other members.
    """

    __module__ = "carpool"

    __slots__ = ("left_out", "list")

    def __init__(self, exported: dict[str, Any]) -> None:
        self.list: list[dict[str, Any]] = exported.get("list", [])
        """The cookies with all members, as `cookies` takes them."""
        self.left_out: int = exported.get("left_out", 0)
        """How many did not fit the daemon's answer."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The protocols 0 and 1 of pickle have none for slots.
        return Cookies, ({"list": self.list, "left_out": self.left_out},)

    def __getitem__(self, name: str) -> str:
        for cookie in self.list:
            if cookie["name"] == name:
                return str(cookie["value"])
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(cookie["name"] for cookie in self.list))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        # Without the values, which are secrets.
        return f"Cookies({list(self)!r})"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise _names.missing_in_cookies(type(self).__name__, name)


class Elsewhere(list[dict[str, Any]]):
    """Cookies of a request to another origin, which gets no cookie without a domain, also of the client."""

    @classmethod
    def made(cls, cookies: CookieInput | None) -> Elsewhere:
        """Return those of the argument `cookies` that have a domain."""
        return cls(cookie for cookie in members(cookies or ()) if "domain" in cookie)


def given(cookies: CookieInput) -> dict[str, Any]:
    """Return the parameter `cookies`: a jar of the request, which the record returns."""
    listed = members(cookies)
    return {**(wire(listed) if _is_jar(cookies) else {"set": listed}), "export": "json"}


def members(cookies: CookieInput) -> list[dict[str, Any]]:
    """Return the cookies as dicts with the members that the daemon takes; raises TypeError for anything else."""
    if isinstance(cookies, Cookies):
        cookies = cookies.list
    # Before mappings: the jars of some libraries are mappings too.
    if _is_jar(cookies):
        return [_of_cookie(cookie) for cookie in cookies if not cookie.is_expired()]
    if isinstance(cookies, Mapping):
        return [_named({"name": name, "value": value}) for name, value in cookies.items()]
    if isinstance(cookies, Sequence) and not isinstance(cookies, (str, bytes)):
        return [_named(cookie) for cookie in cookies]
    raise TypeError(
        "cookies: expected a mapping of names to values, a list of dicts, the cookies of a response or a CookieJar, "
        f"not {type(cookies).__name__}"
    )


def _named(cookie: Any) -> dict[str, Any]:
    """Return a copy of a cookie; raises TypeError unless it has a name and a value."""
    if not isinstance(cookie, Mapping):
        raise TypeError(f"cookies: a list has dicts with name, value and other members, not {type(cookie).__name__}")
    for member in ("name", "value"):
        if not isinstance(value := cookie.get(member), str):
            more = "; of a SimpleCookie pass {name: morsel.value}" if hasattr(value, "coded_value") else ""
            shown = "" if member == "name" else f" of {cookie['name']!r}"
            raise TypeError(f"cookies: the {member}{shown} is str, not {type(value).__name__}{more}")
    return dict(cookie)


def joined(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Return one parameter `cookies` of two; of cookies with the same name the second one's is valid."""
    lines = first.get("import", "") + second.get("import", "")
    return {"set": first["set"] + second["set"], **({"import": lines} if lines else {}), "export": "json"}


def set_by(url: str, fields: Sequence[str]) -> list[dict[str, Any]]:
    """Return the cookies of `Set-Cookie` fields, with the members that `cookies` takes.

    Each is for the host of the URL, or for the domain that the field names if the host is in it.
    """
    if not fields:
        return []
    from urllib.parse import urlsplit  # noqa: PLC0415, few responses have cookies

    parts = urlsplit(url)
    return [cookie for field in fields if (cookie := _set_cookie(field, parts.hostname or "", parts.path))]


def kept(cookies: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the cookies that a response leaves: a later one replaces an earlier one, an expired one removes it."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cookie in cookies:
        identity = tuple(cookie[member] for member in ("name", "domain", "host_only", "path"))
        if cookie.get("expires", _LAST_SECOND) > time.time():
            found[identity] = cookie
        else:
            found.pop(identity, None)
    return [*found.values()]


def _set_cookie(field: str, host: str, path: str) -> dict[str, Any] | None:
    """Return the cookie of a field by RFC 6265, section 5.2; None if the host may not set it."""
    pair, *attributes = field.split(";")
    name, mark, value = pair.partition("=")
    members = {key.strip().lower(): text.strip() for key, _, text in (part.partition("=") for part in attributes)}
    domain = members.get("domain", "").lower().removeprefix(".")
    if domain and domain != host and (not host.endswith("." + domain) or "." not in domain):
        return None
    default_path = path.rpartition("/")[0] or "/"
    cookie: dict[str, Any] = {
        "name": name.strip() if mark else "",
        "value": value.strip() if mark else pair.strip(),
        "domain": domain or host,
        "host_only": not domain or "." not in domain or not host.strip("0123456789.:"),
        "path": members["path"] if members.get("path", "").startswith("/") else default_path,
        "secure": "secure" in members,
        "http_only": "httponly" in members,
    }
    if (expires := _expiry(members)) is not None:
        cookie["expires"] = expires
    return cookie


def _expiry(members: dict[str, str]) -> int | None:
    """Return the time at which a cookie ends, in seconds since 1970; None for the end of the program."""
    if (age := members.get("max-age", "")).removeprefix("-").isdecimal():
        # Python refuses to read thousands of digits, and the daemon times after the year 9999.
        return min(max(0, int(time.time()) + int(age[:_AGE_DIGITS])), _LAST_SECOND)
    if "expires" not in members:
        return None
    from email.utils import parsedate_to_datetime  # noqa: PLC0415, few responses have cookies

    try:
        return max(0, min(int(parsedate_to_datetime(members["expires"].replace("-", " ")).timestamp()), _LAST_SECOND))
    except (ValueError, OverflowError):
        return None


def _is_jar(cookies: object) -> TypeGuard[CookieJar]:
    """Check without importing `http.cookiejar`: if it is not imported, no value is one."""
    module = sys.modules.get("http.cookiejar")
    return module is not None and isinstance(cookies, module.CookieJar)


def _of_cookie(cookie: Cookie) -> dict[str, Any]:
    """Return the members of a cookie of `http.cookiejar`."""
    # One without an equals sign has no value.
    name, value = ("", cookie.name) if cookie.value is None else (cookie.name, cookie.value)
    found: dict[str, Any] = {"name": name, "value": value, "path": cookie.path, "secure": cookie.secure}
    if not cookie.domain:
        return found
    # `http.cookiejar` adds this to names without a dot.
    short = cookie.domain.removesuffix(".local")
    domain = cookie.domain if "." in short else short
    return {
        **found,
        "domain": domain.removeprefix("."),
        "host_only": not (cookie.domain_specified or domain.startswith(".")),
        "expires": cookie.expires,
        "http_only": cookie.has_nonstandard_attr("HttpOnly"),
    }


def wire(cookies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the parameter for any number of cookies: lines of a file, of which there may be more.

    Only those without a domain, and those whose `host_only` the daemon has to decide, are objects.
    """
    objects = [dict(cookie) for cookie in cookies if cookie.get("host_only") is None]
    lines = "".join(_line(cookie) for cookie in cookies if cookie.get("host_only") is not None)
    return {"set": objects, **({"import": lines} if lines else {})}


def _line(cookie: Mapping[str, Any]) -> str:
    name, value, domain, path = (str(cookie[member]) for member in ("name", "value", "domain", "path"))
    if has_control(name + value + domain + path, allowed="\t" if "\t" not in name + domain + path else ""):
        # It would be several cookies, or another one.
        return ""
    secure = "TRUE" if cookie.get("secure") else "FALSE"
    place = [domain, "FALSE"] if cookie["host_only"] else [f".{domain}", "TRUE"]
    fields = [*place, path, secure, str(cookie.get("expires") or 0)]
    prefix = "#HttpOnly_" if cookie.get("http_only") else ""
    return prefix + "\t".join([*fields, name, value]) + "\n"


def has_control(text: str, allowed: str = "") -> bool:
    """Whether a text has control characters, other than those that are allowed."""
    return any((each < " " or each == "\x7f") and each not in allowed for each in text)
