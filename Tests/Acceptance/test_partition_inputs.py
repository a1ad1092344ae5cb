"""What a setting may contain, and what the environment of the daemon's starter may not change."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from origins.authority import Authority, Certificate
from origins.chains import pin
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin
from origins.trustworld import failure

UNKNOWN_ROOT = "session_task_failed.server_certificate_has_unknown_root"
NO_HOST = "session_task_failed.cannot_find_host"
CONTROLS = ["\r\nX-Smuggled: yes", "\n", "\r", "\0", "\t", "\x01", "\x1b[2J", "\x7f"]


def ask(client: carpool.Client, url: str, **params: Any) -> dict[str, Any]:
    record: dict[str, Any] = client.call("request.perform", url=url, **params)
    return record


def files(certificate: Certificate) -> dict[str, str]:
    return {"file": str(certificate.chain), "key_file": str(certificate.key)}


# MARK: What a field may contain


@pytest.mark.parametrize("control", CONTROLS, ids=[str(ord(text[0])) + f"-{len(text)}" for text in CONTROLS])
def test_no_setting_contains_a_control(
    client: carpool.Client, authority: Authority, origin: ScriptedOrigin, control: str
) -> None:
    """A path up to its control is that of a file that exists: nothing may be cut off there."""
    person = authority.issue("controlled")
    ca, chain, key = str(authority.ca_file), str(person.chain), str(person.key)
    good = pin(person.chain)
    number = origin.port
    fields: list[tuple[str, dict[str, Any]]] = [
        ("addresses.resolve", {"addresses": {"resolve": [f"a{control}.example:{number}:127.0.0.1"]}}),
        ("addresses.resolve", {"addresses": {"resolve": [f"a.example:{number}:127.0.0.1{control}"]}}),
        ("addresses.local_address", {"addresses": {"local_address": f"127.0.0.1{control}"}}),
        ("tls.ciphers", {"tls": {"ciphers": f"ECDHE+AESGCM{control}"}}),
        ("tls.ciphers", {"tls": {"ciphers": f"ECDHE+AESGCM:{control}DEFAULT"}}),
        ("tls.tls13_ciphers", {"tls": {"tls13_ciphers": f"TLS_AES_256_GCM_SHA384{control}"}}),
        ("addresses.connect_to", {"addresses": {"connect_to": [f"::127.0.0.1{control}:{number}"]}}),
        ("addresses.connect_to", {"addresses": {"connect_to": [f"a{control}:80:127.0.0.1:{number}"]}}),
        ("addresses.interface", {"addresses": {"interface": f"lo{control}"}}),
        ("addresses.family", {"addresses": {"family": f"ipv4{control}"}}),
        ("tls.min_version", {"tls": {"min_version": f"1.2{control}"}}),
        ("tls.max_version", {"tls": {"max_version": f"1.3{control}"}}),
        ("trust.evaluators", {"trust": {"evaluators": {f"127.0.0.1{control}": "default"}}}),
        ("trust.evaluators", {"trust": {"evaluators": {f"*.a{control}.example": "default"}}}),
        ("trust.evaluators", {"trust": {"evaluators": {"*": f"disabled{control}"}}}),
        ("trust.evaluators", {"trust": {"evaluators": {"*": {"public_keys": {"pins": [good + control]}}}}}),
        ("trust.evaluators", {"trust": {"evaluators": {"*": {"public_keys": {"files": [chain + control]}}}}}),
        ("trust.evaluators", {"trust": {"evaluators": {"*": {"pinned_certificates": {"files": [chain + control]}}}}}),
        ("trust.evaluators", {"trust": {"evaluators": {"*": {"revocation": {"crl_file": ca + control}}}}}),
        ("trust.ca_file", {"trust": {"ca_file": ca + control}}),
        ("trust.ca_path", {"trust": {"ca_path": str(authority.ca_file.parent) + control}}),
        ("client_certificate", {"client_certificate": {"file": chain + control, "key_file": key}}),
        ("client_certificate", {"client_certificate": {"file": chain, "key_file": key + control}}),
        ("client_certificate", {"client_certificate": {**files(person), "password_file": chain + control}}),
        ("client_certificate", {"client_certificate": {**files(person), "type": f"pem{control}"}}),
        ("headers", {"headers": {"Host": f"a.example{control}b"}}),
        ("headers", {"headers": {f"Host{control}": "a.example"}}),
    ]
    found: list[Any] = []
    for path, params in fields:
        for method, prefix, given in (
            ("request.perform", "params", {"url": f"{origin.url}/", **params}),
            ("session.create", "params.configuration", {"name": "controlled", "configuration": params}),
        ):
            try:
                found.append((method, given, client.call(method, **given)))
                continue
            except carpool.RPCError as caught:
                error = caught
            named = str(error.data.get("path", ""))
            # A path that is allowed names no file.
            is_named = (
                named.startswith(f"{prefix}.{path}") if error.name == "invalid_params" else named.endswith(control)
            )
            if not is_named or error.name not in {"invalid_params", "file.cannot_open"}:
                found.append((method, given, error.data))
    assert found == []
    assert origin.connections == 0
    assert [session["session"] for session in client.call("session.list")["sessions"]] == ["default"]


# MARK: The environment of the starter


def test_variables_of_the_starter_change_no_request(
    start: StartDaemon, directory: Path, authority: Authority, nginx: Nginx, origin: ScriptedOrigin,
    other: ScriptedOrigin, tmp_path: Path,
) -> None:  # fmt: skip
    """The variables name a proxy, authorities that would be trusted, a log of keys, aliases, and a password."""
    store = tmp_path / "store"
    store.mkdir()
    (store / "ca.pem").write_bytes(authority.ca_file.read_bytes())
    subprocess.run(["openssl", "rehash", str(store)], check=True, capture_output=True)
    (tmp_path / "openssl.cnf").write_text(
        "openssl_conf = a\n[a]\nssl_conf = b\n[b]\nsystem_default = c\n[c]\nMaxProtocol = TLSv1.2\n"
    )
    (tmp_path / "aliases").write_text("alias localhost\nalias.example localhost\n")
    for place in (tmp_path, directory):
        (place / ".netrc").write_text("default login user password secret\n")
        (place / ".curlrc").write_text(f"proxy = {other.url}\ninsecure\n")
    keys = tmp_path / "keys"
    proxies = ("http_proxy", "https_proxy", "all_proxy")
    variables = {
        **dict.fromkeys((*proxies, *map(str.upper, proxies)), other.url),
        "no_proxy": "",
        "NO_PROXY": "",
        **{name: str(authority.ca_file) for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE")},
        "SSL_CERT_DIR": str(store),
        "SSLKEYLOGFILE": str(keys),
        "OPENSSL_CONF": str(tmp_path / "openssl.cnf"),
        "OPENSSL_MODULES": str(tmp_path),
        "HOSTALIASES": str(tmp_path / "aliases"),
        "LOCALDOMAIN": "localhost",
        "RES_OPTIONS": "ndots:9",
        "NETRC": str(tmp_path / ".netrc"),
        "CURL_HOME": str(tmp_path),
    }
    with start(variables=variables).client() as client:
        assert ask(client, origin.url)["outcome"]["ok"]
        (seen,) = origin.received(1)
        assert seen.target == "/"
        assert seen.values("Authorization") == []
        for url in (nginx.https, nginx.https1):
            assert failure(ask(client, f"{url}/hello.txt")) == UNKNOWN_ROOT
            default = {"evaluators": {"*": "default"}}
            assert failure(ask(client, f"{url}/hello.txt", trust=default)) == "trust_evaluation_failed"
            record = ask(client, f"{url}/hello.txt", trust={"ca_file": str(authority.ca_file)})
            assert record["attempts"][-1]["metrics"][-1]["tls"]["version"] == "TLSv1.3"
        for name in ("alias", "alias.example"):
            assert failure(ask(client, f"http://{name}:{origin.port}/")) == NO_HOST
    assert other.connections == 0
    assert not keys.exists()
