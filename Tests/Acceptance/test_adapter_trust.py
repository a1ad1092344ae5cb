"""What an adapter of the Python client verifies is what the program has said, or the request is not sent."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import carpool.httpx
import carpool.httpx2
import httpx
import httpx2
import pytest
import requests
from carpool.requests import CarpoolAdapter, InvalidParameter
from harness.daemon import Daemon
from harness.transports import mounted
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin


@pytest.fixture(autouse=True)
def socket(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> Daemon:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    return daemon


@pytest.fixture
def url(nginx: Nginx) -> str:
    return f"{nginx.https1}/hello.txt"


@pytest.fixture
def folder(authority: Authority, tmp_path: Path) -> Path:
    """The authority in a folder that OpenSSL reads (capath)."""
    command = ["openssl", "x509", "-hash", "-noout", "-in", str(authority.ca_file)]
    name = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    shutil.copy(authority.ca_file, tmp_path / f"{name}.0")
    return tmp_path


def pooled(**settings: Any) -> CarpoolAdapter:
    """Return an adapter of a subclass that passes settings to urllib3."""

    class Pooled(CarpoolAdapter):
        def init_poolmanager(self, *arguments: Any, **pool: Any) -> None:
            super().init_poolmanager(*arguments, **{**pool, **settings})

    return Pooled()


def by_requests(verify: Any) -> Callable[[str], int]:
    def send(url: str) -> int:
        with mounted(CarpoolAdapter()) as session:
            return session.get(url, verify=verify).status_code

    return send


def by_httpx(verify: Any) -> Callable[[str], int]:
    def send(url: str) -> int:
        with httpx.Client(transport=carpool.httpx.CarpoolTransport(verify=verify)) as client:
            return client.get(url).status_code

    return send


def by_httpx2(verify: Any) -> Callable[[str], int]:
    def send(url: str) -> int:
        with httpx2.Client(transport=carpool.httpx2.CarpoolTransport(verify=verify)) as client:
            return client.get(url).status_code

    return send


@pytest.mark.parametrize("through", [by_requests, by_httpx, by_httpx2])
@pytest.mark.parametrize("form", [Path, str, lambda path: str(path).encode()], ids=["Path", "str", "bytes"])
def test_authorities_are_a_path_of_any_type(
    through: Callable[[Any], Callable[[str], int]],
    form: Callable[[Path], Any],
    url: str,
    authority: Authority,
    folder: Path,
) -> None:
    assert through(form(authority.ca_file))(url) == 200
    assert through(form(folder))(url) == 200


@pytest.mark.parametrize(
    "settings",
    [{"assert_fingerprint": "00" * 32}, {"assert_hostname": "other.test"}, {"server_hostname": "other.test"}],
)
def test_what_the_daemon_cannot_verify_is_refused(settings: dict[str, Any], url: str, authority: Authority) -> None:
    with mounted(pooled(**settings)) as session, pytest.raises(InvalidParameter, match=next(iter(settings))):
        session.get(url, verify=str(authority.ca_file))


def test_a_proxy_does_not_change_what_is_refused(url: str) -> None:
    with mounted(pooled(assert_fingerprint="00" * 32)) as session, pytest.raises(InvalidParameter):
        session.get(url, proxies={"https": "socks5h://127.0.0.1:1"})


def test_a_name_that_is_not_verified(authority: Authority) -> None:
    origin = ScriptedOrigin(authority.issue("other-name", "DNS:other.test"))
    try:
        for settings, is_accepted in (({}, False), ({"assert_hostname": False}, True)):
            with mounted(pooled(**settings)) as session:
                if is_accepted:
                    assert session.get(origin.url, verify=str(authority.ca_file)).ok
                else:
                    with pytest.raises(requests.exceptions.SSLError):
                        session.get(origin.url, verify=str(authority.ca_file))
                # The chain is verified with any name.
                with pytest.raises(requests.exceptions.SSLError):
                    session.get(origin.url)
    finally:
        origin.stop()


def test_a_context_whose_authorities_cannot_be_read_is_refused(folder: Path, url: str) -> None:
    in_folder = ssl.create_default_context(capath=str(folder))
    with mounted(pooled(ssl_context=in_folder)) as session, pytest.raises(InvalidParameter, match="verify=FOLDER"):
        session.get(url)
    for context in (in_folder, ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)):
        with pytest.raises(ValueError, match="verify=FOLDER"):
            carpool.httpx.CarpoolTransport(verify=context)
        with pytest.raises(ValueError, match="verify=FOLDER"):
            carpool.httpx2.CarpoolTransport(verify=context)


def test_the_system_s_context_is_that_of_the_system(url: str) -> None:
    with pytest.raises(httpx.ConnectError):
        by_httpx(ssl.create_default_context())(url)
