"""Files that a client names or passes: opened once, with its rights, and never replaced by another afterwards."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.daemon import CARPOOLD, ROOT, Daemon
from harness.users import NOBODY, as_root
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import RemoteError, Wire
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin


@pytest.fixture
def url(origin: ScriptedOrigin) -> str:
    return origin.on("/", lambda exchange: exchange.reply(200)) + "?"


def call(wire: Wire, body: Any, descriptors: list[int], **params: Any) -> Any:
    """Make a request on a line with descriptors."""
    return wire.answer(wire.request_with(descriptors, "request.perform", body=body, **params))


@contextmanager
def swapping(path: Path, first: Callable[[Path], None], second: Callable[[Path], None]) -> Iterator[None]:
    """Make a path lead to two files in turn, as fast as possible."""
    stop = threading.Event()

    def swap() -> None:
        number = 0
        while not stop.is_set():
            new = path.with_name(f"new-{number % 2}")
            (first if number % 2 else second)(new)
            new.rename(path)
            number += 1

    thread = threading.Thread(target=swap, daemon=True)
    first(path)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(PATIENCE_SECONDS)


@pytest.fixture
def older(start_by: Callable[[str], Daemon]) -> Daemon:
    """Start a daemon on a kernel that does not know openat2."""
    return start_by(f'exec {ROOT}/Tests/Support/older-kernel openat2 {CARPOOLD} "$@"')


# A7: paths of the daemon's own files


@pytest.mark.parametrize(
    "path",
    ["/dev/fd/3", "/dev/stdin", "/proc/self/fd/3", "/proc/{}/fd/3", "/proc/{}/environ", "/proc/{}/cwd/etc/passwd"],
)
@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("kernel", ["this", "older"])
def test_a7_the_daemon_s_own_files_are_not_a_caller_s(
    request: pytest.FixtureRequest, origin: ScriptedOrigin, url: str, folder: Path, path: str, linked: bool, kernel: str
) -> None:  # fmt: skip
    daemon: Daemon = request.getfixturevalue("daemon" if kernel == "this" else "older")
    path = path.format(daemon.pid)
    if linked:
        (folder / "link").symlink_to(path)
        path = str(folder / "link")
    with daemon.wire() as wire:
        refuse_own_file(wire, url, path)
    assert origin.requests == []


def refuse_own_file(wire: Wire, url: str, path: str) -> None:
    """Check that a path is refused by every parameter that names a file."""
    for params in ({"body": {"file": path}}, {"trust": {"ca_file": path}}):
        error = wire.answer(wire.request("request.perform", {"url": url, **params}))["error"]["data"]
        assert (error["name"], error["path"]) == ("file.cannot_open", path)
        assert "descriptor" in error["hint"]
    part = {"name": "f", "file": path, "file_name": "a.txt"}
    answer = wire.answer(wire.request("request.perform", {"url": url, "body": {"multipart": [part]}}))
    assert answer["result"]["outcome"]["error"]["name"].startswith("multipart_encoding_failed.")


def test_a7_ordinary_links_are_followed_on_an_older_kernel_too(
    older: Daemon, origin: ScriptedOrigin, url: str, folder: Path
) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "file").write_text("content")
    (folder / "up").symlink_to("a/b/..//./")
    (folder / "a" / "b" / "again").symlink_to("../../up/file")
    (folder / "whole").symlink_to(folder / "a" / "b" / "again")
    (folder / "loop").symlink_to("loop")
    for n in range(42):
        (folder / f"chain{n}").symlink_to(f"chain{n + 1}" if n < 41 else "a/file")
    with older.wire() as wire:
        for path in ("a/file", "whole", "up/b/again", "chain2", "a/b/../file"):
            answer = wire.answer(
                wire.request("request.perform", {"url": url, "method": "PUT", "body": {"file": f"{folder}/{path}"}})
            )
            assert answer["result"]["outcome"]["ok"], path
            assert origin.requests[-1].body == b"content"
        for path in ("whole/", "loop", "chain1", "absent", "a/file/x", "a", "x" * 300):
            answer = wire.answer(
                wire.request("request.perform", {"url": url, "method": "PUT", "body": {"file": f"{folder}/{path}"}})
            )
            assert answer["error"]["data"]["name"].startswith("file."), path
            assert "descriptor" not in answer["error"]["data"]["hint"] or path == "chain1", path


# A7 and B1: the configuration


@as_root
def test_a7_a_configuration_of_another_user_is_refused(daemon: Daemon, client: carpool.Client) -> None:
    daemon.configure({"drain_ms": 1})
    path = Path(client.call("daemon.config")["file"])
    os.chown(path, NOBODY, NOBODY)
    with pytest.raises(carpool.CarpoolError, match=f"belongs to user {NOBODY}"):
        client.call("daemon.config_reload")
    os.chown(path, 0, 0)
    assert client.call("daemon.config_reload")["changed"] == ["drain_ms"]


@pytest.mark.parametrize("mode", [0o666, 0o602, 0o620])
def test_a7_a_configuration_that_others_may_write_is_refused(directory: Path, start: StartDaemon, mode: int) -> None:
    daemon = start(config={"drain_ms": 1_000})
    path = Path(daemon.call("daemon.config")["file"])
    daemon.configure({"drain_ms": 2_000})
    path.chmod(mode)
    with daemon.client() as client, pytest.raises(carpool.CarpoolError, match="may be written by others"):
        client.call("daemon.config_reload")
    assert daemon.call("daemon.config")["drain_ms"] == 1_000
    daemon.stop()
    refused = start()
    assert "may be written by others" in refused.launch_status
    path.chmod(0o600)
    assert start().launch_status == "ready"


@pytest.mark.parametrize("kind", ["pipe", "directory", "device"])
def test_b1_a_configuration_that_is_no_file(daemon: Daemon, client: carpool.Client, kind: str) -> None:
    path = Path(client.call("daemon.config")["file"])
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    for _ in range(3):
        with pytest.raises(carpool.CarpoolError, match="no regular file"):
            client.call("daemon.config_reload")
    assert client.call("daemon.ping")["pong"]


# B1: files that are replaced a moment later


@pytest.mark.parametrize("kind", ["body", "part", "authorities", "configuration"])
def test_b1_a_pipe_swapped_in_holds_nobody(
    daemon: Daemon, wire: Wire, nginx: Nginx, authority: Authority, folder: Path, kind: str
) -> None:
    path = folder / "file.pem"
    if kind == "configuration":
        path = Path(wire.call("daemon.config")["file"])
        path.parent.mkdir(parents=True, exist_ok=True)
    content = b"{}" if kind == "configuration" else authority.ca_file.read_bytes()
    params: dict[str, Any] = {"url": f"{nginx.https}/hello.txt", "trust": {"ca_file": str(authority.ca_file)}}
    if kind == "body":
        params |= {"method": "POST", "body": {"file": str(path)}}
    elif kind == "part":
        params |= {"body": {"multipart": [{"name": "f", "file": str(path)}]}}
    else:
        params |= {"trust": {"ca_file": str(path)}}

    outcomes = set()

    def write(place: Path) -> None:
        place.write_bytes(content)

    def outcome() -> str:
        try:
            if kind == "configuration":
                wire.call("daemon.config_reload")
                return "done"
            # Each on a connection of its own, for which libcurl needs the authorities.
            record = wire.call("request.perform", **params)
            wire.call("pool.flush")
            return "done" if record["outcome"]["ok"] or kind == "body" else "failed"
        except RemoteError as error:
            return error.name

    with swapping(path, write, os.mkfifo):
        for _ in range(150):
            outcomes.add(outcome())
            assert wire.call("daemon.ping")["pong"]
    assert outcomes <= {"done", "failed", "file.cannot_open", "configuration.refused"}
    # Which one is in place is random: a busy disk keeps the pipe in place while it writes the file.
    path.unlink()
    write(path)
    assert outcome() == "done"


def test_b1_a_file_of_authorities_is_read_once(wire: Wire, nginx: Nginx, authority: Authority, folder: Path) -> None:
    """A session trusts the certificates that it has read, even if the file changes later."""
    path = folder / "ca.pem"
    path.write_bytes(authority.ca_file.read_bytes())
    wire.call("session.create", name="private", configuration={"trust": {"ca_file": str(path)}})
    path.unlink()
    os.mkfifo(path)
    for _ in range(3):
        record = wire.call("request.perform", url=f"{nginx.https}/hello.txt", session="private")
        assert record["outcome"]["ok"], record["outcome"]
        wire.call("pool.flush")


def test_a7_authorities_are_their_content(wire: Wire, nginx: Nginx, authority: Authority, folder: Path) -> None:
    """A file with other authorities of the same size and times is another trust, with connections of its own."""
    good = authority.ca_file.read_bytes()
    other = Authority(folder / "other", "Another authority").ca_file.read_bytes()
    size = max(len(good), len(other))
    path = folder / "ca.pem"
    path.write_bytes(good.ljust(size, b"\n"))
    status = path.stat()
    params = {"url": f"{nginx.https}/hello.txt", "trust": {"ca_file": str(path)}}
    assert wire.call("request.perform", **params)["outcome"]["ok"]
    with path.open("r+b") as file:
        file.write(other.ljust(size, b"\n"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_mtime_ns == status.st_mtime_ns
    assert not wire.call("request.perform", **params)["outcome"]["ok"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no certificate"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "certificate 1"),
        (
            b"-----BEGIN CERTIFICATE-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n"
            b"-----END CERTIFICATE-----\n",
            "certificate",
        ),
        (b"x" * 1_048_577, "1048577 bytes"),
    ],
)
def test_b1_what_gives_no_authorities_is_refused(
    wire: Wire, nginx: Nginx, folder: Path, content: bytes, message: str
) -> None:
    path = folder / "ca.pem"
    path.write_bytes(content)
    for method, params, place in (
        ("request.perform", {"url": nginx.https, "trust": {"ca_file": str(path)}}, "params.trust.ca_file"),
        (
            "session.create",
            {"name": "s", "configuration": {"trust": {"ca_file": str(path)}}},
            "params.configuration.trust.ca_file",
        ),
        ("stream.open", {"host": "127.0.0.1", "port": 1, "trust": {"ca_file": str(path)}}, "params.trust.ca_file"),
    ):
        error = wire.answer(wire.request(method, params))["error"]
        assert (error["code"], error["data"]["path"]) == (-32602, place)
        assert message in error["message"]


def test_b1_many_authorities_hold_nobody(
    daemon: Daemon, wire: Wire, nginx: Nginx, authority: Authority, folder: Path
) -> None:
    """As many as fit: parsing them takes a thread half a second, and no time of the loop."""
    system = Path("/etc/ssl/certs/ca-certificates.crt").read_bytes()
    path = folder / "ca.pem"
    content = authority.ca_file.read_bytes()
    path.write_bytes(content + system * ((1_048_576 - len(content)) // len(system)))
    ids = [wire.request("request.perform", {"url": f"{nginx.https}/hello.txt", "trust": {"ca_file": str(path)}})]
    path.write_bytes(path.read_bytes() * 40)
    ids.append(wire.request("request.perform", {"url": nginx.https, "trust": {"ca_file": str(path)}}))
    answers = [wire.answer(number) for number in ids]
    assert answers[1]["error"]["code"] == -32602
    assert daemon.stats()["loop"]["longest_turn_us"] < 1_000_000


# A6: descriptors


def test_a6_a_mere_place_is_not_read(wire: Wire, origin: ScriptedOrigin, url: str, folder: Path) -> None:
    """O_PATH opens without any right to the content; the daemon's own rights must not make up for it."""
    (folder / "file").write_bytes(b"secret")
    os.mkfifo(folder / "pipe")
    keep = os.open(folder / "pipe", os.O_RDWR)
    os.write(keep, b"secret")
    write_only = os.open(folder / "pipe", os.O_WRONLY)
    for place in (os.open(folder / "file", os.O_PATH), os.open(folder / "pipe", os.O_PATH), write_only):
        for body in ({"fd": 0, "length_bytes": 6}, {"multipart": [{"name": "f", "fd": 0, "length_bytes": 6}]}):
            error = call(wire, body, [place], url=url, kind="upload")["error"]["data"]
            assert (error["name"], error["errno"]) == ("file.cannot_open", errno.EBADF)
        os.close(place)
    os.close(keep)
    assert origin.requests == []


