"""`carpool --stream`, `--lines` and `--sse`: bodies on standard output while they come."""

from __future__ import annotations

import hashlib
import json
import subprocess

from harness.command import HTTP_FAILURE, OK, TRANSFER_FAILED, Run
from harness.daemon import CARPOOL
from harness.process import running
from harness.waiting import PATIENCE_SECONDS
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin


def test_a_stream_is_printed_while_it_comes(variables: dict[str, str], origin: ScriptedOrigin) -> None:
    gate = origin.hold("/never")

    def handler(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        gate.wait(PATIENCE_SECONDS)
        exchange.send(b"other")

    command = [CARPOOL, "get", "--stream", origin.on("/half", handler)]
    with running(command, env=variables, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(5) == b"first"
        gate.set()
        assert process.stdout.read() == b"other"
        assert process.wait(PATIENCE_SECONDS) == OK


def test_lines_and_events_are_printed(run: Run, origin: ScriptedOrigin) -> None:
    url = origin.on("/events", lambda exchange: exchange.reply(body=b"id: 7\r\ndata: a\r\n\r\ndata: b\r\n\r\n"))
    assert run("get", "--lines", url).stdout == b"id: 7\ndata: a\n\ndata: b\n\n"
    events = [json.loads(line) for line in run("get", "--sse", url).stdout.splitlines()]
    assert [(event["event"], event["data"], event["id"]) for event in events] == [
        ("message", "a", "7"),
        ("message", "b", "7"),
    ]


def test_a_large_stream_comes_whole_and_with_its_head(run: Run, nginx: Nginx) -> None:
    head, _, body = run("get", "--stream", "-i", f"{nginx.http}/16m.bin").stdout.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200\r\n")
    assert hashlib.sha256(body).hexdigest() == nginx.hashes["16m.bin"]


def test_a_stream_that_fails_says_so(run: Run, origin: ScriptedOrigin) -> None:
    def broken(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        exchange.close()

    done = run("get", "--stream", origin.on("/broken", broken))
    assert (done.returncode, done.stdout) == (TRANSFER_FAILED, b"first")
    assert b"network_connection_lost" in done.stderr
    done = run("get", "--stream", "--fail", origin.on("/gone", lambda exchange: exchange.reply(404, b"gone")))
    assert (done.returncode, done.stdout) == (HTTP_FAILURE, b"")
