"""A failed system call is answered in time, a shortage is never blamed on a client, and both heal.

strace makes system calls of the running daemon fail. `shortages.toml` has the pairs of calls and errors; a seeded
sample of them runs by default, all of them with CARPOOL_SHORTAGES=all (three and a half minutes).
"""

from __future__ import annotations

import contextlib
import os
import random
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.tracing import needs_strace, traced
from harness.users import as_root
from harness.waiting import SLOWNESS, eventually
from harness.wire import RemoteError
from harness.workload import LARGE_BYTES, Workload
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin

pytestmark = [as_root, pytest.mark.own_daemon]

TABLE = tomllib.loads((Path(__file__).parent / "shortages.toml").read_text())
SAMPLE = os.environ.get("CARPOOL_SHORTAGES", "8")
"""How many cases of the table run, or `all`."""
HEALING_SECONDS = 10 * SLOWNESS
UNAVAILABLE = "resource_unavailable"
SHORT = {"EMFILE", "ENFILE", "ENOMEM", "ENOBUFS"}
BLAMES = [
    "file.other_view", "file.not_owner", "file.cannot_open", "forbidden", "invalid_params", "internal", "body.gone",
    "cannot_find_host", "cannot_connect_to_host", "not_connected_to_internet", "server_certificate",
    "secure_connection", "cannot_write_to_file", "downloaded_file_move_failed", "input_file_read_failed", "unknown",
]  # fmt: skip
"""Names that say something about a client, a file or an origin."""


@dataclass(frozen=True)
class Case:
    call: str
    error: str
    when: str

    def __str__(self) -> str:
        return f"{self.call}-{self.error}-{self.when}"


def cases() -> list[Case]:
    every = [
        Case(call, error, when)
        for group in ("scarce", "other")
        for call, errors in TABLE[group].items()
        for error in errors
        for when in ("1", "2", "3..9")
    ]
    if SAMPLE == "all":
        return every
    if SAMPLE.isdecimal():
        return random.Random(17).sample(every, int(SAMPLE))
    return [case for case in every if str(case).startswith(tuple(SAMPLE.split(",")))]


@needs_strace
@pytest.mark.parametrize("case", cases(), ids=str)
def test_a_failed_system_call_is_answered_in_time_and_heals(
    start: StartDaemon, origin: ScriptedOrigin, nginx: Nginx, authority: Authority, tmp_path: Path, case: Case
) -> None:
    daemon = start()
    is_older = daemon.call("daemon.info")["libcurl"]["profile"] == "http1"
    if is_older and (case.call, case.when) == ("fcntl", "3..9"):
        pytest.xfail("this libcurl uses sockets that fcntl has not made non-blocking: a read blocks the loop")
    workload = Workload(daemon, origin, nginx, authority, tmp_path)
    log = tmp_path / "strace"
    injection = f"inject={case.call}:error={case.error}:when={case.when}"
    with traced(daemon, log, f"trace={case.call}", injection):
        began = time.monotonic()
        outcomes = workload.run()
        took = time.monotonic() - began
    assert daemon.process.poll() is None, f"the daemon has ended: {outcomes}\n{daemon.log.read_text()}"
    injected = log.read_text().count("(INJECTED)")
    print(case, injected, outcomes, round(took, 1))
    absent = TABLE["elsewhere"]["calls"] + (TABLE["multiplex"]["calls"] if is_older else [])
    assert injected > 0 or case.when != "1" or case.call in absent
    if case.error in SHORT and f"{case.call}-{case.error}" not in TABLE["known"]:
        blamed = {name: outcome for name, outcome in outcomes.items() if any(blame in outcome for blame in BLAMES)}
        assert not blamed
        if any(UNAVAILABLE in outcome for outcome in outcomes.values()):
            # A thread writes the log.
            assert eventually(lambda: daemon.log.read_text().count("short of a resource")) == 1
    for path in tmp_path.glob("got-*"):
        assert path.stat().st_size == LARGE_BYTES, "a part of a file passes for the whole"
    eventually(workload.is_served, HEALING_SECONDS)


