"""Sessions as the session model has them: the defaults of their requests, when those begin, and how they end."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.story import MAKING, Story
from harness.wire import RemoteError, Wire
from origins.authority import Authority
from origins.scripted import Exchange, ScriptedOrigin

SET_X = {"set_header": {"name": "X", "value": "session", "mode": "append"}}


def failure(record: dict[str, Any]) -> str:
    return str(record["outcome"]["error"]["name"])


def refused(wire: Wire, method: str, **params: Any) -> RemoteError:
    with pytest.raises(RemoteError) as caught:
        wire.call(method, **params)
    return caught.value


# What sessions are


def test_se_01_the_default_session_is_there_and_its_connections_are_everybody_s(
    daemon: Daemon, origin: ScriptedOrigin
) -> None:
    assert [session["session"] for session in daemon.call("session.list")["sessions"]] == ["default"]
    for _ in range(2):
        daemon.call("request.perform", url=origin.url)
    assert origin.connections == 1


def test_se_02_each_session_has_its_own_configuration(wire: Wire, origin: ScriptedOrigin) -> None:
    for name in ["a", "b"]:
        wire.call("session.create", name=name, configuration={"headers": {"X-Session": name}})
    for name in ["a", "b", "default"]:
        wire.call("request.perform", url=origin.url, session=name)
    assert [request.values("X-Session") for request in origin.requests] == [["a"], ["b"], []]


@pytest.mark.parametrize("ephemeral", [False, True])
def test_se_03_se_04_the_three_default_headers(start: StartDaemon, origin: ScriptedOrigin, ephemeral: bool) -> None:
    daemon = start(variables={"LANG": "de_DE.UTF-8", "LC_ALL": "", "LANGUAGE": ""})
    daemon.call("session.create", name="own", configuration={"ephemeral": ephemeral})
    daemon.call("request.perform", url=origin.url, session="own")
    seen = origin.requests[0]
    assert all(seen.values(name) for name in ["Accept-Encoding", "Accept-Language", "User-Agent"])
    assert seen.values("Accept-Language") == ["en;q=1.0"], "the languages of the daemon's starter are not its clients'"
    assert daemon.call("session.get", session="own")["configuration"]["ephemeral"] is ephemeral


@pytest.mark.parametrize("member", ["identifier", "protocol_classes", "background"])
def test_se_05_what_makes_no_sense_in_a_daemon_is_refused(wire: Wire, member: str) -> None:
    error = refused(wire, "session.create", name="own", configuration={member: "x"})
    assert (error.code, error.error["data"]["path"]) == (-32602, f"params.configuration.{member}")


def test_se_06_a_configuration_never_changes(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("session.create", name="own", configuration={"headers": {"X": "1"}})
    assert refused(wire, "session.create", name="own", configuration={"headers": {"X": "2"}}).name == "session.exists"
    assert refused(wire, "session.update", session="own").code == -32601
    assert wire.call("session.get", session="own")["configuration"]["headers"] == [["X", "1"]]
    wire.call("request.perform", url=origin.url, session="own")
    assert origin.requests[0].values("X") == ["1"]


def test_se_07_all_hear_a_session_s_events_in_one_order(daemon: Daemon, story: Story, origin: ScriptedOrigin) -> None:
    with daemon.wire() as other:
        second = Story(other, scope="all")
        calls = [story.begin(origin.url) for _ in range(20)]
        for call in calls:
            story.result(call)
        second.until("request.did_parse_response(none)", story.events[-1]["request"])
        assert [event["cursor"] for event in second.events] == [event["cursor"] for event in story.events]


def test_se_08_many_at_once_all_succeed(wire: Wire, origin: ScriptedOrigin) -> None:
    calls = [wire.request("request.perform", url=f"{origin.url}/{i}", serialize="string") for i in range(10)]
    answers = {answer["id"]: answer["result"] for answer in (wire.receive() for _ in calls)}
    assert all(f"GET /{i} " in answers[call]["outcome"]["value"] for i, call in enumerate(calls))


# When requests begin


@pytest.mark.parametrize(
    ("of_session", "of_request", "starts"),
    [
        (None, None, True),
        ("manual", None, False),
        ("manual", "immediate", True),
        (None, "manual", False),
        ("immediate", "manual", False),
    ],
)
def test_se_09_se_10_a_request_starts_at_once_or_when_it_is_resumed(
    wire: Wire, origin: ScriptedOrigin, of_session: str | None, of_request: str | None, starts: bool
) -> None:
    wire.call("session.create", name="own", configuration={"start": of_session} if of_session else {})
    params = {"start": of_request} if of_request else {}
    submitted = wire.call("request.submit", url=origin.url, session="own", **params)
    assert submitted["state"] == ("resumed" if starts else "initialized")
    if not starts:
        assert wire.call("request.wait", request=submitted["request"], timeout_ms=20)["finished"] is False
        assert origin.requests == []
        assert wire.call("request.resume", request=submitted["request"])["changed"] is True
    assert wire.call("request.wait", request=submitted["request"])["outcome"]["ok"]


@pytest.mark.parametrize("of_session", [False, True])
def test_se_11_eager_makes_the_request_to_send_before_it_is_resumed(
    story: Story, origin: ScriptedOrigin, of_session: bool
) -> None:
    story.call("session.create", name="own", configuration={"setup": "eager"} if of_session else {})
    params = {} if of_session else {"setup": "eager"}
    request = story.submit(origin.url, session="own", start="manual", **params)
    assert story.words() == [*MAKING, "request.did_create_task"]
    assert origin.requests == []
    story.forget()
    story.call("request.resume", request=request)
    assert story.words()[:2] == ["request.did_resume", "request.did_resume_task"]
    story.wait(request)


def test_se_11_lazy_makes_nothing_before_it_is_resumed(story: Story, origin: ScriptedOrigin) -> None:
    request = story.submit(origin.url, start="manual")
    assert story.words() == []
    story.call("request.resume", request=request)
    assert story.words()[:3] == ["request.did_resume", *MAKING]
    story.wait(request)


def test_se_20_resumed_suspended_and_resumed_again_it_is_sent_once(story: Story, origin: ScriptedOrigin) -> None:
    request = story.submit(origin.url, start="manual")
    verbs = ["resume", "suspend"] * 50 + ["resume"]
    for call in [story.wire.request(f"request.{verb}", request=request) for verb in verbs]:
        story.result(call)
    assert story.wait(request)["outcome"]["ok"]
    assert len(origin.requests) == 1
    assert story.words().count("request.did_create_task") == 1


# The defaults of a session


def test_se_12_the_session_s_interceptor_runs_first(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("session.create", name="own", configuration={"interceptor": [SET_X]})
    own = {"set_header": {"name": "X", "value": "request", "mode": "append"}}
    wire.call("request.perform", url=origin.url, session="own", interceptor=[own])
    assert origin.requests[0].values("X") == ["session", "request"]


def test_se_13_a_session_s_trust_is_that_of_its_requests(wire: Wire, authority: Authority) -> None:
    secure = ScriptedOrigin(authority.issue("se-13"))
    try:
        wire.call("session.create", name="own", configuration={"trust": {"ca_file": str(authority.ca_file)}})
        assert wire.call("request.perform", url=secure.url, session="own")["outcome"]["ok"]
        assert not wire.call("request.perform", url=secure.url)["outcome"]["ok"]
    finally:
        secure.stop()


@pytest.mark.parametrize(("own", "status"), [(None, 302), ("follow", 200)])
def test_se_14_the_request_s_redirect_handler_replaces_the_session_s(
    wire: Wire, origin: ScriptedOrigin, own: str | None, status: int
) -> None:
    url = origin.on("/moved", lambda exchange: exchange.reply(302, headers=[("Location", "/")]))
    wire.call("session.create", name="own", configuration={"redirect": "do_not_follow"})
    params = {"redirect": own} if own else {}
    assert wire.call("request.perform", url=url, session="own", **params)["response"]["status"] == status


@pytest.mark.own_daemon
def test_se_15_a_session_s_events_can_be_had_alone_and_no_monitor_is_there_by_default(
    daemon: Daemon, wire: Wire, origin: ScriptedOrigin
) -> None:
    wire.call("session.create", name="own")
    wire.call("request.perform", url=origin.url, session="own")
    assert daemon.stats()["events"]["built"] == 0
    story = Story(wire, scope="session:own")
    story.perform(origin.url)
    story.perform(origin.url, session="own")
    assert {event["session"] for event in story.events} == {"own"}


def test_se_16_the_requests_of_a_session_can_be_listed_and_told_one_by_one(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("session.create", name="own", configuration={"start": "manual"})
    made = [wire.call("request.submit", url=origin.url, session="own")["request"] for _ in range(3)]
    wire.call("request.submit", url=origin.url)
    listed = [entry["request"] for entry in wire.call("request.list", session="own")["requests"]]
    assert listed == made
    assert wire.call("session.get", session="own")["active"] == 3
    for request in listed:
        wire.call("request.resume", request=request)
        wire.call("request.wait", request=request)
    assert wire.call("session.get", session="own")["active"] == 0


def test_se_17_all_are_cancelled_at_once_and_new_ones_are_welcome(wire: Wire, origin: ScriptedOrigin) -> None:
    origin.hold("/held")
    wire.call("session.create", name="own")
    requests = [wire.call("request.submit", url=f"{origin.url}/held", session="own")["request"] for _ in range(3)]
    origin.received(3)
    assert wire.call("session.cancel_requests", session="own") == {"cancelled": 3}
    names = [failure(wire.call("request.wait", request=request)) for request in requests]
    assert names == ["explicitly_cancelled"] * 3
    assert wire.call("request.perform", url=origin.url, session="own")["outcome"]["ok"]


@pytest.mark.parametrize(("mode", "name"), [("cancel", "session_invalidated"), ("finish", None)])
def test_se_18_se_19_sd_06_a_session_that_ends(wire: Wire, origin: ScriptedOrigin, mode: str, name: str | None) -> None:
    gate = origin.hold("/held")
    wire.call("session.create", name="own")
    running = wire.call("request.submit", url=f"{origin.url}/held", session="own")["request"]
    waiting = wire.call("request.submit", url=origin.url, session="own", start="manual")["request"]
    origin.received(1)
    wire.call("session.invalidate", session="own", mode=mode)
    gate.set()
    record = wire.call("request.wait", request=running)
    assert (record["outcome"].get("error") or {}).get("name") == name
    assert failure(wire.call("request.wait", request=waiting)) == "session_invalidated"
    assert refused(wire, "request.perform", url=origin.url, session="own").name == "session.not_found"


def test_se_21_se_22_every_kind_has_its_method_unless_it_is_told_otherwise(wire: Wire, origin: ScriptedOrigin) -> None:
    methods = {"data": "GET", "upload": "POST", "download": "GET", "stream": "GET"}
    for kind in [{}, {"method": "PATCH"}, *({"kind": kind} for kind in methods)]:
        assert wire.call("request.perform", url=origin.url, **kind)["outcome"]["ok"]
    assert [request.method for request in origin.requests] == ["GET", "PATCH", *methods.values()]
    assert refused(wire, "request.perform", url=origin.url, kind="web_socket").code == -32602


def test_se_23_what_a_request_changes_holds_for_every_attempt(wire: Wire, origin: ScriptedOrigin) -> None:
    origin.hold("/held")
    policy = {"retry_policy": {"scale_ms": 1, "limit": 1}}
    record = wire.call("request.perform", url=f"{origin.url}/held", timeout_ms=50, interceptor=[policy])
    assert [attempt["error"] for attempt in record["attempts"]] == ["session_task_failed.timed_out"] * 2


@pytest.mark.parametrize("url", ["", "http://a b/", "no-scheme", "http://"])
def test_se_24_what_is_no_url(wire: Wire, url: str) -> None:
    error = wire.call("request.perform", url=url)["outcome"]["error"]
    assert (error["name"], error["details"]["url"]) == ("invalid_url", url)


def test_se_24_what_is_said_of_a_wrong_url_holds_no_password(story: Story) -> None:
    record = story.perform("http://user:secret@a b/")
    assert failure(record) == "invalid_url"
    assert "secret" not in str(record) + str(story.events)


def test_se_24_what_a_url_may_not_hold_is_percent_encoded(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("request.perform", url=f"{origin.url}/é")
    assert origin.requests[0].target == "/%C3%A9"


@pytest.mark.parametrize("text", ["x", ""])
def test_se_25_a_get_has_no_body(wire: Wire, origin: ScriptedOrigin, text: str) -> None:
    record = wire.call("request.perform", url=origin.url, body={"text": text})
    assert failure(record) == "url_request_validation_failed.body_data_in_get_request"
    assert origin.requests == []


def test_se_25_nor_has_one_that_an_adapter_has_made(story: Story, origin: ScriptedOrigin) -> None:
    story.answerers["adapt"] = lambda _: {"method": "GET"}
    record = story.perform(
        origin.url, method="POST", body={"text": "x"}, interceptor=[{"callback": {"name": "c", "handles": ["adapt"]}}]
    )
    assert failure(record) == "request_adaptation_failed"
    underlying = record["outcome"]["error"]["details"]["underlying"]["name"]
    assert underlying == "url_request_validation_failed.body_data_in_get_request"
    assert origin.requests == []


def test_se_26_the_defaults(wire: Wire, origin: ScriptedOrigin) -> None:
    configuration = wire.call("session.get")["configuration"]
    assert (configuration["timeout_ms"], configuration["resource_timeout_ms"]) == (60_000, 7 * 24 * 3_600_000)
    assert wire.call("daemon.config")["limits"]["host_connections_per_client"] == 6

    def endless(exchange: Exchange) -> None:
        exchange.reply(302, headers=[("Location", "/moved")])

    record = wire.call("request.perform", url=origin.on("/moved", endless))
    assert failure(record) == "session_task_failed.http_too_many_redirects"
    assert len(origin.requests) == 17


def test_se_27_what_can_be_configured_is_told_as_it_was_given(wire: Wire, authority: Authority) -> None:
    given = {
        "headers": [["X-A", "1"]], "languages": ["de"], "ephemeral": True, "start": "manual", "setup": "eager",
        "interceptor": ["retry_policy"], "validate": True, "timeout_ms": 1, "resource_timeout_ms": 2,
        "connect_timeout_ms": 3, "waits_for_connectivity": True, "http_version": "1.1",
        "trust": {"ca_file": str(authority.ca_file)}, "redirect": "do_not_follow", "decode": False, "max_ratio": 7,
    }  # fmt: skip
    wire.call("session.create", name="own", configuration=given)
    told = wire.call("session.get", session="own")["configuration"]
    assert {name: told[name] for name in given} == given


def test_se_28_the_daemon_tells_its_version(wire: Wire) -> None:
    assert wire.call("daemon.info")["server"]["version"].count(".") == 2
