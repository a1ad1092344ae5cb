"""The same replies of an origin and of a fake daemon, and the form of what the daemons send for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from carpool.testing import FakeDaemon, Reply, Request
from origins.scripted import Exchange, ScriptedOrigin, statuses

LARGE = bytes(range(256)) * 800
REPLIES: dict[str, tuple[int, bytes, list[tuple[str, str]]]] = {
    "/json": (200, b'{"a":[1,"\xc3\xa9"]}', [("Content-Type", "application/json"), ("Set-Cookie", "sid=1")]),
    "/binary": (200, b"\xff\xfe", []),
    "/empty": (204, b"", []),
    "/large": (200, LARGE, [("Content-Type", "application/octet-stream")]),
    "/text": (200, b"x" * 45_000, [("Content-Type", "text/plain")]),
    "/quotes": (200, b'"' * 40_000, [("Content-Type", "text/plain")]),
    "/missing": (404, b"none", [("Content-Type", "text/plain")]),
    "/old": (302, b"", [("Location", "/new?a=b")]),
    "/in": (302, b"", [("Location", "new?a=b"), ("Set-Cookie", "in=1"), ("X-Other", "x"), ("set-cookie", "b=2")]),
    "/see": (303, b"", [("Location", "/echo")]),
    "/new": (200, b"new", []),
    "/loop": (301, b"", [("Location", "/loop")]),
    "/stay": (302, b"", []),
}
DEAD = "http://127.0.0.1:1/"


def serve(origin: ScriptedOrigin) -> str:
    """Serve the replies; return the origin's URL."""

    def handler(status: int, body: bytes, headers: list[tuple[str, str]]) -> Callable[[Exchange], None]:
        return lambda exchange: exchange.reply(status, body, headers)

    for path, reply in REPLIES.items():
        origin.on(path, handler(*reply))
    origin.on("/busy", statuses(503, 503, 200, body=b"free"))
    origin.on("/echo", lambda exchange: exchange.reply(200, exchange.request.method.encode() + exchange.request.body))

    def broken(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        exchange.close()

    origin.on("/broken", broken)
    return origin.url


def mock(fake: FakeDaemon, url: str) -> None:
    """Make the same replies of routes."""
    for path, (status, body, headers) in REPLIES.items():
        fake.route("*", url + path, status_code=status, content=body, headers=headers)
    fake.route("*", f"{url}/busy", [*[Reply(503, content=b"free")] * 2, Reply(content=b"free")])

    def echo(request: Request) -> Reply:
        return Reply(content=request.method.encode() + request.content)

    fake.route("*", f"{url}/echo", echo)
    broken = {"Content-Length": "10"}
    name = "session_task_failed.network_connection_lost"
    fake.route("*", f"{url}/broken", headers=broken, content=b"first", error=name)
    fake.route("*", DEAD, error="session_task_failed.cannot_connect_to_host")


# Members that depend on the network, the version of libcurl or the machine.
FREE = {
    "reachability",
    "curl",
    "errno",
    "url_error_code",
    "hint",
    "new_connection",
    "message",
    "path",
    "expected",
    "detail",
}
# Members whose values are the same, and not only their types.
EXACT = {
    "state", "name", "text", "base64", "error", "method", "status", "size_bytes", "code", "attempts", "redirects", "ok",
    "changed", "reused", "held", "fd", "eof", "retryable", "value", "none", "sha256", "finished", "tags",
    "offset_bytes", "url", "type", "reason", "attempt",
}  # fmt: skip


def form(value: Any, place: str = "") -> dict[str, Any]:
    """Return the members of a record with their types; states, names of errors, bodies and numbers as they are."""
    name = place.rpartition(".")[2]
    if isinstance(value, dict) and value:
        members = [form(member, f"{place}.{key}") for key, member in value.items() if key not in FREE]
        return {path: member for found in members for path, member in found.items()}
    if isinstance(value, list) and value and name != "headers":
        members = [form(element, f"{place}.{number}") for number, element in enumerate(value)]
        return {path: member for found in members for path, member in found.items()}
    if name in EXACT and value is not None:
        return {place: value}
    return {place: type(value).__name__}


def differing(fake: Any, real: Any) -> dict[str, tuple[Any, Any]]:
    """Return the members in which what the fake has sent differs from what the daemon has sent, with both values."""
    fake_form, real_form = form(fake), form(real)
    assert real_form
    pairs = {place: (fake_form.get(place, "absent"), real_form.get(place, "absent")) for place in fake_form | real_form}
    return {place: pair for place, pair in pairs.items() if pair[0] != pair[1]}
