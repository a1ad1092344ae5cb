"""Requests of kind `stream`: their events in order, their ends, and their failures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.story import BEGINNING, CANCELLING, COMPLETING, METRICS, Story
from harness.stream import PLENTY, Reader
from harness.wire import RemoteError, Wire
from origins.httpbin import Httpbin
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin, statuses
from origins.trickle import Trickle

STREAMING = ["task.did_receive_response(200)", "task.did_receive_data"]


@pytest.fixture
def trickle(origin: ScriptedOrigin) -> Iterator[Trickle]:
    scripted = Trickle(origin)
    yield scripted
    scripted.cut()


def submit(wire: Wire, url: str, **params: Any) -> str:
    return str(wire.call("request.submit", url=url, kind="stream", **params)["request"])


def order(story: Story, request: str) -> list[str]:
    """The events of a stream; the number of consecutive reads and parses depends on the network."""
    words: list[str] = []
    for word in story.words(request):
        if word != "request.did_parse_stream" or words[-1:] != [word]:
            words.append(word)
    return words


@dataclass
class Listener:
    """Receives the events of a request on one connection and its data on another."""

    wire: Wire
    story: Story

    def order(self, request: str) -> list[str]:
        self.story.until("request.did_finish", request)
        return order(self.story, request)


@pytest.fixture
def listener(daemon: Daemon) -> Iterator[Listener]:
    with daemon.wire() as wire, daemon.wire() as other:
        yield Listener(wire, Story(other, scope="all"))


# Events and ends


def test_st_01_data_comes_while_the_response_is_under_way(wire: Wire, trickle: Trickle) -> None:
    request = submit(wire, trickle.url)
    reader = Reader(wire, request)
    for count in range(1, 4):
        trickle.send(b"abc")
        reader.until(3 * count)
        assert wire.call("request.get", request=request)["finished"] is False
    trickle.end()
    assert reader.complete()["size_bytes"] == 9
    record = wire.call("request.wait", request=request)
    assert record["body"] == {"none": True, "size_bytes": 9}


def test_st_03_one_end_follows_the_data(wire: Wire, trickle: Trickle) -> None:
    request = submit(wire, trickle.url)
    first, second = Reader(wire, request, "text"), Reader(wire, request, "bytes")
    trickle.send(b"one")
    trickle.end()
    ends: dict[str, Any] = {}
    while len(ends) < 2:
        message = wire.receive()
        if message.get("method") == "request.data" and "complete" in message["params"]:
            assert message["params"]["reader"] not in ends
            ends[message["params"]["reader"]] = message["params"]["complete"]
    end = {"error": None, "state": "finished", "status": 200, "size_bytes": 3}
    assert ends == dict.fromkeys([first.name, second.name], end)


def test_st_04_the_end_comes_behind_all_data_and_the_record_behind_that(wire: Wire, trickle: Trickle) -> None:
    request = submit(wire, trickle.url)
    reader = Reader(wire, request, credit=0)
    trickle.send(b"x" * 100_000)
    trickle.end()
    record = wire.request("request.wait", request=request)
    assert wire.call("request.wait", request=request, timeout_ms=300)["finished"] is False
    reader.grant(PLENTY)
    assert reader.complete()["error"] is None
    assert reader.bytes == b"x" * 100_000
    assert wire.result(record)["outcome"]["ok"]


@pytest.mark.parametrize("serializer", ["text", "lines", "json_lines", "sse"])
def test_st_08_the_events_of_a_parsed_stream(listener: Listener, httpbin: Httpbin, serializer: str) -> None:
    request = submit(listener.wire, f"{httpbin.url}/stream/20", start="manual")
    reader = Reader(listener.wire, request, serializer)
    listener.wire.call("request.resume", request=request)
    assert reader.complete()["error"] is None
    parsed = [] if serializer == "sse" else ["request.did_parse_stream"]
    assert set(listener.order(request)) - {"request.did_parse_stream"} == {
        *BEGINNING, *STREAMING, *COMPLETING, "request.did_finish",
    }  # fmt: skip
    pieces = [event for event in listener.story.events if event["type"] == "request.did_parse_stream"]
    assert len(pieces) == len(reader.messages) - 1
    assert bool(pieces) is bool(parsed)
    assert [piece["data"]["seq"] for piece in pieces] == list(range(1, len(reader.messages)))
    assert all(piece["data"]["serializer"] == serializer for piece in pieces)


def test_st_08_bytes_are_not_parsed(listener: Listener, httpbin: Httpbin) -> None:
    request = submit(listener.wire, f"{httpbin.url}/stream/20", start="manual")
    reader = Reader(listener.wire, request)
    listener.wire.call("request.resume", request=request)
    reader.complete()
    assert listener.order(request) == [*BEGINNING, *STREAMING, *COMPLETING, "request.did_finish"]


def test_2_8_the_events_of_a_stream_of_lines_in_order(listener: Listener, trickle: Trickle) -> None:
    request = submit(listener.wire, trickle.url, validate=True)
    reader = Reader(listener.wire, request, "lines")
    for _ in range(3):
        trickle.send(b"line\n")
        reader.next()
    trickle.send(b"rest")
    trickle.end()
    reader.complete()
    assert reader.items("lines") == ["line", "line", "line", "rest"]
    words = listener.story.until("request.did_finish", request) and listener.story.words(request)
    piece = ["task.did_receive_data", "request.did_parse_stream"]
    judged = ["request.did_validate(status, ok)", "request.did_validate(content_type, ok)"]
    assert words == [
        *BEGINNING, "task.did_receive_response(200)", *piece, *piece, *piece, *piece, *METRICS,
        "task.did_complete(None)", *judged, "request.did_complete_task(None)", "request.did_finish",
    ]  # fmt: skip


@pytest.mark.parametrize("cancels", [True, False])
def test_st_02_a_failure_of_a_reader_cancels_on_demand(listener: Listener, httpbin: Httpbin, cancels: bool) -> None:
    request = submit(listener.wire, f"{httpbin.url}/robots.txt", start="manual", cancel_on_stream_error=cancels)
    reader = Reader(listener.wire, request, "json_lines")
    listener.wire.call("request.resume", request=request)
    completion = reader.complete()
    assert {error["name"] for error in reader.errors} == {"response_serialization_failed.decoding_failed"}
    order = listener.order(request)
    if not cancels:
        assert len(reader.errors) == 2
        assert completion["error"] is None
        return
    assert len(reader.errors) == 1
    assert completion["error"]["name"] == "explicitly_cancelled"
    after = order.index("request.did_parse_stream")
    assert order[after : after + 3] == ["request.did_parse_stream", *CANCELLING]
    assert order[-3:] == ["task.did_complete(cancelled)", "request.did_complete_task(cancelled)", "request.did_finish"]


def test_st_05_a_client_fails_the_stream(wire: Wire, trickle: Trickle) -> None:
    request = submit(wire, trickle.url)
    reader = Reader(wire, request, "lines")
    trickle.send(b"first\n")
    reader.next()
    assert wire.call("request.cancel", request=request, error={"message": "no such table"})["changed"]
    error = reader.complete()["error"]
    assert error["name"] == "response_serialization_failed.custom_serialization_failed"
    assert "no such table" in error["message"]
    assert wire.call("request.wait", request=request)["outcome"]["error"] == error


def test_st_06_cancelling_ends_it_at_once_whatever_was_not_read(wire: Wire, trickle: Trickle) -> None:
    request = submit(wire, trickle.url)
    reader = Reader(wire, request, credit=1)
    trickle.send(b"some more than one byte")
    reader.next()
    wire.call("request.cancel", request=request)
    assert reader.complete()["error"]["name"] == "explicitly_cancelled"
    assert reader.bytes == b"s"


def test_st_09_validators_judge_after_the_data(listener: Listener, origin: ScriptedOrigin) -> None:
    url = origin.on("/401", statuses(401, body=b"who are you?"))
    request = submit(listener.wire, url, validate=True, start="manual")
    reader = Reader(listener.wire, request, "text")
    listener.wire.call("request.resume", request=request)
    completion = reader.complete()
    assert reader.text == "who are you?"
    assert completion["error"]["name"] == "response_validation_failed.unacceptable_status_code"
    assert completion["status"] == 401
    order = listener.order(request)
    assert order.index("request.did_parse_stream") < order.index(
        "request.did_validate(status, response_validation_failed.unacceptable_status_code)"
    )


def test_st_11_the_head_comes_before_any_data(wire: Wire, trickle: Trickle) -> None:
    trickle.send(b"body")
    trickle.end()
    record = wire.call("request.perform", url=trickle.url, kind="stream", hold_for_headers=True)
    assert (record["held"], record["response"]["status"]) == (True, 200)
    reader = Reader(wire, record["request"], "text")
    wire.call("request.resume", request=record["request"])
    assert reader.complete()["error"] is None
    assert reader.text == "body"


def test_st_12_what_a_failed_attempt_has_brought_stays(wire: Wire, trickle: Trickle) -> None:
    request = submit(wire, trickle.url, interceptor=[{"retry_policy": {"limit": 1, "scale_ms": 1}}])
    reader = Reader(wire, request, "lines")
    trickle.send(b"first\nhalf")
    reader.next()
    trickle.cut()
    trickle.send(b"again\n")
    trickle.end()
    assert reader.complete() == {"error": None, "state": "finished", "status": 200, "size_bytes": 6}
    told = [(message["attempt"], line) for message in reader.messages for line in message.get("lines", [])]
    assert told == [(1, "first"), (1, "half"), (2, "again")]


def test_st_13_the_end_has_the_error_of_the_record(wire: Wire, trickle: Trickle) -> None:
    request = submit(wire, trickle.url)
    reader = Reader(wire, request)
    trickle.send(b"beginning")
    reader.until(9)
    trickle.cut()
    completion = reader.complete()
    assert completion["error"]["name"] == "session_task_failed.network_connection_lost"
    assert wire.call("request.wait", request=request)["outcome"]["error"] == completion["error"]


# Readers


def test_a_stream_waits_for_its_first_reader_who_gets_all_of_it(wire: Wire, nginx: Nginx) -> None:
    request = submit(wire, f"{nginx.http}/20k.bin")
    assert wire.call("request.wait", request=request)["body"]["size_bytes"] == 20_000
    reader = Reader(wire, request)
    assert reader.complete()["error"] is None
    assert reader.bytes == (nginx.directory / "files" / "20k.bin").read_bytes()


def test_a_later_reader_gets_what_comes_from_then_on(daemon: Daemon, wire: Wire, trickle: Trickle) -> None:
    request = submit(wire, trickle.url)
    first = Reader(wire, request, "text")
    trickle.send(b"before ")
    first.until(7)
    with daemon.wire() as other:
        second = Reader(other, request, "text")
        trickle.send(b"after")
        trickle.end()
        second.complete()
        first.complete()
        assert (first.text, second.text) == ("before after", "after")


def test_what_a_reader_that_goes_was_not_given_stays_for_the_next(daemon: Daemon, wire: Wire, trickle: Trickle) -> None:
    request = submit(wire, trickle.url)
    with daemon.wire() as other:
        first = Reader(other, request, "text", credit=4)
        trickle.send(b"one two")
        first.until(4)
    trickle.end()
    while any(client["name"] for client in wire.call("client.list")["clients"][1:]):
        pass
    second = Reader(wire, request, "text")
    second.complete()
    assert first.text + second.text == "one two"


def test_a_stream_ends_with_the_connection_that_asked_for_it(daemon: Daemon, wire: Wire, trickle: Trickle) -> None:
    with daemon.wire() as other:
        request = submit(other, trickle.url, on_disconnect="cancel")
        reader = Reader(other, request)
        trickle.send(b"x")
        reader.next()
    record = wire.call("request.wait", request=request)
    assert record["outcome"]["error"]["name"] == "explicitly_cancelled"


def test_a_half_closed_connection_gets_the_whole_stream(daemon: Daemon, trickle: Trickle) -> None:
    with daemon.wire() as wire:
        request = submit(wire, trickle.url)
        reader = Reader(wire, request, "text")
        wire.finish()
        trickle.send(b"still here")
        trickle.end()
        assert reader.complete()["error"] is None
        assert reader.text == "still here"
        assert wire.receive_bytes() == b""


def test_a_stream_is_suspended_and_goes_on(wire: Wire, trickle: Trickle) -> None:
    request = submit(wire, trickle.url)
    reader = Reader(wire, request, "text")
    trickle.send(b"one ")
    reader.until(4)
    wire.call("request.suspend", request=request)
    trickle.send(b"two")
    trickle.end()
    assert wire.is_silent()
    wire.call("request.resume", request=request)
    reader.complete()
    assert reader.text == "one two"


# Refusals


def test_who_reads_what_is_no_stream_is_told_so(wire: Wire, nginx: Nginx) -> None:
    request = wire.call("request.submit", url=f"{nginx.http}/hello.txt")["request"]
    for method in ["request.read", "request.attach"]:
        with pytest.raises(RemoteError) as refusal:
            wire.call(method, request=request)
        assert (refusal.value.code, refusal.value.name) == (1102, "wrong_state")
    assert wire.call("request.credit", request=request, credit_bytes=1)["changed"] is False


def test_values_of_a_body_that_is_not_kept_are_refused(wire: Wire, nginx: Nginx) -> None:
    with pytest.raises(RemoteError) as refusal:
        submit(wire, f"{nginx.http}/hello.txt", serialize="json")
    assert refusal.value.error["data"]["path"] == "params.serialize"
