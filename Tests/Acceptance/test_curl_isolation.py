"""Settings of one `carpool curl` end with it: the next call gets what curl would get, although connections are pooled.

Each test makes a call that a setting lets succeed, and then one without it, at the same server: curl's exit code or the
server's view of the second call says whether anything of the first is left.
"""

from __future__ import annotations

import base64
import hashlib
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness.command import OK, Run
from harness.daemon import Daemon
from origins.authority import Authority, Certificate
from origins.mutual import MutualNginx
from origins.nginx import Nginx
from origins.proxies import OTHER, OTHER_PASSWORD, PASSWORD, USER, Squid
from origins.scripted import Exchange, ScriptedOrigin
from origins.tlsserver import TLSServer

CONNECT_FAILED, TLS_FAILED, NOT_TRUSTED, NOT_PINNED = 7, 35, 60, 90
PROXY_REFUSED = 56

Curl = Callable[..., tuple[int, str]]


@pytest.fixture
def curl(run: Run) -> Curl:
    """Run `carpool curl -sS`; returns the exit code and what it printed."""

    def call(*arguments: str | Path) -> tuple[int, str]:
        done = run("curl", "--no-fallback", "-sS", *arguments)
        return done.returncode, done.stdout.decode()

    return call


@pytest.mark.parametrize("path", ["https", "https1"])
def test_insecure_and_authorities(curl: Curl, run: Run, nginx: Nginx, authority: Authority, path: str) -> None:
    url = f"{getattr(nginx, path)}/hello.txt"
    hello = (OK, "hello, world\n")
    for _ in range(2):
        assert curl("-k", url) == hello
        assert curl(url)[0] == NOT_TRUSTED
        assert curl("--cacert", authority.ca_file, url) == hello
        assert curl(url)[0] == NOT_TRUSTED
    # The verbs and curl have the same rule.
    assert run("get", "--insecure", url).returncode == OK
    assert curl(url)[0] == NOT_TRUSTED
    assert curl("-k", url) == hello
    assert run("get", url).returncode != OK


def test_settings_end_at_next(curl: Curl, nginx: Nginx) -> None:
    url = f"{nginx.https}/hello.txt"
    assert curl("-k", url, "--next", url)[0] == NOT_TRUSTED
    assert curl("-k", url, "--next", "-k", url) == (OK, "hello, world\n" * 2)


