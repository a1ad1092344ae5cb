"""The fake daemon of `carpool.testing` sends what the real one sends for the same exchange."""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import carpool
import pytest
from carpool.testing import FakeDaemon
from harness.doubles import DEAD, LARGE, REPLIES, differing, mock, serve
from origins.scripted import ScriptedOrigin

CONFIG = {"cache": "no_store"}
"""The fake daemon has no cache, which each record would mention."""


def perform(path: str, **params: Any) -> Callable[[carpool.Client, str], Any]:
    return lambda client, url: [client.call("request.perform", **{**params, "url": url + path})]


def dead(client: carpool.Client, _: str) -> Any:
    return [client.call("request.perform", url=DEAD)]


def invalid(client: carpool.Client, _: str) -> Any:
    return [client.call("request.perform", url="nope")]


def submitted(client: carpool.Client, url: str) -> Any:
    made = client.call("request.submit", url=f"{url}/json", method="POST", body={"text": "a"})
    name = {"request": made["request"]}
    found = [made, client.call("request.wait", **name), client.call("request.get", **name)]
    for serializer in ("json", "string", "data", "none"):
        found.append(client.call("request.response", serialize=serializer, **name))
    for method in ("request.resume", "request.cancel", "body.release", "request.dismiss"):
        found.append(client.call(method, **name))
    return found


def manual(client: carpool.Client, url: str) -> Any:
    made = client.call("request.submit", url=f"{url}/json", start="manual", tags={"a": "b"})
    name = {"request": made["request"]}
    found = [made, client.call("request.wait", timeout_ms=0, **name), client.call("request.list")]
    found += [client.call("request.resume", **name), client.call("request.wait", **name)]
    return [*found, client.call("request.dismiss", **name)]


def cancelled(client: carpool.Client, url: str) -> Any:
    made = client.call("request.submit", url=f"{url}/json", start="manual")
    name = {"request": made["request"]}
    found = [client.call("request.cancel", **name), client.call("request.cancel", **name)]
    return [*found, client.call("request.wait", **name), client.call("request.get", **name)]


def held(client: carpool.Client, url: str) -> Any:
    made = client.call("request.perform", url=f"{url}/json", hold_for_headers=True)
    name = {"request": made["request"]}
    found = [made, client.call("request.wait", timeout_ms=0, **name), client.call("request.resume", **name)]
    return [*found, client.call("request.wait", **name)]


def held_and_cancelled(client: carpool.Client, url: str) -> Any:
    made = client.call("request.perform", url=f"{url}/large", hold_for_headers=True)
    name = {"request": made["request"]}
    return [client.call("request.cancel", **name), client.call("request.wait", **name)]


def pieces(client: carpool.Client, url: str) -> Any:
    made = client.call("request.submit", url=f"{url}/echo", method="PUT", body={"stream": True})
    name = {"request": made["request"]}
    found = [client.call("body.put", base64="YWI=", **name), client.call("body.put", text="c", end=True, **name)]
    return [*found, client.call("request.wait", **name)]


def read(client: carpool.Client, url: str) -> Any:
    made = client.call("request.perform", url=f"{url}/large")
    name = {"request": made["request"]}
    found = [made, client.call("body.read", **name), client.call("body.read", offset=204_000, **name)]
    assert Path(made["body"]["file"]).read_bytes() == LARGE
    found.append(client.call("body.release", **name))
    assert not Path(made["body"]["file"]).exists()
    return found


def stream(path: str, **options: Any) -> Callable[[carpool.Client, str], Any]:
    def scenario(client: carpool.Client, url: str) -> Any:
        with client.stream("GET", url + path, **options) as opened:
            found = [opened.head.record]
            with contextlib.suppress(carpool.TransferError):
                found.append({"text": str(len(opened.read()))})
            found.append(client.call("request.get", request=opened.request_id))
        return found

    return scenario


def downloaded(client: carpool.Client, url: str) -> Any:
    place = Path(os.environ["CARPOOL_TEST_FOLDER"], "file")
    found = [client.download(f"{url}/large", place, sha256=True).record]
    assert place.read_bytes() == LARGE
    with pytest.raises(carpool.ValidationError) as refused:
        client.download(f"{url}/missing", place, validate=True)
    assert place.read_bytes() == LARGE
    return [*found, refused.value.record]


def session(client: carpool.Client, url: str) -> Any:
    found = [client.call("session.create", name="s", configuration={"redirect": "do_not_follow", "validate": True})]
    found.append(client.call("session.create", name="s", configuration={"redirect": "do_not_follow", "validate": True}))
    found.append(client.call("request.perform", url=f"{url}/old", session="s"))
    found.append(refusal(client, "session.create", name="s", configuration={}))
    return [*found, client.call("session.invalidate", session="s")]


def refusal(client: carpool.Client, method: str, **params: Any) -> Any:
    with pytest.raises(carpool.RPCError) as refused:
        client.call(method, **params)
    return {"code": refused.value.code, **refused.value.data, "type": type(refused.value).__name__}


