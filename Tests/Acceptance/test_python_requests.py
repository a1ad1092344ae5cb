"""The adapter of requests: what its sessions send and receive through the daemon, compared with their own."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
import os
import pickle
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests
import urllib3
from carpool import _waiting
from carpool.requests import CarpoolAdapter
from harness.daemon import ROOT, Daemon
from harness.pairs import LONG, difference, faulty
from harness.transports import mounted
from harness.waiting import PATIENCE_SECONDS
from origins.authority import Authority, Certificate
from origins.httpbin import Httpbin
from origins.mutual import MutualNginx
from origins.nginx import Nginx
from origins.proxies import PASSWORD, USER, Squid
from origins.scripted import Exchange, ScriptedOrigin, statuses
from requests.auth import HTTPDigestAuth

MEBIBYTE = 1 << 20


@pytest.fixture
def session(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> Iterator[requests.Session]:
    """A session that sends through the test's daemon."""
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    with mounted(CarpoolAdapter()) as made:
        yield made


@pytest.fixture
def plain() -> Iterator[requests.Session]:
    """A session that sends itself."""
    with mounted(requests.adapters.HTTPAdapter()) as made:
        yield made


def sent(session: requests.Session) -> int:
    """Return how many requests the session's adapter has connections for, which it keeps."""
    adapter = session.get_adapter("http://")
    assert isinstance(adapter, CarpoolAdapter)
    return len(adapter._idle._free)


@pytest.mark.parametrize(
    "arguments",
    [
        {"method": "GET"},
        {"method": "GET", "params": {"q": "a b[ü]|%zz"}},
        {
            "method": "GET",
            "headers": {"X-B": "2", "x-a": "1", "User-Agent": "mine", "X-Empty": "", "X-U": "ü".encode()},
        },
        {"method": "GET", "headers": {"Accept-Encoding": None, "User-Agent": None, "Accept": None}},
        {"method": "GET", "data": b"a body"},
        {"method": "GET", "auth": ("ada", "secret"), "cookies": {"c": "1"}},
        {"method": "GET", "headers": {"Host": "other.example"}},
        {"method": "HEAD"},
        {"method": "OPTIONS"},
        {"method": "DELETE"},
        {"method": "POST"},
        {"method": "POST", "data": {"a": ["1", "ü"]}},
        {"method": "POST", "json": {"a": [1, None]}},
        {"method": "PUT", "data": b"\x00\xff" * 1_000_000},
        {"method": "PATCH", "data": "ü"},
        {"method": "FIND", "data": b"x"},
    ],
)
def test_it_sends_what_requests_sends(
    session: requests.Session, plain: requests.Session, origin: ScriptedOrigin, arguments: dict[str, Any]
) -> None:
    for each in (plain, session):
        assert each.request(url=f"{origin.url}/a/b", **arguments).status_code == 200
    assert difference(*origin.requests) == {}
    assert sent(session) <= 1


@pytest.mark.parametrize(
    "body",
    [
        lambda: iter([b"one", b"", b"two"]),
        lambda: (block for block in [b"x" * 300_000] * 5),
        lambda: io.BytesIO(b"a file"),
        lambda: io.BytesIO(b"x" * 3 * MEBIBYTE),
    ],
)
def test_bodies_are_sent_as_they_are_read(
    session: requests.Session, plain: requests.Session, origin: ScriptedOrigin, body: Callable[[], Any]
) -> None:
    for each in (plain, session):
        assert each.post(f"{origin.url}/", data=body()).status_code == 200
    assert difference(*origin.requests) == {}


def test_a_generator_is_read_while_the_server_receives(session: requests.Session, origin: ScriptedOrigin) -> None:
    arrived = threading.Event()

    def note(exchange: Exchange) -> bool:
        assert b"first" in exchange.take(10)
        arrived.set()
        return False

    def blocks() -> Iterator[bytes]:
        yield b"first"
        assert arrived.wait(PATIENCE_SECONDS)
        yield b"last"

    # The chunk of the first block was read by hand, so that the rest begins with that of the last.
    url = origin.on_head("/live", note)
    assert b"last" in session.post(url, data=blocks()).content


def test_form_files(session: requests.Session, httpbin: Httpbin) -> None:
    answer = session.post(f"{httpbin.url}/post", files={"f": ("name.txt", b"content")}, data={"a": "1"}).json()
    assert (answer["files"], answer["form"]) == ({"f": "content"}, {"a": "1"})


def test_a_response_is_what_requests_makes_of_it(
    session: requests.Session, plain: requests.Session, origin: ScriptedOrigin
) -> None:
    faulty(origin)
    for path in ("/", "/chunked", "/gzip", "/cookie", "/nothing", "/moved"):
        first, second = (each.get(origin.url + path, headers={"X": "1"}) for each in (plain, session))
        assert first.content.split(b"\r\n")[0] == second.content.split(b"\r\n")[0]
        assert first.headers.keys() == second.headers.keys()
        assert first.cookies.items() == second.cookies.items()
        assert [each.status_code for each in first.history] == [each.status_code for each in second.history]
        assert (first.url, first.status_code, first.encoding) == (second.url, second.status_code, second.encoding)
        assert first.raw.version == second.raw.version == 11
        assert second.elapsed.total_seconds() > 0
    assert session.cookies.get_dict() == {"a": "1", "b": "2"}


