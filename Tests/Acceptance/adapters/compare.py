"""Compares the outcomes of a library's tests with its own transport and through the daemon."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def outcomes(path: str) -> dict[str, str]:
    """Return the outcome of each test that has sent something."""
    found: dict[str, str] = json.loads(Path(path).read_text())
    return found


def main(library: str, loop: str, plain_path: str, ours_path: str) -> int:
    known = json.loads((Path(__file__).parent / "known.json").read_text())[library]
    always = {name for name, reason in known.items() if not reason.startswith("sometimes: ")}
    plain, ours = outcomes(plain_path), outcomes(ours_path)
    valid = {name for name, outcome in plain.items() if outcome == "passed"}
    failed = {name for name in valid if ours.get(name) != "passed"}
    print(f"{library} on {loop}: {len(plain)} tests send, {len(valid)} pass with its own transport,", end=" ")
    print(f"{len(valid) - len(failed)} of them through the daemon")
    for name in sorted(failed - known.keys()):
        print(f"  fails through the daemon: {name}")
    for name in sorted(valid & always - failed):
        print(f"  passes, and is in known.json: {name}")
    return 1 if failed - known.keys() or valid & always - failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
