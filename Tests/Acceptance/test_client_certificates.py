"""Client certificates: how they are given, what is refused by which name, and whose connection it is."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.command import Run
from harness.daemon import CARPOOL, Daemon
from harness.declared import declaring, refusal, reload, write
from harness.users import as_root
from harness.waiting import PATIENCE_SECONDS
from harness.wire import Wire
from origins.authority import Authority, Certificate
from origins.mutual import PASSWORD, MutualNginx, files, openssl

StartDaemon = Callable[..., Daemon]


def form(person: Certificate, kind: str) -> dict[str, Any]:
    stem = person.key.with_suffix("")

    def path(suffix: str) -> str:
        return str(stem.with_suffix(suffix))

    chain, key = person.chain.read_text(), person.key.read_text()
    locked = {"file": str(person.chain), "key_file": path(".locked")}
    p12 = base64.b64encode(stem.with_suffix(".p12").read_bytes()).decode()
    return {
        "one file": {"file": path(".both")},
        "two files": {"file": str(person.chain), "key_file": str(person.key)},
        "text": {"pem": chain + key},
        "two texts": {"pem": chain, "key_pem": key, "type": "pem"},
        "text and file": {"pem": chain, "key_file": str(person.key)},
        "encrypted key": locked | {"password": PASSWORD},
        "password of a file": locked | {"password_file": path(".password")},
        "PKCS#12": {"file": path(".p12"), "password": PASSWORD},
        "PKCS#12 in Base64": {"base64": p12, "password": PASSWORD, "type": "p12"},
        "PEM in Base64": {"base64": base64.b64encode((chain + key).encode()).decode()},
    }[kind]


def ask(client: carpool.Client, url: str, authority: Authority, **params: Any) -> list[str]:
    """Return the subject of the certificate as the origin saw it, and its connection."""
    trust = {"ca_file": str(authority.ca_file)}
    record = client.call("request.perform", url=url, trust=trust, **params)
    assert record["outcome"]["ok"], record["outcome"]
    subject, _, connection = record["body"]["text"].rpartition(" ")
    return [subject, connection]


KINDS = [
    "one file", "two files", "text", "two texts", "text and file", "encrypted key", "password of a file", "PKCS#12",
    "PKCS#12 in Base64", "PEM in Base64",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_each_form_is_presented(
    client: carpool.Client, authority: Authority, mutual: MutualNginx, person: Certificate, kind: str
) -> None:
    certificate = form(person, kind)
    for url in (mutual.required, mutual.optional, mutual.optional2):
        assert ask(client, url, authority, client_certificate=certificate)[0] == "CN=person"
    client.create_session(name := kind.replace(" ", "-").replace("#", ""), {"client_certificate": certificate})
    assert ask(client, mutual.required, authority, session=name)[0] == "CN=person"
    assert ask(client, mutual.optional, authority, session=name, client_certificate="none")[0] == ""


def test_descriptors_are_read_from_their_beginning(
    wire: Wire, authority: Authority, mutual: MutualNginx, person: Certificate
) -> None:
    with person.chain.open("rb") as chain, person.key.open("rb") as key:
        chain.seek(10)
        params = {
            "url": mutual.required,
            "trust": {"ca_file": str(authority.ca_file)},
            "client_certificate": {"fd": 1, "key_fd": 0},
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "request.perform", "params": params}
        wire.send(message, [key.fileno(), chain.fileno()])
        assert wire.receive()["result"]["body"]["text"].startswith("CN=person ")
        assert chain.tell() == 10


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"password": "wrong"}, "client_certificate.password", "does not decrypt"),
        ({"password": None}, "client_certificate.password", "no password"),
        ({"file": "other.pem", "password": PASSWORD}, "client_certificate.key_mismatch", "none of the certificates"),
        ({"file": "person.key", "password": PASSWORD}, "client_certificate.unreadable", "a certificate"),
        ({"file": "person.rc2", "key_file": None}, "client_certificate.unsupported", "RC2-40-CBC"),
        ({"file": "curve.pem", "key_file": "curve.key"}, "client_certificate.unsupported_key", "secp256k1"),
        ({"file": "nothing.pem"}, "file.cannot_open", "No such file"),
        ({"file": "person.pem", "type": "p12"}, "client_certificate.unreadable", "a PKCS#12 file"),
        ({"key_pem": "x"}, "invalid_params", "key_file is set too"),
        ({"file": None, "base64": "%"}, "invalid_params", "base64"),
        ({"file": None, "fd": 0}, "invalid_params", "descriptor 0"),
        ({"file": "person.pem", "password_file": "person.password"}, "invalid_params", "password is set too"),
    ],
)
def test_each_refusal_has_its_name_and_sends_nothing(
    client: carpool.Client, authority: Authority, mutual: MutualNginx, person: Certificate, changes: dict[str, Any],
    name: str, words: str,
) -> None:  # fmt: skip
    directory = person.key.parent
    authority.issue("other")
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1", "-out", directory / "curve.key")
    openssl("req", "-x509", "-key", directory / "curve.key", "-subj", "/CN=curve", "-out", directory / "curve.pem")
    given = {"file": str(person.chain), "key_file": str(person.key.with_suffix(".locked")), "password": PASSWORD}
    for member, value in changes.items():
        given.pop(member, None)
        if value is not None:
            given[member] = str(directory / value) if isinstance(value, str) and "file" in member else value
    calls: list[tuple[str, dict[str, Any]]] = [
        ("request.perform", {"url": mutual.required, "client_certificate": given}),
        ("session.create", {"name": "refused", "configuration": {"client_certificate": given}}),
    ]
    for method, params in calls:
        with pytest.raises(carpool.RPCError) as caught:
            client.call(method, **params)
        assert caught.value.name == name
        assert words in str(caught.value) and PASSWORD not in str(caught.value)
        if name.startswith("client_certificate"):
            assert caught.value.data["hint"] and caught.value.data["path"].endswith("client_certificate")


@pytest.mark.parametrize("server", ["optional", "optional2"])
def test_connections_belong_to_their_certificate(
    client: carpool.Client, authority: Authority, mutual: MutualNginx, person: Certificate, server: str
) -> None:
    """Also for a file that has other content than before: libcurl's pool would only compare its path."""
    url = getattr(mutual, server)
    changing = person.key.parent / "changing.pem"
    sources = {"person": person, "neighbour": authority.issue("neighbour")}
    users: dict[str, set[str]] = {}
    for name in ["person", "neighbour"] * 5:
        source = sources[name]
        changing.write_bytes(source.chain.read_bytes() + source.key.read_bytes())
        for certificate in (str(changing), None):
            given = {"client_certificate": {"file": certificate}} if certificate else {}
            subject, connection = ask(client, url, authority, **given)
            assert subject == (f"CN={name}" if certificate else "")
            users.setdefault(subject, set()).add(connection)
    assert all(len(connections) == 1 for subject, connections in users.items() if subject.startswith("CN="))
    numbers = [number for connections in users.values() for number in connections]
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize("server", ["optional", "optional2"])
def test_the_key_is_part_of_what_connections_are_shared_by(
    client: carpool.Client, authority: Authority, mutual: MutualNginx, person: Certificate, server: str
) -> None:
    """libcurl's pool compares the path of the certificate alone (CVE-2026-8932)."""
    url = getattr(mutual, server)
    assert ask(client, url, authority, client_certificate=files(person))[0] == "CN=person"
    other = authority.issue("key-of-another").key
    for key, name in ((other, "client_certificate.key_mismatch"), (other.with_name("none.key"), "file.cannot_open")):
        with pytest.raises(carpool.RPCError) as caught:
            ask(client, url, authority, client_certificate={"file": str(person.chain), "key_file": str(key)})
        assert caught.value.name == name


