"""How much of a request its record has: `detail`."""

from __future__ import annotations

from typing import Any

import pytest
from harness.daemon import Daemon
from harness.wire import RemoteError, Wire
from origins.scripted import Exchange, ScriptedOrigin

DETAILED = ["method", "url", "redirects"]


@pytest.fixture
def url(origin: ScriptedOrigin) -> str:
    """Two redirects, the first with cookies, and a response."""

    def first(exchange: Exchange) -> None:
        fields = [("Location", "second"), ("Set-Cookie", "a=1"), ("X-Other", "x"), ("set-cookie", "b=2; Path=/")]
        exchange.reply(302, b"moved", headers=fields)

    origin.on("/first", first)
    origin.on("/second", lambda exchange: exchange.reply(307, headers=[("location", f"{origin.url}/third")]))
    origin.on("/third", lambda exchange: exchange.reply(200, b"end"))
    return f"{origin.url}/first"


def redirects(url: str) -> list[dict[str, Any]]:
    base = url.removesuffix("/first")
    cookies = [["Set-Cookie", "a=1"], ["set-cookie", "b=2; Path=/"]]
    heads = [
        (302, [["Location", "second"], *cookies], url),
        (307, [["location", f"{base}/third"]], f"{base}/second"),
    ]
    return [
        {"status": status, "http_version": "http/1.1", "headers": fields, "url": place}
        for status, fields, place in heads
    ]


def test_a_short_record_has_the_redirects_in_place_of_the_attempts(wire: Wire, url: str) -> None:
    record = wire.call("request.perform", url=url, method="POST", detail="short")
    assert {name: record[name] for name in DETAILED} == {
        # The redirect makes a GET of it.
        "method": "POST",
        "url": url,
        "redirects": redirects(url),
    }
    assert record["response"]["url"].endswith("/third")
    assert record["body"] == {"text": "end", "size_bytes": 3}
    assert record["metrics"]["redirects"] == 2
    assert not {"attempts", "timeline"} & set(record)


def test_the_default_has_the_attempts(wire: Wire, url: str) -> None:
    for params in ({}, {"detail": "standard"}):
        record = wire.call("request.perform", url=url, **params)
        assert len(record["attempts"][0]["metrics"]) == 3
        assert "headers" not in record["attempts"][0]["request"]
        assert not {"method", "url", "redirects", "timeline"} & set(record)


def test_a_full_record_is_that_of_request_response(wire: Wire, url: str) -> None:
    request = wire.call("request.submit", url=url)["request"]
    whole = wire.call("request.response", request=request)
    for method in ("request.wait", "request.get"):
        record = wire.call(method, request=request, detail="full")
        assert record == whole
    assert record["redirects"] == redirects(url)
    assert record["attempts"][0]["request"]["headers"]
    assert record["timeline"]["total_duration_us"] > 0


@pytest.mark.parametrize("method", ["request.wait", "request.get"])
def test_each_call_chooses(wire: Wire, url: str, method: str) -> None:
    request = wire.call("request.submit", url=url)["request"]
    wire.call("request.wait", request=request)
    short = wire.call(method, request=request, detail="short")
    assert short["redirects"] == redirects(url)
    assert "attempts" not in short
    assert "attempts" in wire.call(method, request=request)


def test_a_request_without_redirects_and_one_without_a_response(wire: Wire, origin: ScriptedOrigin) -> None:
    record = wire.call("request.perform", url=origin.url, detail="short")
    assert (record["method"], record["url"]) == ("GET", origin.url)
    assert "redirects" not in record
    record = wire.call("request.perform", url="http://127.0.0.1:1/", method="PUT", detail="short")
    assert record["outcome"]["error"]["name"] == "session_task_failed.cannot_connect_to_host"
    assert (record["method"], record["url"], record["response"]) == ("PUT", "http://127.0.0.1:1/", None)


def test_a_held_response_has_the_redirects_too(wire: Wire, url: str) -> None:
    record = wire.call("request.perform", url=url, detail="short", hold_for_headers=True)
    assert record["finished"] is False
    assert record["redirects"] == redirects(url)
    for params in ({"detail": "short"}, {"detail": "short", "timeout_ms": 0}):
        again = wire.call(
            "request.wait" if "timeout_ms" in params else "request.get", request=record["request"], **params
        )
        assert again["redirects"] == redirects(url)
    assert "redirects" not in wire.call("request.get", request=record["request"])
    wire.call("request.cancel", request=record["request"])


def test_many_long_redirects_fit_the_line(wire: Wire, origin: ScriptedOrigin) -> None:
    def onward(number: int) -> Any:
        fields = [("Location", f"/{number + 1}"), ("Set-Cookie", "a=" + "x" * 7_000)]
        return lambda exchange: exchange.reply(302, headers=fields)

    for number in range(15):
        origin.on(f"/{number}", onward(number))
    record = wire.call("request.perform", url=f"{origin.url}/0", detail="short")
    assert record["response"]["status"] == 200
    assert all(head["headers"] for head in record["redirects"])
    assert any(head.get("truncated") for head in record["redirects"])


def test_the_cookies_of_redirects_are_hidden_from_others(daemon: Daemon, url: str) -> None:
    with Wire(daemon.socket) as owner, Wire(daemon.socket) as stranger:
        owner.call("client.hello", name="owner")
        stranger.call("client.hello", name="stranger")
        request = owner.call("request.submit", url=url)["request"]
        assert owner.call("request.wait", request=request, detail="short")["redirects"] == redirects(url)
        for detail in ("short", "full"):
            shown = stranger.call("request.get", request=request, detail=detail)["redirects"][0]["headers"]
            assert [name for name, _ in shown] == ["Location", "Set-Cookie", "set-cookie"]
            assert "a=1" not in str(shown)
            assert "b=2" not in str(shown)


@pytest.mark.parametrize("value", ["long", "", 1, True])
def test_other_values_are_refused(wire: Wire, origin: ScriptedOrigin, value: Any) -> None:
    with pytest.raises(RemoteError) as caught:
        wire.call("request.perform", url=origin.url, detail=value)
    assert caught.value.error["code"] == -32602
    assert caught.value.error["data"]["path"] == "params.detail"
    assert origin.requests == []
