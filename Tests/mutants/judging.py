"""The judges of a mutant: the Swift tests of its module, and files of the acceptance suite."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from catalogue import PLACE, ROOT, TREE, Mutant

BUILD = PLACE / "build"
SLOWNESS = os.environ.get("CARPOOL_TEST_SLOWNESS", "2")
QUIET_SECONDS = 45 * float(SLOWNESS)
"""A run of Swift tests in which no test begins or ends for so long is blocked."""
BOUNDED = ROOT / "Tests/Support/bounded"
TRIES = 4
"""How often a mutant is tried when the failing test does not fail again."""


@dataclass(frozen=True)
class Found:
    """How a run of tests has ended."""

    test: str = ""
    """The first test that failed; empty if none did."""
    is_late: bool = False
    """Whether the time was over before all tests had ended."""


Run = Callable[[Sequence[str], int, float], Found]
"""Runs tests: arguments that select them, the number of the mutant, and the seconds."""
Select = Callable[[str], Sequence[str]]
"""Returns the arguments that select a test, or leave it out."""


_passing: set[str] = set()
"""Tests that have passed without a mutant."""


def passes(run: Run, only: Select, test: str, seconds: float) -> bool:
    """Whether a test passes without a mutant."""
    if test not in _passing and not run(only(test), 0, seconds).test:
        _passing.add(test)
    return test in _passing


def judged(run: Run, mutant: Mutant, selection: Sequence[str], only: Select, without: Select, seconds: float) -> Found:
    """Find the first test that fails with a mutant, fails again alone, and passes without it."""
    end = time.monotonic() + seconds
    chosen = list(selection)
    for _ in range(TRIES):
        found = run(chosen, mutant.number, end - time.monotonic())
        if not found.test:
            return found
        if run(only(found.test), mutant.number, seconds).test and passes(run, only, found.test, seconds):
            return found
        print(f"  {found.test} fails now and then, or without the mutant", flush=True)
        chosen += without(found.test)
    return Found(is_late=True)


def build() -> None:
    """Build the copy with its tests, and the programs with them."""
    command = ["swift", "build", "--build-tests", "--package-path", str(TREE), "--scratch-path", str(BUILD)]
    subprocess.run(["nice", *command], check=True)


def pattern(test: str) -> str:
    """Return the pattern of a Swift test: its name without its place in a file."""
    return "^" + re.escape(re.sub(r"/[^/]+\.swift:\d+:\d+$", "", test)) + "(/|$)"


def units(mutant: Mutant, seconds: float) -> Found:
    """Let the Swift tests of the mutant's module judge, the likely ones first."""
    end = time.monotonic() + seconds
    found = Found()
    tests = rf"^{mutant.module}Tests\."
    likely = [rf"{tests}({'|'.join(mutant.likely)})/"] if mutant.likely else []
    for name in [*likely, tests]:
        found = judged(
            run_units,
            mutant,
            ["--filter", name],
            lambda test: ["--filter", pattern(test)],
            lambda test: ["--skip", pattern(test)],
            end - time.monotonic(),
        )
        if found.test:
            break
    return found


def run_units(selection: Sequence[str], number: int, seconds: float) -> Found:
    """Run Swift tests until the first fails."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as scratch:
        events = Path(scratch) / "events"
        events.touch()
        # As `swift test` does it, which would read the package first.
        command = [str(BUILD / "debug/CarpoolPackageTests.xctest"), "--testing-library", "swift-testing"]
        command += ["--parallel", "--experimental-maximum-parallelization-width", "16", *selection]
        command += ["--event-stream-output-path", str(events), "--event-stream-version", "0"]
        with (PLACE / "units.log").open("ab") as log:
            process = subprocess.Popen(
                [str(BOUNDED), str(max(1, int(seconds))), *command],
                env=os.environ | {"CARPOOL_MUTANT": str(number)},
                cwd=TREE,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            return watch(process, events, seconds)
        finally:
            process.terminate()
            process.wait()


def watch(process: subprocess.Popen[bytes], events: Path, seconds: float) -> Found:
    """Read the events of Swift tests until one fails, all have ended, or no more is heard of them."""
    end = time.monotonic() + seconds
    running: dict[str, None] = {}
    moved = time.monotonic()
    with events.open() as stream:
        while True:
            is_over = process.poll() is not None
            for payload in payloads(stream):
                moved = time.monotonic()
                match payload.get("kind"):
                    case "issueRecorded" if not payload.get("issue", {}).get("isKnown"):
                        return Found(payload.get("testID") or "unknown test")
                    case "testCaseStarted":
                        running[payload["testID"]] = None
                    case "testEnded":
                        running.pop(payload["testID"], None)
            if running and (is_over or time.monotonic() - moved > QUIET_SECONDS):
                return Found(next(reversed(running)))
            if is_over and process.returncode not in {0, 124}:
                raise RuntimeError(f"the Swift tests have ended with {process.returncode}: see {PLACE / 'units.log'}")
            if is_over or time.monotonic() > end:
                return Found(is_late=not is_over or process.returncode == 124)
            time.sleep(0.2)


def payloads(stream: IO[str]) -> Iterator[Mapping[str, Any]]:
    """The payloads of the events that were written since the last call."""
    while True:
        position = stream.tell()
        line = stream.readline()
        if not line.endswith("\n"):
            stream.seek(position)
            return
        if line.strip():
            yield json.loads(line)["payload"]


def acceptance(mutant: Mutant, seconds: float) -> Found:
    """Let tests and files of the acceptance suite judge, the likely tests first."""
    end = time.monotonic() + seconds
    found = Found()
    likely = [name for name in mutant.acceptance if "::" in name]
    files = [name for name in mutant.acceptance if "::" not in name]
    for selection in [likely, files]:
        if selection and not found.test:
            found = judged(
                run_acceptance,
                mutant,
                selection,
                lambda test: [test],
                # Ids are relative to the folder of the suite's settings.
                lambda test: ["--deselect", test.removeprefix("Tests/Acceptance/")],
                end - time.monotonic(),
            )
    return found


def run_acceptance(selection: Sequence[str], number: int, seconds: float) -> Found:
    """Run acceptance tests until the first fails."""
    variables = {
        "CARPOOLD": str(program("carpoold", number)),
        "CARPOOL_CLI": str(program("carpool", number)),
        "CARPOOL_TEST_SLOWNESS": SLOWNESS,
        # A debug build needs more memory than the tests allow.
        "CARPOOL_CHECKED": "1",
        "PYTHONPATH": str(ROOT / "clients/python/src"),
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "1", "-rfE", "--tb=short", *selection]
    done = subprocess.run(
        [str(BOUNDED), str(max(1, int(seconds))), *command],
        cwd=ROOT,
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    with (PLACE / "acceptance.log").open("a") as log:
        log.write(f"mutant {number}\n{done.stdout}\n")
    if failed := re.search(r"^(?:FAILED|ERROR) (Tests/\S+::[^\n]*?)(?: - .*)?$", done.stdout, re.MULTILINE):
        return Found(failed[1])
    if done.returncode not in {0, 124}:
        raise RuntimeError(f"pytest has ended with {done.returncode}:\n{done.stdout[-2000:]}")
    return Found(is_late=done.returncode == 124)


def program(name: str, number: int) -> Path:
    """Return a program that has this mutant, whatever variables a test gives it."""
    path = PLACE / "bin" / str(number) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    real = BUILD / "debug" / name
    path.write_text(f'#!/bin/bash\nCARPOOL_MUTANT={number} exec -a "$0" {real} "$@"\n')
    path.chmod(0o755)
    return path
