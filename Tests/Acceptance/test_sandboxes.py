"""Clients of the daemon's own user that are shut off from something: the daemon opens no path for them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.daemon import CARPOOLD, ROOT, Daemon
from harness.sandbox import GROUP, KINDS, Sandboxed
from harness.users import NOBODY, as_root
from origins.authority import Authority
from origins.scripted import ScriptedOrigin

pytestmark = as_root

OTHER_VIEW = "file.other_view"


def paths(url: str, secret: Path, folder: Path, authority: Authority) -> list[tuple[str, dict[str, Any]]]:
    """Every call that names a path, in every parameter."""
    ask = {"url": url, "method": "POST"}
    trust = {"ca_file": str(authority.ca_file)}
    download = {"url": url, "kind": "download"}
    return [
        ("request.perform", {**ask, "body": {"file": str(secret)}}),
        ("request.submit", {**ask, "body": {"multipart": [{"name": "a", "file": str(secret)}]}}),
        ("request.perform", {**ask, "trust": trust}),
        ("request.perform", {**ask, "client_certificate": {"file": str(secret)}}),
        ("request.perform", {**ask, "client_certificate": {"pem": "", "key_file": str(secret)}}),
        ("request.perform", {**ask, "client_certificate": {"pem": "", "password_file": str(secret)}}),
        ("request.perform", {**ask, "credential": {"username": "a", "password": {"file": str(secret)}}}),
        ("credentials.set", {"host": "a.test", "username": "a", "password": {"file": str(secret)}}),
        ("request.perform", {**download, "destination": str(folder / "a")}),
        ("request.perform", {**download, "destination": {"path": str(folder / "b")}}),
        ("request.perform", {**download, "destination": {"directory": str(folder)}}),
        ("request.perform", {**download, "destination": {"callback": {"name": "x"}}}),
        ("request.perform", {**download, "resume_data": "e30"}),
        ("session.create", {"name": "trusting", "configuration": {"trust": trust}}),
        ("session.create", {"name": "known", "configuration": {"client_certificate": {"file": str(secret)}}}),
        ("stream.open", {"host": "127.0.0.1", "port": 1, "trust": trust}),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a4_no_path_is_opened_for_a_sandboxed_client(
    daemon: Daemon, origin: ScriptedOrigin, authority: Authority, tmp_path: Path, folder: Path, kind: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    with Sandboxed(kind, daemon.socket) as client:
        for method, params in paths(origin.url, secret, folder, authority):
            assert client.refusal(method, **params) == OTHER_VIEW, (method, params)
        assert (origin.requests, list(folder.iterdir())) == ([], [])
        # Calls without paths work.
        done = client.answer("request.perform", url=origin.url, method="POST", body={"text": "mine"})["result"]
        assert done["outcome"]["ok"] and origin.received(1)[0].body == b"mine"


@pytest.fixture
def older(start_by: Callable[[str], Daemon]) -> Daemon:
    """Start a daemon on a kernel that does not know SO_PEERPIDFD."""
    return start_by(f'exec {ROOT}/Tests/Support/older-kernel peerpidfd {CARPOOLD} "$@"')


@pytest.mark.parametrize("kind", ["none", *KINDS])
def test_a4_an_older_kernel_judges_by_the_process_number(
    older: Daemon, origin: ScriptedOrigin, tmp_path: Path, kind: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("content")
    with Sandboxed(kind, older.socket) as client:
        params = {"url": origin.url, "method": "POST", "body": {"file": str(secret)}}
        assert client.refusal("request.perform", **params) == ("" if kind == "none" else OTHER_VIEW)


def test_a4_a_client_with_the_daemon_s_view_may_name_paths(
    daemon: Daemon, origin: ScriptedOrigin, authority: Authority, tmp_path: Path, folder: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("content")
    with Sandboxed("none", daemon.socket) as client:
        for method, params in paths(origin.url, secret, folder, authority):
            assert client.refusal(method, **params) != OTHER_VIEW, (method, params)
    assert origin.received(1)[0].body == b"content"
    assert (folder / "a").exists()


def test_a4_an_ordinary_user_s_daemon_judges_its_clients(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start(user=NOBODY)
    file = daemon.directory / "file"
    file.write_text("content")
    file.chmod(0o644)
    params = {"url": origin.url, "method": "POST", "body": {"file": str(file)}}
    with Sandboxed("none", daemon.socket, NOBODY) as client:
        assert client.refusal("request.perform", **params) == ""
    for kind in ("users", "left"):
        with Sandboxed(kind, daemon.socket, NOBODY) as client:
            assert client.refusal("request.perform", **params) == OTHER_VIEW, kind


def test_a4_a_group_that_the_client_does_not_have_opens_nothing_for_it(
    start: StartDaemon, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    groups = os.getgroups()
    os.setgroups([*groups, GROUP])
    try:
        daemon = start()
    finally:
        os.setgroups(groups)
    secret = tmp_path / "secret"
    secret.write_text("secret")
    with Sandboxed("none", daemon.socket) as client:
        answer = client.answer("request.perform", url=origin.url, method="POST", body={"file": str(secret)})
        assert (answer["error"]["data"]["name"], answer["error"]["data"]["differs"]) == (OTHER_VIEW, "groups")
        assert "body.put" in answer["error"]["data"]["hint"]


@pytest.mark.parametrize("kind", ["none", "mounts"])
def test_a4_a_callback_s_answer_names_paths_only_of_a_client_that_sees_them(
    daemon: Daemon, origin: ScriptedOrigin, tmp_path: Path, kind: str
) -> None:
    """One client makes the request, another answers its callback."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    with daemon.wire() as asking, Sandboxed(kind, daemon.socket) as answering:
        answering.answer("client.hello", callbacks=["give"])
        body = {"callback": {"name": "give", "deadline_ms": 10_000}}
        asking.request("request.submit", url=origin.url, method="POST", body=body, start="manual")
        request = asking.receive()["result"]["request"]
        asking.close()
        with daemon.wire() as other:
            other.call("request.resume", request=request)
            question = answering.receive()
            answering.send({"jsonrpc": "2.0", "id": question["id"], "result": {"file": str(secret)}})
            record = other.call("request.wait", request=request)
    assert record["outcome"]["ok"] is (kind == "none")
    assert [request.body for request in origin.requests] == ([b"secret"] if kind == "none" else [])


@pytest.mark.parametrize("kind", ["chroot", "mounts", "network", "users", "late", "left"])
def test_a4_by_configuration_sandboxed_clients_have_no_network(
    start: StartDaemon, origin: ScriptedOrigin, kind: str
) -> None:
    daemon = start(config={"access": {"sandboxed_network": False}})
    assert daemon.call("daemon.config")["access"]["sandboxed_network"] is False
    with Sandboxed(kind, daemon.socket) as client:
        attempts: list[tuple[str, dict[str, Any]]] = [
            ("request.perform", {"url": origin.url}),
            ("request.submit", {"url": origin.url}),
            ("stream.open", {"host": "127.0.0.1", "port": origin.port, "tls": False}),
            ("reachability.get", {"host": "localhost"}),
            ("reachability.watch", {"hosts": ["localhost"]}),
        ]
        for method, params in attempts:
            assert client.refusal(method, **params) == "forbidden", method
        assert client.refusal("daemon.ping") == ""
    assert origin.connections == 0
    for free in ("none", "groups"):
        with Sandboxed(free, daemon.socket) as client:
            assert client.refusal("request.perform", url=origin.url) == "", free
