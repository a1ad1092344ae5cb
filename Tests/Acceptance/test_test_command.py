"""The test command itself: a test that blocks is named and ended, and the others continue."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from harness.daemon import ROOT
from harness.process import running
from harness.waiting import PATIENCE_SECONDS

SUPPORT = ROOT / "Tests/Support"
BOUNDED = str(SUPPORT / "bounded")

# Starts a program in a session of its own, whose parent ends at once, and prints its process id.
STRAY = "setsid sleep 600 >/dev/null 2>&1 & echo $!"


def is_alive(pid: int) -> bool:
    """Whether it runs: a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_group_that_does_not_end_is_ended_with_all_that_it_has_started(tmp_path: Path) -> None:
    took = tmp_path / "took"
    done = subprocess.run(
        [BOUNDED, "--took", str(took), "1", "bash", "-c", f"{STRAY}; trap '' TERM; while :; do sleep 1; done"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 124
    assert "not done after 1 s" in done.stderr
    assert int(took.read_text()) >= 1
    assert not is_alive(int(done.stdout))


def test_what_a_group_leaves_behind_is_ended(tmp_path: Path) -> None:
    command = [BOUNDED, "60", "bash", "-c", f"{STRAY}; exit 3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode == 3
    assert not is_alive(int(done.stdout))


def test_what_ends_without_a_parent_is_collected_while_the_group_runs() -> None:
    script = "stray=$(sleep 0.01 >/dev/null & echo $!); while [[ -e /proc/$stray ]]; do sleep 0.02; done"
    command = [BOUNDED, str(PATIENCE_SECONDS / 2), "bash", "-c", script]
    assert subprocess.run(command, timeout=PATIENCE_SECONDS, check=False).returncode == 0


def test_a_group_ends_with_the_run(tmp_path: Path) -> None:
    with running([BOUNDED, "60", "bash", "-c", f"{STRAY}; exec sleep 600"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        stray = int(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_SECONDS) == 128 + signal.SIGTERM
        assert not is_alive(stray)


# A small Tests/run with the real functions.
RUN = """
set -u
cd {root}
root=$PWD; logs={logs}; wanted=(); declare -A limits=([blocks]=1)
source Tests/Support/groups.sh
blocks() {{ sleep 600; }}
passes() {{ echo '7 passed in 0.1s'; echo 'not run: a part, because it is missing'; }}
export -f blocks passes
plan blocks 1 '' blocks
plan behind 1 blocks passes
plan passes 1 '' passes
plan later 2 passes passes
carry_out 2
note 'another group was not run: it has no data'
summary
"""


def test_the_run_goes_on_behind_a_group_that_does_not_end(tmp_path: Path) -> None:
    script = RUN.format(root=ROOT, logs=tmp_path)
    environment = {**os.environ, "CARPOOL_TEST_SLOWNESS": "1"}
    done = subprocess.run(
        ["bash", "-c", script], env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.returncode == 1
    assert done.stdout.splitlines()[-5:] == [
        "passes: not run: a part, because it is missing",
        "behind was not run, because blocks has failed",
        "later: not run: a part, because it is missing",
        "another group was not run: it has no data",
        "14 passed, 1 failed",
    ], done.stdout + done.stderr
    assert "FAIL  blocks" in done.stdout
    assert "blocks: bounded: not done after 1 s, and ended" in done.stdout


# Groups of which two wait for one that is not in the plan.
LOST = """
set -u
cd {root}
root=$PWD; logs={logs}; wanted=(); declare -A limits=(); memory=
source Tests/Support/groups.sh
passes() {{ echo '7 passed in 0.1s'; }}
export -f passes
plan behind 1 lost passes
plan lost 1 misspelled passes
plan last 1 lost passes
plan passes 1 '' passes
carry_out 2
summary
"""


def test_a_group_that_waits_for_nothing_has_failed(tmp_path: Path) -> None:
    script = LOST.format(root=ROOT, logs=tmp_path)
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode == 1
    assert done.stdout.splitlines()[1:] == [
        "FAIL  behind",
        "FAIL  lost",
        "behind was not run: it needs lost and 1 processors",
        "lost was not run: it needs misspelled and 1 processors",
        "last was not run, because lost has failed",
        "7 passed, 2 failed",
    ], done.stdout + done.stderr


# A small plan: `first` and `second` run side by side, `alone` with none of them, and nothing runs behind `broken`.
PLAN = """
set -u
cd {root}
root=$PWD; logs={logs}; wanted=({wanted}); declare -A limits=([first]=20 [second]=20); memory={memory}
source Tests/Support/groups.sh
noted() {{ echo "$1 $2" >>{logs}/events; }}
runs() {{ noted begins $1; "${{@:2}}"; noted ends $1; echo '3 passed in 0.1s'; }}
breaks() {{ noted begins broken; false; }}
# Until another group has begun; without it, this group reaches its deadline.
beside() {{ until grep -q "begins $1" {logs}/events; do command sleep 0.02; done; }}
# While the run looks several times for groups that it may start.
for_turns() {{
    local before
    before=$(wc -l <{logs}/turns)
    until (($(wc -l <{logs}/turns) > before + 3)); do command sleep 0.02; done
}}
export -f noted runs breaks beside for_turns
sleep() {{ echo turn >>{logs}/turns; command sleep "$1"; }}
plan build 1 '' runs build for_turns
plan alone 2 build runs alone for_turns
plan first 1 build runs first {first}
plan second 1 build runs second {second}
plan broken 1 first breaks
plan behind 1 broken runs behind
carry_out 2
summary
"""


def planned(directory: Path, wanted: str = "", memory: str = "") -> tuple[list[str], str, int]:
    """Carry out the plan; returns what began and ended, the output, and the exit status."""
    (directory / "events").write_text("")
    (directory / "turns").write_text("")
    others = {"first": "beside second", "second": "beside first"} if not wanted else {"first": "", "second": ""}
    script = PLAN.format(root=ROOT, logs=directory, wanted=wanted, memory=memory, **others)
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=PATIENCE_SECONDS * 2, check=False
    )
    return (directory / "events").read_text().splitlines(), done.stdout + done.stderr, done.returncode


def test_groups_begin_when_those_that_they_need_have_passed(tmp_path: Path) -> None:
    events, told, _ = planned(tmp_path)
    assert events[:2] == ["begins build", "ends build"], told
    # The first that is ready has both processors; the next two share them.
    assert events[2:4] == ["begins alone", "ends alone"]
    assert set(events[4:6]) == {"begins first", "begins second"}
    assert "begins broken" in events[6:]
    assert "begins behind" not in events
    assert "behind was not run, because broken has failed" in told
    assert told.splitlines()[-1] == "12 passed, 1 failed"


def test_a_group_that_is_wanted_brings_those_that_it_needs(tmp_path: Path) -> None:
    events, told, _ = planned(tmp_path, wanted="second")
    assert events == ["begins build", "ends build", "begins second", "ends second"], told


def test_a_word_that_names_no_group_is_a_failure(tmp_path: Path) -> None:
    events, told, status = planned(tmp_path, wanted="second secnod")
    assert events == ["begins build", "ends build", "begins second", "ends second"], told
    assert "no group has a name that begins with secnod" in told
    assert (told.splitlines()[-1], status) == ("6 passed, 1 failed", 1)


@pytest.mark.parametrize("option", ["--lnog", "-x"])
def test_an_unknown_option_is_refused(option: str) -> None:
    command = [str(ROOT / "Tests/run"), option]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    expected = f"Tests/run: unknown option {option}: use --long, --resume, --soak, or -k NAME\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", expected)


def test_groups_that_have_passed_are_remembered_and_builds_are_not(tmp_path: Path) -> None:
    memory = str(tmp_path / "memory")
    planned(tmp_path, memory=memory)
    events, told, _ = planned(tmp_path, memory=memory)
    assert sorted(events) == ["begins broken", "begins build", "ends build"], told
    assert told.splitlines()[-1] == "3 passed, 1 failed, groups that passed before: 3"


def test_a_run_whose_groups_have_all_passed_before_has_passed(tmp_path: Path) -> None:
    memory = str(tmp_path / "memory")
    planned(tmp_path, wanted="second", memory=memory)
    events, told, code = planned(tmp_path, wanted="second", memory=memory)
    assert (events, code) == ([], 0), told
    assert told.splitlines()[-1] == "0 passed, 0 failed, groups that passed before: 1"


def test_a_library_that_cannot_be_installed_is_named_and_skipped(tmp_path: Path) -> None:
    nothing = {
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": "",
        "CARPOOL_LIBRARIES": str(tmp_path),
    }
    command = [str(ROOT / "Tests/Acceptance/libraries/run"), "--quick"]
    done = subprocess.run(
        command,
        env=os.environ | nothing,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    told = done.stdout.splitlines()
    missing = [line for line in told if line.startswith("not run: ")]
    assert "not run: openai-3.57.0, because pip could not install openai==3.57.0" in missing, told
    # The scripts, and the code of the page.
    assert told[-1].startswith(f"{len(missing) + 1} skipped in "), told
    assert done.returncode == 0


# A `swift` that reports tests as `swift test` does; all have started before the first that blocks.
SWIFT = """#!/usr/bin/env python3
import json, re, sys, time
arguments = sys.argv[1:]
def given(option):
    return [arguments[place + 1] for place, word in enumerate(arguments) if word == option]
tests = [f"T.A/{name}()/A.swift:1:1" for name in ("first", "blocks", "last")]
tests = [test for test in tests if not any(re.search(skip, test) for skip in given("--skip"))]
tests = [test for test in tests if all(re.search(only, test) for only in given("--filter"))]
with open(given("--event-stream-output-path")[0], "a") as events:
    def tell(**payload):
        print(json.dumps({"version": 0, "kind": "event", "payload": payload}), file=events, flush=True)
    for test in tests:
        tell(kind="testCaseStarted", testID=test)
    for test in tests:
        if "blocks" in test:
            time.sleep(600)
        tell(kind="testEnded", testID=test)
print(f"Test run with {len(tests)} tests passed after 0.1 seconds.")
"""


@pytest.mark.parametrize("blocks", [True, False])
def test_a_swift_test_that_blocks_is_named_and_the_others_run(tmp_path: Path, blocks: bool) -> None:
    program = tmp_path / "swift"
    program.write_text(SWIFT if blocks else SWIFT.replace('"blocks" in test', "False"))
    program.chmod(0o755)
    variables = {"CARPOOL_SWIFT_TEST_SECONDS": "1", "CARPOOL_TEST_SLOWNESS": "1"}
    done = subprocess.run(
        [str(SUPPORT / "swift-tests")],
        env={**os.environ, **variables, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS * 2,
        check=False,
    )
    told = done.stdout.splitlines()
    if blocks:
        # The first run has reported the end of the first test; the tests behind the blocked one run alone.
        assert told == [
            "swift-tests: stuck, started again without 2 tests",
            "Test run with 1 tests passed after 0.1 seconds.",
            "blocked: T.A/blocks()/A.swift:1:1 has not ended after 1 s",
            "Test run with 1 tests passed after 0.1 seconds.",
        ], done
    else:
        assert told == ["Test run with 3 tests passed after 0.1 seconds."], done
    assert done.returncode == (1 if blocks else 0)


def test_bad_weather_ignores_signals_and_scales_the_buffers() -> None:
    look = "grep SigIgn /proc/self/status; cat /proc/sys/net/ipv4/tcp_rmem; pgrep -c -P $PPID timeout"
    done = subprocess.run(
        [BOUNDED, "20", str(SUPPORT / "weather"), "0.5", "bash", "-c", look],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS * 2,
        check=False,
    )
    if "no network namespace" in done.stdout:
        pytest.skip(done.stdout.splitlines()[0])
    *_, ignored, buffers, loops = done.stdout.splitlines()
    mask = int(ignored.split()[1], 16)
    assert all(mask & 1 << number - 1 for number in (signal.SIGINT, signal.SIGHUP))
    # A new namespace begins with the machine's own values, not with those of the test's namespace.
    fresh = ["unshare", "--net", "cat", "/proc/sys/net/ipv4/tcp_rmem"]
    whole = subprocess.run(fresh, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True).stdout.split()
    assert [int(part) for part in buffers.split()] == [int(whole[0]), int(whole[1]) // 2, int(whole[2]) // 2]
    assert loops == "4"
