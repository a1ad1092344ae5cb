"""Events and reachability in Python: every loss is reported, after a restart and to a slow reader."""

from __future__ import annotations

import asyncio

import carpool
import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.namespaces import Machine
from harness.waiting import PATIENCE_SECONDS, eventually
from loops import RunLoop
from origins.scripted import ScriptedOrigin

FINISH = "request.did_finish"


def finish_some(client: carpool.Client, origin: ScriptedOrigin, count: int) -> list[str]:
    return [client.get(origin.url).request_id for _ in range(count)]


def test_events_as_they_happen(client: carpool.Client, origin: ScriptedOrigin) -> None:
    with client.events(snapshot=True, timeout=PATIENCE_SECONDS) as events:
        (name,) = finish_some(client, origin, 1)
        first = next(events)
        assert (first.type, first.data["requests"], first.time) == ("snapshot", [], None)
        found = []
        for event in events:
            found.append(event)
            if event.type == FINISH:
                break
    last = found[-1]
    assert (last.request_id, last.session, last.attempt) == (name, "default", 1)
    assert last.data["status"] == 200
    assert last.time is not None
    assert last.time.utcoffset() is not None
    assert last.client is not None
    assert events.cursor == last.cursor
    assert found[0].type == "request.did_resume"
    assert list(events) == []


def test_events_from_where_one_stopped(client: carpool.Client, origin: ScriptedOrigin) -> None:
    with client.events(FINISH, timeout=0.05) as events:
        assert list(events) == []
        made = finish_some(client, origin, 3)
        # The iteration continues, though it may end again before the event has come.
        first = eventually(lambda: next(events, None))
        assert first is not None
        assert first.request_id == made[0]
    with client.events([FINISH], since=events.cursor, timeout=PATIENCE_SECONDS) as rest:
        assert [next(rest).request_id, next(rest).request_id] == made[1:]


@pytest.mark.parametrize("scope", ["mine", "all"])
def test_secrets_are_told_to_those_who_have_them(client: carpool.Client, origin: ScriptedOrigin, scope: str) -> None:
    with client.events("request.did_create_url_request", scope=scope, timeout=PATIENCE_SECONDS) as events:
        client.get(origin.url, headers={"Authorization": "Bearer s3cret"})
        assert ["Authorization", "Bearer s3cret"] in next(events).data["headers"]


def test_a_daemon_that_was_killed_leaves_a_gap(start: StartDaemon, daemon: Daemon, origin: ScriptedOrigin) -> None:
    with daemon.client() as client, client.events(FINISH, scope="all", timeout=PATIENCE_SECONDS) as events:
        finish_some(client, origin, 2)
        next(events)
        last = next(events).cursor
        daemon.kill()
        start()
        gap, snapshot = next(events), next(events)
        assert (gap.type, gap.data) == ("gap", {"since": last})
        assert (snapshot.type, snapshot.data["requests"]) == ("snapshot", [])
        with daemon.client() as other:
            (name,) = finish_some(other, origin, 1)
        assert next(events).request_id == name


def test_a_daemon_that_ends_ends_the_events_of_those_who_want_that(daemon: Daemon) -> None:
    with daemon.client() as client, client.events(reconnect=False, timeout=PATIENCE_SECONDS) as events:
        daemon.kill()
        with pytest.raises(carpool.ConnectionLostError):
            list(events)


def test_a_daemon_that_does_not_come_back_is_waited_for_as_long_as_was_said(daemon: Daemon) -> None:
    with daemon.client() as client, client.events(timeout=0.2) as events:
        daemon.kill()
        assert list(events) == []


def test_a_slow_reader_learns_what_it_has_lost(run_loop: RunLoop, start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start(config={"limits": {"unread_event_bytes": 65_536}})

    async def read() -> tuple[list[carpool.Event], int]:
        client = carpool.AsyncClient(daemon.socket)
        async with client, client.events(scope="all", timeout=PATIENCE_SECONDS) as events:
            await client.get(origin.url)
            waiting = 0
            while daemon.stats()["events"]["dropped"] == 0:
                await asyncio.gather(*(client.get(f"{origin.url}/{'x' * 4000}") for _ in range(20)))
                link = events._channel.link
                assert link is not None
                waiting = max(waiting, len(link.notifications))
            found = []
            async for event in events:
                found.append(event)
                if event.type == "lagged":
                    break
            return found, waiting

    found, waiting = run_loop(read())
    assert found[-1].data["dropped"] > 0
    # The events of one read of the socket come on top of the mark.
    assert waiting < 2_000
    # Before the gap nothing is missing.
    numbers = [int(str(event.cursor).split(".")[1]) for event in found[:-1]]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_many_streams_of_one_asyncio_client(run_loop: RunLoop, daemon: Daemon, origin: ScriptedOrigin) -> None:
    async def follow(client: carpool.AsyncClient, ready: asyncio.Barrier) -> list[str | None]:
        async with client.events(FINISH, timeout=PATIENCE_SECONDS) as events:
            await ready.wait()
            return [(await anext(events)).request_id for _ in range(3)]

    async def main() -> None:
        async with carpool.AsyncClient(daemon.socket) as client:
            ready = asyncio.Barrier(5)
            followers = [asyncio.create_task(follow(client, ready)) for _ in range(4)]
            await ready.wait()
            made = [(await client.get(origin.url)).request_id for _ in range(3)]
            assert await asyncio.gather(*followers) == [made] * 4

    run_loop(main())
    eventually(lambda: daemon.stats()["events"]["subscriptions"] == 0)


def test_reachability(client: carpool.Client) -> None:
    state = client.reachability("127.0.0.1", fresh=True)
    assert state.status in {"satisfied", "unsatisfied", "unknown"}
    assert state.hosts["127.0.0.1"].is_usable
    assert state.hosts["127.0.0.1"].addresses[0]["is_local_address"]
    assert client.wait_online("127.0.0.1", timeout=PATIENCE_SECONDS).hosts["127.0.0.1"].host == "127.0.0.1"
    assert next(iter(client.watch_reachability())).status == state.status


def test_changes_of_the_network(machine: Machine, start: StartDaemon) -> None:
    daemon = machine.run(start)
    with daemon.client() as client:
        with pytest.raises(TimeoutError):
            client.wait_online(timeout=0.1)
        changes = client.watch_reachability(machine.PEER, lost_after=0, min_interval=0)
        first = next(changes)
        assert (first.is_usable, first.interface) == (False, None)
        assert str(first.reason).startswith("no_")
        machine.connect()
        assert client.wait_online(timeout=PATIENCE_SECONDS).interface == "eth0"
        state = next(state for state in changes if state.is_usable and state.hosts[machine.PEER].is_usable)
        assert state.interface == "eth0"
        machine.ip("link set eth0 down")
        assert not next(state for state in changes if state.status == "unsatisfied").is_usable


def test_requests_that_wait_for_the_network(machine: Machine, start: StartDaemon) -> None:
    daemon = machine.run(start)
    url = f"http://{machine.PEER}:1/"
    with daemon.client() as client, client.events(timeout=PATIENCE_SECONDS) as events:
        with pytest.raises(carpool.RequestError) as failure:
            client.get(url)
        assert failure.value.name == "session_task_failed.not_connected_to_internet"
        name = client.submit("GET", url, waits_for_connectivity=True)
        waiting = next(event for event in events if event.type == "task.is_waiting_for_connectivity")
        assert waiting.request_id == name
        machine.connect()
        with pytest.raises(carpool.ConnectError):
            client.wait(name, timeout=PATIENCE_SECONDS).raise_for_outcome()
