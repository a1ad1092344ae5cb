"""Redirects: what every hop is sent, to whom, and who decides (RH, F-22)."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.wire import RemoteError, Wire
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import Exchange, Handler, Received, ScriptedOrigin

STATUSES = [301, 302, 303, 307, 308]
TOO_MANY = "session_task_failed.http_too_many_redirects"
INSECURE = "session_task_failed.insecure_redirect"


def to(location: str, status: int = 302, body: bytes = b"gone") -> Handler:
    """Make a handler that redirects."""

    def handler(exchange: Exchange) -> None:
        exchange.reply(status, body, [("Location", location)])

    return handler


def stairs(origin: ScriptedOrigin, count: int) -> str:
    """Make a path that redirects `count` times, and return its URL."""
    for number in range(count, 0, -1):
        origin.on(f"/redirect/{number}", to(f"/redirect/{number - 1}"))
    return f"{origin.url}/redirect/{count}"


@pytest.fixture
def secure(authority: Authority) -> Iterator[ScriptedOrigin]:
    scripted = ScriptedOrigin(authority.issue("redirects"))
    yield scripted
    scripted.stop()


def wire_failure(record: dict[str, Any]) -> str:
    return str(record["outcome"]["error"]["name"])


# RH-01, RH-02, RH-06, RH-07: followed or not


def test_rh_01_and_rh_06_every_hop_is_followed_and_told(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("events.subscribe", types=["task.will_redirect", "task.did_receive_response", "request.did_create_task"])
    call = wire.request("request.perform", url=stairs(origin, 5))
    events: list[dict[str, Any]] = []
    while (message := wire.receive()).get("id") != call:
        events.append(message["params"])
    record = message["result"]
    assert record["response"]["status"] == 200
    assert record["response"]["url"] == f"{origin.url}/redirect/0"
    assert [event["type"] for event in events] == [
        "request.did_create_task",
        *["task.will_redirect"] * 5,
        "task.did_receive_response",
    ]
    assert [event["data"] for event in events[1:6]] == [
        {"status": 302, "from": f"{origin.url}/redirect/{number}", "url": f"{origin.url}/redirect/{number - 1}"}
        for number in (5, 4, 3, 2, 1)
    ]
    assert {event["attempt"] for event in events} == {1}
    assert record["metrics"]["redirects"] == 5


def test_rh_02_a_redirect_that_is_not_followed_is_the_response(wire: Wire, origin: ScriptedOrigin) -> None:
    url = origin.on("/from", to("/to", 302, b"over there"))
    wire.call("events.subscribe", types=["task.will_redirect"])
    call = wire.request("request.perform", url=url, redirect="do_not_follow")
    assert wire.event("task.will_redirect")["data"]["url"] == f"{origin.url}/to"
    record = wire.result(call)
    assert record["outcome"] == {"ok": True}
    assert (record["response"]["status"], record["response"]["url"]) == (302, url)
    assert ["Location", "/to"] in record["response"]["headers"]
    assert record["body"]["text"] == "over there"
    assert [request.target for request in origin.requests] == ["/from"]
    record = wire.call("request.perform", url=url, redirect="do_not_follow", validate=True)
    assert record["outcome"]["error"]["details"] == {"code": 302}


def test_rh_07_the_request_keeps_its_url_and_the_response_has_the_last(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    response = client.get(stairs(origin, 2), detail="full")
    assert response.url == f"{origin.url}/redirect/0"
    (attempt,) = response.attempts
    assert attempt["request"]["url"] == f"{origin.url}/redirect/2"
    assert [(hop["url"], hop["status"]) for hop in attempt["metrics"]] == [
        (f"{origin.url}/redirect/2", 302), (f"{origin.url}/redirect/1", 302), (f"{origin.url}/redirect/0", 200),
    ]  # fmt: skip


def test_rh_08_validators_see_the_final_response_alone(wire: Wire, origin: ScriptedOrigin) -> None:
    validate = [{"callback": {"name": "judge"}}]
    call = wire.request("request.perform", url=stairs(origin, 3), validate=validate)
    question = wire.question("validate")
    assert question["params"]["response"]["status"] == 200
    wire.reply(question, valid=True)
    message = wire.receive()
    assert (message["id"], message["result"]["outcome"]["ok"]) == (call, True)
    origin.on("/from", to("/lost"))
    origin.on("/lost", lambda exchange: exchange.reply(404))
    record = wire.call("request.perform", url=f"{origin.url}/from", validate=True)
    assert record["outcome"]["error"]["details"] == {"code": 404}


def test_a_redirect_is_no_attempt_and_a_retry_begins_at_the_first_url(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    statuses = iter([503, 200])
    origin.on("/from", to("/to"))
    origin.on("/to", lambda exchange: exchange.reply(next(statuses)))
    response = client.get(f"{origin.url}/from", validate=True, retry={"scale_ms": 1}, detail="full")
    assert [request.target for request in origin.requests] == ["/from", "/to"] * 2
    assert [len(attempt["metrics"]) for attempt in response.attempts] == [2, 2]
    assert response.record["metrics"]["attempts"] == 2
    assert response.record["metrics"]["redirects"] == 2


# RH-05 and F-22: the request of the next hop


def expected_method(status: int, method: str) -> str:
    if status == 303 and method != "HEAD":
        return "GET"
    return "GET" if status in {301, 302} and method == "POST" else method


def check_hops(send: Callable[[str, int], Received], status: int, *, keeps: bool = False) -> None:
    """Check every method against the rules of RFC 9110, section 15.4."""
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"):
        hop = send(method, status)
        expected = method if keeps else expected_method(status, method)
        assert hop.method == expected, (method, status)
        body = b"some text" if method in {"POST", "PUT", "PATCH"} and expected == method else b""
        assert hop.body == body, (method, status)
        assert hop.values("content-type") == (["text/x-mine"] if body else []), (method, status)
        assert hop.values("x-kept") == ["yes"], (method, status)


def options(method: str) -> dict[str, Any]:
    headers = {"X-Kept": "yes"}
    if method not in {"POST", "PUT", "PATCH"}:
        return {"method": method, "headers": headers}
    return {"method": method, "headers": {**headers, "Content-Type": "text/x-mine"}, "body": {"text": "some text"}}


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("status", STATUSES)
def test_rh_05_method_body_and_headers_of_the_next_hop(
    wire: Wire, origin: ScriptedOrigin, status: int, keeps: bool
) -> None:
    origin.on("/from", to("/to", status))

    def send(method: str, _: int) -> Received:
        redirect = {"keep_method": keeps}
        record = wire.call("request.perform", url=f"{origin.url}/from", redirect=redirect, **options(method))
        assert record["outcome"]["ok"], record
        return origin.requests[-1]

    check_hops(send, status, keeps=keeps)


def test_rh_05_the_same_over_http_2(wire: Wire, nginx: Nginx, behind: ScriptedOrigin, authority: Authority) -> None:
    place = f"/held/{uuid.uuid4()}"

    def send(method: str, status: int) -> Received:
        behind.on(f"{place}/from", to(f"{place}/to", status))
        record = wire.call(
            "request.perform", url=f"{nginx.https}{place}/from", http_version="2",
            trust={"ca_file": str(authority.ca_file)}, **options(method),
        )  # fmt: skip
        assert [hop["http_version"] for hop in record["attempts"][0]["metrics"]] == ["h2", "h2"]
        return behind.requests[-1]

    for status in STATUSES:
        check_hops(send, status)


def test_f_22_credentials_stay_with_their_origin(
    client: carpool.Client, origin: ScriptedOrigin, other: ScriptedOrigin
) -> None:
    headers = {"Authorization": "Bearer t", "Cookie": "a=b", "X-Key": "k", "X-Other": "o"}
    origin.on("/from", to("/here"))
    origin.on("/away", to(f"{other.url}/there"))
    client.get(f"{origin.url}/from", headers=headers, redirect={"strip_headers": ["x-key"]})
    same = origin.requests[-1]
    assert [same.values(name) for name in headers] == [["Bearer t"], ["a=b"], ["k"], ["o"]]
    client.get(f"{origin.url}/away", headers=headers, redirect={"strip_headers": ["x-key"]})
    (foreign,) = other.requests
    assert [foreign.values(name) for name in headers] == [[], [], [], ["o"]]
    assert foreign.values("host") == [f"127.0.0.1:{other.port}"]


def test_f_22_what_is_taken_away_on_the_way_does_not_come_back(
    client: carpool.Client, origin: ScriptedOrigin, other: ScriptedOrigin
) -> None:
    origin.on("/from", to(f"{other.url}/back"))
    other.on("/back", to(f"{origin.url}/home"))
    client.get(f"{origin.url}/from", headers={"Authorization": "Bearer t"})
    assert origin.requests[-1].target == "/home"
    assert origin.requests[-1].values("authorization") == []


@pytest.mark.parametrize(("kept", "here", "there"), [("never", [], []), ("always", ["Bearer t"], ["Bearer t"])])
def test_f_22_authorization_goes_as_far_as_is_asked(
    client: carpool.Client, origin: ScriptedOrigin, other: ScriptedOrigin, kept: Any, here: list[str], there: list[str]
) -> None:
    origin.on("/from", to("/again"))
    origin.on("/again", to(f"{other.url}/there"))
    client.get(
        f"{origin.url}/from", headers={"Authorization": "Bearer t"}, redirect={"keep_authorization": kept}
    ).raise_for_outcome()
    assert origin.requests[-1].values("authorization") == here
    assert other.requests[-1].values("authorization") == there


def test_f_22_user_information_is_of_the_first_url_alone(client: carpool.Client, origin: ScriptedOrigin) -> None:
    token = base64.b64encode(b"me:pass").decode()
    origin.on("/from", to(f"http://you:word@127.0.0.1:{origin.port}/to"))
    response = client.get(f"http://me:pass@127.0.0.1:{origin.port}/from")
    assert response.status_code == 200
    assert [request.values("authorization") for request in origin.requests] == [[f"Basic {token}"]] * 2


def test_tls_is_not_left_unless_that_is_allowed(
    client: carpool.Client, secure: ScriptedOrigin, origin: ScriptedOrigin, authority: Authority
) -> None:
    url = secure.on("/from", to(f"{origin.url}/plain"))
    trust = authority.ca_file
    follow: list[Any] = ["follow", {"modify": {"drop_body": True}}]
    for redirect in follow:
        with pytest.raises(carpool.RequestError) as caught:
            client.get(url, verify=trust, redirect=redirect)
        assert caught.value.name == INSECURE
    assert origin.requests == []
    assert client.get(url, verify=trust, redirect="do_not_follow").status_code == 302
    headers = {"Authorization": "Bearer t"}
    assert client.get(url, verify=trust, redirect={"allow_downgrade": True}, headers=headers).status_code == 200
    assert origin.requests[-1].values("authorization") == []
    origin.on("/up", to(f"{secure.url}/safe"))
    assert client.get(f"{origin.url}/up", verify=trust).url == f"{secure.url}/safe"


@pytest.mark.parametrize(("redirect", "limit"), [({}, 16), ({"max_hops": 2}, 2), ({"max_hops": 0}, 0)])
def test_rh_05_hops_are_bounded(client: carpool.Client, origin: ScriptedOrigin, redirect: Any, limit: int) -> None:
    assert client.get(stairs(origin, limit), redirect=redirect).status_code == 200
    response = client.call("request.perform", url=stairs(origin, limit + 1), redirect=redirect)
    error = response["outcome"]["error"]
    assert (error["name"], error["details"], error["url_error_code"]) == (TOO_MANY, {"limit": limit}, -1007)
    assert len(origin.requests) == 2 * limit + 2
    url = origin.on("/loop", to("/loop"))
    assert wire_failure(client.call("request.perform", url=url, redirect=redirect)) == TOO_MANY


def test_rh_09_a_body_in_a_file_is_sent_again(client: carpool.Client, origin: ScriptedOrigin, tmp_path: Path) -> None:
    content = bytes(range(256)) * 2_000
    path = tmp_path / "body"
    path.write_bytes(content)
    origin.on("/from", to("/to", 307))
    assert client.put(f"{origin.url}/from", data=path).status_code == 200
    assert [request.body for request in origin.requests] == [content] * 2


# Forms of Location


@pytest.mark.parametrize(
    ("location", "target", "url"),
    [
        ("/a?b=c", "/a?b=c", "/a?b=c#part"),
        ("a", "/dir/a", "/dir/a#part"),
        ("../up", "/up", "/up#part"),
        ("./a/./b/../c", "/dir/a/c", "/dir/a/c#part"),
        ("/a#own", "/a", "/a#own"),
        ("//127.0.0.1:{port}/net", "/net", "/net#part"),
        ("/h\xc3\xa9 b", "/h%c3%a9%20b", "/h%c3%a9%20b#part"),
    ],
)
def test_a_location_is_resolved(
    client: carpool.Client, origin: ScriptedOrigin, location: str, target: str, url: str
) -> None:
    origin.on("/dir/from", to(location.replace("{port}", str(origin.port))))
    response = client.get(f"{origin.url}/dir/from#part")
    # The version of libcurl decides in which case a percent-encoding is written.
    assert origin.requests[-1].target.lower() == target
    assert response.url.lower() == origin.url + url


def test_a_target_that_cannot_be_asked_fails_the_request(client: carpool.Client, origin: ScriptedOrigin) -> None:
    for location, name in [("http://[::1", "bad_url"), ("file:///etc/passwd", "unsupported_url")]:
        url = origin.on("/from", to(location))
        record = client.call("request.perform", url=url)
        assert wire_failure(record) == f"session_task_failed.{name}"
        assert client.get(url, redirect="do_not_follow").status_code == 302


@pytest.mark.parametrize("status", [300, 304, 305, 306])
def test_other_statuses_are_responses(client: carpool.Client, origin: ScriptedOrigin, status: int) -> None:
    assert client.get(origin.on("/from", to("/to", status, b""))).status_code == status
    assert client.get(origin.on("/none", lambda exchange: exchange.reply(302, b"nowhere"))).text == "nowhere"


def test_the_body_of_a_redirect_is_nobody_s(client: carpool.Client, origin: ScriptedOrigin) -> None:
    for size in (70_000, 3_000_000):
        origin.on("/from", to("/to", 302, b"x" * size))
        origin.on("/to", lambda exchange: exchange.reply(body=b"the body"))
        assert client.get(f"{origin.url}/from").text == "the body"


def test_a_hop_that_fails_leaves_no_response_behind(client: carpool.Client, origin: ScriptedOrigin) -> None:
    origin.on("/from", to("http://127.0.0.1:1/"))
    record = client.call("request.perform", url=f"{origin.url}/from")
    assert wire_failure(record) == "session_task_failed.cannot_connect_to_host"
    whole = client.call("request.submit", url=f"{origin.url}/from")["request"]
    record = client.call("request.response", request=whole)
    assert record["response"] is None
    (attempt,) = record["attempts"]
    assert "response" not in attempt
    assert [hop.get("status") for hop in attempt["metrics"]] == [302, None]


# RH-03, RH-04: who decides


def test_rh_03_a_modification_is_made_at_every_hop(wire: Wire, origin: ScriptedOrigin, other: ScriptedOrigin) -> None:
    origin.on("/from", to("/next", 307))
    origin.on("/next", to("/to", 307))
    modify: dict[str, Any] = {
        "method": "PUT",
        "set_headers": {"X-New": "1", "X-Old": "2"},
        "remove_headers": ["x-gone"],
    }
    wire.call(
        "request.perform", url=f"{origin.url}/from", method="POST", body={"text": "b"},
        headers={"X-Old": "1", "X-Gone": "1"}, redirect={"modify": modify},
    )  # fmt: skip
    first, *hops = origin.requests
    assert first.values("x-gone") == ["1"]
    for hop in hops:
        assert (hop.method, hop.body) == ("PUT", b"b")
        assert [hop.values(name) for name in ("x-new", "x-old", "x-gone")] == [["1"], ["2"], []]
    modify = {"url": f"http://u:p@127.0.0.1:{other.port}/elsewhere", "drop_body": True}
    record = wire.call(
        "request.perform", url=f"{origin.url}/from", method="PATCH", body={"text": "b"}, redirect={"modify": modify}
    )
    assert record["response"]["status"] == 200
    (hop,) = other.requests
    assert (hop.method, hop.target, hop.body) == ("PATCH", "/elsewhere", b"")
    assert hop.values("authorization") == ["Basic " + base64.b64encode(b"u:p").decode()]


def test_rh_04_the_request_s_handler_replaces_the_session_s(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = stairs(origin, 1)
    client.create_session("stays", {"redirect": "do_not_follow"})
    client.create_session("goes", {"redirect": {"max_hops": 1}})
    assert client.get(url, session="stays").status_code == 302
    assert client.get(url, session="stays", redirect="follow").status_code == 200
    assert client.get(url, session="goes", redirect="do_not_follow").status_code == 302
    # Entirely: the session's limit is not mixed into the request's setting.
    assert client.get(stairs(origin, 3), session="goes", redirect={"keep_method": True}).status_code == 200


def test_rh_04_two_handlers_are_refused(wire: Wire, origin: ScriptedOrigin) -> None:
    both = {"modify": {}, "callback": {"name": "guide"}}
    for redirect in (both, {"max_hop": 3}, "follows", {"modify": {"set_headers": {"Host": "a"}}}):
        with pytest.raises(RemoteError) as caught:
            wire.call("request.perform", url=origin.url, redirect=redirect)
        assert caught.value.code == -32602
        assert caught.value.error["data"]["path"].startswith("params.redirect")
    wire.send_text('{"jsonrpc":"2.0","id":9,"method":"request.perform","params":{"redirect":"follow","redirect":{}}}')
    assert wire.receive()["error"]["code"] == -32602
    assert origin.requests == []
