"""The proxies of sessions: as others see them, and with the options and variables of the command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.command import OK, runner
from harness.declared import declaring
from harness.process import persistently
from origins.authority import Authority
from origins.nginx import Nginx
from origins.proxies import NEEDS_USER, PASSWORD, USER, Squid, Tinyproxy, failure, perform, trusting
from origins.scripted import ScriptedOrigin

SECRET = "pass-of-the-session"


@pytest.mark.parametrize(
    ("proxy", "shown"),
    [
        ("proxy.test:3128", {"all": {"url": "http://proxy.test:3128"}}),
        (f"ada:{SECRET}@proxy.test", {"all": {"url": "http://proxy.test:1080", "username": "ada"}}),
        (
            {"http": f"socks5h://ada:{SECRET}@a", "https": "", "no_proxy": ["b", "10.0.0.0/8"]},
            {"http": {"url": "socks5h://a:1080", "username": "ada"}, "no_proxy": ["b", "10.0.0.0/8"]},
        ),
        (
            {"all": {"url": "https://a", "username": "ada", "password": SECRET, "schemes": ["digest"], "tunnel": True},
             "no_proxy": "a b, c"},
            {"all": {"url": "https://a:443", "username": "ada", "schemes": ["digest"], "tunnel": True},
             "no_proxy": "a b, c"},
        ),
        (
            {"https": {"url": "http://a:1", "preproxy": "socks5://b"}, "http": "http://c"},
            {"https": {"url": "http://a:1", "preproxy": "socks5://b:1080"}, "http": {"url": "http://c:1080"}},
        ),
        ({}, {}),
    ],
)  # fmt: skip
def test_a_session_shows_its_proxy_without_the_password(client: carpool.Client, proxy: Any, shown: Any) -> None:
    client.create_session("proxied", {"proxy": proxy})
    session = client.call("session.get", session="proxied")
    assert session["configuration"]["proxy"] == shown
    listed = client.call("session.list")["sessions"]
    assert [each["configuration"].get("proxy") for each in listed] == [None, shown]
    assert SECRET not in json.dumps([session, listed])
    # What is shown can be set.
    client.create_session("again", {"proxy": shown})
    assert client.call("session.get", session="again")["configuration"]["proxy"] == shown


@pytest.fixture(scope="module")
def tinyproxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tinyproxy]:
    place = tmp_path_factory.mktemp("tinyproxy")
    proxy = persistently(lambda number: Tinyproxy(place / str(number)))
    yield proxy
    proxy.stop()


def test_tinyproxy(
    client: carpool.Client, tinyproxy: Tinyproxy, nginx: Nginx, authority: Authority, origin: ScriptedOrigin
) -> None:
    server = {"url": f"http://127.0.0.1:{tinyproxy.port}", "username": USER}
    proxy = {"all": {**server, "password": tinyproxy.password}}
    for url in [origin.url, f"{nginx.https}/hello.txt", f"{nginx.https1}/hello.txt"]:
        record = perform(client, url, proxy=proxy, **trusting(authority))
        assert record["response"]["status"] == 200
    # It answers 401 to a wrong password, and 407 to none.
    for wrong, status in [({**server, "password": "wrong"}, 401), ({"url": server["url"]}, 407)]:
        assert failure(client, nginx.https, proxy={"all": wrong}, **trusting(authority)) == NEEDS_USER
        assert perform(client, origin.url, proxy={"all": wrong})["response"]["status"] == status


def test_doctor_shows_how_a_declared_proxy_is_used(start: StartDaemon, squid: Squid, tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text(PASSWORD)
    secret.chmod(0o600)
    server = {"url": f"http://127.0.0.1:{squid.basic}", "username": USER, "password": {"file": str(secret)}}
    sessions = {
        "basic": {"proxy": {"all": server, "no_proxy": ["localhost"]}},
        "digest": {"proxy": {"all": {**server, "schemes": ["digest"]}}},
        "socks": {"proxy": f"socks5h://{USER}:{PASSWORD}@127.0.0.1:9"},
    }
    daemon = start(config=declaring(**sessions))
    run = runner({**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket)}, tmp_path)
    place = f"http://127.0.0.1:{squid.basic}"
    for name, url, expected in [
        ("basic", "http://example.com/", f"{place}, as ada, basic (session)"),
        ("basic", "https://example.com/", f"{place}, as ada, basic, by a tunnel (session)"),
        ("basic", "https://localhost/", "none: the host is in no_proxy (session)"),
        ("digest", "http://example.com/", f"{place}, as ada, digest (session)"),
        ("socks", "https://example.com/", "socks5h://127.0.0.1:9, as ada (session)"),
    ]:
        done = run("doctor", "--session", name, url)
        assert f"proxy        {expected}\n" in done.stdout.decode()
        assert PASSWORD.encode() not in done.stdout


@pytest.mark.parametrize(
    ("variables", "options", "place"),
    [
        ({}, [], "session"),
        ({"http_proxy": "http://127.0.0.1:1"}, [], "session"),
        ({"no_proxy": "127.0.0.1"}, [], "session"),
        ({}, ["--noproxy", "127.0.0.1"], None),
        ({}, ["--noproxy", "*"], None),
        ({}, ["--noproxy", "localhost"], "session"),
        ({"http_proxy": "http://127.0.0.1:1"}, ["--noproxy", "127.0.0.1"], None),
        ({}, ["-x", ""], None),
        ({}, ["-x", "GOOD"], "command line"),
        ({}, ["-x", "GOOD", "--noproxy", "127.0.0.1"], None),
    ],
)
def test_what_takes_precedence_over_the_proxy_of_default(
    start: StartDaemon, squid: Squid, origin: ScriptedOrigin, tmp_path: Path, variables: dict[str, str],
    options: list[str], place: str | None,
) -> None:  # fmt: skip
    """`default` has a proxy, but not for localhost."""
    good = f"http://127.0.0.1:{squid.plain}"
    daemon = start(config=declaring(default={"proxy": {"all": good, "no_proxy": ["localhost"]}}))
    run = runner({**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket), **variables}, tmp_path)
    options = [option.replace("GOOD", good) for option in options]
    done = run("get", "-v", *options, origin.url)
    assert done.returncode == OK, done.stderr
    assert (f"proxy {good}" in done.stderr.decode()) is (place is not None)
    line = next(line for line in run("doctor", *options, origin.url).stdout.decode().splitlines() if "proxy  " in line)
    assert line.startswith(f"proxy        {good if place else 'none'}"), line
    assert line.endswith(f"({place})" if place else "(command line)"), line


def test_the_exceptions_of_python_are_those_of_the_session_too(
    client: carpool.Client, squid: Squid, origin: ScriptedOrigin, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.create_session("proxied", {"proxy": f"http://127.0.0.1:{squid.plain}"})
    for variable in ["", "http://127.0.0.1:1"]:
        monkeypatch.setenv("http_proxy", variable)
        client.get(f"{origin.url}/python-exempt", session="proxied", proxies={"no_proxy": "127.0.0.1"})
        client.get(f"{origin.url}/python-proxied", session="proxied", proxies={"no_proxy": "localhost"})
        client.get(f"{origin.url}/python-exempt", proxies={"no_proxy": "127.0.0.1"})
    assert len(squid.log("/python-proxied", 2)) == 2
    assert not squid.log("/python-exempt", 0)
