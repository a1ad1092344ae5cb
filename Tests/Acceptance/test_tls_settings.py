"""The versions and ciphers of TLS that a request accepts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import carpool
import pytest
from harness.command import Run
from origins.authority import Authority
from origins.tlsserver import TLSServer

Serve = Callable[..., TLSServer]
WEAK = "DEFAULT@SECLEVEL=0"


@pytest.fixture
def serve(authority: Authority) -> Iterator[Serve]:
    """Start a TLS server with these options."""
    servers: list[TLSServer] = []

    def begin(*arguments: str) -> TLSServer:
        servers.append(TLSServer(authority.issue("tls"), *arguments))
        return servers[-1]

    yield begin
    for server in servers:
        server.stop()


def perform(client: carpool.Client, server: TLSServer, authority: Authority, **tls: str) -> dict[str, Any]:
    trust = {"ca_file": str(authority.ca_file)}
    record: dict[str, Any] = client.call("request.perform", url=server.url, trust=trust, tls=tls)
    return record


def version(record: dict[str, Any]) -> str | None:
    if not record["outcome"]["ok"]:
        return None
    used: str = record["attempts"][-1]["metrics"][-1]["tls"]["version"]
    return used


VERSIONS = ["1.0", "1.1", "1.2", "1.3"]
NAMES = {"1.0": "TLSv1", "1.1": "TLSv1.1", "1.2": "TLSv1.2", "1.3": "TLSv1.3"}


@pytest.mark.parametrize("offered", VERSIONS)
def test_each_range_of_versions_against_each_server(
    client: carpool.Client, authority: Authority, serve: Serve, offered: str
) -> None:
    option = "-tls1" if offered == "1.0" else f"-tls{offered.replace('.', '_')}"
    server = serve(option, "-cipher", "ALL:@SECLEVEL=0")
    for low in VERSIONS:
        for high in VERSIONS[VERSIONS.index(low) :]:
            expected = NAMES[offered] if low <= offered <= high else None
            record = perform(client, server, authority, min_version=low, max_version=high, ciphers=WEAK)
            assert version(record) == expected, (low, offered, high)
    assert version(perform(client, server, authority)) == (NAMES[offered] if offered >= "1.2" else None)


def test_old_versions_need_the_weak_security_level_and_the_hint_says_so(
    client: carpool.Client, authority: Authority, serve: Serve
) -> None:
    server = serve("-tls1", "-cipher", "ALL:@SECLEVEL=0")
    record = perform(client, server, authority, min_version="1.0")
    error = record["outcome"]["error"]
    assert error["name"] == "session_task_failed.secure_connection_failed"
    assert "@SECLEVEL=0" in error.get("hint", ""), error
    assert version(perform(client, server, authority, min_version="1.0", ciphers=WEAK)) == "TLSv1"


def test_ciphers(client: carpool.Client, authority: Authority, serve: Serve) -> None:
    server = serve("-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384")
    assert version(perform(client, server, authority, ciphers="ECDHE+AESGCM")) == "TLSv1.2"
    assert version(perform(client, server, authority, ciphers="ECDHE-ECDSA-CHACHA20-POLY1305")) is None
    newer = serve("-tls1_3", "-ciphersuites", "TLS_AES_256_GCM_SHA384")
    assert version(perform(client, newer, authority, tls13_ciphers="TLS_AES_256_GCM_SHA384")) == "TLSv1.3"
    assert version(perform(client, newer, authority, tls13_ciphers="TLS_CHACHA20_POLY1305_SHA256")) is None


@pytest.mark.parametrize(
    ("tls", "path"),
    [
        ({"min_version": "1.4"}, "params.tls.min_version"),
        ({"min_version": "1.3", "max_version": "1.2"}, "params.tls.max_version"),
        ({"max_version": "1.1"}, "params.tls.max_version"),
        ({"ciphers": "NO-SUCH-CIPHER"}, "params.tls.ciphers"),
        ({"ciphers": "a" * 1_001}, "params.tls.ciphers"),
        ({"tls13_ciphers": "NO_SUCH_SUITE"}, "params.tls.tls13_ciphers"),
        ({"cipher": "x"}, "params.tls.cipher"),
    ],
)
def test_bad_settings_are_refused_by_name(client: carpool.Client, tls: dict[str, str], path: str) -> None:
    with pytest.raises(carpool.InvalidParamsError) as caught:
        client.call("request.perform", url="https://127.0.0.1:1/", tls=tls)
    assert caught.value.data["path"] == path


def test_a_session_s_settings_and_the_command_s_options(
    client: carpool.Client, run: Run, authority: Authority, serve: Serve
) -> None:
    server = serve("-tls1_2")
    newest = {"trust": {"ca_file": str(authority.ca_file)}, "tls": {"min_version": "1.3"}}
    client.call("session.create", name="newest", configuration=newest)
    assert not client.call("request.perform", url=server.url, session="newest")["outcome"]["ok"]
    assert client.call("request.perform", url=server.url, session="newest", tls={})["outcome"]["ok"]
    assert client.call("session.get", session="newest")["configuration"]["tls"] == {"min_version": "1.3"}
    trusted = ("get", "--cacert", authority.ca_file, server.url)
    assert run(*trusted, "--tlsv1.2").returncode == 0
    assert run(*trusted, "--tlsv1.3").returncode != 0
    assert run(*trusted, "--tls-max", "1.2").returncode == 0
    assert run(*trusted, "--tls-max", "2").returncode == 2
    assert run(*trusted, "--ciphers", "ECDHE+AESGCM").returncode == 0
    assert run(*trusted, "--ciphers", "ECDHE-ECDSA-CHACHA20-POLY1305", "--tls-max", "1.2").returncode == 0


def test_connections_with_other_settings_are_not_shared(
    client: carpool.Client, authority: Authority, nginx: Any
) -> None:
    trust = {"ca_file": str(authority.ca_file)}
    seen: dict[str, set[int]] = {}
    for _ in range(3):
        for high in ("1.2", "1.3"):
            record = client.call(
                "request.perform", url=f"{nginx.https}/hello.txt", trust=trust, tls={"max_version": high}
            )
            assert version(record) == NAMES[high]
            seen.setdefault(high, set()).add(record["attempts"][-1]["metrics"][-1]["connection"])
    assert all(len(connections) == 1 for connections in seen.values())


def test_a_default_that_is_named_shares_connections_with_one_that_is_not(
    client: carpool.Client, authority: Authority, nginx: Any
) -> None:
    trust = {"ca_file": str(authority.ca_file)}
    seen = set()
    settings: list[dict[str, Any]] = [{}, {"tls": {}}, {"tls": {"min_version": "1.2"}}, {"tls": {"max_version": "1.3"}}]
    for params in settings:
        record = client.call("request.perform", url=f"{nginx.https}/hello.txt", trust=trust, **params)
        seen.add(record["attempts"][-1]["metrics"][-1]["connection"])
    assert len(seen) == 1
