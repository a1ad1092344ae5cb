"""One-line commands that are run by two programs, and what the two did."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from origins.scripted import Received

from harness.waiting import PATIENCE_SECONDS

CASES = Path(__file__).resolve().parents[1] / "curl" / "cases"
KNOWN = CASES.parent / "known.toml"
"""Differences that are intended or not repaired yet: the name of a case, and the reason."""
FELL_BACK = 99
"""The exit code of the program that stands for the real curl while another one is tested."""
_FALLBACK = f'#!/bin/sh\necho "ran the real curl: $*" >&2\n: > "$FELL_BACK"\nexit {FELL_BACK}\n'


@dataclass(frozen=True)
class Case:
    """A line of shell, what it finds, and what of its results is compared."""

    name: str
    line: str
    answers: Mapping[str, list[Any]] = field(default_factory=dict)
    """By path, instead of the shared pages (`origins/linepages.py`)."""
    files: Mapping[str, str] = field(default_factory=dict)
    """In the directory of the run, which is also HOME."""
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    umask: str = "022"
    stdout: str = "exact"
    """`exact`, `lines` in any order, or `ignored`."""
    stderr: str = "exact"
    requests: str = "exact"
    """`exact`, `set` in any order, or `ignored`."""
    dates: bool = False
    """Whether the modification times of files are compared."""
    mask: Sequence[str] = ()
    """Regular expressions of texts that differ from run to run."""


@dataclass(frozen=True)
class Outcome:
    """What a run has left."""

    status: int | str
    stdout: bytes
    stderr: bytes
    files: Mapping[str, tuple[Any, ...]]
    requests: Sequence[bytes]


def load(directory: Path = CASES) -> list[Case]:
    """Read all cases; a member that is not known is an error."""
    found: list[Case] = []
    known = {each.name for each in fields(Case)}
    for path in sorted(directory.glob("*.toml")):
        for row in tomllib.loads(path.read_text())["case"]:
            assert set(row) <= known, f"{path.name}: {row['name']}: {sorted(set(row) - known)}"
            found.append(Case(**row))
    names = [case.name for case in found]
    assert len(set(names)) == len(names), sorted(name for name in names if names.count(name) > 1)
    return found


def known_differences() -> dict[str, str]:
    """Read the cases in which the command differs from curl, with the reason of each."""
    reasons: dict[str, str] = tomllib.loads(KNOWN.read_text())["differences"]
    return reasons


def install(place: Path, program: str) -> str:
    """Return a PATH on which `curl` is this program, and behind it one that only records that it ran."""
    place.mkdir()
    (place / "tool").mkdir()
    (place / "tool" / "curl").symlink_to(program)
    (place / "real").mkdir()
    fallback = place / "real" / "curl"
    fallback.write_text(_FALLBACK)
    fallback.chmod(0o755)
    return f"{place}/tool:{place}/real"


def run(case: Case, place: Path, variables: Mapping[str, str]) -> tuple[int | str, bytes, bytes]:
    """Run the line in a directory with the files of the case; returns exit code, output and errors."""
    place.mkdir()
    for name, content in case.files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(content)
    process = subprocess.Popen(
        ["bash", "-c", case.line],
        cwd=place,
        env={**variables, "HOME": str(place), **case.env},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        umask=int(case.umask, 8),
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(case.stdin.encode(), PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        return "has not ended in time", stdout, stderr
    return process.returncode, stdout, stderr


def files_of(place: Path, *, dates: bool) -> dict[str, tuple[Any, ...]]:
    """Return mode, content and perhaps modification time of everything in a directory."""
    found: dict[str, tuple[Any, ...]] = {}
    for path in sorted(place.rglob("*")):
        facts = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(facts.st_mode) else b""
        found[str(path.relative_to(place))] = (
            oct(facts.st_mode), content, date_of(facts.st_mtime) if dates and content else None,
        )  # fmt: skip
    return found


def date_of(changed: float) -> int | str:
    """Return the time of a change, or `now` for one of the last minutes: two programs do not write in one second."""
    return "now" if abs(time.time() - changed) < 300 else int(changed)


def as_text(request: Received) -> bytes:
    return request.head + request.body


def masked(case: Case, data: bytes, place: Path) -> bytes:
    """Return a text without what differs from run to run: the directory, and what the case names."""
    data = data.replace(str(place).encode(), b"DIRECTORY")
    for pattern in case.mask:
        data = re.sub(pattern.encode(), b"#", data)
    return data


def outcome(case: Case, place: Path, result: tuple[int | str, bytes, bytes], requests: Sequence[Received]) -> Outcome:
    """Gather what a run has left, masked."""
    status, stdout, stderr = result
    found = files_of(place, dates=case.dates)
    return Outcome(
        status,
        masked(case, stdout, place),
        masked(case, stderr, place),
        {name: (facts[0], masked(case, facts[1], place), *facts[2:]) for name, facts in found.items()},
        [masked(case, as_text(request), place) for request in requests],
    )


def differences(case: Case, expected: Outcome, actual: Outcome) -> list[str]:
    """Say what the second program did otherwise, a line for each kind of result."""
    pairs: list[tuple[str, object, object]] = [("exit code", expected.status, actual.status)]
    for what in ("stdout", "stderr"):
        rule, first, second = getattr(case, what), getattr(expected, what), getattr(actual, what)
        if rule == "lines":
            first, second = sorted(first.splitlines()), sorted(second.splitlines())
        if rule != "ignored":
            pairs.append((what, first, second))
    pairs += _pairs_of_files(expected, actual)
    if case.requests != "ignored":
        pairs += _pairs_of_requests(expected, actual, is_ordered=case.requests == "exact")
    return [
        f"{what}:\n    curl: {shortened(first)}\n    tool: {shortened(second)}"
        for what, first, second in pairs
        if first != second
    ]


def _pairs_of_files(expected: Outcome, actual: Outcome) -> list[tuple[str, object, object]]:
    pairs: list[tuple[str, object, object]] = [("names of files", sorted(expected.files), sorted(actual.files))]
    for name in sorted(set(expected.files) & set(actual.files)):
        facts = zip(("mode", "content", "date"), expected.files[name], actual.files[name], strict=True)
        pairs += [(f"{what} of {name}", first, second) for what, first, second in facts]
    return pairs


def _pairs_of_requests(expected: Outcome, actual: Outcome, *, is_ordered: bool) -> list[tuple[str, object, object]]:
    ours, theirs = list(expected.requests), list(actual.requests)
    if not is_ordered:
        ours, theirs = sorted(ours), sorted(theirs)
    pairs: list[tuple[str, object, object]] = [("number of requests", len(ours), len(theirs))]
    numbered = enumerate(zip(ours, theirs, strict=False), 1)
    return pairs + [(f"request {number}", first, second) for number, (first, second) in numbered]


def shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 1_500 else f"{text[:700]} ... {text[-700:]} ({len(text)} characters)"
