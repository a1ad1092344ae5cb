"""What the record says about the cache, by policy and by handler (HP-01 to HP-07, CH-01 to CH-05, EM-09 to EM-11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from harness.caches import (
    SESSION,
    cache,
    entries,
    failure,
    field,
    get,
    text,
    told,
)  # fmt: skip
from harness.daemon import Daemon
from harness.story import Story
from harness.waiting import eventually
from harness.wire import Wire
from origins.pages import MAX_AGE, STALE, Page
from origins.scripted import ScriptedOrigin

pytestmark = pytest.mark.own_daemon

INVALID_PARAMS = -32602
UNAVAILABLE = "session_task_failed.resource_unavailable"


@pytest.fixture
def page(wire: Wire, origin: ScriptedOrigin) -> Page:
    """A page that is fresh for an hour, and a session with a cache."""
    cache(wire, coalesce=False)
    return Page(origin, MAX_AGE)


# MARK: Policies


def test_ch_01_ch_12_a_fresh_response_is_served_again(wire: Wire, page: Page) -> None:
    first, second = get(wire, page.url), get(wire, page.url)
    assert (text(first), text(second), page.count) == ("1", "1", 1)
    assert told(first) == ("miss", "not_stored")
    assert (first["cache"]["fwd"], first["cache"]["stored"]) == ("uri-miss", True)
    assert told(second) == ("hit", "fresh")
    assert "fwd" not in second["cache"]
    assert second["cache"]["stored"] is False
    assert field(first, "Date") == field(second, "Date")


def test_ch_12_a_hit_has_one_attempt_and_no_connection(wire: Wire, page: Page) -> None:
    records = [get(wire, page.url) for _ in range(2)]
    assert [record["metrics"]["resource_fetch_type"] for record in records] == ["network", "local_cache"]
    assert [len(record["attempts"]) for record in records] == [1, 1]
    hops = [record["attempts"][0]["metrics"] for record in records]
    assert [len(each) for each in hops] == [1, 1]
    assert isinstance(hops[0][0]["connection"], int)
    assert hops[1][0]["connection"] is None
    assert "remote" not in hops[1][0]
    assert hops[1][0]["response_body_bytes"] == 0
    assert hops[1][0]["request_header_bytes"] == 0
    assert hops[1][0]["cache"] == records[1]["cache"]


def test_hf_08_a_served_response_has_an_age(wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire)
    page = Page(origin, {"Cache-Control": "max-age=3600", "Age": "1000"})
    get(wire, page.url)
    record = get(wire, page.url)
    age = int(str(field(record, "Age")))
    assert 1_000 <= age < 1_100
    assert age * 1_000 <= record["cache"]["age_ms"] < (age + 1) * 1_000
    assert 2_500_000 < record["cache"]["ttl_ms"] <= 2_600_000


POLICIES = [
    # The policy; whether the origin is asked for a fresh entry, for a stale one, and for nothing stored.
    ("use_protocol", False, True, True),
    ("reload_ignoring_cache", True, True, True),
    ("return_cache_else_load", False, False, True),
    ("return_cache_dont_load", False, False, False),
    ("reload_revalidating", True, True, True),
    ("no_store", True, True, True),
]


@pytest.mark.parametrize(("policy", "fresh", "stale", "absent"), POLICIES)
def test_ch_06_to_ch_10_policies(
    wire: Wire, origin: ScriptedOrigin, policy: str, fresh: bool, stale: bool, absent: bool
) -> None:
    """HP-01 to HP-06, of a request and of a session."""
    cache(wire, "asks")
    cache(wire, "has", policy=policy)
    for session, params in (("asks", {"cache": policy}), ("has", {})):
        for fields, is_asked in ((MAX_AGE, fresh), (STALE, stale)):
            page = Page(origin, fields)
            text(get(wire, page.url, session, cache="use_protocol"))
            record = get(wire, page.url, session, **params)
            assert page.count == 1 + is_asked, (policy, session, fields)
            assert text(record) == str(page.count)
            assert record["cache"]["status"] in ({"miss", "bypass"} if is_asked else {"hit", "stale"})
        page = Page(origin, MAX_AGE)
        record = get(wire, page.url, session, **params)
        assert page.count == absent
        assert record["outcome"]["ok"] is absent


def test_ch_08_a_stale_entry_is_served_and_says_so(wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire)
    page = Page(origin, STALE)
    get(wire, page.url)
    record = get(wire, page.url, cache="return_cache_else_load")
    assert (text(record), told(record)) == ("1", ("stale", "any_age"))
    assert record["cache"]["ttl_ms"] <= -40_000


def test_ch_09_nothing_stored_is_an_error_and_asks_nobody(wire: Wire, origin: ScriptedOrigin) -> None:
    """HP-04: without a response, without a connection, and without a retry."""
    cache(wire)
    page = Page(origin, MAX_AGE)
    record = get(wire, page.url, cache="return_cache_dont_load", interceptor=["retry_policy"])
    assert failure(record) == UNAVAILABLE
    assert record["response"] is None
    assert origin.connections == 0
    assert record.get("retry_count", 0) == 0


def test_ch_10_a_validation_asks_with_the_tag(wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire)
    page = Page(origin, {**MAX_AGE, "ETag": '"7"'})
    get(wire, page.url)
    record = get(wire, page.url, cache="reload_revalidating")
    assert page.last.values("If-None-Match") == ['"7"']
    assert (record["response"]["status"], text(record), told(record)) == (200, "1", ("revalidated", "validated"))
    page.fields["ETag"] = '"8"'
    record = get(wire, page.url, cache="reload_revalidating")
    assert (text(record), record["cache"]["stored"], field(record, "ETag")) == ("3", True, '"8"')


def test_hp_02_a_reload_asks_other_caches_only_if_it_says_so(wire: Wire, page: Page) -> None:
    get(wire, page.url)
    get(wire, page.url, cache={"policy": "reload_ignoring_cache"})
    assert page.last.values("Cache-Control") == []
    get(wire, page.url, cache={"policy": "reload_ignoring_cache", "ignore_remote": True})
    assert page.last.values("Cache-Control") == ["no-cache"]
    assert (text(get(wire, page.url)), page.count) == ("3", 3)


def test_hp_06_no_store_neither_reads_nor_writes(wire: Wire, page: Page) -> None:
    record = get(wire, page.url, cache="no_store")
    assert "stored" not in record.get("cache", {}) or record["cache"]["stored"] is False
    assert entries(wire, session=SESSION) == []
    get(wire, page.url)
    assert (text(get(wire, page.url, cache="no_store")), text(get(wire, page.url))) == ("3", "2")


def test_hp_07_a_session_without_a_cache_has_no_member(wire: Wire, origin: ScriptedOrigin) -> None:
    wire.call("session.create", name="plain", configuration={})
    page = Page(origin, MAX_AGE)
    for number in ("1", "2"):
        record = get(wire, page.url, "plain")
        assert text(record) == number
        assert "cache" not in record


def test_ttl_ms_is_the_freshness_of_a_response_without_one(wire: Wire, origin: ScriptedOrigin) -> None:
    """It is no way around no-store."""
    cache(wire)
    silent, forbidden = Page(origin), Page(origin, {"Cache-Control": "no-store"})
    for page in (silent, forbidden):
        for _ in range(2):
            get(wire, page.url, cache={"ttl_ms": 600_000})
    assert (silent.count, forbidden.count) == (1, 2)


# MARK: Handlers


def test_ch_02_do_not_cache_stores_nothing(wire: Wire, page: Page) -> None:
    record = get(wire, page.url, cache={"handler": "do_not_cache"})
    assert record["cache"]["stored"] is False
    assert text(get(wire, page.url)) == "2"


def test_ch_03_modify_stores_another_response(wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire)
    page = Page(origin, {"X-A": "1", "X-B": "1", "ETag": '"1"'})
    modify = {"set_headers": {"X-A": "2"}, "remove_headers": ["X-B"], "ttl_ms": 600_000}
    first = get(wire, page.url, cache={"handler": {"modify": modify}})
    assert (field(first, "X-A"), field(first, "X-B")) == ("1", "1")
    second = get(wire, page.url)
    assert (field(second, "X-A"), field(second, "X-B"), page.count) == ("2", None, 1)


def test_ch_04_the_handler_of_the_request_replaces_that_of_the_session(wire: Wire, origin: ScriptedOrigin) -> None:
    """SE-14; RL-27: a request has one."""
    cache(wire, "refuses", handler="do_not_cache")
    cache(wire, "changes", handler={"modify": {"set_headers": {"X-A": "of the session"}}})
    page = Page(origin, MAX_AGE)
    get(wire, page.url, "refuses", cache={"handler": "cache"})
    assert text(get(wire, page.url, "refuses")) == "1"
    get(wire, page.url, "changes", cache={"handler": {"modify": {"set_headers": {"X-B": "of the request"}}}})
    record = get(wire, page.url, "changes")
    assert (field(record, "X-A"), field(record, "X-B")) == (None, "of the request")


CALLBACK = {"handler": {"callback": {"name": "keep"}}}


def keeping(story: Story, answer: Callable[[dict[str, Any]], Any]) -> None:
    story.answerers["cache"] = answer


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"decision": "cache"}, ("1", "1", None)),
        ({"decision": "do_not_cache"}, ("2", "2", None)),
        ({"decision": "modify", "body": {"text": "other"}, "set_headers": {"X-A": "2"}}, ("other", "1", "2")),
    ],
    ids=["cache", "do_not_cache", "modify"],
)
def test_ch_01_to_ch_03_a_client_decides(
    story: Story, page: Page, answer: dict[str, Any], expected: tuple[str, str, str | None]
) -> None:
    keeping(story, lambda _: answer)
    story.perform(page.url, session=SESSION, cache=CALLBACK, sha256=True)
    asked = story.question("cache")["params"]
    assert (asked["callback"], asked["session"], asked["response"]["status"]) == ("keep", SESSION, 200)
    assert asked["body"]["size_bytes"] == 1
    assert asked["proposed"]["storage"] in {"memory", "disk"}
    assert 3_590_000 <= asked["proposed"]["ttl_ms"] <= 3_600_000
    if answer["decision"] != "do_not_cache":
        # The answer is not waited for by the request.
        eventually(lambda: entries(story.wire, session=SESSION))
    else:
        story.call("daemon.ping")
    record = story.perform(page.url, session=SESSION, cache="use_protocol")
    body, count, value = expected
    assert (text(record), str(page.count), field(record, "X-A")) == (body, count, value)


@pytest.mark.parametrize(("on_failure", "count"), [(None, 2), ("cache", 1)])
def test_ch_05_a_client_that_does_not_answer(story: Story, page: Page, on_failure: str | None, count: int) -> None:
    callback = {"name": "keep", "deadline_ms": 1, **({"on_failure": on_failure} if on_failure else {})}
    story.perform(page.url, session=SESSION, cache={"handler": {"callback": callback}})
    story.question("cache")
    if on_failure:
        eventually(lambda: entries(story.wire, session=SESSION))
    assert text(story.perform(page.url, session=SESSION, cache="use_protocol")) == str(count)


def test_ch_05_em_11_the_event_comes_after_the_data_and_only_for_what_would_be_stored(
    story: Story, page: Page, origin: ScriptedOrigin
) -> None:
    """EM-09, EM-10, EM-05 and EM-06 come for a hit as for a response of the network."""
    other = Page(origin, {"Cache-Control": "no-store"})
    words = []
    for url in (page.url, page.url, other.url):
        record = story.perform(url, session=SESSION)
        story.until("request.did_finish", record["request"])
        words.append(story.words(record["request"]))
    will = "task.will_cache_response"
    assert [will in each for each in words] == [True, False, False]
    assert words[0].index(will) > words[0].index("task.did_receive_data")
    assert words[0].index(will) < words[0].index("task.did_complete(None)")
    assert [each for each in words[0] if each != will] == words[1]
    assert words[1] == words[2]
    event = next(event for event in story.events if event["type"] == will)["data"]
    assert (event["url"], event["status"], event["size_bytes"], event["store"]) == (page.url, 200, 1, SESSION)


def test_the_events_of_a_store(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire, coalesce=False)
    page = Page(origin, {**STALE, "ETag": '"1"'})
    with daemon.wire() as listener:
        story = Story(listener, ["cache.*"])
        get(wire, page.url)
        assert story.until("cache.stored")["data"]["url"] == page.url
        get(wire, page.url)
        assert story.until("cache.revalidated")["data"]["url"] == page.url
        get(wire, page.url, cache="return_cache_else_load")
        event = story.until("cache.hit")["data"]
        assert (event["status"], event["reason"], event["url"]) == ("stale", "any_age", page.url)
        get(wire, page.url, method="POST", body={"text": ""})
        event = story.until("cache.invalidated")["data"]
        assert (event["cause"], event["entries"]) == ("method", 1)
