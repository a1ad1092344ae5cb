"""Which certificates HTTPS requests trust: the system's store, a file, or any certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import carpool
import pytest
from origins.authority import Authority, Certificate
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin

Serve = Callable[[Certificate], ScriptedOrigin]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start an HTTPS origin with a certificate that the test chooses."""
    origins: list[ScriptedOrigin] = []

    def begin(certificate: Certificate) -> ScriptedOrigin:
        origins.append(ScriptedOrigin(certificate))
        return origins[-1]

    yield begin
    for origin in origins:
        origin.stop()


def failure(client: carpool.Client, url: str, verify: bool | Path = True) -> str:
    with pytest.raises(carpool.CertificateError) as caught:
        client.get(url, verify=verify)
    return caught.value.name.removeprefix("session_task_failed.")


def test_the_system_s_store_does_not_know_the_tests_authority(client: carpool.Client, nginx: Nginx) -> None:
    assert failure(client, f"{nginx.https}/hello.txt") == "server_certificate_has_unknown_root"


def test_a_ca_file_makes_its_authority_trusted_for_that_request_alone(
    client: carpool.Client, nginx: Nginx, authority: Authority
) -> None:
    assert client.get(f"{nginx.https}/hello.txt", verify=authority.ca_file).ok
    assert failure(client, f"{nginx.https}/hello.txt") == "server_certificate_has_unknown_root"


def test_verification_is_off_only_where_it_is_asked_for(client: carpool.Client, nginx: Nginx) -> None:
    assert client.get(f"{nginx.https}/hello.txt", verify=False).ok
    assert failure(client, f"{nginx.https}/hello.txt") == "server_certificate_has_unknown_root"


def test_another_authority_does_not_do(client: carpool.Client, nginx: Nginx, tmp_path: Path) -> None:
    other = Authority(tmp_path / "other", "Somebody else")
    assert failure(client, f"{nginx.https}/hello.txt", other.ca_file) in {
        "server_certificate_has_unknown_root",
        "server_certificate_untrusted",
    }


def test_an_ended_certificate_is_refused(client: carpool.Client, authority: Authority, serve: Serve) -> None:
    origin = serve(authority.issue("ended", days=-1))
    assert failure(client, origin.url, authority.ca_file) == "server_certificate_has_bad_date"
    assert origin.requests == []


def test_a_certificate_for_another_host_is_refused(client: carpool.Client, authority: Authority, serve: Serve) -> None:
    origin = serve(authority.issue("other-host", "DNS:other.example"))
    assert failure(client, origin.url, authority.ca_file) == "server_certificate_untrusted"
    assert origin.requests == []


def test_a_peer_without_tls_fails_the_handshake(client: carpool.Client, nginx: Nginx) -> None:
    assert failure(client, nginx.http.replace("http:", "https:"), verify=False) == "secure_connection_failed"


def test_a_session_s_trust_is_used_by_its_requests(client: carpool.Client, nginx: Nginx, authority: Authority) -> None:
    client.call("session.create", name="private", configuration={"trust": {"ca_file": str(authority.ca_file)}})
    assert client.get(f"{nginx.https}/hello.txt", session="private").ok
    assert failure(client, f"{nginx.https}/hello.txt") == "server_certificate_has_unknown_root"


def test_a_ca_file_that_changed_is_read_again(
    client: carpool.Client, nginx: Nginx, authority: Authority, tmp_path: Path
) -> None:
    file = tmp_path / "ca.pem"
    file.write_bytes(authority.ca_file.read_bytes())
    assert client.get(f"{nginx.https}/hello.txt", verify=file).ok
    file.write_bytes(Authority(tmp_path / "other", "Somebody else").ca_file.read_bytes())
    failure(client, f"{nginx.https}/hello.txt", file)


@pytest.mark.parametrize("path", ["/none/such.pem", "/dev/null"])
def test_a_ca_file_that_cannot_be_read_is_told_before_anything_is_sent(
    client: carpool.Client, nginx: Nginx, path: str
) -> None:
    with pytest.raises(carpool.FileAccessError) as caught:
        client.get(f"{nginx.https}/hello.txt", verify=path)
    assert caught.value.data["path"] == path


def test_a_ca_file_without_a_certificate_is_no_trust(client: carpool.Client, nginx: Nginx, tmp_path: Path) -> None:
    file = tmp_path / "empty.pem"
    file.write_text("nothing\n")
    with pytest.raises(carpool.CarpoolError):
        client.get(f"{nginx.https}/hello.txt", verify=file)


def test_tr_07_a_servers_own_certificate_is_an_anchor(
    client: carpool.Client, serve: Serve, authority: Authority
) -> None:
    mine = authority.issue("pinned")
    other = authority.issue("not-pinned")
    assert client.get(serve(mine).url, verify=mine.chain).ok
    assert failure(client, serve(other).url, mine.chain) in {
        "server_certificate_has_unknown_root",
        "server_certificate_untrusted",
    }


def test_f12_a_trust_of_two_kinds_is_refused_with_both_names(client: carpool.Client, authority: Authority) -> None:
    trust = {"ca_file": str(authority.ca_file), "verify": False}
    with pytest.raises(carpool.RPCError) as caught:
        client.call("request.perform", url="https://127.0.0.1:1/", trust=trust)
    assert caught.value.data["path"] == "params.trust"
    assert "ca_file and verify" in caught.value.message


def test_f12_a_member_inside_a_union_is_named(client: carpool.Client) -> None:
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"interceptor": [{"retry_polcy": {}}]}, "params.interceptor[0].retry_polcy", "retry_policy"),
        ({"trust": {"ca_fil": "/x"}}, "params.trust.ca_fil", "ca_file"),
    ]
    for params, path, near in cases:
        with pytest.raises(carpool.RPCError) as caught:
            client.call("request.perform", url="http://127.0.0.1:1/", **params)
        assert caught.value.data["path"] == path
        assert caught.value.data["did_you_mean"] == near