FOREIGN_PIPES = """
import json, os, socket, sys
path, url, fifo, place = sys.argv[1:]
readable = os.open(fifo, os.O_RDWR)
os.write(readable, b"named")
place = os.open(place, os.O_PATH)
read, write = os.pipe()
os.write(write, b"unnamed")
os.close(write)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
connection = socket.socket(socket.AF_UNIX)
connection.connect(path)
answers = connection.makefile()
def ask(descriptor, body):
    params = {"url": url, "kind": "upload", "body": body}
    call = {"jsonrpc": "2.0", "id": 1, "method": "request.perform", "params": params}
    socket.send_fds(connection, [json.dumps(call).encode() + b"\\n"], [descriptor])
    return json.loads(answers.readline())
print(json.dumps([
    ask(read, {"fd": 0}), ask(readable, {"fd": 0, "length_bytes": 5}), ask(place, {"fd": 0, "length_bytes": 6}),
    os.get_blocking(read), os.get_blocking(readable),
]))
"""


@as_root
def test_a6_pipes_of_another_user(start: StartDaemon, origin: ScriptedOrigin, url: str, folder: Path) -> None:
    """A pipe is read as it was passed: neither with the daemon's rights nor against the caller's."""
    os.mkfifo(folder / "mine", 0o600)
    os.mkfifo(folder / "place", 0o600)
    daemon = start(config={"access": {"uids": {str(NOBODY): "submit"}}})
    daemon.directory.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", FOREIGN_PIPES, str(daemon.socket), url, str(folder / "mine"), str(folder / "place")],
        check=True,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
    )
    unnamed, named, place, *blocking = json.loads(done.stdout)
    assert unnamed["result"]["outcome"]["ok"], unnamed
    assert named["result"]["outcome"]["ok"], named
    assert place["error"]["data"]["errno"] == errno.EBADF
    assert blocking == [True, True]
    assert [request.body for request in origin.requests] == [b"unnamed", b"named"]


