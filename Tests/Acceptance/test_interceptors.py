"""Interceptors: which ones run, in which order, what each receives, and which failures reach the retriers."""

from __future__ import annotations

from typing import Any

import carpool
import pytest
from harness.wire import Wire
from origins.failing import FailingPath
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin


def callback(name: str) -> carpool.InterceptorOptions:
    return {"callback": {"name": name}}


def set_header(name: str, value: str, mode: str = "replace") -> Any:
    return {"set_header": {"name": name, "value": value, "mode": mode}}


class Retriers:
    """Retriers that record their names when they are called, and return a given answer."""

    def __init__(self, client: carpool.Client) -> None:
        self.client = client
        self.asked: list[str] = []
        self.errors: list[str] = []

    def add(self, name: str, *answers: Any) -> carpool.InterceptorOptions:
        """Register one; after its answers it returns None."""
        left = list(answers)

        def retry(call: carpool.RetryCall) -> Any:
            self.asked.append(name)
            self.errors.append(call.error.name)
            answer = left.pop(0) if left else None
            if isinstance(answer, Exception):
                raise answer
            return answer

        self.client.register(name, retry=retry)
        return callback(name)


@pytest.fixture
def retriers(client: carpool.Client) -> Retriers:
    return Retriers(client)


# Adapters


def test_ri_01_an_adapter_is_told_the_request_and_whose_it_is(client: carpool.Client, origin: ScriptedOrigin) -> None:
    calls: list[carpool.AdaptCall] = []

    def adapt(call: carpool.AdaptCall) -> carpool.Changes:
        calls.append(call)
        return carpool.Changes(set_headers={"X-Signature": (call.request.content or b"").decode()})

    client.register("sign", adapt=adapt)
    url = f"{origin.url}/signed"
    response = client.post(url, data="text", interceptor=[callback("sign")])
    (call,) = calls
    assert (call.request_id, call.session, call.attempt) == (response.request_id, "default", 1)
    assert (call.request.method, call.request.url) == ("POST", url)
    assert origin.requests[0].values("X-Signature") == ["text"]


