"""Retry policies: how often, after which delay, and for which failures."""

from __future__ import annotations

from email.utils import formatdate
from typing import Any

import carpool
import pytest
from harness.wire import RemoteError, Wire
from origins.failing import FailingPath
from origins.scripted import Exchange, ScriptedOrigin

STATUS_FAILURE = "response_validation_failed.unacceptable_status_code"


def policy(**options: Any) -> list[Any]:
    """A retry policy that does not wait."""
    return [{"retry_policy": {"scale_ms": 0, **options}}]


def assert_gaps(path: FailingPath, expected_ms: list[float]) -> None:
    """Never earlier than agreed; later by the time that a busy machine takes."""
    assert len(path.gaps_ms) == len(expected_ms)
    for gap, expected in zip(path.gaps_ms, expected_ms, strict=True):
        # A timer counts whole milliseconds from a point in time between two of the origin's.
        assert expected - 2 <= gap <= expected * 5 + 500, path.gaps_ms


def perform(client: carpool.Client, url: str, **options: Any) -> dict[str, Any]:
    record: dict[str, Any] = client.call("request.perform", url=url, **options)
    return record


# How often and when


def test_rt_01_a_request_is_sent_again_twice(client: carpool.Client, origin: ScriptedOrigin) -> None:
    path = FailingPath(origin, 500)
    record = perform(client, path.url, interceptor=policy(), validate=True)
    assert record["outcome"]["error"]["name"] == STATUS_FAILURE
    assert record["outcome"]["error"]["details"]["code"] == 500
    assert path.hits == len(record["attempts"]) == 3


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_rt_01_another_limit(client: carpool.Client, origin: ScriptedOrigin, limit: int) -> None:
    path = FailingPath(origin, 500)
    perform(client, path.url, interceptor=policy(limit=limit), validate=True)
    assert path.hits == limit + 1


def test_rt_01_no_request_is_sent_more_than_a_hundred_times(client: carpool.Client, origin: ScriptedOrigin) -> None:
    path = FailingPath(origin, 500)
    perform(client, path.url, interceptor=policy(limit=1000), validate=True)
    assert path.hits == 100


@pytest.mark.parametrize("base", [0, 1, -2, 2.5])
def test_rt_02_a_base_under_two_is_refused(wire: Wire, origin: ScriptedOrigin, base: float) -> None:
    with pytest.raises(RemoteError) as caught:
        wire.call("request.perform", url=origin.url, interceptor=[{"retry_policy": {"base": base}}])
    assert caught.value.code == -32602
    assert caught.value.error["data"]["path"].endswith("retry_policy.base")
    assert origin.requests == []


def test_rt_02_another_base_and_scale(client: carpool.Client, origin: ScriptedOrigin) -> None:
    path = FailingPath(origin, 500)
    perform(client, path.url, interceptor=[{"retry_policy": {"base": 3, "scale_ms": 50}}], validate=True)
    assert_gaps(path, [50, 150])


def test_rt_03_the_first_delay_is_half_a_second(client: carpool.Client, origin: ScriptedOrigin) -> None:
    path = FailingPath(origin, 500, 200)
    assert client.get(path.url, interceptor=["retry_policy"], validate=True).status_code == 200
    assert_gaps(path, [500])


def test_rt_04_delays_double(client: carpool.Client, origin: ScriptedOrigin) -> None:
    path = FailingPath(origin, 500)
    perform(client, path.url, interceptor=policy(limit=4, scale_ms=20), validate=True)
    assert_gaps(path, [20, 40, 80, 160])


