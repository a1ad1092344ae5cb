"""The argument `cookies` of a request, and the cookies of a response."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeGuard

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


def given(cookies: CookieInput) -> dict[str, Any]:
    """Return the parameter `cookies`: a jar of the request, which the record returns."""
    if isinstance(cookies, Cookies):
        cookies = cookies.list
    # Before mappings: the jars of some libraries are mappings too.
    if _is_jar(cookies):
        return _of_jar(cookies)
    if isinstance(cookies, Mapping):
        return {"set": [{"name": name, "value": value} for name, value in cookies.items()], "export": "json"}
    if isinstance(cookies, Sequence) and not isinstance(cookies, (str, bytes)):
        return {"set": [dict(cookie) for cookie in cookies], "export": "json"}
    raise TypeError(
        "cookies: expected a mapping of names to values, a list of dicts, the cookies of a response or a CookieJar, "
        f"not {type(cookies).__name__}"
    )


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


def _of_jar(jar: CookieJar) -> dict[str, Any]:
    """Return the cookies of a jar: as lines of a file, of which there may be more, and those without a host."""
    lines: list[str] = []
    own: list[dict[str, Any]] = []
    for cookie in jar:
        if cookie.is_expired():
            continue
        # One without an equals sign has no value.
        name, value = ("", cookie.name) if cookie.value is None else (cookie.name, cookie.value)
        if cookie.domain:
            lines.append(_line(cookie, name, value))
        else:
            own.append({"name": name, "value": value, "path": cookie.path, "secure": cookie.secure})
    return {"set": own, "import": "".join(lines), "export": "json"}


def _line(cookie: Cookie, name: str, value: str) -> str:
    domain = cookie.domain
    # `http.cookiejar` adds this to names without a dot.
    short = domain.removesuffix(".local")
    if "." not in short:
        domain = short
    is_domain = cookie.domain_specified or domain.startswith(".")
    members = [
        domain, "TRUE" if is_domain else "FALSE", cookie.path, "TRUE" if cookie.secure else "FALSE",
        str(cookie.expires or 0), name, value,
    ]  # fmt: skip
    prefix = "#HttpOnly_" if cookie.has_nonstandard_attr("HttpOnly") else ""
    return prefix + "\t".join(members) + "\n"
