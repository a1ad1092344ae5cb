"""What is kept of a request: its attempts, the requests that were made for them, the last response, the first error."""

from __future__ import annotations

from typing import Any

import pytest
from harness.daemon import Daemon
from harness.story import Story, told
from harness.wire import Wire
from origins.scripted import Exchange, ScriptedOrigin, statuses

UNACCEPTABLE = "response_validation_failed.unacceptable_status_code"
RETRY = {"retry_policy": {"scale_ms": 1}}
ASKED = {"callback": {"name": "client"}}


def failure(record: dict[str, Any]) -> str:
    return str(record["outcome"]["error"]["name"])


def test_rl_19_every_attempt_is_kept_with_its_request_response_metrics_and_error(
    wire: Wire, origin: ScriptedOrigin
) -> None:
    url = origin.on("/flaky", statuses(500, 503, 200))
    request = wire.call("request.submit", url=url, validate=True, interceptor=[RETRY])["request"]
    record = wire.call("request.response", request=request)
    attempts = record["attempts"]
    assert [attempt["response"]["status"] for attempt in attempts] == [500, 503, 200]
    assert [attempt.get("error") for attempt in attempts] == [UNACCEPTABLE, UNACCEPTABLE, None]
    assert [len(attempt["metrics"]) for attempt in attempts] == [1, 1, 1]
    assert {attempt["request"]["url"] for attempt in attempts} == {url}
    assert all(attempt["request"]["headers"] for attempt in attempts)


def test_rl_20_a_redirect_changes_the_response_s_url_and_not_the_request_s(wire: Wire, origin: ScriptedOrigin) -> None:
    url = origin.on("/moved", lambda exchange: exchange.reply(302, headers=[("Location", "/there")]))
    record = wire.call("request.perform", url=url)
    assert record["attempts"][0]["request"]["url"] == url
    assert record["response"]["url"] == f"{origin.url}/there"
    assert [hop["url"] for hop in record["attempts"][0]["metrics"]] == [url, f"{origin.url}/there"]


def test_rl_21_the_response_is_that_of_the_last_attempt(wire: Wire, origin: ScriptedOrigin) -> None:
    url = origin.on("/flaky", statuses(500, 201))
    record = wire.call("request.perform", url=url, validate=True, interceptor=[RETRY])
    assert record["response"]["status"] == 201


def test_rl_21_an_attempt_without_a_response_leaves_none(wire: Wire, origin: ScriptedOrigin) -> None:
    def handler(exchange: Exchange) -> None:
        if len(origin.requests) > 1:
            exchange.close()
        exchange.reply(500, b"old")

    url = origin.on("/flaky", handler)
    record = wire.call(
        "request.perform", url=url, validate=True, interceptor=[{"retry_policy": {"scale_ms": 1, "limit": 1}}]
    )
    assert (record["response"], record["body"]) == (None, {"none": True, "size_bytes": 0})
    assert failure(record) == "session_task_failed.network_connection_lost"


def test_rl_22_a_cancellation_beats_a_validation_that_has_not_been_answered(
    story: Story, origin: ScriptedOrigin
) -> None:
    request = story.submit(origin.on("/404", statuses(404)), validate=[ASKED])
    question = story.question("validate")
    story.call("request.cancel", request=request)
    story.answer(question, {"valid": False, "message": "late"})
    assert failure(story.wait(request)) == "explicitly_cancelled"


@pytest.mark.parametrize("statuses_first", [False, True])
def test_rl_22_the_first_of_two_validators_wins(wire: Wire, origin: ScriptedOrigin, statuses_first: bool) -> None:
    url = origin.on("/404", lambda exchange: exchange.reply(404, b"x", [("Content-Type", "text/plain")]))
    validators: list[Any] = [{"content_type": ["image/png"]}]
    validators.insert(0 if statuses_first else 1, {"status": ["200-299"]})
    expected = UNACCEPTABLE if statuses_first else "response_validation_failed.unacceptable_content_type"
    assert failure(wire.call("request.perform", url=url, validate=validators)) == expected


def test_rl_22_no_validator_is_asked_about_a_failure_of_the_network(story: Story, origin: ScriptedOrigin) -> None:
    record = story.perform(origin.on("/lost", Exchange.close), validate=[ASKED])
    assert failure(record) == "session_task_failed.network_connection_lost"
    assert story.asked == []


def test_rl_23_dr_02_the_pieces_of_a_body_add_up(story: Story, origin: ScriptedOrigin) -> None:
    url = origin.on("/body", lambda exchange: exchange.reply(body=b"x" * 300_000))
    assert story.perform(url, method="PUT", body={"text": "y" * 200_000})["body"]["size_bytes"] == 300_000
    received = [event["data"]["size_bytes"] for event in story.events if told(event) == "task.did_receive_data"]
    sent = [event["data"]["size_bytes"] for event in story.events if told(event) == "task.did_send_body_data"]
    assert (sum(received), sum(sent)) == (300_000, 200_000)
    head = story.until("task.did_receive_response(200)")["data"]["response"]
    assert ["Content-Length", "300000"] in head["headers"]


def test_rl_24_rl_25_each_attempt_tells_its_adapted_request_and_its_task(story: Story, origin: ScriptedOrigin) -> None:
    changes = iter(range(1, 4))
    story.answerers["adapt"] = lambda _: {"set_headers": {"X-Number": str(next(changes))}}
    adapter = {"callback": {"name": "client", "handles": ["adapt"]}}
    story.perform(origin.on("/flaky", statuses(500, 500, 200)), validate=True, interceptor=[adapter, RETRY])
    made = [event for event in story.events if told(event) == "request.did_create_url_request"]
    numbers = [dict(event["data"]["headers"])["X-Number"] for event in made]
    assert numbers == ["1", "2", "3"]
    tasks = [event["attempt"] for event in story.events if told(event) == "request.did_create_task"]
    assert tasks == [1, 2, 3]


