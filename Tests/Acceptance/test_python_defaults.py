"""The arguments of a Python client, which are the defaults of its requests, and the functions of the module."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import Received, ScriptedOrigin, statuses


def ask(daemon: Daemon, origin: ScriptedOrigin, defaults: dict[str, Any], url: str = "/", **options: Any) -> Received:
    """Send a request of a client with these defaults, and return it as it came."""
    with daemon.client(**{"base_url": origin.url, **defaults}) as client:
        client.get(url, **options)
    return origin.requests[-1]


@pytest.mark.parametrize(
    ("path", "url", "target"),
    [
        ("", "/a", "/a"),
        ("", "a?b=c", "/a?b=c"),
        ("/api", "/a", "/api/a"),
        ("/api/", "a/b", "/api/a/b"),
        ("/api", "", "/api/"),
        ("/api", "//a", "/api/a"),
        ("/api", "?b=c", "/api/?b=c"),
        ("/api", "a?u=http://b/", "/api/a?u=http://b/"),
        ("/api", "{origin}/b", "/b"),
    ],
)
def test_a_relative_url_is_appended_to_the_base(
    daemon: Daemon, origin: ScriptedOrigin, path: str, url: str, target: str
) -> None:
    given = url.format(origin=origin.url) if "{" in url else url
    assert ask(daemon, origin, {"base_url": origin.url + path}, given).target == target


def test_header_fields_are_merged_by_name(daemon: Daemon, origin: ScriptedOrigin) -> None:
    defaults = {"headers": {"A": "1", "B": "2", "C": "3"}}
    came = ask(daemon, origin, defaults, headers={"b": "own", "C": None, "D": "4"})
    assert [came.values(name) for name in "ABCD"] == [["1"], ["own"], [], ["4"]]
    came = ask(daemon, origin, defaults, headers=None)
    assert came.values("A") == ["1"]
    came = ask(daemon, origin, defaults, headers=[("a", "x"), ("a", "y")])
    assert came.values("A") == ["x", "y"]


def test_params_are_merged_by_name(daemon: Daemon, origin: ScriptedOrigin) -> None:
    defaults = {"params": {"key": "k", "page": 1}}
    assert ask(daemon, origin, defaults).target == "/?key=k&page=1"
    assert ask(daemon, origin, defaults, "/?a=b", params={"page": 2}).target == "/?a=b&key=k&page=2"
    assert ask(daemon, origin, defaults, params={"key": None}).target == "/?page=1"
    assert ask(daemon, origin, defaults, params="x=y").target == "/?key=k&page=1&x=y"
    assert ask(daemon, origin, defaults, params={"a": [1]}, encoding="form").target == "/?key=k&page=1&a%5B%5D=1"


def test_auth_applies_unless_the_request_has_its_own(daemon: Daemon, origin: ScriptedOrigin) -> None:
    defaults = {"auth": ("a", "b")}
    assert ask(daemon, origin, defaults).values("Authorization") == ["Basic YTpi"]
    assert ask(daemon, origin, defaults, auth=("c", "d")).values("Authorization") == ["Basic Yzpk"]
    assert ask(daemon, origin, defaults, auth=None).values("Authorization") == []
    own = {"username": "e", "password": "f", "schemes": ["basic"], "preemptive": True}
    assert ask(daemon, origin, defaults, credential=own).values("Authorization") == ["Basic ZTpm"]


def test_cookies_are_merged_by_name(daemon: Daemon, origin: ScriptedOrigin) -> None:
    defaults = {"cookies": {"a": "1", "b": "2"}}
    cases: list[tuple[dict[str, Any], str]] = [({}, "a=1; b=2"), ({"cookies": {"b": "3", "c": "4"}}, "a=1; b=3; c=4")]
    for options, expected in cases:
        [field] = ask(daemon, origin, defaults, **options).values("Cookie")
        assert sorted(field.split("; ")) == expected.split("; ")
    here = [{"name": "d", "value": "5", "domain": "127.0.0.1"}]
    [field] = ask(daemon, origin, {"cookies": here}, cookies={"e": "6"}).values("Cookie")
    assert sorted(field.split("; ")) == ["d=5", "e=6"]


def test_redirects_and_retries(daemon: Daemon, origin: ScriptedOrigin) -> None:
    url = origin.on("/old", lambda exchange: exchange.reply(302, headers=[("Location", "/new")]))
    with daemon.client(follow_redirects=False, retry=1) as client:
        assert client.get(url).status_code == 302
        assert client.get(url, allow_redirects=True).status_code == 200
        assert client.get(url, redirect={"max_hops": 1}).status_code == 200
        failing = origin.on("/", statuses(503, 200, 503))
        assert client.get(failing).status_code == 200
        assert client.get(failing, retry=0).status_code == 503


def test_time_limits(daemon: Daemon, origin: ScriptedOrigin) -> None:
    limits: list[Any] = [{"timeout": 0.05}, {"total": 0.05}, {"timeout": (PATIENCE_SECONDS, 0.05)}]
    for number, defaults in enumerate(limits):
        path = f"/held{number}"
        gate = origin.hold(path)
        with daemon.client(**defaults) as client:
            request = client.submit("GET", f"{origin.url}{path}?patient", timeout=None, total=None)
            origin.received(1, f"{path}?patient")
            # This one begins later: the default would have ended the other one before.
            with pytest.raises(carpool.RequestTimeoutError):
                client.get(f"{origin.url}{path}", connect_timeout_ms=50_000)
            gate.set()
            assert client.wait(request, timeout=PATIENCE_SECONDS).text == "released"


def test_trust_and_versions(daemon: Daemon, nginx: Nginx, authority: Authority) -> None:
    with daemon.client(verify=authority.ca_file, http2=False) as client:
        assert client.get(f"{nginx.https}/hello.txt").http_version == "http/1.1"
        assert client.get(f"{nginx.https}/hello.txt", http_version="2").http_version == "h2"
        with pytest.raises(carpool.CertificateError):
            client.get(f"{nginx.https}/hello.txt", verify=True)
    profile = daemon.call("daemon.info")["libcurl"]["profile"]
    with daemon.client(verify=False, http2=True) as client:
        best = "h2" if profile == "multiplex" else "http/1.1"
        assert client.get(f"{nginx.https}/hello.txt").http_version == best


def test_proxies(daemon: Daemon, origin: ScriptedOrigin) -> None:
    with daemon.client(proxies={"all": "http://127.0.0.1:1"}) as client:
        with pytest.raises(carpool.ProxyError):
            client.get(origin.url)
        assert client.get(origin.url, proxy={}).ok
        assert client.get(origin.url, proxies=None).ok


def test_the_other_ways_to_send_a_request_have_the_defaults(
    daemon: Daemon, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    with daemon.client(base_url=origin.url, headers={"A": "1"}) as client:
        client.wait(client.submit("GET", "/submit"))
        client.download("/download", tmp_path / "file")
        client.upload("/upload", iter([b"a"]))
        with client.stream("GET", "/stream") as stream:
            stream.read()
    assert [(came.target, came.values("A")) for came in origin.requests] == [
        (f"/{name}", ["1"]) for name in ("submit", "download", "upload", "stream")
    ]


def test_the_asynchronous_client_has_them_too(daemon: Daemon, origin: ScriptedOrigin) -> None:
    async def main() -> None:
        async with carpool.AsyncClient(daemon.socket, base_url=f"{origin.url}/api", params={"a": "b"}) as client:
            await client.get("c", headers={"D": "e"})

    asyncio.run(main())
    assert (origin.requests[-1].target, origin.requests[-1].values("D")) == ("/api/c?a=b", ["e"])


def test_a_default_is_no_attribute(client: carpool.Client) -> None:
    untyped: Any = client
    for name in ("timeout", "verify", "base_url"):
        with pytest.raises(AttributeError, match=rf"pass {name}= to Client\(\), or to a request"):
            getattr(untyped, name)
        with pytest.raises(AttributeError, match=rf"pass {name}= to Client\(\), or to a request"):
            setattr(untyped, name, {})


FUNCTIONS = """
import sys, threading
import carpool
url = sys.argv[1]
for name in ("get", "head", "post", "put", "patch", "delete", "options"):
    response = getattr(carpool, name)(url, params={"a": name})
    assert response.status_code == 200, response
    assert carpool.request(name.upper(), url).ok
