"""The argument `cookies` of a request, and the cookies of a response."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from http.cookiejar import Cookie, CookieJar

    # `Cookies` are a mapping too.
    CookieInput = Mapping[str, str] | Sequence[Mapping[str, Any]] | CookieJar


class Cookies(Mapping[str, str]):
    """The jar of a request at its end: values by name, of cookies with the same name the first.

    It has the cookies that responses have set, and those that the request has brought with a domain of their own. Empty
    if the request had no argument `cookies`. As the argument `cookies` of another request, each is sent only where it
    may be sent, by its domain, path and the other members.
    """

    __slots__ = ("left_out", "list")

    def __init__(self, exported: dict[str, Any]) -> None:
        self.list: list[dict[str, Any]] = exported.get("list", [])
        """The cookies with all members, as `cookies` takes them."""
        self.left_out: int = exported.get("left_out", 0)
        """How many did not fit the daemon's answer."""

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
    raise ValueError(
        "cookies are a mapping of names to values, a list of dicts, the cookies of a response or a CookieJar"
    )


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
