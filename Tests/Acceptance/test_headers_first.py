"""Data requests: what arrives, when, and callers that check the headers before the body comes."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.story import Story
from harness.wire import Wire
from origins.scripted import Exchange, GoneError, ScriptedOrigin, statuses


def failure(record: dict[str, Any]) -> str:
    return str(record["outcome"]["error"]["name"])


@pytest.mark.parametrize(("method", "status"), [("GET", 204), ("HEAD", 200), ("GET", 401)])
def test_dr_01_an_empty_body_is_none(wire: Wire, origin: ScriptedOrigin, method: str, status: int) -> None:
    record = wire.call("request.perform", url=origin.on("/empty", statuses(status)), method=method)
    assert record["response"]["status"] == status
    assert record["body"] == {"none": True, "size_bytes": 0}


def test_dr_01_a_body_is_what_came_in_its_pieces(wire: Wire, origin: ScriptedOrigin) -> None:
    def handler(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in [b"one", b"two", b"three"]:
            exchange.send(b"%x\r\n%s\r\n" % (len(piece), piece))
        exchange.send(b"0\r\n\r\n")

    record = wire.call("request.perform", url=origin.on("/pieces", handler))
    assert record["body"] == {"text": "onetwothree", "size_bytes": 11}


class Held:
    """A response whose head has come and whose body waits for the test."""

    def __init__(self, origin: ScriptedOrigin) -> None:
        self.body = threading.Event()
        self.was_closed = threading.Event()
        self.url = origin.on("/held", self._handle)

    def _handle(self, exchange: Exchange) -> None:
        try:
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-A: 1\r\n\r\n")
            if not self.body.wait(0):
                exchange.send(b"bo")
            exchange.send(b"dy")
        except GoneError:  # the daemon was faster
            self.was_closed.set()
            raise
        if exchange.wait_for_peer_to_close():
            self.was_closed.set()


def test_dr_03_sd_05_the_answer_comes_with_the_headers_and_the_body_waits(story: Story, origin: ScriptedOrigin) -> None:
    record = story.perform(Held(origin).url, hold_for_headers=True)
    assert (record["state"], record["finished"], record["held"]) == ("resumed", False, True)
    assert ["X-A", "1"] in record["response"]["headers"]
    assert (record["response"]["status"], "outcome" in record) == (200, False)
    story.call("daemon.ping")
    assert "task.did_receive_data" not in story.words()


def test_dr_03_resumed_the_body_comes(story: Story, origin: ScriptedOrigin) -> None:
    request = story.perform(Held(origin).url, hold_for_headers=True)["request"]
    assert story.call("request.resume", request=request) == {"changed": True, "state": "resumed"}
    assert story.call("request.resume", request=request)["changed"] is False
    record = story.wait(request)
    assert (record["outcome"]["ok"], record["body"]["text"]) == (True, "body")
    assert story.words().count("request.did_resume") == 1


def test_dr_03_cancelled_there_is_a_response_and_no_body(story: Story, origin: ScriptedOrigin) -> None:
    held = Held(origin)
    request = story.perform(held.url, hold_for_headers=True)["request"]
    story.call("request.cancel", request=request)
    record = story.wait(request)
    assert failure(record) == "explicitly_cancelled"
    assert record["response"]["status"] == 200
    assert record["body"] == {"none": True, "size_bytes": 0}
    assert held.was_closed.wait(20)


def test_dr_03_without_headers_the_answer_is_the_failure(story: Story, origin: ScriptedOrigin) -> None:
    record = story.perform(origin.on("/lost", Exchange.close), hold_for_headers=True)
    assert failure(record) == "session_task_failed.network_connection_lost"


def test_dr_03_nobody_looks_and_it_ends_with_its_time(story: Story, origin: ScriptedOrigin) -> None:
    request = story.perform(Held(origin).url, hold_for_headers=True, resource_timeout_ms=150)["request"]
    assert failure(story.wait(request)) == "session_task_failed.timed_out"


def test_dr_03_whoever_held_it_is_gone_and_so_is_the_request(daemon: Daemon, origin: ScriptedOrigin) -> None:
    held = Held(origin)
    with daemon.wire() as other:
        watcher = Story(other, scope="all")
        with daemon.wire() as wire:
            wire.call("request.perform", url=held.url, hold_for_headers=True)
        watcher.until("request.did_parse_response(explicitly_cancelled)")
    assert held.was_closed.wait(20)


def test_dr_03_a_body_that_has_come_whole_waits_too(story: Story, origin: ScriptedOrigin) -> None:
    record = story.perform(origin.on("/json", lambda exchange: exchange.reply(body=b"[1]")), hold_for_headers=True)
    assert record["held"] is True
    story.call("request.resume", request=record["request"])
    assert story.wait(record["request"])["body"]["text"] == "[1]"


def test_dr_03_a_redirect_that_is_followed_is_not_held(story: Story, origin: ScriptedOrigin) -> None:
    url = origin.on("/moved", lambda exchange: exchange.reply(302, headers=[("Location", "/there")]))
    record = story.perform(url, hold_for_headers=True)
    assert (record["response"]["status"], record["response"]["url"]) == (200, f"{origin.url}/there")
    story.call("request.cancel", request=record["request"])


@pytest.mark.parametrize(
    ("serialize", "value"),
    [("data", {"$data": "WzFd"}), ("string", "[1]"), ("json", [1]), ({"callback": {"name": "client"}}, {"sum": 1})],
)
def test_dr_04_dr_05_what_becomes_of_a_body(story: Story, origin: ScriptedOrigin, serialize: Any, value: Any) -> None:
    story.answerers["serialize"] = lambda _: {"value": {"sum": 1}}
    url = origin.on("/json", lambda exchange: exchange.reply(body=b"[1]"))
    record = story.perform(url, serialize=serialize)
    assert record["outcome"] == {"ok": True, "value": value}
    parsed = next(event["data"] for event in story.events if event["type"] == "request.did_parse_response")
    assert parsed["duration_us"] >= 0


def test_dr_04_dr_05_the_plain_body_takes_no_time(story: Story, origin: ScriptedOrigin) -> None:
    record = story.perform(origin.on("/json", lambda exchange: exchange.reply(body=b"[1]")))
    assert (record["outcome"], record["body"]["text"]) == ({"ok": True}, "[1]")
    assert story.until("request.did_parse_response(none)")["data"]["duration_us"] == 0


def test_dr_05_a_serializer_that_takes_time_says_so(story: Story, origin: ScriptedOrigin) -> None:
    began = time.monotonic()
    call = story.begin(origin.url, serialize=["string", {"callback": {"name": "client"}}])
    question = story.question("serialize")
    # The first serializer has ended when the second is called: it took no more than this, and the second takes longer.
    most = time.monotonic() - began
    held = max(0.05, 2 * most)
    threading.Event().wait(held)
    story.answer(question, {"value": 1})
    values = story.result(call)["outcome"]["values"]
    assert values[0]["duration_us"] <= most * 1_000_000
    assert values[1]["duration_us"] >= held * 1_000_000
