"""The exchanges of the adapters with a daemon that does not do what it should."""

from __future__ import annotations

from typing import Any

import pytest
from both_clients import Start
from daemon import record
from loops import RunLoop

from carpool import _waiting
from carpool._async.exchange import Exchange as AsyncExchange
from carpool._sync.exchange import Exchange

PARAMS = {"method": "HEAD", "url": "https://a.example/", "session": "s"}


def event(kind: str, **data: Any) -> dict[str, Any]:
    return {"method": "event", "params": {"sub": "s1", "type": kind, "request": "r_1", "data": data}}


def half(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
    """Send the head of a response without a body, and never the answer."""
    if message["method"] != "request.perform":
        return [b""]
    return [event("task.did_receive_response", response=record()["response"])]


def whole(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
    """Send the head of a response without a body, and the answer."""
    if message["method"] != "request.perform":
        return [b""]
    end: list[dict[str, Any] | bytes] = [event("subscription.closed"), {"id": message["id"], "result": record()}]
    return half(message) + end


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_waiting, "SETTLE_SECONDS", 0.1)


@pytest.mark.parametrize(("answer", "is_used_again"), [(half, False), (whole, True)])
def test_a_channel_is_used_again_only_after_the_answer(
    start: Start, monkeypatch: pytest.MonkeyPatch, answer: Any, *, is_used_again: bool
) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(start(answer).path))
    exchange = Exchange.on_new_channel()
    exchange.open(PARAMS, {})
    assert (exchange.head()["status"], exchange.read(), exchange.is_reusable) == (200, b"", True)
    following = exchange.next()
    assert (following is not None) == is_used_again
    exchange.channel.close()


@pytest.mark.parametrize(("answer", "is_used_again"), [(half, False), (whole, True)])
def test_a_channel_of_an_event_loop_is_used_again_only_after_the_answer(
    run_loop: RunLoop, start: Start, monkeypatch: pytest.MonkeyPatch, answer: Any, *, is_used_again: bool
) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(start(answer).path))

    async def run() -> None:
        exchange = AsyncExchange.on_new_channel()
        await exchange.open(PARAMS, {})
        assert ((await exchange.head())["status"], await exchange.read(), exchange.is_reusable) == (200, b"", True)
        following = await exchange.next()
        assert (following is not None) == is_used_again
        await exchange.channel.close()

    run_loop(run())
