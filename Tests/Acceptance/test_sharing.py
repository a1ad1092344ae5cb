"""The purpose of Carpool: unrelated programs of one machine share the connections to an origin."""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from harness.daemon import CARPOOL, ROOT, Daemon
from harness.process import begin
from harness.waiting import PATIENCE_SECONDS
from origins.authority import Authority
from origins.nginx import Nginx
from origins.peer import StartPeer
from origins.scripted import ScriptedOrigin

REQUESTS = 50

SHELL = """
for ((i = 0; i < $3; i++)); do
    "$0" get --whole --cacert "$1" -H "User-Agent: $4" "$2" || exit
done | sha256sum
"""

PYTHON = """
import carpool, hashlib, sys
ca_file, url, count, agent = sys.argv[1:]
digest = hashlib.sha256()
with carpool.Client() as client:
    for _ in range(int(count)):
        digest.update(client.get(url, verify=ca_file, headers={"User-Agent": agent}).content)
print(digest.hexdigest())
"""


def start_all(daemon: Daemon, authority: Authority, url: str, agent: str) -> list[subprocess.Popen[bytes]]:
    """Start ten shell programs and ten Python programs that fetch the same file."""
    environment = {
        **daemon.environment,
        "CARPOOL_SOCKET": str(daemon.socket),
        "PYTHONPATH": str(ROOT / "clients/python/src"),
    }
    arguments = [str(authority.ca_file), url, str(REQUESTS), agent]
    programs = [["bash", "-o", "pipefail", "-c", SHELL, CARPOOL], [sys.executable, "-c", PYTHON]] * 10
    return [begin([*program, *arguments], env=environment, stdout=subprocess.PIPE) for program in programs]


@pytest.mark.parametrize("base", ["https", "https1"])
def test_twenty_programs_share_the_connections_of_one(
    daemon: Daemon, nginx: Nginx, authority: Authority, behind: ScriptedOrigin, base: str
) -> None:
    url = getattr(nginx, base)
    is_http2 = base == "https" and daemon.call("daemon.info")["libcurl"]["profile"] == "multiplex"
    held = f"/held/{base}-{daemon.pid}"
    agent = f"sharing-{base}-{daemon.pid}"
    gate = behind.hold(held)
    with daemon.wire() as wire:
        poll = wire.request("request.perform", url=url + held, trust={"ca_file": str(authority.ca_file)})
        behind.received(1, held)

        programs = start_all(daemon, authority, f"{url}/20k.bin", agent)
        digests = {program.communicate(timeout=90)[0].decode().split()[0] for program in programs}
        assert [program.returncode for program in programs] == [0] * 20
        expected = hashlib.sha256((nginx.directory / "files" / "20k.bin").read_bytes() * REQUESTS).hexdigest()
        assert digests == {expected}

        gate.set()
        assert wire.result(poll)["body"]["text"] == "released", "it was under way all the time"

    lines = nginx.log(20 * REQUESTS, lambda line: line.agent == agent)
    assert len(lines) == 20 * REQUESTS
    assert {line.status for line in lines} == {200}
    connections = {line.connection for line in lines}
    if is_http2:
        assert len(connections) == 1
        assert {line.connection for line in nginx.log(1, lambda line: line.target == held)} == connections
    else:
        # Twenty clients, with at most six each, share the connections of a host.
        assert len(connections) <= 24


def test_four_unlike_tools_share_one_connection(
    daemon: Daemon, nginx: Nginx, authority: Authority, directory: Path
) -> None:
    agent = f"tools-{daemon.pid}"
    headers = {"User-Agent": agent}
    url = f"{nginx.https}/hello.txt"
    trust = {"ca_file": str(authority.ca_file)}
    with daemon.client() as one, daemon.client() as two:
        for client in (one, two):
            assert client.get(url, headers=headers, verify=authority.ca_file).text == "hello, world\n"
    message = {"url": url, "headers": headers, "trust": trust}
    for tool in (["nc", "-N", "-U"], ["socat", "-t5", "-"]):
        address = str(daemon.socket) if tool[0] == "nc" else f"UNIX-CONNECT:{daemon.socket}"
        done = subprocess.run(
            [*tool, address],
            input=json.dumps({"jsonrpc": "2.0", "id": 1, "method": "request.perform", "params": message}),
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=True,
        )
        assert json.loads(done.stdout)["result"]["body"]["text"] == "hello, world\n"
    command = [CARPOOL, "--socket", str(daemon.socket), "get", "--whole", "--cacert", str(authority.ca_file)]
    done = subprocess.run(
        [*command, "-H", f"User-Agent: {agent}", url], capture_output=True, text=True, check=True, cwd=directory
    )
    assert done.stdout == "hello, world\n"
    lines = nginx.log(5, lambda line: line.agent == agent)
    assert len({line.connection for line in lines}) == 1
    assert [line.number for line in lines] == [1, 2, 3, 4, 5]


def test_a_hundred_cold_requests_wait_for_the_first_connection(
    daemon: Daemon, nginx: Nginx, authority: Authority
) -> None:
    agent = f"cold-{daemon.pid}"
    with daemon.wire() as wire:
        params = {
            "url": f"{nginx.https}/200.bin",
            "headers": {"User-Agent": agent},
            "trust": {"ca_file": str(authority.ca_file)},
        }
        calls = {wire.request("request.perform", params) for _ in range(100)}
        assert {wire.receive()["id"] for _ in range(100)} == calls
        profile = wire.call("daemon.info")["libcurl"]["profile"]
    connections = {line.connection for line in nginx.log(100, lambda line: line.agent == agent)}
    assert len(connections) <= (1 if profile == "multiplex" else 6)


def test_a3_what_comes_on_an_idle_connection_is_no_client_s_response(daemon: Daemon, peer: StartPeer) -> None:
    """A response that an origin sends before any request would become that of another client's request."""
    read, forged = threading.Event(), threading.Event()

    def talk(connection: socket.socket) -> None:
        while connection.recv(65_536):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")
            if not forged.is_set():
                read.wait(PATIENCE_SECONDS)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
                forged.set()

    url = f"http://127.0.0.1:{peer(talk)['port']}/"
    with daemon.wire() as first, daemon.wire() as second:
        assert first.call("request.perform", url=url)["body"]["text"] == "good"
        read.set()
        assert forged.wait(PATIENCE_SECONDS)
        for _ in range(3):
            assert second.call("request.perform", url=url)["body"]["text"] == "good"
