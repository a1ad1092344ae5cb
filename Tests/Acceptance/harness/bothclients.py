"""The Python client in both forms behind one interface: a test of what they share runs once for each."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

import carpool

from .daemon import Daemon

KINDS = ["blocking", "asyncio"]


class Awaited:
    """An `AsyncClient` whose coroutines are run to their ends, and whose iterators are lists."""

    def __init__(self, client: carpool.AsyncClient) -> None:
        vars(self)["client"] = client
        vars(self)["loop"] = asyncio.new_event_loop()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.client, name)
        return self._run(found) if inspect.ismethod(found) else found

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.client, name, value)

    def __repr__(self) -> str:
        return repr(self.client)

    def _run(self, method: Any) -> Any:
        def run(*arguments: Any, **named: Any) -> Any:
            made = method(*arguments, **named)
            if inspect.isasyncgen(made):
                return iter(self.loop.run_until_complete(_listed(made)))
            return self.loop.run_until_complete(made) if inspect.isawaitable(made) else made

        return run

    def head_of_stream(self, url: str, **options: Any) -> carpool.Response:
        """Return the head of a stream, which is closed."""

        async def open_and_close() -> carpool.Response:
            async with self.client.stream("GET", url, **options) as stream:
                await stream.read()
                head: carpool.Response = stream.head
                return head

        head: carpool.Response = self.loop.run_until_complete(open_and_close())
        return head


async def _listed(made: Any) -> list[Any]:
    return [each async for each in made]


class Blocking:
    """A `Client`."""

    def __init__(self, client: carpool.Client) -> None:
        vars(self)["client"] = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.client, name, value)

    def __repr__(self) -> str:
        return repr(self.client)

    def head_of_stream(self, url: str, **options: Any) -> carpool.Response:
        """Return the head of a stream, which is closed."""
        with self.client.stream("GET", url, **options) as stream:
            stream.read()
            head: carpool.Response = stream.head
            return head


@contextlib.contextmanager
def opened(kind: str, daemon: Daemon, **arguments: Any) -> Iterator[Any]:
    """A client of a kind, with the arguments of its class."""
    if kind == "blocking":
        with carpool.Client(daemon.socket, **arguments) as client:
            yield Blocking(client)
        return
    awaited = Awaited(carpool.AsyncClient(daemon.socket, **arguments))
    try:
        yield awaited
    finally:
        awaited.loop.run_until_complete(awaited.client.aclose())
        awaited.loop.run_until_complete(awaited.loop.shutdown_default_executor())
        awaited.loop.close()
