"""Every request ends in its time, and causes no more requests than the documented maximum, whatever servers answer."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.waiting import SLOWNESS
from origins.restless import Restless
from origins.scripted import ScriptedOrigin

COUNT = int(os.environ.get("CARPOOL_TEST_ENDINGS", "300"))
SEED = int(os.environ.get("CARPOOL_TEST_SEED", "20261128"))
AT_ONCE = 50
MAXIMUM = 40
"""The requests that servers cause within an attempt, the first one included."""
ATTEMPTS = 3
LATE_SECONDS = 1.0 * SLOWNESS
"""What a busy machine may add to a time limit; benchmarks measure how well it is kept."""
CREDENTIAL = {"username": "ada", "password": "secret"}


class Restarted(ScriptedOrigin):
    """A scripted origin with one handler for every target."""

    def every(self, handler: Restless) -> None:
        self._handlers = Everywhere(handler)


class Everywhere(dict[str, Any]):
    def __init__(self, handler: Restless) -> None:
        super().__init__()
        self._handler = handler

    def get(self, _key: str, _default: Any = None) -> Any:
        return self._handler


@pytest.fixture
def restless() -> Iterator[tuple[Restarted, Restless]]:
    origin, handler = Restarted(), Restless(SEED)
    origin.every(handler)
    yield origin, handler
    handler.released.set()
    origin.stop()


def parameters(origin: ScriptedOrigin, number: int) -> dict[str, Any]:
    """A request whose settings are drawn at random."""
    dice = random.Random(f"{SEED} request {number}")
    params: dict[str, Any] = {
        "url": f"{origin.url}/{number}",
        "method": dice.choice(["GET", "GET", "HEAD", "PUT", "POST", "PATCH"]),
        "resource_timeout_ms": dice.choice([200, 500, 1_000]),
        "redirect": {"max_hops": dice.choice([0, 3, 16])},
    }
    if params["method"] not in {"GET", "HEAD"}:
        params["body"] = {"text": "body" * dice.choice([1, 10_000])}
        params["expect_continue"] = dice.choice([True, False])
    if dice.random() < 0.5:
        params["default_headers"] = False
    if dice.random() < 0.7:
        params["credential"] = CREDENTIAL | {"schemes": dice.choice([["digest"], ["basic", "digest"]])}
    if dice.random() < 0.4:
        params["url"] = f"http://origin.example/{number}"
        params["proxy"] = {"all": {"url": origin.url, **CREDENTIAL}}
    if dice.random() < 0.3:
        params["cache"] = "use_protocol"
    if dice.random() < 0.5:
        policy = {"limit": ATTEMPTS - 1, "scale_ms": dice.choice([0, 50, 5_000]), "without_validation": True}
        params["interceptor"] = [{"retry_policy": policy}]
    return params


def test_random_answers_end_in_time_and_within_the_maximum(
    daemon: Daemon, restless: tuple[Restarted, Restless]
) -> None:
    origin, handler = restless
    late = []
    with daemon.wire() as wire:
        for start in range(0, COUNT, AT_ONCE):
            calls = {}
            for number in range(start, min(start + AT_ONCE, COUNT)):
                params = parameters(origin, number)
                calls[wire.request("request.perform", params)] = (number, params, time.monotonic())
            for _ in range(len(calls)):
                answer = wire.receive()
                number, params, begun = calls[answer["id"]]
                spent = time.monotonic() - begun
                if spent > params["resource_timeout_ms"] / 1_000 + LATE_SECONDS:
                    late.append((number, round(spent, 2), params))
                assert "result" in answer, (number, params, answer)
    assert not late
    for path, count in handler.received.items():
        number = int(path.rpartition("/")[2])
        retries = ATTEMPTS if "interceptor" in parameters(origin, number) else 1
        assert count <= retries * MAXIMUM, (number, count, parameters(origin, number))


@pytest.mark.parametrize("method", ["POST", "PATCH"])
@pytest.mark.parametrize("has_default_fields", [True, False])
def test_a_post_whose_answer_did_not_arrive_is_sent_once(
    daemon: Daemon, origin: ScriptedOrigin, method: str, has_default_fields: bool
) -> None:
    """Also over a connection that was used before."""
    origin.on("/ok", lambda exchange: exchange.reply(body=b"ok"))
    url = origin.on("/gone", lambda exchange: exchange.reset())
    fields = {"default_headers": has_default_fields}
    with daemon.wire() as wire:
        assert wire.call("request.perform", url=f"{origin.url}/ok")["outcome"]["ok"]
        record = wire.call("request.perform", url=url, method=method, body={"text": "x"}, **fields)
    assert not record["outcome"]["ok"]
    assert len([request for request in origin.requests if request.target == "/gone"]) == 1