def file_threads(daemon: Daemon) -> set[str]:
    """Return the numbers of the threads that work on files."""
    found = set()
    for task in Path(f"/proc/{daemon.pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if (task / "comm").read_text().startswith("carpool-file"):
                found.add(task.name)
    return found


@needs_strace
def test_files_are_read_while_no_thread_can_be_started(
    start: StartDaemon, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    """One thread is there, also when others have ended: it makes way for a new one only if that has started."""
    daemon = start(config={"cache": "no_store"})
    sent = tmp_path / "sent"
    sent.write_bytes(b"x" * 10_000)
    with daemon.wire() as wire:

        def upload() -> bool:
            parameters = {"url": origin.url, "method": "POST", "body": {"file": str(sent)}}
            return bool(wire.call("request.perform", resource_timeout_ms=10_000, **parameters)["outcome"]["ok"])

        assert upload()
        (first, *_) = file_threads(daemon)
        eventually(lambda: first not in file_threads(daemon), 40)
        assert len(file_threads(daemon)) == 1
        with traced(daemon, tmp_path / "strace", "trace=clone3", "inject=clone3:error=EAGAIN"):
            assert upload()
            with sent.open("rb") as body:
                given = {"url": origin.url, "method": "POST", "body": {"fd": 0}, "resource_timeout_ms": 10_000}
                record = wire.result(wire.request_with([body.fileno()], "request.perform", **given))
            assert record["outcome"]["ok"]
            (last,) = file_threads(daemon)
            # It stays, since no other can take its place.
            eventually(lambda: "INJECTED" in (tmp_path / "strace").read_text(), 40)
            assert file_threads(daemon) == {last}
            assert upload()


@needs_strace
@pytest.mark.parametrize("error", ["ENOMEM", "ENOSPC", "EPERM"])
@pytest.mark.parametrize("kind", ["request", "passed body", "output", "raw stream"])
def test_what_the_kernel_does_not_watch_fails_before_its_limit(
    start: StartDaemon, origin: ScriptedOrigin, tmp_path: Path, error: str, kind: str
) -> None:
    """Nothing that happens on its descriptor is reported; one line of the log says why."""
    daemon = start(config={"cache": "no_store"})
    reading, writing = os.pipe()
    with daemon.wire() as wire, os.fdopen(reading, "rb"), os.fdopen(writing, "wb"):
        # A connection that is watched already, so that only the pipe is not.
        ready: dict[str, Any] = {"url": origin.url, "resource_timeout_ms": 60_000}
        wire.call("request.perform", **ready)
        large = origin.on("/large", lambda exchange: exchange.reply(body=bytes(1 << 20)))
        log = tmp_path / "strace"
        with traced(daemon, log, "trace=epoll_ctl", f"inject=epoll_ctl:error={error}"):
            began = time.monotonic()
            match kind:
                case "request":
                    call = wire.request(
                        "request.perform", {**ready, "url": origin.url.replace("127.0.0.1", "localhost")}
                    )
                case "passed body":
                    call = wire.request_with([reading], "request.perform", **ready, method="POST", body={"fd": 0})
                case "output":
                    call = wire.request_with(
                        [writing], "request.perform", **{**ready, "url": large}, response_body={"fd": 0}
                    )
                case _:
                    host, _, port = origin.url.removeprefix("http://").rpartition(":")
                    call = wire.request("stream.open", {"host": host, "port": int(port), "tls": False})
            answer = wire.answer(call)
            if kind == "raw stream":
                stream = answer["result"]["stream"] if "result" in answer else None
                failed = answer if stream is None else wire.answer(wire.request("stream.read", {"stream": stream}))
                name = str(failed.get("error") or failed["result"])
            else:
                name = str(answer.get("error") or answer["result"]["outcome"])
            took = time.monotonic() - began
        assert UNAVAILABLE in name or (error == "EPERM" and "cannot_write_to_file" in name)
        assert took < 10 * SLOWNESS
        if error != "EPERM":
            # A thread writes the log.
            assert eventually(lambda: daemon.log.read_text().count("short of a resource")) == 1
    with daemon.wire() as wire:
        assert wire.call("request.perform", url=origin.url)["outcome"] == {"ok": True}


@needs_strace
def test_a_socket_for_which_there_is_no_memory_is_tried_from_time_to_time(start: StartDaemon, tmp_path: Path) -> None:
    """It stays readable, so that the loop would try it in each turn. The client's connection stays."""
    daemon = start()
    log = tmp_path / "strace"
    tries = 5
    with daemon.wire() as wire:
        wire.call("daemon.ping")
        with traced(daemon, log, "trace=recvmsg", "inject=recvmsg:error=ENOMEM"):
            began = time.monotonic()
            call = wire.request("daemon.ping", {})
            eventually(lambda: log.read_text().count("INJECTED") >= tries)
            assert time.monotonic() - began >= 0.05 * (tries - 1)
        assert "result" in wire.answer(call)


@needs_strace
def test_files_that_are_opened_late_end_the_call_in_its_time(
    start: StartDaemon, origin: ScriptedOrigin, tmp_path: Path
) -> None:
    daemon = start(config={"cache": "no_store"})
    sent = tmp_path / "sent"
    sent.write_bytes(b"x")
    parameters = {"url": origin.url, "method": "POST", "body": {"file": str(sent)}, "resource_timeout_ms": 500}
    log = tmp_path / "strace"
    with daemon.wire() as wire:
        wire.call("daemon.ping")
        with traced(daemon, log, "trace=openat2", "inject=openat2:delay_enter=4000000"):
            with pytest.raises(RemoteError, match="not open within 500 ms") as caught:
                wire.call("request.perform", **parameters)
            assert caught.value.name == UNAVAILABLE
            assert wire.call("daemon.stats")["worker"]["running"] == 1
        assert origin.requests == []
        eventually(lambda: wire.call("daemon.stats")["worker"]["running"] == 0)
        assert wire.call("request.perform", **{**parameters, "resource_timeout_ms": 10_000})["outcome"]["ok"]
