"""Credentials of two users with two sessions each, to the same origins through one proxy: none is sent with another's.

Afterwards no password is found in what the daemon has written or shows.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import random
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conftest import StartDaemon
from harness.daemon import Daemon
from harness.users import NOBODY, as_root, wire_as
from harness.wire import Wire
from origins.proxies import MORE, OTHER, OTHER_PASSWORD, PASSWORD, USER, Squid
from origins.scripted import Exchange, ScriptedOrigin

REQUESTS = 1_000
IN_FLIGHT = 20


@dataclass(frozen=True)
class Identity:
    """One session of one user; its name is part of each of its URLs."""

    name: str
    session: str
    proxy: tuple[str, str]
    scheme: str

    def password(self, place: str) -> str:
        return f"pass-of-{self.name}-at-{place}"

    def user(self, place: str) -> str:
        return f"{self.name}-at-{place}"

    def entry(self, place: str, origin: ScriptedOrigin) -> dict[str, Any]:
        credential = {"username": self.user(place), "password": self.password(place), "schemes": [self.scheme]}
        return {"host": "127.0.0.1", "port": origin.port, **credential}

    def proxies(self, squid: Squid) -> dict[str, Any]:
        user, password = self.proxy
        server = {"url": f"http://127.0.0.1:{squid.basic}", "username": user, "password": password}
        return {"http": {**server, "schemes": [self.scheme]}}


# The sessions of both users have the same names.
OWNERS = [
    Identity("owner1", "one", (USER, PASSWORD), "basic"), Identity("owner2", "two", (OTHER, OTHER_PASSWORD), "digest")
]  # fmt: skip
OTHERS = [Identity("other1", "one", MORE[0], "digest"), Identity("other2", "two", MORE[1], "basic")]


def who(exchange: Exchange) -> str:
    """Return the user of a request, without a credential an empty text; check that Basic has the right password."""
    field = next(iter(exchange.request.values("authorization")), "")
    if field.startswith("Basic "):
        user, _, password = base64.b64decode(field[6:]).decode().partition(":")
        name, place = user.split("-at-")
        assert password == f"pass-of-{name}-at-{place}"
        return user
    found = re.search(r'username="([^"]*)"', field)
    assert (found is None) is (field == "")
    return "" if found is None else found[1]


class Guard:
    """An origin whose every path asks for a credential, and that keeps who has sent one where."""

    def __init__(self, origin: ScriptedOrigin, place: str, target: ScriptedOrigin | None) -> None:
        self.place, self.origin, self._target = place, origin, target
        self.seen: Counter[tuple[str, str]] = Counter()

    def serve(self, identity: Identity, paths: list[str]) -> None:
        for path in paths:
            self.origin.on(path, lambda exchange: self._reply(exchange, identity))

    def _reply(self, exchange: Exchange, identity: Identity) -> None:
        user = who(exchange)
        assert not exchange.request.values("proxy-authorization")
        self.seen[(identity.name, user)] += 1
        if not user:
            digest = ', nonce="n", qop="auth", algorithm=SHA-256' if identity.scheme == "digest" else ""
            challenge = f'{identity.scheme.title()} realm="{identity.name}"{digest}'
            return exchange.reply(401, b"", [("WWW-Authenticate", challenge)])
        if self._target is None or "away" not in exchange.request.target:
            return exchange.reply(200, user.encode())
        location = f"{self._target.url}/{identity.name}/in"
        return exchange.reply(302, b"", [("Location", location)])


def configure(wire: Wire, identity: Identity, guards: list[Guard], squid: Squid) -> None:
    entries = [identity.entry(guard.place, guard.origin) for guard in guards]
    configuration = {"credentials": entries[:1], "proxy": identity.proxies(squid)}
    wire.call("session.create", name=identity.session, configuration=configuration)
    for entry in entries[1:]:
        wire.call("credentials.set", session=identity.session, **entry)


class Events:
    """All events of all users, as an administrator sees them."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.seen: list[Any] = []
        self._cursor = wire.call("events.next", timeout_ms=0)["cursor"]

    def read(self) -> None:
        """Read on before the journal forgets them."""
        while True:
            page = self._wire.call("events.next", since=self._cursor, scope="all", max=10_000, timeout_ms=0)
            assert "gap" not in page
            self.seen += page["events"]
            self._cursor = page["cursor"]
            if not page["events"]:
                return


