"""Raw streams that fail: the names of the failures, and when they come."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from harness.raw import read_all
from harness.wire import RemoteError, Wire
from origins.authority import Authority
from origins.peer import StartPeer
from origins.tlsserver import TLSServer


def failure(wire: Wire, **params: Any) -> dict[str, Any]:
    with pytest.raises(RemoteError) as refusal:
        wire.call("stream.open", **params)
    assert (refusal.value.code, refusal.value.name) == (1111, "stream.failed")
    data: dict[str, Any] = refusal.value.error["data"]
    return data


def test_failures_have_the_names_that_those_of_requests_have(wire: Wire, peer: StartPeer) -> None:
    closed = socket.create_server(("127.0.0.1", 0))
    port = closed.getsockname()[1]
    closed.close()
    refused = failure(wire, host="127.0.0.1", port=port, tls=False)
    assert refused["error"] == "session_task_failed.cannot_connect_to_host"
    assert refused["errno"] == 111
    assert failure(wire, host="nowhere.invalid", port=1)["error"] == "session_task_failed.cannot_find_host"
    untrusted = {**peer(tls=True), "trust": "system"}
    assert failure(wire, **untrusted)["error"] == "session_task_failed.server_certificate_has_unknown_root"
    no_tls = {**peer(lambda connection: connection.sendall(b"220 hello\r\n")), "tls": True}
    assert failure(wire, **no_tls)["error"] == "session_task_failed.secure_connection_failed"


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_a_client_certificate_that_is_missing_or_refused(
    wire: Wire, authority: Authority, tmp_path: Path, version: str
) -> None:
    """In TLS 1.3 the server says so when the stream is open."""
    options = [version, "-Verify", "1", "-verify_return_error", "-CAfile", str(authority.ca_file)]
    server = TLSServer(authority.issue("strict-raw"), *options)
    certificates = {
        "required": None, "rejected": Authority(tmp_path / "foreign", "Foreign").issue("foreign"),
        "expired": authority.issue("raw-expired", days=-1), "": authority.issue("raw"),
    }  # fmt: skip
    place = {"host": "127.0.0.1", "port": server.port, "trust": {"ca_file": str(authority.ca_file)}}
    try:
        for name, certificate in certificates.items():
            given = {"file": str(certificate.chain), "key_file": str(certificate.key)} if certificate else "none"
            session = f"raw{version}-{name}"
            wire.call("session.create", name=session, configuration={"client_certificate": given})
            error = None
            try:
                stream = wire.call("stream.open", session=session, **place)["stream"]
                wire.call("stream.write", stream=stream, text="GET / HTTP/1.0\r\n\r\n")
                assert read_all(wire, stream, 8).startswith(b"HTTP/1.0")
            except RemoteError as refusal:
                error = refusal.error["data"]["error"]
            assert error == (f"session_task_failed.client_certificate.{name}" if name else None)
    finally:
        server.stop()


def test_a_host_that_does_not_answer_takes_no_longer_than_was_told(wire: Wire) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(0)
        port = silent.getsockname()[1]
        failed = failure(wire, host="127.0.0.1", port=port, tls=True, timeout_ms=200)
    assert failed["error"] == "session_task_failed.timed_out"


def test_a_connection_that_breaks_fails_the_read_behind_what_came(wire: Wire, peer: StartPeer) -> None:
    def talk(connection: socket.socket) -> None:
        connection.sendall(b"beginning")
        connection.recv(1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        connection.close()

    stream = wire.call("stream.open", **peer(talk))["stream"]
    assert read_all(wire, stream, 9) == b"beginning"
    wire.call("stream.write", stream=stream, text="x")
    with pytest.raises(RemoteError) as refusal:
        wire.call("stream.read", stream=stream)
    assert refusal.value.error["data"]["error"] == "session_task_failed.network_connection_lost"


@pytest.mark.parametrize("host", ["", "a b", "a/b", "a@b", "a:1", "[::1"])
def test_what_is_no_host_is_refused(wire: Wire, host: str) -> None:
    with pytest.raises(RemoteError) as refusal:
        wire.call("stream.open", host=host, port=1)
    assert refusal.value.error["data"]["path"] == "params.host"
