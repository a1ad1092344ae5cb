"""httpx-sse: events with ids, names and several lines, read as they come; a stream that is continued by its last id."""

from __future__ import annotations

import asyncio

import httpx
from httpx_sse import SSEError, aconnect_sse, connect_sse
from loopback import EventStream, Origin, adapter, serving

EVENTS = ["id: 1\nevent: added\ndata: one\ndata: and more\n\n", "retry: 10\nid: 2\ndata: zwei größer\n\n"]


def blocking(origin: Origin) -> None:
    events = EventStream(EVENTS)
    url = origin.on("/events", events)
    with httpx.Client(transport=adapter().CarpoolTransport()) as client:
        with connect_sse(client, "GET", url) as source:
            assert source.response.headers["content-type"] == "text/event-stream"
            found = []
            for event in source.iter_sse():
                found.append((event.id, event.event, event.data, event.retry))
                events.go_on()
        assert found == [("1", "added", "one\nand more", None), ("2", "message", "zwei größer", 10)], found
        assert origin.requests[-1].values("accept") == ["text/event-stream"]

        with connect_sse(client, "GET", url, headers={"Last-Event-ID": found[-1][0]}) as source:
            events.go_on()
            assert len(list(source.iter_sse())) == 2
        assert origin.requests[-1].values("last-event-id") == ["2"]

        with connect_sse(client, "GET", origin.json("/json", {})) as source:
            try:
                list(source.iter_sse())
            except SSEError as error:
                assert "application/json" in str(error)
            else:
                raise AssertionError("no SSEError")


async def from_tasks(origin: Origin) -> None:
    async def read(client: httpx.AsyncClient, number: int) -> list[str]:
        events = EventStream([f"data: {number}\n\n", "data: end\n\n"])
        url = origin.on(f"/events/{number}", events)
        texts = []
        async with aconnect_sse(client, "GET", url) as source:
            async for event in source.aiter_sse():
                texts.append(event.data)
                events.go_on()
        return texts

    async with httpx.AsyncClient(transport=adapter().AsyncCarpoolTransport()) as client:
        found = await asyncio.gather(*(read(client, number) for number in range(10)))
        assert found == [[str(number), "end"] for number in range(10)], found

        # Left before its end: the origin sees the connection close.
        endless = EventStream(["data: x\n\n"], ends=False)
        async with aconnect_sse(client, "GET", origin.on("/endless", endless)) as source:
            async for event in source.aiter_sse():
                assert event.data == "x"
                break
        assert await asyncio.to_thread(endless.was_left.wait, 20)


with serving() as origin:
    blocking(origin)
    asyncio.run(from_tasks(origin))
