"""Every request ends in its time, and causes no more requests than the documented maximum, whatever servers answer."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.waiting import SLOWNESS
from origins.peer import StartPeer
from origins.restless import Restless, RestlessFrames
from origins.scripted import ScriptedOrigin

COUNT = int(os.environ.get("CARPOOL_TEST_ENDINGS", "300"))
SEED = int(os.environ.get("CARPOOL_TEST_SEED", "20261128"))
AT_ONCE = 50
BATCH = 300
BATCHES = pytest.mark.parametrize("batch", range(-(-COUNT // BATCH)))
MAXIMUM = 40
"""The requests that servers cause within an attempt, the first one included."""
ATTEMPTS = 3
REFUSALS = 5
LATE_SECONDS = float(os.environ.get("CARPOOL_TEST_LATE", "1")) * SLOWNESS
"""What a busy machine may add to a time limit; on an idle one 0.1 is enough."""
CREDENTIAL = {"username": "ada", "password": "secret"}


@pytest.fixture
def restless(origin: ScriptedOrigin) -> Iterator[Restless]:
    origin.handler = handler = Restless(SEED)
    yield handler
    handler.released.set()


@pytest.fixture
def restless_frames(peer: StartPeer) -> Iterator[tuple[dict[str, Any], RestlessFrames]]:
    handler = RestlessFrames(SEED)
    yield peer(handler, tls=True, protocols=("h2",)), handler
    handler.released.set()


def parameters(base: str, number: int, **given: Any) -> dict[str, Any]:
    """A request whose settings are drawn at random."""
    dice = random.Random(f"{SEED} request {number}")
    params: dict[str, Any] = {
        "url": f"{base}/{number}",
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
    if base.startswith("http:") and dice.random() < 0.4:
        params["url"] = f"http://origin.example/{number}"
        params["proxy"] = {"all": {"url": base, **CREDENTIAL}}
    if dice.random() < 0.3:
        params["cache"] = "use_protocol"
    if dice.random() < 0.5:
        policy = {"limit": ATTEMPTS - 1, "scale_ms": dice.choice([0, 50, 5_000]), "without_validation": True}
        params["interceptor"] = [{"retry_policy": policy}]
    return params | given


def send_all(daemon: Daemon, base: str, batch: int, received: Counter[str], most: int, **given: Any) -> None:
    """Send requests; each ends in its time, and causes at most so many requests in each of its attempts."""
    late = []
    with daemon.wire() as wire:
        end = min(COUNT, (batch + 1) * BATCH)
        for start in range(batch * BATCH, end, AT_ONCE):
            calls = {}
            for number in range(start, min(start + AT_ONCE, end)):
                params = parameters(base, number, **given)
                calls[wire.request("request.perform", params)] = (number, params, time.monotonic())
            for _ in range(len(calls)):
                answer = wire.receive()
                number, params, begun = calls[answer["id"]]
                spent = time.monotonic() - begun
                if spent > params["resource_timeout_ms"] / 1_000 + LATE_SECONDS:
                    late.append((number, round(spent, 2), params))
                # 1204: a slow machine may not have opened the file with the authorities in time.
                assert "result" in answer or answer["error"]["code"] == 1204, (number, params, answer)
    assert not late
    for path, count in received.items():
        params = parameters(base, int(path.rpartition("/")[2]))
        attempts = ATTEMPTS if "interceptor" in params else 1
        assert count <= attempts * most, (count, params)


@BATCHES
def test_random_answers_end_in_time_and_within_the_maximum(
    daemon: Daemon, origin: ScriptedOrigin, restless: Restless, batch: int
) -> None:
    send_all(daemon, origin.url, batch, restless.received, MAXIMUM)


@BATCHES
def test_random_frames_end_in_time_and_within_the_maximum(
    daemon: Daemon, restless_frames: tuple[dict[str, Any], RestlessFrames], batch: int
) -> None:
    """libcurl sends a stream that was refused again, up to five times for each of the requests."""
    peer, handler = restless_frames
    base = f"https://127.0.0.1:{peer['port']}"
    send_all(daemon, base, batch, handler.received, MAXIMUM * (1 + REFUSALS), trust=peer["trust"])


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