def run(wires: dict[Identity, Wire], guards: list[Guard], events: Events) -> int:
    """Send the requests in a random order; return how many of them are redirected to the other origin."""
    dice = random.Random(12)
    open_calls: list[tuple[Identity, str, int]] = []
    redirects = 0

    def take() -> None:
        identity, place, call = open_calls.pop(0)
        record = wires[identity].result(call)
        assert record["outcome"]["ok"], record["outcome"]
        assert record["body"]["text"] == identity.user(place), (identity, record)
        assert "pass-of" not in json.dumps(record)

    for number in range(REQUESTS):
        identity = dice.choice(list(wires))
        path, place = dice.choice([("here", guards[0].place), ("away", guards[1].place)])
        redirects += path == "away"
        url = f"{guards[0].origin.url}/{identity.name}/{path}"
        call = wires[identity].request("request.perform", url=url, session=identity.session)
        open_calls.append((identity, place, call))
        if len(open_calls) == IN_FLIGHT:
            take()
        if number % 50 == 0:
            events.read()
    while open_calls:
        take()
    events.read()
    return redirects


def secrets(identities: list[Identity], guards: list[Guard]) -> set[bytes]:
    """Every password, and each form of it from which it can be read or that is as good as it."""
    pairs = [
        (identity.user(guard.place), identity.password(guard.place)) for identity in identities for guard in guards
    ]
    pairs += [identity.proxy for identity in identities]
    found = set()
    for user, password in pairs:
        found |= {password.encode(), base64.b64encode(f"{user}:{password}".encode())}
    for identity in identities:
        for guard in guards:
            whole = f"{identity.user(guard.place)}:{identity.name}:{identity.password(guard.place)}"
            found.add(hashlib.sha256(whole.encode()).hexdigest().encode())
        user, password = identity.proxy
        found.add(hashlib.md5(f"{user}:proxy:{password}".encode()).hexdigest().encode())
    return found


def check_traces(daemon: Daemon, events: list[Any], answers: list[Any], words: set[bytes]) -> None:
    """Check that no secret is in the files of the daemon, its log, its events, its answers or its environment."""
    places = {"events": json.dumps(events).encode(), "answers": json.dumps(answers).encode()}
    for name in ("environ", "cmdline"):
        places[name] = Path(f"/proc/{daemon.pid}/{name}").read_bytes()
    for path in daemon.directory.rglob("*"):
        if path.is_file() and not path.is_socket():
            with contextlib.suppress(FileNotFoundError):
                places[str(path)] = path.read_bytes()
    assert len(places) > 4 and len(events) > REQUESTS
    for place, content in places.items():
        assert not [word for word in words if word in content], place


@as_root
def test_two_users_with_two_sessions_each_through_one_proxy(
    start: StartDaemon, squid: Squid, origin: ScriptedOrigin, other: ScriptedOrigin
) -> None:
    daemon = start("--log-level", "debug", config={"access": {"uids": {str(NOBODY): "submit"}}})
    daemon.directory.chmod(0o755)
    guards = [Guard(origin, "here", other), Guard(other, "there", None)]
    for identity in OWNERS + OTHERS:
        guards[0].serve(identity, [f"/{identity.name}/here", f"/{identity.name}/away"])
        guards[1].serve(identity, [f"/{identity.name}/in"])
    with daemon.wire() as mine, wire_as(NOBODY, daemon.socket) as theirs, daemon.wire() as watch:
        events = Events(watch)
        for wire, identities in ((mine, OWNERS), (theirs, OTHERS)):
            for identity in identities:
                configure(wire, identity, guards, squid)
        wires = dict.fromkeys(OWNERS, mine) | dict.fromkeys(OTHERS, theirs)
        redirects = run(wires, guards, events)
        answers = [
            wire.call(method, **params)
            for wire in (mine, theirs)
            for method, params in [
                ("session.list", {}), ("credentials.list", {"session": "one"}), ("request.list", {}),
                ("daemon.info", {}), ("daemon.config", {}), ("pool.stats", {}),
            ]
            if wire is mine or method not in ("daemon.config", "pool.stats")
        ]  # fmt: skip
    for guard in guards:
        for (name, user), count in guard.seen.items():
            assert user in {"", f"{name}-at-{guard.place}"}, (guard.place, name, user, count)
    assert sum(count for (_, user), count in guards[0].seen.items() if user) == REQUESTS
    assert sum(count for (_, user), count in guards[1].seen.items() if user) == redirects
    proxied = {identity.name: identity.proxy[0] for identity in OWNERS + OTHERS}
    lines = [line for name in proxied for line in squid.log(f"/{name}/", 1)]
    for _, _, url, user, status in lines:
        name = url.split("/")[3]
        assert user in ({proxied[name]} if status != "407" else {proxied[name], "-"}), (url, user, status)
    assert sum(status in {"200", "302"} for *_, status in lines) == REQUESTS + redirects
    check_traces(daemon, events.seen, answers, secrets(OWNERS + OTHERS, guards))
