"""The fake daemon of `carpool.testing`: routes, what was received, and what clients do."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loops import RunLoop

import carpool
from carpool.testing import FakeDaemon, Reply, Request

URL = "https://api.example.com/people"
PATIENCE_SECONDS = 20


# Routes


@pytest.mark.parametrize(
    ("route", "asked"),
    [
        ("https://api.example.com", "https://API.example.com:443/"),
        ("http://h:80/a", "http://h/a#part"),
        ("https://h/a", "https://h/a?q=1"),
        ("https://h/a?q=1&p=2", "https://h/a?p=2&q=1"),
        ("https://h/a?q=car+pool", "https://h/a?q=car%20pool"),
        (re.compile(r"https://h/\d+$"), "https://h/12"),
        ("https://h/a", "https://ada:pw@h/a"),
    ],
)
def test_a_route_matches(client: carpool.Client, fake: FakeDaemon, route: Any, asked: str) -> None:
    made = fake.route("GET", route, content="yes")
    assert client.get(asked).text == "yes"
    assert len(made.requests) == 1


@pytest.mark.parametrize(
    ("method", "route", "asked"),
    [
        ("POST", "https://h/a", "https://h/a"),
        ("GET", "https://h/a", "http://h/a"),
        ("GET", "https://h/a", "https://h:444/a"),
        ("GET", "https://h/a", "https://h/a/"),
        ("GET", "https://h/a?q=1", "https://h/a"),
        ("GET", "https://h/a?q=1", "https://h/a?q=1&q=1"),
        ("GET", re.compile(r"h/\d+"), "https://h/12"),
    ],
)
def test_a_request_without_a_route_fails_and_names_the_routes(
    client: carpool.Client, fake: FakeDaemon, method: str, route: Any, asked: str
) -> None:
    made = fake.route(method, route)
    with pytest.raises(carpool.RequestError) as failed:
        client.get(asked)
    assert failed.value.name == "testing.no_route"
    assert f"no route for GET {asked}" in str(failed.value)
    assert f"its routes are: {made}" in str(failed.value)
    assert (made.requests, fake.unused_routes, len(fake.requests)) == ([], [made], 1)


def test_without_routes_and_with_many_the_message_stays_readable(client: carpool.Client, fake: FakeDaemon) -> None:
    with pytest.raises(carpool.RequestError, match="its routes are: none"):
        client.get(URL)
    for number in range(50):
        fake.route("GET", f"https://h/{number}")
    with pytest.raises(carpool.RequestError, match=r"are: 30 others, GET https://h/30, .* GET https://h/49 \("):
        client.get(URL)


def test_replies_come_in_order_and_the_last_one_again(client: carpool.Client, fake: FakeDaemon) -> None:
    replies: list[Any] = [Reply(500), lambda request: Reply(content=request.method), Reply(json=[1])]
    route = fake.route("*", URL, replies)
    found = [client.request(method, URL).text for method in ("GET", "PUT", "GET", "DELETE")]
    assert found == ["", "PUT", "[1]", "[1]"]
    assert [request.method for request in route.requests] == ["GET", "PUT", "GET", "DELETE"]


def test_the_last_route_that_matches_is_used(client: carpool.Client, fake: FakeDaemon) -> None:
    fake.route("*", re.compile("https://api"), content="default")
    fake.route("GET", URL, content="own")
    assert (client.get(URL).text, client.post(URL).text) == ("own", "default")


def test_what_a_response_has(client: carpool.Client, fake: FakeDaemon) -> None:
    fake.route("GET", URL, status_code=201, headers=[("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")], json={"ü": None})
    response = client.get(URL)
    assert (response.status_code, response.json(), response.ok) == (201, {"ü": None}, True)
    assert dict(response.cookies) == {"a": "1", "b": "2"}
    assert response.headers["content-type"] == "application/json"
    assert response.headers["content-length"] == str(len(response.content)) == "11"
    fake.route("GET", URL, headers={"content-type": "text/x", "Content-Length": "9"}, content="é")
    response = client.get(URL)
    assert response.headers.pairs == [("content-type", "text/x"), ("Content-Length", "9")]
    fake.route("HEAD", URL, content="absent")
    assert (client.head(URL).content, client.head(URL).headers["content-length"]) == (b"", "6")


def test_what_was_received(client: carpool.Client, fake: FakeDaemon, tmp_path: Path) -> None:
    fake.route("*", URL)
    (tmp_path / "a.txt").write_text("file")
    client.post(URL, json={"a": 1}, params={"q": "x"}, headers={"X-Api-Key": "k"}, timeout=3, auth=("ada", "pw"))
    client.post(URL, data={"a": ["1", "2"]})
    client.post(URL, data=iter([b"a", b"b"]))
    client.post(URL, data=b"x" * 600_000)
    client.put(URL, data=tmp_path / "a.txt")
    client.post(URL, files={"f": ("a.txt", b"x", "text/x"), "g": (None, "y")})
    first, form, pieces, large, file, parts = fake.requests
    assert (first.method, first.url, first.json()) == ("POST", f"{URL}?q=x", {"a": 1})
    assert (first.headers["x-api-key"], first.headers["authorization"]) == ("k", "Basic YWRhOnB3")
    assert first.headers["content-type"] == "application/json"
    assert first.params["timeout_ms"] == 3000
    assert (form.text, form.headers["content-type"]) == ("a=1&a=2", "application/x-www-form-urlencoded")
    assert (pieces.content, len(large.content), file.content) == (b"ab", 600_000, b"file")
    assert parts.headers["content-type"].startswith("multipart/form-data; boundary=")
    assert b'name="f"; filename="a.txt"\r\nContent-Type: text/x\r\n\r\nx\r\n' in parts.content
    assert b'name="g"\r\n\r\ny\r\n' in parts.content


def test_failures_have_the_class_of_their_name(client: carpool.Client, fake: FakeDaemon) -> None:
    classes = {
        "session_task_failed.cannot_connect_to_host": carpool.ConnectError,
        "session_task_failed.timed_out": TimeoutError,
        "session_task_failed.server_certificate_untrusted": carpool.CertificateError,
        "response_too_large": carpool.RequestError,
    }
    for name, kind in classes.items():
        fake.route("GET", URL, error=name)
        with pytest.raises(kind, match=name):
            client.get(URL)


def test_what_a_function_raises_or_returns_fails_the_request(client: carpool.Client, fake: FakeDaemon) -> None:
    def refuses(request: Request) -> Reply:
        raise AssertionError(f"not {request.method}")

    wrong: Any = lambda _: {"a": 1}  # noqa: E731, in place of a Reply
    for function, message in ((refuses, "AssertionError: not GET"), (wrong, "returned dict, expected a Reply")):
        fake.route("GET", URL, function)
        with pytest.raises(carpool.RequestError, match=message) as failed:
            client.get(URL)
        assert failed.value.name == "testing.route_failed"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": ""}, "method: expected the name of a method"),
        ({"url": "/people"}, "url: expected an absolute http or https URL"),
        ({"url": b"https://h/"}, "url: expected str or a compiled pattern, not bytes"),
        ({"replies": []}, "replies: expected at least one"),
        ({"replies": [200]}, "replies: expected a Reply or a function"),
        ({"replies": Reply(), "json": 1}, "pass replies, or the arguments of one reply"),
        ({"status_code": 20}, "status_code: expected a number from 100 to 999"),
        ({"json": 1, "content": "a"}, "pass only one of json and content"),
        ({"content": 1}, "content: expected str or bytes, not int"),
        ({"error": "timeout"}, "error: expected the name of a failure"),
        ({"headers": "a"}, "headers: expected a mapping"),
    ],
)
def test_a_wrong_route_is_refused(fake: FakeDaemon, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        fake.route(**{"method": "GET", "url": URL, **arguments})
    assert fake.routes == []


# What clients do


def test_a_client_follows_retries_validates_and_downloads(
    client: carpool.Client, fake: FakeDaemon, tmp_path: Path
) -> None:
    fake.route("GET", f"{URL}/old", status_code=302, headers={"Location": "/people?a=b"})
    busy = fake.route("GET", URL, [Reply(503), Reply(error="session_task_failed.timed_out"), Reply(content="there")])
    response = client.get(f"{URL}/old", retry=2, detail="full")
    assert (response.text, response.url, len(response.history)) == ("there", f"{URL}?a=b", 1)
    assert (len(busy.requests), len(fake.requests), len(response.attempts)) == (3, 6, 3)
    fake.route("GET", URL, status_code=404)
    with pytest.raises(carpool.ValidationError):
        client.get(URL, validate=True)
    fake.route("GET", URL, content=b"a" * 100_000)
    assert client.get(URL).content == b"a" * 100_000
    assert client.download(URL, tmp_path).path == tmp_path / "people"
    assert (tmp_path / "people").read_bytes() == b"a" * 100_000
    (tmp_path / "people").chmod(0o600)
    client.download(URL, tmp_path / "people")
    assert (tmp_path / "people").stat().st_mode & 0o777 == 0o600
    assert client.get(URL, serialize="string").value == "a" * 100_000


@pytest.mark.parametrize("size", [0, 10, 3_000_000])
def test_a_stream_is_read_through_its_pipe(client: carpool.Client, fake: FakeDaemon, size: int) -> None:
    fake.route("GET", URL, content=b"x" * size)
    with client.stream("GET", URL, credit_bytes=4096) as stream:
        assert stream.status_code == 200
        assert len(stream.read()) == size
    with client.get(URL, stream=True) as stream:
        assert stream.status_code == 200


def test_a_stream_that_breaks(client: carpool.Client, fake: FakeDaemon) -> None:
    fake.route("GET", URL, content=b"first", error="session_task_failed.network_connection_lost")
    with client.stream("GET", URL) as stream:
        pieces = stream.iter_bytes()
        assert next(pieces) == b"first"
        with pytest.raises(carpool.TransferError, match="network_connection_lost"):
            next(pieces)


def test_asyncio_calls_run_side_by_side(run_loop: RunLoop, fake: FakeDaemon) -> None:
    together = threading.Barrier(20)

    def meet(_: Request) -> Reply:
        together.wait(PATIENCE_SECONDS)
        return Reply(content="met")

    fake.route("GET", URL, meet)

    async def run() -> list[str]:
        async with carpool.AsyncClient() as client:
            return [found.text for found in await asyncio.gather(*(client.get(URL) for _ in range(20)))]

    assert run_loop(run()) == ["met"] * 20


def test_a_cancelled_await_ends_its_request(run_loop: RunLoop, fake: FakeDaemon) -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(_: Request) -> Reply:
        begun.set()
        go.wait(PATIENCE_SECONDS)
        return Reply()

    fake.route("GET", URL, slow)

    async def run() -> None:
        async with carpool.AsyncClient() as client:
            task = asyncio.create_task(client.get(URL))
            await asyncio.to_thread(begun.wait, PATIENCE_SECONDS)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.to_thread(ends, fake)
            go.set()

    run_loop(run())


def ends(fake: FakeDaemon) -> None:
    """Wait until no request is running."""
    with fake.changed:
        assert fake.changed.wait_for(
            lambda: all(request.is_over for request in fake.running.values()), PATIENCE_SECONDS
        )


def test_threads_share_a_client(client: carpool.Client, fake: FakeDaemon) -> None:
    fake.route("POST", URL, lambda request: Reply(content=request.content))
    found: list[bool] = []

    def work(number: int) -> None:
        for turn in range(20):
            body = f"{number}.{turn}"
            found.append(client.post(URL, data=body).text == body)

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert found == [True] * 320
    assert len(fake.requests) == 320
    ends(fake)
    assert fake.running == {}, "nothing is kept of a request that has its answer"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda client: client.register("n", validate=lambda _: True), "does not do callbacks"),
        (lambda client: client.get(URL, params={"a": "b"}, encoding="form"), "does not do encoding"),
        (lambda client: client.get(URL, interceptor=["compress"]), "does not do interceptors but retry_policy"),
        (lambda client: client.get(URL, serialize="plist"), "does not do serializers but"),
        (lambda client: client.get(URL, redirect={"max_hops": 2}), "does not do rules of redirects"),
        (lambda client: client.get(URL, validate=[{"callback": {"name": "n"}}]), "does not do validators but"),
        (lambda client: client.post(URL, data=Path("/nowhere")), "cannot open /nowhere"),
        (
            lambda client: client.call("request.perform", url=URL, body={"fd": 0}),
            "params.body: .* does not do a descriptor",
        ),
        (
            lambda client: client.call("request.perform", url=URL, response_body={"fd": 1}),
            "does not do a descriptor but",
        ),
        (lambda client: client.call("session.create"), "carpool.testing failed: KeyError"),
        (lambda client: client.subscribe(["*"]), "carpool.testing has client.hello, "),
    ],
)
def test_what_a_fake_does_not_do_is_refused_by_name(
    client: carpool.Client, fake: FakeDaemon, call: Callable[[carpool.Client], Any], message: str
) -> None:
    fake.route("*", URL)
    with pytest.raises(carpool.RPCError, match=message):
        call(client)
    assert client.get(URL).ok, "the connection continues"
    assert len(fake.requests) == 1
    assert fake.running == {}


def test_a_second_iterator_of_a_stream_is_refused(client: carpool.Client, fake: FakeDaemon) -> None:
    fake.route("GET", "https://api.example.com/lines", content="one\ntwo\nthree\n")
    with client.get("https://api.example.com/lines", stream=True) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "one"
        for read in (stream.read, lambda: list(stream.iter_lines())):
            with pytest.raises(carpool.CarpoolError, match="keep that one and continue it"):
                read()
        assert list(lines) == ["two", "three"]
