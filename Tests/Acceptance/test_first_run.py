"""The command line tool as newcomers and scripts use it: output, exit codes, and a daemon that starts by itself."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from harness.command import (
    HTTP_FAILURE,
    OK,
    RPC_ERROR,
    TIMED_OUT,
    TRANSFER_FAILED,
    UNREACHABLE,
    USAGE,
    Done,
    Run,
)
from harness.daemon import CARPOOL, ROOT, Daemon, environment
from harness.process import running
from harness.waiting import PATIENCE_SECONDS, SLOWNESS, eventually
from harness.wire import Wire
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin


@pytest.fixture
def alone(directory: Path) -> Iterator[Run]:
    """Run the tool where no daemon has ever run; ends the one that it starts."""
    variables = environment(directory)
    variables["PATH"] = f"{Path(CARPOOL).resolve().parent}:{variables['PATH']}"

    def call(*arguments: str, **more: str) -> Done:
        return subprocess.run(
            [CARPOOL, *arguments],
            env=variables | more,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    yield call
    call("daemon", "stop")


def ok(done: Done) -> bytes:
    assert (done.returncode, done.stderr) == (OK, b""), done
    return done.stdout


# Starts a daemon as any program that uses the package does, prints its process id, and stays alive.
ENDED = """
import os, signal, sys
import carpool
with carpool.Client() as client:
    pid = client.call("daemon.info")["server"]["pid"]
