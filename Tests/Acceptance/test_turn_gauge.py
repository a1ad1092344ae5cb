"""The gauge of the tests: which turns are too long, and when the host had stopped the processor."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.gauge import LONGEST_US, MOST_RECORDED, DisturbedTurnError, LongTurnError, remaining, verdict
from harness.waiting import eventually
from harness.wire import Wire
from harness.witness import stopped_us, witness

pytestmark = pytest.mark.own_daemon

BUSY_MS = 100
CALLS = 1_000


def loop(*turns: tuple[int, int, int], processor: int = 1) -> dict[str, Any]:
    """The figures of a loop with these long turns: end, wall time and time without a processor."""
    keys = ("end_us", "wall_us", "waited_us")
    return {
        "measured_turns": 100,
        "longest_turn_us": max(wall - waited for _, wall, waited in turns),
        "long_turns": [dict(zip(keys, turn, strict=True)) | {"processor": processor} for turn in turns],
    }


LONG = (1_000_000, 140_000, 0)
"""From 860,000 us to 1,000,000 us."""


@pytest.mark.parametrize(
    ("figures", "stops", "count"),
    [
        (loop((1_000_000, 50_000, 0)), [], 0),
        (loop(LONG), [], 1),
        (loop(LONG), [(1, 880_000, 990_000)], 0),
        (loop(LONG), [(1, 870_000, 900_000), (1, 910_000, 1_200_000)], 0),
        # On the other processor; before and after the turn; too short.
        (loop(LONG), [(0, 880_000, 990_000)], 1),
        (loop(LONG), [(1, 700_000, 860_000), (1, 1_000_000, 1_200_000)], 1),
        (loop(LONG), [(1, 900_000, 985_000)], 1),
        # The kernel has seen the same time.
        (loop((1_000_000, 140_000, 60_000)), [(1, 900_000, 960_000)], 1),
        (loop(LONG, (3_000_000, 60_000, 0)), [(1, 880_000, 990_000)], 1),
        # Older turns are not recorded any more.
        (loop(*[LONG] * MOST_RECORDED), [(1, 860_000, 1_000_000)], 100),
        ({"longest_turn_us": 60_000}, [], 1),
    ],
)
def test_a_turn_is_shorter_by_the_time_in_which_the_host_stopped_its_processor(
    figures: dict[str, Any], stops: list[tuple[int, int, int]], count: int
) -> None:
    assert remaining(figures, LONGEST_US, stops) == count


def test_a_thread_of_a_real_time_priority_waits_and_is_stopped_at_different_times() -> None:
    figures, stops = loop((1_000_000, 140_000, 40_000)), [(1, 900_000, 960_000)]
    assert remaining(figures, LONGEST_US, stops) == 1
    assert remaining(figures, LONGEST_US, stops, is_preferred=True) == 0
    assert remaining(figures, LONGEST_US, [(0, 900_000, 960_000)], is_preferred=True) == 1


def test_a_long_turn_is_disturbed_if_the_host_stopped_a_processor_in_it() -> None:
    elsewhere, within = (0, 700_000, 860_000), (0, 900_000, 903_000)
    assert verdict(loop(LONG), [elsewhere, (1, 1_000_000, 1_200_000)], is_preferred=True).__class__ is LongTurnError
    assert verdict(loop(LONG), [elsewhere, within], is_preferred=True).__class__ is DisturbedTurnError
    assert verdict(loop(LONG), [(1, 861_000, 999_000)], is_preferred=True) is None


def test_the_witness_sees_a_processor_that_it_cannot_use() -> None:
    processor = min(os.sched_getaffinity(0))
    witness().stops()
    begin = time.monotonic_ns() // 1_000
    if (child := os.fork()) == 0:
        occupy(processor)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        pytest.skip("this user may not have a real-time priority")
    stopped = stopped_us(processor, begin, time.monotonic_ns() // 1_000, witness().stops())
    assert stopped >= BUSY_MS * 1_000 // 2


def occupy(processor: int) -> None:
    """Use a processor at a priority above the witness's for some time, and exit."""
    try:
        os.sched_setaffinity(0, {processor})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(3))
        end = time.monotonic() + BUSY_MS / 1_000
        while time.monotonic() < end:
            pass
    except PermissionError:
        os._exit(1)
    os._exit(0)


def test_a_long_turn_is_recorded_with_its_time(daemon: Daemon, wire: Wire) -> None:
    """The process is stopped in the middle of a turn, for longer than any turn may last."""
    wire.call("daemon.stats", reset=True)
    begin = time.monotonic_ns() // 1_000

    def is_stopped_in_a_turn() -> bool:
        ids = [wire.request("daemon.stats") for _ in range(CALLS)]
        os.kill(daemon.pid, signal.SIGSTOP)
        time.sleep(LONGEST_US / 1_000_000)
        os.kill(daemon.pid, signal.SIGCONT)
        loops = [wire.result(number)["loop"] for number in ids]
        return bool(loops[-1]["long_turns"])

    eventually(is_stopped_in_a_turn)
    loop = wire.call("daemon.stats")["loop"]
    turn = max(loop["long_turns"], key=lambda turn: turn["wall_us"])
    assert begin < turn["end_us"] - turn["wall_us"]
    assert turn["end_us"] < time.monotonic_ns() // 1_000
    assert turn["wall_us"] - turn["waited_us"] == loop["longest_turn_us"] > 20_000
    assert turn["processor"] in range(os.cpu_count() or 1)
