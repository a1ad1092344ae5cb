"""Both clients against a daemon of a few lines; what they share runs once for each."""

from __future__ import annotations

import asyncio
import copy
import pickle
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from both_clients import Connect, Start, result
from daemon import record
from loops import RunLoop

import carpool
from carpool import _link


@pytest.mark.parametrize("method", ["get", "options", "head", "post", "put", "patch", "delete"])
def test_each_verb_performs_its_request(start: Start, connect: Connect, method: str) -> None:
    daemon = start(result(record({"text": "hello"})))
    client = connect(daemon.path, session="api")
    response = client.run(method, "http://a/", headers={"A": "1"}, timeout=2)
    assert response.text == "hello"
    assert daemon.received[0]["method"] == "request.perform"
    # The label by which the asyncio client finds a request whose caller was cancelled.
    daemon.received[0]["params"].pop("tags", None)
    assert daemon.received[0]["params"] == {
        "url": "http://a/",
        "method": method.upper(),
        "detail": "short",
        "headers": [["A", "1"]],
        "timeout_ms": 2000,
        "connect_timeout_ms": 2000,
        "session": "api",
    }


@pytest.mark.parametrize(
    ("call", "sent", "answer", "given"),
    [
        (
            ("submit", "GET", "http://a/"),
            ("request.submit", {"url": "http://a/", "method": "GET"}),
            {"request": "r_1"},
            "r_1",
        ),
        (("resume", "r_1"), ("request.resume", {"request": "r_1"}), {"changed": True}, True),
        (("suspend", "r_1"), ("request.suspend", {"request": "r_1"}), {"changed": False}, False),
        (("cancel", "r_1"), ("request.cancel", {"request": "r_1"}), {"changed": True}, True),
        (("curl", "r_1"), ("request.curl", {"request": "r_1", "reveal": False}), {"curl": "curl -v"}, "curl -v"),
        (("curl", "r_1"), ("request.curl", {"request": "r_1", "reveal": False}), {"curl": None, "reason": "no"}, None),
        (("create_session", "api"), ("session.create", {"name": "api"}), {"changed": True}, True),
        (
            ("create_session", "api", {"validate": True}),
            ("session.create", {"name": "api", "configuration": {"validate": True}}),
            {"changed": False},
            False,
        ),
        (
            ("cancel_requests", "api"),
            ("session.cancel_requests", {"session": "api"}),
            {"cancelled": 2},
            2,
        ),
        (
            ("set_credential", "api", carpool.Credential("t", expires_in=60)),
            (
                "session.set_credential",
                {"session": "api", "credential": {"access_token": "t", "expires_in_ms": 60_000}},
            ),
            {},
            None,
        ),
        (("set_credential", "api", None), ("session.set_credential", {"session": "api", "credential": None}), {}, None),
    ],
)
def test_what_the_daemon_does_has_its_method(  # noqa: PLR0917, a table
    start: Start, connect: Connect, call: tuple[Any, ...], sent: tuple[str, Any], answer: Any, given: Any
) -> None:
    daemon = start(result(answer))
    assert connect(daemon.path).run(*call) == given
    assert (daemon.received[0]["method"], daemon.received[0]["params"]) == sent


