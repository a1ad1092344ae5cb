"""Libraries for tests that replace the sending of requests and httpx see what the adapters would send."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import carpool.httpx
import carpool.httpx2
import carpool.requests
import httpx
import httpx2
import pytest
import requests
import requests_mock
import responses
import respx
import vcr  # type: ignore[import-untyped]
from harness.daemon import Daemon
from origins.scripted import ScriptedOrigin

ANSWER = {"mocked": True}
# Makes a request with a library through its adapter, and returns the value of the response.
Ask = Callable[[str], Any]


@pytest.fixture(autouse=True)
def through(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))


def ask_requests(url: str) -> Any:
    with requests.Session() as session:
        session.mount("http://", carpool.requests.CarpoolAdapter())
        return session.post(url, data=b"body").json()


def ask_httpx(url: str) -> Any:
    with httpx.Client(transport=carpool.httpx.CarpoolTransport()) as client:
        return client.post(url, content=b"body").json()


def ask_async_httpx(url: str) -> Any:
    async def main() -> Any:
        async with httpx.AsyncClient(transport=carpool.httpx.AsyncCarpoolTransport()) as client:
            return (await client.post(url, content=b"body")).json()

    return asyncio.run(main())


def ask_httpx2(url: str) -> Any:
    with httpx2.Client(transport=carpool.httpx2.CarpoolTransport()) as client:
        return client.post(url, content=b"body").json()


HTTPX = [ask_httpx, ask_async_httpx]


def requests_of_the_daemon(daemon: Daemon) -> int:
    return int(daemon.call("daemon.stats")["requests"]["made"])


@pytest.fixture
def url(origin: ScriptedOrigin, daemon: Daemon) -> Iterator[str]:
    """A URL that must not be requested."""
    before = requests_of_the_daemon(daemon)
    yield f"{origin.url}/items"
    assert origin.requests == []
    assert requests_of_the_daemon(daemon) == before


def go_through_the_daemon(daemon: Daemon, origin: ScriptedOrigin, ask: Ask) -> None:
    """Make a request after a mock has ended."""
    origin.on("/real", lambda exchange: exchange.reply(body=b'{"mocked": false}'))
    before = requests_of_the_daemon(daemon)
    assert ask(f"{origin.url}/real") == {"mocked": False}
    assert requests_of_the_daemon(daemon) == before + 1


@pytest.mark.parametrize("ask", HTTPX)
def test_respx_sees_the_requests(ask: Ask, url: str) -> None:
    with respx.mock:
        route = respx.post(url).respond(json=ANSWER)
        assert ask(url) == ANSWER
    assert [bytes(call.request.content) for call in route.calls] == [b"body"]


@pytest.mark.parametrize("ask", HTTPX)
def test_respx_in_place_of_the_client_sees_the_requests(ask: Ask, url: str) -> None:
    with respx.mock(using="httpx") as router:
        router.post(url).respond(json=ANSWER)
        assert ask(url) == ANSWER


@pytest.mark.parametrize("ask", HTTPX)
def test_respx_refuses_what_has_no_route(ask: Ask, url: str) -> None:
    with respx.mock, pytest.raises(respx.models.AllMockedAssertionError):
        ask(url)


@pytest.mark.parametrize("ask", HTTPX)
def test_one_transport_is_used_by_a_mock_and_by_the_daemon(ask: Ask, daemon: Daemon, origin: ScriptedOrigin) -> None:
    with respx.mock:
        respx.post(f"{origin.url}/mocked").respond(json=ANSWER)
        assert ask(f"{origin.url}/mocked") == ANSWER
    assert origin.requests == []
    go_through_the_daemon(daemon, origin, ask)


@pytest.mark.parametrize("ask", HTTPX)
def test_pytest_httpx_sees_the_requests(ask: Ask, url: str, httpx_mock: Any) -> None:
    httpx_mock.add_response(method="POST", url=url, json=ANSWER)
    assert ask(url) == ANSWER
    assert [request.content for request in httpx_mock.get_requests()] == [b"body"]


@pytest.mark.parametrize("ask", [ask_requests, ask_httpx, ask_async_httpx, ask_httpx2])
def test_vcrpy_records_and_replays(ask: Ask, daemon: Daemon, origin: ScriptedOrigin, tmp_path: Path) -> None:
    origin.on("/items", lambda exchange: exchange.reply(body=b'{"recorded": 1}'))
    url, cassette = f"{origin.url}/items", str(tmp_path / "cassette.yaml")
    with vcr.use_cassette(cassette):
        assert ask(url) == {"recorded": 1}
    assert len(origin.requests) == 1
    before = requests_of_the_daemon(daemon)
    with vcr.use_cassette(cassette, record_mode=vcr.mode.NONE) as replayed:
        assert ask(url) == {"recorded": 1}
        assert replayed.play_count == 1
        with pytest.raises(vcr.errors.CannotOverwriteExistingCassetteException):
            ask(f"{origin.url}/other")
    assert len(origin.requests) == 1
    assert requests_of_the_daemon(daemon) == before
    go_through_the_daemon(daemon, origin, ask)


def test_responses_sees_the_requests(url: str) -> None:
    with responses.mock as mock:
        mock.post(url, json=ANSWER)
        assert ask_requests(url) == ANSWER
        with pytest.raises(requests.ConnectionError, match="Connection refused by Responses"):
            ask_requests(f"{url}/other")


def test_responses_passes_requests_through_to_the_daemon(daemon: Daemon, origin: ScriptedOrigin) -> None:
    with responses.mock as mock:
        mock.add_passthru(origin.url)
        go_through_the_daemon(daemon, origin, ask_requests)


def test_requests_mock_sees_the_requests(url: str, daemon: Daemon) -> None:
    with requests_mock.Mocker() as mock:
        mock.post(url, json=ANSWER)
        assert ask_requests(url) == ANSWER


def test_requests_mock_passes_requests_through_to_the_daemon(daemon: Daemon, origin: ScriptedOrigin) -> None:
    with requests_mock.Mocker(real_http=True):
        go_through_the_daemon(daemon, origin, ask_requests)


def test_a_function_of_the_test_sees_the_requests(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def handle(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=ANSWER)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", handle)
    assert ask_httpx(url) == ANSWER


def test_a_tracer_does_not_take_the_requests(
    daemon: Daemon, origin: ScriptedOrigin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object that wraps a method as those of wrapt do, which tracers use: it has the attributes of the method."""

    class Wrapper:
        def __init__(self, wrapped: Any) -> None:
            self.wrapped = wrapped

        def __getattr__(self, name: str) -> Any:
            return getattr(self.wrapped, name)

        def __call__(self, *arguments: Any, **named: Any) -> Any:
            return self.wrapped(*arguments, **named)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", Wrapper(httpx.HTTPTransport.handle_request))
    go_through_the_daemon(daemon, origin, ask_httpx)


MODULES = """
import sys, carpool.httpx, carpool.requests, carpool.httpx2
print(sorted({"respx", "vcr", "responses", "requests_mock", "pytest_httpx", "unittest"} & set(sys.modules)))
"""


def test_no_library_for_tests_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", MODULES], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
