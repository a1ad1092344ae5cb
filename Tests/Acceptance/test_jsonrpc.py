"""JSON-RPC 2.0 over the live daemon: the specification's examples and every transcript, in each framing."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.daemon import ROOT, Daemon
from harness.wire import CONTENT_LENGTH, FRAMINGS, LINES, SEQUENCE, Wire
from origins.scripted import ScriptedOrigin

TRANSCRIPTS = ROOT / "Tests" / "Transcripts"
SERVICE = {"service": "specification"}

Step = dict[str, Any]


def steps_of(path: Path) -> list[Step]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def framings_of(steps: list[Step]) -> list[str]:
    """Every framing, or the framing of a transcript with exact bytes."""
    exact = next((base64.b64decode(step["bytes"]) for step in steps if "bytes" in step), b"")
    if not exact:
        return FRAMINGS
    first = exact.lstrip(b"\r\n \t\xef\xbb\xbf")[:1]
    return [CONTENT_LENGTH if first in {b"C", b"c"} else SEQUENCE if first == b"\x1e" else LINES]


def is_expected(expected: Any, answer: Any) -> bool:
    """Whether an answer is the expected JSON value; of an error's data only what the expectation has."""
    if isinstance(expected, list) and isinstance(answer, list):
        return len(expected) == len(answer) and all(
            any(is_expected(one, other) for other in answer) for one in expected
        )
    if isinstance(expected, dict) and isinstance(answer, dict) and "error" in expected and "error" in answer:
        data = {key: value for key, value in answer["error"].get("data", {}).items() if key in wanted_data(expected)}
        error = {**answer["error"], "data": data}
        return {**answer, "error": error} == {**expected, "error": {"data": {}, **expected["error"]}}
    return bool(expected == answer)


