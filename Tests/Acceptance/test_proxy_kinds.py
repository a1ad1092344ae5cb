"""HTTPS and SOCKS proxies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import carpool
import pytest
from origins.authority import Authority
from origins.nginx import Nginx
from origins.proxies import NEEDS_USER, PASSWORD, USER, Socks, Squid, failure, hops, perform, trusting
from origins.scripted import Exchange, ScriptedOrigin

# MARK: HTTPS


def test_an_https_proxy(
    client: carpool.Client, squid: Squid, nginx: Nginx, authority: Authority, origin: ScriptedOrigin
) -> None:
    proxy = {"proxy": f"https://localhost:{squid.secure}", **trusting(authority)}
    for url in [f"{origin.url}/secured", f"{nginx.https}/hello.txt", f"{nginx.https1}/hello.txt"]:
        records = [perform(client, url, **proxy) for _ in range(2)]
        assert [record["outcome"]["ok"] for record in records] == [True, True], records[0]["outcome"]
        assert hops(records[1])[0]["reused"]
        assert ("tls" in hops(records[0])[0]) is url.startswith("https")
    assert len(squid.log("/secured", 2)) == 2


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
@pytest.mark.parametrize(
    "trust",
    [None, {"verify": False}, {"evaluators": {"*": "disabled"}}],
    ids=["system", "unverified", "disabled"],
)
def test_an_https_proxy_is_always_verified(
    client: carpool.Client, squid: Squid, nginx: Nginx, authority: Authority, origin: ScriptedOrigin, host: str,
    trust: Any,
) -> None:  # fmt: skip
    """What is accepted of the origin is not accepted of the proxy; its certificate is for localhost."""
    if host == "127.0.0.1":
        trust = {"ca_file": str(authority.ca_file), **({} if trust is None or "verify" in trust else trust)}
    params = {"proxy": f"https://{host}:{squid.secure}"} | ({"trust": trust} if trust else {})
    for url in [origin.url, nginx.https]:
        assert failure(client, url, **params) == "session_task_failed.proxy.secure_connection_failed"
    assert not origin.requests


def test_an_evaluator_judges_the_origin_behind_an_https_proxy(
    client: carpool.Client, squid: Squid, nginx: Nginx, authority: Authority
) -> None:
    pins = {"public_keys": {"pins": ["sha256//" + "A" * 43 + "="]}}
    trust = {"ca_file": str(authority.ca_file), "evaluators": {"127.0.0.1": pins, "localhost": "default"}}
    proxy = f"https://localhost:{squid.secure}"
    record = perform(client, nginx.https, proxy=proxy, trust=trust)
    assert record["outcome"]["error"]["name"].startswith("server_trust_evaluation_failed")
    accepted = {"ca_file": str(authority.ca_file), "evaluators": {"127.0.0.1": "default"}}
    assert perform(client, f"{nginx.https}/hello.txt", proxy=proxy, trust=accepted)["outcome"]["ok"]


@pytest.mark.parametrize(
    ("days", "is_known", "name"),
    [
        (-1, True, "server_certificate_has_bad_date"),
        (2, False, "server_certificate_has_unknown_root"),
        (2, True, None),
    ],
)
@pytest.mark.parametrize("kind", ["https", "http"])
def test_an_origin_that_is_not_trusted_behind_an_https_proxy(
    client: carpool.Client, squid: Squid, authority: Authority, tmp_path: Path, kind: str, days: int, is_known: bool,
    name: str | None,
) -> None:  # fmt: skip
    """The reason is the origin's, and not that of a connection that may succeed later."""
    issuer = authority if is_known else Authority(tmp_path / "other")
    origin = ScriptedOrigin(issuer.issue(f"behind-{days}", days=days))
    proxy = f"{kind}://localhost:{squid.secure if kind == 'https' else squid.plain}"
    try:
        for _ in range(2):
            record = perform(client, origin.url, proxy=proxy, **trusting(authority))
            error = record["outcome"].get("error")
            assert (error and error["name"]) == (name and f"session_task_failed.{name}")
            if error:
                assert error["retryable"] is (name == "server_certificate_has_bad_date")
                assert "SSL certificate problem" in error["message"]
        trust = {**trusting(authority)["trust"], "evaluators": {"127.0.0.1": "disabled"}}
        assert perform(client, origin.url, proxy=proxy, trust=trust)["outcome"]["ok"]
    finally:
        origin.stop()


def test_an_origin_without_tls_behind_an_https_proxy(
    client: carpool.Client, squid: Squid, authority: Authority, nginx: Nginx
) -> None:
    """TLS with the proxy was made: the failure is that of the origin."""
    url = nginx.http.replace("http:", "https:")
    for kind, port in [("https", squid.secure), ("http", squid.plain)]:
        name = failure(client, url, proxy=f"{kind}://localhost:{port}", **trusting(authority))
        assert name == "session_task_failed.secure_connection_failed"


