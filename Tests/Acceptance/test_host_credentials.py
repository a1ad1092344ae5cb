"""Credentials by host, for a request and its redirects: the parameter `credentials`."""

from __future__ import annotations

import base64
import json

import carpool
import pytest
from origins.apache import PASSWORD, USER
from origins.scripted import ScriptedOrigin
from test_credentials import CREDENTIAL, challenging, perform, sent


def test_credentials_are_for_their_hosts(client: carpool.Client, origin: ScriptedOrigin, other: ScriptedOrigin) -> None:
    """The two origins differ by their host's name."""
    elsewhere = other.url.replace("127.0.0.1", "localhost")
    origin.on("/away", lambda exchange: exchange.reply(302, headers=[("Location", f"{elsewhere}/there")]))
    other.on("/there", challenging('Basic realm="r"', accepts="Basic"))
    basic = {"schemes": ["basic"], "preemptive": True}
    here = {"host": "127.0.0.1", "username": "here", "password": PASSWORD, **basic}
    there = {"host": "LocalHost", "username": "there", "password": PASSWORD}
    every = {"host": "*", "username": "every", "password": PASSWORD, **basic}
    for credentials, own, users in [
        ([here], None, ["here", ""]),
        ([here, there], None, ["here", "", "there"]),
        ([there], {**CREDENTIAL, **basic}, [USER, "there"]),
        ([there], {**CREDENTIAL, **basic, "username": "own"}, ["own", "there"]),
        ([here, every], None, ["here", "every"]),
        ([every, here], None, ["every", "every"]),
    ]:
        before = len(origin.requests), len(other.requests)
        params = {"credential": own} if own else {}
        record = perform(client, f"{origin.url}/away", credentials=credentials, **params)
        fields = sent(origin)[before[0] :] + sent(other)[before[1] :]
        assert [user_of(field) for field in fields] == users
        assert PASSWORD not in json.dumps(record)
        plan = client.call("request.explain", url=origin.url, credentials=credentials, **params)
        assert plan["credential"].get("user", "") == users[0]
        assert PASSWORD not in json.dumps(plan)
    perform(client, f"{origin.url}/away", headers={"Authorization": "Bearer x"}, credentials=[here])
    assert sent(origin)[-1] == "Bearer x"


def user_of(field: str) -> str:
    """The user of a field `Authorization` of the Basic scheme."""
    return base64.b64decode(field.removeprefix("Basic ")).decode().partition(":")[0]


@pytest.mark.parametrize(
    ("host", "place"),
    [("", "host"), ("a:80", "host"), ("::1", "host"), ("*.a", "host"), ("a/b", "host"), ("a@b", "host"), (None, "")],
)
def test_a_credential_of_no_host_is_refused(client: carpool.Client, host: str | None, place: str) -> None:
    entry = {**CREDENTIAL, **({} if host is None else {"host": host})}
    with pytest.raises(carpool.InvalidParamsError) as caught:
        perform(client, "http://127.0.0.1:1/", credentials=[{**CREDENTIAL, "host": "a"}, entry])
    assert f"params.credentials[1]{place and '.'}{place}" in str(caught.value)


def test_the_credentials_of_a_request_are_bounded(client: carpool.Client, origin: ScriptedOrigin) -> None:
    entry = {**CREDENTIAL, "host": "example.com"}
    assert perform(client, origin.url, credentials=[entry] * 64)["response"]["status"] == 200
    with pytest.raises(carpool.InvalidParamsError):
        perform(client, origin.url, credentials=[entry] * 65)
