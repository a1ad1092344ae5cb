"""An ASGI app without a framework: it relays what an origin answers, by the asynchronous client of Carpool."""

from __future__ import annotations

import asyncio
import os
from typing import Any
from urllib.parse import parse_qs

import carpool
import httpx
from carpool.httpx import AsyncCarpoolTransport

ORIGIN = os.environ["ORIGIN"]
# Made with the module, before uvicorn runs its loop.
client = carpool.AsyncClient()
through_httpx = httpx.AsyncClient(transport=AsyncCarpoolTransport())


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Serve one connection, or the start and the end of the server."""
    if scope["type"] == "lifespan":
        await live(receive, send)
        return
    name = parse_qs(scope["query_string"].decode()).get("name", [""])[0]
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message["body"]
        if not message.get("more_body"):
            break
    await {"/get": get, "/httpx": get_by_httpx, "/relay": relay, "/both": both, "/post": post, "/loop": loop}[
        scope["path"]
    ](name, body, receive, send)


async def live(receive: Any, send: Any) -> None:
    while (message := await receive())["type"] != "lifespan.shutdown":
        await send({"type": f"{message['type']}.complete"})
    await client.aclose()
    await through_httpx.aclose()
    await send({"type": "lifespan.shutdown.complete"})


async def answer(send: Any, status: int, body: bytes) -> None:
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def get(name: str, _body: bytes, _receive: Any, send: Any) -> None:
    response = await client.get(f"{ORIGIN}/{name}")
    await answer(send, response.status_code, response.content)


async def post(name: str, body: bytes, _receive: Any, send: Any) -> None:
    response = await client.post(f"{ORIGIN}/{name}", data=body)
    await answer(send, response.status_code, response.content)


async def get_by_httpx(name: str, _body: bytes, _receive: Any, send: Any) -> None:
    response = await through_httpx.get(f"{ORIGIN}/{name}")
    await answer(send, response.status_code, response.content)


async def both(name: str, _body: bytes, _receive: Any, send: Any) -> None:
    responses = await asyncio.gather(*(client.get(f"{ORIGIN}/{name}?{number}") for number in range(5)))
    await answer(send, 200, b"".join(response.content for response in responses))


async def loop(_name: str, _body: bytes, _receive: Any, send: Any) -> None:
    await answer(send, 200, type(asyncio.get_running_loop()).__module__.encode())


async def relay(name: str, _body: bytes, receive: Any, send: Any) -> None:
    """Relay the body as it arrives; when the browser leaves, the request ends too."""

    async def read() -> None:
        async with client.stream("GET", f"{ORIGIN}/{name}") as stream:
            await send({"type": "http.response.start", "status": stream.status_code, "headers": []})
            async for block in stream.iter_bytes():
                await send({"type": "http.response.body", "body": block, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    reading = asyncio.create_task(read())
    leaving = asyncio.create_task(receive())
    await asyncio.wait([reading, leaving], return_when=asyncio.FIRST_COMPLETED)
    for task in (reading, leaving):
        task.cancel()
    await asyncio.wait([reading, leaving])
    if not reading.cancelled():
        reading.result()
