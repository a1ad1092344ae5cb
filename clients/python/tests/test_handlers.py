"""When handlers run: inside one another in the blocking client, side by side in the asyncio one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from asking import Asking, question
from both_clients import Start, result
from daemon import Answer, record
from loops import RunLoop

import carpool
from carpool import _channel, _handlers


def nested(start: Start, count: int) -> tuple[Asking, carpool.Client, list[int]]:
    """A blocking client whose handler calls, and a daemon that sends many callbacks; the list has the depths."""
    daemon = Asking(*(question("adapt", number) for number in range(count)))
    client = carpool.Client(start(daemon).path)
    depths: list[int] = []

    def handler(_: carpool.AdaptCall) -> None:
        assert client._channel.link is not None
        depths.append(client._channel.link.nested)
        client.call("daemon.ping")

    client.register("mine", adapt=handler)
    return daemon, client, depths


def test_a_handler_may_call_with_its_own_blocking_client(start: Start) -> None:
    daemon, client, depths = nested(start, 1)
    with client:
        assert client.get("http://a/").status_code == 200
    assert depths == [1]
    assert daemon.answers["cb_0"]["result"] == {}


def test_handlers_inside_one_another_are_bounded_and_all_answered(start: Start) -> None:
    daemon, client, depths = nested(start, 50)
    with client:
        assert client.get("http://a/").status_code == 200
    assert max(depths) <= _channel.MAX_NESTED
    assert len(daemon.answers) == len(depths) == 50


def test_an_answer_that_comes_while_a_handler_calls_is_kept(start: Start) -> None:
    call: list[int] = []

    def answer(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
        match message:
            case {"method": "request.perform"}:
                call.append(message["id"])
                return [question("adapt")]
            case {"method": "daemon.ping"}:
                return [{"id": call[0], "result": record()}, *result("pong")(message)]
            case {"method": _}:
                return result({})(message)
        return [b" "]

    with carpool.Client(start(answer).path) as client:
        pongs: list[Any] = []
        client.register("mine", adapt=lambda _: pongs.append(client.call("daemon.ping")))
        assert client.get("http://a/").status_code == 200
        assert pongs == ["pong"]


def test_a_connection_that_is_lost_in_a_handler_ends_the_call_around_it(start: Start) -> None:
    def answer(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
        match message:
            case {"method": "request.perform"}:
                return [question("adapt")]
            case {"method": "daemon.shutdown"}:
                return []
        return result(1)(message)

    lost: list[BaseException] = []
    with carpool.Client(start(answer).path) as client:

        def handler(_: carpool.AdaptCall) -> None:
            with pytest.raises(carpool.ConnectionLostError) as caught:
                client.call("daemon.shutdown")
            lost.append(caught.value)
            assert client.call("daemon.ping") == 1

        client.register("mine", adapt=handler)
        with pytest.raises(carpool.ConnectionLostError, match=r"during request\.perform"):
            client.get("http://a/")
        assert len(lost) == 1
        assert client.call("daemon.ping") == 1


def test_a_handler_that_is_interrupted_interrupts_the_call(start: Start) -> None:
    def handler(_: carpool.AdaptCall) -> None:
        raise KeyboardInterrupt

    with carpool.Client(start(Asking(question("adapt"))).path) as client:
        client.register("mine", adapt=handler)
        with pytest.raises(KeyboardInterrupt):
            client.get("http://a/")
        assert client.call("daemon.ping") == {}


def test_questions_that_wait_are_bounded(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_channel, "MAX_QUESTIONS", 3)
    monkeypatch.setattr(_channel, "MAX_NESTED", 1)
    daemon, client, _ = nested(start, 20)
    with client:
        client.get("http://a/")
    refused = [answer for answer in daemon.answers.values() if "error" in answer]
    assert len(daemon.answers) == 20
    assert {answer["error"]["message"] for answer in refused} <= {"too many callbacks are waiting"}


def test_a_blocking_client_takes_no_asynchronous_handler(start: Start, tmp_path: Path) -> None:
    async def handler(_: carpool.AdaptCall) -> None: ...

    class Hidden:
        async def __call__(self, _: carpool.AdaptCall) -> None: ...

    with carpool.Client(tmp_path / "none.sock") as client, pytest.raises(TypeError, match="use an AsyncClient"):
        client.register("mine", adapt=handler)  # type: ignore[arg-type]
    daemon = Asking(question("adapt"))
    with carpool.Client(start(daemon).path) as client:
        client.register("mine", adapt=Hidden())  # type: ignore[arg-type]
        client.get("http://a/")
    assert daemon.answers["cb_1"]["error"]["message"] == "TypeError"


def test_asynchronous_handlers_run_at_the_same_time(run_loop: RunLoop, start: Start) -> None:
    daemon = Asking(*(question("adapt", number) for number in range(20)))

    async def run(path: Path) -> None:
        running = 0
        everybody = asyncio.Event()

        async def handler(_: carpool.AdaptCall) -> None:
            nonlocal running
            running += 1
            if running == 20:
                everybody.set()
            await everybody.wait()
            await client.call("daemon.ping")

        async with carpool.AsyncClient(path) as client:
            await client.register("mine", adapt=handler)
            assert (await client.get("http://a/")).status_code == 200

    run_loop(run(start(daemon).path))
    assert all("result" in answer for answer in daemon.answers.values())


def test_an_asynchronous_handler_ends_at_its_deadline(
    run_loop: RunLoop, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    daemon = Asking(question("adapt", deadline_ms=1))

    async def run(path: Path) -> None:
        async def handler(_: carpool.AdaptCall) -> None:
            await asyncio.Event().wait()

        async with carpool.AsyncClient(path) as client:
            await client.register("mine", adapt=handler)
            await client.get("http://a/")

    run_loop(run(start(daemon).path))
    assert daemon.answers["cb_1"]["error"] == {"code": -32603, "message": "TimeoutError"}
    assert "the adapt handler of 'mine' failed" in caplog.text


def hanging(start: Start) -> tuple[Path, Answer]:
    daemon = Asking(question("adapt"), question("adapt", 2))
    return start(daemon).path, daemon


def test_closing_the_client_ends_its_asynchronous_handlers(run_loop: RunLoop, start: Start) -> None:
    path, _ = hanging(start)

    async def run() -> int:
        started, ended = asyncio.Event(), 0

        async def handler(_: carpool.AdaptCall) -> None:
            nonlocal ended
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended += 1

        client = carpool.AsyncClient(path)
        await client.register("mine", adapt=handler)
        request = asyncio.create_task(client.get("http://a/"))
        await started.wait()
        await client.aclose()
        with pytest.raises(carpool.ConnectionLostError):
            await request
        return ended

    assert run_loop(run()) >= 1


def test_an_asynchronous_handler_may_close_its_client(run_loop: RunLoop, start: Start) -> None:
    path, _ = hanging(start)

    async def run() -> None:
        client = carpool.AsyncClient(path)

        async def handler(_: carpool.AdaptCall) -> None:
            await client.aclose()

        await client.register("mine", adapt=handler)
        with pytest.raises(carpool.ConnectionLostError, match="the client was closed"):
            await client.get("http://a/")

    run_loop(run())


def test_an_asynchronous_handler_continues_after_it_has_closed_its_client(run_loop: RunLoop, start: Start) -> None:
    daemon = Asking(question("adapt", deadline_ms=50_000))

    async def run(path: Path) -> None:
        client, closed = carpool.AsyncClient(path), asyncio.Event()

        async def handler(_: carpool.AdaptCall) -> None:
            await client.aclose()
            closed.set()

        await client.register("mine", adapt=handler)
        with pytest.raises(carpool.ConnectionLostError, match="the client was closed"):
            await client.get("http://a/")
        await asyncio.wait_for(closed.wait(), 10)

    run_loop(run(start(daemon).path))


def test_asynchronous_handlers_under_way_are_bounded(
    run_loop: RunLoop, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carpool._link_async.MAX_QUESTIONS", 2)
    assert _handlers.MAX_QUESTIONS == 256
    daemon = Asking(*(question("adapt", number) for number in range(3)))

    async def run(path: Path) -> None:
        async def handler(_: carpool.AdaptCall) -> None:
            await client.call("daemon.ping")  # answered after the last callback was sent

        async with carpool.AsyncClient(path) as client:
            await client.register("mine", adapt=handler)
            await client.get("http://a/")

    run_loop(run(start(daemon).path))
    assert daemon.answers["cb_2"]["error"]["message"] == "too many callbacks are waiting"