def test_1000_interleaved_requests_of_two_certificates_and_none(
    client: carpool.Client, authority: Authority, mutual: MutualNginx, person: Certificate
) -> None:
    people = {"CN=person": files(person), "CN=second": files(authority.issue("second")), "": "none"}
    trust = {"ca_file": str(authority.ca_file)}
    for index, certificate in enumerate(people.values()):
        client.create_session(f"crowd-{index}", {"trust": trust, "client_certificate": certificate})
    owners: dict[str, set[str]] = {}
    made = [
        (subject, client.call("request.submit", url=mutual.optional2, session=f"crowd-{index}")["request"])
        for _ in range(334)
        for index, subject in enumerate(people)
    ]
    for subject, request in made:
        text = client.call("request.wait", request=request)["body"]["text"]
        seen, _, connection = text.rpartition(" ")
        assert seen == subject
        owners.setdefault(connection, set()).add(seen)
    assert all(len(owner) == 1 for owner in owners.values())


def test_a_redirect_to_another_origin_does_not_present_it(
    client: carpool.Client, authority: Authority, mutual: MutualNginx, person: Certificate
) -> None:
    url = f"{mutual.optional}/elsewhere"
    assert ask(client, url, authority, client_certificate=files(person))[0] == ""
    streamed = {"method": "POST", "body": {"multipart": [{"name": "a", "text": "x"}]}}
    assert ask(client, url, authority, client_certificate=files(person), **streamed)[0] == ""


