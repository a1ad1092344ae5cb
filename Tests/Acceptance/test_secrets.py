"""What other origins and other clients learn of a request's secrets: nothing (A5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.vectors import rows
from harness.wire import RemoteError, Wire
from origins.scripted import Exchange, ScriptedOrigin

SECRET = "s3cret"
FIELDS = [
    "Authorization", "Cookie", "X-Api-Key", "Api-Key", "X-Auth-Token", "X-Vault-Token", "Private-Token",
    "X-Amz-Security-Token", "Ocp-Apim-Subscription-Key", "X-My-Secret", "X-Password",
]  # fmt: skip
QUERY = "?access_token=s3cret&sig=s3cret&code=s3cret&page=2"


@pytest.fixture
def owner(daemon: Daemon) -> Iterator[Wire]:
    """The client that owns the secrets."""
    with daemon.wire() as connected:
        connected.call("client.hello", name="owner")
        yield connected


@pytest.fixture
def stranger(daemon: Daemon) -> Iterator[Wire]:
    """Another client of the same user."""
    with daemon.wire() as connected:
        connected.call("client.hello", name="stranger")
        yield connected


def headers() -> dict[str, str]:
    return dict.fromkeys(FIELDS, SECRET) | {"X-Plain": "open"}


def redirecting(location: str) -> Any:
    def handler(exchange: Exchange) -> None:
        exchange.reply(302, b"", [("Location", location), ("Set-Cookie", f"id={SECRET}"), ("X-Auth-Token", SECRET)])

    return handler


def test_a5_secret_headers_stay_with_their_origin(owner: Wire, origin: ScriptedOrigin, other: ScriptedOrigin) -> None:
    url = origin.on("/from", redirecting(f"{other.url}/to"))
    sent = headers() | {"Idempotency-Key": "1"}
    owner.call("request.perform", url=url, headers=sent)
    assert {name: other.requests[-1].values(name) for name in sent} == {
        name: [value] if name in {"X-Plain", "Idempotency-Key"} else [] for name, value in sent.items()
    }
    origin.on("/from", redirecting("/to"))
    owner.call("request.perform", url=url, headers=sent)
    assert [origin.requests[-1].values(name) for name in sent] == [[value] for value in sent.values()]


def test_a5_a_header_is_kept_where_that_is_asked_for(
    owner: Wire, origin: ScriptedOrigin, other: ScriptedOrigin
) -> None:
    url = origin.on("/from", redirecting(f"{other.url}/to"))
    redirect: dict[str, Any] = {"keep_headers": ["x-api-key"]}
    owner.call("request.perform", url=url, headers=headers(), redirect=redirect)
    assert other.requests[-1].values("X-Api-Key") == [SECRET]
    assert other.requests[-1].values("Api-Key") == []
    with pytest.raises(RemoteError) as refused:
        owner.call("request.perform", url=url, redirect={"keep_headers": ["authorization"]})
    assert refused.value.error["data"]["path"] == "params.redirect.keep_headers"


@pytest.mark.parametrize("method", ["request.get", "request.wait", "request.response"])
def test_a5_a_record_shows_others_no_secrets(
    owner: Wire, stranger: Wire, origin: ScriptedOrigin, other: ScriptedOrigin, method: str
) -> None:
    url = origin.on("/from", redirecting(f"{other.url}/to{QUERY}")) + QUERY
    other.on("/to", redirecting(f"/there{QUERY}"))
    url = url.replace("http://", f"http://me:{SECRET}@")
    request = owner.call("request.submit", url=url, headers=headers(), redirect={"max_hops": 1})["request"]
    mine = json.dumps(owner.call(method, request=request, **({} if method == "request.get" else {"timeout_ms": 9_000})))
    while '"finished": false' in mine:
        mine = json.dumps(owner.call("request.wait", request=request))
    theirs = json.dumps(stranger.call(method, request=request))
    assert SECRET in mine
    assert SECRET not in theirs
    assert "page=2" in theirs


def test_a5_lists_and_curl_lines_show_others_no_secrets(owner: Wire, stranger: Wire, origin: ScriptedOrigin) -> None:
    body = {"text": f"grant_type=x&client_secret={SECRET}"}
    sent = headers() | {"Content-Type": "application/x-www-form-urlencoded"}
    made = owner.call("request.submit", url=origin.url + QUERY, method="POST", headers=sent, body=body)
    request = made["request"]
    owner.call("request.wait", request=request)
    assert SECRET in json.dumps(owner.call("request.list"))
    assert SECRET not in json.dumps(stranger.call("request.list", scope="all"))
    for reader in (owner, stranger):
        line = reader.call("request.curl", request=request)["curl"]
        assert SECRET not in line and "page=2" in line and "grant_type=x" in line
    assert SECRET in owner.call("request.curl", request=request, reveal=True)["curl"]
    with pytest.raises(RemoteError) as refused:
        stranger.call("request.curl", request=request, reveal=True)
    assert refused.value.error["data"]["path"] == "params.reveal"


def test_a5_events_show_others_no_secrets(
    owner: Wire, stranger: Wire, origin: ScriptedOrigin, other: ScriptedOrigin
) -> None:
    types = ["*", "notification.*"]
    start = stranger.call("events.next", types=types, timeout_ms=0)["cursor"]
    url = origin.on("/from", redirecting(f"{other.url}/to{QUERY}")) + QUERY
    other.on("/to", lambda exchange: exchange.reply(headers=[("X-Api-Key", SECRET)]))
    owner.call("request.perform", url=url, headers=headers())
    owner.call("request.perform", url=f"ht!tp://me:{SECRET}@a.test/{QUERY}")
    theirs = stranger.call("events.next", types=types, since=start, scope="all", max=256)["events"]
    mine = owner.call("events.next", types=types, since=start, max=256)["events"]
    assert SECRET not in json.dumps(theirs)
    assert SECRET in json.dumps(mine)
    assert {"task.will_redirect", "task.did_receive_response", "request.did_create_url_request"} <= {
        event["type"] for event in theirs
    }


def test_a5_a_session_shows_no_secrets(owner: Wire) -> None:
    configuration = {
        "headers": [["X-Vault-Token", SECRET], ["X-Plain", "open"], ["Referer", f"http://me:{SECRET}@a.test/"]],
        "redirect": {"modify": {"set_headers": {"Api-Key": SECRET}}, "strip_headers": ["X-Api-Key", "X-Mine"]},
        "interceptor": [
            {"oauth2": {
                "token_url": f"https://me:{SECRET}@a.test/token?sig={SECRET}",
                "client_id": "me", "client_secret": SECRET, "headers": {"X-Client-Key": SECRET},
                "credential": {"access_token": SECRET, "refresh_token": SECRET},
            }},
            {"set_header": {"name": "X-Any", "value": SECRET}},
            {"rewrite": {"query": {"set": {"api_key": SECRET, "page": "2"}}}},
            {"basic_auth": {"username": "me", "password": SECRET}},
            {"bearer": {"token": SECRET}},
        ],
    }  # fmt: skip
    owner.call("session.create", name="shared", configuration=configuration)
    shown = owner.call("session.get", session="shared")["configuration"]
    assert SECRET not in json.dumps(shown)
    assert shown["redirect"]["strip_headers"] == ["X-Api-Key", "X-Mine"]
    assert shown["interceptor"][0]["oauth2"]["token_url"] == "https://a.test/token?sig=(hidden)"
    assert shown["interceptor"][2]["rewrite"]["query"]["set"]["page"] == "2"
    assert SECRET not in json.dumps(owner.call("session.list"))


def test_a5_every_name_of_the_table_is_hidden_wherever_it_stands(
    owner: Wire, stranger: Wire, origin: ScriptedOrigin
) -> None:
    named = [row for row in rows("secrets") if row.get("name")]
    query = "&".join(f"{row['name']}=value{index}." for index, row in enumerate(named))
    url = origin.on("/table", Exchange.reply) + f"?{query.replace('[', '%5B').replace(']', '%5D')}"
    request = owner.call("request.submit", url=url)["request"]
    owner.call("request.wait", request=request)
    shown = json.dumps(stranger.call("request.response", request=request))
    assert [f"value{index}." not in shown for index, _ in enumerate(named)] == [row["secret"] for row in named]
