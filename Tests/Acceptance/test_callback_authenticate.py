"""`callback.authenticate`: a client answers the challenges of servers (§1.18, §2.10)."""

from __future__ import annotations

import base64
import json
from typing import Any

import carpool
import pytest
from harness.story import BEGINNING, COMPLETING, Story, ending
from harness.waiting import eventually
from harness.wire import Wire
from origins.proxies import PASSWORD as PROXY_PASSWORD
from origins.proxies import USER as PROXY_USER
from origins.proxies import Squid
from origins.scripted import Exchange, ScriptedOrigin

PASSWORD = "pass-of-the-client"
AUTHENTICATE = {"callback": {"name": "login"}}


def basic(user: str, password: str = PASSWORD) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def guarded(accepts: str, *challenges: str) -> Any:
    """Reply 401 with the challenges unless `Authorization` begins with this text."""

    def reply(exchange: Exchange) -> None:
        if next(iter(exchange.request.values("authorization")), "-").startswith(accepts):
            return exchange.reply(200, b"in")
        return exchange.reply(401, b"out", [("WWW-Authenticate", challenge) for challenge in challenges])

    return reply


def start(wire: Wire, url: str, **params: Any) -> int:
    """Begin a request whose challenges the same connection answers."""
    return wire.request("request.perform", url=url, authenticate=params.pop("authenticate", AUTHENTICATE), **params)


def credential(user: str, **more: Any) -> dict[str, Any]:
    return {"credential": {"username": user, "password": PASSWORD, **more}}


def status(record: dict[str, Any]) -> int:
    assert record["outcome"]["ok"], record["outcome"]
    assert PASSWORD not in json.dumps(record)
    found: int = record["response"]["status"]
    return found


def sent(origin: ScriptedOrigin) -> list[str]:
    return [next(iter(request.values("authorization")), "") for request in origin.requests]


def test_a_client_answers_a_challenge(wire: Wire, origin: ScriptedOrigin) -> None:
    url = origin.on("/c", guarded("Digest", 'Basic realm="r"', 'Digest realm="the vault", nonce="n", qop="auth"'))
    call = start(wire, url)
    question = wire.question("authenticate")
    about = {name: question["params"][name] for name in ("callback", "session", "attempt")}
    assert about == {"callback": "login", "session": "default", "attempt": 1}
    asked = {name: question["params"].get(name) for name in ("host", "port", "realm", "scheme", "proxy")}
    assert asked == {"host": "127.0.0.1", "port": origin.port, "realm": "the vault", "scheme": "digest", "proxy": None}
    assert question["params"]["previous_failure_count"] == 0
    wire.reply(question, **credential("ada"))
    record = wire.result(call)
    assert status(record) == 200
    assert [hop["status"] for hop in record["attempts"][0]["metrics"]] == [401, 200]
    # The credential was for that request.
    assert status(wire.call("request.perform", url=url)) == 401


def test_a_client_may_answer_again_after_a_refusal(wire: Wire, origin: ScriptedOrigin) -> None:
    url = origin.on("/again", guarded(basic("third"), 'Basic realm="r"'))
    call = start(wire, url)
    for number, user in enumerate(["first", "second", "third"]):
        question = wire.question("authenticate")
        assert question["params"]["previous_failure_count"] == number
        wire.reply(question, **credential(user))
    assert status(wire.result(call)) == 200
    assert sent(origin) == ["", basic("first"), basic("second"), basic("third")]


def test_a_client_is_asked_at_most_five_times(wire: Wire, origin: ScriptedOrigin) -> None:
    url = origin.on("/never", guarded("never", 'Basic realm="r"'))
    call = start(wire, url)
    for number in range(5):
        wire.reply(wire.question("authenticate"), **credential(f"guess{number}"))
    record = wire.result(call)
    assert status(record) == 401
    assert len(origin.requests) == 6