def refusals(client: carpool.Client, url: str) -> Any:
    return [
        refusal(client, "none.such"),
        refusal(client, "request.perform"),
        refusal(client, "request.perform", url=5),
        refusal(client, "request.perform", url=url, session="none"),
        *(
            refusal(client, f"request.{method}", request="r_none")
            for method in ("wait", "get", "cancel", "resume", "dismiss", "read", "response")
        ),
        refusal(client, "body.read", request="r_none"),
        refusal(client, "session.invalidate", session="none"),
    ]


def hello(client: carpool.Client, _: str) -> Any:
    answer = client.call("client.hello", name="test")
    return [{**answer, "capabilities": {}, "limits": {}}, client.call("daemon.ping")]


def detailed(level: str) -> Callable[[carpool.Client, str], Any]:
    def scenario(client: carpool.Client, url: str) -> Any:
        found = [client.call("request.perform", url=f"{url}{path}", detail=level) for path in ("/json", "/in", "/loop")]
        made = client.call("request.submit", url=f"{url}/in", method="POST", body={"text": "a"})
        found += [client.call(f"request.{call}", request=made["request"], detail=level) for call in ("wait", "get")]
        found += [client.call("request.perform", url=wrong, detail=level) for wrong in (DEAD, "nope")]
        # The fields too, of which `form` has only the type.
        heads = [head["headers"] for record in found for head in record.get("redirects", [])]
        return [*found, {"text": json.dumps(heads)}]

    return scenario


RETRY = [{"retry_policy": {"scale_ms": 1, "without_validation": True}}]
SCENARIOS: dict[str, Callable[[carpool.Client, str], Any]] = {
    **{f"get {path}": perform(path) for path in REPLIES},
    "head": perform("/json", method="HEAD"),
    "post": perform("/echo", method="POST", body={"json": {"a": 1}}),
    "post a redirect": perform("/see", method="POST", body={"text": "a"}),
    "post a moved one": perform("/old", method="POST", body={"text": "a"}),
    "not followed": perform("/old", redirect="do_not_follow"),
    "user": perform("/json?token=a#part"),
    "a fragment of a redirect": perform("/old#part", detail="full"),
    "in a file": perform("/json", response_body="file"),
    "hash": perform("/json", sha256=True),
    "as json": perform("/json", serialize="json"),
    "as data": perform("/binary", serialize="data"),
    "not json": perform("/missing", serialize="json"),
    "not text": perform("/binary", serialize="string"),
    "refused status": perform("/missing", validate=True),
    "refused type": perform("/missing", validate=[{"content_type": ["application/json", "image/*"]}]),
    "missing type": perform("/binary", validate=[{"content_type": ["application/json"]}]),
    "accepted": perform("/json", validate=[{"status": [200]}, {"content_type": ["application/*"]}]),
    "retried": perform("/busy", interceptor=RETRY),
    "retried in vain": perform("/busy", interceptor=[{"retry_policy": {**RETRY[0]["retry_policy"], "limit": 1}}]),
    "retried after validation": perform("/busy", validate=True, interceptor=[{"retry_policy": {"scale_ms": 1}}]),
    "not retried": perform("/busy", method="POST", interceptor=RETRY),
    "broken": perform("/broken"),
    "dead": dead,
    "invalid": invalid,
    "submitted": submitted,
    "manual": manual,
    "cancelled": cancelled,
    "held": held,
    "held and cancelled": held_and_cancelled,
    "pieces": pieces,
    "read": read,
    "stream": stream("/large"),
    "stream of a redirect": stream("/old"),
    "empty stream": stream("/empty"),
    "broken stream": stream("/broken"),
    "downloaded": downloaded,
    **{f"detail {level}": detailed(level) for level in ("short", "standard", "full")},
    "retried, in short": perform("/busy", interceptor=RETRY, detail="short"),
    "user, in short": perform("/json?token=a#part", detail="short"),
    "session": session,
    "refusals": refusals,
    "hello": hello,
}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_fake_sends_what_the_daemon_sends(
    client: carpool.Client,
    origin: ScriptedOrigin,
    scenario: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CARPOOL_TEST_FOLDER", str(folder))
    url = serve(origin)
    with FakeDaemon() as fake, carpool.Client(fake.socket) as faked:
        mock(fake, url)
        found = SCENARIOS[scenario](faked, url)
    assert differing(found, SCENARIOS[scenario](client, url)) == {}


def test_the_log_has_the_requests_of_a_fake(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "carpool")
    with FakeDaemon() as fake, carpool.Client() as client:
        mock(fake, "https://h.example")
        client.get("https://h.example/json")
        client.get("https://h.example/json")
    assert [record.getMessage() for record in caplog.records] == [
        "GET https://h.example/json 200 (14 bytes in 1.0 ms, new connection)",
        "GET https://h.example/json 200 (14 bytes in 1.0 ms, reused connection)",
    ]
