"""The rules of JSON: what is accepted, what is refused, and numbers that keep their exact spelling everywhere."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from harness.daemon import ROOT, Daemon
from harness.jsontext import is_taken
from harness.waiting import eventually
from harness.wire import Wire
from origins.scripted import ScriptedOrigin

ROWS = [json.loads(line) for line in (ROOT / "Tests/Support/vectors/json.jsonl").read_text().splitlines()]

NUMBERS = ["12345678901234567.89", "1E2", "1.10", "-0", "-0.0", "7" * 400, "9999E9999", "1e-400", "9223372036854775808"]
LIST = b"[" + ",".join(NUMBERS).encode() + b"]"


def text_of(row: dict[str, Any]) -> bytes:
    return base64.b64decode(row["base64"]) if "base64" in row else row["text"].encode()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['rule']} {row['note']}"[:60])
def test_f1_f2_f3_each_rule_of_the_rfc(daemon: Daemon, row: dict[str, Any]) -> None:
    text = text_of(row)
    if row["note"] == "nested 64 deep":
        text = text[2:-2]  # The message around it uses two of the levels.
    # A text that closes the object itself, or ends in the middle, is not a value inside another one.
    with Wire(daemon.socket, "content-length") as wire:
        assert is_taken(wire, text) == row["valid"]
        assert wire.call("daemon.ping")["pong"]


TWICE = b'{"a":1,"b":[{"c":1,"c":2.50}],"\\u0061":1}'


def test_a_name_that_stands_twice_is_passed_on(wire: Wire, origin: ScriptedOrigin) -> None:
    origin.on("/", lambda exchange: exchange.reply(body=exchange.request.body))
    answer = perform(wire, origin, b'"serialize":"json","body":{"json":' + TWICE + b"}")
    assert origin.received(1)[0].body == TWICE
    assert b'"value":' + TWICE in answer


@pytest.mark.parametrize(
    ("members", "path"),
    [
        (b'"parameters":' + TWICE + b',"encoding":"json"', "params.parameters.a"),
        (b'"parameters":{"x":[{"c":1,"c":2}]}', "params.parameters.x[0].c"),
        (b'"body":{"json":1,"json":2}', "params.body.json"),
        (b'"headers":{"X-A":"1","X-A":"2"}', "params.headers.X-A"),
        (b'"timeout_ms":1000,"timeout_ms":2000', "params.timeout_ms"),
    ],
)
def test_a_documented_name_that_stands_twice_is_refused(
    wire: Wire, origin: ScriptedOrigin, members: bytes, path: str
) -> None:
    answer = json.loads(perform(wire, origin, members))
    assert (answer["id"], answer["error"]["code"], answer["error"]["data"]["path"]) == (1, -32602, path)
    assert origin.requests == []
    assert wire.call("daemon.ping")["pong"]


def test_a_message_with_a_member_twice_is_refused_and_its_id_is_answered(wire: Wire) -> None:
    wire.send_text('{"jsonrpc":"2.0","id":5,"method":"daemon.ping","method":"daemon.stop"}')
    answer = wire.receive()
    assert (answer["id"], answer["error"]["code"]) == (5, -32600)
    wire.send_text('{"jsonrpc":"2.0","id":6,"id":7,"method":"daemon.ping"}')
    assert wire.receive()["id"] is None
    assert wire.call("daemon.ping")["pong"]


@pytest.mark.parametrize(
    "message",
    [
        b'{"jsonrpc":"2.0","id":7\0,"method":"daemon.ping"}',
        b'{"jsonrpc":"2.0","id":7,"method":"daemon.ping","params":[123\0]}',
        b'{"jsonrpc":"2.0","id":1e3\0,"method":"daemon.ping"}',
    ],
)
def test_f1_a_nul_behind_a_number_is_refused_and_not_echoed(wire: Wire, message: bytes) -> None:
    wire.send_bytes(message + b"\n")
    answer = wire.receive_bytes()
    assert b"\0" not in answer
    assert json.loads(answer)["error"]["code"] == -32700


def test_a1_f2_a_number_in_the_place_of_a_name_leaks_nothing(daemon: Daemon, wire: Wire) -> None:
    answers = []
    for number in ("9999E9999", "123456789012345678901234567890", "1e999"):
        wire.send_text(f'{{"jsonrpc":"2.0","id":1,"method":"daemon.ping","params":{{{number}:1}}}}')
        answer = wire.receive()
        assert answer["error"]["code"] == -32700
        assert number not in json.dumps(answer)
        answers.append(answer)
    # The same on each connection and for each number: nothing in it is a secret.
    assert answers[0] == answers[1] == answers[2]
    with Wire(daemon.socket) as other:
        other.send_text('{"jsonrpc":"2.0","id":1,"method":"daemon.ping","params":{9999E9999:1}}')
        assert other.receive() == answers[0]


def test_a1_no_string_or_name_becomes_anything_else(wire: Wire, origin: ScriptedOrigin) -> None:
    line = '0,"x":1}\n{"jsonrpc":"2.0","method":"forged"}'
    strings = ["0.0", "-1.0", "\x01\x02", "9999E9999", line, "\x01" + line, "A" * 16 + line]
    value = {"numbers": [1.5], "strings": strings, "names": dict.fromkeys(strings, 2.5), "\0": 3.5}
    origin.on("/", lambda exchange: exchange.reply(body=json.dumps(value).encode()))
    wire.request("request.perform", url=origin.url, method="POST", body={"json": value}, serialize="json")
    answer = wire.receive_bytes()
    assert answer.count(b"\n") <= 1
    assert json.loads(answer)["result"]["outcome"]["value"] == value
    assert json.loads(origin.received(1)[0].body) == value
    # An error that names what was sent names it as a string.
    for text in [*strings, "\0"]:
        wire.send({"jsonrpc": "2.0", "id": 5, "method": "daemon.ping", "params": {text: 1.5}})
        answer = wire.receive_bytes()
        assert answer.rstrip(b"\n").count(b"\n") == 0
        assert json.loads(answer)["error"]["data"]["path"].startswith("params.")


def test_f3_null_in_a_name(wire: Wire, origin: ScriptedOrigin) -> None:
    text = rb'{"a\u0000b":1.50,"\u0000":[{"\u0001":2,"\u0001\u0002":3}]}'
    origin.on("/", lambda exchange: exchange.reply(body=text))
    wire.send_text(
        b'{"jsonrpc":"2.0","id":1,"method":"request.perform","params":{"serialize":"json","method":"POST",'
        b'"url":"%s","body":{"json":%s}}}' % (origin.url.encode(), text)
    )
    assert b'"value":' + text in wire.receive_bytes()
    assert origin.received(1)[0].body == text
    wire.send_text(rb'{"jsonrpc":"2.0","id":2,"method":"daemon.ping","params":{"a\u0000b":1}}')
    answer = wire.receive()
    assert (answer["id"], answer["error"]["code"]) == (2, -32602)
    wire.send_text(rb'{"jsonrpc":"2.0","id":3,"method":"daemon.ping","params":{"\u0000":1,"\u0000":2}}')
    answer = wire.receive()
    assert (answer["id"], answer["error"]["code"]) == (3, -32602)


# F4: every number keeps its bytes


def perform(wire: Wire, origin: ScriptedOrigin, members: bytes) -> bytes:
    wire.send_text(
        b'{"jsonrpc":"2.0","id":1,"method":"request.perform","params":{"url":"%s","method":"POST",%s}}'
        % (origin.url.encode(), members)
    )
    return wire.receive_bytes()


def test_f4_in_a_body_of_json(wire: Wire, origin: ScriptedOrigin) -> None:
    perform(wire, origin, b'"body":{"json":{"n":' + LIST + b"}}")
    assert origin.received(1)[0].body == b'{"n":' + LIST + b"}"


def test_f4_in_a_large_body_of_json(wire: Wire, origin: ScriptedOrigin) -> None:
    many = b"[" + b",".join([LIST] * 40) + b"]"
    perform(wire, origin, b'"body": {"json": {"n": ' + many.replace(b",", b" ,\n ") + b' , "s": "a b" } }')
    assert origin.received(1)[0].body == b'{"n":' + many + b',"s":"a b"}'


def test_f4_in_parameters(wire: Wire, origin: ScriptedOrigin) -> None:
    perform(wire, origin, b'"encoding":"json","parameters":{"n":' + LIST + b"}")
    assert origin.received(1)[0].body == b'{"n":' + LIST + b"}"


def test_f4_in_a_form(wire: Wire, origin: ScriptedOrigin) -> None:
    perform(
        wire, origin, b'"encoding":{"form":{"array":"no_brackets","sort":"given"}},"parameters":{"n":' + LIST + b"}"
    )
    assert origin.received(1)[0].body.decode() == "&".join(f"n={number}" for number in NUMBERS)


def test_f4_in_serialized_values(wire: Wire, origin: ScriptedOrigin) -> None:
    origin.on("/", lambda exchange: exchange.reply(body=b" " + LIST + b"\n"))
    assert b'"value":' + LIST in perform(wire, origin, b'"serialize":"json"')


@pytest.mark.parametrize("number", NUMBERS)
def test_f4_in_ids(wire: Wire, number: str) -> None:
    wire.send_text(f'{{"jsonrpc":"2.0","id":{number},"method":"daemon.ping"}}')
    assert b'"id":' + number.encode() + b"," in wire.receive_bytes()


def test_f4_in_errors(wire: Wire) -> None:
    wire.send_text('{"jsonrpc":"2.0","id":1,"method":"daemon.log_level","params":{"level":12345678901234567.89}}')
    assert "found the number 12345678901234567.89" in wire.receive()["error"]["message"]


def test_f4_in_answers_of_callbacks(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("client.hello", callbacks=["c"])
    origin.on("/", lambda exchange: exchange.reply(body=b"x"))
    wire.request("request.perform", url=origin.url, serialize={"callback": {"name": "c"}})
    question = wire.question("serialize")
    wire.send_text(b'{"jsonrpc":"2.0","id":%s,"result":{"value":%s}}' % (json.dumps(question["id"]).encode(), LIST))
    assert b'"value":' + LIST in wire.receive_bytes()


def test_f13_a_result_beside_a_null_error_is_a_result(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("client.hello", callbacks=["c"])
    origin.on("/", lambda exchange: exchange.reply(body=b"x"))
    wire.request("request.perform", url=origin.url, serialize={"callback": {"name": "c"}})
    question = wire.question("serialize")
    wire.send({"jsonrpc": "2.0", "id": question["id"], "result": {"value": [1]}, "error": None})
    assert wire.receive()["result"]["outcome"]["value"] == [1]
    wire.request("request.perform", url=origin.url, serialize={"callback": {"name": "c"}})
    question = wire.question("serialize")
    wire.send({"jsonrpc": "2.0", "id": question["id"], "result": None, "error": {"code": 1, "message": "no"}})
    assert wire.receive()["result"]["outcome"]["error"]["name"] == "callback_failed"


@pytest.mark.own_daemon
def test_b4_a_pending_call_keeps_its_body_and_no_tree_of_it(daemon: Daemon, origin: ScriptedOrigin) -> None:
    def rss() -> int:
        return daemon.memory_kib() * 1024

    released = origin.hold("/held")
    body = json.dumps({"n": list(range(155_000))}, separators=(",", ":"))
    assert 900_000 < len(body) < 1_000_000
    before = rss()
    with Wire(daemon.socket) as wire:
        for number in range(1000, 1030):
            wire.send_text(
                f'{{"jsonrpc":"2.0","id":{number},"method":"request.perform",'
                f'"params":{{"url":"{origin.url}/held","method":"POST","body":{{"json":{body}}}}}}}'
            )
        # A body is read on a worker first.
        eventually(lambda: wire.call("daemon.stats")["requests"]["active"] == 30)
        grown = rss() - before
        released.set()
    # A tree of each would be thirty times as much; the allocator may keep freed memory for a while.
    assert grown < 30 * 2_500_000, f"{grown / 30:,.0f} bytes a call"
