"""The hints in the exceptions of the Python client name its own arguments and methods."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import carpool
import pytest
from carpool import _hints
from harness.waiting import PATIENCE_SECONDS
from origins.authority import Authority
from origins.nginx import Nginx
from origins.proxies import Squid
from origins.scripted import Exchange, ScriptedOrigin
from origins.tlsserver import TLSServer

ROOT = Path(__file__).parents[2]
# A name of the daemon's, an option of the command, and a method of the daemon that is not called with client.call.
DAEMON_WORDS = re.compile(r'\b\w+_timeout_ms|\btimeout_ms|--\w|trust\.|(?<!call\(")\b(?:session|request)\.[a-z]')


@pytest.fixture
def silent(origin: ScriptedOrigin) -> str:
    gate = origin.hold("/never")

    def wait(exchange: Exchange) -> None:
        gate.wait(PATIENCE_SECONDS)
        exchange.reply()

    return origin.on("/silent", wait)


def check(error: Any, hint: str) -> None:
    assert error.hint == hint
    assert str(error).endswith(f"; {hint}")
    assert not DAEMON_WORDS.search(hint)
    assert error.data["hint"] != hint, "the text of the daemon stays in data"


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"timeout": 0.2}, "raise timeout= if the origin is expected to be silent for that long"),
        ({"total": 0.2}, "raise total="),
    ],
)
def test_time_limits(client: carpool.Client, silent: str, given: Any, hint: str) -> None:
    with pytest.raises(carpool.RequestTimeoutError) as caught:
        client.get(silent, **given)
    check(caught.value, hint)


def test_the_limit_of_the_connection(client: carpool.Client) -> None:
    """TLS is negotiated with a server that accepts and does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(carpool.RequestTimeoutError) as caught:
        client.get(f"https://127.0.0.1:{server.getsockname()[1]}/", timeout=(0.2, 60))
    check(
        caught.value,
        "the host did not respond: check the address, or raise timeout=, or its first number, timeout=(connect, read)",
    )


def test_proxies(client: carpool.Client, nginx: Nginx, squid: Squid) -> None:
    with pytest.raises(carpool.ProxyError) as caught:
        client.get(nginx.http, proxies={"all": "http://127.0.0.1:1"})
    check(
        caught.value,
        "check proxies= or proxy= (and http_proxy, https_proxy and all_proxy in the environment of the program)",
    )
    with pytest.raises(carpool.ProxyError) as caught:
        client.get(nginx.https, proxies={"all": f"http://127.0.0.1:{squid.basic}"})
    check(
        caught.value,
        "set the user and the password in the URL of proxies=, or no_proxy in proxies= for this host",
    )


def test_certificates(client: carpool.Client, nginx: Nginx, authority: Authority) -> None:
    with pytest.raises(carpool.CertificateError) as caught:
        client.get(nginx.https)
    check(
        caught.value,
        "set verify= to the path of the file of the certificate authority, or disable the check with verify=False",
    )
    options = ["-Verify", "1", "-verify_return_error", "-CAfile", str(authority.ca_file)]
    server = TLSServer(authority.issue("hints"), *options)
    try:
        with pytest.raises(carpool.CertificateError) as caught:
            client.get(server.url, verify=False)
    finally:
        server.stop()
    check(caught.value, "set cert= to the path of the file of a certificate and its key")


def loop(exchange: Exchange) -> None:
    exchange.reply(302, headers=[("Location", "/loop")])


@pytest.mark.parametrize(
    ("ask", "hint"),
    [
        (
            lambda client, url: client.get(url, session="unknown"),
            'Create it with client.create_session; see client.call("session.list").',
        ),
        (
            lambda client, _: client.wait("r_1"),
            'It may have been dismissed, or its retention has ended; see client.call("request.list").',
        ),
        (lambda client, _: client.call("nonsense"), 'See client.call("rpc.discover") for all methods.'),
        (
            lambda client, url: client.get(url, json={}),
            'leave the body out, use POST, PUT or PATCH, or make it an upload with kind="upload"',
        ),
        (
            lambda client, url: client.get(f"{url}/loop"),
            "raise max_hops in redirect= if so many redirects are expected",
        ),
    ],
)
def test_other_advice(
    client: carpool.Client, origin: ScriptedOrigin, ask: Callable[[carpool.Client, str], Any], hint: str
) -> None:
    origin.on("/loop", loop)
    with pytest.raises(carpool.CarpoolError) as caught:
        ask(client, origin.url)
    check(caught.value, hint)


def test_the_error_of_a_response_has_the_same_hint(client: carpool.Client, silent: str) -> None:
    with pytest.raises(carpool.RequestTimeoutError) as caught:
        client.get(silent, timeout=0.2)
    error = carpool.Response(caught.value.record).error
    assert error is not None
    check(error, "raise timeout= if the origin is expected to be silent for that long")


def test_the_daemon_has_these_phrases() -> None:
    """A phrase that the daemon words in another way must be changed in the table too."""
    sources = "".join(path.read_text() for path in (ROOT / "Sources").rglob("*.swift")).replace('\\"', '"')
    assert [phrase for phrase, _ in _hints.PHRASES if phrase not in sources] == []