@pytest.mark.parametrize(
    ("answer", "own", "expected"),
    [
        ({"action": "default"}, "", 401),
        ({"action": "default"}, "request", 200),
        ({"action": "default"}, "session", 200),
        ({"action": "reject"}, "request", 401),
        ({"action": "reject"}, "session", 401),
        ({"action": "cancel", "message": "not today"}, "request", "client_refused"),
        ({"credential": {"username": "a:b", "password": PASSWORD}}, "request", "callback_failed"),
        ({"credential": {"username": "a"}}, "request", "callback_failed"),
        ({"action": "perhaps"}, "request", "callback_failed"),
    ],
)
def test_the_dispositions(wire: Wire, origin: ScriptedOrigin, answer: Any, own: str, expected: Any) -> None:
    url = origin.on("/d", guarded(basic("own"), 'Basic realm="r"'))
    params: dict[str, Any] = {}
    if own == "request":
        params = {"credential": {"username": "own", "password": PASSWORD}}
    elif own == "session":
        wire.call("credentials.set", host="127.0.0.1", username="own", password=PASSWORD)
    call = start(wire, url, **params)
    wire.reply(wire.question("authenticate"), **answer)
    record = wire.result(call)
    if isinstance(expected, int):
        assert status(record) == expected
        assert len(origin.requests) == (2 if expected == 200 else 1)
    else:
        assert record["outcome"]["error"]["name"] == expected
        assert PASSWORD not in json.dumps(record)
        assert answer.get("message", "") in record["outcome"]["error"]["message"]


def test_a_refused_credential_is_not_the_default(wire: Wire, origin: ScriptedOrigin) -> None:
    """`default` after a refusal uses the credential of the session, unless it was the one that was refused."""
    url = origin.on("/d", guarded(basic("own"), 'Basic realm="r"'))
    wire.call("credentials.set", host="127.0.0.1", username="own", password="wrong")
    call = start(wire, url)
    for failures in [0, 1]:
        question = wire.question("authenticate")
        assert question["params"]["previous_failure_count"] == failures
        wire.reply(question, action="default")
    assert status(wire.result(call)) == 401
    assert sent(origin) == ["", basic("own", "wrong")]


@pytest.mark.parametrize(
    ("failure", "expected"), [(None, "callback_failed"), ("fail", "callback_failed"), ("default", 200), ("reject", 401)]
)
def test_on_failure(wire: Wire, origin: ScriptedOrigin, failure: str | None, expected: Any) -> None:
    url = origin.on("/f", guarded(basic("own"), 'Basic realm="r"'))
    callback = {"name": "login", "deadline_ms": 50, **({"on_failure": failure} if failure else {})}
    own = {"username": "own", "password": PASSWORD}
    call = start(wire, url, authenticate={"callback": callback}, credential=own)
    wire.question("authenticate")
    record = wire.result(call)
    if isinstance(expected, int):
        assert status(record) == expected
    else:
        error = record["outcome"]["error"]
        assert (error["name"], error["details"]["reason"]) == (expected, "timed_out")


def test_a_nonce_that_is_too_old_asks_no_client(wire: Wire, origin: ScriptedOrigin) -> None:
    turn = iter(range(9))

    def reply(exchange: Exchange) -> None:
        number = next(turn)
        stale = ", stale=true" if number == 1 else ""
        if number == 2:
            return exchange.reply(200, b"in")
        return exchange.reply(401, b"", [("WWW-Authenticate", f'Digest realm="r", nonce="{number}"{stale}')])

    call = start(wire, origin.on("/stale", reply))
    wire.reply(wire.question("authenticate"), **credential("ada"))
    assert status(wire.result(call)) == 200


