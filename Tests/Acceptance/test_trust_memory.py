"""The memory of certificates and revocation lists is bounded, whoever names them and however often."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import carpool
import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from origins.authority import Authority

pytestmark = pytest.mark.own_daemon

LIMIT = 1_048_576


def padded(authority: Authority, name: str, size: int) -> str:
    """A PEM file of an authority, made different and larger by text in front of it."""
    path = authority.directory / name
    path.write_text(f"{name}\n".ljust(size, "#") + "\n" + authority.ca_file.read_text())
    return str(path)


@pytest.fixture
def bounded(start: StartDaemon) -> Daemon:
    names = ("trust_bytes_per_client", "trust_bytes_per_user", "trust_bytes")
    return start(config={"limits": dict.fromkeys(names, LIMIT)})


@pytest.fixture
def client(bounded: Daemon) -> Iterator[carpool.Client]:
    with bounded.client() as connected:
        yield connected


def create(client: carpool.Client, name: str, path: str) -> None:
    client.call("session.create", name=name, configuration={"trust": {"ca_file": path}})


def test_the_authorities_of_sessions_are_counted_while_they_are_used(
    client: carpool.Client, authority: Authority
) -> None:
    for number in range(2):
        create(client, f"s{number}", padded(authority, f"large{number}.pem", 500_000))
    third = padded(authority, "large2.pem", 500_000)
    with pytest.raises(carpool.RPCError) as caught:
        create(client, "s2", third)
    assert caught.value.data["name"] == "queue_full"
    assert caught.value.data["limit_name"] == "trust_bytes_per_client"
    assert caught.value.data["limit_bytes"] == LIMIT
    # The same content counts once, under any name, and what is used no more does not count.
    for number in range(3, 8):
        create(client, f"s{number}", padded(authority, "large0.pem", 500_000))
    client.call("session.invalidate", session="s1")
    create(client, "s2", third)


def test_requests_with_the_same_pins_share_them(client: carpool.Client, authority: Authority) -> None:
    pins = {"evaluators": {"*": {"pinned_certificates": {"files": [str(authority.ca_file)]}}}}
    # One of them counts at least 1 KiB.
    for number in range(1_100):
        answer = client.call(
            "request.submit", url="http://127.0.0.1:1/", trust=pins, key=f"k{number}", interceptor=["retry_policy"]
        )
        assert answer["request"]


def test_finished_requests_hold_no_authorities(client: carpool.Client, authority: Authority) -> None:
    for number in range(6):
        path = padded(authority, f"request{number}.pem", 500_000)
        answer = client.call("request.submit", url="http://127.0.0.1:1/", trust={"ca_file": path})
        record = client.call("request.wait", request=answer["request"])
        assert record["outcome"]["error"]["name"] == "session_task_failed.cannot_connect_to_host"
        assert f"--cacert '{path}'" in client.call("request.curl", request=answer["request"])["curl"]


def test_a_file_that_a_call_names_often_is_read_once(daemon: Daemon, tmp_path: Path, authority: Authority) -> None:
    # A list of 20,000 certificates takes some MiB of memory.
    entries = b"".join(
        b"\x30\x15\x02\x04" + (0x10000000 + number).to_bytes(4, "big") + _TIME for number in range(20_000)
    )
    listed = b"\x30" + _length(entries) + entries
    head = b"\x30\x05\x06\x03\x2b\x65\x70\x30\x0f\x31\x0d\x30\x0b\x06\x03\x55\x04\x03\x0c\x04root" + _TIME + _TIME
    body = b"\x30" + _length(head + listed) + head + listed
    tail = b"\x30\x05\x06\x03\x2b\x65\x70\x03\x41\x00" + bytes(64)
    path = tmp_path / "list.crl"
    text = base64.encodebytes(b"\x30" + _length(body + tail) + body + tail).decode()
    path.write_text(f"-----BEGIN X509 CRL-----\n{text}-----END X509 CRL-----\n")
    evaluators = {
        f"h{number}.example": {"composite": [{"revocation": {"crl_file": str(path)}}] * 8} for number in range(64)
    }
    before = daemon.memory_kib()
    daemon.call("session.create", name="lists", configuration={"trust": {"evaluators": evaluators}})
    assert daemon.memory_kib() - before < 65_536


def test_the_files_of_a_call_are_bounded(daemon: Daemon, authority: Authority) -> None:
    files = [padded(authority, f"pin{number}.pem", 1_000_000) for number in range(9)]
    evaluators = {f"h{number}": {"pinned_certificates": {"files": [path]}} for number, path in enumerate(files)}
    with pytest.raises(carpool.InvalidParamsError) as caught:
        daemon.call("session.create", name="pins", configuration={"trust": {"evaluators": evaluators}})
    assert caught.value.data["path"] == "params.configuration.trust.evaluators.h8.pinned_certificates.files[0]"


_TIME = b"\x17\x0d260101000000Z"


def _length(content: bytes) -> bytes:
    return b"\x83" + len(content).to_bytes(3, "big")