print(pid, flush=True)
sys.stdin.read()
"""


def test_u_a_daemon_that_a_python_program_started_leaves_no_zombie(directory: Path) -> None:
    variables = {**environment(directory), "PYTHONPATH": str(ROOT / "clients/python/src")}
    command = [sys.executable, "-c", ENDED]
    with running(command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        pid = int(program.stdout.readline())
        # It receives signals that its starter's shell ignores for programs in the background.
        os.kill(pid, signal.SIGINT)
        eventually(lambda: not Path(f"/proc/{pid}").exists())
        assert program.poll() is None


def test_u_a_request_waits_for_the_successor_of_a_daemon_that_drains(
    alone: Run, directory: Path, origin: ScriptedOrigin
) -> None:
    gate = origin.hold("/held")
    ok(alone("daemon", "start"))
    info = json.loads(ok(alone("call", "daemon.info")))
    with Wire(info["socket"]) as wire, ThreadPoolExecutor(1) as threads:
        held = wire.request("request.perform", url=f"{origin.url}/held")
        origin.received(1, "/held")
        accepted = wire.call("daemon.stats")["connections"]["accepted"]
        wire.call("daemon.drain")
        new = threads.submit(alone, "get", f"{origin.url}/new")
        try:
            eventually(lambda: wire.call("daemon.stats")["connections"]["accepted"] > accepted)
            wire.call("daemon.ping")
        finally:
            gate.set()
        assert wire.result(held)["body"]["text"] == "released"
    assert ok(new.result()).startswith(b"GET /new ")
    assert json.loads(ok(alone("call", "daemon.info")))["server"]["pid"] != info["server"]["pid"]


def test_stop_sees_the_end_although_a_client_has_started_the_next_daemon(
    alone: Run, directory: Path, origin: ScriptedOrigin
) -> None:
    gate = origin.hold("/held")
    ok(alone("daemon", "start"))
    info = json.loads(ok(alone("call", "daemon.info")))
    with Wire(info["socket"]) as wire:
        wire.request("request.perform", url=f"{origin.url}/held")
        origin.received(1, "/held")
        with running([CARPOOL, "daemon", "stop"], env=environment(directory), stdout=subprocess.PIPE) as stop:
            eventually(lambda: wire.call("daemon.info")["state"] == "draining")
            os.kill(stop.pid, signal.SIGSTOP)
            gate.set()
            eventually(lambda: not Path(f"/proc/{info['server']['pid']}/exe").exists())
            ok(alone("daemon", "start"))
            os.kill(stop.pid, signal.SIGCONT)
            assert stop.wait(PATIENCE_SECONDS) == OK


def test_get_prints_the_body_and_nothing_else(run: Run, nginx: Nginx) -> None:
    assert ok(run("get", f"{nginx.http}/hello.txt")) == b"hello, world\n"
    assert ok(run("get", f"{nginx.http}/empty.txt")) == b""
    assert hashlib.sha256(ok(run("get", f"{nginx.http}/20k.bin"))).hexdigest() == nginx.hashes["20k.bin"]


def test_a_large_body_comes_whole_and_leaves_no_file(run: Run, daemon: Daemon, nginx: Nginx) -> None:
    body = ok(run("get", f"{nginx.http}/16m.bin"))
    assert hashlib.sha256(body).hexdigest() == nginx.hashes["16m.bin"]
    eventually(lambda: daemon.spooled() == [])


def test_include_puts_the_head_before_the_body(run: Run, nginx: Nginx) -> None:
    text = ok(run("get", "-i", f"{nginx.http}/hello.txt")).decode()
    head, _, body = text.replace("\r\n", "\n").partition("\n\n")
    assert head.startswith("HTTP/1.1 200")
    assert "Content-Type: text/plain" in head
    assert body == "hello, world\n"


def test_head_prints_the_head(run: Run, nginx: Nginx) -> None:
    text = ok(run("head", f"{nginx.http}/hello.txt")).decode()
    assert text.startswith("HTTP/1.1 200")
    assert "Content-Length: 13" in text


def test_a_file_is_replaced_as_a_whole_with_the_caller_s_umask(run: Run, nginx: Nginx, tmp_path: Path) -> None:
    target = tmp_path / "out.bin"
    previous = os.umask(0o027)
    try:
        for name in ("1m.bin", "hello.txt"):
            assert ok(run("get", "-o", "out.bin", f"{nginx.http}/{name}")) == b""
            assert hashlib.sha256(target.read_bytes()).hexdigest() == nginx.hashes[name]
    finally:
        os.umask(previous)
    assert target.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["out.bin"]  # noqa: PTH208


def test_a_failed_transfer_leaves_the_file_as_it_was(run: Run, origin: ScriptedOrigin, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("old")

    def short(exchange: Exchange) -> None:
        exchange.reply(body=b"new", length=100)
        exchange.close()

    done = run("get", "-o", "out", origin.on("/short", short))
    assert done.returncode == TRANSFER_FAILED
    assert (tmp_path / "out").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_headers_are_sent_in_order(run: Run, origin: ScriptedOrigin) -> None:
    ok(run("get", "-H", "X-B: 1", "-H", "X-A: 2", "-H", "X-B: 3", origin.url))
    assert b"X-B: 1\r\nX-A: 2\r\nX-B: 3\r\n" in origin.received(1)[0].head


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_data_is_sent(run: Run, origin: ScriptedOrigin, tmp_path: Path, method: str) -> None:
    (tmp_path / "body").write_bytes(b"\x00\xffbinary" * 50_000)
    ok(run(method, "-d", "text=é", origin.url))
    ok(run(method, "-d", "@body", origin.url))
    ok(run(method, "-d", "@-", origin.url, stdin=b"from stdin"))
    bodies = [request.body for request in origin.received(3)]
    assert bodies == ["text=é".encode(), (tmp_path / "body").read_bytes(), b"from stdin"]
    assert {request.method for request in origin.requests} == {method.upper()}


def test_json_says_what_it_is(run: Run, origin: ScriptedOrigin) -> None:
    ok(run("post", "--json", '{"a":[1,2]}', origin.url))
    seen = origin.received(1)[0]
    assert json.loads(seen.body) == {"a": [1, 2]}
    assert seen.values("Content-Type") == ["application/json"]
    assert seen.values("Accept") == ["application/json"]


def test_any_method_can_be_named(run: Run, origin: ScriptedOrigin) -> None:
    ok(run("get", "-X", "PROPFIND", origin.url))
    assert origin.received(1)[0].method == "PROPFIND"


def test_trust_is_the_system_s_unless_told_otherwise(run: Run, nginx: Nginx, authority: Authority) -> None:
    refused = run("get", f"{nginx.https}/hello.txt")
    assert refused.returncode == TRANSFER_FAILED
    assert b"server_certificate_has_unknown_root" in refused.stderr
    assert b"--cacert" in refused.stderr
    assert ok(run("get", "--cacert", authority.ca_file, f"{nginx.https}/hello.txt")) == b"hello, world\n"
    assert ok(run("get", "--insecure", f"{nginx.https}/hello.txt")) == b"hello, world\n"


def test_an_http_failure_fails_only_when_asked_to(run: Run, nginx: Nginx) -> None:
    assert ok(run("get", f"{nginx.http}/missing")) == b"no such thing\n"
    failed = run("get", "--fail", f"{nginx.http}/missing")
    assert (failed.returncode, failed.stdout) == (HTTP_FAILURE, b"")
    assert b"404" in failed.stderr


def test_a_time_out_has_its_own_exit_code(run: Run, origin: ScriptedOrigin) -> None:
    origin.hold("/held")
    failed = run("get", "--timeout", "0.3", f"{origin.url}/held")
    assert (failed.returncode, failed.stdout) == (TIMED_OUT, b"")
    assert b"timed_out" in failed.stderr


def test_a_failed_transfer_tells_its_name_and_a_hint(run: Run) -> None:
    failed = run("get", "http://127.0.0.1:1/")
    assert (failed.returncode, failed.stdout) == (TRANSFER_FAILED, b"")
    assert b"cannot_connect_to_host" in failed.stderr
    assert b"check the port" in failed.stderr


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["fetch", "http://a/"], b"help"),
        (["get"], b"URL"),
        (["get", "--tmeout", "1", "http://a/"], b"--timeout"),
        (["get", "--timeout", "soon", "http://a/"], b"--timeout"),
        (["get", "-d", "a", "http://a/"], b"post"),
        (["get", "-H", "no colon", "http://a/"], b"NAME: VALUE"),
        (["call"], b"name of a method"),
    ],
)
def test_wrong_usage_is_told(run: Run, arguments: list[str], word: bytes) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (USAGE, b"")
    assert word in done.stderr


def test_an_rpc_error_is_told(run: Run) -> None:
    done = run("get", "--session", "none", "http://127.0.0.1:1/")
    assert done.returncode == RPC_ERROR
    assert b"session" in done.stderr
    done = run("call", "none.such")
    assert done.returncode == RPC_ERROR
    assert b"none.such" in done.stderr or b"method_not_found" in done.stderr


def test_no_daemon_behind_an_explicit_socket_is_told(alone: Run, directory: Path) -> None:
    done = alone("--socket", str(directory / "none"), "get", "http://127.0.0.1:1/")
    assert done.returncode == UNREACHABLE
    assert str(directory / "none").encode() in done.stderr


def call(run: Run, *arguments: str, stdin: bytes = b"") -> Any:
    return json.loads(ok(run("call", *arguments, stdin=stdin)))


def test_call_makes_any_call(run: Run, nginx: Nginx) -> None:
    assert call(run, "daemon.ping")["pong"] is True
    record = call(run, "request.perform", f"url={nginx.http}/hello.txt", "timeout_ms:=5000")
    assert record["body"]["text"] == "hello, world\n"
    params = json.dumps({"url": f"{nginx.http}/hello.txt"}).encode()
    assert call(run, "request.perform", "-", stdin=params)["response"]["status"] == 200


def test_openrpc_prints_the_daemon_s_description(run: Run) -> None:
    assert "request.perform" in {method["name"] for method in json.loads(ok(run("openrpc")))["methods"]}


def test_a_reader_that_leaves_ends_the_tool_quietly(run: Run, daemon: Daemon, nginx: Nginx) -> None:
    script = f'"{CARPOOL}" get {nginx.http}/16m.bin | head -c 10 | wc -c'
    done = subprocess.run(
        ["bash", "-c", script],
        env={**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket)},
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    assert (done.stdout.strip(), done.stderr) == (b"10", b"")
    eventually(lambda: daemon.spooled() == [])


def test_the_first_get_starts_a_daemon_and_the_next_one_uses_it(alone: Run, nginx: Nginx) -> None:
    assert alone("daemon", "status").returncode == UNREACHABLE
    assert ok(alone("get", f"{nginx.http}/hello.txt")) == b"hello, world\n"
    first = json.loads(ok(alone("call", "daemon.info")))["server"]["pid"]
    assert ok(alone("get", f"{nginx.http}/hello.txt")) == b"hello, world\n"
    assert json.loads(ok(alone("call", "daemon.info")))["server"]["pid"] == first
    assert alone("daemon", "status").returncode == OK


def test_twenty_tools_that_start_at_once_share_one_daemon(alone: Run, nginx: Nginx) -> None:
    with ThreadPoolExecutor(20) as threads:
        done = list(threads.map(lambda _: alone("get", f"{nginx.http}/hello.txt"), range(20)))
    assert {(one.returncode, one.stdout) for one in done} == {(OK, b"hello, world\n")}, done
    assert json.loads(ok(alone("call", "daemon.stats")))["requests"]["made"] == 20


def test_the_daemon_can_be_stopped_started_and_restarted(alone: Run) -> None:
    def pid() -> int:
        answer: int = json.loads(ok(alone("call", "daemon.info")))["server"]["pid"]
        return answer

    assert alone("daemon", "start").returncode == OK
    first = pid()
    assert alone("daemon", "start").returncode == OK
    assert pid() == first
    assert alone("daemon", "restart").returncode == OK
    second = pid()
    assert second != first
    assert alone("daemon", "stop").returncode == OK
    assert not Path(f"/proc/{second}/exe").exists()
    assert alone("daemon", "status").returncode == UNREACHABLE


@pytest.mark.parametrize("action", ["stop", "restart"])
def test_a_daemon_in_the_place_of_another_one_is_not_ended(
    alone: Run, daemon: Daemon, directory: Path, action: str
) -> None:
    ok(alone("daemon", "start"))
    info = json.loads(ok(alone("call", "daemon.info")))
    path, own = Path(info["socket"]), directory / "own.sock"
    other = daemon.call("daemon.info")["server"]["pid"]
    path.rename(own)
    path.symlink_to(daemon.socket)
    done = alone("daemon", action)
    assert (done.returncode, done.stdout) == (UNREACHABLE, b"")
    assert f"is process {other}, but process {info['server']['pid']} holds".encode() in done.stderr
    assert daemon.call("daemon.info")["state"] == "serving"
    path.unlink()
    own.rename(path)
    assert json.loads(ok(alone("call", "daemon.info")))["server"]["pid"] == info["server"]["pid"]
    ok(alone("daemon", "stop"))


def test_a_start_waits_for_the_end_of_the_daemon_before(alone: Run, directory: Path) -> None:
    ok(alone("daemon", "start"))
    ok(alone("daemon", "stop"))
    (path,) = directory.rglob("*.lock")
    with path.open("w") as lock, ThreadPoolExecutor() as threads:
        # As a daemon that was killed and whose memory the kernel still takes back.
        fcntl.flock(lock, fcntl.LOCK_EX)
        status = alone("daemon", "status")
        assert (status.returncode, status.stdout) == (UNREACHABLE, b"")
        assert b"try again" in status.stderr and str(path).encode() in status.stderr
        start = threads.submit(alone, "daemon", "start")
        with contextlib.suppress(TimeoutError):
            start.result(0.5)
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert b"is running" in ok(start.result())


def test_a_daemon_that_cannot_start_is_reported_at_once(alone: Run, directory: Path) -> None:
    config = directory / "config" / "carpool" / "config.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"limits": {"mesage_bytes": 1}}')
    began = time.monotonic()
    done = alone("get", "http://127.0.0.1:1/")
    assert time.monotonic() - began < 1.5 * SLOWNESS, "it has ten seconds to start"
    assert done.returncode == UNREACHABLE
    assert b"mesage_bytes" in done.stderr
    config.unlink()


def test_doctor_says_what_is_and_what_to_do(alone: Run, run: Run) -> None:
    healthy = run("doctor")
    assert healthy.returncode == OK, healthy
    assert b"ok" in healthy.stdout
    assert b"libcurl" in healthy.stdout
