"""A time limit in asyncio: the same in each version of Python."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from both_clients import Start, result
from loops import RunLoop

import carpool
from carpool._link_async import within


def test_the_limit_ends_what_takes_too_long(run_loop: RunLoop) -> None:
    async def main() -> None:
        task = asyncio.current_task()
        assert task is not None
        with pytest.raises(asyncio.TimeoutError):
            await within(asyncio.Event().wait(), 0.001)
        if sys.version_info >= (3, 11):
            assert task.cancelling() == 0
        # It is not cancelled later either.
        await asyncio.sleep(0)

    run_loop(main())


@pytest.mark.parametrize("seconds", [None, 10, 0])
def test_a_value_is_returned_from_the_same_task(run_loop: RunLoop, seconds: float | None) -> None:
    async def answer() -> asyncio.Task[Any] | None:
        return asyncio.current_task()

    async def main() -> None:
        assert await within(answer(), seconds) is asyncio.current_task()

    run_loop(main())


def test_an_exception_is_raised(run_loop: RunLoop) -> None:
    async def fail() -> None:
        raise LookupError("none")

    with pytest.raises(LookupError):
        run_loop(within(fail(), 10))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 does not count who has cancelled a task")
def test_who_cancels_when_the_limit_ends_is_not_ignored(run_loop: RunLoop) -> None:
    async def main() -> None:
        async def wait() -> None:
            waiting = asyncio.current_task()
            assert waiting is not None
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                waiting.cancel()
                raise

        task = asyncio.create_task(within(wait(), 0.001))
        with pytest.raises(asyncio.CancelledError):
            await task

    run_loop(main())


def test_a_reader_is_cancelled_although_its_notification_arrives_in_the_same_turn(
    run_loop: RunLoop, start: Start
) -> None:
    async def main(path: Path) -> None:
        async with carpool.AsyncClient(path) as client:
            await client.call("daemon.ping")
            link = client._channel.link
            assert link is not None
            reading = asyncio.create_task(client._channel.notification(10))
            while not link.arrival._waiters:
                await asyncio.sleep(0)
            link.arrival.set()
            # One turn, in which the event has woken its reader.
            asyncio.get_running_loop().call_soon(reading.cancel)
            await asyncio.wait({reading}, timeout=10)
            assert reading.cancelled()

    run_loop(main(start(result({})).path))
