"""Evaluators of server trust by host (TR): servers with each fault, against each evaluator, over real TLS."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import carpool
import pytest
from origins.authority import Certificate
from origins.chains import pin
from origins.tlsserver import TLSServer
from origins.trustworld import HOST, Server, World, failure, perform

SERVERS = [
    "good", "intermediate", "no_intermediate", "expired", "wrong_host", "wildcard", "wildcard_two_labels", "ip",
    "ip_wrong", "name_is_no_ip", "common_name", "unknown_root", "self_signed", "weak_key", "revoked", "staple_good",
    "staple_revoked", "staple_forged", "tls1_2", "tls1_3",
    "upper_case", "wildcard_upper_case", "many_names", "name_and_address", "wildcard_partial", "wildcard_of_two_labels",
    "wildcard_alone", "wildcard_inside", "name_with_dot", "name_of_uri", "name_of_mail", "longer_name", "idna",
    "rsa", "ed25519", "sha1", "not_yet_valid", "for_servers", "for_clients", "for_signing_certificates",
    "unknown_extension",
    "three_intermediates", "no_authority", "permitted_name", "excluded_name", "other_names", "path_too_long",
    "expired_intermediate", "certificates_in_disorder",
]  # fmt: skip

# The certificates in whose chain the intermediate authority is that `wrong_certificate` pins.
UNDER_MIDDLE = ("intermediate", "three", "disorder")

# Each evaluator, and what the facts say of a server: the first reason that applies; None to accept.
Evaluator = Callable[[World, Server], Any]
Judgement = Callable[[Server], str | None]


def standard(server: Server) -> str | None:
    if not server.chain:
        return "trust_evaluation_failed"
    return None if server.host else "host_validation_failed"


def chain_alone(server: Server) -> str | None:
    return None if server.chain else "trust_evaluation_failed"


def stapled(required: bool) -> Judgement:
    def judge(server: Server) -> str | None:
        bad = server.staple in ("revoked", "forged") or (required and server.staple is None)
        return standard(server) or ("revocation_check_failed" if bad else None)

    return judge


def listed(server: Server) -> str | None:
    return standard(server) or ("revocation_check_failed" if server.revoked else None)


def otherwise(judge: Judgement, reason: str) -> Judgement:
    return lambda server: judge(server) or reason


def leaf(server: Server) -> str:
    return str(server.certificate.chain)


EVALUATORS: dict[str, tuple[Evaluator, Judgement]] = {
    "default": (lambda world, server: "default", standard),
    "no_host": (lambda world, server: {"default": {"validate_host": False}}, chain_alone),
    "disabled": (lambda world, server: "disabled", lambda server: None),
    "key": (
        lambda world, server: {"public_keys": {"pins": [world.wrong_pin, pin(server.certificate.chain)]}},
        standard,
    ),
    "key_of_file": (lambda world, server: {"public_keys": {"files": [leaf(server)]}}, standard),
    "wrong_key": (
        lambda world, server: {"public_keys": {"pins": [world.wrong_pin]}},
        otherwise(standard, "public_key_pinning_failed"),
    ),
    "key_alone": (
        lambda world, server: {
            "public_keys": {
                "pins": [pin(server.certificate.chain)],
                "perform_default_validation": False,
                "validate_host": False,
            }
        },
        lambda server: None,
    ),
    "no_key": (lambda world, server: {"public_keys": {}}, lambda server: "no_public_keys_found"),
    "certificate": (lambda world, server: {"pinned_certificates": {"files": [leaf(server)]}}, standard),
    "certificate_text": (
        lambda world, server: {"pinned_certificates": {"pem": server.certificate.chain.read_text()}},
        standard,
    ),
    "wrong_certificate": (
        lambda world, server: {"pinned_certificates": {"files": [str(world.middle.file)]}},
        lambda server: (
            standard(server)
            or (None if server.certificate.chain.stem in UNDER_MIDDLE else "certificate_pinning_failed")
        ),
    ),
    "no_certificate": (lambda world, server: {"pinned_certificates": {}}, lambda server: "no_certificates_found"),
    "staple_check": (lambda world, server: "revocation", stapled(required=False)),
    "staple_require": (lambda world, server: {"revocation": {"staple": "require"}}, stapled(required=True)),
    "staple_ignore": (lambda world, server: {"revocation": {"staple": "ignore"}}, standard),
    "crl": (lambda world, server: {"revocation": {"crl_file": str(world.crl), "staple": "ignore"}}, listed),
    "crl_text": (
        lambda world, server: {"revocation": {"crl_pem": world.crl.read_text(), "staple": "ignore"}},
        listed,
    ),
    "both": (
        lambda world, server: {"composite": ["default", {"public_keys": {"pins": [world.wrong_pin]}}]},
        otherwise(standard, "public_key_pinning_failed"),
    ),
    "both_turned": (
        lambda world, server: {
            "composite": [
                {
                    "public_keys": {
                        "pins": [world.wrong_pin],
                        "perform_default_validation": False,
                        "validate_host": False,
                    }
                },
                "default",
            ]
        },
        lambda server: "public_key_pinning_failed",
    ),
}


# All, or every other one of each server and each evaluator.
PAIRS = [
    (server, evaluator)
    for row, server in enumerate(SERVERS)
    for column, evaluator in enumerate(EVALUATORS)
    if (row + column) % 2 == 0 or os.environ.get("CARPOOL_TRUST_CELLS") == "all"
]


@pytest.mark.parametrize(("server", "evaluator"), PAIRS)
def test_each_server_with_each_evaluator(client: carpool.Client, world: World, server: str, evaluator: str) -> None:
    given, judge = EVALUATORS[evaluator]
    place = world.servers[server]
    record = perform(client, place.port, world.trust(place, given(world, place)), place.url_host)
    assert failure(record) == judge(place), record["outcome"]


@pytest.mark.parametrize("server", SERVERS)
def test_openssl_agrees_about_the_standard_check(client: carpool.Client, world: World, server: str) -> None:
    """The same certificates, judged by `openssl s_client`: chain and host, as the evaluator `default` has it."""
    place = world.servers[server]
    is_address = place.url_host[0].isdigit()
    done = subprocess.run(
        [
            "openssl", "s_client", "-connect", f"127.0.0.1:{place.port}", "-CAfile", str(world.root.file),
            "-verify_return_error", "-verify", "10",
            "-verify_ip" if is_address else "-verify_hostname", place.url_host,
        ],
        check=False, input=b"", capture_output=True, timeout=30,
    )  # fmt: skip
    record = perform(client, place.port, world.trust(place, "default"), place.url_host)
    # OpenSSL takes the common name for a host if there is no other name, and a wildcard for a part of a label (RFC 9525
    # does neither).
    if server not in ("common_name", "wildcard_partial"):
        assert (done.returncode == 0) == (failure(record) is None), done.stderr[-500:]


def test_tr_07_self_signed_certificates_that_are_pinned(client: carpool.Client, world: World) -> None:
    own = world.servers["self_signed"]
    pinned = {"files": [leaf(own)], "accept_self_signed": True}
    assert failure(perform(client, own.port, world.trust(own, {"pinned_certificates": pinned}))) is None
    # The pins are the only authorities: the root of ca_file does not help another server.
    good = world.servers["good"]
    refused = perform(client, good.port, world.trust(good, {"pinned_certificates": pinned}))
    assert failure(refused) == "trust_evaluation_failed"


def test_tr_08_a_pinned_intermediate_and_one_that_is_only_appended(
    client: carpool.Client, world: World, tmp_path: Path
) -> None:
    server = world.servers["intermediate"]
    evaluator = {"public_keys": {"pins": [pin(world.middle.file)]}}
    assert failure(perform(client, server.port, world.trust(server, evaluator))) is None
    # A server that appends the pinned certificate to a chain of another authority.
    plain = world.root.issue("appended", f"DNS:{HOST}")
    both = tmp_path / "both.pem"
    both.write_bytes(plain.chain.read_bytes() + world.middle.file.read_bytes())
    appended = TLSServer(Certificate(plain.chain, plain.key), "-cert_chain", str(both))
    try:
        trust = {"ca_file": str(world.root.file), "evaluators": {HOST: evaluator}}
        assert failure(perform(client, appended.port, trust)) == "public_key_pinning_failed"
    finally:
        appended.stop()
