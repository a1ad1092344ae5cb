"""Bodies that a client supplies while they are sent: `{"stream": true}` and `body.put`."""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import random
import threading
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.story import Story
from harness.tcp import is_stopped
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import Wire
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin

SIZES = [0, 1, 32_767, 32_768, 32_769, 65_536, 1_048_583]


def content(size: int) -> bytes:
    return random.Random(size).randbytes(size)


def put(client: carpool.Client, request: str, data: bytes, **more: Any) -> Any:
    return client.call("body.put", request=request, base64=base64.b64encode(data).decode(), **more)


def give(client: carpool.Client, request: str, data: bytes, piece: int = 65_536) -> None:
    for start in range(0, max(1, len(data)), piece):
        put(client, request, data[start : start + piece], end=start + piece >= len(data))


def submit(client: carpool.Client, url: str, length: int | None = None, **params: Any) -> str:
    body: dict[str, Any] = {"stream": True}
    if length is not None:
        body["length_bytes"] = length
    return str(client.call("request.submit", url=url, body=body, **params)["request"])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("known", [True, False])
def test_up_01_a_stream_arrives_as_it_was_given(
    client: carpool.Client, origin: ScriptedOrigin, size: int, known: bool
) -> None:
    data = content(size)
    request = submit(client, origin.on("/put", lambda exchange: exchange.reply(200)), size if known else None)
    if data or not known:
        give(client, request, data)
    record = client.call("request.wait", request=request)
    assert record["outcome"]["ok"]
    [received] = origin.requests
    assert received.method == "POST"
    assert hashlib.sha256(received.body).digest() == hashlib.sha256(data).digest()
    assert received.values("transfer-encoding") == ([] if known else ["chunked"])
    assert received.values("content-type") == []
    assert record["attempts"][0]["metrics"][0]["request_body_bytes"] == size


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["http", "https", "https1"])
def test_up_01_to_nginx(client: carpool.Client, nginx: Nginx, size: int, scheme: str) -> None:
    """Over HTTP/1.1, over TLS, and over HTTP/2 where libcurl is fit for it."""
    data = content(size)
    url = f"{getattr(nginx, scheme)}/put/{scheme}-{size}"
    request = submit(client, url, size, method="PUT", trust={"verify": False})
    if data:  # A stream of a known length ends with its last byte, this one before its first.
        give(client, request, data)
    record = client.call("request.wait", request=request)
    assert record["response"]["status"] in {201, 204}
    assert (nginx.directory / "put" / f"{scheme}-{size}").read_bytes() == data


def test_up_05_the_order_of_a_stream(story: Story, origin: ScriptedOrigin) -> None:
    request = story.submit(origin.on("/put", lambda exchange: exchange.reply(200)), body={"stream": True})
    story.call("body.put", request=request, text="hello", end=True)
    story.wait(request)
    words = [word for word in story.words(request) if not word.startswith("task.did_send")]
    assert words[:8] == [
        "request.did_resume",
        "request.did_create_initial_url_request",
        "request.did_create_uploadable",
        "request.did_create_url_request",
        "request.did_create_task",
        "request.did_resume_task",
        "task.needs_new_body_stream",
        "request.did_provide_input_stream",
    ]
    [created] = [event["data"] for event in story.events if event["type"] == "request.did_create_uploadable"]
    assert created == {"kind": "stream"}


def test_up_05_a_slow_origin_slows_the_client(wire: Wire, origin: ScriptedOrigin) -> None:
    """The daemon accepts no more than its buffer and the kernel's hold; then the answer waits."""
    gate = threading.Event()
    ports: list[int] = []

    def hold(exchange: Exchange) -> None:
        ports.append(exchange.ports[1])
        gate.wait(120)

    request = wire.call("request.submit", url=origin.on_head("/held", hold), body={"stream": True})["request"]
    waiting: list[int] = []
    taken = looks = 0

    def has_stopped() -> bool:
        """Whether the origin's window is closed, and the daemon accepts none of four pieces in twenty turns."""
        nonlocal taken, looks
        while len(waiting) < 4:
            waiting.append(wire.request("body.put", request=request, text="x" * 500_000))
        is_closed = bool(ports) and is_stopped(ports[0], origin.port)
        barrier = wire.request("daemon.ping")
        while (answer := wire.receive())["id"] != barrier:
            waiting.remove(answer["id"])
            taken += answer["result"]["accepted_bytes"]
        assert taken < 32 << 20
        looks = looks + 1 if is_closed and len(waiting) == 4 else 0
        return looks == 20

    eventually(has_stopped)
    gate.set()
    assert [wire.result(call)["offset_bytes"] for call in waiting] == [taken + 500_000 * n for n in range(1, 5)]
    wire.call("body.put", request=request, end=True)
    assert wire.call("request.wait", request=request)["response"]["status"] == 200
    assert len(origin.requests[0].body) == taken + 2_000_000


