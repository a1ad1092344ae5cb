"""Answers of a batch that wait for the last one do not stop the connection that the last one depends on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from conftest import StartDaemon
from harness.wire import Wire
from origins.scripted import ScriptedOrigin

SMALL = {"unread_bytes": 65_536}


@pytest.fixture
def wire(start: StartDaemon) -> Iterator[Wire]:
    with start(config={"limits": SMALL}).wire() as wire:
        yield wire


def batch(first: dict[str, Any]) -> list[dict[str, Any]]:
    """Make a batch whose other answers exceed a connection's limit of unread answers."""
    others = [{"jsonrpc": "2.0", "id": n, "method": "rpc.discover"} for n in range(10)]
    return [{"jsonrpc": "2.0", "id": "first", **first}, *others]


def check(answers: list[dict[str, Any]]) -> None:
    """Check that the first call succeeded, and that the batch had reached its limit."""
    by_id = {answer["id"]: answer for answer in answers}
    assert by_id["first"]["result"]["outcome"]["ok"], by_id["first"]
    assert by_id[9]["error"]["data"]["name"] == "answers_too_large"


def test_a_large_batch_may_wait_for_a_callback_of_its_own_connection(wire: Wire, origin: ScriptedOrigin) -> None:
    origin.on("/", lambda exchange: exchange.reply(body=b"x"))
    wire.call("client.hello", callbacks=["c"])
    params = {"url": f"{origin.url}/", "validate": [{"callback": {"name": "c", "deadline_ms": 5_000}}]}
    wire.send(batch({"method": "request.perform", "params": params}))
    wire.reply(wire.question("validate"), valid=True)
    check(wire.receive())


def test_a_large_batch_may_wait_for_a_body_of_its_own_connection(wire: Wire, origin: ScriptedOrigin) -> None:
    origin.on("/", lambda exchange: exchange.reply())
    request = wire.call(
        "request.submit", url=f"{origin.url}/", method="PUT", body={"stream": True}, timeout_ms=5_000,
    )["request"]  # fmt: skip
    wire.send(batch({"method": "request.wait", "params": {"request": request}}))
    wire.call("body.put", request=request, text="content", end=True)
    check(wire.receive())


def test_a_large_batch_may_wait_for_a_call_that_comes_after_it(wire: Wire, origin: ScriptedOrigin) -> None:
    origin.on("/", lambda exchange: exchange.reply())
    request = wire.call("request.submit", url=f"{origin.url}/", start="manual", timeout_ms=5_000)["request"]
    wire.send(batch({"method": "request.wait", "params": {"request": request}}))
    wire.call("request.resume", request=request)
    check(wire.receive())
