"""TLS servers with each fault of a certificate, for the tests of trust."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import carpool
from harness.daemon import Daemon

from origins.authority import Certificate
from origins.chains import Signer, pin, self_signed
from origins.tlsserver import TLSServer

HOST = "server.zone.example"


def perform(client: carpool.Client, port: int, trust: dict[str, Any], host: str = HOST, **more: Any) -> dict[str, Any]:
    """Send a request to a server of this machine under another name."""
    record: dict[str, Any] = client.call(
        "request.perform",
        url=f"https://{host}:{port}/",
        trust=trust,
        addresses={"resolve": [f"*:{port}:127.0.0.1"]},
        **more,
    )
    return record


def failure(record: dict[str, Any]) -> str | None:
    error = record["outcome"].get("error")
    return None if error is None else str(error["name"]).removeprefix("server_trust_evaluation_failed.")


def logs(daemon: Daemon, *parts: str) -> bool:
    return any(all(part in line for part in parts) for line in daemon.log.read_text().splitlines())


@dataclass(frozen=True)
class Server:
    """A server and what is true of its certificate, by construction."""

    url_host: str
    port: int
    certificate: Certificate
    chain: bool = True
    """Whether it leads to the tests' root, in its time and with strong keys."""
    host: bool = True
    revoked: bool = False
    staple: str | None = None
    self_signed: bool = False


@dataclass
class World:
    root: Signer
    middle: Signer
    servers: dict[str, Server]
    crl: Path
    wrong_pin: str

    def trust(self, server: Server, evaluator: Any) -> dict[str, Any]:
        return {"ca_file": str(self.root.file), "evaluators": {server.url_host: evaluator}}


class Add(Protocol):
    """Starts a server with a certificate, and notes what is true of it."""

    def __call__(
        self, key: str, certificate: Certificate, *options: str, url_host: str = HOST, **facts: Any
    ) -> None: ...


def add_names(add: Add, root: Signer) -> None:
    """Certificates that name the host in unusual ways, or do not (RFC 9525)."""
    others = ",".join(f"DNS:host{number}.example" for number in range(60))
    for key, names, is_right in (
        ("upper_case", "DNS:SERVER.Zone.EXAMPLE", True),
        ("wildcard_upper_case", "DNS:*.ZONE.example", True),
        ("many_names", f"{others},DNS:{HOST}", True),
        ("name_and_address", f"IP:127.0.0.1,DNS:{HOST}", True),
        ("wildcard_partial", "DNS:s*.zone.example", False),
        ("wildcard_of_two_labels", "DNS:*.example", False),
        ("wildcard_alone", "DNS:*", False),
        ("wildcard_inside", "DNS:server.*.example", False),
        ("name_with_dot", f"DNS:{HOST}.", False),
        ("name_of_uri", f"URI:https://{HOST}/", False),
        ("name_of_mail", f"email:root@{HOST}", False),
        ("longer_name", f"DNS:{HOST}.example", False),
    ):
        add(key, root.issue(key, names), host=is_right)
    add("idna", root.issue("idna", "DNS:xn--bcher-kva.example"), url_host="xn--bcher-kva.example")


def add_keys_and_usages(add: Add, root: Signer) -> None:
    """Certificates with other kinds of keys, purposes, dates and extensions."""
    name = f"DNS:{HOST}"
    for key, kind in (("rsa", "rsa:2048"), ("ed25519", "ed25519")):
        add(key, root.issue(key, name, key=["-newkey", kind, "-nodes"]))
    weak = root.issue("sha1", name, digest="sha1")
    add("sha1", weak, "-cipher", "ALL:@SECLEVEL=0", chain=False)
    add("not_yet_valid", root.issue("later", name, is_for_later=True), chain=False)
    for key, extension, is_right in (
        ("for_servers", "extendedKeyUsage=serverAuth", True),
        ("for_clients", "extendedKeyUsage=clientAuth", False),
        ("for_signing_certificates", "keyUsage=critical,keyCertSign", False),
        ("unknown_extension", "1.2.3.4=critical,ASN1:UTF8:x", False),
    ):
        add(key, root.issue(key, name, extensions=(extension,)), chain=is_right)


