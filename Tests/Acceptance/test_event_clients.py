"""Five clients of five kinds follow the same run, and end with the same list."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import aiorpcx  # type: ignore[import-untyped]
import carpool
from harness.daemon import Daemon
from harness.process import running
from harness.story import told
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import ScriptedOrigin, statuses
from pygls.client import JsonRPCClient
from pygls.io_ import run_async
from test_catalogue import check, closed, document

Event = dict[str, Any]
Follower = Callable[[str, Callable[[], None]], list[Event]]

TYPES = ["request.*", "task.*", "session.*"]
LAST = "session.did_become_invalid"
"""The last event of the run."""


def with_python(path: str, ready: Callable[[], None]) -> list[Event]:
    events: list[Event] = []
    with carpool.Client(path) as client:
        client.call("events.subscribe", types=TYPES, scope="all")
        ready()
        for notification in client.notifications(PATIENCE_SECONDS):
            events.append(notification.params)
            if events[-1]["type"] == LAST:
                return events
    raise AssertionError("the events end too soon")


def with_asyncio(path: str, ready: Callable[[], None]) -> list[Event]:
    async def follow() -> list[Event]:
        events: list[Event] = []
        async with carpool.AsyncClient(path) as client:
            await client.call("events.subscribe", types=TYPES, scope="all")
            ready()
            async for notification in client.notifications(PATIENCE_SECONDS):
                events.append(notification.params)
                if events[-1]["type"] == LAST:
                    return events
        raise AssertionError("the events end too soon")

    return asyncio.run(follow())


def with_a_shell(path: str, ready: Callable[[], None]) -> list[Event]:
    """A subscription keeps its connection, although nc has closed its side."""
    call = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "events.subscribe", "params": {"types": TYPES, "scope": "all"}}
    )
    script = f"nc -N -U {shlex.quote(path)} <<< {shlex.quote(call)} | jq --unbuffered -c '.params // .result'"
    events: list[Event] = []
    with running(["bash", "-c", script], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            message = json.loads(line)
            if "type" not in message:
                ready()
                continue
            events.append(message)
            if message["type"] == LAST:
                break
        # The pipe breaks, and both end with it, as they do in a script.
        subprocess.run(["kill", "--", f"-{process.pid}"], check=True)
    return events


def with_pygls(path: str, ready: Callable[[], None]) -> list[Event]:
    async def follow() -> list[Event]:
        heard: asyncio.Queue[Any] = asyncio.Queue()
        client = JsonRPCClient()

        @client.feature("event")  # type: ignore[untyped-decorator]
        async def hear(event: Any) -> None:
            await heard.put(event)

        reader, writer = await asyncio.open_unix_connection(path)
        client.protocol.set_writer(writer)
        stop = threading.Event()
        running = asyncio.create_task(run_async(stop_event=stop, reader=reader, protocol=client.protocol))
        subscribe = client.protocol.send_request_async("events.subscribe", {"types": TYPES, "scope": "all"})
        await asyncio.wait_for(subscribe, PATIENCE_SECONDS)
        ready()
        events: list[Event] = []
        while not events or events[-1]["type"] != LAST:
            events.append(plain(await asyncio.wait_for(heard.get(), PATIENCE_SECONDS)))
        stop.set()
        writer.close()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return events

    return asyncio.run(follow())


def plain(value: Any) -> Any:
    """Convert objects of pygls back to their JSON values."""
    if hasattr(value, "_asdict"):
        return {name: plain(member) for name, member in value._asdict().items()}
    return [plain(element) for element in value] if isinstance(value, list) else value


def with_aiorpcx(path: str, ready: Callable[[], None]) -> list[Event]:
    async def follow() -> list[Event]:
        heard: asyncio.Queue[Any] = asyncio.Queue()

        class Session(aiorpcx.RPCSession):  # type: ignore[misc]
            async def handle_request(self, request: Any) -> None:
                await heard.put(request.args)

        events: list[Event] = []
        async with aiorpcx.connect_us(path, session_factory=Session) as session:
            await session.send_request("events.subscribe", {"types": TYPES, "scope": "all"})
            ready()
            while not events or events[-1]["type"] != LAST:
                events.append(await asyncio.wait_for(heard.get(), PATIENCE_SECONDS))
        return events

    return asyncio.run(follow())


FOLLOWERS: list[Follower] = [with_python, with_asyncio, with_a_shell, with_pygls, with_aiorpcx]


def run(client: carpool.Client, origin: ScriptedOrigin) -> None:
    """Requests that succeed, fail, are retried and are cancelled, in a session that ends."""
    origin.hold("/held")
    client.call("session.create", name="short")
    retry = [{"retry_policy": {"scale_ms": 1}}]
    calls: list[dict[str, Any]] = [
        {"url": origin.url},
        {"url": "http://127.0.0.1:1/"},
        {"url": origin.on("/flaky", statuses(500, 200)), "interceptor": retry, "validate": True},
        {"url": origin.on("/bytes", statuses(200, body=bytes(range(256)))), "headers": {"X-A": "x"}},
        {"url": ""},
    ]
    for params in calls:
        client.call("request.perform", session="short", **params)
    request = client.call("request.submit", url=f"{origin.url}/held", session="short")["request"]
    client.call("request.cancel", request=request)
    client.call("request.wait", request=request)
    client.call("session.invalidate", session="short", mode="finish")


def test_five_clients_end_with_the_same_list(daemon: Daemon, origin: ScriptedOrigin) -> None:
    ready = threading.Semaphore(0)
    with ThreadPoolExecutor(len(FOLLOWERS)) as pool:
        lists: list[Future[list[Event]]] = [
            pool.submit(follow, str(daemon.socket), ready.release) for follow in FOLLOWERS
        ]
        for _ in FOLLOWERS:
            assert ready.acquire(timeout=PATIENCE_SECONDS)
        with daemon.client() as client:
            run(client, origin)
        heard = [future.result(PATIENCE_SECONDS) for future in lists]
    for events in heard:
        for event in events:
            del event["sub"]
    assert len(heard[0]) > 60
    assert told(heard[0][-1]) == LAST
    for events in heard[1:]:
        assert events == heard[0]
    check_all(heard[0])


def check_all(events: list[Event]) -> None:
    """Fail if an event has a member that its type's schema does not describe."""
    described = document()
    components = closed(described["components"])
    notification = next(entry for entry in described["x-notifications"] if entry["name"] == "event")
    schemas = {kind["name"]: closed(kind["data"]) for kind in notification["types"]}
    for event in events:
        check(event["data"], schemas[event["type"]], components)