def wanted_data(expected: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = expected["error"].get("data", {})
    return data


def play(wire: Wire, steps: list[Step]) -> None:
    """Carry out a transcript's steps, and check that the connection serves the next call, or ends."""
    for step in steps:
        match step:
            case {"send": message}:
                wire.send(message)
            case {"text": text}:
                wire.send_text(text)
            case {"bytes": data}:
                wire.send_bytes(base64.b64decode(data))
            case {"end": True}:
                wire.finish()
            case {"expect": expected}:
                answer = wire.receive()
                assert is_expected(expected, answer), f"{answer} instead of {expected}"
            case {"line": text}:
                assert wire.receive_bytes().decode().rstrip("\n") == text
    if any("end" in step for step in steps):
        assert wire.rest() == []
        return
    method = "get_data" if SERVICE in steps else "daemon.ping"
    wire.send({"jsonrpc": "2.0", "id": "is it alive?", "method": method})
    answer = wire.receive()
    assert answer["id"] == "is it alive?", f"{answer} was not expected"
    assert "result" in answer


@pytest.fixture(scope="module")
def daemons() -> Iterator[dict[bool, Daemon]]:
    """Two daemons for all transcripts: with the specification's methods, and with its own."""
    with tempfile.TemporaryDirectory(prefix="carpool-") as own, tempfile.TemporaryDirectory(prefix="carpool-") as tests:
        started = {False: Daemon(Path(own)), True: Daemon(Path(tests), ["--test-catalogue"])}
        yield started
        started[False].stop()
        started[True].terminate()  # it has no other methods than the examples', and so no statistics


CASES = [
    pytest.param(path, framing, id=f"{path.parent.name}/{path.stem}-{framing}")
    for path in sorted(TRANSCRIPTS.rglob("*.jsonl"))
    for framing in framings_of(steps_of(path))
]


@pytest.mark.parametrize(("path", "framing"), CASES)
def test_a_transcript_goes_as_written(daemons: dict[bool, Daemon], path: Path, framing: str) -> None:
    steps = steps_of(path)
    with daemons[SERVICE in steps].wire(framing) as wire:
        play(wire, steps)


@pytest.mark.parametrize("framing", FRAMINGS)
def test_the_specification_s_examples_over_one_connection(daemons: dict[bool, Daemon], framing: str) -> None:
    paths = sorted((TRANSCRIPTS / "specification").glob("*.jsonl"))
    assert len(paths) >= 11
    with daemons[True].wire(framing) as wire:
        for path in paths:
            play(wire, steps_of(path))


def test_answers_come_when_they_are_ready_and_not_in_turn(daemon: Daemon, origin: ScriptedOrigin) -> None:
    release = origin.hold("/slow")
    with daemon.wire() as wire:
        slow = wire.request("request.perform", url=origin.url + "/slow")
        fast = wire.request("daemon.ping")
        assert wire.receive()["id"] == fast
        release.set()
        assert wire.receive()["id"] == slow


def test_one_id_is_in_flight_once(daemon: Daemon, origin: ScriptedOrigin) -> None:
    release = origin.hold("/slow")
    with daemon.wire() as wire:
        call = {"jsonrpc": "2.0", "id": 7, "method": "request.perform", "params": {"url": origin.url + "/slow"}}
        wire.send(call)
        wire.send(call)
        refused = wire.receive()
        assert (refused["error"]["code"], refused["error"]["data"]["name"]) == (-32600, "duplicate_id")
        release.set()
        assert wire.receive()["result"]["outcome"]["ok"] is True
        wire.send(call)
        assert "result" in wire.receive()


def test_a_half_closed_connection_gets_all_its_answers(daemon: Daemon) -> None:
    with daemon.wire() as wire:
        calls = {wire.request("daemon.ping") for _ in range(20)}
        calls.add(wire.request("request.perform", url="http://no-such-host.invalid/"))
        wire.finish()
        assert {message["id"] for message in wire.rest()} == calls


def test_a_batch_is_answered_when_its_last_call_is(daemon: Daemon, origin: ScriptedOrigin) -> None:
    release = origin.hold("/slow")
    with daemon.wire() as wire:
        wire.send(
            [
                {"jsonrpc": "2.0", "id": 1, "method": "request.perform", "params": {"url": origin.url + "/slow"}},
                {"jsonrpc": "2.0", "id": 2, "method": "daemon.ping"},
                {"jsonrpc": "2.0", "method": "daemon.ping"},
                {"jsonrpc": "2.0", "id": 3, "method": "none.such"},
            ]
        )
        alone = wire.request("daemon.ping")
        assert wire.receive()["id"] == alone
        release.set()
        assert {answer["id"] for answer in wire.receive()} == {1, 2, 3}


def test_the_document_describes_every_method_that_there_is(daemon: Daemon) -> None:
    with daemon.wire() as wire:
        document = wire.call("rpc.discover")
        assert document["openrpc"].startswith("1.")
        names = [method["name"] for method in document["methods"]]
        assert len(names) == len(set(names)) >= 25
        for name in names:
            answer = wire.answer(wire.request(name, {"no such parameter": 1}))
            assert answer["error"]["code"] == -32602, f"{name} takes a parameter that it does not have"


def test_a_misspelt_method_is_told_the_nearest(daemon: Daemon) -> None:
    with daemon.wire() as wire:
        error = wire.answer(wire.request("request.preform", url="http://a/"))["error"]
        assert (error["code"], error["data"]["did_you_mean"]) == (-32601, "request.perform")


def test_positional_parameters_are_taken_in_the_documented_order(daemon: Daemon, origin: ScriptedOrigin) -> None:
    with daemon.wire() as wire:
        (perform,) = [method for method in wire.call("rpc.discover")["methods"] if method["name"] == "request.perform"]
        assert [member["name"] for member in perform["params"]][:3] == ["url", "method", "headers"]
        record = wire.result(wire.request("request.perform", [origin.url, "PUT", {"X-A": "1"}]))
        assert record["outcome"]["ok"]
    assert (origin.requests[0].method, origin.requests[0].values("X-A")) == ("PUT", ["1"])


def test_an_empty_name_is_refused(daemon: Daemon) -> None:
    with daemon.wire() as wire:
        error = wire.answer(wire.request("client.hello", name="", version="1"))["error"]
        assert (error["code"], error["data"]["path"]) == (-32602, "params.name")
        assert "version" not in wire.call("client.list")["clients"][0]
