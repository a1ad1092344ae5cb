"""The fake daemon of `carpool.testing`: its limits, descriptors, and the end of its block."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import carpool
from carpool._fake import daemon as fake_module
from carpool.testing import FakeDaemon

URL = "https://api.example.com/people"
PATIENCE_SECONDS = 20


# Limits


def test_recorded_requests_are_bounded(
    client: carpool.Client, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fake_module, "MAX_REQUESTS", 3)
    route = fake.route("POST", URL)
    for _ in range(3):
        client.post(URL)
    with pytest.raises(carpool.RequestError, match=r"at most 3 requests .*: call clear\(\)"):
        client.post(URL)
    assert (len(fake.requests), len(route.requests)) == (3, 3)
    fake.clear()
    assert (fake.requests, fake.routes) == ([], [])
    fake.route("POST", URL)
    for number in range(3):
        client.submit("POST", URL, start="manual", tags={"number": str(number)})
    with pytest.raises(carpool.QuotaError, match="3 requests that are not dismissed"):
        client.submit("POST", URL)


def test_recorded_bodies_are_bounded(client: carpool.Client, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_module, "MAX_BYTES", 1 << 20)
    fake.route("POST", URL)
    client.post(URL, data=bytes(600_000))
    with pytest.raises(carpool.RequestError, match="1 MiB"):
        client.post(URL, data=bytes(600_000))


# The block


WITHOUT_DESCRIPTORS = """
import os, resource, socket, carpool
from carpool.testing import FakeDaemon

def taken(free):
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    descriptors = []
    try:
        while True:
            descriptors.append(os.open("/", os.O_RDONLY))
    except OSError:
        for _ in range(free):
            os.close(descriptors.pop())
    return descriptors

for free in range(8):
    descriptors = taken(free)
    try:
        with FakeDaemon():
            pass
        print(free)
        break
    except carpool.CarpoolError as error:
        assert str(error) == "the fake daemon cannot start: Too many open files", error
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    assert os.listdir(os.environ["TMPDIR"]) == []
with FakeDaemon() as fake:
    # One descriptor for the client, and none for the fake: it accepts the connection as soon as there is one.
    descriptors = taken(1)
    waiting = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    waiting.connect(fake.socket)
    os.close(descriptors.pop())
    waiting.sendall(b'{"jsonrpc": "2.0", "id": 1, "method": "daemon.ping", "params": {}}\\n')
    waiting.settimeout(20)
    print("served" if waiting.recv(1) == b"{" else "refused")
"""


def test_a_block_without_descriptors_raises_a_carpool_error_and_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_DESCRIPTORS],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert (done.stderr, done.stdout) == ("", "3\nserved\n")
    assert list(tmp_path.iterdir()) == []


def test_the_block_replaces_the_daemon_of_everything_without_a_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", "/nowhere")
    with FakeDaemon() as outer:
        outer.route("GET", URL, content="outer")
        assert carpool.get(URL).text == "outer"
        with FakeDaemon() as inner:
            inner.route("GET", URL, content="inner")
            assert carpool.get(URL).text == "inner"
            with carpool.Client() as client:
                assert client.get(URL).text == "inner"
            program = f"import carpool; print(carpool.get({URL!r}).text)"
            done = subprocess.run(
                [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
                env={**os.environ, "PYTHONPATH": str(Path(carpool.__file__).parent.parent)},
            )  # fmt: skip
            assert done.stdout == "inner\n"
            assert len(inner.requests) == 3
        assert carpool.get(URL).text == "outer"
        assert len(outer.requests) == 2
    assert os.environ["CARPOOL_SOCKET"] == "/nowhere"
    with pytest.raises(carpool.DaemonUnreachableError, match="/nowhere"):
        carpool.get(URL)


def test_the_end_of_the_block_leaves_nothing(client: carpool.Client) -> None:
    """Also with a connection, a stream that is not read, and a call that waits."""
    before, descriptors = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
    with FakeDaemon() as fake, carpool.Client(fake.socket) as own:
        fake.route("GET", URL, content=bytes(1_000_000))
        stream = own.get(URL, stream=True)
        request = own.submit("GET", URL, start="manual")
        refused = (carpool.ConnectionLostError, own.wait, request)
        waiting = threading.Thread(target=pytest.raises, args=refused, daemon=True)
        waiting.start()
        end = time.monotonic() + PATIENCE_SECONDS
        while not any(connection._calls for connection in fake._connections):
            assert time.monotonic() < end, "the call does not arrive"
            time.sleep(0.001)
        folder = Path(fake.folder)
        assert folder.is_dir()
    waiting.join(PATIENCE_SECONDS)
    stream.close()
    assert not folder.exists()
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("carpool-fake-body")]
    assert threading.active_count() == before
    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors
    with pytest.raises(carpool.DaemonUnreachableError):
        carpool.Client(folder / "carpool.sock").get(URL)


def test_a_fake_is_used_for_one_block() -> None:
    fake = FakeDaemon()
    with fake, pytest.raises(RuntimeError, match="make another one"), fake:
        pass
    with pytest.raises(carpool.CarpoolError, match="listens only in its block"):
        _ = fake.socket


def test_a_path_that_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("a" * 100)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    with pytest.raises(RuntimeError, match="set TMPDIR to a shorter directory"), FakeDaemon():
        pass
    assert list(long.iterdir()) == []


def test_a_child_of_fork_uses_the_fake_of_its_parent(fake: FakeDaemon) -> None:
    fake.route("GET", URL, content="parent")
    assert carpool.get(URL).text == "parent"
    if (child := os.fork()) == 0:
        code = 1
        try:
            code = 0 if carpool.get(URL).text == "parent" else 2
            fake.__exit__(None, None, None)
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert len(fake.requests) == 2
    assert carpool.get(URL).text == "parent", "the child has removed nothing"


def test_a_fake_without_its_block_has_no_socket() -> None:
    fake = FakeDaemon()
    fake.route("GET", URL)
    with pytest.raises(carpool.CarpoolError, match=r"socket: .*write `with FakeDaemon"):
        carpool.Client(fake.socket)
    with fake, carpool.Client(fake.socket) as client:
        assert client.get(URL).status_code == 200
