"""Lists of revoked certificates that are not the usual ones (TR-06)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import carpool
import pytest
from origins.chains import Signer
from origins.trustworld import World, failure, perform


def check(client: carpool.Client, world: World, crl: Path, **options: Any) -> str | None:
    """Send a request to a server whose certificate is in the list, or not; returns the reason of the failure."""
    evaluator = {"revocation": {"crl_file": str(crl), "staple": "ignore", **options}}
    server = world.servers["revoked"]
    return failure(perform(client, server.port, world.trust(server, evaluator)))


@pytest.mark.parametrize("is_verified", [True, False])
@pytest.mark.parametrize(
    "extensions",
    [
        "2.5.29.27=critical,DER:020101",
        "2.5.29.27=DER:020101",
        "issuingDistributionPoint=critical,@reasons",
        "issuingDistributionPoint=critical,@indirect",
        "1.2.3.4=critical,DER:0500",
    ],
)
def test_tr_06_a_list_of_a_kind_that_is_not_used_is_refused(
    client: carpool.Client, world: World, extensions: str, *, is_verified: bool
) -> None:
    crl = world.root.revocation_list(world.servers["revoked"].certificate, extensions=extensions)
    with pytest.raises(carpool.InvalidParamsError, match="list 1 is a delta list") as caught:
        check(client, world, crl, perform_default_validation=is_verified)
    server = world.servers["revoked"]
    assert caught.value.data["path"] == f"params.trust.evaluators.{server.url_host}.revocation.crl_file"


def test_tr_06_a_list_of_another_key_of_the_issuer_refuses(
    client: carpool.Client, world: World, tmp_path: Path
) -> None:
    # It has the issuer's name, and says that it is of the other key: OpenSSL takes no notice of it.
    other = Signer(tmp_path / "other", world.root.name)
    assert check(client, world, other.revocation_list()) == "revocation_check_failed"
    assert check(client, world, Signer(tmp_path / "third", "third").revocation_list()) is None


@pytest.mark.parametrize("is_verified", [True, False])
def test_tr_06_a_list_of_authorities_says_nothing_about_a_server(
    client: carpool.Client, world: World, *, is_verified: bool
) -> None:
    crl = world.root.revocation_list(extensions="issuingDistributionPoint=critical,@authorities")
    options = {"perform_default_validation": is_verified, "require_positive_response": True}
    assert check(client, world, crl, **options) == "revocation_check_failed"