def test_another_authority_with_the_same_path(
    curl: Curl, nginx: Nginx, authority: Authority, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = Authority(tmp_path_factory.mktemp("other"), "Another authority")
    file = tmp_path / "ca.pem"
    for contents, expected in ((authority.ca_file, OK), (other.ca_file, NOT_TRUSTED), (authority.ca_file, OK)):
        file.write_bytes(contents.read_bytes())
        assert curl("--cacert", file, f"{nginx.https}/hello.txt")[0] == expected


def pin(certificate: Certificate) -> str:
    """The hash of a certificate's public key, as --pinnedpubkey takes it."""
    key = subprocess.run(
        ["openssl", "pkey", "-in", str(certificate.key), "-pubout", "-outform", "DER"], capture_output=True, check=True
    ).stdout
    return "sha256//" + base64.b64encode(hashlib.sha256(key).digest()).decode()


def test_pins(curl: Curl, authority: Authority) -> None:
    certificate = authority.issue("pinned")
    origin = ScriptedOrigin(certificate)
    try:
        wrong = "sha256//" + "A" * 43 + "="
        trusted = ["--cacert", authority.ca_file]
        for _ in range(2):
            assert curl(*trusted, "--pinnedpubkey", pin(certificate), origin.url)[0] == OK
            assert curl(*trusted, "--pinnedpubkey", wrong, origin.url)[0] == NOT_PINNED
            assert curl(*trusted, origin.url)[0] == OK
            # A pin is checked without a check of the certificate too.
            assert curl("-k", "--pinnedpubkey", wrong, origin.url)[0] == NOT_PINNED
            assert curl("-k", origin.url)[0] == OK
    finally:
        origin.stop()


def test_client_certificates(curl: Curl, mutual: MutualNginx, authority: Authority, person: Certificate) -> None:
    trusted = ["--cacert", authority.ca_file]
    named = [*trusted, "--cert", person.chain, "--key", person.key]
    for url in (mutual.optional, mutual.required):
        for _ in range(2):
            code, text = curl(*named, url)
            assert (code, text.split(" ")[0]) == (OK, "CN=person"), text
            code, text = curl(*trusted, url)
            assert "CN=person" not in text


@pytest.fixture
def new_only(authority: Authority) -> Iterator[TLSServer]:
    """A server that speaks TLS 1.3 alone."""
    server = TLSServer(authority.issue("new-only"), "-tls1_3")
    yield server
    server.stop()


def test_versions_of_tls(curl: Curl, new_only: TLSServer, mutual: MutualNginx, authority: Authority) -> None:
    trusted = ["--cacert", authority.ca_file]
    assert curl(*trusted, "-o", "/dev/null", new_only.url)[0] == OK
    assert curl(*trusted, "--tls-max", "1.2", "-o", "/dev/null", new_only.url)[0] == TLS_FAILED
    # A pooled connection of one version does not serve a call that asks for another.
    for number, limits in enumerate((["--tls-max", "1.2"], ["--tlsv1.3"], ["--tls-max", "1.2"], [])):
        assert curl(*trusted, *limits, f"{mutual.optional}/versions")[0] == OK
        seen = mutual.log("/versions", number + 1)[number]["tls"]
        assert seen == ("TLSv1.2" if "--tls-max" in limits else "TLSv1.3")


def test_addresses(curl: Curl, run: Run, origin: ScriptedOrigin) -> None:
    port = origin.url.rpartition(":")[2]
    name = f"http://nowhere.invalid:{port}/"
    for setting in (
        ["--resolve", f"nowhere.invalid:{port}:127.0.0.1"],
        ["--connect-to", f"nowhere.invalid:{port}:127.0.0.1:{port}"],
    ):
        assert curl(*setting, name)[0] == OK
        assert curl(name)[0] == 6
        assert run("get", name).returncode != OK


def test_unix_sockets(curl: Curl, tmp_path: Path, origin: ScriptedOrigin) -> None:
    path = tmp_path / "socket"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.close()
    assert curl("--unix-socket", path, origin.url)[0] == CONNECT_FAILED
    assert curl(origin.url)[0] == OK
    assert curl("--unix-socket", path, origin.url)[0] == CONNECT_FAILED


def test_local_addresses(curl: Curl, origin: ScriptedOrigin) -> None:
    def show(exchange: Exchange) -> None:
        exchange.reply(body=exchange.peer.encode())

    url = origin.on("/peer", show)
    for interface, expected in (("127.0.0.2", "127.0.0.2"), (None, "127.0.0.1"), ("127.0.0.3", "127.0.0.3")):
        setting = ["--interface", interface] if interface else []
        assert curl(*setting, url) == (OK, expected)


def test_proxies(curl: Curl, run: Run, squid: Squid, origin: ScriptedOrigin) -> None:
    url = origin.on(
        "/through", lambda exchange: exchange.reply(body=b"via" if "via" in fields(exchange) else b"direct")
    )
    for _ in range(2):
        assert curl("-x", f"http://127.0.0.1:{squid.plain}", url) == (OK, "via")
        assert curl(url) == (OK, "direct")
        assert curl("-x", f"http://127.0.0.1:{squid.plain}", "--noproxy", "127.0.0.1", url) == (OK, "direct")
    assert run("get", url).stdout == b"direct"


def fields(exchange: Exchange) -> set[str]:
    return {name.lower() for name, _ in exchange.request.headers}


def test_credentials_of_proxies(
    curl: Curl, squid: Squid, origin: ScriptedOrigin, mutual: MutualNginx, authority: Authority, person: Certificate
) -> None:
    # Not nginx: other tests count what the proxy has logged for it.
    for url in (origin.url, mutual.optional):
        used = ["-x", f"http://127.0.0.1:{squid.basic}", "-o", "/dev/null", "-w", "%{http_code}"]
        used += ["--cacert", str(authority.ca_file), "--cert", str(person.chain), "--key", str(person.key)]
        refused = (OK, "407") if url.startswith("http:") else (PROXY_REFUSED, "000")
        for user in (f"{USER}:{PASSWORD}", f"{OTHER}:{OTHER_PASSWORD}"):
            assert curl(*used, "--proxy-user", user, url) == (OK, "200")
            assert curl(*used, url) == refused
            assert curl(*used, "--proxy-user", f"{USER}:wrong", url) == refused


def test_cookies(curl: Curl, run: Run, origin: ScriptedOrigin) -> None:
    def bake(exchange: Exchange) -> None:
        sent = [value for name, value in exchange.request.headers if name.lower() == "cookie"]
        exchange.reply(headers=[("Set-Cookie", "a=1; Path=/")], body=";".join(sent).encode())

    url = origin.on("/cookie", bake)
    assert curl("-c", "jar", "-b", "jar", url) == (OK, "")
    assert curl("-b", "jar", url) == (OK, "a=1")
    assert curl(url) == (OK, "")
    assert curl("-b", "x=y", url) == (OK, "x=y")
    assert curl(url) == (OK, "")
    assert run("get", url).stdout == b""


@pytest.mark.parametrize("scheme", ["--basic", "--digest", "--anyauth"])
def test_credentials(curl: Curl, origin: ScriptedOrigin, scheme: str) -> None:
    challenge = "Basic" if scheme == "--basic" else "Digest"

    def ask(exchange: Exchange) -> None:
        sent = [value for name, value in exchange.request.headers if name.lower() == "authorization"]
        if sent and sent[0].startswith(challenge):
            exchange.reply(body=b"in")
        else:
            realm = 'Basic realm="x"' if challenge == "Basic" else 'Digest realm="x", nonce="n", qop="auth"'
            exchange.reply(401, headers=[("WWW-Authenticate", realm)], body=b"out")

    url = origin.on("/private", ask)
    for _ in range(2):
        assert curl(scheme, "-u", "ada:secret", url) == (OK, "in")
        before = len(origin.requests)
        assert curl(url) == (OK, "out")
        # Nothing of what was learnt from the first call is sent in advance.
        assert "authorization" not in {name.lower() for name, _ in origin.requests[before].headers}
        assert len(origin.requests) == before + 1


def test_versions_of_http(curl: Curl, nginx: Nginx, authority: Authority) -> None:
    used = ["--cacert", authority.ca_file, "-o", "/dev/null", "-w", "%{http_version}", f"{nginx.https}/hello.txt"]
    (_, standard) = curl(*used)
    for _ in range(2):
        assert curl("--http1.1", *used) == (OK, "1.1")
        assert curl(*used) == (OK, standard)


def test_a_call_and_python_share_no_settings(curl: Curl, daemon: Daemon, nginx: Nginx, authority: Authority) -> None:
    url = f"{nginx.https1}/hello.txt"
    assert curl("-k", url)[0] == OK
    record = daemon.call("request.perform", url=url)
    assert record["outcome"]["error"]["name"].startswith("server_trust") or not record["outcome"]["ok"]
    record = daemon.call("request.perform", url=url, trust={"ca_file": str(authority.ca_file)})
    assert record["outcome"]["ok"]
    assert curl(url)[0] == NOT_TRUSTED


def test_a_session_ticket_of_an_unchecked_server_does_not_replace_the_check(curl: Curl, authority: Authority) -> None:
    server = TLSServer(authority.issue("tickets"), "-tls1_2")
    try:
        assert curl("-k", "-o", "/dev/null", server.url)[0] == OK
        assert curl("-o", "/dev/null", server.url)[0] == NOT_TRUSTED
        assert curl("--cacert", authority.ca_file, "-o", "/dev/null", server.url)[0] == OK
        assert curl("-o", "/dev/null", server.url)[0] == NOT_TRUSTED
    finally:
        server.stop()
