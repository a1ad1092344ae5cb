"""responses, respx and vcrpy see the requests of the adapters, and those of the libraries with CARPOOL=off."""

from __future__ import annotations

import os
from pathlib import Path

import httpx
import requests
import responses
import respx
import vcr
from carpool.httpx import CarpoolTransport
from loopback import IS_DIRECT, Origin, adapter, serving

NOWHERE = "http://nowhere.invalid/x"


def mounted() -> requests.Session:
    session = requests.Session()
    session.mount("http://", adapter().CarpoolAdapter())
    return session


def ask(origin: Origin) -> None:
    with mounted() as session:
        assert session.get(f"{origin.url}/text").text == "text"


def with_responses(origin: Origin) -> None:
    with responses.RequestsMock() as mock, mounted() as session:
        mock.get(NOWHERE, json={"a": 1})
        assert session.get(NOWHERE).json() == {"a": 1}
        mock.add_passthru(origin.url)
        ask(origin)


def with_respx() -> None:
    with respx.mock() as mock, httpx.Client(transport=CarpoolTransport()) as client:
        mock.get(NOWHERE).respond(json={"a": 1})
        assert client.get(NOWHERE).json() == {"a": 1}


def with_vcr(origin: Origin) -> int:
    """Record a request and play it; returns how many were sent."""
    before = len(origin.requests)
    Path("tape.yaml").unlink(missing_ok=True)
    for _ in range(2):
        with vcr.use_cassette("tape.yaml"):
            ask(origin)
    return len(origin.requests) - before


def with_mocks(origin: Origin) -> None:
    with_responses(origin)
    with_respx()
    assert with_vcr(origin) == 1


def through_carpool(origin: Origin) -> None:
    """What a mock lets through is the daemon's, but for what vcrpy records; afterwards everything is."""
    with_responses(origin)
    assert set(origin.by_daemon) == {True}, origin.by_daemon
    with_mocks(origin)
    ask(origin)
    assert origin.by_daemon.count(False) == 1, origin.by_daemon


with serving() as origin:
    origin.on("/text", lambda exchange: exchange.reply(body=b"text"))
    if not IS_DIRECT:
        through_carpool(origin)
    os.environ["CARPOOL"] = "off"
    with_mocks(origin)
    # Only the mocks of this script have sent without the daemon.
    origin.by_daemon = [not IS_DIRECT]
