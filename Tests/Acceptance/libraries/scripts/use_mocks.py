"""responses, respx and vcrpy: which of them see requests through the adapters; with CARPOOL=off all of them do."""

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


def with_responses() -> None:
    with responses.RequestsMock() as mock, mounted() as session:
        mock.get(NOWHERE, json={"a": 1})
        assert session.get(NOWHERE).json() == {"a": 1}


def with_respx() -> None:
    # It is the transport that reads the variable, when it is made.
    with respx.mock() as mock, httpx.Client(transport=CarpoolTransport()) as client:
        mock.get(NOWHERE).respond(json={"a": 1})
        assert client.get(NOWHERE).json() == {"a": 1}


def with_vcr(origin: Origin) -> int:
    """Record a request and play it; returns how many were sent."""
    before = len(origin.requests)
    Path("tape.yaml").unlink(missing_ok=True)
    for _ in range(2):
        with vcr.use_cassette("tape.yaml"), mounted() as session:
            assert session.get(f"{origin.url}/text").text == "text"
    return len(origin.requests) - before


def through_carpool(origin: Origin) -> None:
    with_responses()
    assert with_vcr(origin) == 2
    try:
        with_respx()
    except (httpx.ConnectError, AssertionError):
        pass
    else:
        raise AssertionError("respx sees requests through the adapter: say so in docs/libraries.md")


with serving() as origin:
    origin.on("/text", lambda exchange: exchange.reply(body=b"text"))
    if not IS_DIRECT:
        through_carpool(origin)
    # What is sent from here on is not the daemon's.
    by_daemon = list(origin.by_daemon)
    os.environ["CARPOOL"] = "off"
    with_responses()
    with_respx()
    assert with_vcr(origin) == 1
    origin.by_daemon = by_daemon or [False]
