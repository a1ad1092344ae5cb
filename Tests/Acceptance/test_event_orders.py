"""The orders of events as a subscriber hears them: each step of a request, whether it goes well or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness.story import (
    ADAPTING,
    BEGINNING,
    CANCELLING,
    COMPLETING,
    MAKING,
    METRICS,
    STARTING,
    Story,
    ending,
    failing,
)
from origins.scripted import Exchange, ScriptedOrigin, statuses

UNACCEPTABLE = "response_validation_failed.unacceptable_status_code"
CANCELLED = "explicitly_cancelled"
AT_ONCE = {"retry_policy": {"scale_ms": 1}}
NAMED = {"set_header": {"name": "X-A", "value": "1"}}


def receiving(status: int, *, body: bool = True) -> list[str]:
    return [f"task.did_receive_response({status})"] + (["task.did_receive_data"] if body else [])


def validating(status: int, *, body: bool = True, refused: bool = False) -> list[str]:
    """Return the end of an attempt with the standard validators; after a refusal the second is not asked."""
    judged = (
        [f"request.did_validate(status, {UNACCEPTABLE})"]
        if refused
        else ["request.did_validate(status, ok)", "request.did_validate(content_type, ok)"]
    )
    heard = [*receiving(status, body=body), *METRICS, "task.did_complete(None)"]
    return [*heard, *judged, "request.did_complete_task(None)"]


# A request that goes well (§2.1)
def test_2_1_em_a_get_tells_each_step(story: Story, origin: ScriptedOrigin) -> None:
    assert story.perform(origin.url)["outcome"]["ok"]
    assert story.words() == [*BEGINNING, *receiving(200), *COMPLETING, *ending()]


def test_2_1_without_a_body_no_data_is_told(story: Story, origin: ScriptedOrigin) -> None:
    story.perform(origin.on("/empty", statuses(204)))
    assert story.words() == [*BEGINNING, *receiving(204, body=False), *COMPLETING, *ending()]


def test_2_1_rl_14_rl_15_adapters_validators_and_two_serializers(story: Story, origin: ScriptedOrigin) -> None:
    """The answer comes after the last event: `perform` heard them all before it."""
    story.perform(origin.url, interceptor=[NAMED], validate=True, serialize=["string", "data"])
    assert story.words() == [
        "request.did_resume", *ADAPTING, *STARTING, *validating(200), "request.did_finish",
        "request.did_parse_response(string)", "request.did_parse_response(data)",
    ]  # fmt: skip


def test_2_rule_6_any_interceptor_makes_an_adapted_request(story: Story, origin: ScriptedOrigin) -> None:
    story.perform(origin.url, interceptor=["connection_lost"])
    assert "request.did_adapt_initial_request" in story.words()
    story.forget()
    story.perform(origin.url)
    assert "request.did_adapt_initial_request" not in story.words()


# Retries (§2.2, §2.3)
@pytest.mark.parametrize("last", [200, 500])
def test_2_2_rl_12_two_failures_and_the_last_attempt(story: Story, origin: ScriptedOrigin, last: int) -> None:
    url = origin.on("/flaky", statuses(500, 500, last, body=b"x"))
    story.perform(url, interceptor=[AT_ONCE], validate=True)
    begin = [*ADAPTING, *STARTING]
    assert story.words() == [
        "request.did_resume",
        *begin, *validating(500, refused=True), "request.is_retrying(1)",
        *begin, *validating(500, refused=True), "request.is_retrying(2)",
        *begin, *validating(last, refused=last == 500),
        *ending("none" if last == 200 else UNACCEPTABLE),
    ]  # fmt: skip
    attempts = [event["attempt"] for event in story.events if event["type"] == "request.did_create_task"]
    assert attempts == [1, 2, 3]


def test_2_3_rl_16_a_serializer_s_failure_has_it_sent_again(story: Story, origin: ScriptedOrigin) -> None:
    """`request.did_finish` is told twice, the answer is given once."""
    bodies = [b"no json", b"[1]"]
    url = origin.on("/json", lambda exchange: exchange.reply(body=bodies.pop(0)))
    record = story.perform(url, interceptor=[{"retry_policy": {"scale_ms": 1, "statuses": [200]}}], serialize="json")
    attempt = [*ADAPTING, *STARTING, *receiving(200), *COMPLETING, "request.did_finish"]
    assert story.words() == [
        "request.did_resume", *attempt,
        "request.did_parse_response(response_serialization_failed.json_serialization_failed)",
        "request.is_retrying(1)", *attempt, "request.did_parse_response(json)",
    ]  # fmt: skip
    assert record["outcome"] == {"ok": True, "value": [1]}


# Cancellation (§2.4)
@pytest.mark.parametrize("headed", [False, True])
def test_2_4_a_cancelled_in_flight(story: Story, origin: ScriptedOrigin, headed: bool) -> None:
    def handler(exchange: Exchange) -> None:
        if headed:
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
        exchange.wait_for_peer_to_close()
        exchange.close()

    request = story.submit(origin.on("/slow", handler))
    origin.received(1)
    if headed:
        story.until("task.did_receive_data")
    story.call("request.cancel", request=request)
    story.until(f"request.did_parse_response({CANCELLED})")
    received = receiving(200) if headed else []
    assert story.words() == [*BEGINNING, *received, *CANCELLING, *failing("cancelled"), *ending(CANCELLED)]


def test_2_4_b_cancelled_before_it_is_resumed(story: Story, origin: ScriptedOrigin) -> None:
    request = story.submit(origin.url, start="manual")
    story.call("request.cancel", request=request)
    assert story.words() == ["request.did_cancel", *ending(CANCELLED)]
    assert origin.requests == []


def test_2_4_c_cancelled_before_the_task_exists(story: Story, origin: ScriptedOrigin) -> None:
    request = story.submit(origin.url, interceptor=[{"callback": {"name": "open", "handles": ["adapt"]}}])
    question = story.question("adapt")
    story.call("request.cancel", request=request)
    story.answer(question, {})
    story.wait(request)
    expected = ["request.did_resume", MAKING[0], "request.did_cancel", *ending(CANCELLED)]
    assert story.words() == expected
    assert origin.requests == []


def test_2_4_d_cancelled_in_back_off(story: Story, origin: ScriptedOrigin) -> None:
    url = origin.on("/500", statuses(500))
    request = story.submit(url, validate=True, interceptor=[{"retry_policy": {"scale_ms": 600_000}}])
    story.until("request.did_complete_task(None)")
    story.forget()
    story.call("request.cancel", request=request)
    assert story.words() == ["request.did_cancel", *ending(CANCELLED)]


def test_2_4_e_cancelled_when_it_is_over(story: Story, origin: ScriptedOrigin) -> None:
    request = story.submit(origin.url)
    story.wait(request)
    story.forget()
    assert story.call("request.cancel", request=request) == {"changed": False, "state": "finished"}
    story.call("daemon.ping")
    assert story.words() == []


def test_2_4_f_all_of_a_session_are_told_to_cancel_then_the_call_is_answered(
    story: Story, origin: ScriptedOrigin
) -> None:
    origin.hold("/held")
    story.call("session.create", name="many")
    requests = [story.submit(f"{origin.url}/held", session="many") for _ in range(3)]
    origin.received(3)
    story.forget()
    assert story.call("session.cancel_requests", session="many") == {"cancelled": 3}
    told = {request: story.words(request) for request in requests}
    assert all(words[:2] == CANCELLING for words in told.values())
    for request in requests:
        story.wait(request)
        assert story.words(request) == [*CANCELLING, *failing("cancelled"), *ending(CANCELLED)]


def test_2_4_g_a_hundred_cancellations_are_one(story: Story, origin: ScriptedOrigin) -> None:
    origin.hold("/held")
    request = story.submit(f"{origin.url}/held")
    origin.received(1)
    calls = [story.wire.request("request.cancel", request=request) for _ in range(100)]
    assert [story.result(call)["changed"] for call in calls] == [True] + [False] * 99
    story.wait(request)
    assert story.words() == [*BEGINNING, *CANCELLING, *failing("cancelled"), *ending(CANCELLED)]


# Suspending (§2.5)
def test_2_5_suspended_and_resumed_in_flight(story: Story, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    request = story.submit(f"{origin.url}/held")
    origin.received(1)
    story.call("request.suspend", request=request)
    story.call("request.resume", request=request)
    gate.set()
    story.wait(request)
    again = ["request.did_suspend", "request.did_suspend_task", "request.did_resume", "request.did_resume_task"]
    assert story.words() == [*BEGINNING, *again, *receiving(200), *COMPLETING, *ending()]


def test_2_5_suspended_before_the_task_exists(story: Story, origin: ScriptedOrigin) -> None:
    request = story.submit(origin.url, interceptor=[{"callback": {"name": "open", "handles": ["adapt"]}}])
    question = story.question("adapt")
    story.call("request.suspend", request=request)
    story.answer(question, {})
    story.until("request.did_suspend_task")
    assert story.words() == [
        "request.did_resume", ADAPTING[0], "request.did_suspend", *ADAPTING[1:], STARTING[0],
        "request.did_suspend_task",
    ]  # fmt: skip
    assert origin.requests == []
    story.forget()
    story.call("request.resume", request=request)
    story.wait(request)
    assert story.words() == [
        "request.did_resume", "request.did_resume_task", *receiving(200), *COMPLETING, *ending(),
    ]  # fmt: skip


# Uploads, downloads, streams (§2.6 to §2.8); more of each in the files that are about them


def test_2_6_an_upload(story: Story, origin: ScriptedOrigin) -> None:
    story.perform(origin.url, kind="upload", body={"text": "hello"}, validate=True)
    assert story.words() == [
        "request.did_resume", MAKING[0], "request.did_create_uploadable", MAKING[1], *STARTING,
        "request.upload_progress", "task.did_send_body_data", "request.upload_progress", *validating(200), *ending(),
    ]  # fmt: skip
    sent = next(event["data"] for event in story.events if event["type"] == "task.did_send_body_data")
    assert sent == {"size_bytes": 5, "sent_bytes": 5, "total_bytes": 5}


def test_2_7_a_download_has_no_head(story: Story, origin: ScriptedOrigin, folder: Path) -> None:
    story.perform(origin.url, kind="download", destination=str(folder / "a"))
    assert story.words() == [
        *BEGINNING, "task.did_write_data", "task.did_finish_downloading", *METRICS, "task.did_complete(None)",
        "request.did_create_destination_url", "request.did_finish_downloading(ok)",
        "request.did_complete_task(None)", *ending(),
    ]  # fmt: skip


def test_2_8_a_stream_has_no_value_at_its_end(story: Story, origin: ScriptedOrigin) -> None:
    request = story.submit(origin.on("/lines", statuses(200, body=b"a\nb\n")), kind="stream", hold_for_headers=True)
    story.until("task.did_receive_response(200)")
    story.call("request.attach", request=request, **{"as": "lines", "credit_bytes": 1_000})
    story.call("request.resume", request=request)
    story.wait(request)
    words = [word for word in story.words() if word not in {"request.did_parse_stream", "request.did_resume"}]
    assert words == [*BEGINNING[1:], *receiving(200), *COMPLETING, "request.did_finish"]
    assert "request.did_parse_stream" in story.words()


# Redirects (§2.9)
def test_2_9_a_redirect_that_is_followed_is_no_attempt(story: Story, origin: ScriptedOrigin) -> None:
    url = origin.on("/moved", lambda exchange: exchange.reply(302, headers=[("Location", "/")]))
    story.perform(url)
    assert story.words() == [*BEGINNING, "task.will_redirect(302)", *receiving(200), *COMPLETING, *ending()]


def test_2_9_a_redirect_that_is_not_followed_is_the_response(story: Story, origin: ScriptedOrigin) -> None:
    url = origin.on("/moved", lambda exchange: exchange.reply(302, b"there", [("Location", "/")]))
    story.perform(url, redirect="do_not_follow", validate=True)
    assert story.words() == [
        *BEGINNING, "task.will_redirect(302)", *validating(302, refused=True), *ending(UNACCEPTABLE),
    ]  # fmt: skip


# Failures before a task exists (§2.12)
@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"url": ""}, "invalid_url"),
        ({"url": "http://a b/"}, "invalid_url"),
        ({"body": {"text": "x"}}, "url_request_validation_failed.body_data_in_get_request"),
    ],
)
def test_2_12_what_makes_no_request(story: Story, origin: ScriptedOrigin, params: dict[str, Any], name: str) -> None:
    story.perform(**{"url": origin.url, **params})
    failed = f"request.did_fail_to_create_url_request({name})"
    assert story.words() == ["request.did_resume", failed, *ending(name)]
    assert origin.requests == []


@pytest.mark.parametrize("answer", [{"fail": {"message": "no"}}, {"body": {"text": "x"}}])
def test_2_12_an_adapter_that_fails_or_makes_what_must_not_be_sent(
    story: Story, origin: ScriptedOrigin, answer: dict[str, Any]
) -> None:
    story.answerers["adapt"] = lambda _: answer
    story.perform(origin.url, interceptor=[{"callback": {"name": "bad", "handles": ["adapt"]}}])
    name = "request_adaptation_failed"
    failed = f"request.did_fail_to_adapt_url_request({name})"
    assert story.words() == ["request.did_resume", MAKING[0], failed, *ending(name)]
    assert origin.requests == []


def test_2_12_rl_09_an_adapter_that_fails_once_with_a_retrier(story: Story, origin: ScriptedOrigin) -> None:
    answers = [{"fail": {"message": "not yet"}}, {}]
    story.answerers = {"adapt": lambda _: answers.pop(0), "retry": lambda _: {"decision": "retry"}}
    record = story.perform(origin.url, interceptor=[{"callback": {"name": "both"}}])
    assert record["outcome"]["ok"]
    assert story.words() == [
        "request.did_resume", MAKING[0], "request.did_fail_to_adapt_url_request(request_adaptation_failed)",
        "request.is_retrying(1)", *ADAPTING, *STARTING, *receiving(200), *COMPLETING, *ending(),
    ]  # fmt: skip


# Failures of the network (§2.13)
def test_2_13_refused(story: Story) -> None:
    story.perform("http://127.0.0.1:1/")
    code = "cannot_connect_to_host"
    assert story.words() == [*BEGINNING, *failing(code), *ending(f"session_task_failed.{code}")]


@pytest.mark.parametrize("headed", [False, True])
def test_2_13_lost_before_and_after_the_head(story: Story, origin: ScriptedOrigin, headed: bool) -> None:
    def handler(exchange: Exchange) -> None:
        if headed:
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
        exchange.close()

    story.perform(origin.on("/lost", handler))
    code = "network_connection_lost"
    received = receiving(200) if headed else []
    assert story.words() == [*BEGINNING, *received, *failing(code), *ending(f"session_task_failed.{code}")]


def test_2_13_timed_out(story: Story, origin: ScriptedOrigin) -> None:
    origin.hold("/held")
    story.perform(f"{origin.url}/held", timeout_ms=50)
    assert story.words() == [*BEGINNING, *failing("timed_out"), *ending("session_task_failed.timed_out")]


# The end of a session (§2.14)
def test_2_14_em_01_a_session_that_ends_takes_its_requests_with_it(story: Story, origin: ScriptedOrigin) -> None:
    """Nobody is said to have cancelled them, and the session's end is its last event."""
    origin.hold("/held")
    story.call("session.create", name="short")
    request = story.submit(f"{origin.url}/held", session="short")
    origin.received(1)
    story.forget()
    story.call("session.invalidate", session="short", mode="cancel")
    story.until("session.did_become_invalid")
    lost = [*METRICS, "task.did_complete(cancelled)", *ending("session_invalidated")]
    assert story.words() == [*lost, "session.did_become_invalid"]
    assert story.wait(request)["outcome"]["error"]["name"] == "session_invalidated"


# F9: a retrier's own error


def test_f9_a_retrier_s_own_error_reaches_every_failed_value(story: Story, origin: ScriptedOrigin) -> None:
    url = origin.on("/text", lambda exchange: exchange.reply(body=b"no JSON"))
    story.answerers["retry"] = lambda _: {"decision": "do_not_retry_with_error", "message": "not again"}
    interceptor = [{"callback": {"name": "c", "handles": ["retry"]}}]
    record = story.perform(url, serialize=["string", "json", "json"], interceptor=interceptor)
    assert record["outcome"]["error"]["name"] == "request_retry_failed"
    first, *others = record["outcome"]["values"]
    assert (first["ok"], first["value"]) == (True, "no JSON")
    assert [value["error"]["name"] for value in others] == ["request_retry_failed"] * 2
    parsed = [word for word in story.words() if word.startswith("request.did_parse_response")]
    assert parsed == [
        "request.did_parse_response(string)", *["request.did_parse_response(request_retry_failed)"] * 2
    ]  # fmt: skip
