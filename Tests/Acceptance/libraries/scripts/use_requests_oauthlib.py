"""requests-oauthlib: the code flow, a token that is refreshed by itself, and the signatures of OAuth 1."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import parse_qs

from loopback import Origin, adapter, answer, serving
from oauthlib.oauth2 import BackendApplicationClient, TokenExpiredError
from requests_oauthlib import OAuth1Session, OAuth2Session

# The origin has no TLS.
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"


def token(exchange: Any) -> None:
    form = parse_qs(exchange.request.body.decode())
    names = {"authorization_code": "first", "refresh_token": "second", "client_credentials": "own"}
    name = names[form["grant_type"][0]]
    answer(exchange, {"access_token": name, "refresh_token": "r", "token_type": "Bearer", "expires_in": 3600})


def oauth2(origin: Origin) -> None:
    tokens: list[dict[str, Any]] = []
    with OAuth2Session(
        "id", redirect_uri="https://app.example/cb", scope=["read"], auto_refresh_url=f"{origin.url}/token",
        auto_refresh_kwargs={"client_id": "id", "client_secret": "s"}, token_updater=tokens.append,
    ) as session:  # fmt: skip
        session.mount("http://", adapter().CarpoolAdapter())
        url, state = session.authorization_url(f"{origin.url}/authorize")
        assert f"state={state}" in url
        answered = f"https://app.example/cb?code=c&state={state}"
        session.fetch_token(f"{origin.url}/token", authorization_response=answered, client_secret="s")
        form = parse_qs(origin.requests[-1].body.decode())
        assert form["code"] == ["c"] and form["redirect_uri"] == ["https://app.example/cb"]

        assert session.get(origin.json("/me", {"name": "Zoë"})).json() == {"name": "Zoë"}
        assert origin.requests[-1].values("authorization") == ["Bearer first"]

        session.token = session.token | {"expires_at": 1, "expires_in": -1}
        assert session.post(f"{origin.url}/me", json={"a": 1}).ok
        assert origin.targets()[-2:] == ["POST /token", "POST /me"]
        assert origin.requests[-1].values("authorization") == ["Bearer second"]
        assert [each["access_token"] for each in tokens] == ["second"]

        session.auto_refresh_url = None
        session.token = session.token | {"expires_at": 1, "expires_in": -1}
        before = len(origin.requests)
        try:
            session.get(f"{origin.url}/me")
        except TokenExpiredError:
            assert len(origin.requests) == before
        else:
            raise AssertionError("no TokenExpiredError")


def credentials(origin: Origin) -> None:
    with OAuth2Session(client=BackendApplicationClient("id")) as session:
        session.mount("http://", adapter().CarpoolAdapter())
        session.fetch_token(f"{origin.url}/token", client_secret="s")
        assert origin.requests[-1].values("authorization")[0].startswith("Basic ")
        session.get(f"{origin.url}/me")
        assert origin.requests[-1].values("authorization") == ["Bearer own"]


def oauth1(origin: Origin) -> None:
    origin.on("/request", lambda exchange: exchange.reply(body=b"oauth_token=t&oauth_token_secret=ts"))
    with OAuth1Session("key", "secret") as session:
        session.mount("http://", adapter().CarpoolAdapter())
        assert session.fetch_request_token(f"{origin.url}/request")["oauth_token"] == "t"
        assert 'oauth_consumer_key="key"' in origin.requests[-1].values("authorization")[0]
        session.post(f"{origin.url}/me", data={"text": "größe & mehr"})
        assert parse_qs(origin.requests[-1].body.decode()) == {"text": ["größe & mehr"]}
        assert 'oauth_token="t"' in origin.requests[-1].values("authorization")[0]


with serving() as origin:
    origin.on("/token", token)
    oauth2(origin)
    credentials(origin)
    oauth1(origin)
