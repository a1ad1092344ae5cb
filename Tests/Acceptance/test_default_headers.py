"""Header fields and methods: the defaults, which setting takes precedence, and what the origin receives."""

from __future__ import annotations

import platform
import re
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.vectors import rows
from harness.wire import Wire
from origins.httpbin import Httpbin
from origins.scripted import Received, ScriptedOrigin


def sent(client: carpool.Client | Wire, origin: ScriptedOrigin, **params: Any) -> Received:
    """Make a request and return it as it came."""
    client.call("request.perform", url=origin.url, **params)
    return origin.requests[-1]


def test_hh_01_a_field_that_is_set_takes_the_place_of_the_one_that_is_there(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    came = sent(
        client,
        origin,
        headers=[("b", "1"), ("A", "2")],
        interceptor=[{"set_header": {"name": "B", "value": "3"}}],
    )
    own = [(name, value) for name, value in came.headers if name.lower() in {"a", "b"}]
    assert own == [("B", "3"), ("A", "2")]


def test_hh_02_repeated_fields_are_kept_in_both_directions(client: carpool.Client, origin: ScriptedOrigin) -> None:
    """Alamofire sends and reports one of each name."""
    cookies = [("Set-Cookie", "a=1; Path=/"), ("X-Between", "1"), ("Set-Cookie", "b=2"), ("set-cookie", "c=3")]
    url = origin.on("/cookies", lambda exchange: exchange.reply(headers=cookies))
    record = client.call("request.perform", url=url, headers=[("X-Two", "1"), ("X-Two", "2")])
    assert record["response"]["headers"][:4] == [list(pair) for pair in cookies]
    assert origin.received(1)[0].values("X-Two") == ["1", "2"]


def test_hh_03_any_field_goes_by_its_name(client: carpool.Client, origin: ScriptedOrigin) -> None:
    fields = {
        "Accept": "text/plain",
        "Accept-Charset": "utf-8",
        "Accept-Language": "de",
        "Accept-Encoding": "identity",
        "Authorization": "Custom x",
        "Content-Disposition": "inline",
        "Content-Encoding": "identity",
        "Content-Type": "text/plain",
        "User-Agent": "mine",
        "Sec-WebSocket-Protocol": "chat",
    }
    came = sent(client, origin, method="POST", headers=fields)
    assert {name: came.values(name) for name in fields} == {name: [value] for name, value in fields.items()}


@pytest.mark.parametrize(
    ("user", "password", "expected"),
    [("user", "password", "Basic dXNlcjpwYXNzd29yZA=="), ("Zoë", "p:ä", "Basic Wm/DqzpwOsOk")],
)
def test_hh_04_basic(client: carpool.Client, origin: ScriptedOrigin, user: str, password: str, expected: str) -> None:
    came = sent(client, origin, interceptor=[{"basic_auth": {"username": user, "password": password}}])
    assert came.values("Authorization") == [expected]


def test_hh_04_httpbin_lets_us_in(client: carpool.Client, httpbin: Httpbin) -> None:
    interceptor: list[carpool.InterceptorOptions] = [{"basic_auth": {"username": "user", "password": "pass word"}}]
    url = f"{httpbin.url}/basic-auth/user/pass%20word"
    assert client.get(url, interceptor=interceptor, serialize="json").value == {"authenticated": True, "user": "user"}
    assert client.get(url).status_code == 401


def test_hh_05_bearer(client: carpool.Client, origin: ScriptedOrigin, httpbin: Httpbin) -> None:
    interceptor: list[carpool.InterceptorOptions] = [{"bearer": {"token": "abc.DEF-1~2+3/4="}}]
    assert sent(client, origin, interceptor=interceptor).values("Authorization") == ["Bearer abc.DEF-1~2+3/4="]
    seen = client.get(f"{httpbin.url}/bearer", interceptor=interceptor, serialize="json").value
    assert seen == {"authenticated": True, "token": "abc.DEF-1~2+3/4="}


@pytest.mark.parametrize("path", ["brotli", "gzip", "deflate"])
def test_hh_06_what_is_asked_for_can_be_undone(client: carpool.Client, httpbin: Httpbin, path: str) -> None:
    seen = client.get(f"{httpbin.url}/{path}", serialize="json").value
    assert seen["headers"]["Accept-Encoding"] == "br;q=1.0, gzip;q=0.9, deflate;q=0.8"


@pytest.mark.parametrize("language", ["de_AT.UTF-8", "C", ""])
def test_hh_07_the_language_is_english_whoever_starts_the_daemon(
    start: StartDaemon, origin: ScriptedOrigin, language: str
) -> None:
    variables = dict.fromkeys(("LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"), language)
    with start(variables=variables).client() as client:
        assert sent(client, origin).values("Accept-Language") == ["en;q=1.0"]


def test_hh_07_a_session_may_have_languages_of_its_own(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.create_session("sv", {"languages": ["sv", "en-001", "*"]})
    assert sent(client, origin, session="sv").values("Accept-Language") == ["sv;q=1.0, en-001;q=0.9, *;q=0.8"]


@pytest.mark.parametrize("language", ["", "de\r\nX: y", "de, en", "de;q=1", "d e", "dé"])
def test_hh_07_what_is_no_language_is_refused(client: carpool.Client, language: str) -> None:
    with pytest.raises(carpool.InvalidParamsError) as caught:
        client.create_session("none", {"languages": ["de", language]})
    assert caught.value.data["path"] == "params.configuration.languages[1]"


def test_hh_08_the_client_s_own_name_is_told(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("client.hello", name="nightly report", version="2.1")
    release = wire.call("daemon.info")["server"]["version"]
    system = f"{platform.system()} {platform.release()}"
    assert sent(wire, origin).values("User-Agent") == [f"nightly_report/2.1 ({system}) Carpool/{release}"]


def test_hh_08_a_client_without_a_name_is_its_program(client: carpool.Client, origin: ScriptedOrigin) -> None:
    (agent,) = sent(client, origin).values("User-Agent")
    assert re.fullmatch(r"py[\w.]*/Unknown \(Linux [^()]+\) Carpool/\d+\.\d+\.\d+", agent)


def test_hh_08_no_name_breaks_the_field(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("client.hello", name="a/b (é\r\nX: y)", version="1 2")
    (agent,) = sent(wire, origin).values("User-Agent")
    assert agent.startswith("a_b__") and "/1_2 (Linux " in agent
    assert origin.requests[-1].values("X") == []


def test_hh_09_weights_fall_from_one_to_the_next(client: carpool.Client, origin: ScriptedOrigin) -> None:
    lists = [row for row in rows("quality") if 1 <= len(row["values"]) <= 6 and "/" not in row["output"]]
    assert len(lists) > 2
    for number, row in enumerate(lists):
        client.create_session(f"s{number}", {"languages": row["values"]})
        assert sent(client, origin, session=f"s{number}").values("Accept-Language") == [row["output"]]


def test_hh_10_the_request_s_word_counts_before_the_session_s(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.create_session("own", {"headers": {"user-agent": "session", "X-Own": "session", "X-Both": "session"}})
    came = sent(client, origin, session="own", headers={"x-both": "request"})
    assert [came.values(name) for name in ("User-Agent", "X-Own", "X-Both")] == [["session"], ["session"], ["request"]]
    came = sent(client, origin, session="own", headers={"USER-AGENT": "request"})
    assert [came.values(name) for name in ("User-Agent", "X-Own", "X-Both")] == [["request"], ["session"], ["session"]]
    assert origin.requests[0].values("Accept-Encoding") == ["br;q=1.0, gzip;q=0.9, deflate;q=0.8"]


@pytest.mark.parametrize("method", ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"])
def test_me_01_every_method_of_http_arrives(client: carpool.Client, origin: ScriptedOrigin, method: str) -> None:
    assert client.request(method, origin.url).status_code == 200
    assert origin.received(1)[0].method == method


@pytest.mark.parametrize("method", ["get", "Post", "PROPFIND", "X-OWN", "!#$%&'*+-.^_`|~"])
def test_me_02_any_token_is_sent_as_it_is(client: carpool.Client, origin: ScriptedOrigin, method: str) -> None:
    # By the call itself: `request` of the client writes the methods of HTTP in upper case.
    assert sent(client, origin, method=method).method == method


def test_me_03_a_request_is_a_get_unless_it_says_otherwise(client: carpool.Client, origin: ScriptedOrigin) -> None:
    assert sent(client, origin).method == "GET"


def test_me_05_trace_gets_its_response_and_connect_is_refused(client: carpool.Client, httpbin: Httpbin) -> None:
    """A CONNECT makes a connection a tunnel, which other requests of the pool would use afterwards."""
    assert client.request("TRACE", f"{httpbin.url}/anything", serialize="json").value["method"] == "TRACE"
    with pytest.raises(carpool.InvalidParamsError) as caught:
        client.request("CONNECT", httpbin.url)
    assert caught.value.data["path"] == "params.method"
