"""Calls made from what `rpc.discover` publishes: each answer is of its schema, or an error of the published shape."""

from __future__ import annotations

import os
import random
from typing import Any

import jsonschema
from harness.daemon import Daemon
from harness.gauge import bounded_turns
from harness.generated import Generator
from harness.wire import RemoteError

SEED = int(os.environ.get("CARPOOL_TEST_SEED", "20"))
CALLS = 4_000
ENDING = {"daemon.shutdown", "daemon.drain", "client.disconnect"}
"""Methods that end the connection or the daemon."""
PATIENT = {
    "request.perform",
    "request.wait",
    "request.response",
    "request.read",
    "stream.read",
    "body.put",
    "events.next",
}
"""Methods that may wait: they are given no time, and what still waits is cancelled."""


def validators(document: dict[str, Any]) -> dict[str, Any]:
    base = {"components": document["components"]}
    return {
        method["name"]: jsonschema.Draft202012Validator(base | method["result"]["schema"])
        for method in document["methods"]
        if "result" in method
    }


def test_every_answer_is_of_its_published_schema(daemon: Daemon) -> None:
    dice = random.Random(SEED)
    with daemon.wire() as wire, bounded_turns(daemon):
        document = wire.call("rpc.discover")
        generator = Generator(document["components"]["schemas"], dice)
        checks = validators(document)
        errors = {error["code"]: error["name"] for error in document["x-errors"]}
        methods = [method for method in document["methods"] if method["name"] not in ENDING]
        answered = 0
        for _ in range(CALLS):
            method = dice.choice(methods)
            members = {param["name"]: param["schema"] for param in method["params"]}
            required = [param["name"] for param in method["params"] if param["required"]]
            params = generator.value({"type": "object", "properties": members, "required": required})
            if dice.random() < 0.4:
                params = generator.wrong(params)
            if method["name"] in PATIENT and "timeout_ms" in members:
                params["timeout_ms"] = 0
            call = wire.request(method["name"], params)
            if method["name"] in PATIENT:
                wire.send({"jsonrpc": "2.0", "method": "rpc.cancel", "params": {"id": call}})
            try:
                result = wire.result(call)
            except RemoteError as error:
                assert error.code in errors, (SEED, method["name"], params, error)
                assert error.name in errors.values(), (SEED, method["name"], params, error)
                assert error.code != -32603, (SEED, method["name"], params, error)
            else:
                answered += 1
                mismatch = next(iter(checks[method["name"]].iter_errors(result)), None)
                assert mismatch is None, (SEED, method["name"], params, mismatch)
        assert answered > CALLS // 10
        wire.call("session.cancel_requests")
    assert daemon.process.poll() is None