def test_ri_01_an_adapter_that_fails_ends_the_request_before_it_is_sent(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    def adapt(_: carpool.AdaptCall) -> None:
        raise carpool.Refuse("no key")

    client.register("sign", adapt=adapt)
    with pytest.raises(carpool.RequestError) as caught:
        client.get(origin.url, interceptor=[callback("sign")])
    assert caught.value.name == "request_adaptation_failed"
    assert caught.value.details["underlying"]["name"] == "client_refused"
    assert caught.value.details["underlying"]["message"] == "no key"
    assert origin.requests == []


@pytest.mark.parametrize("interceptor", [None, [set_header("Accept", "*/*")], ["retry_policy"]])
def test_ri_03_every_interceptor_adapts_even_if_it_changes_nothing(
    wire: Wire, origin: ScriptedOrigin, interceptor: list[Any] | None
) -> None:
    wire.call("events.subscribe", types=["request.*"])
    params = {"url": origin.url} | ({} if interceptor is None else {"interceptor": interceptor})
    wire.request("request.perform", params)
    types: list[str] = []
    while not types or types[-1] != "request.did_finish":
        message = wire.receive()
        if message.get("method") == "event":
            types.append(message["params"]["type"])
    assert types.count("request.did_adapt_initial_request") == (0 if interceptor is None else 1)


def test_ri_04_each_adapter_gets_what_the_one_before_made(client: carpool.Client, origin: ScriptedOrigin) -> None:
    seen: list[list[str]] = []
    client.register("look", adapt=lambda call: seen.append(call.request.headers.get_list("X-Step")))
    interceptor = [set_header("X-Step", "1"), callback("look"), set_header("X-Step", "2"), callback("look")]
    client.get(origin.url, interceptor=interceptor)
    assert seen == [["1"], ["2"]]
    assert origin.requests[0].values("X-Step") == ["2"], "the later one wins"


def test_ri_04_the_first_adapter_that_fails_stops_the_others(client: carpool.Client, origin: ScriptedOrigin) -> None:
    asked: list[str] = []

    def fail(_: carpool.AdaptCall) -> None:
        asked.append("fail")
        raise carpool.Refuse("no")

    client.register("fail", adapt=fail)
    client.register("later", adapt=lambda _: asked.append("later"))
    with pytest.raises(carpool.RequestError):
        client.get(origin.url, interceptor=[callback("fail"), callback("later")])
    assert asked == ["fail"]


def test_ri_06_the_sessions_come_before_the_requests(client: carpool.Client, origin: ScriptedOrigin) -> None:
    order: list[str] = []

    def both(name: str) -> Any:
        client.register(
            name, adapt=lambda _: order.append(f"{name} adapts"), retry=lambda _: order.append(f"{name} retries")
        )
        return callback(name)

    client.create_session("s", {"interceptor": [both("first of session"), both("second of session")]})
    path = FailingPath(origin, 500)
    client.call("request.perform", url=path.url, session="s", interceptor=[both("request")], validate=True)
    names = ["first of session", "second of session", "request"]
    assert order == [f"{name} adapts" for name in names] + [f"{name} retries" for name in names]


def test_ri_07_adapters_of_a_request_run_in_their_order(client: carpool.Client, origin: ScriptedOrigin) -> None:
    interceptor = [set_header("X-Step", str(step), "append") for step in range(10)]
    client.get(origin.url, interceptor=interceptor)
    assert origin.requests[0].values("X-Step") == [str(step) for step in range(10)]


def test_ri_08_every_attempt_begins_with_the_fresh_request(client: carpool.Client, origin: ScriptedOrigin) -> None:
    path = FailingPath(origin, 500, 500, 200)
    client.register("count", adapt=lambda call: carpool.Changes(set_headers={"X-Attempt": str(call.attempt)}))
    interceptor = [set_header("X-Once", "1", "append"), callback("count"), {"retry_policy": {"scale_ms": 0}}]
    assert client.get(path.url, interceptor=interceptor, validate=True).status_code == 200
    assert [request.values("X-Attempt") for request in origin.requests] == [["1"], ["2"], ["3"]]
    assert [request.values("X-Once") for request in origin.requests] == [["1"]] * 3


# Retriers


@pytest.mark.parametrize(
    ("answers", "hits", "name"),
    [
        ([True], 2, None),
        ([0.02], 2, None),
        ([None], 1, "response_validation_failed.unacceptable_status_code"),
        ([False], 1, "response_validation_failed.unacceptable_status_code"),
        ([carpool.Refuse("enough")], 1, "request_retry_failed"),
    ],
    ids=["at once", "later", "no opinion", "no", "no, because"],
)
def test_ri_02_what_a_retrier_may_answer(
    origin: ScriptedOrigin, retriers: Retriers, answers: list[Any], hits: int, name: str | None
) -> None:
    path = FailingPath(origin, 500, 200)
    patience = retriers.add("patience", *answers)
    try:
        response = retriers.client.get(path.url, interceptor=[patience], validate=True)
        assert response.status_code == 200
        assert name is None
    except carpool.RequestError as error:
        assert error.name == name
        if name == "request_retry_failed":
            assert error.details["retry_error"]["message"] == "enough"
            original = error.details["original_error"]
            assert original["name"] == "response_validation_failed.unacceptable_status_code"
            assert original["details"]["code"] == 500
    assert path.hits == hits
    assert path.gaps_ms == [] or answers[0] is True or path.gaps_ms[0] >= 20


def test_ri_02_a_retrier_is_told_how_often_and_why(client: carpool.Client, origin: ScriptedOrigin) -> None:
    path = FailingPath(origin, 500, 503, 200, headers=[("X-Why", "maintenance")])
    calls: list[carpool.RetryCall] = []

    def retry(call: carpool.RetryCall) -> bool:
        calls.append(call)
        return True

    client.register("patience", retry=retry)
    response = client.get(path.url, interceptor=[callback("patience")], validate=True)
    assert [call.retry_count for call in calls] == [0, 1]
    assert [call.request_id for call in calls] == [response.request_id] * 2
    assert [call.response.status_code for call in calls if call.response] == [500, 503]
    assert [call.response.headers["x-why"] for call in calls if call.response] == ["maintenance"] * 2


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        (([None], [True]), ["first", "second"]),
        (([True], [None]), ["first"]),
        (([0.001], [None]), ["first"]),
        (([carpool.Refuse("no")], [True]), ["first"]),
    ],
    ids=["no opinion", "retry", "retry later", "refuse"],
)
def test_ri_05_retriers_are_asked_until_one_decides(
    origin: ScriptedOrigin, retriers: Retriers, answers: tuple[list[Any], list[Any]], asked: list[str]
) -> None:
    path = FailingPath(origin, 500, 200)
    chain = [retriers.add("first", *answers[0]), retriers.add("second", *answers[1])]
    retriers.client.call("request.perform", url=path.url, interceptor=chain, validate=True)
    assert retriers.asked == asked


