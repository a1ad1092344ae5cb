"""The proxies of the command and of the Python client: their options, and the variables of their environment."""

from __future__ import annotations

from pathlib import Path

import carpool
import pytest
from harness.command import OK, TRANSFER_FAILED, Run, runner
from harness.daemon import Daemon
from origins.authority import Authority
from origins.nginx import Nginx
from origins.proxies import PASSWORD, USER, Socks, Squid
from origins.scripted import ScriptedOrigin


def test_the_command(run: Run, squid: Squid, socks: Socks, origin: ScriptedOrigin) -> None:
    origin.on("/by-command", lambda exchange: exchange.reply(body=b"done"))
    url = f"{origin.url}/by-command"
    for options in [
        ["-x", f"http://127.0.0.1:{squid.plain}"],
        ["--proxy", f"127.0.0.1:{squid.basic}", "--proxy-user", f"{USER}:{PASSWORD}"],
        ["-x", f"127.0.0.1:{squid.basic}", "-U", f"{USER}:{PASSWORD}", "-p"],
        ["-x", f"127.0.0.1:{squid.basic}", "-U", f"{USER}:{PASSWORD}", "--proxy-digest"],
        ["-x", f"127.0.0.1:{squid.basic}", "-U", f"{USER}:{PASSWORD}", "--proxy-anyauth", "-p"],
        ["--socks5-hostname", f"127.0.0.1:{socks.plain}"],
        ["--socks4a", f"127.0.0.1:{socks.four}"],
        ["-x", f"127.0.0.1:{squid.plain}", "--preproxy", f"socks5://127.0.0.1:{socks.plain}"],
    ]:
        done = run("get", *options, url)
        assert (done.returncode, done.stdout) == (OK, b"done"), (options, done.stderr)
        assert b"proxy" in run("get", "-v", *options, url).stderr


@pytest.mark.parametrize(
    ("variables", "options", "is_proxied"),
    [
        ({"http_proxy": "GOOD"}, [], True),
        ({"all_proxy": "GOOD"}, [], True),
        ({"ALL_PROXY": "GOOD"}, [], True),
        ({"HTTP_PROXY": "GOOD"}, [], False),
        ({"https_proxy": "GOOD"}, [], False),
        ({"http_proxy": "GOOD", "no_proxy": "127.0.0.1"}, [], False),
        ({"http_proxy": "GOOD", "NO_PROXY": "127.0.0.0/8"}, [], False),
        ({"http_proxy": "GOOD", "no_proxy": "127.0.0.1"}, ["--noproxy", ""], True),
        ({"http_proxy": "GOOD"}, ["--noproxy", "127.0.0.1"], False),
        ({"http_proxy": "GOOD"}, ["-x", ""], False),
        ({"no_proxy": "127.0.0.1"}, ["-x", "GOOD"], False),
        ({"http_proxy": "http://127.0.0.1:1"}, ["-x", "GOOD"], True),
        ({"http_proxy": "http://127.0.0.1:1"}, ["--session", "proxied"], True),
        ({"http_proxy": "GOOD"}, ["--session", "plain"], True),
        ({}, ["--session", "proxied"], True),
    ],
)
def test_the_command_has_the_variables_of_its_environment(
    client: carpool.Client, daemon: Daemon, variables: dict[str, str], options: list[str], is_proxied: bool,
    squid: Squid, origin: ScriptedOrigin, tmp_path: Path,
) -> None:  # fmt: skip
    good = f"http://127.0.0.1:{squid.plain}"
    client.create_session("proxied", {"proxy": good})
    client.create_session("plain", {"headers": {"X-Plain": "1"}})
    environment = {name: value.replace("GOOD", good) for name, value in variables.items()}
    run = runner({**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket), **environment}, tmp_path)
    done = run("get", "-v", *[option.replace("GOOD", good) for option in options], origin.url)
    assert done.returncode == OK, done.stderr
    assert (f":{squid.plain}".encode() in done.stderr) is is_proxied, done.stderr
    report = run("doctor", *[option.replace("GOOD", good) for option in options], origin.url).stdout.decode()
    line = next(line for line in report.splitlines() if line.startswith("proxy "))
    assert (good in line) is is_proxied, line


