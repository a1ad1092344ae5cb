"""Random requests and raw streams with random settings, against a model of what each of them must see.

Two servers of the same names have certificates of different authorities. After any other requests, a request reaches
the server of its own addresses, fails if its own trust refuses that server, and presents its own certificate.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import carpool
import pytest
from harness.wire import RemoteError, Wire
from origins.authority import Authority, Certificate
from origins.chains import pin
from origins.mutual import files
from origins.twins import NAMES, Twins

REQUESTS = 600
STREAMS = 150


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Iterator[Twins]:
    servers = Twins(tmp_path_factory.mktemp("twins") / "nginx", authority)
    yield servers
    servers.stop()


Accepts = Callable[[int, str], bool]


def only(number: int) -> Accepts:
    return lambda server, host: server == number


def trusts(twins: Twins) -> list[tuple[Any, Accepts]]:
    """Each trust, and the servers that it accepts under a host."""
    ca = {number: str(authority.ca_file) for number, authority in twins.authorities.items()}
    pins = {number: pin(certificate.chain) for number, certificate in twins.certificates.items()}
    bare = {"perform_default_validation": False, "validate_host": False}
    return [
        ("system", lambda server, host: False),
        ({"ca_file": ca[1]}, only(1)),
        ({"ca_pem": twins.authorities[2].ca_file.read_text()}, only(2)),
        ({"ca_file": ca[1], "ca_in_addition": True}, only(1)),
        ({"verify": False}, lambda server, host: True),
        ({"evaluators": {"*": {"public_keys": {"pins": [pins[1]], **bare}}}}, only(1)),
        ({"ca_file": ca[2], "evaluators": {"*.example": {"public_keys": {"pins": [pins[2]]}}}}, only(2)),
        ({"ca_file": ca[1], "evaluators": {"*": {"public_keys": {"pins": [pins[2]]}}}}, lambda server, host: False),
        ({"evaluators": {"a.example": "disabled"}}, lambda server, host: host == "a.example"),
        (
            {"ca_file": ca[1], "evaluators": {"a.example": "disabled"}, "all_hosts_must_be_evaluated": False},
            lambda server, host: host == "a.example" or server == 1,
        ),
        (
            {"ca_file": ca[1], "evaluators": {"a.example": "default", "b.example": "disabled"}},
            lambda server, host: host == "b.example" or (host == "a.example" and server == 1),
        ),
    ]


@dataclass(frozen=True)
class Settings:
    """Settings of connections, and what follows from them."""

    trust: int
    certificate: int
    tls: int
    server: int
    form: int
    """Of the addresses."""


class Model:
    """Random settings as parameters, and what the origin must see."""

    TLS: tuple[tuple[dict[str, str], str | None], ...] = (
        ({}, None), ({"min_version": "1.3"}, "TLSv1.3"), ({"max_version": "1.2"}, "TLSv1.2"),
    )  # fmt: skip

    def __init__(self, twins: Twins, people: list[Certificate], seed: int) -> None:
        self.twins = twins
        self.dice = random.Random(seed)
        self.trusts = trusts(twins)
        self.certificates: list[tuple[Any, str]] = [
            ("none", ""), *((files(person), f"CN={person.key.stem}") for person in people),
        ]  # fmt: skip

    def settings(self) -> Settings:
        dice = self.dice
        return Settings(
            dice.randrange(len(self.trusts)), dice.randrange(len(self.certificates)), dice.randrange(3),
            dice.choice([1, 2]), dice.randrange(3),
        )  # fmt: skip

    def addresses(self, settings: Settings) -> dict[str, Any]:
        address = f"127.0.0.{settings.server}"
        if settings.form == 0:
            return {"resolve": [f"*:{port}:{address}" for port in self.twins.ports]}
        if settings.form == 1:
            return {"connect_to": [f"::{address}:"]}
        entries = [f"{name}:{port}:{address}" for name in NAMES for port in self.twins.ports]
        return {"resolve": entries, "family": "ipv4"}

    def parameters(self, settings: Settings) -> dict[str, Any]:
        return {
            "trust": self.trusts[settings.trust][0],
            "client_certificate": self.certificates[settings.certificate][0],
            "tls": self.TLS[settings.tls][0],
            "addresses": self.addresses(settings),
        }

    def changed(self, settings: Settings) -> tuple[Settings, dict[str, Any]]:
        """Settings of which a request changes some, and the parameters that do."""
        other = self.settings()
        names = [name for name in ("trust", "certificate", "tls", "server") if self.dice.random() < 0.2]
        changed = replace(settings, **{name: getattr(other, name) for name in names})
        wire = {"certificate": "client_certificate", "server": "addresses"}
        parameters = self.parameters(changed)
        return changed, {wire.get(name, name): parameters[wire.get(name, name)] for name in names}

    def accepts(self, settings: Settings, host: str) -> bool:
        return self.trusts[settings.trust][1](settings.server, host)


class Sessions:
    """Sessions that come and go under the same names."""

    def __init__(self, client: carpool.Client, model: Model, count: int) -> None:
        self._client, self._model, self._count = client, model, count
        self._settings: dict[str, Settings] = {}

    def any(self) -> tuple[str, Settings]:
        name = f"s{self._model.dice.randrange(self._count)}"
        if name in self._settings and self._model.dice.random() < 0.1:
            self._client.call("session.invalidate", session=name)
            del self._settings[name]
        if name not in self._settings:
            self._settings[name] = self._model.settings()
            self._client.call("session.create", name=name, configuration=self._model.parameters(self._settings[name]))
        return name, self._settings[name]


@pytest.mark.parametrize("seed", range(4))
def test_each_request_sees_what_its_settings_say(
    client: carpool.Client, twins: Twins, authority: Authority, seed: int
) -> None:
    people = [authority.issue(f"model-{number}") for number in (1, 2)]
    model = Model(twins, people, seed)
    sessions = Sessions(client, model, 12)
    dice = model.dice
    for number in range(REQUESTS):
        session, settings = sessions.any()
        settings, own = model.changed(settings)
        host, port = dice.choice(NAMES), dice.choice(twins.ports)
        sent = f"{host}:{port}"
        own["headers"] = {"X-Tag": str(number)}
        if dice.random() < 0.2:
            own["headers"]["Host"] = sent = dice.choice(["other.example", "third.example"])
        url, last = f"https://{host}:{port}/", host
        if dice.random() < 0.15:
            last = dice.choice(NAMES)
            url += f"to?host={last}"
            own["headers"].pop("Host", None)
            sent = f"{last}:{port}"
        record = client.call("request.perform", url=url, session=session, **own)
        facts = (number, settings, url, own, record["outcome"])
        accepted = model.accepts(settings, host) and model.accepts(settings, last)
        assert record["outcome"]["ok"] == accepted, facts
        if accepted:
            server, subject, version, seen, name, tag = record["body"]["text"].split("|")
            # A certificate is presented to the first host alone.
            presented = model.certificates[settings.certificate][1] if last == host else ""
            assert (server, subject, seen, name) == (str(settings.server), presented, sent, last), facts
            assert version == (model.TLS[settings.tls][1] or version), facts
            assert tag == str(number)


def body(wire: Wire, stream: str) -> str:
    """What follows the head of a response, up to the end of the stream."""
    answer = b""
    while True:
        piece = wire.call("stream.read", stream=stream)
        answer += base64.b64decode(piece["base64"])
        if piece["eof"]:
            return answer.partition(b"\r\n\r\n")[2].decode()


@pytest.mark.parametrize("seed", range(2))
def test_each_raw_stream_sees_what_its_settings_say(
    client: carpool.Client, wire: Wire, twins: Twins, authority: Authority, seed: int
) -> None:
    people = [authority.issue(f"stream-{number}") for number in (1, 2)]
    model = Model(twins, people, seed)
    sessions = Sessions(client, model, 6)
    for number in range(STREAMS):
        session, settings = sessions.any()
        host = model.dice.choice(NAMES)
        facts = (number, settings, host)
        try:
            stream = wire.call("stream.open", host=host, port=twins.ports[0], session=session)["stream"]
        except RemoteError as error:
            assert error.name == "stream.failed" and not model.accepts(settings, host), (facts, error)
            continue
        assert model.accepts(settings, host), facts
        wire.call("stream.write", stream=stream, text=f"GET / HTTP/1.0\r\nHost: {host}\r\n\r\n")
        server, subject, version, *_ = body(wire, stream).split("|")
        assert (server, subject) == (str(settings.server), model.certificates[settings.certificate][1]), facts
        assert version == (model.TLS[settings.tls][1] or version), facts
        wire.call("stream.close", stream=stream)