def test_rl_26_a_credential_is_an_interceptor(wire: Wire, origin: ScriptedOrigin) -> None:
    credential = {"basic_auth": {"username": "Aladdin", "password": "open sesame"}}
    wire.call("request.perform", url=origin.url, interceptor=[credential])
    assert origin.requests[0].values("Authorization") == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="]


def test_rl_27_a_redirect_handler_is_given_once(wire: Wire, origin: ScriptedOrigin) -> None:
    """A duplicate member is refused before anything is done, and the connection stays open."""
    params = f'{{"url": "{origin.url}", "redirect": "follow", "redirect": "do_not_follow"}}'
    wire.send_text(f'{{"jsonrpc": "2.0", "id": 1, "method": "request.perform", "params": {params}}}')
    answer = wire.receive()
    assert (answer["id"], answer["error"]["code"], answer["error"]["data"]["path"]) == (1, -32602, "params.redirect")
    assert origin.requests == []
    assert wire.call("daemon.ping")["pong"] is True


def test_rl_28_the_session_s_interceptor_is_before_the_request_s(wire: Wire, origin: ScriptedOrigin) -> None:
    def set_to(value: str) -> list[dict[str, Any]]:
        return [{"set_header": {"name": "X", "value": value}}]

    wire.call("session.create", name="api", configuration={"interceptor": set_to("1")})
    wire.call("request.perform", url=origin.url, session="api", interceptor=set_to("2"))
    assert origin.requests[0].values("X") == ["2"]


def test_rl_28_who_wants_a_request_s_events_gets_none_of_its_tasks(wire: Wire, origin: ScriptedOrigin) -> None:
    story = Story(wire, ["request.*"])
    story.perform(origin.url)
    assert {event["type"].partition(".")[0] for event in story.events} == {"request"}


def test_rl_29_a_list_tells_method_url_and_status(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("request.submit", url=origin.url, start="manual", method="PUT", tags={"n": "1"})
    waiting = wire.call("request.list")["requests"][0]
    assert (waiting["method"], waiting["url"], waiting["state"]) == ("PUT", origin.url, "initialized")
    assert waiting.get("status") is None
    wire.call("request.resume", request=waiting["request"])
    wire.call("request.wait", request=waiting["request"])
    assert wire.call("request.list")["requests"][0]["status"] == 200


# The table of requests and tasks (TM), and the session's delegate (SD)


def test_tm_01_a_request_under_way_has_one_task_and_then_none(story: Story, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    requests = [story.submit(f"{origin.url}/held") for _ in range(2)]
    origin.received(2)
    counted = story.call("daemon.stats")["requests"]
    assert (counted["active"], counted["tasks"]) == (2, 2)
    gate.set()
    for request in requests:
        story.wait(request)
    counted = story.call("daemon.stats")["requests"]
    assert (counted["active"], counted["tasks"]) == (0, 0)


@pytest.mark.parametrize("path", ["/", "/lost", "/held"])
def test_tm_02_tm_03_tm_04_metrics_are_told_once_before_the_task_is_over(
    story: Story, origin: ScriptedOrigin, path: str
) -> None:
    origin.on("/lost", Exchange.close)
    origin.hold("/held")
    record = story.perform(origin.url + path, timeout_ms=100 if path == "/held" else 60_000)
    words = story.words()
    assert words.count("request.did_gather_metrics") == words.count("task.did_collect_metrics") == 1
    over = next(word for word in words if word.startswith("request.did_complete_task"))
    assert words.index("request.did_gather_metrics") < words.index(over)
    assert [len(attempt["metrics"]) for attempt in record["attempts"]] == [1]


def test_tm_05_rubbish_about_one_request_harms_no_other(daemon: Daemon, story: Story, origin: ScriptedOrigin) -> None:
    gate = origin.hold("/held")
    with daemon.wire() as other:
        held = other.request("request.perform", url=f"{origin.url}/held")
        story.answerers["serialize"] = lambda _: {"no": "value"}
        assert failure(story.perform(origin.url, serialize=ASKED)) == "callback_failed"
        for result in (None, "x", {"value": 1, "fail": 2}):
            story.wire.send({"jsonrpc": "2.0", "id": "cb_9999", "result": result})
        gate.set()
        assert other.result(held)["outcome"]["ok"]


def test_sd_01_an_event_comes_before_its_effect(story: Story, origin: ScriptedOrigin) -> None:
    """A redirect's event comes before its callback, and the target gets no request until that is answered."""
    url = origin.on("/moved", lambda exchange: exchange.reply(302, headers=[("Location", "/there")]))
    call = story.begin(url, redirect=ASKED)
    question = story.question("redirect")
    assert story.words()[-1] == "task.will_redirect(302)"
    assert [request.target for request in origin.requests] == ["/moved"]
    story.answer(question, {"decision": "follow"})
    assert story.result(call)["response"]["url"] == f"{origin.url}/there"


def test_f12_the_fields_of_a_request_have_what_the_transport_adds(wire: Wire, origin: ScriptedOrigin) -> None:
    for decode in (True, False):
        request = wire.call("request.submit", url=origin.url, headers={"X-Mine": "1"}, decode=decode)["request"]
        attempt = wire.call("request.response", request=request)["attempts"][0]["request"]
        told = {name.lower(): value for name, value in attempt["headers"]}
        sent = {name.lower(): value for name, value in origin.requests[-1].headers}
        assert told == {name: value for name, value in sent.items() if name != "host"}
