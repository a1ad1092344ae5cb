"""How the network affects requests that wait for it, and requests that fail (docs/connectivity.md)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.link import Link, with_file
from harness.story import BEGINNING, COMPLETING, Story, ending, failing
from harness.waiting import PATIENCE_SECONDS, SLOWNESS, eventually
from origins.scripted import Exchange, ScriptedOrigin

WAITING = "task.is_waiting_for_connectivity"
OFFLINE = "session_task_failed.not_connected_to_internet"
LOST = "session_task_failed.network_connection_lost"
WHILE_TESTED_MS = int(5_000 * PATIENCE_SECONDS)
"""Longer than a test waits for an answer."""
AT_ONCE_SECONDS = 1 * SLOWNESS
"""Shorter than the three seconds for which the kernel looks for a neighbour, which would end a request next."""


@pytest.fixture
def far(link: Link) -> Iterator[ScriptedOrigin]:
    """An origin at the other end of the link."""
    origin = link.outside.run(lambda: ScriptedOrigin(address=link.PEER))
    yield origin
    origin.stop()


@pytest.fixture
def near(link: Link, start: StartDaemon) -> Daemon:
    """A daemon at this end, which has evaluated the network."""
    daemon = link.inside.run(start)
    assert daemon.call("reachability.get")["status"] == "satisfied"
    return daemon


@pytest.fixture
def heard(near: Daemon) -> Iterator[Story]:
    with near.wire() as wire:
        yield Story(wire)


def lose(link: Link, daemon: Daemon) -> None:
    """Cut the link, and wait until the daemon has noticed."""
    link.down()
    eventually(lambda: daemon.call("reachability.get")["status"] == "unsatisfied")


def submit(heard: Story, url: str, **params: Any) -> str:
    return str(heard.result(heard.wire.request("request.submit", {"url": url, **params}))["request"])


def when(event: dict[str, Any]) -> float:
    return datetime.fromisoformat(event["time"]).timestamp()


def error_of(record: dict[str, Any]) -> dict[str, Any]:
    error: dict[str, Any] = record["outcome"]["error"]
    return error


# Waiting


def test_a12_em_08_a_request_waits_for_the_network(link: Link, far: ScriptedOrigin, near: Daemon, heard: Story) -> None:
    lose(link, near)
    request = heard.submit(far.url, waits_for_connectivity=True)
    waiting = heard.until(WAITING, request)
    assert waiting["data"]["status"] == "unsatisfied" and waiting["data"]["reason"]
    assert waiting["attempt"] == 1
    assert when(waiting) - when(heard.until("request.did_resume", request)) < AT_ONCE_SECONDS
    assert far.connections == 0
    link.up()
    link.settle()
    back = time.time()
    assert heard.wait(request)["response"]["status"] == 200
    words = heard.words(request)
    received = ["task.did_receive_response(200)", "task.did_receive_data"]
    assert words == [*BEGINNING, WAITING, *received, *COMPLETING, *ending()]
    assert when(heard.until("request.did_finish", request)) - back < 1.5 * SLOWNESS


def test_a12_nr_12_without_waiting_it_fails_at_once(
    link: Link, far: ScriptedOrigin, near: Daemon, heard: Story
) -> None:
    # An open connection does not notice it, and a request must not wait on it.
    assert heard.perform(far.url)["response"]["status"] == 200
    lose(link, near)
    request = heard.submit(far.url)
    error = error_of(heard.wait(request))
    assert error["name"] == OFFLINE and error["url_error_code"] == -1009
    assert heard.words(request) == [*BEGINNING, *failing("not_connected_to_internet"), *ending(OFFLINE)]
    first, last = heard.until("request.did_resume", request), heard.until("request.did_finish", request)
    assert when(last) - when(first) < AT_ONCE_SECONDS
    state = error["details"]["reachability"]
    assert state["status"] == "unsatisfied" and state["reason"]
    assert state["supports_ipv4"] is False and state["lost_meanwhile"] is False
    link.up()
    eventually(lambda: near.call("reachability.get")["status"] == "satisfied")
    assert heard.perform(far.url)["response"]["status"] == 200
    assert far.connections == 1, "it was kept for when there is a way"


def test_a12_the_session_can_say_so_and_the_request_otherwise(link: Link, far: ScriptedOrigin, near: Daemon) -> None:
    near.call("session.create", name="patient", configuration={"waits_for_connectivity": True})
    lose(link, near)
    with near.wire() as wire:
        patient = wire.call("request.submit", url=far.url, session="patient")["request"]
        record = wire.call("request.perform", url=far.url, session="patient", waits_for_connectivity=False)
        assert error_of(record)["name"] == OFFLINE
        link.up()
        assert wire.call("request.wait", request=patient)["response"]["status"] == 200


def test_a12_waiting_ends_with_a_cancellation_and_with_the_resources_time(
    link: Link, far: ScriptedOrigin, near: Daemon, heard: Story
) -> None:
    lose(link, near)
    cancelled = heard.submit(far.url, waits_for_connectivity=True)
    heard.until(WAITING, cancelled)
    heard.call("request.cancel", request=cancelled)
    assert error_of(heard.wait(cancelled))["name"] == "explicitly_cancelled"
    # Neither the connect timeout nor the idle timeout runs.
    late = heard.submit(
        far.url, waits_for_connectivity=True, timeout_ms=10, connect_timeout_ms=10, resource_timeout_ms=300
    )
    error = error_of(heard.wait(late))
    assert (error["name"], error["timeout"]) == ("session_task_failed.timed_out", "resource")
    assert error["details"]["reachability"]["status"] == "unsatisfied"
    link.up()
    assert heard.perform(far.url)["response"]["status"] == 200
    assert len(far.requests) == 1


def test_a12_a_hundred_that_waited_go_six_at_a_time(link: Link, far: ScriptedOrigin, near: Daemon) -> None:
    lock = threading.Lock()
    under_way, most = 0, 0

    def count(exchange: Exchange) -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        exchange.reply()
        with lock:
            under_way -= 1

    url = far.on("/counted", count)
    lose(link, near)
    with near.wire() as wire:
        for _ in range(100):
            wire.request("request.perform", url=url, waits_for_connectivity=True)
        eventually(lambda: near.stats()["requests"]["active"] == 100)
        link.up()
        assert [wire.receive()["result"]["response"]["status"] for _ in range(100)] == [200] * 100
    assert len(far.requests) == 100
    assert most <= 6 and far.connections <= 6


def test_a_name_waits_too_while_there_is_no_way_to_the_world(
    link: Link, far: ScriptedOrigin, start: StartDaemon, tmp_path: Path
) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text(f"{link.PEER} far.test\n")
    daemon = with_file(link.inside, "/etc/hosts", hosts, start)
    lose(link, daemon)
    with daemon.wire() as wire:
        story = Story(wire)
        request = story.submit(f"http://far.test:{far.port}/", waits_for_connectivity=True)
        story.until(WAITING, request)
        link.up()
        assert story.wait(request)["response"]["status"] == 200


def test_nr_12_the_configuration_can_say_that_it_is_gone(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start(config={"reachability": {"override": "unsatisfied"}})
    with daemon.wire() as wire:
        story = Story(wire)
        request = story.submit(origin.url, waits_for_connectivity=True)
        story.until(WAITING, request)
        assert story.perform(origin.url)["response"]["status"] == 200, "a request that does not wait is served"
        daemon.configure({})
        story.call("daemon.config_reload")
        assert story.wait(request)["response"]["status"] == 200


def test_names_that_lead_nowhere_wait_in_peace(link: Link, start: StartDaemon, tmp_path: Path) -> None:
    # Without a default route a name may be that of a neighbour, so it is tried; but only after a change of the network.
    link.ip("route delete default")
    hosts = tmp_path / "hosts"
    hosts.write_text("".join(f"203.0.113.{number} {number}.test\n" for number in range(1, 5)))
    daemon = with_file(link.inside, "/etc/hosts", hosts, start)
    with daemon.wire() as wire, daemon.wire() as other:
        story = Story(wire)
        requests = [story.submit(f"http://{number}.test/", waits_for_connectivity=True) for number in range(1, 4)]
        for request in requests:
            story.until(WAITING, request)

        def has_been_quiet() -> bool:
            """Whether the kernel sent no message while failures caused five evaluations of the network."""
            before, failures = daemon.stats(), 0
            while (now := daemon.stats())["reachability"]["evaluations"] < before["reachability"]["evaluations"] + 5:
                assert error_of(other.call("request.perform", url="http://4.test/"))["name"] == OFFLINE
                failures += 1
            if any(now["reachability"][name] != before["reachability"][name] for name in ("datagrams", "resyncs")):
                return False
            finished = before["transfers"]["finished"] + failures
            assert now["transfers"] == before["transfers"] | {"finished": finished}, "one that waits was sent"
            return True

        eventually(has_been_quiet)
        for request in requests:
            story.call("request.cancel", request=request)


def test_a_redirect_to_where_there_is_no_way_waits(link: Link, far: ScriptedOrigin, near: Daemon, heard: Story) -> None:
    elsewhere = "203.0.113.1"
    link.ip(f"route add unreachable {elsewhere}/32")
    link.peer(f"addr add {elsewhere}/32 dev lo")
    target = f"http://{elsewhere}:{far.port}/"
    url = far.on("/moved", lambda exchange: exchange.reply(302, headers=[("Location", target)]))
    origin = link.outside.run(lambda: ScriptedOrigin(address=elsewhere))
    try:
        target = origin.url + "/"
        request = heard.submit(url, waits_for_connectivity=True)
        assert heard.until(WAITING, request)["data"]["reason"] == "unreachable"
        link.ip(f"route delete unreachable {elsewhere}/32")
        record = heard.wait(request)
        assert record["response"]["status"] == 200
        assert len(record["attempts"][0]["metrics"]) == 2
    finally:
        origin.stop()


# Failing


@pytest.mark.parametrize("kind", ["unreachable", "prohibit", "blackhole"])
def test_a_route_that_refuses_is_no_silent_host(link: Link, near: Daemon, kind: str) -> None:
    link.ip(f"route add {kind} 203.0.113.1/32")
    with near.wire() as wire:
        error = error_of(wire.call("request.perform", url="http://203.0.113.1/"))
    assert error["name"] == OFFLINE
    assert error["details"]["reachability"]["status"] == "unsatisfied"
    assert error["details"]["reachability"]["supports_ipv4"] is True, "the world is there"


def test_what_somebody_has_answered_is_not_the_networks(link: Link, near: Daemon) -> None:
    with near.wire() as wire:
        error = error_of(wire.call("request.perform", url=f"http://{link.PEER}:1/"))
    assert error["name"] == "session_task_failed.cannot_connect_to_host"
    assert "details" not in error


# Retrying


def test_rt_12_an_offline_request_is_sent_when_the_network_is_back(
    link: Link, far: ScriptedOrigin, near: Daemon, heard: Story
) -> None:
    lose(link, near)
    request = submit(heard, far.url, method="POST", interceptor=[{"offline": {"wait_ms": WHILE_TESTED_MS}}])
    heard.until("request.did_complete_task(not_connected_to_internet)", request)
    link.up()
    record = heard.wait(request)
    assert record["response"]["status"] == 200
    assert len(record["attempts"]) == 2 and record["attempts"][0]["error"] == OFFLINE
    assert "request.is_retrying(1)" in heard.words(request)


@pytest.mark.parametrize(("method", "times"), [("POST", 1), ("GET", 2)])
def test_rt_12_what_a_server_has_redirected_is_sent_again_only_if_it_may_be(
    link: Link, far: ScriptedOrigin, near: Daemon, heard: Story, method: str, times: int
) -> None:
    """The server that has answered may have carried it out; only the host behind it has no route."""
    elsewhere = "192.0.2.77"
    link.ip(f"route add throw {elsewhere}/32")
    url = far.on("/moved", lambda exchange: exchange.reply(303, headers=[("Location", f"http://{elsewhere}/")]))
    interceptor = [{"offline": {"wait_ms": WHILE_TESTED_MS}}]
    request = submit(heard, url, method=method, interceptor=interceptor, connect_timeout_ms=500)
    heard.until("request.did_complete_task(not_connected_to_internet)", request)
    link.ip(f"route del throw {elsewhere}/32")
    record = heard.wait(request)
    assert len(record["attempts"]) == times
    assert record["attempts"][0]["error"] == OFFLINE
    assert [received.method for received in far.requests] == [method] * times


def test_rt_12_it_keeps_its_failure_if_the_network_stays_away(link: Link, far: ScriptedOrigin, near: Daemon) -> None:
    lose(link, near)
    with near.wire() as wire:
        longer = wire.call("request.submit", url=far.url, interceptor=[{"offline": {"wait_ms": WHILE_TESTED_MS}}])
        began = time.monotonic()
        record = wire.call("request.perform", url=far.url, interceptor=[{"offline": {"wait_ms": 300}}])
        assert time.monotonic() - began >= 0.3
        assert wire.call("request.get", request=longer["request"])["finished"] is False
        wire.call("request.cancel", request=longer["request"])
    assert error_of(record)["name"] == OFFLINE
    assert len(record["attempts"]) == 1


def lose_under_way(link: Link, far: ScriptedOrigin, heard: Story, method: str) -> str:
    """Make a request whose answer does not come, and remove the address until the request is lost."""
    gate = far.hold("/held")
    interceptor = [{"offline": {"wait_ms": WHILE_TESTED_MS}}]
    request = submit(heard, far.url + "/held", method=method, interceptor=interceptor)
    far.received(1, "/held")
    link.ip(f"addr delete {link.ADDRESS}/24 dev {link.DEVICE}")
    heard.until("request.did_complete_task(network_connection_lost)", request)
    gate.set()
    link.ip(f"addr add {link.ADDRESS}/24 dev {link.DEVICE}")
    link.route()
    return request


def test_a13_what_was_lost_under_way_is_sent_again_when_the_network_is_back(
    link: Link, far: ScriptedOrigin, heard: Story
) -> None:
    record = heard.wait(lose_under_way(link, far, heard, "GET"))
    assert record["response"]["status"] == 200
    assert [attempt.get("error") for attempt in record["attempts"]] == [LOST, None]
    assert len(far.received(2, "/held")) == 2


def test_a13_a_post_is_not(link: Link, far: ScriptedOrigin, heard: Story) -> None:
    record = heard.wait(lose_under_way(link, far, heard, "POST"))
    assert error_of(record)["name"] == LOST and error_of(record)["url_error_code"] == -1005
    assert error_of(record)["details"]["reachability"]["lost_meanwhile"] is True
    assert len(record["attempts"]) == 1
    assert len(far.received(1, "/held")) == 1