def test_the_raw_body_is_a_file(session: requests.Session, origin: ScriptedOrigin) -> None:
    faulty(origin)
    response = session.get(f"{origin.url}/gzip", stream=True)
    assert response.raw.read(2) == b"\x1f\x8b"
    assert response.raw.reason == "OK"
    assert response.raw.headers["content-encoding"] == "gzip"
    response.raw.release_conn()
    response.close()
    assert response.raw.closed
    assert session.get(f"{origin.url}/gzip", stream=True).raw.read(decode_content=True) == LONG
    assert b"".join(session.get(f"{origin.url}/gzip", stream=True).raw.stream(10, decode_content=True)) == LONG
    assert session.get(f"{origin.url}/gzip").content == LONG


def test_a_stream_arrives_while_it_is_sent(session: requests.Session, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/never")

    def half(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nfirst\n\r\n")
        gate.wait(PATIENCE_SECONDS)
        exchange.send(b"5\r\nother\r\n0\r\n\r\n")

    lines = session.get(origin.on("/half", half), stream=True).iter_content(4096)
    assert next(lines) == b"first\n"
    gate.set()
    assert list(lines) == [b"other"]


def test_a_slow_reader_holds_the_server_back(session: requests.Session, origin: ScriptedOrigin) -> None:
    written: list[int] = []
    total = 32 * MEBIBYTE

    def endless(exchange: Exchange) -> None:
        exchange.send(f"HTTP/1.1 200 OK\r\nContent-Length: {total}\r\n\r\n".encode())
        for _ in range(32):
            exchange.send(b"x" * MEBIBYTE)
            written.append(MEBIBYTE)

    response = session.get(origin.on("/endless", endless), stream=True)
    assert len(response.raw.read(1000)) == 1000
    # The sockets and the daemon hold a few MiB; an adapter that read ahead would have taken all by now.
    assert session.get(f"{origin.url}/other").ok
    assert sum(written) < total / 2
    rest = hashlib.sha256()
    for piece in response.iter_content(MEBIBYTE):
        rest.update(piece)
    assert response.raw.tell() == total


def test_a_response_that_is_dropped_ends_the_request(session: requests.Session, origin: ScriptedOrigin) -> None:
    ended = threading.Event()

    def wait(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        if exchange.wait_for_peer_to_close():
            ended.set()

    session.get(origin.on("/wait", wait), stream=True).close()
    assert ended.wait(PATIENCE_SECONDS)


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("/cut", {}),
        ("/cut-chunks", {}),
        ("/gone", {}),
        ("/reset", {}),
        ("/silent", {"timeout": (5, 0.3)}),
        ("/stalled", {"timeout": 0.3}),
        ("/", {"headers": {"X": "a\nb"}}),
        ("/", {"timeout": "soon"}),
        ("/", {"proxies": {"http": "http://127.0.0.1:1"}}),
        ("/", {"proxies": {"http": "http:///nowhere"}}),
    ],
)
def test_a_failure_is_the_exception_of_requests(
    session: requests.Session, plain: requests.Session, origin: ScriptedOrigin, path: str, arguments: dict[str, Any]
) -> None:
    faulty(origin)
    kinds = []
    for each in (plain, session):
        with pytest.raises(Exception) as raised:
            each.get(origin.url + path, **arguments)
        kinds.append(raised.type)
    assert kinds[0] is kinds[1], raised.value


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:1/", requests.ConnectionError),
        ("http://no-such-host.invalid/", requests.ConnectionError),
        ("https://no-such-host.invalid/", requests.ConnectionError),
        ("http://", requests.exceptions.InvalidURL),
        ("http://*.example/", requests.exceptions.InvalidURL),
        ("ftp://127.0.0.1/", requests.exceptions.InvalidSchema),
    ],
)
def test_no_connection(session: requests.Session, url: str, kind: type[Exception]) -> None:
    with pytest.raises(kind) as raised:
        session.get(url, timeout=10)
    assert raised.type is kind


def test_a_connection_that_takes_too_long(session: requests.Session) -> None:

    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(requests.exceptions.ConnectTimeout):
        # It accepts, and never answers the handshake of TLS.
        session.get(f"https://127.0.0.1:{listener.getsockname()[1]}/", timeout=(0.3, 30))


