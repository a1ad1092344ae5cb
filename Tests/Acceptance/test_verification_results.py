"""What a record has of the certificates and the tunnel of its connection, also if another request has made it."""

from __future__ import annotations

from typing import Any

import carpool
import pytest
from harness.outputs import Pair
from harness.wire import Wire
from origins.authority import Authority
from origins.proxies import NEEDS_USER, Squid, hops, perform, trusting
from origins.scripted import ScriptedOrigin

UNKNOWN_ISSUER, EXPIRED, NOT_ASKED = 20, 10, 1
"""X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_CERT_HAS_EXPIRED, and libcurl's value before a result."""


@pytest.fixture
def served(authority: Authority) -> Any:
    origin = ScriptedOrigin(authority.shared("results"))
    yield origin
    origin.stop()


def test_a_certificate_that_is_not_verified_has_its_result(client: carpool.Client, served: ScriptedOrigin) -> None:
    records = [perform(client, served.url, trust={"verify": False}) for _ in range(2)]
    assert [hops(record)[0]["verify_result"] for record in records] == [UNKNOWN_ISSUER] * 2
    assert hops(records[1])[0]["reused"]


def test_a_verified_certificate_has_none(client: carpool.Client, served: ScriptedOrigin, authority: Authority) -> None:
    assert "verify_result" not in hops(perform(client, served.url, **trusting(authority)))[0]


@pytest.mark.parametrize(
    ("subject", "days", "result"), [(None, -1, EXPIRED), ("DNS:other.example", 2, NOT_ASKED)], ids=["old", "other"]
)
def test_a_refused_certificate_has_the_reason(
    client: carpool.Client, authority: Authority, subject: str | None, days: int, result: int
) -> None:
    name = f"results-{result}"
    certificate = authority.issue(name, subject, days=days) if subject else authority.issue(name, days=days)
    origin = ScriptedOrigin(certificate)
    try:
        standard = perform(client, origin.url, **trusting(authority))
        evaluated = perform(
            client, origin.url, trust={"ca_file": str(authority.ca_file), "evaluators": {"*": "default"}}
        )
    finally:
        origin.stop()
    for record in (standard, evaluated):
        assert not record["outcome"]["ok"]
        assert hops(record)[0]["verify_result"] == result


def test_pins_without_verification_leave_the_result(client: carpool.Client, served: ScriptedOrigin) -> None:
    disabled = {"evaluators": {"*": {"default": {"validate_host": False}}}}
    assert not perform(client, served.url, trust=disabled)["outcome"]["ok"]
    record = perform(client, served.url, trust={"evaluators": {"*": "disabled"}})
    assert hops(record)[0]["verify_result"] == UNKNOWN_ISSUER


def test_certificates_are_described_if_asked_for(
    client: carpool.Client, served: ScriptedOrigin, authority: Authority
) -> None:
    trust = trusting(authority)
    plain = hops(perform(client, served.url, **trust))[0]
    assert "certificates" not in plain
    first, second = (hops(perform(client, served.url, certificates=True, **trust))[0] for _ in range(2))
    # The connection that was there has nothing of them, so that another one is made; that is used again.
    assert (first["reused"], second["reused"]) == (False, True)
    assert first["connection"] == second["connection"] != plain["connection"]
    assert first["certificates"] == second["certificates"]
    (lines,) = first["certificates"]
    assert "Subject:CN = results" in lines
    assert any(line.startswith("Cert:-----BEGIN CERTIFICATE-----") for line in lines)


def test_a_pin_of_the_own_key_is_none_of_an_authority(
    client: carpool.Client, served: ScriptedOrigin, authority: Authority
) -> None:
    pins = {"files": [str(authority.ca_file)]}
    for own_key, is_accepted in ((False, True), (True, False)):
        trust = {
            "ca_file": str(authority.ca_file),
            "evaluators": {"*": {"public_keys": {**pins, "own_key": own_key}}},
        }
        assert perform(client, served.url, trust=trust)["outcome"]["ok"] is is_accepted


# MARK: Tunnels


def test_a_tunnel_has_its_status(
    client: carpool.Client, squid: Squid, served: ScriptedOrigin, authority: Authority
) -> None:
    proxy = {"proxy": f"http://127.0.0.1:{squid.plain}", **trusting(authority)}
    records = [perform(client, served.url, **proxy) for _ in range(2)]
    assert [hops(record)[0]["connect_status"] for record in records] == [200, 200]
    assert hops(records[1])[0]["reused"]
    refused = perform(client, served.url, proxy=f"http://127.0.0.1:{squid.basic}", **trusting(authority))
    assert refused["outcome"]["error"]["name"] == NEEDS_USER
    assert hops(refused)[0]["connect_status"] == 407
    assert "connect_status" not in hops(perform(client, served.url, **trusting(authority)))[0]


def test_the_heads_of_a_tunnel_come_first(
    wire: Wire, squid: Squid, served: ScriptedOrigin, authority: Authority
) -> None:
    """They are those of the connection, also for the request that has not made it."""
    params = {
        "url": served.url, "default_headers": False, "proxy": f"http://127.0.0.1:{squid.plain}", **trusting(authority)
    }  # fmt: skip
    output = {"fd": 0, "heads": True, "connect_heads": True}
    connections = []
    for _ in range(2):
        pair = Pair()
        record = pair.perform(wire, response_body=output, **params)
        data = bytes(pair.received)
        length, connection = int(data[:8], 16), int(data[9:25], 16)
        assert data[25:26] == b"\n"
        assert data[26 : 26 + length].startswith(b"HTTP/1.1 200 ")
        rest = data[26 + length :]
        assert rest[9 : 9 + int(rest[:8], 16)].startswith(b"HTTP/1.1 200 Reason")
        assert connection == hops(record)[0]["connection"]
        connections.append(connection)
    assert connections[0] == connections[1]


def test_a_refused_tunnel_has_its_heads(wire: Wire, squid: Squid, served: ScriptedOrigin) -> None:
    record = Pair().perform(
        wire, url=served.url, proxy=f"http://127.0.0.1:{squid.basic}",
        response_body={"fd": 0, "heads": True, "connect_heads": True},
    )  # fmt: skip
    assert record["raw_connect_heads"].startswith("HTTP/1.1 407 ")
    assert "raw_heads" not in record