@pytest.mark.parametrize("bad", ["ftp://proxy", "http://a b", "http://", "http://:0", "nonsense://x"])
def test_a_bad_variable_fails_only_requests_that_need_it(
    daemon: Daemon, squid: Squid, nginx: Nginx, authority: Authority, origin: ScriptedOrigin, bad: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    origin.on("/secure", lambda exchange: exchange.reply(302, headers=[("Location", f"{nginx.https}/hello.txt")]))
    good = f"http://127.0.0.1:{squid.plain}"
    variables = {"http_proxy": good, "https_proxy": bad}
    run = runner({**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket), **variables}, tmp_path)
    done = run("get", "-v", origin.url)
    assert (done.returncode, good.encode() in done.stderr) == (OK, True), done.stderr
    trust = ["--cacert", str(authority.ca_file)]
    # Nothing is sent without the proxy, also after a redirect.
    for url in [f"{nginx.https}/hello.txt", f"{origin.url}/secure"]:
        done = run("get", *trust, url)
        assert done.returncode == TRANSFER_FAILED
        assert b"the proxy of https URLs in the environment" in done.stderr
        assert b"https_proxy" in done.stderr
        assert run("get", *trust, "--noproxy", "127.0.0.1", url).returncode == OK
        assert run("get", *trust, "-x", good, url).returncode == OK
    assert run("doctor", f"{nginx.https}/hello.txt").returncode != OK
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with daemon.client() as client:
        client.create_session("proxied", {"proxy": good})
        assert client.get(origin.url).status_code == 200
        for url in [f"{nginx.https}/hello.txt", f"{origin.url}/secure"]:
            with pytest.raises(carpool.ProxyError, match="https URLs in the environment"):
                client.get(url, verify=authority.ca_file)
            assert client.get(url, verify=authority.ca_file, session="proxied").status_code == 200


def test_a_path_in_a_variable_has_no_effect(
    daemon: Daemon, squid: Squid, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    variables = {"http_proxy": f"http://127.0.0.1:{squid.plain}/path?query#fragment"}
    run = runner({**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket), **variables}, tmp_path)
    done = run("get", "-v", origin.url)
    assert (done.returncode, f":{squid.plain}".encode() in done.stderr) == (OK, True), done.stderr


@pytest.mark.parametrize("scheme", ["", "http://"])
def test_the_user_in_the_url_takes_precedence_over_that_of_the_option(
    daemon: Daemon, squid: Squid, origin: ScriptedOrigin, tmp_path: Path, scheme: str
) -> None:
    own = f"{scheme}{USER}:{PASSWORD}@127.0.0.1:{squid.basic}"
    run = runner({**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket), "http_proxy": own}, tmp_path)
    tag = f"/precedence-{len(scheme)}"
    assert run("get", "-f", "-x", own, "-U", "other:word", f"{origin.url}{tag}").returncode == OK
    assert run("get", "-f", "-U", "other:word", f"{origin.url}{tag}").returncode == OK
    assert [line[3] for line in squid.log(tag, 2)] == [USER, USER]


def test_python_has_the_arguments_of_requests_and_the_environment(
    daemon: Daemon, squid: Squid, origin: ScriptedOrigin, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = f"http://127.0.0.1:{squid.plain}"
    with daemon.client() as client:
        client.get(f"{origin.url}/of-requests-1", proxies={"http": good})
        monkeypatch.setenv("http_proxy", good)
        client.get(f"{origin.url}/of-requests-2")
        client.get(f"{origin.url}/of-requests-3", proxies={})
        client.get(f"{origin.url}/of-requests-direct", proxy={})
        client.get(f"{origin.url}/of-requests-direct", proxies={"all": None})
        client.get(f"{origin.url}/of-requests-direct", proxies={"http": None})
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        client.get(f"{origin.url}/of-requests-direct")
        monkeypatch.setenv("no_proxy", "")
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        with pytest.raises(carpool.ProxyError):
            client.get(origin.url)
    assert len(squid.log("/of-requests-", 3)) == 3
    assert len(origin.received(7)) == 7
