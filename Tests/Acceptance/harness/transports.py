"""Requests of requests and httpx: by their own transports, or through the daemon, blocking or from an event loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import httpx
import requests
import trio
from carpool.httpx import AsyncCarpoolTransport, CarpoolTransport
from loops import running_on
from requests.adapters import HTTPAdapter

Send = Callable[..., httpx.Response]


def mounted(adapter: HTTPAdapter) -> requests.Session:
    """Return a session of requests that sends by this adapter, whatever the environment says."""
    session = requests.Session()
    session.trust_env = False
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session


def sending(kind: str) -> Send:
    """Return a function that sends one request: itself, through the daemon, or from a task of an event loop."""
    if kind in {"plain", "blocking"}:

        def send(method: str, url: str, **arguments: Any) -> httpx.Response:
            make = httpx.HTTPTransport if kind == "plain" else CarpoolTransport
            settings = arguments.pop("settings", {})
            with httpx.Client(transport=make(**settings)) as client:
                return client.request(method, url, **arguments)

        return send

    async def send_async(method: str, url: str, arguments: dict[str, Any]) -> httpx.Response:
        settings = arguments.pop("settings", {})
        async with httpx.AsyncClient(transport=AsyncCarpoolTransport(**settings)) as client:
            return await client.request(method, url, **arguments)

    def send_from_task(method: str, url: str, **arguments: Any) -> httpx.Response:
        response: httpx.Response = running(kind, send_async, method, url, arguments)
        return response

    return send_from_task


def running(kind: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Run an asynchronous function on the event loop of a kind: asyncio, uvloop or trio."""
    return trio.run(function, *arguments) if kind == "trio" else running_on(kind)(function(*arguments))


class Blocks:
    """An asynchronous iterator over blocks, which needs not be closed."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)

    def __aiter__(self) -> Blocks:
        return self

    async def __anext__(self) -> bytes:
        for block in self._blocks:
            return block
        raise StopAsyncIteration


def content(kind: str, blocks: Iterable[bytes]) -> Any:
    """Return a body that a client of this kind reads while it is sent."""
    return iter(blocks) if kind in {"plain", "blocking"} else Blocks(blocks)