# Which failures reach the retriers


def failure(retriers: Retriers, expected: str, count: int = 1, **options: Any) -> None:
    """Perform; the retrier retries at first and then does not, so it is called once for each attempt."""
    client = retriers.client
    client.register("refuse", adapt=refuse)
    record = client.call("request.perform", **options)
    assert record["outcome"]["error"]["name"] == expected
    assert retriers.errors == [expected] * (count + 1)
    assert len(record["attempts"]) == count + 1


def refuse(_: carpool.AdaptCall) -> None:
    raise carpool.Refuse("no")


def test_ri_10_a_url_that_is_none(retriers: Retriers) -> None:
    chain = [retriers.add("again", True)]
    failure(retriers, "invalid_url", url="http://a b", interceptor=chain)


def test_ri_10_a_body_that_a_get_must_not_have(retriers: Retriers, origin: ScriptedOrigin) -> None:
    name = "url_request_validation_failed.body_data_in_get_request"
    chain = [retriers.add("again", True)]
    failure(retriers, name, url=origin.url, body={"text": "x"}, interceptor=chain)
    assert origin.requests == []


def test_ri_10_an_adapter_that_fails(retriers: Retriers, origin: ScriptedOrigin) -> None:
    chain = [callback("refuse"), retriers.add("again", True)]
    failure(retriers, "request_adaptation_failed", url=origin.url, interceptor=chain)


def test_ri_10_a_transfer_that_fails(retriers: Retriers) -> None:
    chain = [retriers.add("again", True)]
    name = "session_task_failed.cannot_connect_to_host"
    failure(retriers, name, url="http://127.0.0.1:1/", interceptor=chain)


def test_ri_10_a_server_that_is_not_trusted(retriers: Retriers, nginx: Nginx) -> None:
    chain = [retriers.add("again", True)]
    name = "session_task_failed.server_certificate_has_unknown_root"
    failure(retriers, name, url=nginx.https, interceptor=chain)


def test_ri_10_a_response_that_is_not_accepted(retriers: Retriers, origin: ScriptedOrigin) -> None:
    chain = [retriers.add("again", True)]
    name = "response_validation_failed.unacceptable_status_code"
    failure(retriers, name, url=FailingPath(origin, 500).url, interceptor=chain, validate=True)


def test_ri_10_a_body_that_has_no_value(retriers: Retriers, origin: ScriptedOrigin) -> None:
    chain = [retriers.add("again", True)]
    name = "response_serialization_failed.json_serialization_failed"
    url = FailingPath(origin, 200, body=b"{").url
    failure(retriers, name, url=url, interceptor=chain, serialize="json")


def test_ri_10_not_a_failure_that_was_let_pass_once(retriers: Retriers, origin: ScriptedOrigin) -> None:
    """A serializer does not call the retriers again for a failure that they did not retry."""
    chain = [retriers.add("again")]
    url = FailingPath(origin, 500, body=b"{").url
    name = "response_validation_failed.unacceptable_status_code"
    failure(retriers, name, 0, url=url, interceptor=chain, validate=True, serialize="json")


def test_ri_10_not_a_success(retriers: Retriers, origin: ScriptedOrigin) -> None:
    retriers.client.get(origin.url, interceptor=[retriers.add("again", True)], validate=True, serialize="string")
    assert retriers.asked == []


def test_ri_10_not_a_cancelled_request(retriers: Retriers, origin: ScriptedOrigin) -> None:
    origin.hold("/held")
    client = retriers.client
    request = client.submit("GET", f"{origin.url}/held", interceptor=[retriers.add("again", True)])
    origin.received(1, "/held")
    client.cancel(request)
    error = client.wait(request).error
    assert error is not None
    assert error.name == "explicitly_cancelled"
    assert retriers.asked == []
