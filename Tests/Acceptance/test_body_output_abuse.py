"""Descriptors for bodies with which a client tries to harm others, or the daemon."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import pty
import re
import select
import socket
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.daemon import ROOT, Daemon
from harness.outputs import Pair, perform, refuse, send
from harness.users import NOBODY, as_root, wire_as
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import Wire
from origins.scripted import ScriptedOrigin

TEXT = b"a line\n"
# More than a worker has threads.
STOPPED = 40


@pytest.fixture
def text(origin: ScriptedOrigin) -> str:
    return origin.on("/text", lambda exchange: exchange.reply(200, TEXT))


# Terminals


def test_terminals_that_are_stopped_take_no_thread(wire: Wire, text: str, tmp_path: Path) -> None:
    terminals = [pty.openpty() for _ in range(STOPPED)]
    for _, far in terminals:
        termios.tcflow(far, termios.TCOOFF)
    for call, (_, far) in enumerate(terminals):
        send(wire, [far], call=call, url=text)
    with (tmp_path / "file").open("wb") as file:
        assert perform(wire, [file.fileno()], url=text)["outcome"] == {"ok": True}
    assert (tmp_path / "file").read_bytes() == TEXT
    for call, (near, far) in enumerate(terminals):
        assert not select.select([near], [], [], 0)[0]
        termios.tcflow(far, termios.TCOON)
        assert wire.answer(call)["result"]["outcome"] == {"ok": True}
        assert os.read(near, 100) == TEXT.replace(b"\n", b"\r\n")
        os.close(near)
        os.close(far)


def test_a_terminal_that_is_not_read_ends_with_its_request(
    daemon: Daemon, wire: Wire, origin: ScriptedOrigin, text: str
) -> None:
    """The terminal has room for a part of the body only."""
    url = origin.on("/much", lambda exchange: exchange.reply(200, bytes(1 << 20)))
    near, far = pty.openpty()
    send(wire, [far], call=1, url=url, resource_timeout_ms=1_000)
    assert wire.answer(1)["result"]["outcome"]["error"]["name"] == "session_task_failed.timed_out"
    eventually(lambda: "/dev/pts" not in " ".join(daemon.descriptors()))
    os.close(near)
    os.close(far)


def polled(daemon: Daemon) -> set[int]:
    """Return the descriptors that the daemon's loop waits for (proc(5), fdinfo of epoll)."""
    found = set()
    for entry in Path(f"/proc/{daemon.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            if str(entry.readlink()) == "anon_inode:[eventpoll]":
                text = Path(f"/proc/{daemon.pid}/fdinfo/{entry.name}").read_text()
                found |= {int(number) for number in re.findall(r"^tfd:\s*(\d+)", text, re.MULTILINE)}
    return found


def terminals_of(daemon: Daemon) -> set[int]:
    """Return the daemon's descriptors of terminals."""
    found = set()
    for entry in Path(f"/proc/{daemon.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            if str(entry.readlink()).startswith("/dev/pts/"):
                found.add(int(entry.name))
    return found


@pytest.mark.parametrize("is_stopped", [True, False])
def test_the_loop_does_not_poll_a_terminal(
    daemon: Daemon, wire: Wire, origin: ScriptedOrigin, text: str, *, is_stopped: bool
) -> None:
    """That waits until the terminal's input is processed, which a program may write as fast as it can."""
    near, far = pty.openpty()
    if is_stopped:
        termios.tcflow(far, termios.TCOOFF)
    origin.hold("/held")
    send(wire, [far], call=801, url=text if is_stopped else f"{origin.url}/held")
    origin.received(1)
    assert eventually(lambda: terminals_of(daemon))
    assert wire.call("daemon.ping")
    assert polled(daemon)
    assert not polled(daemon) & terminals_of(daemon)
    os.close(near)
    os.close(far)
    assert wire.answer(801)["result"]["outcome"]["error"]["name"] == "response_output_closed"


def test_the_side_of_the_emulator_is_refused(wire: Wire, origin: ScriptedOrigin, text: str) -> None:
    near, far = pty.openpty()
    error = refuse(wire, [near], url=text)
    assert error["message"] == "cannot open descriptor 0: the side of a terminal's emulator"
    assert origin.requests == []
    os.close(near)
    os.close(far)


def test_the_controlling_terminal_is_refused(daemon: Daemon, origin: ScriptedOrigin, text: str) -> None:
    """Its name leads each process to another terminal."""
    program = f"""
import fcntl, os, pty, sys, termios
near, far = pty.openpty()
fcntl.ioctl(far, termios.TIOCSCTTY, 0)
sys.path[:0] = [{str(ROOT / "Tests/Acceptance")!r}]
from harness.outputs import refuse
from harness.wire import Wire
with Wire({str(daemon.socket)!r}) as wire:
    print(refuse(wire, [os.open("/dev/tty", os.O_WRONLY)], url={text!r})["data"]["hint"])
"""
    found = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        timeout=PATIENCE_SECONDS,
    )
    assert (found.stdout, found.stderr) == ("open the terminal by the name that tty(1) prints\n", "")
    assert origin.requests == []


def test_a_terminal_that_was_hung_up_is_refused(wire: Wire, origin: ScriptedOrigin, text: str) -> None:
    """Its name may belong to another user by now."""
    near, far = pty.openpty()
    os.close(near)
    error = refuse(wire, [far], url=text)
    assert re.fullmatch("cannot open descriptor 0: the (terminal has been hung up|daemon cannot .*)", error["message"])
    assert error["data"]["errno"] == 5
    assert origin.requests == []
    os.close(far)


# Devices and sockets


@pytest.mark.parametrize("name", ["/dev/random", "/dev/kmsg", "/dev/mem"])
def test_a_device_that_looks_at_the_writer_is_refused(wire: Wire, origin: ScriptedOrigin, text: str, name: str) -> None:
    descriptor = os.open("/dev/random" if not os.access(name, os.W_OK) else name, os.O_WRONLY)
    error = refuse(wire, [descriptor], url=text)
    assert error["message"].startswith("cannot open descriptor 0: not a pipe, a socket, a terminal, a regular file")
    assert origin.requests == []
    os.close(descriptor)


@pytest.mark.parametrize("name", ["/dev/null", "/dev/zero"])
def test_a_device_that_takes_bytes(wire: Wire, text: str, name: str) -> None:
    descriptor = os.open(name, os.O_WRONLY)
    assert perform(wire, [descriptor], url=text)["body"] == {"fd": True, "size_bytes": len(TEXT)}
    os.close(descriptor)


def test_a_connection_to_the_daemon_is_refused(daemon: Daemon, wire: Wire, origin: ScriptedOrigin, text: str) -> None:
    with Wire(daemon.socket) as other:
        error = refuse(wire, [other.socket.fileno()], url=text)
    assert error["message"] == "cannot open descriptor 0: a connection to the daemon"
    assert origin.requests == []
    # The daemon has not kept the other connection.
    eventually(lambda: daemon.stats()["connections"]["open"] == 2)


@as_root
def test_a_service_of_another_user_is_refused(
    start: StartDaemon, origin: ScriptedOrigin, text: str, tmp_path_factory: Any
) -> None:
    """It may look at the user of the writer (SO_PASSCRED), who is the daemon's."""
    daemon = start(config={"access": {"uids": {str(NOBODY): "submit"}}})
    daemon.directory.chmod(0o711)
    service, listening = daemon.directory / "service", socket.socket(socket.AF_UNIX)
    listening.bind(str(service))
    service.chmod(0o777)
    listening.listen()
    with wire_as(NOBODY, daemon.socket) as wire, socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(service))
        error = refuse(wire, [connection.fileno()], url=text)
        assert error["message"] == "cannot open descriptor 0: a Unix socket whose other end belongs to the user 0"
        assert origin.requests == []
    listening.close()


