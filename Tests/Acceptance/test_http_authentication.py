"""Challenges of HTTP: credentials that go with the first request, and 401s as responses."""

from __future__ import annotations

import base64
from typing import Any

import carpool
import pytest
from origins.scripted import Exchange, ScriptedOrigin

BASIC = "Basic " + base64.b64encode(b"Aladdin:open sesame").decode()


@pytest.mark.parametrize("challenge", ['Basic realm="cave"', 'Digest realm="cave", nonce="1"', "Riddle"])
def test_ha_03_ha_06_a_challenge_that_nobody_answers_is_the_response(
    client: carpool.Client, origin: ScriptedOrigin, challenge: str
) -> None:
    def challenges(exchange: Exchange) -> None:
        exchange.reply(401, b"who is it?", [("WWW-Authenticate", challenge)])

    response = client.get(origin.on("/cave", challenges))
    assert (response.status_code, response.text) == (401, "who is it?")
    assert response.headers["www-authenticate"] == challenge
    assert len(origin.requests) == 1


@pytest.mark.parametrize(
    "params",
    [
        {"interceptor": [{"basic_auth": {"username": "Aladdin", "password": "open sesame"}}]},
        {"headers": {"Authorization": BASIC}},
        {"url": "http://Aladdin:open%20sesame@{host}/"},
    ],
    ids=["interceptor", "header", "url"],
)
def test_ha_05_basic_goes_with_the_first_request(
    client: carpool.Client, origin: ScriptedOrigin, params: dict[str, Any]
) -> None:
    url = params.get("url", "http://{host}/").replace("{host}", f"127.0.0.1:{origin.port}")
    client.call("request.perform", **(params | {"url": url}))
    assert [request.values("authorization") for request in origin.requests] == [[BASIC]]
