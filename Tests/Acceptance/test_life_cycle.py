"""The life of a request: resumed, suspended, cancelled, retried, finished, and repeated with its key."""

from __future__ import annotations

import threading
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.story import BEGINNING, Story
from harness.wire import Wire
from origins.scripted import Exchange, ScriptedOrigin, statuses

UNACCEPTABLE = "response_validation_failed.unacceptable_status_code"
CANCELLED = "explicitly_cancelled"
ADAPTER = {"callback": {"name": "client", "handles": ["adapt"]}}
RETRIER = {"callback": {"name": "client", "handles": ["retry"]}}


def failure(record: dict[str, Any]) -> str:
    return str(record["outcome"]["error"]["name"])


# Resuming, suspending, cancelling


def test_rl_01_the_id_stays_over_all_attempts_and_every_event_has_it(story: Story, origin: ScriptedOrigin) -> None:
    url = origin.on("/flaky", statuses(500, 200))
    record = story.perform(url, validate=True, interceptor=[{"retry_policy": {"scale_ms": 1}}])
    assert {event["request"] for event in story.events} == {record["request"]}
    assert {event["attempt"] for event in story.events} == {1, 2}
    assert story.perform(origin.url)["request"] != record["request"]


def test_rl_02_a_hundred_resumes_are_one(story: Story, origin: ScriptedOrigin) -> None:
    request = story.submit(origin.url, start="manual")
    calls = [story.wire.request("request.resume", request=request) for _ in range(100)]
    assert [story.result(call)["changed"] for call in calls] == [True] + [False] * 99
    story.wait(request)
    words = story.words()
    assert (words.count("request.did_resume"), words.count("request.did_resume_task")) == (1, 1)
    assert len(origin.requests) == 1