def test_a_read_timeout_in_a_body_names_the_server(session: requests.Session, origin: ScriptedOrigin) -> None:
    def begun(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
        exchange.wait_for_peer_to_close()

    with pytest.raises(requests.exceptions.ConnectionError, match=f"{origin.url}>: Read timed out"):
        session.get(origin.on("/begun", begun), timeout=(5, 0.5))


def test_certificates(session: requests.Session, nginx: Nginx, authority: Authority, tmp_path: Path) -> None:
    url = f"{nginx.https1}/hello.txt"
    with pytest.raises(requests.exceptions.SSLError):
        session.get(url)
    assert session.get(url, verify=str(authority.ca_file)).ok
    assert session.get(url, verify=False).ok
    with pytest.raises(OSError, match="invalid path"):
        session.get(url, verify=str(tmp_path / "missing"))


def test_a_client_certificate(
    session: requests.Session, mutual: MutualNginx, person: Certificate, authority: Authority
) -> None:
    session.verify = str(authority.ca_file)
    answer = session.get(mutual.required, cert=(str(person.chain), str(person.key)))
    assert answer.text.startswith("CN=person")


def test_proxies(session: requests.Session, squid: Squid, origin: ScriptedOrigin, nginx: Nginx) -> None:
    plain, basic = f"http://127.0.0.1:{squid.plain}", f"127.0.0.1:{squid.basic}"
    assert session.get(origin.url, proxies={"http": plain}).ok
    assert any(name.lower() == "via" for name, _ in origin.requests[-1].headers)
    assert session.get(nginx.https1 + "/hello.txt", proxies={"https": plain}, verify=False).ok
    assert session.get(origin.url, proxies={"http": f"http://{USER}:{PASSWORD}@{basic}"}).ok
    assert session.get(origin.url, proxies={"http": f"http://{basic}"}).status_code == 407
    with pytest.raises(requests.exceptions.ProxyError):
        session.get(nginx.https1, proxies={"https": f"http://{basic}"}, verify=False)


def test_digest(session: requests.Session, httpbin: Httpbin) -> None:
    answer = session.get(f"{httpbin.url}/digest-auth/auth/ada/secret", auth=HTTPDigestAuth("ada", "secret"))
    assert answer.json() == {"authenticated": True, "user": "ada"}
    assert [each.status_code for each in answer.history] == [401]


def test_retries_are_those_of_urllib3(daemon: Daemon, origin: ScriptedOrigin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    retry = urllib3.Retry(3, status_forcelist=[503], backoff_factor=0)
    with mounted(CarpoolAdapter(max_retries=retry)) as session:
        assert session.get(origin.on("/busy", statuses(503, 503, 200))).ok
        with pytest.raises(requests.exceptions.RetryError):
            session.get(origin.on("/down", statuses(503)))
    assert len(origin.received(4, "/down")) == 4


def test_there_are_no_retries_otherwise(session: requests.Session, origin: ScriptedOrigin) -> None:
    assert session.get(origin.on("/busy", statuses(503, 200))).status_code == 503
    assert len(origin.requests) == 1


def test_threads_share_a_session(session: requests.Session, origin: ScriptedOrigin) -> None:
    def get(number: int) -> bool:
        return f"/{number} ".encode() in session.get(f"{origin.url}/{number}").content

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(get, range(80)))
    assert 1 <= sent(session) <= 8


def test_a_child_of_fork_has_connections_of_its_own(session: requests.Session, origin: ScriptedOrigin) -> None:
    assert session.get(origin.url).ok
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os._exit(0 if all(session.get(origin.url).ok for _ in range(5)) else 1)
        os._exit(2)
    assert all(session.get(origin.url).ok for _ in range(5))
    assert os.waitpid(child, 0)[1] == 0


def test_an_adapter_is_copied(session: requests.Session, origin: ScriptedOrigin) -> None:
    assert session.get(origin.url).ok
    made = pickle.loads(pickle.dumps(copy.copy(session)))
    with made:
        assert made.get(origin.url).ok


def test_a_daemon_that_ends(
    session: requests.Session, daemon: Daemon, origin: ScriptedOrigin, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So long it waits for the next daemon.
    monkeypatch.setattr(_waiting, "SILENCE_SECONDS", 1.0)
    assert session.get(origin.url).ok
    daemon.stop()
    with pytest.raises(requests.ConnectionError, match="CARPOOL=off"):
        session.get(origin.url)


def test_the_library_sends_itself_with_carpool_off(
    origin: ScriptedOrigin, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(tmp_path / "none"))
    with mounted(CarpoolAdapter()) as session:
        with pytest.raises(requests.ConnectionError, match="carpoold cannot be reached"):
            session.get(origin.url)
        monkeypatch.setenv("CARPOOL", "off")
        assert session.get(origin.url).ok
    assert origin.requests[-1].values("connection") == ["keep-alive"]


def test_the_missing_package_is_named(tmp_path: Path) -> None:
    (tmp_path / "requests.py").write_text("raise ImportError('no')\n")
    path = f"{tmp_path}:{ROOT / 'clients/python/src'}"
    command = [
        sys.executable,
        "-c",
        "import carpool, sys; assert 'requests' not in sys.modules; import carpool.requests",
    ]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert "carpool.requests needs the package requests: pip install requests" in done.stderr
