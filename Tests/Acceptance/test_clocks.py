"""Dates and steps of clocks: ids, times and lists at any date, timers, and what a suspension of the machine changes."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from conftest import StartDaemon
from harness.clocks import VARIABLE, Clocks, now
from harness.daemon import CARPOOL, CARPOOLD, IS_CHECKED
from harness.screen import Screen
from harness.waiting import eventually
from origins.scripted import Exchange, ScriptedOrigin

NAMES_OF_EPOCHS = 36**6
"""Milliseconds after which the names of epochs begin again: 25 days."""
CYCLE = datetime.fromtimestamp(826 * NAMES_OF_EPOCHS / 1000, UTC)
"""A moment in December 2026 at which they begin again, with the smallest numbers; for 17 hours these are small."""
START_DATES = [
    CYCLE + timedelta(milliseconds=1),
    CYCLE + timedelta(hours=10),
    CYCLE + timedelta(hours=17),
    CYCLE + timedelta(days=25),
    datetime(2026, 12, 31, 23, 59, 58, tzinfo=UTC),
    datetime(2027, 3, 1, tzinfo=UTC),
    datetime(2028, 2, 29, 12, tzinfo=UTC),
    datetime(2038, 1, 19, 3, 14, 6, tzinfo=UTC),
    datetime(2100, 2, 28, 23, 59, 58, tzinfo=UTC),
]
HOUR = 3600


def shown(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%S")


# The shipped build


@pytest.mark.skipif(IS_CHECKED, reason="the checked build has the switch")
def test_the_shipped_build_has_no_switch_for_clocks(start: StartDaemon, tmp_path: Path) -> None:
    for program in (CARPOOLD, CARPOOL):
        path = shutil.which(program)
        assert path and VARIABLE.encode() not in Path(path).read_bytes()
    file = tmp_path / "clocks"
    file.write_text("realtime +86400\n")
    daemon = start(variables={VARIABLE: str(file)})
    assert abs(now(daemon) - datetime.now(UTC)) < timedelta(minutes=10)


def test_the_checked_build_has_the_switch(clocks: Clocks, start: StartDaemon) -> None:
    """Otherwise the test above would find nothing in any build."""
    path = shutil.which(CARPOOLD)
    assert path and VARIABLE.encode() in Path(path).read_bytes()
    clocks.step(realtime=86_400)
    daemon = start(variables=clocks.variables)
    assert now(daemon) - datetime.now(UTC) > timedelta(hours=23)


# Dates


@pytest.mark.parametrize("date", START_DATES, ids=shown)
def test_ids_and_pictures_have_one_width_at_any_date(
    clocks: Clocks, start: StartDaemon, origin: ScriptedOrigin, tmp_path: Path, date: datetime
) -> None:
    clocks.set_time(date)
    daemon = start(variables=clocks.variables)
    assert len(daemon.call("daemon.info")["server"]["epoch"]) == 6
    request = daemon.call("request.submit", url=origin.on("/", lambda exchange: exchange.reply(body=b"page")))[
        "request"
    ]
    assert len(request) == len("r_000000_1")
    assert daemon.call("request.wait", request=request)["response"]["status"] == 200
    entry = next(entry for entry in daemon.call("request.list")["requests"] if entry["request"] == request)
    assert timedelta() <= datetime.fromisoformat(entry["created"]) - date < timedelta(minutes=10)
    screen = Screen(tmp_path / "tmux", daemon)
    try:
        picture = screen.show(40, "show", request).splitlines()
        assert {len(line) for line in picture if "█" in line} == {40}
        assert all(len(line) <= 40 for line in screen.show(40, "ls", "--all").splitlines())
    finally:
        screen.stop()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (datetime(2028, 2, 28, 23, 59, 58, tzinfo=UTC), datetime(2028, 2, 29, tzinfo=UTC)),
        (datetime(2028, 2, 29, 23, 59, 58, tzinfo=UTC), datetime(2028, 3, 1, tzinfo=UTC)),
        (datetime(2026, 12, 31, 23, 59, 58, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
        (datetime(2038, 1, 19, 3, 14, 6, tzinfo=UTC), datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC)),
        (datetime(2100, 2, 28, 23, 59, 58, tzinfo=UTC), datetime(2100, 3, 1, tzinfo=UTC)),
    ],
    ids=shown,
)
def test_a_running_daemon_passes_a_date(clocks: Clocks, start: StartDaemon, before: datetime, after: datetime) -> None:
    daemon = start(variables=clocks.variables)
    clocks.set_time(before)
    clocks.await_time(daemon, before)
    eventually(lambda: now(daemon) >= after)
    # A day that is left out is seen, whatever a slow machine takes.
    assert now(daemon) - after < timedelta(minutes=10)


# Steps


def test_timers_follow_the_monotonic_clock(clocks: Clocks, start: StartDaemon, origin: ScriptedOrigin) -> None:
    """The request's time is over when the clock is stepped, although the loop sleeps."""
    daemon = start(variables=clocks.variables)
    origin.hold("/held")
    options = {"timeout_ms": 2 * HOUR * 1000, "resource_timeout_ms": HOUR * 1000}
    request = daemon.call("request.submit", url=f"{origin.url}/held", **options)["request"]
    origin.received(1, "/held")
    assert not daemon.call("request.get", request=request)["finished"]
    clocks.step(realtime=HOUR + 1, monotonic=HOUR + 1, boottime=HOUR + 1)
    error = daemon.call("request.wait", request=request)["outcome"]["error"]
    assert error["name"] == "session_task_failed.timed_out"
    assert "resource_timeout_ms" in error["hint"]


def test_a_suspension_ages_responses_and_fires_no_timer(
    clocks: Clocks, start: StartDaemon, origin: ScriptedOrigin
) -> None:
    daemon = start(variables=clocks.variables)
    gate = origin.hold("/held")
    options = {"timeout_ms": HOUR * 1000, "resource_timeout_ms": HOUR * 1000}
    held = daemon.call("request.submit", url=f"{origin.url}/held", **options)["request"]
    origin.received(1, "/held")

    def kept(exchange: Exchange) -> None:
        exchange.reply(body=b"kept", headers=[("Cache-Control", "max-age=60")])

    url = origin.on("/kept", kept)
    for count, seconds in [(1, 0), (1, 0), (2, 2 * HOUR), (2, 0)]:
        before = now(daemon)
        clocks.suspend(seconds)
        clocks.await_time(daemon, before + timedelta(seconds=seconds))
        assert daemon.call("request.perform", url=url)["response"]["status"] == 200
        assert len([request for request in origin.requests if request.target == "/kept"]) == count
    gate.set()
    assert daemon.call("request.wait", request=held)["response"]["status"] == 200


def test_a_time_that_goes_back_stops_nothing(clocks: Clocks, start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start(variables=clocks.variables)
    gate = origin.hold("/held")
    request = daemon.call("request.submit", url=f"{origin.url}/held")["request"]
    origin.received(1, "/held")
    before = now(daemon)
    clocks.step(realtime=-40 * 86_400)
    eventually(lambda: now(daemon) < before - timedelta(days=39))
    assert daemon.call("request.perform", url=f"{origin.url}/other")["response"]["status"] == 200
    gate.set()
    assert daemon.call("request.wait", request=request)["response"]["status"] == 200