# What remains


def test_the_descriptor_of_a_kept_request_is_free(daemon: Daemon, wire: Wire, text: str) -> None:
    """The records of submitted requests are kept until they are dismissed."""

    def outputs() -> int:
        return sum(name.startswith(("pipe:", "/dev/null")) for name in daemon.descriptors())

    before = outputs()
    requests = []
    for call in range(20):
        pair = Pair()
        send(wire, [pair.write], call=call, method="request.submit", url=text)
        pair.close_write()
        requests.append(wire.answer(call)["result"]["request"])
        assert pair.finish() == TEXT
    for request in requests:
        assert wire.call("request.wait", request=request)["outcome"] == {"ok": True}
    # One file takes the place of closed ones.
    eventually(lambda: outputs() <= before + 1)


def test_a_cancelled_request_has_the_size_and_the_hash_of_what_was_written(
    wire: Wire, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    """The call to cancel comes while a job writes."""
    content = os.urandom(1 << 16) * 64
    url = origin.on("/much", lambda exchange: exchange.reply(200, content))
    hashed = 0
    for call in range(60):
        with (tmp_path / str(call)).open("wb") as file:
            params: dict[str, Any] = {
                "method": "request.submit",
                "sha256": True,
                "events": {"types": ["task.did_receive_data"]},
            }
            send(wire, [file.fileno()], call=call, url=url, **params)
        request = wire.answer(call)["result"]["request"]
        wire.event("task.did_receive_data")
        wire.call("request.cancel", request=request)
        body = wire.call("request.wait", request=request)["body"]
        written = (tmp_path / str(call)).read_bytes()
        assert body["size_bytes"] == len(written)
        if "sha256" in body:
            hashed += 1
            assert body["sha256"] == hashlib.sha256(written).hexdigest()
    assert hashed > 0


def test_what_a_reader_that_stops_gets_is_counted(wire: Wire, origin: ScriptedOrigin) -> None:
    url = origin.on("/much", lambda exchange: exchange.reply(200, bytes(1 << 22)))
    for call in range(10):
        pair = Pair()
        send(wire, [pair.write], call=call, method="request.submit", url=url)
        request = wire.answer(call)["result"]["request"]
        pair.close_write()
        assert select.select([pair.read], [], [], PATIENCE_SECONDS)[0]
        taken = os.read(pair.read, 1 << 16)
        wire.call("request.cancel", request=request)
        record = wire.call("request.wait", request=request)
        assert record["body"]["size_bytes"] == len(taken) + len(pair.finish())


def test_nothing_is_written_after_a_request_was_cancelled(wire: Wire, origin: ScriptedOrigin) -> None:
    url = origin.on("/much", lambda exchange: exchange.reply(200, bytes(1 << 22)))
    pair = Pair()
    send(wire, [pair.write], method="request.submit", url=url)
    request = wire.answer(901)["result"]["request"]
    pair.close_write()
    room = fcntl.fcntl(pair.read, fcntl.F_GETPIPE_SZ)
    eventually(lambda: waiting(pair.read) == room)
    eventually(lambda: wire.call("request.get", request=request)["received_bytes"] > 2 * room)
    assert wire.call("request.cancel", request=request)["changed"]
    assert len(pair.finish()) == room


def waiting(descriptor: int) -> int:
    """Return how many bytes can be read."""
    return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.parametrize("closes", [True, False])
def test_a_suspended_request_ends_with_its_time_or_its_reader(
    wire: Wire, origin: ScriptedOrigin, *, closes: bool
) -> None:
    """The whole body has arrived, and a part of it is in the pipe."""
    url = origin.on("/some", lambda exchange: exchange.reply(200, bytes(400_000)))
    pair = Pair()
    params: dict[str, Any] = {"method": "request.submit", "events": {"types": ["task.did_receive_data"]}}
    send(wire, [pair.write], call=1, url=url, resource_timeout_ms=60_000 if closes else 1_500, **params)
    request = wire.answer(1)["result"]["request"]
    pair.close_write()
    arrived = 0
    while arrived < 400_000:
        arrived += wire.event("task.did_receive_data")["data"]["size_bytes"]
    wire.call("request.suspend", request=request)
    if closes:
        pair.close()
    error = wire.call("request.wait", request=request)["outcome"]["error"]["name"]
    assert error == ("response_output_closed" if closes else "session_task_failed.timed_out")
    if not closes:
        pair.close()
