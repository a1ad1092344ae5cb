"""Origins behind Unix sockets: by path, and by a connected socket that comes with the call."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.command import Run
from harness.waiting import PATIENCE_SECONDS, eventually, join
from harness.wire import Wire
from origins.authority import Authority, Certificate


class UnixOrigin:
    """A small HTTP server on a Unix socket; each answer says which connection and which request on it it is for."""

    def __init__(self, path: Path, certificate: Certificate | None = None) -> None:
        self.path = path
        self._certificate = certificate
        self.heads: list[str] = []
        self.connections = 0
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(64)
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self.serve, args=(connection, self.connections), daemon=True)
            self._threads.append(thread)
            thread.start()

    def serve(self, connection: socket.socket, number: int) -> None:
        if self._certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self._certificate.chain, self._certificate.key)
            connection = context.wrap_socket(connection, server_side=True)
        count = 0
        with connection, connection.makefile("rb") as stream:
            while head := read_head(stream):
                self.heads.append(head)
                count += 1
                body = f"{number} {count}".encode()
                if "/moved" in head.splitlines()[0]:
                    extra = "302 Found\r\nLocation: http://elsewhere.example/next"
                else:
                    extra = "200 OK"
                connection.sendall(f"HTTP/1.1 {extra}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)

    def stop(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join(PATIENCE_SECONDS)


def read_head(stream: Any) -> str:
    lines = []
    while (line := stream.readline()) not in (b"", b"\r\n"):
        lines.append(line.decode("latin-1"))
    return "".join(lines)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[UnixOrigin]:
    origin = UnixOrigin(tmp_path / "service.sock")
    yield origin
    origin.stop()


def perform(client: carpool.Client, url: str, path: Path | str, **params: Any) -> dict[str, Any]:
    record: dict[str, Any] = client.call("request.perform", url=url, addresses={"unix_socket": str(path)}, **params)
    return record


def test_requests_go_to_the_socket_whatever_the_host(client: carpool.Client, service: UnixOrigin) -> None:
    record = perform(client, "http://nowhere.example/path?q=1", service.path)
    assert record["body"]["text"] == "1 1"
    assert service.heads[0].startswith("GET /path?q=1 HTTP/1.1\r\n")
    assert "Host: nowhere.example\r\n" in service.heads[0]
    assert record["attempts"][-1]["metrics"][-1]["remote"] == f"unix:{service.path}"


def test_connections_are_used_again_where_libcurl_tells_them_apart(client: carpool.Client, service: UnixOrigin) -> None:
    answers = [perform(client, "http://service.example/", service.path)["body"]["text"] for _ in range(5)]
    reuses = client.call("daemon.info")["libcurl"]["profile"] == "multiplex"
    assert answers == ([f"1 {count + 1}" for count in range(5)] if reuses else [f"{count + 1} 1" for count in range(5)])


def test_two_sockets_are_never_mixed_up(client: carpool.Client, service: UnixOrigin, tmp_path: Path) -> None:
    other = UnixOrigin(tmp_path / "other.sock")
    try:
        for count in range(20):
            place = (service, other)[count % 2]
            before = len(place.heads)
            assert perform(client, "http://same.example/", place.path)["outcome"]["ok"]
            assert len(place.heads) == before + 1
    finally:
        other.stop()


def test_many_requests_at_a_time(client: carpool.Client, service: UnixOrigin) -> None:
    names = [
        client.call(
            "request.submit", url=f"http://service.example/{count}", addresses={"unix_socket": str(service.path)}
        )["request"]
        for count in range(50)
    ]
    for name in names:
        assert client.call("request.wait", request=name, timeout_ms=30_000)["outcome"]["ok"]
    assert sorted(head.split()[1] for head in service.heads) == sorted(f"/{count}" for count in range(50))


def test_a_redirect_stays_on_the_socket(client: carpool.Client, service: UnixOrigin) -> None:
    record = perform(client, "http://service.example/moved", service.path)
    assert record["response"]["status"] == 200
    assert "Host: elsewhere.example\r\n" in service.heads[1]


def test_tls_over_a_socket(client: carpool.Client, authority: Authority, tmp_path: Path) -> None:
    secure = UnixOrigin(tmp_path / "tls.sock", authority.issue("unix", "DNS:service.example"))
    try:
        trust = {"ca_file": str(authority.ca_file)}
        assert perform(client, "https://service.example/", secure.path, trust=trust)["outcome"]["ok"]
        refused = perform(client, "https://wrong.example/", secure.path, trust=trust)
        assert refused["outcome"]["error"]["name"] == "session_task_failed.server_certificate_untrusted"
    finally:
        secure.stop()


def test_a_raw_stream_does_not_leave_the_socket_of_its_session(client: carpool.Client, service: UnixOrigin) -> None:
    """Raw streams know no Unix sockets; one that went to the host instead would send its bytes elsewhere."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number = listener.getsockname()[1]
        addresses = {"unix_socket": str(service.path)}
        client.call("session.create", name="local", configuration={"addresses": addresses})
        with pytest.raises(carpool.InvalidParamsError) as caught:
            client.call("stream.open", host="127.0.0.1", port=number, tls=False, session="local")
        assert caught.value.data["path"] == "params.session"