with carpool.get(url, stream=True) as stream:
    assert stream.read()
assert len(carpool._functions._made) == 1
"""


def test_the_functions_of_the_module_share_a_client(
    daemon: Daemon, variables: dict[str, str], origin: ScriptedOrigin
) -> None:
    subprocess.run(
        [sys.executable, "-W", "error", "-c", FUNCTIONS, origin.url],
        env={**variables, "PYTHONPATH": ":".join(sys.path)},
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    assert [came.target for came in origin.requests[:4:2]] == ["/?a=get", "/?a=head"]
    assert {came.method for came in origin.requests} == {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
    assert daemon.is_idle()


def test_the_functions_have_the_arguments_of_the_methods(client: carpool.Client) -> None:
    with pytest.raises(TypeError, match="did you mean headers"):
        carpool.get("http://127.0.0.1/", header={})  # type: ignore[arg-type]
    assert carpool.get.__doc__ == client.get.__doc__


# Methods of a client for which there is no function.
METHODS = ["call", "create_session", "download", "events", "reachability", "register"]
METHODS += ["serve", "submit", "subscribe", "upload", "wait"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Session", "Client"),
        ("HTTPError", "HTTPStatusError"),
        ("Timeout", "RequestTimeoutError"),
        ("exceptions", "the classes of the package itself, such as carpool.CarpoolError"),
        ("codes", "numbers, or http.HTTPStatus"),
        ("session", "Client"),
        ("TooManyRedirects", "TransferError, whose name is session_task_failed.http_too_many_redirects"),
        ("InvalidURL", "RequestError, whose name is invalid_url"),
        ("JSONDecodeError", "json.JSONDecodeError for json"),
        ("HTTPDigestAuth", "DigestAuth"),
        ("Limits", "the configuration of the daemon"),
        ("URL", "str"),
        ("Request", "request"),
        ("ReadError", "TransferError"),
        *((name, f"{name} of a Client") for name in METHODS),
        ("nonsense", None),
    ],
)
def test_a_name_that_the_package_does_not_have_is_refused_with_ours(name: str, meant: str | None) -> None:
    with pytest.raises(AttributeError, match=f"use {meant}" if meant else "no attribute 'nonsense'"):
        getattr(carpool, name)
    assert name not in METHODS or hasattr(carpool.Client, name)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("mount", "use retry= or proxies=, or addresses= of a request"),
        ("send", r"use request\(method, url\)"),
        ("build_request", r"use request\(method, url\), which sends it too"),
        ("is_closed", "a client that was closed connects again at its next call"),
    ],
)
def test_a_member_that_a_client_does_not_have_is_refused_with_advice(name: str, advice: str) -> None:
    for client in (carpool.Client(), carpool.AsyncClient()):
        with pytest.raises(AttributeError, match=f"{type(client).__name__} has no attribute '{name}': {advice}"):
            getattr(client, name)


def test_what_closes_is_named_by_the_other_client_too(daemon: Daemon, origin: ScriptedOrigin) -> None:
    async def main() -> None:
        async with carpool.AsyncClient(daemon.socket) as own, own.stream("GET", origin.url) as stream:
            for each in (own, stream):
                with pytest.raises(AttributeError, match=f"{type(each).__name__} has no attribute 'close': use aclose"):
                    each.close  # type: ignore[union-attr]  # noqa: B018, an attribute that does not exist

    with daemon.client() as client, pytest.raises(AttributeError, match="no attribute 'aclose': use close"):
        client.aclose  # type: ignore[attr-defined]  # noqa: B018, as above
    asyncio.run(main())


def test_a_response_has_a_content_in_place_of_these(client: carpool.Client, origin: ScriptedOrigin) -> None:
    response = client.get(origin.url)
    for name, advice in (("read", "use content, or"), ("body", "use content"), ("close", "there is nothing to close")):
        with pytest.raises(AttributeError, match=f"Response has no attribute '{name}': {advice}"):
            getattr(response, name)
    with client.get(origin.url, stream=True) as stream:
        with pytest.raises(AttributeError, match=r"Stream has no attribute 'body': use read\(\)"):
            stream.body  # type: ignore[attr-defined]  # noqa: B018, as above
        assert stream.read() == response.content
