"""authlib: tokens that tasks refresh once for all of them, with its clients of httpx2 and of requests."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import parse_qs

from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client, OAuth1Client, OAuth2Client
from authlib.integrations.requests_client import OAuth2Session
from carpool.requests import CarpoolAdapter
from loopback import Origin, adapter, answer, serving

EXPIRED = {"access_token": "old", "refresh_token": "r", "token_type": "Bearer", "expires_at": 1}


def token(exchange: Any) -> None:
    form = parse_qs(exchange.request.body.decode())
    if form["grant_type"] == ["password"]:
        answer(exchange, {"error": "invalid_grant", "error_description": "no"}, 400)
    else:
        answer(exchange, {"access_token": "new", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r"})


def asked(origin: Origin) -> list[Any]:
    return [parse_qs(request.body.decode())["grant_type"] for request in origin.requests if request.target == "/token"]


async def from_tasks(origin: Origin) -> None:
    stored: list[str] = []

    async def store(token: dict[str, Any], **_: Any) -> None:
        stored.append(token["access_token"])

    async with AsyncOAuth2Client(
        "id", "secret", token=dict(EXPIRED), token_endpoint=f"{origin.url}/token", update_token=store,
        transport=adapter().AsyncCarpoolTransport(),
    ) as client:  # fmt: skip
        answers = await asyncio.gather(*(client.get(f"{origin.url}/me") for _ in range(8)))
        assert [each.json() for each in answers] == [{"name": "Zoë"}] * 8
        assert stored == ["new"] and asked(origin) == [["refresh_token"]]
        assert origin.requests[-1].values("authorization") == ["Bearer new"]
        await client.post(f"{origin.url}/me", json={"a": "größe"})
        assert json.loads(origin.requests[-1].body) == {"a": "größe"}
        async with client.stream("GET", f"{origin.url}/me") as response:
            assert (await response.aread()).startswith(b"{")


def blocking(origin: Origin) -> None:
    with OAuth2Client("id", "secret", transport=adapter().CarpoolTransport()) as client:
        client.fetch_token(f"{origin.url}/token", grant_type="client_credentials")
        assert origin.requests[-1].values("authorization")[0].startswith("Basic ")
        assert client.get(f"{origin.url}/me").json() == {"name": "Zoë"}
        try:
            client.fetch_token(f"{origin.url}/token", username="u", password="p")
        except OAuthError as error:
            assert error.error == "invalid_grant"
        else:
            raise AssertionError("no OAuthError")
    with OAuth1Client("key", "secret", token="t", token_secret="s", transport=adapter().CarpoolTransport()) as client:
        client.post(f"{origin.url}/me", data={"text": "größe"})
        assert origin.requests[-1].values("authorization")[0].startswith("OAuth ")
    with OAuth2Session("id", "secret", token=dict(EXPIRED), token_endpoint=f"{origin.url}/token") as session:
        session.mount("http://", CarpoolAdapter())
        assert session.get(f"{origin.url}/me").json() == {"name": "Zoë"}
        assert origin.requests[-1].values("authorization") == ["Bearer new"]


with serving() as origin:
    origin.on("/token", token)
    origin.json("/me", {"name": "Zoë"})
    asyncio.run(from_tasks(origin))
    blocking(origin)
