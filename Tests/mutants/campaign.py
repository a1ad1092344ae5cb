"""Shows the power of the tests: each of a hundred faults, the mutants, must make a test fail.

    Tests/mutants/run [--only N,N..M] [--stage units|acceptance] [--resume] [--results FILE]
    Tests/mutants/run --check        only checks that each mutant can be made
    Tests/mutants/run --build-only   only builds
    Tests/mutants/run --table        only prints the results

The mutants are data (`*.toml`): a text that occurs once in a file of a module, of which the part between « and » is
replaced by `mutated`, or left out if that is a statement. All of them are built at once, in a copy of the sources
(.build-mutants), each behind a number in the variable CARPOOL_MUTANT. Each is judged by the Swift tests of its module
and by files of the acceptance suite, until the first test fails, for at most three minutes. The Swift tests come first,
unless the entry names no suite of them as likely.

The exit status is 0 if a test finds each mutant, unless `survives` says why none does.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from catalogue import MODULES, PLACE, Mutant, MutantError, copy, mutants, mutated_sources
from judging import Found, acceptance, build, units

SECONDS = 180.0
STAGES: dict[str, Callable[[Mutant, float], Found]] = {"units": units, "acceptance": acceptance}
Results = dict[tuple[int, str], dict[str, Any]]


def numbers(text: str) -> set[int]:
    """Read a selection such as `3,10..20`."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("..")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def read(path: Path) -> Results:
    """Read the results of an earlier run."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {(entry["number"], entry["stage"]): entry for entry in map(json.loads, lines)}


def is_killed(results: Results, number: int) -> bool:
    """Whether a test has found a mutant."""
    return any(results.get((number, stage), {}).get("verdict") == "killed" for stage in STAGES)


def left_seconds(results: Results, number: int) -> float:
    """How long the next stage of a mutant may take."""
    taken: float = sum(results.get((number, stage), {}).get("seconds", 0.0) for stage in STAGES)
    return max(30.0, SECONDS - taken)


def ordered(mutant: Mutant, stages: list[str]) -> list[str]:
    """Return the stages in the order in which they judge a mutant: all tests of a module take minutes."""
    return stages if mutant.likely else stages[::-1]


def judge(mutant: Mutant, stage: str, seconds: float) -> dict[str, Any]:
    """Let one stage judge a mutant."""
    began = time.monotonic()
    found = STAGES[stage](mutant, seconds)
    verdict = "killed" if found.test else "late" if found.is_late else "survived"
    print(f"{mutant.number:>3} {stage}: {verdict} {found.test}", flush=True)
    return {
        "number": mutant.number,
        "stage": stage,
        "verdict": verdict,
        "test": found.test,
        "seconds": round(time.monotonic() - began, 1),
    }


def run(chosen: list[Mutant], stages: list[str], path: Path, results: Results) -> None:
    """Judge mutants and write the results, a line each."""
    with path.open("a") as lines:
        for mutant in chosen:
            for stage in ordered(mutant, stages):
                if (mutant.number, stage) in results or is_killed(results, mutant.number):
                    continue
                result = judge(mutant, stage, left_seconds(results, mutant.number))
                results[mutant.number, stage] = result
                lines.write(json.dumps(result) + "\n")
                lines.flush()


def table(chosen: list[Mutant], results: Results) -> Iterator[str]:
    """The results of the modules, and the mutants that no test has found."""
    yield "| module | mutants | found by Swift tests | by acceptance tests | not found |"
    yield "| --- | --- | --- | --- | --- |"
    for module in MODULES.values():
        own = [mutant.number for mutant in chosen if mutant.module == module]
        by = {stage: sum(results.get((n, stage), {}).get("verdict") == "killed" for n in own) for stage in STAGES}
        rest = len(own) - sum(by.values())
        yield f"| {module} | {len(own)} | {by['units']} | {by['acceptance']} | {rest} |"
    for mutant in chosen:
        if not is_killed(results, mutant.number):
            judges = ", ".join(
                f"{stage}: {results[mutant.number, stage]['verdict']}"
                for stage in STAGES
                if (mutant.number, stage) in results
            )
            yield f"{mutant.number} {mutant.file}: {mutant.breaks} ({judges}) {mutant.survives}".rstrip()


def is_as_listed(mutant: Mutant, results: Results) -> bool:
    """Whether a mutant is found, or the list says why it is not."""
    is_found = is_killed(results, mutant.number)
    if is_found and mutant.survives:
        print(f"{mutant.number}: a test finds it now: remove `survives`")
    return is_found != bool(mutant.survives)


def main() -> int:
    """Check, build, judge and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--only", type=numbers)
    parser.add_argument("--stage", choices=list(STAGES))
    parser.add_argument("--results", type=Path, default=PLACE / "results.jsonl")
    options = parser.parse_args()
    try:
        chosen = [mutant for mutant in mutants().values() if not options.only or mutant.number in options.only]
        if options.check:
            mutated_sources()
            return 0
        if not options.table:
            copy()
            build()
    except MutantError as error:
        print(error, file=sys.stderr)
        return 1
    if options.build_only:
        return 0
    if not options.resume and not options.table:
        options.results.unlink(missing_ok=True)
    results = read(options.results)
    if not options.table:
        run(chosen, [options.stage] if options.stage else list(STAGES), options.results, results)
    print("\n".join(table(chosen, results)))
    unlisted = [mutant for mutant in chosen if not is_as_listed(mutant, results)]
    return 1 if unlisted else 0


if __name__ == "__main__":
    sys.exit(main())
