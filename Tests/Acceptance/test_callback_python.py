"""Callbacks answered by the Python clients, blocking and asynchronous."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import carpool
import pytest
from harness.daemon import Daemon
from loops import RunLoop
from origins.scripted import ScriptedOrigin

BODY = b"the body"
CALLBACK = {"callback": {"name": "c"}}


@pytest.fixture
def url(origin: ScriptedOrigin) -> str:
    return origin.on("/good", lambda exchange: exchange.reply(body=BODY))


ALL: dict[str, Any] = {
    "interceptor": [CALLBACK],
    "redirect": CALLBACK,
    "validate": [{"status": [200]}, CALLBACK],
    "serialize": ["string", CALLBACK, {"as": "string", "preprocess": CALLBACK}],
}
SEEN = ["adapt", "retry", "adapt", "redirect", "validate", "serialize", "preprocess"]


def adapter(call: carpool.AdaptCall) -> carpool.Changes:
    return carpool.Changes(set_headers={"X-Attempt": str(call.attempt)})


def script(origin: ScriptedOrigin) -> str:
    statuses = iter([503, 302])

    def first(exchange: Any) -> None:
        status = next(statuses)
        exchange.reply(status, headers=[("Location", "/to")] if status == 302 else [])

    origin.on("/to", lambda exchange: exchange.reply(body=BODY))
    return origin.on("/from", first)


def check_all(response: carpool.Response, seen: list[str], origin: ScriptedOrigin) -> None:
    assert seen == SEEN
    assert [result["value"] for result in response.values] == ["the body", {"length": 8}, "THE BODY"]
    assert [(request.target, request.values("x-attempt")) for request in origin.requests] == [
        ("/from", ["1"]), ("/from", ["2"]), ("/to", ["2"]),
    ]  # fmt: skip


def test_the_blocking_client_answers_every_kind(client: carpool.Client, origin: ScriptedOrigin) -> None:
    seen: list[str] = []

    def note(kind: str, value: Any) -> Any:
        def handler(call: Any) -> Any:
            seen.append(kind)
            return value(call) if callable(value) else value

        return handler

    client.register(
        "c", adapt=note("adapt", adapter), retry=note("retry", 0.001), redirect=note("redirect", True),
        validate=note("validate", lambda call: call.content == BODY),
        serialize=note("serialize", lambda call: {"length": len(call.content)}),
        preprocess=note("preprocess", lambda call: call.content.upper()),
    )  # fmt: skip
    check_all(client.get(script(origin), **ALL), seen, origin)


def test_the_asynchronous_client_answers_every_kind(run_loop: RunLoop, daemon: Daemon, origin: ScriptedOrigin) -> None:
    seen: list[str] = []

    def note(kind: str, value: Any) -> Any:
        async def handler(call: Any) -> Any:
            await asyncio.sleep(0)
            seen.append(kind)
            return value(call) if callable(value) else value

        return handler

    async def talk() -> carpool.Response:
        async with carpool.AsyncClient(daemon.socket) as client:
            await client.register(
                "c", adapt=note("adapt", adapter), retry=note("retry", True), redirect=note("redirect", None),
                validate=note("validate", True),
                serialize=note("serialize", lambda call: {"length": len(call.content)}),
                preprocess=note("preprocess", lambda call: call.content.upper()),
            )  # fmt: skip
            response: carpool.Response = await client.get(script(origin), **ALL)
            return response

    check_all(run_loop(talk()), seen, origin)


def test_python_handlers_that_refuse_or_fail(client: carpool.Client, url: str) -> None:
    def refuse(_: carpool.ValidateCall) -> bool:
        raise carpool.Refuse("not this one")

    def crash(_: carpool.ValidateCall) -> bool:
        raise ValueError("s3cret")

    client.register("c", validate=refuse)
    with pytest.raises(carpool.ValidationError) as refused:
        client.get(url, validate=[CALLBACK])
    assert "not this one" in str(refused.value)
    client.register("c", validate=crash)
    with pytest.raises(carpool.RequestError) as crashed:
        client.get(url, validate=[CALLBACK])
    assert (crashed.value.name, crashed.value.details["message"]) == ("callback_failed", "ValueError")


def test_a_python_client_serves_a_session_for_others(daemon: Daemon, url: str) -> None:
    with daemon.client() as maker, daemon.client() as server:
        maker.create_session("api", {"interceptor": [{"oauth2": {**CALLBACK, "refresh_before_ms": 0}}]})
        maker.set_credential("api", carpool.Credential("old", "r", expires_in=0.001))
        server.register("c", refresh=lambda call: carpool.Credential("new", expires_in=3600))
        result: list[carpool.Response] = []
        user = threading.Thread(target=lambda: result.append(daemon_get(daemon, url)), daemon=True)
        user.start()
        while user.is_alive():
            server.serve(0.05)
        assert result[0].status_code == 200


def daemon_get(daemon: Daemon, url: str) -> carpool.Response:
    with daemon.client() as client:
        return client.get(url, session="api")
