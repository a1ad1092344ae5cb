"""Client certificates and servers that refuse them: by name, and with the verdict of curl."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.command import Run
from origins.authority import Authority, Certificate
from origins.mutual import PASSWORD, MutualNginx, files
from origins.tlsserver import TLSServer


@pytest.fixture(params=["-tls1_2", "-tls1_3"])
def strict(request: pytest.FixtureRequest, authority: Authority) -> Iterator[TLSServer]:
    """A server that refuses clients in TLS."""
    server = TLSServer(
        authority.issue("strict"), request.param, "-Verify", "1", "-verify_return_error",
        "-CAfile", str(authority.ca_file),
    )  # fmt: skip
    yield server
    server.stop()


@pytest.mark.parametrize("body", [None, {"text": "x" * 300_000}])
def test_f8_a_refused_certificate_has_its_name_each_time(
    client: carpool.Client, authority: Authority, strict: TLSServer, person: Certificate, tmp_path: Path,
    body: dict[str, str] | None,
) -> None:  # fmt: skip
    foreign = Authority(tmp_path / "foreign", "Nobody knows us").issue("foreign")
    expired = authority.issue("expired", days=-1)
    options: dict[str, Any] = {"method": "POST", "body": body} if body else {}
    interceptor = [{"retry_policy": {"limit": 3, "methods": ["GET", "POST"]}}]
    for certificate, name in ((None, "required"), (foreign, "rejected"), (expired, "expired")):
        given = {"client_certificate": files(certificate)} if certificate else {}
        for _ in range(10):
            record = client.call(
                "request.perform", url=strict.url, trust={"ca_file": str(authority.ca_file)}, interceptor=interceptor,
                **given, **options,
            )  # fmt: skip
            error = record["outcome"]["error"]
            assert error["name"] == f"session_task_failed.client_certificate.{name}", error
            assert error["retryable"] is False and error["hint"]
            assert len(record["attempts"]) == 1
    assert client.call(
        "request.perform", url=strict.url, trust={"ca_file": str(authority.ca_file)}, client_certificate=files(person)
    )["outcome"]["ok"]


def curl(url: str, *options: str | Path) -> int | None:
    """The status that curl gets with the same options; `None` if it fails."""
    command = ["curl", "-q", "-sS", "-m", "20", "-o", "/dev/null", "-w", "%{http_code}", *map(str, options), url]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return int(done.stdout) if done.returncode == 0 else None


@pytest.mark.parametrize("server", ["optional", "optional2", "required", "strict"])
def test_the_verdict_is_that_of_curl(
    run: Run, authority: Authority, mutual: MutualNginx, person: Certificate, tmp_path: Path, strict: TLSServer,
    server: str,
) -> None:  # fmt: skip
    """Each certificate with each server: curl and the command get the same status, or both fail.

    An expired one is not among them: curl presents it, the command refuses it by name.
    """
    stem = person.key.with_suffix("")
    foreign = Authority(tmp_path / "foreign", "Nobody knows us").issue("foreign")
    usages: dict[str, list[str | Path]] = {
        "none": [],
        "two files": ["--cert", person.chain, "--key", person.key],
        "encrypted key": ["--cert", person.chain, "--key", stem.with_suffix(".locked"), "--pass", PASSWORD],
        "wrong password": ["--cert", person.chain, "--key", stem.with_suffix(".locked"), "--pass", "wrong"],
        "PKCS#12": ["--cert", f"{stem.with_suffix('.p12')}:{PASSWORD}", "--cert-type", "P12"],
        "PKCS#12, wrong password": ["--cert", f"{stem.with_suffix('.p12')}:wrong", "--cert-type", "P12"],
        "key of another": ["--cert", person.chain, "--key", foreign.key],
        "no file": ["--cert", tmp_path / "none"],
        "foreign": ["--cert", foreign.chain, "--key", foreign.key],
    }
    url = strict.url if server == "strict" else f"{getattr(mutual, server)}/"
    verdicts: dict[str, int | None] = {}
    for name, options in usages.items():
        done = run("get", "-i", "--cacert", authority.ca_file, *options, url)
        status = int(done.stdout.split()[1]) if done.returncode == 0 else None
        assert status == curl(url, "--cacert", authority.ca_file, *options), (name, done)
        verdicts[name] = status
    assert verdicts["two files"] == verdicts["encrypted key"] == verdicts["PKCS#12"] == 200
    for name in ("wrong password", "PKCS#12, wrong password", "key of another", "no file"):
        assert verdicts[name] is None
    assert verdicts["none"] == {"required": 400, "strict": None}.get(server, 200)