def add_chains(add: Add, root: Signer, middle: Signer) -> None:
    """Certificates under intermediate authorities with faults of their own."""
    name = f"DNS:{HOST}"
    place = root.directory
    deep = Signer(place, "deep-2", Signer(place, "deep-1", middle))
    add("three_intermediates", deep.issue("three", name))
    for key, extension, is_right in (
        ("no_authority", "basicConstraints=critical,CA:FALSE", False),
        ("permitted_name", "nameConstraints=critical,permitted;DNS:zone.example", True),
        ("excluded_name", "nameConstraints=critical,excluded;DNS:zone.example", False),
        ("other_names", "nameConstraints=critical,permitted;DNS:other.example", False),
    ):
        add(key, Signer(place, f"middle-{key}", root, extensions=[extension]).issue(key, name), chain=is_right)
    short = Signer(place, "short", root, extensions=["basicConstraints=critical,CA:TRUE,pathlen:0"])
    add("path_too_long", Signer(place, "under-short", short).issue("long", name), chain=False)
    old = Signer(place, "old", root, days=-1)
    add("expired_intermediate", old.issue("under-old", name), chain=False)
    unrelated = old.file.read_bytes() + root.file.read_bytes()
    add("certificates_in_disorder", middle.issue("disorder", name, more=unrelated))


@contextlib.contextmanager
def make_world(place: Path) -> Iterator[World]:
    """Start the servers, with files in this directory."""
    root = Signer(place / "a", "root")
    middle = Signer(place / "a", "middle", root)
    stranger = Signer(place / "b", "stranger")
    name = f"DNS:{HOST}"
    started: list[TLSServer] = []
    servers: dict[str, Server] = {}

    def add(key: str, certificate: Certificate, *options: str, url_host: str = HOST, **facts: Any) -> None:
        above = certificate.chain.with_suffix(".above")
        chain = ["-cert_chain", str(above)] if above.exists() else []
        started.append(TLSServer(certificate, *options, *chain))
        servers[key] = Server(url_host, started[-1].port, certificate, **facts)

    add("good", root.issue("good", name))
    add("intermediate", middle.issue("intermediate", name))
    add("no_intermediate", middle.issue("alone", name, sends_parents=False), chain=False)
    add("expired", root.issue("expired", name, days=-1), chain=False)
    add("wrong_host", root.issue("wrong-host", "DNS:other.example"), host=False)
    add("wildcard", root.issue("wildcard", "DNS:*.zone.example"))
    add("wildcard_two_labels", root.issue("deep", "DNS:*.zone.example"), url_host=f"a.{HOST}", host=False)
    add("ip", root.issue("ip", "IP:127.0.0.1"), url_host="127.0.0.1")
    add("ip_wrong", root.issue("ip-wrong", "IP:127.0.0.2"), url_host="127.0.0.1", host=False)
    add("name_is_no_ip", root.issue("name-ip", "DNS:127.0.0.1"), url_host="127.0.0.1", host=False)
    add("common_name", root.issue("cn", "", common_name=HOST), host=False)
    add("unknown_root", stranger.issue("unknown", name), chain=False)
    add("self_signed", self_signed(place / "c", "own", name), chain=False, self_signed=True)
    add("weak_key", root.issue("weak", name, key=["-newkey", "rsa:1024", "-nodes"]), "-cipher", "ALL:@SECLEVEL=0",
        chain=False)  # fmt: skip
    revoked = root.issue("revoked", name)
    add("revoked", revoked, revoked=True)
    for status in ("good", "revoked"):
        certificate = root.issue(f"stapled-{status}", name)
        add(f"staple_{status}", certificate, "-status_file", str(root.staple(certificate, status)), staple=status)
    forged = root.issue("stapled-forged", name)
    add("staple_forged", forged, "-status_file", str(root.staple(forged, signer=stranger)), staple="forged")
    for version in ("1_2", "1_3"):
        add(f"tls{version}", root.issue(f"tls{version}", name), f"-tls{version}")
    add_names(add, root)
    add_keys_and_usages(add, root)
    add_chains(add, root, middle)
    try:
        yield World(root, middle, servers, root.revocation_list(revoked), pin(stranger.file))
    finally:
        for server in started:
            server.stop()
