"""TLS handshakes that cost an origin little and its client much."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from harness.daemon import Daemon
from harness.gauge import bounded_turns
from harness.process import running

Serve = Callable[..., str]

REFUSED = "secure_connection_failed"
UNTRUSTED = "server_certificate_untrusted"
LARGE_EXPONENT = str((1 << 200) + 1)
MOST_AUTHORITIES = 10


@pytest.fixture
def serve(directory: Path) -> Iterator[Serve]:
    """Start OpenSSL's server with some options; returns its URL."""
    with ExitStack() as servers:

        def start(*options: str) -> str:
            command = ["openssl", "s_server", "-accept", "127.0.0.1:0", "-www", *options]
            server = servers.enter_context(running(command, stdout=subprocess.PIPE, cwd=directory))
            assert server.stdout is not None
            while not (line := server.stdout.readline().decode()).startswith("ACCEPT"):
                assert line, "the server has ended"
            return f"https://127.0.0.1:{line.rpartition(':')[2].strip()}/"

        yield start


def openssl(directory: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)


def certify(directory: Path, name: str, issuer: str | None, *, is_authority: bool) -> None:
    """Make a certificate for the key NAME.key, signed by an issuer or by itself."""
    kind = "CA:TRUE" if is_authority else "CA:FALSE"
    issuing = ["-CA", f"{issuer}.pem", "-CAkey", f"{issuer}.key"] if issuer else []
    openssl(
        directory, "req", "-x509", "-key", f"{name}.key", *issuing, "-subj", f"/CN={name}", "-days", "2",
        "-addext", f"basicConstraints=critical,{kind}", "-addext", "subjectAltName=IP:127.0.0.1", "-out", f"{name}.pem",
    )  # fmt: skip


GROUP = ("genpkey", "-genparam", "-algorithm", "DH", "-pkeyopt", "group:ffdhe8192", "-out", "dh.pem")


@pytest.mark.parametrize(
    "options",
    [("-tls1_2", "-cipher", "DHE", "-dhparam", "dh.pem"), ("-tls1_3", "-groups", "ffdhe8192")],
    ids=["TLS 1.2", "TLS 1.3"],
)
def test_b2_diffie_hellman_with_large_numbers(
    daemon: Daemon, serve: Serve, directory: Path, options: tuple[str, ...]
) -> None:
    openssl(directory, *GROUP)
    openssl(directory, "genrsa", "-out", "peer.key", "2048")
    certify(directory, "peer", None, is_authority=False)
    url = serve("-cert", "peer.pem", "-key", "peer.key", *options)
    with daemon.wire() as wire, bounded_turns(daemon):
        outcome = wire.call("request.perform", url=url, trust={"ca_file": str(directory / "peer.pem")})["outcome"]
    assert outcome["error"]["name"].endswith(REFUSED), outcome


@pytest.mark.parametrize("verifies", [True, False])
def test_b2_a_key_with_a_large_exponent(daemon: Daemon, serve: Serve, directory: Path, verifies: bool) -> None:
    exponent = ("-pkeyopt", "rsa_keygen_bits:2048", "-pkeyopt", f"rsa_keygen_pubexp:{LARGE_EXPONENT}")
    openssl(directory, "genpkey", "-algorithm", "RSA", *exponent, "-out", "peer.key")
    certify(directory, "peer", None, is_authority=False)
    openssl(directory, "genrsa", "-out", "other.key", "2048")
    certify(directory, "other", None, is_authority=True)
    url = serve("-cert", "peer.pem", "-key", "peer.key")
    trust = {"ca_file": str(directory / "other.pem")} if verifies else {"verify": False}
    with daemon.wire() as wire, bounded_turns(daemon):
        outcome = wire.call("request.perform", url=url, trust=trust)["outcome"]
    assert outcome["error"]["name"].endswith(UNTRUSTED), outcome
    assert "certificate rejected" in outcome["error"]["message"]


@pytest.mark.parametrize("authorities", [MOST_AUTHORITIES - 1, MOST_AUTHORITIES + 1])
def test_b2_a_long_chain(daemon: Daemon, serve: Serve, directory: Path, authorities: int) -> None:
    names = [f"authority-{number}" for number in range(authorities + 1)] + ["peer"]
    for issuer, name in zip([None, *names], names, strict=False):
        openssl(directory, "ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", f"{name}.key")
        certify(directory, name, issuer, is_authority=name != "peer")
    chain = "".join((directory / f"{name}.pem").read_text() for name in reversed(names[1:]))
    (directory / "chain.pem").write_text(chain)
    url = serve("-cert", "peer.pem", "-key", "peer.key", "-cert_chain", "chain.pem")
    with daemon.wire() as wire, bounded_turns(daemon):
        params = {"url": url, "trust": {"ca_file": str(directory / f"{names[0]}.pem")}}
        outcome = wire.call("request.perform", **params)["outcome"]
    assert outcome["ok"] is (authorities < MOST_AUTHORITIES), outcome