def test_nothing_of_it_is_returned(
    start: StartDaemon, authority: Authority, mutual: MutualNginx, person: Certificate
) -> None:
    """Nor is it in the log, with every detail."""
    daemon = start("--log-level", "debug")
    client = daemon.client()
    certificate = {
        "pem": person.chain.read_text(), "key_pem": person.key.with_suffix(".locked").read_text(), "password": PASSWORD,
    }  # fmt: skip
    client.create_session("secretive", {"client_certificate": certificate})
    session = client.call("session.get", session="secretive")
    shown = session["client_certificate"]
    assert (
        "client_certificate" not in session["configuration"]
        and shown["subject"] == "CN=person"
        and shown["issuer"] == "CN=Carpool tests"
    )
    assert len(shown["sha256"]) == 64 and shown["not_after"].endswith("Z")
    trust = {"ca_file": str(authority.ca_file)}
    made = client.call("request.submit", url=mutual.required, session="secretive", trust=trust)["request"]
    record = client.call("request.wait", request=made)
    answers = [session, record, client.call("request.get", request=made), client.call("request.curl", request=made)]
    text = json.dumps([*answers, client.call("session.list")])
    assert PASSWORD not in text and "PRIVATE KEY" not in text and "BEGIN CERTIFICATE" not in text
    assert record["attempts"][-1]["metrics"][-1]["tls"]["client_certificate"] == shown
    plain = client.call("request.perform", url=mutual.optional, trust=trust)
    assert "client_certificate" not in plain["attempts"][-1]["metrics"][-1]["tls"]
    assert "--cert '<CN=person>'" in json.dumps(answers[-1])
    assert client.create_session("secretive", {"client_certificate": certificate}) is False
    log = daemon.log.read_text()
    assert PASSWORD not in log and "PRIVATE KEY" not in log
    client.close()


def test_the_command_takes_the_options_of_curl(
    run: Run, authority: Authority, mutual: MutualNginx, person: Certificate
) -> None:
    stem = person.key.with_suffix("")
    forms: list[list[str | Path]] = [
        ["--cert", stem.with_suffix(".both")],
        ["-E", person.chain, "--key", person.key],
        ["--cert", person.chain, "--key", stem.with_suffix(".locked"), "--pass", PASSWORD],
        ["--cert", f"{stem.with_suffix('.p12')}:{PASSWORD}", "--cert-type", "P12"],
    ]
    for options in forms:
        done = run("get", "--cacert", authority.ca_file, *options, mutual.required)
        assert done.returncode == 0 and done.stdout.startswith(b"CN=person "), done.stderr
    done = run("get", "--cacert", authority.ca_file, "--cert", f"{stem.with_suffix('.p12')}:wrong", mutual.required)
    assert done.returncode == 1 and b"password" in done.stderr
    assert run("get", "--cert-type", "DER", mutual.required).returncode == 2


@pytest.mark.parametrize("command", [["get"], ["curl", "-sS"]])
def test_the_command_reads_pipes_and_its_descriptors(
    run: Run, authority: Authority, mutual: MutualNginx, person: Certificate, tmp_path: Path, command: list[str]
) -> None:
    """What only the caller can open: once, for all URLs."""
    authorities = authority.ca_file.read_bytes()
    os.mkfifo(tmp_path / "key")
    with ThreadPoolExecutor() as pool:
        writing = pool.submit((tmp_path / "key").write_bytes, person.key.read_bytes())
        options = ["--cacert", "/dev/stdin", "--cert", person.chain, "--key", "key"]
        done = run(*command, *options, mutual.required, mutual.required, stdin=authorities)
        writing.result(PATIENCE_SECONDS)
    assert done.returncode == 0 and done.stdout.count(b"CN=person ") == 2, done.stderr
    both = person.key.with_suffix(".both").read_bytes()
    options = ["--cacert", authority.ca_file, "--cert", "/dev/stdin"]
    assert run(*command, *options, mutual.required, stdin=both).stdout.startswith(b"CN=person ")
    # As curl, `carpool curl` takes the key of the server alone, not that of an authority.
    codes = {"get": (0, 7), "curl": (90, 90)}[command[0]]
    for pinned, code in zip((authorities, person.chain.read_bytes()), codes, strict=True):
        options = ["--cacert", authority.ca_file, "--pinnedpubkey", "/dev/stdin"]
        done = run(*command, *options, mutual.optional, stdin=pinned)
        assert done.returncode == code, done.stderr
    done = run(*command, "--cacert", "/dev/fd/99", mutual.optional)
    assert done.returncode == {"get": 2, "curl": 77}[command[0]]
    assert b"/dev/fd/99" in done.stderr