def test_rl_03_a_hundred_suspends_are_one_and_nothing_is_read_meanwhile(story: Story, origin: ScriptedOrigin) -> None:
    more, sent = threading.Event(), threading.Event()

    def handler(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n" + b"a" * 10_000)
        more.wait(20)
        exchange.send(b"b" * 50_000)
        sent.set()

    request = story.submit(origin.on("/body", handler))
    story.until("task.did_receive_data")
    calls = [story.wire.request("request.suspend", request=request) for _ in range(100)]
    assert [story.result(call)["changed"] for call in calls] == [True] + [False] * 99
    words = story.words()
    assert (words.count("request.did_suspend"), words.count("request.did_suspend_task")) == (1, 1)
    story.forget()
    more.set()
    assert sent.wait(20)
    for _ in range(3):
        story.call("daemon.ping")
    assert story.words() == []
    story.call("request.resume", request=request)
    assert story.wait(request)["body"]["size_bytes"] == 60_000


def test_rl_03_the_idle_time_stands_still_while_it_is_suspended(story: Story, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    request = story.submit(f"{origin.url}/held", timeout_ms=200)
    origin.received(1)
    story.call("request.suspend", request=request)
    assert story.call("request.wait", request=request, timeout_ms=300)["finished"] is False
    gate.set()
    story.call("request.resume", request=request)
    assert story.wait(request)["outcome"]["ok"]


def test_rl_03_what_is_suspended_holds_nobody_up(story: Story, origin: ScriptedOrigin) -> None:
    """An origin gets six at a time; ten suspended ones occupy none of these slots, running or queued."""
    more = threading.Event()

    def handler(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n" + b"a" * 10_000)
        more.wait(20)
        exchange.send(b"b" * 10_000)

    url = origin.on("/body", handler)
    requests = [story.submit(url) for _ in range(10)]
    origin.received(6)
    for request in reversed(requests):
        story.call("request.suspend", request=request)
    assert story.perform(origin.url)["outcome"]["ok"]
    assert len(origin.requests) == 7, "what was suspended before its turn is not sent"
    more.set()
    for request in requests:
        story.call("request.resume", request=request)
    for request in requests:
        assert story.wait(request)["body"]["size_bytes"] == 20_000


def test_rl_04_a_cancelled_request_fails_with_the_cancellation(story: Story, origin: ScriptedOrigin) -> None:
    """Not with the transport's own error; and the origin's connection is closed."""
    closed = threading.Event()

    def handler(exchange: Exchange) -> None:
        if exchange.wait_for_peer_to_close():
            closed.set()

    request = story.submit(origin.on("/held", handler))
    origin.received(1)
    assert story.call("request.cancel", request=request) == {"changed": True, "state": "cancelled"}
    record = story.wait(request)
    assert (record["state"], failure(record)) == ("cancelled", CANCELLED)
    story.until("task.did_complete(cancelled)")
    assert len(record["attempts"][0]["metrics"]) == 1
    assert closed.wait(20)


def test_rl_05_cancelled_before_it_is_resumed_no_request_is_built(story: Story, origin: ScriptedOrigin) -> None:
    request = story.submit(origin.url, start="manual")
    story.call("request.cancel", request=request)
    record = story.wait(request)
    assert (failure(record), record["attempts"], record["response"]) == (CANCELLED, [], None)
    assert origin.requests == []


def test_rl_06_what_is_cancelled_stays_cancelled(story: Story, origin: ScriptedOrigin) -> None:
    request = story.submit(origin.url, start="manual")
    story.call("request.cancel", request=request)
    for verb in ["resume", "suspend", "cancel"]:
        assert story.call(f"request.{verb}", request=request) == {"changed": False, "state": "cancelled"}
    assert origin.requests == []


def test_rl_07_cancelled_in_back_off_it_ends_at_once(story: Story, origin: ScriptedOrigin) -> None:
    url = origin.on("/500", statuses(500))
    request = story.submit(url, validate=True, interceptor=[{"retry_policy": {"scale_ms": 60_000}}])
    story.until("request.did_complete_task(None)")
    story.call("request.cancel", request=request)
    record = story.call("request.get", request=request)
    assert failure(record) == CANCELLED, "it has ended when the cancellation is answered"
    assert [attempt["error"] for attempt in record["attempts"]] == [UNACCEPTABLE]
    assert len(origin.requests) == 1


def test_rl_07_cancelled_while_a_retrier_is_asked_it_is_not_sent_again(story: Story, origin: ScriptedOrigin) -> None:
    request = story.submit(origin.on("/500", statuses(500)), validate=True, interceptor=[RETRIER])
    question = story.question("retry")
    story.call("request.cancel", request=request)
    story.answer(question, {"decision": "retry"})
    assert failure(story.wait(request)) == CANCELLED
    assert len(origin.requests) == 1


def test_rl_08_what_is_sent_is_what_the_adapters_made(story: Story, origin: ScriptedOrigin) -> None:
    story.perform(origin.url, interceptor=[{"set_header": {"name": "X-A", "value": "1"}}])
    adapted = story.until("request.did_adapt_initial_request")["data"]
    made = story.until("request.did_create_url_request")["data"]
    assert ["X-A", "1"] not in adapted["initial"]["headers"]
    assert ["X-A", "1"] in adapted["adapted"]["headers"]
    assert made == adapted["adapted"]
    assert origin.requests[0].values("X-A") == ["1"]


def test_rl_09_an_adapter_that_fails_once_and_a_retrier_make_it_succeed(story: Story, origin: ScriptedOrigin) -> None:
    answers: list[Any] = [{"fail": {"message": "not yet"}}, {}]
    story.answerers = {"adapt": lambda _: answers.pop(0), "retry": lambda _: {"decision": "retry"}}
    record = story.perform(origin.url, interceptor=[{"callback": {"name": "client"}}])
    assert record["outcome"]["ok"]
    assert [attempt.get("error") for attempt in record["attempts"]] == ["request_adaptation_failed", None]


def test_rl_10_a_task_s_error_is_the_transport_s_alone(story: Story, origin: ScriptedOrigin) -> None:
    record = story.perform(origin.on("/404", statuses(404)), validate=True)
    assert story.until("request.did_complete_task(None)")
    assert failure(record) == UNACCEPTABLE


# Retries


@pytest.mark.parametrize(
    ("answer", "hits", "name"),
    [
        ({"decision": "do_not_retry"}, 1, UNACCEPTABLE),
        ({"decision": "do_not_retry_with_error", "message": "no"}, 1, "request_retry_failed"),
        ({"decision": "retry"}, 2, None),
        ({"decision": "retry", "delay_ms": 20}, 2, None),
    ],
)
def test_rl_11_what_a_retrier_decides(
    story: Story, origin: ScriptedOrigin, answer: dict[str, Any], hits: int, name: str | None
) -> None:
    story.answerers["retry"] = lambda _: answer
    record = story.perform(origin.on("/500", statuses(500, 200)), validate=True, interceptor=[RETRIER])
    assert len(origin.requests) == hits
    error = record["outcome"].get("error")
    assert (error and error["name"]) == name
    if name == "request_retry_failed":
        assert error["details"]["original_error"]["name"] == UNACCEPTABLE
        assert "no" in error["details"]["retry_error"]["message"]


def test_rl_12_it_is_retrying_when_the_delay_is_over(story: Story, origin: ScriptedOrigin) -> None:
    story.answerers["retry"] = lambda _: {"decision": "retry", "delay_ms": 100}
    story.perform(origin.on("/500", statuses(500, 200)), validate=True, interceptor=[RETRIER])
    seconds = [
        float(story.until(word)["time"].rstrip("Z").rpartition(":")[2])
        for word in ["request.did_complete_task(None)", "request.is_retrying(1)"]
    ]
    assert (seconds[1] - seconds[0]) % 60 >= 0.1
    assert story.words().count("request.did_resume") == 1


def test_rl_13_every_attempt_begins_with_nothing(story: Story, origin: ScriptedOrigin) -> None:
    """Neither the failed response's body nor its value is kept, and the bytes sent are counted from 0."""
    answers = [(500, b"a long body of a failure"), (200, b"ok")]
    url = origin.on("/flaky", lambda exchange: exchange.reply(*answers.pop(0)))
    policy = {"retry_policy": {"scale_ms": 1, "methods": ["POST"]}}
    record = story.perform(url, method="POST", body={"text": "12345"}, validate=True, interceptor=[policy])
    assert (record["body"], record["response"]["status"]) == ({"text": "ok", "size_bytes": 2}, 200)
    sent = {1: 0, 2: 0}
    for event in story.events:
        if event["type"] == "task.did_send_body_data":
            sent[event["attempt"]] += event["data"]["size_bytes"]
    assert sent == {1: 5, 2: 5}


# The end


def test_rl_14_it_is_finished_before_its_serializers_begin(story: Story, origin: ScriptedOrigin) -> None:
    request = story.submit(origin.url, serialize=[{"callback": {"name": "client"}}])
    question = story.question("serialize")
    assert story.words()[-1] == "request.did_finish"
    story.answer(question, {"value": 1})
    assert story.wait(request)["outcome"]["value"] == 1


def test_rl_15_serializers_run_one_after_the_other_and_are_told_together(story: Story, origin: ScriptedOrigin) -> None:
    asks = {"callback": {"name": "client"}}
    call = story.begin(origin.url, serialize=[asks, asks, "string"])
    first = story.question("serialize")
    assert len(story.asked) == 1
    story.answer(first, {"value": 1})
    second = story.question("serialize", 2)
    assert [word for word in story.words() if "parse" in word] == ["request.did_parse_response(callback)"]
    story.answer(second, {"value": 2})
    record = story.result(call)
    assert [value["value"] for value in record["outcome"]["values"]][:2] == [1, 2]
    assert record["outcome"]["value"] == 1


@pytest.mark.parametrize("serialize", ["json", ["json", "json"]])
def test_rl_16_a_failure_that_was_refused_is_not_asked_about_again(
    story: Story, origin: ScriptedOrigin, serialize: Any
) -> None:
    story.answerers["retry"] = lambda _: {"decision": "do_not_retry"}
    url = origin.on("/404", statuses(404))
    story.perform(url, validate=True, interceptor=[RETRIER], serialize=serialize)
    assert [asked["params"]["error"]["name"] for asked in story.asked] == [UNACCEPTABLE]


def test_rl_16_the_plain_body_asks_no_retrier_and_a_value_that_fails_does(story: Story, origin: ScriptedOrigin) -> None:
    story.answerers["retry"] = lambda _: {"decision": "do_not_retry"}
    assert story.perform(origin.url, interceptor=[RETRIER])["outcome"]["ok"]
    assert story.asked == []
    story.perform(origin.url, interceptor=[RETRIER], serialize=["string", "json"])
    assert len(story.asked) == 1
    assert len(origin.requests) == 2


def test_rl_17_a_finished_request_gives_other_values_without_being_sent(story: Story, origin: ScriptedOrigin) -> None:
    request = story.submit(origin.on("/json", lambda exchange: exchange.reply(body=b"[1]")), serialize="string")
    assert story.wait(request)["outcome"]["value"] == "[1]"
    story.forget()
    record = story.call("request.response", request=request, serialize="json")
    assert (record["state"], record["outcome"]) == ("finished", {"ok": True, "value": [1]})
    assert story.words() == ["request.did_parse_response(json)"]
    assert len(origin.requests) == 1


def test_rl_18_a_cancelled_request_gives_its_cancellation_for_every_value(story: Story, origin: ScriptedOrigin) -> None:
    request = story.submit(origin.url, start="manual")
    story.call("request.cancel", request=request)
    record = story.call("request.response", request=request, serialize=["json", "string"])
    assert (record["state"], failure(record)) == ("cancelled", CANCELLED)
    assert [value["error"]["name"] for value in record["outcome"]["values"]] == [CANCELLED, CANCELLED]
    assert origin.requests == []


def test_rl_30_cancelled_in_the_same_batch_it_is_never_a_matter_of_luck(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("session.create", name="batch")
    for number in range(20):
        submit = {"url": origin.url, "session": "batch", "key": f"k{number}"}
        calls = [("request.submit", submit), ("session.cancel_requests", {"session": "batch"})]
        wire.send([{"jsonrpc": "2.0", "id": i, "method": method, "params": p} for i, (method, p) in enumerate(calls)])
        answers = {answer["id"]: answer["result"] for answer in wire.receive()}
        assert answers[1] == {"cancelled": 1}
        assert failure(wire.call("request.wait", request=answers[0]["request"])) == CANCELLED


def test_rl_08_rl_30_the_order_of_a_cancelled_start(story: Story, origin: ScriptedOrigin) -> None:
    origin.hold("/held")
    request = story.submit(f"{origin.url}/held")
    story.call("request.cancel", request=request)
    assert failure(story.wait(request)) == CANCELLED
    assert story.words()[: len(BEGINNING)] == BEGINNING


def test_f16_a_key_is_forgotten_with_its_daemon(start: StartDaemon, origin: ScriptedOrigin) -> None:
    """As documented: within one daemon a repeated call is the same request, after a restart it is a new one."""
    params = {"url": f"{origin.url}/pay", "method": "POST", "key": "pay-7"}
    daemon = start()
    with daemon.wire() as wire:
        first, second = (wire.result(wire.request("request.perform", params)) for _ in range(2))
    assert first["request"] == second["request"]
    for method in daemon.call("rpc.discover")["methods"]:
        if method["name"] in {"request.perform", "request.submit"}:
            assert "while the same daemon runs" in method["description"]
    daemon.kill()
    with start().wire() as wire:
        assert wire.result(wire.request("request.perform", params))["outcome"]["ok"]
    assert len(origin.received(2, "/pay")) == 2


def test_a_client_of_a_restarted_daemon_goes_on(start: StartDaemon) -> None:
    """A call that cannot have been handled is sent to the next daemon."""
    daemon = start()
    with daemon.client() as client:
        first = client.call("daemon.info")["server"]["epoch"]
        daemon.stop()
        start()
        second = client.call("daemon.info")["server"]["epoch"]
        assert second != first


def test_a_client_whose_subscriptions_are_over_goes_on(start: StartDaemon) -> None:
    daemon = start()
    with daemon.client() as client:
        client.call("request.perform", url="http://127.0.0.1:1/", events={})
        with pytest.raises(carpool.RPCError):
            client.call("events.subscribe", types=["no.such.type"])
        daemon.kill()
        start()
        client.call("daemon.ping")


@pytest.mark.parametrize("ends", ["in order", "killed"])
@pytest.mark.parametrize("of", ["connection", "request", "head"])
def test_a_client_with_a_subscription_learns_that_its_daemon_has_gone(
    start: StartDaemon, origin: ScriptedOrigin, of: str, ends: str
) -> None:
    # A drain waits for unfinished requests before it cancels them, and one that is not resumed is unfinished.
    daemon = start(config={"drain_ms": 0})
    with daemon.client() as client:
        if of == "request":
            client.call("request.submit", url="http://127.0.0.1:1/", start="manual", events={})
        elif of == "head":
            url = origin.on("/held", lambda exchange: exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"))
            assert "outcome" not in client.call("request.perform", url=url, hold_for_headers=True, events={})
        else:
            client.call("events.subscribe", types=["pool.*"])
        if ends == "killed":
            daemon.kill()
        else:
            daemon.terminate()
        start()
        with pytest.raises(carpool.ConnectionLostError):
            client.call("daemon.ping")
        assert client.call("daemon.ping")["pong"]
