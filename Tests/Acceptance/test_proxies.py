"""Requests through HTTP, HTTPS and SOCKS proxies: which they use, what they share, and how they fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.declared import declaring
from harness.process import running
from harness.waiting import eventually
from harness.wire import Wire
from origins.authority import Authority
from origins.nginx import Nginx
from origins.proxies import (
    NEEDS_USER,
    OTHER,
    OTHER_PASSWORD,
    PASSWORD,
    PERCENT,
    USER,
    Socks,
    Squid,
    failure,
    hops,
    perform,
    trusting,
)
from origins.scripted import ScriptedOrigin

NO_CONNECT = "session_task_failed.proxy.connect_refused"


# MARK: HTTP


def test_a_proxy_gets_the_requests_of_http_urls(client: carpool.Client, squid: Squid, origin: ScriptedOrigin) -> None:
    url = f"http://127.0.0.1:{squid.plain}"
    record = perform(client, f"{origin.url}/of-http", proxy=url)
    assert record["outcome"]["ok"]
    assert hops(record)[0]["proxy"] == url
    assert hops(record)[0]["remote"] == f"127.0.0.1:{squid.plain}"
    assert squid.log("/of-http", 1)[0][1:3] == ["GET", f"{origin.url}/of-http"]
    assert origin.received(1)[0].values("Host") == [f"127.0.0.1:{origin.port}"]


def test_one_connection_to_a_proxy_serves_all_http_origins(
    client: carpool.Client, squid: Squid, origin: ScriptedOrigin, other: ScriptedOrigin
) -> None:
    proxy = {"http": f"http://127.0.0.1:{squid.plain}"}
    records = [perform(client, f"{each.url}/shared", proxy=proxy) for each in [origin, other, origin, other]]
    assert len({hops(record)[0]["connection"] for record in records}) == 1
    assert [hops(record)[0]["reused"] for record in records] == [False, True, True, True]
    assert len({line[0] for line in squid.log("/shared", 4)}) == 1
    rows = client.call("pool.stats")["origins"]
    assert [row["origin"] for row in rows if row["settings"] == ["proxy"]] == [f"http://127.0.0.1:{squid.plain}"]


def test_https_urls_use_a_tunnel_that_is_shared(
    client: carpool.Client, squid: Squid, nginx: Nginx, authority: Authority
) -> None:
    proxy = f"http://127.0.0.1:{squid.plain}"
    ports: dict[str, str] = {}
    for server in [nginx.https, nginx.https1]:
        records = [perform(client, f"{server}/hello.txt", proxy=proxy, **trusting(authority)) for _ in range(3)]
        assert [record["outcome"]["ok"] for record in records] == [True] * 3
        assert [hops(record)[0]["reused"] for record in records] == [False, True, True]
        ports[server] = hops(records[0])[0]["local"].rpartition(":")[2]
    client.call("pool.flush")
    for server, port in ports.items():
        # Other tests have used tunnels to this server.
        lines = squid.log(f"{port} CONNECT {server.removeprefix('https://')}", 1)
        assert len(lines) == 1


def test_http_urls_use_a_tunnel_on_request(client: carpool.Client, squid: Squid, origin: ScriptedOrigin) -> None:
    proxy = {"all": {"url": f"http://127.0.0.1:{squid.plain}", "tunnel": True}}
    records = [perform(client, f"{origin.url}/tunnelled", proxy=proxy) for _ in range(2)]
    assert [hops(record)[0]["reused"] for record in records] == [False, True]
    assert origin.requests[0].target == "/tunnelled"
    client.call("pool.flush")
    # An origin of another test may have had this port, and so a line in the log.
    eventually(lambda: ["CONNECT", f"127.0.0.1:{origin.port}"] in [line[1:3] for line in squid.log("CONNECT", 1)])


def test_the_proxy_resolves_the_host(client: carpool.Client, squid: Squid, origin: ScriptedOrigin) -> None:
    record = perform(client, f"http://only.squid:{origin.port}/", proxy=f"http://127.0.0.1:{squid.plain}")
    assert record["outcome"]["ok"], record["outcome"]
    assert origin.received(1)[0].values("Host") == [f"only.squid:{origin.port}"]


def test_requests_with_and_without_a_proxy_share_nothing(
    client: carpool.Client, squid: Squid, origin: ScriptedOrigin
) -> None:
    proxy = {"proxy": f"http://127.0.0.1:{squid.plain}"}
    for _ in range(5):
        assert hops(perform(client, f"{origin.url}/mixed", **proxy))[0]["remote"] == f"127.0.0.1:{squid.plain}"
        assert hops(perform(client, f"{origin.url}/direct"))[0]["remote"] == f"127.0.0.1:{origin.port}"
    assert len(squid.log("/mixed", 5)) == 5
    assert not squid.log("/direct", 0)


def test_a_request_without_a_proxy_in_a_session_with_one(
    client: carpool.Client, squid: Squid, origin: ScriptedOrigin
) -> None:
    client.create_session("proxied", {"proxy": f"http://127.0.0.1:{squid.plain}"})
    assert "proxy" in hops(perform(client, origin.url, session="proxied"))[0]
    assert "proxy" not in hops(perform(client, origin.url, session="proxied", proxy={}))[0]


@pytest.mark.parametrize("schemes", [["basic"], ["digest"]])
def test_a_replaced_host_is_reached_by_a_tunnel(
    client: carpool.Client, squid: Squid, origin: ScriptedOrigin, schemes: list[str]
) -> None:
    server = {"url": f"http://127.0.0.1:{squid.basic}", "username": USER, "password": PASSWORD, "schemes": schemes}
    same = f"127.0.0.1:{origin.port}:127.0.0.1:{origin.port}"
    replaced = f"replaced.test:80:127.0.0.1:{origin.port}"
    params = {"proxy": {"all": server}, "addresses": {"connect_to": [replaced, same]}}
    # The proxy gets the requests for other hosts, and for this one if it stays the same, as they are.
    tag = f"/not-replaced-{schemes[0]}"
    others = [perform(client, f"{origin.url}{tag}", **params) for _ in range(2)]
    assert [hops(record)[-1]["reused"] for record in others] == [schemes == ["digest"], True]
    assert squid.log(tag, 2)[-1][1:4] == ["GET", f"{origin.url}{tag}", USER]
    assert client.call("request.explain", url="http://replaced.test/", **params)["pool"]["connections"] == 0
    records = [perform(client, "http://replaced.test/", **params) for _ in range(3)]
    assert [hops(record)[0]["reused"] for record in records] == [False, True, True], records[0]["outcome"]
    assert hops(records[0])[0]["new_connection"] == "first"
    pool = client.call("request.explain", url="http://replaced.test/", **params)["pool"]
    assert (pool["connections"], pool["idle"]) == (1, 1)
    assert len(origin.requests) == 5


# MARK: Credentials


@pytest.mark.parametrize("form", ["url", "members", "both"])
def test_a_user_and_a_password(
    client: carpool.Client, squid: Squid, nginx: Nginx, authority: Authority, origin: ScriptedOrigin, form: str
) -> None:
    address = f"127.0.0.1:{squid.basic}"
    proxy: Any = {
        "url": f"http://{USER}:{PASSWORD}@{address}",
        "members": {"all": {"url": f"http://{address}", "username": USER, "password": PASSWORD}},
        "both": {"all": {"url": f"http://{OTHER}:x@{address}", "username": USER, "password": PASSWORD}},
    }[form]
    assert perform(client, f"{origin.url}/as-{form}", proxy=proxy)["response"]["status"] == 200
    assert squid.log(f"/as-{form}", 1)[0][3] == USER
    assert perform(client, f"{nginx.https}/hello.txt", proxy=proxy, **trusting(authority))["outcome"]["ok"]
    # The origin learns nothing of them.
    assert not origin.received(1)[0].values("Proxy-Authorization")
    assert PASSWORD not in json.dumps(client.call("request.list"))


@pytest.mark.parametrize("user", ["", f"{USER}:wrong@", f"{USER}:@"])
def test_a_wrong_password(
    client: carpool.Client, squid: Squid, nginx: Nginx, authority: Authority, origin: ScriptedOrigin, user: str
) -> None:
    proxy = f"http://{user}127.0.0.1:{squid.basic}"
    record = perform(client, f"{nginx.https}/hello.txt", proxy=proxy, **trusting(authority))
    assert record["outcome"]["error"]["name"] == NEEDS_USER
    assert ("requires" if not user else "refuses") in record["outcome"]["error"]["message"]
    assert "wrong" not in json.dumps(record)
    # Without a tunnel it is the response.
    assert perform(client, origin.url, proxy=proxy)["response"]["status"] == 407
    assert not origin.requests


@pytest.mark.own_daemon
@pytest.mark.parametrize("schemes", [["digest"], ["basic", "digest"]], ids=["digest", "any"])
@pytest.mark.parametrize("has_tunnel", [False, True])
def test_digest_at_a_proxy(
    client: carpool.Client, squid: Squid, nginx: Nginx, authority: Authority, origin: ScriptedOrigin,
    schemes: list[str], has_tunnel: bool,
) -> None:  # fmt: skip
    server = {"url": f"http://127.0.0.1:{squid.basic}", "username": USER, "schemes": schemes, "tunnel": has_tunnel}
    proxy = {"all": {**server, "password": PASSWORD}}
    tag = f"/digested-{len(schemes)}-{has_tunnel}"
    for number in range(3):
        record = perform(client, f"{origin.url}{tag}", method="POST", body={"text": "body"}, proxy=proxy)
        assert record["response"]["status"] == 200
        # Asked once; then each request has the next number of the nonce.
        assert len(hops(record)) == (2 if number == 0 and not has_tunnel else 1)
        assert perform(client, f"{nginx.https}/hello.txt", proxy=proxy, **trusting(authority))["outcome"]["ok"]
    assert [request.body for request in origin.requests] == [b"body"] * 3
    assert not any(request.values("Proxy-Authorization") for request in origin.requests)
    if not has_tunnel:
        assert [line[3] for line in squid.log(tag, 4)] == ["-", USER, USER, USER]
    wrong = {"all": {**server, "password": "wrong"}}
    name = failure(client, nginx.https, proxy=wrong, **trusting(authority))
    assert name == NEEDS_USER
    if not has_tunnel:
        assert perform(client, origin.url, proxy=wrong)["response"]["status"] == 407


def test_percent_signs_of_a_password_are_sent(client: carpool.Client, squid: Squid, origin: ScriptedOrigin) -> None:
    name, password = PERCENT
    server = {"url": f"http://127.0.0.1:{squid.basic}", "username": name, "password": password}
    for has_tunnel in [False, True]:
        proxy = {"all": {**server, "tunnel": has_tunnel}}
        assert perform(client, f"{origin.url}/percent", proxy=proxy)["response"]["status"] == 200


def test_an_environment_without_a_proxy_leaves_that_of_the_session(
    client: carpool.Client, squid: Squid, origin: ScriptedOrigin
) -> None:
    client.create_session("proxied", {"proxy": f"http://127.0.0.1:{squid.plain}"})
    for empty in [{"http": ""}, {"no_proxy": "*"}, {}]:
        record = perform(client, origin.url, session="proxied", proxy={**empty, "environment": True})
        assert "proxy" in hops(record)[0]


def test_tunnels_of_two_users_are_not_shared(
    client: carpool.Client, squid: Squid, nginx: Nginx, authority: Authority
) -> None:
    users = {USER: PASSWORD, OTHER: OTHER_PASSWORD}
    for index in range(6):
        name = [USER, OTHER][index % 2]
        proxy = f"http://{name}:{users[name]}@127.0.0.1:{squid.basic}"
        record = perform(client, f"{nginx.https1}/hello.txt?{index}", proxy=proxy, **trusting(authority))
        assert record["outcome"]["ok"]
        assert hops(record)[0]["reused"] is (index > 1)
        # Nor does a request without a password use the tunnel of one that has it.
        bare = f"http://{name}@127.0.0.1:{squid.basic}"
        assert failure(client, f"{nginx.https1}/hello.txt", proxy=bare, **trusting(authority)) == NEEDS_USER


def test_passwords_are_never_returned(wire: Wire, squid: Squid, nginx: Nginx) -> None:
    cursor = wire.call("events.next", timeout_ms=0)["cursor"]
    proxy = {"all": {"url": f"http://{USER}:in-the-url-{PASSWORD}@127.0.0.1:{squid.basic}", "password": PASSWORD}}
    wire.call("session.create", name="secret", configuration={"proxy": proxy})
    record = wire.call("request.perform", url=nginx.https, session="secret", proxy=proxy)
    shown = [
        record,
        wire.call("session.get", session="secret"),
        wire.call("session.list"),
        wire.call("request.explain", url=nginx.https, session="secret"),
        wire.call("request.submit", url=nginx.https, session="secret", proxy=proxy),
        wire.call("pool.stats"),
        wire.call("daemon.stats"),
    ]
    shown.append(wire.call("request.wait", request=shown[4]["request"], timeout_ms=60_000))
    shown.append(wire.call("request.curl", request=shown[4]["request"]))
    shown.append(wire.call("request.get", request=shown[4]["request"]))
    events = wire.call("events.next", since=cursor, scope="all", max=10_000)["events"]
    assert len(events) > 1
    assert PASSWORD not in json.dumps([shown, events])
    assert "--proxy" in shown[-2]["curl"]


# MARK: Which requests use it


def test_schemes_have_proxies_of_their_own(
    client: carpool.Client, squid: Squid, nginx: Nginx, authority: Authority, origin: ScriptedOrigin
) -> None:
    http, dead = f"http://127.0.0.1:{squid.plain}", "http://127.0.0.1:1"
    assert perform(client, origin.url, proxy={"http": http, "https": dead})["outcome"]["ok"]
    assert perform(client, origin.url, proxy={"http": "", "all": dead})["outcome"]["ok"]
    assert perform(client, origin.url, proxy={"https": dead})["outcome"]["ok"]
    name = failure(client, nginx.https, proxy={"all": http, "https": dead}, **trusting(authority))
    assert name == "session_task_failed.proxy.cannot_connect_to_host"


def test_no_proxy_is_matched_on_every_hop(
    client: carpool.Client, squid: Squid, origin: ScriptedOrigin, other: ScriptedOrigin
) -> None:
    proxy = {"all": f"http://127.0.0.1:{squid.plain}", "no_proxy": [f"localhost:{other.port}"]}
    target = f"http://localhost:{other.port}/no-proxy-end"
    origin.on("/no-proxy-away", lambda exchange: exchange.reply(302, headers=[("Location", target)]))
    other.on(
        "/no-proxy-end", lambda exchange: exchange.reply(302, headers=[("Location", f"{origin.url}/no-proxy-home")])
    )
    record = perform(client, f"{origin.url}/no-proxy-away", proxy=proxy)
    assert record["outcome"]["ok"]
    assert ["proxy" in hop for hop in hops(record)] == [True, False, True]
    # squid logs a request when it has closed it, which for the first one may be after the second one.
    assert squid.log(f"{origin.url}/no-proxy-away", 1)
    assert squid.log(f"{origin.url}/no-proxy-home", 1)
    assert not squid.log("/no-proxy-end", 0)


@pytest.mark.parametrize("text", ["localhost,127.0.0.1", "*", "10.0.0.0/8 127.0.0.0/8", ",x y z,,*.local,127.0.0.1"])
def test_no_proxy_as_the_text_of_the_variable(client: carpool.Client, origin: ScriptedOrigin, text: str) -> None:
    record = perform(client, origin.url, proxy={"all": "http://127.0.0.1:1", "no_proxy": text})
    assert record["outcome"]["ok"]


def test_a_unix_socket_takes_precedence(client: carpool.Client, origin: ScriptedOrigin, folder: Path) -> None:
    path = folder / "origin"
    with running(["socat", f"UNIX-LISTEN:{path},fork", f"TCP:127.0.0.1:{origin.port}"]):
        eventually(path.exists)
        record = perform(client, "http://docker/", proxy="http://127.0.0.1:1", addresses={"unix_socket": str(path)})
    assert record["outcome"]["ok"], record["outcome"]


def test_the_environment_of_the_daemon_never_decides(
    start: StartDaemon, origin: ScriptedOrigin, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"]:
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "localhost")
    with start().client() as client:
        assert perform(client, origin.url)["outcome"]["ok"]
        monkeypatch.setenv("no_proxy", "*")
        record = perform(client, origin.url, proxy="http://127.0.0.1:1")
        assert record["outcome"]["error"]["name"] == "session_task_failed.proxy.cannot_connect_to_host"


# MARK: Failures


def test_a_refused_connect(client: carpool.Client, squid: Squid, authority: Authority) -> None:
    proxy = {"proxy": f"http://127.0.0.1:{squid.plain}"}
    record = perform(client, "https://127.0.0.1:9/", **proxy)
    error = record["outcome"]["error"]
    assert error["name"] == NO_CONNECT
    assert error["message"].endswith(
        f"the proxy http://127.0.0.1:{squid.plain} makes no connection to 127.0.0.1:9 (403)"
    )
    assert failure(client, "https://127.0.0.1:1/", **proxy) == NO_CONNECT


def test_a_proxy_that_is_not_there(client: carpool.Client, origin: ScriptedOrigin, nginx: Nginx) -> None:
    for url in [origin.url, nginx.https]:
        assert failure(client, url, proxy="http://127.0.0.1:1") == "session_task_failed.proxy.cannot_connect_to_host"
        assert failure(client, url, proxy="socks5h://127.0.0.1:1") == "session_task_failed.proxy.cannot_connect_to_host"
        assert failure(client, url, proxy="http://nowhere.invalid") == "session_task_failed.proxy.cannot_find_host"


@pytest.mark.parametrize(
    ("proxy", "place"),
    [
        ("ftp://127.0.0.1", "proxy"),
        ("http://127.0.0.1/path", "proxy"),
        ("http://", "proxy"),
        ("http://a b", "proxy"),
        ("http://u:p%0a@127.0.0.1", "proxy"),
        ({"http": "bad://x"}, "proxy.http"),
        ({"all": {"url": ""}}, "proxy.all.url"),
        ({"all": {"url": "http://a", "username": "a:b"}}, "proxy.all.username"),
        ({"all": {"url": "http://a", "username": "a\n"}}, "proxy.all.username"),
        ({"all": {"url": "socks5://a", "preproxy": "socks5://b"}}, "proxy.all.preproxy"),
        ({"all": {"url": "http://a", "preproxy": "http://b"}}, "proxy.all.preproxy"),
        # libcurl would send it to the HTTP proxy, in place of that proxy's own.
        ({"all": {"url": "http://a", "preproxy": "socks5://u:p@b"}}, "proxy.all.preproxy"),
        ({"all": "http://a", "no_proxy": ["*.a"]}, "proxy.no_proxy[0]"),
        ({"all": "http://a", "no_proxy": ["a", "10.0.0.0/33"]}, "proxy.no_proxy[1]"),
        ({"all": "http://a", "no_proxy": ["a:0"]}, "proxy.no_proxy[0]"),
        ({"nothing": "http://a"}, "proxy"),
        (7, "proxy"),
    ],
)
def test_what_is_no_proxy_is_refused(client: carpool.Client, proxy: Any, place: str) -> None:
    for method, params in [
        ("request.perform", {"url": "http://127.0.0.1:1", "proxy": proxy}),
        ("session.create", {"name": "bad", "configuration": {"proxy": proxy}}),
    ]:
        with pytest.raises(carpool.InvalidParamsError) as caught:
            client.call(method, **params)
        assert f".{place}" in str(caught.value)


# MARK: Declared sessions and raw streams


def test_a_declared_session_takes_the_password_of_a_file(
    start: StartDaemon, squid: Squid, origin: ScriptedOrigin, tmp_path: Any
) -> None:
    secret = tmp_path / "password"
    secret.write_text(PASSWORD + "\n")
    secret.chmod(0o600)
    server = {"url": f"http://127.0.0.1:{squid.basic}", "username": USER, "password": {"file": str(secret)}}
    daemon = start(config=declaring(proxied={"proxy": {"all": server}}))
    assert daemon.call("request.perform", url=f"{origin.url}/declared", session="proxied")["response"]["status"] == 200
    assert squid.log("/declared", 1)[0][3] == USER
    assert PASSWORD not in json.dumps(daemon.call("session.get", session="proxied"))


@pytest.mark.parametrize("kind", ["http", "socks5h", "https"])
def test_raw_streams_use_the_proxy_of_their_session(
    client: carpool.Client, wire: Wire, squid: Squid, socks: Socks, peer: Any, kind: str
) -> None:
    port = {"http": squid.plain, "socks5h": socks.plain, "https": squid.secure}[kind]
    wire.call("session.create", name=kind, configuration={"proxy": f"{kind}://localhost:{port}"})
    target = peer()
    call = wire.request("stream.open", {**target, "session": kind})
    answer = wire.answer(call)
    if kind == "https":
        assert answer["error"]["data"]["path"] == "params.session"
        return
    stream = answer["result"]["stream"]
    wire.call("stream.write", stream=stream, text="hello")
    assert wire.call("stream.read", stream=stream)["base64"] == "aGVsbG8="
