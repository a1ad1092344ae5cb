"""PEM texts with blocks that OpenSSL stops at without an error: what follows them is never left out silently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import carpool
import pytest
from origins.authority import Authority
from origins.chains import Signer
from origins.trustworld import World

BODY = "MIIB" * 30
ODD = {
    "empty": "-----BEGIN {0}-----\n-----END {0}-----\n",
    "blank": "-----BEGIN {0}-----\n\n-----END {0}-----\n",
    "hyphen": "-----BEGIN {0}-----\n-\n-----END {0}-----\n",
    "equals": "-----BEGIN {0}-----\n=\n-----END {0}-----\n",
    "header": "-----BEGIN {0}-----\nProc-Type: 4,ENCRYPTED\n-----END {0}-----\n",
    "header without end": f"-----BEGIN {{0}}-----\nProc-Type: 4,ENCRYPTED\n{BODY}\n-----END {{0}}-----\n",
    "76 columns": f"-----BEGIN {{0}}-----\nProc-Type: 4,ENCRYPTED\n\n{BODY[:76]}\n-----END {{0}}-----\n",
}
KINDS = ["X509 CRL", "CERTIFICATE", "PUBLIC KEY", "JUNK"]


@pytest.fixture(params=ODD, ids=str)
def odd(request: pytest.FixtureRequest) -> str:
    return ODD[request.param]


@pytest.mark.parametrize("form", ["crl_file", "crl_pem"])
def test_a_revocation_list_behind_an_odd_block_is_not_left_out(
    client: carpool.Client, world: World, tmp_path: Path, form: str, odd: str
) -> None:
    server = world.servers["revoked"]
    crl = world.root.revocation_list(server.certificate).read_text()
    other = Signer(tmp_path / "other", "other").revocation_list().read_text()
    for kind in KINDS:
        text = other + odd.format(kind) + crl
        (tmp_path / "crl").write_text(text)
        given = str(tmp_path / "crl") if form == "crl_file" else text
        trust = world.trust(server, {"revocation": {form: given, "staple": "ignore"}})
        with pytest.raises(carpool.InvalidParamsError) as caught:
            client.call("request.perform", url=f"https://{server.url_host}:{server.port}/", trust=trust)
        assert str(caught.value.data["path"]).endswith(form)


@pytest.mark.parametrize("place", ["ca_file", "ca_pem", "ca_path", "pinned_certificates", "public_keys"])
def test_a_certificate_behind_an_odd_block_is_not_left_out(
    client: carpool.Client, authority: Authority, tmp_path: Path, place: str, odd: str
) -> None:
    own = authority.ca_file.read_text()
    for kind in KINDS:
        text = own + odd.format(kind) + own
        folder = tmp_path / kind
        folder.mkdir()
        path = folder / "ca.pem"
        path.write_text(text)
        forms: dict[str, dict[str, Any]] = {
            "ca_file": {"ca_file": str(path)},
            "ca_pem": {"ca_pem": text},
            "ca_path": {"ca_path": str(folder)},
            "pinned_certificates": {"evaluators": {"*": {"pinned_certificates": {"files": [str(path)]}}}},
            "public_keys": {"evaluators": {"*": {"public_keys": {"files": [str(path)]}}}},
        }
        with pytest.raises(carpool.InvalidParamsError):
            client.call("request.explain", url="https://example.com/", trust=forms[place])


def test_a_chain_behind_an_odd_block_is_not_left_out(client: carpool.Client, authority: Authority, odd: str) -> None:
    mine = authority.issue("odd")
    for kind in KINDS:
        text = mine.key.read_text() + mine.chain.read_text() + odd.format(kind) + authority.ca_file.read_text()
        with pytest.raises(carpool.CarpoolError) as caught:
            client.call("request.explain", url="https://example.com/", client_certificate={"pem": text})
        assert "client_certificate" in str(caught.value)


@pytest.mark.parametrize("words", ["0.0.0.0 the server", "000 first key", "0 0", "0é"])
def test_a_text_before_the_first_block_may_look_like_der(
    client: carpool.Client, authority: Authority, tmp_path: Path, words: str
) -> None:
    path = tmp_path / "key.pem"
    path.write_text(f"{words}\n{authority.ca_file.read_text()}")
    trust = {"evaluators": {"*": {"public_keys": {"files": [str(path)]}}}}
    assert client.call("request.explain", url="https://example.com/", trust=trust)["trust"]["verified"]
