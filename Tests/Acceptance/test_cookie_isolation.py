"""Interleaved requests of several sessions, users and own jars: no origin sees a cookie of another identity or host."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from conftest import StartDaemon
from harness.cookies import jar
from harness.users import NOBODY, as_root, wire_as
from harness.wire import Wire
from origins.scripted import Exchange, ScriptedOrigin

HOSTS = ["a.test", "b.test", "x.a.test"]
REQUESTS = 1_000
IN_FLIGHT = 20


@dataclass(frozen=True)
class Identity:
    """Who makes a request: its cookies have the name in their values."""

    name: str
    wire: Wire
    session: str | None

    def parameters(self, host: str) -> dict[str, Any]:
        if self.session is not None:
            return {"session": self.session}
        return {"cookies": {"set": [{"name": "own", "value": f"{self.name}@{host}"}]}}


def answer(exchange: Exchange) -> None:
    """Set a cookie of the identity for this host, and redirect if the query asks for it."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(exchange.request.target).query).items()}
    host = exchange.request.values("Host")[0].partition(":")[0]
    headers = [("Set-Cookie", f"id={query['who']}@{host}; Path=/")]
    if to := query.get("to"):
        port = exchange.request.values("Host")[0].partition(":")[2]
        exchange.reply(302, headers=[*headers, ("Location", f"http://{to}:{port}/r?who={query['who']}")])
    else:
        exchange.reply(headers=headers)


@contextlib.contextmanager
def identities(start: StartDaemon) -> Iterator[list[Identity]]:
    daemon = start(config={"access": {"uids": {str(NOBODY): "submit"}}})
    daemon.directory.chmod(0o711)
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        for name in ("one", "two"):
            jar(owner, name)
        jar(other, "one")
        yield [
            Identity("owner-one", owner, "one"),
            Identity("owner-two", owner, "two"),
            Identity("other-one", other, "one"),
            Identity("owner-own", owner, None),
            Identity("other-own", other, None),
            Identity("owner-default", owner, "default"),
        ]


@as_root
@pytest.mark.parametrize("seed", range(2))
def test_se_02_no_identity_has_the_cookies_of_another(start: StartDaemon, origin: ScriptedOrigin, seed: int) -> None:
    dice = random.Random(seed)
    origin.on("/r", answer)
    addresses = {"resolve": [f"*:{origin.port}:127.0.0.1"]}
    with identities(start) as all_of_them:
        for _ in range(REQUESTS // IN_FLIGHT):
            waiting = []
            for _ in range(IN_FLIGHT):
                who, host, to = dice.choice(all_of_them), dice.choice(HOSTS), dice.choice(["", *HOSTS])
                url = f"http://{host}:{origin.port}/r?who={who.name}" + (f"&to={to}" if to else "")
                call = who.wire.request("request.perform", url=url, addresses=addresses, **who.parameters(host))
                waiting.append((who.wire, call))
            for wire, call in waiting:
                assert wire.result(call)["outcome"]["ok"]
    sent = 0
    for request in origin.requests:
        name = parse_qs(urlsplit(request.target).query)["who"][0]
        host = request.values("Host")[0].partition(":")[0]
        for field in request.values("Cookie"):
            sent += 1
            assert set(field.split("; ")) <= {f"id={name}@{host}", f"own={name}@{host}"}, (name, host, field)
            assert not name.endswith("default")
    assert sent > REQUESTS / 2