def test_rt_04_a_request_that_waits_for_its_next_attempt_can_be_cancelled(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    path = FailingPath(origin, 500)
    client.subscribe(["request.did_complete_task"])
    request = client.submit("GET", path.url, interceptor=policy(scale_ms=60_000), validate=True)
    next(client.notifications(timeout=20))
    assert client.cancel(request)
    error = client.wait(request, timeout=20).error
    assert error is not None
    assert error.name == "explicitly_cancelled"
    assert path.hits == 1


# Which methods and failures

IDEMPOTENT = ["DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"]


def test_rt_05_only_methods_that_may_be_sent_twice(client: carpool.Client, origin: ScriptedOrigin) -> None:
    retried = []
    for method in [*IDEMPOTENT, "POST", "PATCH", "QUERY", "get"]:
        path = FailingPath(origin, 500)
        perform(client, path.url, method=method, interceptor=policy(), validate=True)
        if path.hits == 3:
            retried.append(method)
    assert retried == IDEMPOTENT


def test_rt_05_other_methods_by_name(client: carpool.Client, origin: ScriptedOrigin) -> None:
    hits = {}
    for method in ("POST", "GET"):
        path = FailingPath(origin, 500)
        perform(client, path.url, method=method, interceptor=policy(methods=["POST"]), validate=True)
        hits[method] = path.hits
    assert hits == {"POST": 3, "GET": 1}


def test_rt_05_the_method_is_the_adapted_one(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.register("put", adapt=lambda _: carpool.Changes(method="PUT"))
    path = FailingPath(origin, 500)
    interceptor = [{"callback": {"name": "put"}}, *policy()]
    perform(client, path.url, method="POST", interceptor=interceptor, validate=True)
    assert [request.method for request in origin.requests] == ["PUT"] * 3


def statuses_that_are_retried(client: carpool.Client, origin: ScriptedOrigin, **options: Any) -> list[int]:
    retried = []
    for status in range(400, 600):
        path = FailingPath(origin, status, 200)
        perform(client, path.url, interceptor=policy(**options), validate=True)
        if path.hits == 2:
            retried.append(status)
    return retried


def test_rt_06_five_statuses_are_worth_another_try(client: carpool.Client, origin: ScriptedOrigin) -> None:
    assert statuses_that_are_retried(client, origin) == [408, 500, 502, 503, 504]


def test_rt_06_with_retry_after_429_is_too(client: carpool.Client, origin: ScriptedOrigin) -> None:
    retried = statuses_that_are_retried(client, origin, respect_retry_after=True)
    assert retried == [408, 429, 500, 502, 503, 504]


def test_rt_06_other_statuses_by_number(client: carpool.Client, origin: ScriptedOrigin) -> None:
    assert statuses_that_are_retried(client, origin, statuses=[404, 418]) == [404, 418]


def silence(exchange: Exchange) -> None:
    exchange.wait_for_peer_to_close()


@pytest.mark.parametrize(
    ("name", "code"), [("timed_out", -1001), ("network_connection_lost", -1005)], ids=["timeout", "half-closed"]
)
def test_rt_07_failures_of_the_network_that_pass(
    client: carpool.Client, origin: ScriptedOrigin, name: str, code: int
) -> None:
    url = origin.on("/silent", silence) if name == "timed_out" else FailingPath(origin, 0).url
    record = perform(client, url, interceptor=policy(), timeout_ms=40)
    assert record["outcome"]["error"]["name"] == f"session_task_failed.{name}"
    assert record["outcome"]["error"]["url_error_code"] == code
    assert len(origin.requests) == len(record["attempts"]) == 3


def test_rt_07_a_refused_connection_passes(client: carpool.Client) -> None:
    record = perform(client, "http://127.0.0.1:1/", interceptor=policy())
    assert record["outcome"]["error"]["url_error_code"] == -1004
    assert len(record["attempts"]) == 3


def test_rt_07_what_does_not_pass(client: carpool.Client, origin: ScriptedOrigin) -> None:
    record = perform(client, "http://a b", interceptor=policy())
    assert record["outcome"]["error"]["name"] == "invalid_url"
    assert len(record["attempts"]) == 1
    url = origin.on("/loop", lambda exchange: exchange.reply(302, headers=[("Location", "/loop")]))
    record = perform(client, url, interceptor=policy(), redirect={"max_hops": 1})
    assert record["outcome"]["error"]["url_error_code"] == -1007
    assert len(record["attempts"]) == 1


@pytest.mark.parametrize("codes", [["cannot_connect_to_host"], [-1004], ["timed_out"], []])
def test_rt_07_other_failures_by_name_or_number(client: carpool.Client, codes: list[Any]) -> None:
    record = perform(client, "http://127.0.0.1:1/", interceptor=policy(codes=codes))
    assert len(record["attempts"]) == (1 if codes in ([], ["timed_out"]) else 3)


def test_rt_07_a_failure_that_nobody_knows_is_refused(wire: Wire) -> None:
    with pytest.raises(RemoteError) as caught:
        wire.call("request.perform", url="http://a.test", interceptor=policy(codes=["timed_outt"]))
    assert caught.value.code == -32602
    assert caught.value.error["data"]["did_you_mean"] == "timed_out"


def test_rt_08_the_method_decides_before_the_status(client: carpool.Client, origin: ScriptedOrigin) -> None:
    path = FailingPath(origin, 503)
    perform(client, path.url, method="POST", interceptor=policy(), validate=True)
    assert path.hits == 1


def test_rt_08_an_error_counts_where_the_status_does_not(client: carpool.Client, origin: ScriptedOrigin) -> None:
    """A response with status 200 whose body breaks off."""
    path = FailingPath(origin, 0, 200)
    assert client.get(path.url, interceptor=policy(), validate=True).status_code == 200
    assert path.hits == 2


def test_rt_08_an_error_inside_another_counts(client: carpool.Client, origin: ScriptedOrigin) -> None:
    """The token endpoint cannot be reached: the adaptation fails for a transient reason."""
    credential = {"access_token": "x", "refresh_token": "y", "expires_in_ms": 0}
    oauth2 = {"oauth2": {"token_url": "http://127.0.0.1:1/", "credential": credential}}
    record = perform(client, origin.url, interceptor=[oauth2, *policy(limit=1)])
    error = record["outcome"]["error"]
    assert error["name"] == "request_adaptation_failed"
    assert error["details"]["underlying"]["details"]["underlying"]["url_error_code"] == -1004
    assert len(record["attempts"]) == 2
    assert origin.requests == []


# Which responses are failures


def test_rt_09_a_status_is_no_failure_unless_something_says_so(client: carpool.Client, origin: ScriptedOrigin) -> None:
    path = FailingPath(origin, 500)
    record = perform(client, path.url, interceptor=policy())
    assert record["outcome"]["ok"]
    assert path.hits == 1


def test_rt_09_the_policy_itself_may_say_so(client: carpool.Client, origin: ScriptedOrigin) -> None:
    path = FailingPath(origin, 500)
    record = perform(client, path.url, interceptor=policy(without_validation=True))
    assert record["outcome"]["error"]["name"] == STATUS_FAILURE
    assert path.hits == 3
    assert perform(client, FailingPath(origin, 404).url, interceptor=policy(without_validation=True))["outcome"]["ok"]


def test_rt_10_the_status_counts_whatever_the_failure(client: carpool.Client, origin: ScriptedOrigin) -> None:
    hits = {}
    for status in (503, 200):
        path = FailingPath(origin, status, body=b"{")
        record = perform(client, path.url, interceptor=policy(), serialize="json")
        error = record["outcome"]["error"]
        assert error["name"] == "response_serialization_failed.json_serialization_failed"
        hits[status] = path.hits
    assert hits == {503: 3, 200: 1}


def test_rt_11_connection_lost_is_for_lost_connections_alone(client: carpool.Client, origin: ScriptedOrigin) -> None:
    lost, unavailable = FailingPath(origin, 0, path="/lost"), FailingPath(origin, 503, path="/unavailable")
    interceptor = [{"connection_lost": {"scale_ms": 0}}]
    perform(client, lost.url, interceptor=interceptor, validate=True)
    perform(client, unavailable.url, interceptor=interceptor, validate=True)
    refused = perform(client, "http://127.0.0.1:1/", interceptor=interceptor)
    assert (lost.hits, unavailable.hits, len(refused["attempts"])) == (3, 1, 1)
    posted = FailingPath(origin, 0)
    perform(client, posted.url, method="POST", interceptor=interceptor)
    assert posted.hits == 1


# Additions to Alamofire


def test_f_24_retry_after_is_the_least_delay(client: carpool.Client, origin: ScriptedOrigin) -> None:
    """In seconds and as a date, and no longer than allowed."""
    for value, delay in (("60", 80), (formatdate(4_000_000_000, usegmt=True), 80), ("0", 0), ("soon", 0)):
        path = FailingPath(origin, 429, 200, headers=[("Retry-After", value)])
        options = policy(respect_retry_after=True, max_delay_ms=80, jitter=1)
        assert client.get(path.url, interceptor=options, validate=True).status_code == 200
        assert_gaps(path, [delay])


def test_f_24_retry_after_counts_only_if_it_is_to(client: carpool.Client, origin: ScriptedOrigin) -> None:
    path = FailingPath(origin, 503, 200, headers=[("Retry-After", "60")])
    assert client.get(path.url, interceptor=policy(), validate=True).status_code == 200


def test_f_24_no_delay_is_longer_than_allowed(client: carpool.Client, origin: ScriptedOrigin) -> None:
    path = FailingPath(origin, 500)
    options = policy(limit=3, base=1000, scale_ms=30, max_delay_ms=60)
    perform(client, path.url, interceptor=options, validate=True)
    assert_gaps(path, [30, 60, 60])


@pytest.mark.parametrize("jitter", [-0.1, 1.1])
def test_f_24_jitter_is_a_part(wire: Wire, jitter: float) -> None:
    with pytest.raises(RemoteError) as caught:
        wire.call("request.perform", url="http://a.test", interceptor=policy(jitter=jitter))
    assert caught.value.code == -32602
