"""HTTPS and SOCKS proxies."""

from __future__ import annotations

from typing import Any

import carpool
import pytest
from origins.authority import Authority
from origins.nginx import Nginx
from origins.proxies import NEEDS_USER, PASSWORD, USER, Socks, Squid, failure, hops, perform, trusting
from origins.scripted import ScriptedOrigin

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
