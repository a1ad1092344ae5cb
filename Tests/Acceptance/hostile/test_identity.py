"""Cookies and challenges of hostile origins and clients: each is bounded, and no turn of the loop is long."""

from __future__ import annotations

from typing import Any

from harness.cookies import jar, perform
from harness.daemon import Daemon
from harness.gauge import bounded_turns
from harness.wire import RemoteError, Wire
from origins.scripted import Exchange, ScriptedOrigin

LONG = "p" * 900
CROWD = 24


def answering(origin: ScriptedOrigin, path: str, fields: list[tuple[str, str]], status: int = 200) -> str:
    def reply(exchange: Exchange) -> None:
        exchange.reply(status, headers=fields)

    return origin.on(path, reply)


def crowd(daemon: Daemon, url: str, **params: Any) -> None:
    """Make requests of several clients at once."""
    wires = [daemon.wire() for _ in range(6)]
    for number, wire in enumerate(wires):
        wire.call("client.hello", name=f"client-{number}")
    calls = [(wire, wire.request("request.perform", url=url, **params)) for wire in wires for _ in range(CROWD // 6)]
    for wire, call in calls:
        assert wire.result(call)["outcome"]["ok"]
    for wire in wires:
        wire.close()


def test_secure_cookies_of_one_name_and_long_paths(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    """A plain response may not replace them, and each is compared."""
    session = jar(wire)
    wire.call("client.hello", max_line_bytes=8_388_608)
    cookies = [
        {"name": "c", "value": "1", "domain": f"h{n % 100}.example.com", "path": f"/{LONG}{n:06}", "secure": True}
        for n in range(600)
    ]
    for first in range(0, 600, 200):
        wire.call("cookies.set", session=session, cookies=cookies[first : first + 200])
    fields = [("Set-Cookie", f"c=1; Domain=example.com; Path=/{LONG}{n:03}zzz") for n in range(50)]
    answering(origin, "/x", fields)
    addresses = {"resolve": [f"*:{origin.port}:127.0.0.1"]}
    with bounded_turns(daemon):
        crowd(daemon, f"http://example.com:{origin.port}/x", session=session, addresses=addresses)


def test_default_paths_of_a_long_url(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    """They are not stored."""
    session = jar(wire)
    path = "/" + "p" * 60_000 + "/x"
    answering(origin, path, [("Set-Cookie", f"n{number}=1") for number in range(50)])
    with bounded_turns(daemon):
        crowd(daemon, origin.url + path, session=session)
    assert wire.call("cookies.list", session=session)["cookies"] == []


def test_full_jars_of_requests(daemon: Daemon, origin: ScriptedOrigin) -> None:
    """Each response adds cookies to a jar that is full."""
    text = "".join(f"h{number}.test\tFALSE\t/\tFALSE\t0\tn\t\n" for number in range(2_990))
    answering(origin, "/set", [("Set-Cookie", f"n{number}=1") for number in range(50)])
    with bounded_turns(daemon):
        crowd(daemon, origin.url + "/set", cookies={"import": text, "export": "json"})


def test_texts_of_many_lines(daemon: Daemon, wire: Wire) -> None:
    session = jar(wire)
    text = "\t\t\t\t\t\t\n" * 70_000
    with bounded_turns(daemon):
        for _ in range(4):
            calls = [wire.request("cookies.import", session=session, text=text) for _ in range(4)]
            for call in calls:
                try:
                    wire.result(call)
                except RemoteError as error:
                    assert error.error["data"]["path"] == "params.text"
                else:
                    raise AssertionError("a text of 70,000 lines was read")


def test_thousands_of_challenges(daemon: Daemon, origin: ScriptedOrigin) -> None:
    challenges = [("WWW-Authenticate", 'Digest nonce="a", realm="r", ' * 3_000)] * 2 + [
        ("WWW-Authenticate", "D," * 40_000)
    ]
    url = answering(origin, "/challenge", challenges, 401)
    with bounded_turns(daemon):
        crowd(daemon, url, credential={"username": "a", "password": "b"})


def test_a_next_nonce_of_a_hundred_kilobytes_is_not_used(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    def reply(exchange: Exchange) -> None:
        if exchange.request.values("Authorization"):
            exchange.reply(headers=[("Authentication-Info", f'nextnonce="{"N" * 95_000}"')])
        else:
            exchange.reply(401, headers=[("WWW-Authenticate", 'Digest realm="r", nonce="first", qop="auth"')])

    url = origin.on("/digest", reply)
    with bounded_turns(daemon):
        for _ in range(3):
            perform(wire, url, credential={"username": "a", "password": "b"})
    assert 'nonce="first"' in origin.requests[-1].values("Authorization")[0]