@as_root
def test_a6_a_pipe_that_the_daemon_s_user_may_not_open(
    start: StartDaemon, origin: ScriptedOrigin, url: str, folder: Path
) -> None:
    """Passed by root to a daemon of another user, which could not open it by /proc."""
    daemon = start(user=NOBODY, config={"access": {"uids": {"0": "submit"}}})
    read, write = os.pipe()
    os.fchmod(read, 0o600)
    os.write(write, b"root's")
    os.close(write)
    with daemon.wire() as wire:
        assert call(wire, {"fd": 0}, [read], url=url)["result"]["outcome"]["ok"]
    os.close(read)
    assert origin.requests[0].body == b"root's"


def test_a6_a_pipe_that_blocks_again_holds_nobody(daemon: Daemon, wire: Wire, origin: ScriptedOrigin, url: str) -> None:
    """Its mode is the caller's, who may change it at any time."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    message = {"jsonrpc": "2.0", "id": 900, "method": "request.perform", "params": {"url": url, "body": {"fd": 0}}}
    wire.send(message, [read])
    os.write(write, b"one")
    eventually(lambda: daemon.stats()["transfers"]["active"] == 1)
    for piece in (b"two", b"three"):
        os.set_blocking(read, True)
        os.write(write, piece)
        assert daemon.call("daemon.ping")["pong"]
    os.close(write)
    assert wire.answer(900)["result"]["outcome"]["ok"]
    os.close(read)
    assert origin.requests[0].body == b"onetwothree"