def test_up_05_pieces_that_are_given_again(client: carpool.Client, origin: ScriptedOrigin) -> None:
    answer = origin.hold("/put")
    request = submit(client, f"{origin.url}/put")
    assert put(client, request, b"hello ", offset=0)["offset_bytes"] == 6
    assert put(client, request, b"hello wor", offset=0) | {"room_bytes": 0} == {
        "accepted_bytes": 3,
        "offset_bytes": 9,
        "room_bytes": 0,
    }
    with pytest.raises(carpool.RPCError, match="missing"):
        put(client, request, b"x", offset=11)
    put(client, request, b"ld", offset=9, end=True)
    assert put(client, request, b"ld", offset=9, end=True)["accepted_bytes"] == 0
    with pytest.raises(carpool.RPCError, match="wrong_state"):
        put(client, request, b"more")
    answer.set()
    client.call("request.wait", request=request)
    assert origin.requests[0].body == b"hello world"
    with pytest.raises(carpool.RPCError, match="wrong_state"):
        put(client, request, b"late")


def test_up_05_a_length_is_kept(client: carpool.Client, origin: ScriptedOrigin) -> None:
    request = submit(client, origin.on("/put", lambda exchange: exchange.reply(200)), 10)
    put(client, request, b"12345678")
    with pytest.raises(carpool.RPCError, match="2 bytes left"):
        put(client, request, b"abc")
    with pytest.raises(carpool.RPCError, match="lacks 2 bytes"):
        client.call("body.put", request=request, end=True)
    put(client, request, b"90")
    assert client.call("request.wait", request=request)["outcome"]["ok"]
    assert origin.requests[0].body == b"1234567890"


def test_up_05_nobody_gives(client: carpool.Client, origin: ScriptedOrigin) -> None:
    request = submit(client, f"{origin.url}/put", timeout_ms=300)
    error = client.call("request.wait", request=request)["outcome"]["error"]
    assert (error["name"], error["timeout"]) == ("session_task_failed.timed_out", "body")


def test_up_05_a_retry_of_what_is_still_there(client: carpool.Client, origin: ScriptedOrigin) -> None:
    answers = [503, 200]
    origin.on("/busy", lambda exchange: exchange.reply(answers.pop(0)))
    request = submit(
        client,
        f"{origin.url}/busy",
        method="PUT",
        validate=True,
        interceptor=[{"retry_policy": {"scale_ms": 1}}],
    )
    give(client, request, content(1000))
    assert client.call("request.wait", request=request)["outcome"]["ok"]
    assert [received.body for received in origin.requests] == [content(1000)] * 2


def test_up_05_what_is_gone_is_not_retried(client: carpool.Client, origin: ScriptedOrigin) -> None:
    origin.on("/busy", lambda exchange: exchange.reply(503))
    request = submit(
        client,
        f"{origin.url}/busy",
        method="PUT",
        validate=True,
        interceptor=[{"retry_policy": {"scale_ms": 1}}],
    )
    give(client, request, content(3_000_000))
    error = client.call("request.wait", request=request)["outcome"]["error"]
    assert error["name"] == "request_retry_failed"
    assert error["details"]["retry_error"]["name"] == "session_task_failed.request_body_stream_exhausted"
    assert error["details"]["original_error"]["name"] == "response_validation_failed.unacceptable_status_code"
    assert len(origin.requests) == 1


@pytest.mark.parametrize("size", [1000, 3_000_000])
def test_up_05_redirects_that_keep_the_body(client: carpool.Client, origin: ScriptedOrigin, size: int) -> None:
    origin.on("/old", lambda exchange: exchange.reply(307, headers=[("Location", "/new")]))
    origin.on("/new", lambda exchange: exchange.reply(200))
    request = submit(client, f"{origin.url}/old")
    give(client, request, content(size))
    outcome = client.call("request.wait", request=request)["outcome"]
    if size == 1000:
        assert [received.body for received in origin.requests] == [content(size)] * 2
    else:
        assert outcome["error"]["name"] == "session_task_failed.request_body_stream_exhausted"


def test_up_05_cancelled_while_a_piece_waits(wire: Wire, origin: ScriptedOrigin) -> None:
    """The waiting calls fail, and so do calls beyond the limit in flight."""
    gate = threading.Event()
    origin.on_head("/held", lambda _: gate.wait(60) and None)
    request = wire.call("request.submit", url=f"{origin.url}/held", body={"stream": True})["request"]
    calls = [wire.request("body.put", {"request": request, "text": "x" * 900_000}) for _ in range(30)]
    wire.request("request.cancel", {"request": request})
    answers = {answer["id"]: answer for answer in (wire.receive() for _ in range(31))}
    gate.set()
    names = [answers[call].get("error", {"data": {"name": "taken"}})["data"]["name"] for call in calls]
    assert set(names) == {"taken", "too_many_in_flight", "wrong_state"}
    assert names.count("wrong_state") == 4


CALLBACK = {"callback": {"name": "body"}}


