"""The authorities of the caller's environment: in the Python client, its adapters, the command and `doctor`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import carpool
import httpx
import httpx2
import pytest
import requests
from carpool import httpx as httpx_transports
from carpool import httpx2 as httpx2_transports
from carpool.requests import CarpoolAdapter
from harness.command import OK, RPC_ERROR, TRANSFER_FAILED, Run, runner
from harness.daemon import Daemon
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin

FILES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
SYSTEM = "/etc/ssl/certs/ca-certificates.crt"
UNKNOWN = "session_task_failed.server_certificate_has_unknown_root"


def by_client(daemon: Daemon, url: str, **options: Any) -> int:
    with daemon.client() as client:
        return int(client.get(url, **options).status_code)


def by_loop(daemon: Daemon, url: str, **options: Any) -> int:
    async def get() -> int:
        async with carpool.AsyncClient(daemon.socket) as client:
            return int((await client.get(url, **options)).status_code)

    return asyncio.run(get())


def by_stream(daemon: Daemon, url: str, **options: Any) -> int:
    with daemon.client() as client, client.get(url, stream=True, **options) as stream:
        stream.read()
        return stream.status_code


def by_submit(daemon: Daemon, url: str, **options: Any) -> int:
    with daemon.client() as client:
        return client.wait(client.submit("GET", url, **options)).status_code


Get = Callable[..., int]


@pytest.fixture(params=[by_client, by_loop, by_stream, by_submit])
def get(request: pytest.FixtureRequest, daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> Get:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    return lambda url, **options: request.param(daemon, url, **options)


@pytest.fixture
def places(tmp_path: Path, authority: Authority) -> dict[str, str]:
    """The authority of the tests, in each way to name it; and what does not lead to it."""
    store, empty = tmp_path / "store", tmp_path / "empty"
    for folder in (store, empty):
        folder.mkdir()
    (store / "ca.pem").write_bytes(authority.ca_file.read_bytes())
    large = tmp_path / "large.pem"
    large.write_bytes(authority.ca_file.read_bytes() * 20)
    bad = tmp_path / "bad.pem"
    bad.write_text("no certificate\n")
    return {
        "short": str(authority.ca_file),
        "large": str(large),
        "store": str(store),
        "list": f"{tmp_path}/none:{store}",
        "bad": str(bad),
        "none": str(tmp_path / "none.pem"),
        "system": SYSTEM,
    }


GOOD = [
    *({name: kind} for name in FILES for kind in ("short", "large", "store")),
    {"SSL_CERT_DIR": "store"},
    {"SSL_CERT_DIR": "list"},
    # The order, which is that of requests, of curl and of OpenSSL.
    {"REQUESTS_CA_BUNDLE": "short", "CURL_CA_BUNDLE": "none"},
    {"CURL_CA_BUNDLE": "short", "SSL_CERT_FILE": "none"},
    {"SSL_CERT_FILE": "short", "SSL_CERT_DIR": "none"},
    {"REQUESTS_CA_BUNDLE": "", "CURL_CA_BUNDLE": "short"},
]


@pytest.mark.parametrize("variables", GOOD, ids=str)
def test_a_client_trusts_the_authorities_of_its_environment(
    get: Get, nginx: Nginx, places: dict[str, str], monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    url = f"{nginx.https}/hello.txt"
    with pytest.raises(carpool.CertificateError):
        get(url)
    for name, kind in variables.items():
        monkeypatch.setenv(name, places.get(kind, ""))
    assert get(url) == get(url, verify=True) == 200
    for name in variables:
        monkeypatch.delenv(name)
    with pytest.raises(carpool.CertificateError):
        get(url)


def by_httpx(url: str) -> int:
    with httpx.Client(transport=httpx_transports.CarpoolTransport()) as client:
        return client.get(url).status_code


def by_httpx2(url: str) -> int:
    with httpx2.Client(transport=httpx2_transports.CarpoolTransport()) as client:
        return client.get(url).status_code


LISTS = ["{store}:{empty}:{none}", "{empty}:{store}", "{none}:{store}:{empty}:{store}:", "/etc/ssl/certs:{store}"]


@pytest.mark.parametrize("places_of_list", LISTS)
def test_all_directories_of_a_list_are_read(
    get: Get, daemon: Daemon, nginx: Nginx, places: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    places_of_list: str,
) -> None:  # fmt: skip
    url = f"{nginx.https}/hello.txt"
    folders = places_of_list.format(store=places["store"], empty=tmp_path / "empty", none=tmp_path / "none")
    monkeypatch.setenv("SSL_CERT_DIR", folders)
    for send in (get, by_httpx, by_httpx2):
        assert send(url) == 200
    done = of(daemon, tmp_path, {"SSL_CERT_DIR": folders})("get", url)
    assert done.returncode == OK, done.stderr


def test_directories_without_certificates_are_an_error_that_names_the_variable(
    client: carpool.Client, daemon: Daemon, nginx: Nginx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    monkeypatch.setenv("SSL_CERT_DIR", ":".join(map(str, folders)))
    url = f"{nginx.https}/hello.txt"
    with pytest.raises(carpool.InvalidParamsError, match=r"holds no certificate in PEM.*SSL_CERT_DIR"):
        client.get(url)
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    for send in (by_httpx, by_httpx2):
        with pytest.raises((httpx.TransportError, httpx2.TransportError), match=r"holds no certificate.*SSL_CERT_DIR"):
            send(url)
    done = of(daemon, tmp_path, {"SSL_CERT_DIR": ":".join(map(str, folders))})("get", url)
    assert done.returncode == RPC_ERROR
    assert b"SSL_CERT_DIR" in done.stderr


def test_arguments_and_sessions_take_precedence(
    client: carpool.Client, nginx: Nginx, places: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{nginx.https}/hello.txt"
    monkeypatch.setenv("SSL_CERT_FILE", places["short"])
    for options in ({"verify": SYSTEM}, {"trust": "system"}, {"trust": {"ca_file": SYSTEM}}):
        with pytest.raises(carpool.CertificateError):
            client.get(url, **options)
    client.create_session("system", {"trust": "system"})
    with pytest.raises(carpool.CertificateError):
        client.get(url, session="system")
    named = {"ca_file": places["large"], "environment": "A"}
    explained = client.call("request.explain", url=url, session="system", trust=named)
    assert explained["trust"]["source"] == "session"
    assert client.get(url, trust={"evaluators": {"*": "default"}}).ok
    for bad in ("none", "bad"):
        monkeypatch.setenv("SSL_CERT_FILE", places[bad])
        assert client.get(url, verify=places["short"]).ok
        assert client.get(url, verify=False).ok


@pytest.mark.parametrize("kind", ["none", "bad"])
def test_a_bad_path_fails_only_requests_with_tls_and_names_the_variable(
    client: carpool.Client, nginx: Nginx, origin: ScriptedOrigin, places: dict[str, str],
    monkeypatch: pytest.MonkeyPatch, kind: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("CURL_CA_BUNDLE", places[kind])
    url = origin.on("/plain", lambda exchange: exchange.reply(body=b"plain"))
    assert client.get(url).content == b"plain"
    with pytest.raises(carpool.RPCError, match="CURL_CA_BUNDLE"):
        client.get(f"{nginx.https}/hello.txt")


def test_a_redirect_to_tls_has_them(
    client: carpool.Client, nginx: Nginx, origin: ScriptedOrigin, places: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("SSL_CERT_FILE", places["large"])
    url = origin.on("/to", lambda exchange: exchange.reply(302, headers=[("Location", f"{nginx.https}/hello.txt")]))
    assert client.get(url).url == f"{nginx.https}/hello.txt"


def test_the_system_s_authorities_are_no_setting_of_their_own(
    client: carpool.Client, nginx: Nginx, monkeypatch: pytest.MonkeyPatch
) -> None:
    def settings() -> Any:
        return client.call("request.explain", url=url, **options)["pool"]["settings"]

    url = f"{nginx.https}/hello.txt"
    options: dict[str, Any] = {"trust": {"ca_file": SYSTEM}}
    assert settings() == ["trust"]
    options["trust"]["environment"] = "SSL_CERT_FILE"
    assert settings() == []
    monkeypatch.setenv("SSL_CERT_FILE", SYSTEM)
    with pytest.raises(carpool.CertificateError):
        client.get(url)


def test_the_adapter_of_requests_reads_those_of_requests(
    daemon: Daemon, nginx: Nginx, places: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    url = f"{nginx.https}/hello.txt"
    with requests.Session() as session:
        session.mount("https://", CarpoolAdapter())
        for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
            monkeypatch.setenv(name, places["short"])
        with pytest.raises(requests.exceptions.SSLError):
            session.get(url)
        for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
            monkeypatch.setenv(name, places["short"])
            assert session.get(url).status_code == 200
            monkeypatch.delenv(name)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", places["short"])
        session.trust_env = False
        with pytest.raises(requests.exceptions.SSLError):
            session.get(url)


def of(daemon: Daemon, tmp_path: Path, variables: dict[str, str]) -> Run:
    return runner({**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket), **variables}, tmp_path)


@pytest.mark.parametrize("variables", GOOD, ids=str)
def test_the_command_trusts_the_authorities_of_its_environment(
    daemon: Daemon, nginx: Nginx, places: dict[str, str], tmp_path: Path, variables: dict[str, str]
) -> None:
    url = f"{nginx.https}/hello.txt"
    run = of(daemon, tmp_path, {name: places.get(kind, "") for name, kind in variables.items()})
    done = run("get", url)
    assert done.returncode == OK, done.stderr
    assert run("get", "--cacert", SYSTEM, url).returncode == TRANSFER_FAILED
    assert run("get", "-k", url).returncode == OK
    # Pins do not replace authorities, as in curl.
    pin = run("pins", url.removeprefix("https://").partition("/")[0]).stdout.split()[0].decode()
    assert run("get", "--pinnedpubkey", pin, url).returncode == OK
    name, kind = next((name, kind) for name, kind in variables.items() if kind)
    line = next(line for line in run("doctor", url).stdout.decode().splitlines() if line.startswith("trust "))
    assert line == f"trust        {places['store' if kind == 'list' else kind]} (environment: {name})"


@pytest.mark.parametrize(
    ("variables", "is_trusted"),
    [
        ({"CURL_CA_BUNDLE": "short"}, True),
        ({"SSL_CERT_FILE": "large"}, True),
        ({"SSL_CERT_DIR": "store"}, True),
        ({"SSL_CERT_DIR": "list"}, True),
        ({"REQUESTS_CA_BUNDLE": "short"}, False),
    ],
    ids=str,
)
def test_carpool_curl_reads_the_variables_of_curl(
    daemon: Daemon, nginx: Nginx, places: dict[str, str], tmp_path: Path, variables: dict[str, str], is_trusted: bool
) -> None:
    run = of(daemon, tmp_path, {name: places[kind] for name, kind in variables.items()})
    assert run("curl", "-sS", f"{nginx.https}/hello.txt").returncode == (0 if is_trusted else 60)


@pytest.mark.parametrize("kind", ["none", "bad"])
def test_the_command_names_the_variable_of_a_bad_path(
    daemon: Daemon, nginx: Nginx, origin: ScriptedOrigin, places: dict[str, str], tmp_path: Path, kind: str
) -> None:
    run = of(daemon, tmp_path, {"SSL_CERT_FILE": places[kind]})
    done = run("get", f"{nginx.https}/hello.txt")
    assert done.returncode == RPC_ERROR
    assert b"SSL_CERT_FILE" in done.stderr
    assert b"--cacert" not in done.stderr
    assert run("get", origin.on("/plain", lambda exchange: exchange.reply())).returncode == OK
    assert run("pins", f"127.0.0.1:{nginx.https.rpartition(':')[2]}").returncode == OK


def test_the_command_leaves_the_trust_of_a_session(
    client: carpool.Client, daemon: Daemon, nginx: Nginx, places: dict[str, str], tmp_path: Path
) -> None:
    client.create_session("system", {"trust": {"ca_file": SYSTEM}})
    run = of(daemon, tmp_path, {"SSL_CERT_FILE": places["short"]})
    assert run("get", "--session", "system", f"{nginx.https}/hello.txt").returncode == TRANSFER_FAILED
    report = run("doctor", "--session", "system", f"{nginx.https}/hello.txt").stdout.decode()
    assert f"trust        {SYSTEM} (session)" in report


@pytest.mark.parametrize(
    ("trust", "reason"),
    [
        ({"environment": "A"}, "no authorities"),
        ({"environment": "a b", "ca_pem": "x"}, "name of a variable"),
        ({"environment": "A", "verify": False}, "exclude each other"),
    ],
)
def test_wrong_members_are_refused(client: carpool.Client, nginx: Nginx, trust: dict[str, Any], reason: str) -> None:
    with pytest.raises(carpool.InvalidParamsError, match=reason):
        client.get(nginx.https, trust=trust)


@pytest.mark.parametrize("authorities", [SYSTEM, "own"])
def test_evaluators_are_not_replaced_by_the_trust_of_a_session(
    client: carpool.Client, nginx: Nginx, authority: Authority, authorities: str
) -> None:
    file = str(authority.ca_file) if authorities == "own" else authorities
    client.create_session("trusting", {"trust": {"ca_file": str(authority.ca_file)}})
    wrong = {"*": {"public_keys": {"pins": ["sha256//" + "A" * 43 + "="]}}}
    trust = {"ca_file": file, "environment": "SSL_CERT_FILE", "evaluators": wrong}
    with pytest.raises(carpool.InvalidParamsError, match="environment and evaluators") as caught:
        client.get(nginx.https, session="trusting", trust=trust)
    assert caught.value.data["path"] == "params.trust"
    del trust["environment"]
    with pytest.raises(carpool.CertificateError):
        client.get(nginx.https, session="trusting", trust=trust)
