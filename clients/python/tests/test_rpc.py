from __future__ import annotations

import json
from typing import Any

import pytest

from carpool import ConnectionLostError, Notification, ProtocolError, SerializationError
from carpool._exceptions import rpc_error
from carpool._rpc import MAX_ANSWER_BYTES, NEED_DATA, Event, Failure, Question, Result, RPCConnection

LINES = (
    b'{"jsonrpc":"2.0","id":1,"result":{"text":"a\\nb \xc3\xa9 \xf0\x9f\x9a\x97"}}\n'
    b"\r\n\n"
    b'{"jsonrpc":"2.0","method":"event","params":{"type":"lagged"}}\n'
    b'{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}\r\n'
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad"}}\n'
    b'{"id":3,"result":null,"jsonrpc":"2.0"}\n'
    b'{"jsonrpc":"2.0","id":"cb_1","method":"callback.adapt","params":{"callback":"sign"}}\n'
)
EVENTS: list[Event] = [
    Result(1, {"text": "a\nb é 🚗"}),
    Notification("event", {"type": "lagged"}),
    Failure(2, {"code": -32601, "message": "no"}),
    Failure(None, {"code": -32700, "message": "bad"}),
    Result(3, None),
    Question("cb_1", "callback.adapt", {"callback": "sign"}),
]


def events(rpc: RPCConnection) -> list[Event]:
    found = []
    while (event := rpc.next_event()) is not NEED_DATA:
        found.append(event)
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, len(LINES)])
def test_messages_come_out_whole_however_the_bytes_arrive(size: int) -> None:
    rpc = RPCConnection()
    found = []
    for start in range(0, len(LINES), size):
        rpc.receive_data(LINES[start : start + size])
        found += events(rpc)
    assert found == EVENTS


def test_messages_come_out_whole_when_cut_at_any_byte() -> None:
    for cut in range(1, len(LINES)):
        rpc = RPCConnection()
        rpc.receive_data(LINES[:cut])
        found = events(rpc)
        rpc.receive_data(LINES[cut:])
        assert found + events(rpc) == EVENTS


@pytest.mark.parametrize("value", [b"[" * 100_000 + b"]" * 100_000, b"9" * 5000])
def test_an_answer_with_a_value_that_python_refuses_is_a_failure_of_its_call(value: bytes) -> None:
    rpc = RPCConnection()
    rpc.receive_data(b'{"jsonrpc":"2.0","id":7,"result":{"value":' + value + b"}}\n" + LINES)
    failure, *rest = events(rpc)
    assert isinstance(failure, Failure)
    assert failure.id == 7
    assert isinstance(rpc_error(failure.error), SerializationError)
    assert rest == EVENTS
    rpc.receive_data(b'{"jsonrpc":"2.0","method":"event","params":{"value":' + value + b"}}\n")
    with pytest.raises(ProtocolError, match="not JSON"):
        rpc.next_event()


def test_a_call_is_one_line_of_utf_8_with_a_new_id() -> None:
    rpc = RPCConnection()
    first, line = rpc.send_request("request.perform", {"url": "http://é/", "body": {"text": "a\nb"}})
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert "é".encode() in line
    assert json.loads(line) == {
        "jsonrpc": "2.0",
        "id": first,
        "method": "request.perform",
        "params": {"url": "http://é/", "body": {"text": "a\nb"}},
    }
    assert rpc.send_request("daemon.ping", {})[0] != first


def test_a_notification_has_no_id() -> None:
    assert "id" not in json.loads(RPCConnection().send_notification("rpc.cancel", {"id": 1}))


def test_a_question_is_answered_under_its_id() -> None:
    rpc = RPCConnection()
    question = Question("cb_1", "callback.adapt", {})
    assert json.loads(rpc.send_result(question, {})) == {"jsonrpc": "2.0", "id": "cb_1", "result": {}}
    failure = {"code": -32603, "message": "KeyError"}
    assert json.loads(rpc.send_error(question, -32603, "KeyError")) == {
        "jsonrpc": "2.0",
        "id": "cb_1",
        "error": failure,
    }
    with pytest.raises(ValueError, match="more than"):
        rpc.send_result(question, {"value": "x" * MAX_ANSWER_BYTES})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {1, 2}])
def test_what_has_no_json_form_is_refused_before_it_is_sent(value: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        RPCConnection().send_request("m", {"value": value})


@pytest.mark.parametrize(
    "line",
    [
        b"hello\n",
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
        b"[]\n",
        b"1\n",
        b"{}\n",
        b'{"jsonrpc":"2.0","id":"1","result":1}\n',
        b'{"jsonrpc":"2.0","id":null,"method":"callback.adapt","params":{}}\n',
        b'{"jsonrpc":"2.0","id":1,"method":"callback.adapt","params":[]}\n',
    ],
)
def test_a_peer_that_is_no_carpoold_is_told_apart(line: bytes) -> None:
    rpc = RPCConnection()
    rpc.receive_data(line)
    with pytest.raises(ProtocolError):
        rpc.next_event()


def test_a_line_without_an_end_stops_at_the_limit() -> None:
    rpc = RPCConnection(max_line_bytes=10)
    rpc.receive_data(b"0123456789")
    assert rpc.next_event() is NEED_DATA
    rpc.receive_data(b"0")
    with pytest.raises(ProtocolError, match="more than 10 bytes"):
        rpc.next_event()


def test_the_end_of_the_connection_is_an_error() -> None:
    with pytest.raises(ConnectionLostError):
        RPCConnection().receive_data(b"")


def test_whether_a_line_is_complete_is_known_before_it_is_read() -> None:
    rpc = RPCConnection()
    assert not rpc.has_line
    for data, has_line in ((b'{"jsonrpc":"2.0","id":1,"res', False), (b'ult":1}', False), (b"\n{", True)):
        rpc.receive_data(data)
        assert rpc.has_line is has_line
    assert events(rpc) == [Result(1, 1)]
    assert not rpc.has_line