@pytest.mark.parametrize("answer", [{"text": "hello"}, {"base64": "aGVsbG8="}, {"json": "hello"}, {"stream": True}])
def test_up_05_a_client_gives_the_body(story: Story, origin: ScriptedOrigin, answer: dict[str, Any]) -> None:
    origin.on("/", lambda exchange: exchange.reply(200))
    call = story.begin(f"{origin.url}/", body=CALLBACK)
    question = story.question("body")
    assert question["params"]["url_request"]["method"] == "POST"
    story.answer(question, answer)
    if "stream" in answer:
        story.call("body.put", request=question["params"]["request"], text="hello", end=True)
    assert story.result(call)["outcome"]["ok"]
    assert origin.requests[0].body == (b'"hello"' if "json" in answer else b"hello")


def test_up_05_a_client_is_asked_again(story: Story, origin: ScriptedOrigin) -> None:
    """For every attempt, and for a redirect that keeps the body, independent of the bytes sent before."""
    answers = [503, 307, 200]
    origin.on("/", lambda exchange: exchange.reply(answers.pop(0), headers=[("Location", "/")]))
    call = story.begin(
        f"{origin.url}/",
        method="PUT",
        body=CALLBACK,
        validate=True,
        interceptor=[{"retry_policy": {"scale_ms": 1}}],
    )
    data = content(1_500_000)
    for number in (1, 2, 3):
        question = story.question("body", number)
        story.answer(question, {"stream": True, "length_bytes": len(data)})
        for start in range(0, len(data), 500_000):
            piece = base64.b64encode(data[start : start + 500_000]).decode()
            story.call("body.put", request=question["params"]["request"], base64=piece)
    assert story.result(call)["outcome"]["ok"]
    assert [received.body for received in origin.requests] == [data] * 3


def test_up_05_a_client_that_has_none(story: Story, origin: ScriptedOrigin) -> None:
    call = story.begin(origin.url, body=CALLBACK)
    story.answer(story.question("body"), {"fail": {"message": "no tape"}})
    error = story.result(call)["outcome"]["error"]
    assert error["name"] == "create_uploadable_failed"
    assert error["details"]["underlying"]["message"] == "no tape"
    assert origin.requests == []


def test_bodies_in_memory_have_an_end(start: StartDaemon, origin: ScriptedOrigin) -> None:
    """The bodies of waiting requests count; when these have finished, there is room again. A file does not count."""
    daemon = start(config={"limits": {"request_body_bytes_per_client": 2_097_152, "request_body_bytes": 4_194_304}})
    answer = origin.hold("/put")
    text = "x" * 700_000
    with daemon.client() as client, daemon.client() as other:
        other.call("client.hello", name="another")
        requests = [submit(client, origin.url + "/put")]
        params: dict[str, Any] = {"url": origin.url + "/put", "method": "PUT"}
        requests.append(client.call("request.submit", body={"text": text}, **params)["request"])
        with pytest.raises(carpool.RPCError, match="queue_full") as refusal:
            client.call("request.submit", body={"text": text}, **params)
        assert refusal.value.data["limit_bytes"] == 2_097_152
        part = {"name": "a", "text": text}
        with pytest.raises(carpool.RPCError, match="queue_full"):
            client.call("request.submit", body={"multipart": [part]}, **params)
        requests.append(client.call("request.submit", body={"file": __file__}, **params)["request"])
        requests.append(other.call("request.submit", body={"text": text}, **params)["request"])
        answer.set()
        put(client, requests[0], b"", end=True)
        for request in requests:
            other.call("request.wait", request=request)
        assert client.call("request.perform", body={"text": text}, **params)["outcome"]["ok"]


def has_response(client: carpool.Client, request: str) -> bool:
    return "response" in client.call("request.get", request=request)


@pytest.mark.parametrize("status", ["200 OK", "201 Created", "204 No Content", "413 Content Too Large"])
def test_a_whole_response_before_the_end_of_the_body_is_the_outcome(
    client: carpool.Client, origin: ScriptedOrigin, status: str
) -> None:
    """The server answers, and closes while more of the body is sent."""
    answered = threading.Event()

    def early(exchange: Exchange) -> None:
        length = b"" if status.startswith("204") else b"Content-Length: 3\r\n"
        exchange.send(b"HTTP/1.1 " + status.encode() + b"\r\n" + length + b"\r\n" + (b"ok\n" if length else b""))
        assert answered.wait(PATIENCE_SECONDS)
        exchange.reset()

    url = origin.on_head("/early", early)
    for _ in range(3):
        answered.clear()
        request = submit(client, url)
        # The response may have ended the request by then.
        with contextlib.suppress(carpool.ObjectError):
            put(client, request, b"first")
        eventually(functools.partial(has_response, client, request))
        answered.set()
        with contextlib.suppress(carpool.RPCError):
            for number in range(200):
                put(client, request, bytes([number]) * 10_000)
            put(client, request, b"", end=True)
        record = client.call("request.wait", request=request)
        assert record["outcome"] == {"ok": True}
        assert record["response"]["status"] == int(status.split(maxsplit=1)[0])