@as_root
@pytest.mark.parametrize("changed", [["unshare", "--mount"], ["setpriv", "--bounding-set", "-all"]], ids=lambda c: c[0])
def test_curl_sends_what_is_in_its_files_from_another_namespace(
    variables: dict[str, str], authority: Authority, mutual: MutualNginx, person: Certificate, changed: list[str]
) -> None:
    """The daemon opens no path of such a client; curl, which opens them itself, presents the certificate."""
    if subprocess.run([*changed, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no such namespaces here")
    stem = person.key.with_suffix("")
    options: list[list[str | Path]] = [
        ["--cert", person.chain, "--key", person.key],
        ["--cert", f"{stem.with_suffix('.p12')}:{PASSWORD}", "--cert-type", "P12"],
    ]
    for given in options:
        done = subprocess.run(
            [*changed, CARPOOL, "curl", "-sS", "--cacert", authority.ca_file, *given, mutual.required, mutual.required],
            env=variables, check=False, capture_output=True, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        assert (done.returncode, done.stdout.count(b"CN=person ")) == (0, 2), done.stderr


def test_python_takes_the_forms_of_requests(
    client: carpool.Client, authority: Authority, mutual: MutualNginx, person: Certificate
) -> None:
    both = person.key.with_suffix(".both")
    for cert in (both, str(both), (person.chain, person.key), (str(person.chain), str(person.key))):
        response = client.get(mutual.required, verify=authority.ca_file, cert=cert)
        assert response.text.startswith("CN=person ")
    with pytest.raises(carpool.CertificateError):
        expired = authority.issue("expired-2", days=-1)
        client.get(mutual.required, verify=authority.ca_file, cert=(expired.chain, expired.key))


def test_a_declared_session_has_one(
    start: StartDaemon, authority: Authority, mutual: MutualNginx, person: Certificate, tmp_path: Path
) -> None:
    password = tmp_path / "password"
    password.write_text(PASSWORD + "\n")
    locked = person.key.with_suffix(".locked")
    for path in (password, locked):
        path.chmod(0o600)
    certificate = {"file": str(person.chain), "key_file": str(locked), "password": {"file": str(password)}}
    configuration = {"client_certificate": certificate, "trust": {"ca_file": str(authority.ca_file)}}
    daemon = start(config={"sessions": {"declared": configuration}})
    record = daemon.call("request.perform", url=mutual.required, session="declared")
    assert record["body"]["text"].startswith("CN=person ")
    shown = daemon.call("session.get", session="declared")
    assert shown["client_certificate"]["subject"] == "CN=person"
    assert PASSWORD not in json.dumps(shown)


def test_the_files_of_a_declared_session_are_secrets(
    start: StartDaemon, authority: Authority, mutual: MutualNginx, person: Certificate, tmp_path: Path
) -> None:
    """A key and a password are for the daemon's user alone; another content is another session."""

    def file(name: str, content: Path, mode: int = 0o600) -> Path:
        write(tmp_path / name, content.read_bytes(), mode)
        return tmp_path / name

    stem = person.key.with_suffix("")
    chain = file("chain", person.chain, 0o644)
    daemon = start()
    faults: list[tuple[dict[str, Any], list[str]]] = [
        ({"file": str(chain), "key_file": str(file("open", person.key, 0o640))}, ["key_file: ", "chmod 600"]),
        ({"file": str(file("both", stem.with_suffix(".both"), 0o644))}, ["file: ", "chmod 600"]),
        ({"file": str(chain), "key_file": "/nonexistent"}, ["key_file: ", "No such file"]),
        ({"file": str(file("alone", person.chain))}, [": the client certificate: "]),
        ({"file": str(file("p12", stem.with_suffix(".p12"))), "password": "wrong"}, [": the client certificate: "]),
        ({"fd": 0}, [": descriptor 0 did not come"]),
    ]
    for certificate, words in faults:
        message = refusal(daemon, declaring(api={"client_certificate": certificate}))
        for word in ["configuration.sessions.api.client_certificate", *words]:
            assert word in message, message
    key = file("key", person.key)
    config = declaring(
        api={
            "client_certificate": {"file": str(chain), "key_file": str(key)},
            "trust": {"ca_file": str(authority.ca_file)},
        }
    )
    assert reload(daemon, config) == ["sessions.api"]
    assert reload(daemon, config) == []
    other = authority.issue("other-person")
    file("chain", other.chain, 0o644)
    assert "api.client_certificate: the client certificate: " in refusal(daemon, config)
    file("key", other.key)
    assert reload(daemon, config) == ["sessions.api"]
    record = daemon.call("request.perform", url=mutual.required, session="api")
    assert record["body"]["text"].startswith("CN=other-person ")


def test_many_declared_sessions_decrypt_one_key_once(start: StartDaemon, person: Certificate, tmp_path: Path) -> None:
    """Each reading takes some milliseconds, which 1,000 sessions would take at each reload."""
    write(tmp_path / "p12", person.key.with_suffix(".p12").read_bytes())
    certificate = {"file": str(tmp_path / "p12"), "password": PASSWORD}
    many = declaring(**{f"s{number}": {"client_certificate": certificate} for number in range(1_000)})
    limits = {"limits": {"declared_session_file_bytes": 10_000}}
    assert start(config=many | limits).launch_status == "ready"