def test_a_request_is_waited_for_until_it_is_over(start: Start, connect: Connect) -> None:
    def answer(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
        under_way = {"request": "r_1", "state": "resumed", "finished": False}
        return result(under_way if len(daemon.received) < 3 else record({"text": "hello"}))(message)

    daemon = start(answer)
    assert connect(daemon.path).run("wait", "r_1").text == "hello"
    assert [(message["method"], message["params"]) for message in daemon.received] == [
        ("request.wait", {"request": "r_1", "detail": "short", "timeout_ms": 60_000})
    ] * 3


def test_detail_is_sent_with_the_call_that_returns_the_record(start: Start, connect: Connect, tmp_path: Path) -> None:
    daemon = start(result(record()))
    client = connect(daemon.path)
    client.run("get", "http://a/", detail="full")
    client.run("post", "http://a/", data=iter([b"piece"]), detail="full")
    client.run("download", "http://a/", tmp_path / "file", detail="full")
    client.run("get", "http://a/", detail=None)
    levels = {"request.perform", "request.submit", "request.wait"}
    sent = [(each["method"], each["params"].get("detail")) for each in daemon.received if each["method"] in levels]
    assert sent == [
        ("request.perform", "full"),
        ("request.submit", None),
        ("request.wait", "full"),
        ("request.submit", None),
        ("request.wait", "full"),
        ("request.perform", "short"),
    ]


def test_submit_does_not_take_detail(start: Start, connect: Connect) -> None:
    daemon = start(result({"request": "r_1"}))
    client = connect(daemon.path)
    with pytest.raises(TypeError, match="detail: not an argument of submit; `response` of the client returns"):
        client.run("submit", "GET", "http://a/", detail="full")
    assert client.run("submit", "GET", "http://a/", detail=None) == "r_1"
    assert [message["method"] for message in daemon.received] == ["request.submit"]


def test_a_request_is_waited_for_no_longer_than_asked(start: Start, connect: Connect) -> None:
    daemon = start(result({"request": "r_1", "state": "resumed", "finished": False}))
    with pytest.raises(TimeoutError, match="r_1 has not finished"):
        connect(daemon.path).run("wait", "r_1", timeout=0)
    assert daemon.received[0]["params"] == {"request": "r_1", "detail": "short", "timeout_ms": 0}


def test_a_failure_that_is_waited_for_is_given(start: Start, connect: Connect) -> None:
    failed = {"ok": False, "error": {"name": "explicitly_cancelled", "message": "cancelled"}}
    response = connect(start(result(record(outcome=failed, response=None))).path).run("wait", "r_1")
    assert isinstance(response.error, carpool.RequestCancelledError)


def test_a_body_is_serialized_anew_and_kept(start: Start, connect: Connect, tmp_path: Path) -> None:
    (tmp_path / "spool").write_bytes(b"large")
    body = {"file": str(tmp_path / "spool"), "size_bytes": 5}
    daemon = start(result(record(body, outcome={"ok": True, "value": "large"})))
    response = connect(daemon.path).run("response", "r_1", serialize=["string", "data"], timeout=100)
    assert (response.value, response.content) == ("large", b"large")
    assert [(message["method"], message["params"]) for message in daemon.received] == [
        ("request.response", {"request": "r_1", "serialize": ["string", "data"], "timeout_ms": 60_000})
    ]


def test_a_request_that_holds_for_its_headers_is_given_under_way(start: Start, connect: Connect) -> None:
    head = {"status": 200, "http_version": "h2", "url": "https://a.example/", "headers": []}
    daemon = start(result({"request": "r_1", "state": "resumed", "finished": False, "held": True, "response": head}))
    response = connect(daemon.path).run("get", "http://a/", hold_for_headers=True)
    assert (response.finished, response.status_code) == (False, 200)


def test_any_method_can_be_called(start: Start, connect: Connect) -> None:
    daemon = start(result({"pong": True}))
    assert connect(daemon.path).run("call", "daemon.ping", a=1) == {"pong": True}
    assert daemon.received[0]["params"] == {"a": 1}


def test_an_error_answer_is_raised_and_the_connection_goes_on(start: Start, connect: Connect) -> None:
    error = {"code": -32601, "message": "no such method", "data": {"name": "method_not_found"}}
    daemon = start(
        lambda message: [{"id": message["id"], **({"error": error} if message["id"] == 1 else {"result": 1})}]
    )
    client = connect(daemon.path)
    with pytest.raises(carpool.MethodNotFoundError, match="no such method"):
        client.run("call", "none.such")
    assert client.run("call", "daemon.ping") == 1


def test_an_answer_to_nothing_ends_the_call(start: Start, connect: Connect) -> None:
    daemon = start(lambda message: [{"id": None, "error": {"code": 1003, "message": "too large"}}])
    with pytest.raises(carpool.AccessError):
        connect(daemon.path).run("call", "daemon.ping")


def test_a_failed_transfer_is_raised(start: Start, connect: Connect) -> None:
    failed = {"ok": False, "error": {"name": "session_task_failed.cannot_find_host", "message": "who?"}}
    daemon = start(result(record(outcome=failed, response=None)))
    with pytest.raises(carpool.ConnectError, match="who"):
        connect(daemon.path).run("get", "http://a/")


def test_a_lost_connection_is_raised_and_the_next_call_connects_again(start: Start, connect: Connect) -> None:
    daemon = start(lambda message: [] if message["method"] == "daemon.shutdown" else result(1)(message))
    client = connect(daemon.path)
    with pytest.raises(carpool.ConnectionLostError):
        client.run("call", "daemon.shutdown")
    assert client.run("call", "daemon.ping") == 1


def test_a_peer_that_speaks_something_else_is_told(start: Start, connect: Connect) -> None:
    daemon = start(lambda _: [b"HTTP/1.1 400 Bad Request\r\n\r\n"])
    with pytest.raises(carpool.ProtocolError, match="not JSON"):
        connect(daemon.path).run("call", "daemon.ping")


def test_no_daemon_behind_an_explicit_socket_is_told(tmp_path: Path, connect: Connect) -> None:
    with pytest.raises(carpool.DaemonUnreachableError, match="is carpoold running"):
        connect(tmp_path / "none.sock").run("call", "daemon.ping")


def test_a_spooled_body_is_read_and_released(start: Start, connect: Connect, tmp_path: Path) -> None:
    (tmp_path / "r_1").write_bytes(b"large")
    daemon = start(result(record({"file": str(tmp_path / "r_1"), "size_bytes": 5})))
    assert connect(daemon.path).run("get", "http://a/").content == b"large"
    assert daemon.received[1]["method"] == "body.release"
    assert daemon.received[1]["params"] == {"request": "r_1"}


def test_a_spool_file_out_of_reach_is_read_in_pieces(start: Start, connect: Connect, tmp_path: Path) -> None:
    def answer(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
        match message["method"]:
            case "request.perform":
                return result(record({"file": str(tmp_path / "elsewhere")}))(message)
            case "body.read":
                offset = message["params"]["offset"]
                return result({"base64": "YWI=" if offset == 0 else "Yw==", "eof": offset == 2})(message)
        return [{"id": message["id"], "error": {"code": 1106, "message": "gone"}}]

    daemon = start(answer)
    assert connect(daemon.path).run("get", "http://a/").content == b"abc"
    assert [message["method"] for message in daemon.received] == [
        "request.perform",
        "body.read",
        "body.read",
        "body.release",
    ]


def test_a_large_body_goes_as_a_file_that_is_gone_afterwards(start: Start, connect: Connect) -> None:
    seen = {}

    def answer(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
        path = message["params"]["body"]["file"]
        seen[path] = Path(path).read_bytes()
        return result(record())(message)

    daemon = start(answer)
    connect(daemon.path).run("post", "http://a/", data=b"x" * 600_000)
    ((path, content),) = seen.items()
    assert content == b"x" * 600_000
    assert not Path(path).exists()


def test_events_come_in_order_before_and_after_answers(start: Start, connect: Connect) -> None:
    def event(number: int) -> dict[str, Any]:
        return {"method": "event", "params": {"cursor": number}}

    def answer(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
        if message["method"] == "events.subscribe":
            return [{"id": message["id"], "result": {"sub": "s1"}}, event(1)]
        return [event(2), {"id": message["id"], "result": {}}, event(3)]

    daemon = start(answer)
    client = connect(daemon.path)
    assert client.run("subscribe", ["request.*"], "all") == "s1"
    client.run("unsubscribe", "s1")
    assert [found.params["cursor"] for found in client.notified(3, timeout=10)] == [1, 2, 3]
    assert client.notified(1, timeout=0) == []
    assert daemon.received[0]["params"] == {"types": ["request.*"], "scope": "all"}
    assert daemon.received[1]["params"] == {"sub": "s1"}


def test_unread_events_are_bounded(start: Start, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_link, "MAX_NOTIFICATIONS", 3)
    events = [{"method": "event", "params": {"type": str(number)}} for number in range(5)]
    daemon = start(lambda message: [*events, {"id": message["id"], "result": 1}])
    client = connect(daemon.path)
    client.run("call", "daemon.ping")
    found = client.notified(3, timeout=10)
    assert [event.params["type"] for event in found] == ["lagged", "3", "4"]
    assert found[0].params["data"] == {"dropped": 3}


def test_waiting_for_events_ends_with_the_connection(start: Start, connect: Connect) -> None:
    daemon = start(lambda message: [{"id": message["id"], "result": 1}] if message["id"] == 1 else [])
    client = connect(daemon.path)
    client.run("call", "daemon.ping")
    with pytest.raises(carpool.ConnectionLostError):
        client.run("call", "daemon.ping")


def test_a_blocking_call_that_is_interrupted_leaves_the_client_usable(start: Start) -> None:
    arrived = threading.Event()

    def answer(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
        if message["method"] == "request.wait":
            arrived.set()
            return [b" "]
        return result(1)(message)

    interrupted = threading.Event()

    def interrupt(*_: object) -> None:
        if not interrupted.is_set():
            interrupted.set()
            raise KeyboardInterrupt

    daemon = start(answer)
    previous = signal.signal(signal.SIGUSR1, interrupt)
    main = threading.main_thread().ident
    assert main is not None

    def send() -> None:
        arrived.wait(10)
        # One that comes just before the call blocks is not seen before it returns.
        while not interrupted.is_set():
            signal.pthread_kill(main, signal.SIGUSR1)
            interrupted.wait(0.05)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    try:
        with carpool.Client(daemon.path) as client:
            with pytest.raises(KeyboardInterrupt):
                client.call("request.wait")
            assert client.call("daemon.ping") == 1
    finally:
        sender.join(10)
        signal.signal(signal.SIGUSR1, previous)


def test_asyncio_calls_are_answered_in_any_order(run_loop: RunLoop, start: Start) -> None:
    held: list[dict[str, Any]] = []

    def answer(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
        held.append({"id": message["id"], "result": message["params"]["number"]})
        return [b" "] if len(held) < 20 else [*reversed(held)]

    async def run(path: Path) -> list[int]:
        async with carpool.AsyncClient(path) as client:
            return list(await asyncio.gather(*(client.call("m", number=number) for number in range(20))))

    assert run_loop(run(start(answer).path)) == list(range(20))


def test_a_cancelled_asyncio_call_cancels_the_call_at_the_daemon(run_loop: RunLoop, start: Start) -> None:
    def answer(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
        if message["method"] == "rpc.cancel":
            return [{"id": message["params"]["id"], "error": {"code": -32800, "message": "cancelled"}}]
        return [b" "] if message["method"] == "request.wait" else result(1)(message)

    daemon = start(answer)

    async def run() -> None:
        async with carpool.AsyncClient(daemon.path) as client:
            await client.call("daemon.ping")
            task = asyncio.create_task(client.call("request.wait"))
            await asyncio.sleep(0)
            await client.call("daemon.ping")
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await client.call("daemon.ping") == 1

    run_loop(run())
    assert [message["method"] for message in daemon.received] == [
        "daemon.ping",
        "request.wait",
        "daemon.ping",
        "rpc.cancel",
        "daemon.ping",
    ]


def test_closing_an_asyncio_client_ends_its_calls(run_loop: RunLoop, start: Start) -> None:
    daemon = start(lambda message: [b" "] if message["method"] == "request.wait" else result(1)(message))

    async def run() -> None:
        client = carpool.AsyncClient(daemon.path)
        await client.call("daemon.ping")
        task = asyncio.create_task(client.call("request.wait"))
        await client.call("daemon.ping")
        await client.aclose()
        with pytest.raises(carpool.ConnectionLostError, match="closed"):
            await task

    run_loop(run())


@pytest.mark.parametrize("kind", [carpool.Client, carpool.AsyncClient])
def test_a_client_cannot_be_pickled_and_says_what_to_do(tmp_path: Path, kind: type) -> None:
    for copied in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match="make one in each process"):
            copied(kind(tmp_path / "s"))


def test_results_can_be_pickled(start: Start, connect: Connect) -> None:
    response = connect(start(result(record({"text": "hello"}))).path).run("get", "http://a/")
    again = pickle.loads(pickle.dumps(response))
    assert (again, again.text, again.headers) == (response, "hello", response.headers)
    event = carpool.Event({"type": "t", "cursor": "a.1"})
    assert pickle.loads(pickle.dumps(event)) == event