def test_a_redirect_to_another_origin_asks_again(wire: Wire, origin: ScriptedOrigin, other: ScriptedOrigin) -> None:
    def away(exchange: Exchange) -> None:
        if exchange.request.values("authorization"):
            exchange.reply(302, headers=[("Location", f"{other.url}/in")])
        else:
            exchange.reply(401, b"", [("WWW-Authenticate", 'Basic realm="r"')])

    other.on("/in", guarded(basic("there"), 'Basic realm="r"'))
    call = start(wire, origin.on("/away", away))
    for user, port in [("here", origin.port), ("there", other.port)]:
        question = wire.question("authenticate")
        assert (question["params"]["port"], question["params"]["previous_failure_count"]) == (port, 0)
        wire.reply(question, **credential(user))
    assert status(wire.result(call)) == 200
    assert (sent(origin), sent(other)) == (["", basic("here")], ["", basic("there")])


def test_schemes_that_are_not_supported_ask_no_client(wire: Wire, origin: ScriptedOrigin) -> None:
    url = origin.on("/n", guarded("never", "Negotiate", "NTLM", 'Bearer realm="r"'))
    assert status(wire.call("request.perform", url=url, authenticate=AUTHENTICATE)) == 401
    url = origin.on("/own", guarded("never", 'Basic realm="r"'))
    headers = {"Authorization": "Bearer x"}
    assert status(wire.call("request.perform", url=url, authenticate=AUTHENTICATE, headers=headers)) == 401


def test_cancelling_ends_the_question(wire: Wire, client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/c", guarded("never", 'Basic realm="r"'))
    request = wire.call("request.submit", url=url, authenticate=AUTHENTICATE)["request"]
    question = wire.question("authenticate")
    assert client.call("request.cancel", request=request)["changed"]
    assert wire.call("request.wait", request=request)["outcome"]["error"]["name"] == "explicitly_cancelled"
    wire.reply(question, **credential("ada"))
    eventually(lambda: client.call("daemon.stats")["callbacks"]["ignored"] == 1)
    assert len(origin.requests) == 1


def test_2_10_the_order_with_a_client(story: Story, origin: ScriptedOrigin) -> None:
    url = origin.on("/vault", guarded(basic("right"), 'Basic realm="r"'))
    users = iter(["wrong", "right"])
    story.answerers["authenticate"] = lambda _: credential(next(users))
    story.perform(url, authenticate=AUTHENTICATE)
    assert story.words() == [
        *BEGINNING, "task.did_receive_challenge(HTTPBasic, 0)", "task.did_receive_challenge(HTTPBasic, 1)",
        "task.did_receive_response(200)", "task.did_receive_data", *COMPLETING, *ending(),
    ]  # fmt: skip
    assert PASSWORD not in json.dumps(story.events)


def test_python(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = origin.on("/p", guarded("Digest", 'Basic realm="r"', 'Digest realm="r", nonce="n", algorithm=SHA-256'))
    calls: list[carpool.AuthenticateCall] = []

    def login(call: carpool.AuthenticateCall) -> carpool.DigestAuth:
        calls.append(call)
        return carpool.DigestAuth("ada", PASSWORD)

    client.register("login", authenticate=login)
    assert client.get(url, authenticate=AUTHENTICATE).status_code == 200
    assert [(call.host, call.realm, call.scheme, call.is_proxy) for call in calls] == [
        ("127.0.0.1", "r", "digest", False)
    ]


@pytest.mark.parametrize("wrong", [False, True], ids=["none", "wrong"])
def test_a_proxy_asks_too(wire: Wire, squid: Squid, origin: ScriptedOrigin, wrong: bool) -> None:
    proxy = {"url": f"http://127.0.0.1:{squid.basic}"}
    if wrong:
        proxy |= {"username": PROXY_USER, "password": "wrong"}
    call = start(wire, origin.on("/through", lambda exchange: exchange.reply(200, b"in")), proxy={"http": proxy})
    question = wire.question("authenticate")
    assert (question["params"]["proxy"], question["params"]["port"]) == (True, squid.basic)
    wire.reply(question, credential={"username": PROXY_USER, "password": PROXY_PASSWORD})
    assert status(wire.result(call)) == 200
    assert not origin.requests[-1].values("proxy-authorization")
