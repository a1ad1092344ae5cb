"""The rules of RFC 6265bis as data, with curl's own jar as a second opinion."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from harness.cookies import jar, perform
from harness.waiting import PATIENCE_SECONDS
from harness.wire import Wire
from origins.authority import Authority
from origins.scripted import ScriptedOrigin

LONG = "x" * 4_095
WWW = "http://www.example.com/a/b"
SECURE = "https://www.example.com/a/b"


@dataclass(frozen=True)
class Case:
    """Responses that set cookies, and the cookies that later requests are sent with."""

    sets: list[tuple[str, list[str]]]
    sends: dict[str, str]
    curl: dict[str, str] = field(default_factory=dict)
    """Where curl 7.88 and 8.14 send something else, with the reason in a comment."""


def one(cookie: str, sends: dict[str, str], url: str = WWW, curl: dict[str, str] | None = None) -> Case:
    return Case([(url, [cookie])], sends, curl or {})


CASES = {
    # Name and value
    "pair": one("a=b", {WWW: "a=b"}),
    "blanks": one("  a =  b c  ; Path=/", {WWW: "a=b c"}),
    "equals": one("a=b=c", {WWW: "a=b=c"}),
    "quotes": one('a="b;c"', {WWW: 'a="b'}),
    "empty value": one("a=", {WWW: "a="}),
    # curl sends a cookie without a name as `=a`, or not at all.
    "no name": one("a; Path=/", {WWW: "a"}, curl={WWW: ""}),
    "nothing": one("; Secure", {WWW: ""}),
    "4,096 bytes": one("a=" + LONG, {WWW: "a=" + LONG}, curl={WWW: ""}),  # curl: 4,095 bytes
    "4,097 bytes": one("a=x" + LONG, {WWW: ""}),
    "control character": one("a=b\x01c", {WWW: ""}),
    "utf-8": one("a=\xc3\xa9", {WWW: "a=\xc3\xa9"}),
    # Domain
    "host only": one("a=b", {WWW: "a=b", "http://example.com/a/": "", "http://x.www.example.com/a/": ""}),
    "domain": one(
        "a=b; Domain=example.com",
        {
            WWW: "a=b",
            "http://example.com/a/": "a=b",
            "http://x.y.example.com/a/": "a=b",
            "http://badexample.com/a/": "",
        },
    ),
    "dot and case": one("a=b; Domain=.EXAMPLE.com", {WWW: "a=b", "http://other.example.com/a/": "a=b"}),
    "other domain": one("a=b; Domain=other.com", {WWW: "", "http://other.com/a/": ""}),
    "domain below": one("a=b; Domain=x.www.example.com", {WWW: "", "http://x.www.example.com/a/": ""}),
    "part of a name": one("a=b; Domain=ample.com", {WWW: ""}),
    "empty domain": one("a=b; Domain=", {WWW: "a=b", "http://example.com/a/": ""}),
    "public suffix": one("a=b; Domain=com", {WWW: "", "http://other.com/a/": ""}),
    "public suffix of two": one(
        "a=b; Domain=co.uk", {"http://me.co.uk/": "", "http://you.co.uk/": ""}, "http://me.co.uk/"
    ),
    "private suffix": one("a=b; Domain=github.io", {"http://me.github.io/": ""}, "http://me.github.io/"),
    # curl sends it to the hosts of others below the suffix.
    "suffix itself": one(
        "a=b; Domain=github.io",
        {"http://github.io/": "a=b", "http://me.github.io/": ""},
        "http://github.io/",
        curl={"http://me.github.io/": "a=b"},
    ),
    "address": one("a=b; Domain=127.0.0.2", {"http://127.0.0.2/": "a=b"}, "http://127.0.0.2/"),
    "part of an address": one("a=b; Domain=0.0.2", {"http://127.0.0.2/": ""}, "http://127.0.0.2/"),
    # Path
    "default path": one("a=b", {WWW: "a=b", "http://www.example.com/a": "a=b", "http://www.example.com/": ""}),
    "path": one(
        "a=b; Path=/x",
        {
            "http://www.example.com/x": "a=b",
            "http://www.example.com/x/y?z": "a=b",
            "http://www.example.com/xy": "",
            "http://www.example.com/X": "",
            WWW: "",
        },
    ),
    # curl removes the slash.
    "path with a slash": one(
        "a=b; Path=/x/",
        {"http://www.example.com/x/": "a=b", "http://www.example.com/x": ""},
        curl={"http://www.example.com/x": "a=b"},
    ),
    # curl takes `/`, which is wider.
    "not a path": one(
        "a=b; Path=x", {WWW: "a=b", "http://www.example.com/": ""}, curl={"http://www.example.com/": "a=b"}
    ),
    "empty path": one(
        "a=b; Path=", {WWW: "a=b", "http://www.example.com/": ""}, curl={"http://www.example.com/": "a=b"}
    ),
    "last path": one("a=b; Path=/x; Path=/a", {WWW: "a=b", "http://www.example.com/x": ""}),
    # Secure and prefixes
    "secure": one("a=b; Secure", {SECURE: "a=b", WWW: ""}, SECURE),
    "secure from http": one("a=b; Secure", {SECURE: "", WWW: ""}),
    "secure on this machine": one("a=b; Secure", {"http://127.0.0.1/": "a=b"}, "http://127.0.0.1/"),
    "http only": one("a=b; HttpOnly", {WWW: "a=b"}),
    "__Secure-": one("__Secure-a=b; Secure", {SECURE: "__Secure-a=b"}, SECURE),
    "__Secure- without": one("__Secure-a=b", {SECURE: ""}, SECURE),
    "__Host-": one("__Host-a=b; Secure; Path=/", {SECURE: "__Host-a=b"}, SECURE),
    "__Host- with a path": one("__Host-a=b; Secure; Path=/a", {SECURE: ""}, SECURE),
    "__Host- with a domain": one("__Host-a=b; Secure; Path=/; Domain=example.com", {SECURE: ""}, SECURE),
    "secure is left alone": Case([(SECURE, ["a=1; Secure; Path=/"]), (WWW, ["a=2; Path=/"])], {SECURE: "a=1", WWW: ""}),
    # Expiry
    "max-age": one("a=b; Max-Age=1000", {WWW: "a=b"}),
    "max-age 0": Case([(WWW, ["a=1", "c=2"]), (WWW, ["a=; Max-Age=0"])], {WWW: "c=2"}),
    "negative max-age": Case([(WWW, ["a=1"]), (WWW, ["a=; Max-Age=-1"])], {WWW: ""}),
    # curl drops the cookie.
    "max-age that is no number": one("a=b; Max-Age=abc", {WWW: "a=b"}, curl={WWW: ""}),
    "expired": Case([(WWW, ["a=1"]), (WWW, ["a=; Expires=Thu, 01 Jan 1970 00:00:10 GMT"])], {WWW: ""}),
    "max-age before expires": one("a=b; Max-Age=1000; Expires=Thu, 01 Jan 1970 00:00:10 GMT", {WWW: "a=b"}),
    "a date in the future": one("a=b; Expires=Thu, 31-Dec-2099 23:59:59 GMT", {WWW: "a=b"}),
    "asctime": one("a=b; Expires=Thu Dec 31 23:59:59 2099", {WWW: "a=b"}),
    "a date that is none": one("a=b; Expires=never", {WWW: "a=b"}),
    "a day that is none": one("a=b; Expires=Wed, 31 Feb 2038 00:00:00 GMT", {WWW: "a=b"}),
    "another path is another cookie": Case(
        [(WWW, ["a=1; Path=/"]), (WWW, ["a=2; Path=/a"])],
        {WWW: "a=2; a=1", "http://www.example.com/": "a=1"},
    ),
    # Order
    "longer paths first": one("x=1; Path=/", {WWW: "x=1"}),
    # curl: the younger first.
    "order": Case(
        [(WWW, ["a=1; Path=/", "b=2; Path=/a", "c=3; Path=/", "d=4; Path=/a/b"])],
        {WWW: "d=4; b=2; a=1; c=3"},
        curl={WWW: "d=4; b=2; c=3; a=1"},
    ),
    # curl: the longer name first.
    "older first": Case([(WWW, ["a=1", "bbb=2"])], {WWW: "a=1; bbb=2"}, curl={WWW: "bbb=2; a=1"}),
    "a replaced cookie keeps its place": Case(
        [(WWW, ["a=1", "b=2"]), (WWW, ["a=3"])], {WWW: "a=3; b=2"}, curl={WWW: "b=2; a=3"}
    ),
    "the last of a response": one("a=1", {WWW: "a=1"}),
    "twice in a response": Case([(WWW, ["a=1", "a=2"])], {WWW: "a=2"}),
}


@dataclass
class Site:
    """A plain and a TLS origin under every name."""

    origins: dict[str, ScriptedOrigin]
    answers: dict[tuple[str, str], dict[str, list[tuple[str, str]]]] = field(default_factory=dict)

    def url(self, text: str) -> str:
        parts = urlsplit(text)
        return parts._replace(netloc=f"{parts.hostname}:{self.origins[parts.scheme].port}").geturl()

    def at(self, text: str) -> ScriptedOrigin:
        return self.origins[urlsplit(text).scheme]

    @property
    def resolve(self) -> list[str]:
        return [f"*:{origin.port}:127.0.0.1" for origin in self.origins.values()]

    def set(self, number: int, text: str, cookies: list[str]) -> str:
        """Answer a URL with these cookies if it has the number as its query."""
        origin, path = self.at(text), urlsplit(text).path or "/"
        answers = self.answers.setdefault((urlsplit(text).scheme, path), {})
        answers[f"{path}?set={number}"] = [("Set-Cookie", cookie) for cookie in cookies]
        origin.on(path, lambda exchange: exchange.reply(headers=answers.get(exchange.request.target, [])))
        return self.url(text) + f"?set={number}"

    def sent(self, text: str) -> str:
        fields = self.at(text).requests[-1].values("Cookie")
        assert len(fields) < 2, fields
        return fields[0] if fields else ""


@pytest.fixture
def site(authority: Authority) -> Iterator[Site]:
    with contextlib.ExitStack() as stack:
        origins = {}
        for scheme in ("http", "https"):
            certificate = authority.shared("www.example.com") if scheme == "https" else None
            origins[scheme] = ScriptedOrigin(certificate, "0.0.0.0")
            stack.callback(origins[scheme].stop)
        yield Site(origins)


@pytest.mark.parametrize("name", CASES)
def test_the_rules(wire: Wire, site: Site, name: str) -> None:
    case, session = CASES[name], jar(wire)
    settings = {"session": session, "addresses": {"resolve": site.resolve}, "trust": {"verify": False}}
    for number, (url, cookies) in enumerate(case.sets):
        perform(wire, site.set(number, url, cookies), **settings)
    for url, expected in case.sends.items():
        perform(wire, site.url(url), **settings)
        assert site.sent(url) == expected, url


@pytest.mark.parametrize("name", CASES)
def test_curl_agrees_but_for_what_is_named(site: Site, name: str) -> None:
    case = CASES[name]
    urls = [site.set(number, url, cookies) for number, (url, cookies) in enumerate(case.sets)]
    for probe, expected in case.sends.items():
        command = ["curl", "-q", "-s", "-k", "-b", "", "-o", "/dev/null", "--noproxy", "*"]
        for entry in site.resolve:
            command += ["--resolve", entry]
        for url in [*urls, site.url(probe)]:
            command += ["-o", "/dev/null", url]
        subprocess.run(command, check=True, timeout=PATIENCE_SECONDS)
        assert site.sent(probe) == case.curl.get(probe, expected), probe