def test_a_server_that_starts_again_is_found_again(client: carpool.Client, tmp_path: Path) -> None:
    path = tmp_path / "again.sock"
    client.call("session.create", name="service", configuration={"addresses": {"unix_socket": str(path)}})
    for _ in range(3):
        origin = UnixOrigin(path)
        record = client.call("request.perform", url="http://service.example/", session="service")
        assert record["body"]["text"] == "1 1"
        origin.stop()
        path.unlink()
        client.call("pool.flush")


@pytest.mark.parametrize("kind", ["missing", "file", "directory", "silent"])
def test_a_path_without_a_server(client: carpool.Client, tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    if kind == "file":
        path.write_text("")
    elif kind == "directory":
        path.mkdir()
    elif kind == "silent":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(path))
    error = perform(client, "http://service.example/", path)["outcome"]["error"]
    assert error["name"] == "session_task_failed.cannot_connect_to_host"
    assert error["retryable"] is True


def test_a_long_path(client: carpool.Client, tmp_path: Path) -> None:
    """Longer than the 107 bytes that connect(2) takes."""
    place = tmp_path / ("d" * 100) / ("e" * 100)
    place.mkdir(parents=True)
    here = Path.cwd()
    os.chdir(place)
    try:
        origin = UnixOrigin(Path("s"))
    finally:
        os.chdir(here)
    try:
        assert perform(client, "http://service.example/", place / "s")["outcome"]["ok"]
    finally:
        origin.stop()


def test_the_magic_links_of_proc_are_not_followed(client: carpool.Client, service: UnixOrigin) -> None:
    with socket.socket(socket.AF_UNIX) as connected:
        connected.connect(str(service.path))
        for path in (f"/proc/self/fd/{connected.fileno()}", f"/proc/{os.getpid()}/fd/{connected.fileno()}"):
            assert not perform(client, "http://service.example/", path)["outcome"]["ok"]
    assert service.heads == []


# MARK: A connected socket


def test_a_connected_socket_that_comes_with_the_call(wire: Wire) -> None:
    ours, theirs = socket.socketpair()
    heads: list[str] = []

    def serve() -> None:
        with ours, ours.makefile("rb") as stream:
            heads.append(read_head(stream))
            ours.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            stream.read()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    message = {
        "jsonrpc": "2.0", "id": 1, "method": "request.perform",
        "params": {"url": "http://service.example/a", "addresses": {"unix_socket": {"fd": 0}}},
    }  # fmt: skip
    wire.send(message, [theirs.fileno()])
    theirs.close()
    record = wire.result(1)
    assert record["outcome"]["ok"], record
    assert record["body"]["text"] == "hi"
    assert heads[0].startswith("GET /a HTTP/1.1\r\n")
    join([thread])


def test_a_connected_socket_is_one_connection(wire: Wire) -> None:
    ours, theirs = socket.socketpair()

    def serve() -> None:
        with ours, ours.makefile("rb") as stream:
            read_head(stream)
            ours.sendall(b"HTTP/1.1 500 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    message = {
        "jsonrpc": "2.0", "id": 1, "method": "request.perform",
        "params": {
            "url": "http://service.example/", "addresses": {"unix_socket": {"fd": 0}},
            "interceptor": [{"retry_policy": {"limit": 1, "scale_ms": 1, "without_validation": True}}],
        },
    }  # fmt: skip
    wire.send(message, [theirs.fileno()])
    theirs.close()
    record = wire.result(1)
    assert [attempt.get("error") for attempt in record["attempts"]] != []
    assert record["outcome"]["ok"] is False
    assert record["outcome"]["error"]["name"].endswith("cannot_connect_to_host")
    join([thread])