def test_no_tls_session_is_resumed_with_an_https_proxy(client: carpool.Client, authority: Authority) -> None:
    """An origin of the same host and port would resume the session of the proxy, without its own certificate."""
    server = ScriptedOrigin(authority.issue("resuming"))
    resumed: list[bool] = []

    def answer(exchange: Exchange) -> None:
        resumed.append(exchange.is_resumed)
        exchange.reply()

    for target in ["/direct", "http://origin.test/proxied"]:
        server.on(target, answer)
    try:
        url = server.url.replace("127.0.0.1", "localhost")
        for _ in range(3):
            assert perform(client, f"{url}/direct", **trusting(authority))["outcome"]["ok"]
            client.call("pool.flush")
        # libcurl 7.88.1 resumes none; 8.14.1 does, so that the lines below show something.
        assert resumed == [False, *[client.call("daemon.info")["libcurl"]["profile"] == "multiplex"] * 2]
        for _ in range(3):
            assert perform(client, "http://origin.test/proxied", proxy=url, **trusting(authority))["outcome"]["ok"]
            client.call("pool.flush")
        assert resumed[3:] == [False] * 3
    finally:
        server.stop()


# MARK: SOCKS


@pytest.mark.parametrize("kind", ["socks5", "socks5h", "socks4", "socks4a", "socks"])
def test_socks(
    client: carpool.Client, socks: Socks, nginx: Nginx, authority: Authority, origin: ScriptedOrigin, kind: str
) -> None:
    port = socks.plain if kind.startswith("socks5") else socks.four
    proxy = {"proxy": f"{kind}://127.0.0.1:{port}"}
    for url in [origin.url, f"{nginx.https}/hello.txt"]:
        records = [perform(client, url, **proxy, **trusting(authority)) for _ in range(2)]
        assert [record["outcome"]["ok"] for record in records] == [True, True], records[0]["outcome"]
        assert hops(records[1])[0]["reused"]
        assert hops(records[0])[0]["remote"] == f"127.0.0.1:{port}"


@pytest.mark.parametrize("kind", ["socks5", "socks5h", "socks4", "socks4a"])
def test_who_resolves_the_host_of_socks(
    client: carpool.Client, socks: Socks, origin: ScriptedOrigin, kind: str
) -> None:
    """The daemon has another address for localhost than the proxy."""
    port = socks.plain if kind.startswith("socks5") else socks.four
    addresses = {"resolve": [f"localhost:{origin.port}:127.0.0.9"]}
    record = perform(
        client, f"http://localhost:{origin.port}/", proxy=f"{kind}://127.0.0.1:{port}", addresses=addresses
    )
    assert record["outcome"]["ok"] is kind.endswith(("h", "a")), record["outcome"]


def test_socks_with_a_password(client: carpool.Client, socks: Socks, origin: ScriptedOrigin) -> None:
    proxy = f"127.0.0.1:{socks.basic}"
    assert perform(client, origin.url, proxy=f"socks5h://{USER}:{PASSWORD}@{proxy}")["outcome"]["ok"]
    for user in ["", f"{USER}:wrong@", f"{USER}:{'x' * 256}@"]:
        assert failure(client, origin.url, proxy=f"socks5h://{user}{proxy}") == NEEDS_USER
    assert len(origin.requests) == 1


def test_the_codes_of_socks(client: carpool.Client, socks: Socks, nginx: Nginx) -> None:
    name = failure(client, "http://127.0.0.1:1/", proxy=f"socks5h://127.0.0.1:{socks.plain}")
    assert name == "session_task_failed.proxy.connection_refused"
    name = failure(client, "http://127.0.0.1:1/", proxy=f"socks4a://127.0.0.1:{socks.four}")
    assert name == "session_task_failed.proxy.request_rejected"
    name = failure(client, "http://127.0.0.1:1/", proxy=nginx.http.replace("http", "socks5h"))
    assert name == "session_task_failed.proxy.bad_response"


def test_an_http_proxy_behind_a_socks_proxy(
    client: carpool.Client, socks: Socks, squid: Squid, origin: ScriptedOrigin
) -> None:
    preproxy = f"socks5h://127.0.0.1:{socks.plain}"
    proxy = {"all": {"url": f"http://{USER}:{PASSWORD}@127.0.0.1:{squid.basic}", "preproxy": preproxy}}
    record = perform(client, f"{origin.url}/behind", proxy=proxy)
    assert record["outcome"]["ok"]
    assert hops(record)[0]["remote"] == f"127.0.0.1:{socks.plain}"
    assert squid.log("/behind", 1)[0][3] == USER
