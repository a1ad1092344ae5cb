"""nst/JSONTestSuite against the daemon; collected where JSON_SUITE names its folder."""

from __future__ import annotations

import json
import os
from pathlib import Path

from harness.daemon import Daemon
from harness.jsontext import exact, is_taken
from harness.wire import Wire
from origins.scripted import ScriptedOrigin

SUITE = os.environ.get("JSON_SUITE", "")


def suite_files() -> list[Path]:
    folder = Path(SUITE)
    files = sorted((folder / "test_parsing" if (folder / "test_parsing").is_dir() else folder).glob("*.json"))
    assert len(files) >= 318, "JSON_SUITE names the folder of nst/JSONTestSuite"
    return files


def is_good(file: Path, taken: bool) -> bool:
    """Whether the result for a file matches its name: y_ is JSON, n_ is not, i_ is left to the parser."""
    return {"y": taken, "n": not taken, "i": True}[file.name[0]]


def test_json_test_suite_among_parameters(daemon: Daemon) -> None:
    wrong = []
    for file in suite_files():
        with Wire(daemon.socket, "content-length") as wire:
            taken = is_taken(wire, file.read_bytes())
            assert wire.call("daemon.ping")["pong"], file.name
        if not is_good(file, taken):
            wrong.append(file.name)
    assert wrong == []


def test_json_test_suite_through_a_request(daemon: Daemon, origin: ScriptedOrigin) -> None:
    """As the body of a request and of its response: JSON arrives unchanged, other texts are refused."""
    origin.on("/", lambda exchange: exchange.reply(body=exchange.request.body))
    url = origin.url.encode()
    wrong = []
    with Wire(daemon.socket, "content-length") as wire:
        for file in suite_files():
            text = file.read_bytes()
            message = (
                b'{"jsonrpc":"2.0","id":"c","method":"request.perform","params":{"method":"POST","serialize":"json",'
                b'"url":"%s","body":{"json":%s}}}' % (url, text)
            )
            wire.send_bytes(b"Content-Length: %d\r\n\r\n" % len(message) + message)
            answer = wire.receive_bytes()
            taken = b'"error"' not in answer.split(b'"outcome"')[0]
            if not taken:
                code = -32600 if b"nested deeper" in answer else -32700
                assert json.loads(answer)["error"]["code"] == code, file.name
            if not is_good(file, taken):
                wrong.append(file.name)
            if taken:
                body = origin.requests[-1].body
                members = dict(dict(dict(exact(answer))["result"])["outcome"])
                assert exact(body) == exact(text) == members["value"], file.name
        assert wire.call("daemon.ping")["pong"]
    assert wrong == []


def test_json_test_suite_as_messages(daemon: Daemon) -> None:
    """No file is a message: JSON is an invalid request, other texts are a parse error."""
    wrong = []
    with Wire(daemon.socket, "content-length") as wire:
        for file in suite_files():
            text = file.read_bytes()
            wire.send_bytes(b"Content-Length: %d\r\n\r\n" % len(text) + text)
            answers = wire.receive()
            codes = {answer["error"]["code"] for answer in (answers if isinstance(answers, list) else [answers])}
            assert codes in ({-32700}, {-32600}), file.name
            if not is_good(file, codes == {-32600} and "nested deeper" not in str(answers)):
                wrong.append(file.name)
            assert wire.call("daemon.ping")["pong"], file.name
    assert wrong == []