def test_a_connected_socket_in_blocking_mode_stops_nothing(wire: Wire, client: carpool.Client) -> None:
    """The client shares the socket, and can make it block at any time: the loop must not read or write it."""
    ours, theirs = socket.socketpair()
    with ours, theirs, ours.makefile("rb") as stream:
        message = {
            "jsonrpc": "2.0", "id": 1, "method": "request.perform",
            "params": {
                "url": "http://service.example/", "method": "POST", "body": {"text": "x" * 200_000},
                "addresses": {"unix_socket": {"fd": 0}},
            },
        }  # fmt: skip
        wire.send(message, [theirs.fileno()])
        read_head(stream)
        theirs.setblocking(True)
        assert client.call("daemon.ping")["pong"]
        stream.read(200_000)
        ours.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        for _ in range(10):
            assert client.call("daemon.ping")["pong"]
            ours.sendall(b"y" * 100_000)
        record = wire.result(1)
        assert record["outcome"]["ok"], record
        assert record["attempts"][-1]["metrics"][-1]["response_body_bytes"] == 1_000_000
        assert theirs.getblocking()


@pytest.mark.parametrize("is_reset", [False, True], ids=["closed", "reset"])
def test_the_end_of_a_connected_socket_is_that_of_a_body(wire: Wire, client: carpool.Client, is_reset: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        theirs = socket.create_connection(listener.getsockname())
        ours, _ = listener.accept()
    message = {
        "jsonrpc": "2.0", "id": 1, "method": "request.submit",
        "params": {"url": "http://service.example/", "addresses": {"unix_socket": {"fd": 0}}},
    }  # fmt: skip
    wire.send(message, [theirs.fileno()])
    theirs.close()
    name = wire.result(1)["request"]
    with ours, ours.makefile("rb") as stream:
        read_head(stream)
        ours.sendall(b"HTTP/1.0 200 OK\r\n\r\nhalf")
        eventually(lambda: client.call("request.get", request=name).get("response"))
        if is_reset:
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    outcome = client.call("request.wait", request=name)["outcome"]
    assert outcome["ok"] is not is_reset, outcome
    if is_reset:
        assert outcome["error"]["name"] == "session_task_failed.network_connection_lost"


@pytest.mark.parametrize(
    ("addresses", "path"),
    [
        ({"unix_socket": "relative.sock"}, "params.addresses.unix_socket"),
        ({"unix_socket": {"fd": 0}}, "params.addresses.unix_socket.fd"),
        ({"unix_socket": {"path": "/x"}}, "params.addresses.unix_socket"),
        ({"unix_socket": 7}, "params.addresses.unix_socket"),
    ],
)
def test_bad_sockets_are_refused_by_name(client: carpool.Client, addresses: dict[str, Any], path: str) -> None:
    with pytest.raises(carpool.RPCError) as caught:
        client.call("request.perform", url="http://service.example/", addresses=addresses)
    assert caught.value.data["path"].startswith(path)


@pytest.mark.parametrize("kind", ["messages", "packets", "listening", "unconnected"])
def test_a_socket_that_is_no_connection_is_refused(wire: Wire, kind: str) -> None:
    with contextlib.ExitStack() as opened:
        if kind in ("messages", "packets"):
            type_ = socket.SOCK_DGRAM if kind == "messages" else socket.SOCK_SEQPACKET
            passed, other = socket.socketpair(socket.AF_UNIX, type_)
            opened.enter_context(other)
        elif kind == "listening":
            passed = socket.create_server(("127.0.0.1", 0))
        else:
            passed = socket.socket(socket.AF_UNIX)
        opened.enter_context(passed)
        message = {
            "jsonrpc": "2.0", "id": 1, "method": "request.perform",
            "params": {"url": "http://service.example/", "addresses": {"unix_socket": {"fd": 0}}},
        }  # fmt: skip
        wire.send(message, [passed.fileno()])
        error = wire.answer(1)["error"]
        assert error["data"]["path"] == "params.addresses.unix_socket.fd"
        assert "a connected stream socket" in error["data"]["hint"] + error["message"] + str(error["data"])
        assert passed.getblocking()


def test_a_session_takes_no_connected_socket(wire: Wire) -> None:
    ours, theirs = socket.socketpair()
    message = {
        "jsonrpc": "2.0", "id": 1, "method": "session.create",
        "params": {"name": "one", "configuration": {"addresses": {"unix_socket": {"fd": 0}}}},
    }  # fmt: skip
    wire.send(message, [theirs.fileno()])
    answer = wire.answer(1)
    assert answer["error"]["data"]["path"] == "params.configuration.addresses.unix_socket.fd"
    ours.close()
    theirs.close()


def test_the_command_s_option(run: Run, service: UnixOrigin) -> None:
    done = run("get", "--unix-socket", service.path, "http://service.example/")
    assert done.stdout == b"1 1"
