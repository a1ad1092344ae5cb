"""The daemon matches its catalogue: every example runs, every answer and event is as described."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
from conftest import StartDaemon
from harness.daemon import CARPOOLD, Daemon
from harness.wire import Wire
from jsonschema import Draft7Validator
from origins.scripted import Exchange, ScriptedOrigin

Json = dict[str, Any]


@pytest.fixture
def daemon(start: StartDaemon) -> Daemon:
    """A daemon with the cache that it has by default."""
    return start()


def document() -> Json:
    """The result of rpc.discover, without a daemon."""
    done = subprocess.run([CARPOOLD, "--openrpc"], check=True, capture_output=True)
    found: Json = json.loads(done.stdout)
    return found


def closed(schema: Any) -> Any:
    """The schema of this version: members without a description may come later, but must not exist today."""
    if isinstance(schema, list):
        return [closed(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(inner) for name, inner in schema.items()}
    if found.get("type") == "object" and found.get("properties"):
        found.setdefault("additionalProperties", False)
    return found


def check(value: Any, schema: Json, components: Json) -> None:
    """Fail if a value is not as described, or has members that are not described."""
    errors = Draft7Validator({"allOf": [schema], "components": components}).iter_errors(value)
    assert [error.message for error in errors] == []


# Members that an answer has on some machines only: there are many limits, and networks differ.
ELSEWHERE = {"limits", "interface", "network_id", "gateway", "source", "reason", "connection_type"}


def shows(example: Any, answer: Any) -> bool:
    """Whether an answer has the members of an example, of the same kinds."""
    if isinstance(example, dict):
        return isinstance(answer, dict) and all(
            name in answer and shows(value, answer[name]) for name, value in example.items() if name not in ELSEWHERE
        )
    if isinstance(example, list):
        return isinstance(answer, list)
    return example is None or answer is None or type(example) is type(answer)


def examples() -> list[Any]:
    return [
        pytest.param(method, example, id=f"{method['name']}: {example['name']}")
        for method in document()["methods"]
        for example in method["examples"]
    ]


# A session whose credential can be set, and that has cookies.
OAUTH = {"interceptor": [{"oauth2": {"token_url": "http://127.0.0.1:1/token"}}], "cookies": {}}


class Placeholders:
    """The values for the names in examples; each is made when an example needs it."""

    def __init__(self, daemon: Daemon, wire: Wire, origin: ScriptedOrigin, stack: ExitStack) -> None:
        origin.on("/hello", lambda exchange: exchange.reply(body=b"hello\n"))
        self._port = origin.port
        self._makers: dict[str, Callable[[], str]] = {
            "origin": lambda: origin.url,
            "request": lambda: self._request(wire, origin),
            "stream": lambda: str(
                wire.call("request.submit", url=f"{origin.url}/hello", body={"stream": True})["request"]
            ),
            "streamed": lambda: str(wire.call("request.submit", url=f"{origin.url}/hello", kind="stream")["request"]),
            "session": lambda: str(wire.call("session.create", name="example", configuration=OAUTH)["session"]),
            "client": lambda: str(stack.enter_context(daemon.wire()).call("client.hello")["client"]),
            "raw": lambda: str(
                wire.call("stream.open", host="127.0.0.1", port=origin.port, tls=False)["stream"],
            ),
            "sub": lambda: str(wire.call("events.subscribe")["sub"]),
        }

    @staticmethod
    def _request(wire: Wire, origin: ScriptedOrigin) -> str:
        name = wire.call("request.submit", url=f"{origin.url}/hello")["request"]
        assert wire.call("request.wait", request=name)["outcome"]["ok"]
        return str(name)

    def fill(self, params: Json) -> Json:
        text = json.dumps(params)
        for name, make in self._makers.items():
            if "${" + name + "}" in text:
                text = text.replace("${" + name + "}", make())
        filled: Json = json.loads(text)
        if filled.get("host") == "echo.example.com":
            filled |= {"host": "127.0.0.1", "port": self._port}
        return filled


@pytest.mark.parametrize(("method", "example"), examples())
def test_an_example_runs(method: Json, example: Json, daemon: Daemon, origin: ScriptedOrigin) -> None:
    with ExitStack() as stack:
        wire = stack.enter_context(daemon.wire())
        params = {param["name"]: param["value"] for param in example["params"]}
        filled = Placeholders(daemon, wire, origin, stack).fill(params)
        answer = wire.result(wire.request(method["name"], filled))
        components = document()["components"]
        check(answer, method["result"]["schema"], components)
        if method["name"] != "rpc.discover":
            check(answer, closed(method["result"]["schema"]), closed(components))
        assert shows(example["result"]["value"], answer), answer


def test_errors_are_as_described(daemon: Daemon) -> None:
    described = {error["name"]: error for error in document()["x-errors"]}
    calls: list[tuple[str, Json]] = [
        ("no.method", {}),
        ("daemon.ping", {"x": 1}),
        ("client.hello", {"protocol": [7]}),
        ("client.hello", {"required": ["time-travel"]}),
        ("client.disconnect", {"client": "c-0"}),
        ("request.get", {"request": "r_none"}),
        ("request.perform", {"url": "http://a/", "session": "none"}),
        ("request.perform", {"url": "http://a/", "body": {"file": "/nowhere/at/all"}}),
        ("session.invalidate", {"session": "default"}),
    ]
    with daemon.wire() as wire:
        for method, params in calls:
            error = wire.answer(wire.request(method, params))["error"]
            known = described[error["data"]["name"]]
            assert (error["code"], error["data"]["retryable"]) == (known["code"], known["retryable"])
            members = {member["name"]: member for member in known["members"]}
            required = {name for name, member in members.items() if member["required"]}
            extra = error["data"].keys() - {"name", "retryable", "hint"}
            assert required <= extra <= members.keys(), error


def tagged(fields: list[tuple[str, str]]) -> Callable[[Exchange], None]:
    """A page with these fields, and 304 for a request that has its tag."""
    return lambda exchange: exchange.reply(304 if exchange.request.values("if-none-match") else 200, b"", fields)


def test_events_are_as_described(daemon: Daemon, origin: ScriptedOrigin) -> None:
    origin.on("/hello", lambda exchange: exchange.reply(body=b"hello\n"))
    origin.on("/away", lambda exchange: exchange.reply(302, headers=[("Location", "/hello")]))
    for path in ("/fresh", "/stale"):
        fields = [("Cache-Control", "max-age=60" if path == "/fresh" else "max-age=0"), ("ETag", '"1"')]
        origin.on(path, tagged(fields))
    found = document()
    event = next(notification for notification in found["x-notifications"] if notification["name"] == "event")
    kinds = {kind["name"]: kind["data"] for kind in event["types"]}
    components = closed(found["components"])
    with daemon.wire() as listener, daemon.wire() as wire:
        listener.call("events.subscribe", scope="all")
        redirected = {"url": f"{origin.url}/away", "method": "POST", "body": {"text": "x"}}
        wire.result(wire.request("request.perform", redirected))
        wire.call("request.perform", url="http://127.0.0.1:1/")
        wire.call("session.create", name="gone")
        wire.call("session.invalidate", session="gone")
        for path in ("/fresh", "/fresh", "/stale", "/stale"):
            wire.call("request.perform", url=f"{origin.url}{path}")
        wire.call("cache.purge", all=True)
        wire.call("pool.flush")
        wire.call("daemon.config_reload")
        listener.request("daemon.ping")
        seen = set()
        while (message := listener.receive()).get("method") == "event":
            check(message["params"], closed(event["params"]), components)
            check(message["params"]["data"], closed(kinds[message["params"]["type"]]), components)
            seen.add(message["params"]["type"])
    assert {"request.did_finish", "task.will_redirect", "pool.connection_opened", "session.did_become_invalid"} <= seen
    cached = {"stored", "hit", "revalidated", "invalidated"}
    assert {"task.will_cache_response"} | {f"cache.{kind}" for kind in cached} <= seen


@pytest.mark.parametrize("serializer", ["bytes", "text", "lines", "json_lines", "sse"])
def test_data_is_as_described(daemon: Daemon, origin: ScriptedOrigin, serializer: str) -> None:
    url = origin.on("/mixed", lambda exchange: exchange.reply(body=b'{"a": 1}\nnone\ndata: a\nid: 1\nretry: 5\n\n'))
    found = document()
    data = next(notification for notification in found["x-notifications"] if notification["name"] == "request.data")
    components = closed(found["components"])
    with daemon.wire() as wire:
        request = wire.call("request.submit", url=url, kind="stream")["request"]
        wire.request("request.attach", {"request": request, "as": serializer, "credit_bytes": 1 << 20})
        while "complete" not in (message := wire.receive()).get("params", {}):
            if message.get("method") == "request.data":
                check(message["params"], closed(data["params"]), components)
        check(message["params"], closed(data["params"]), components)


def test_the_daemon_tells_the_same_with_and_without_a_socket(daemon: Daemon) -> None:
    assert daemon.call("rpc.discover") == document()
