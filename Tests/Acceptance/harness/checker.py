"""What a type checker says about a program that uses the Python client."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import carpool

from harness.daemon import ROOT
from harness.waiting import PATIENCE_SECONDS

TYPES = ROOT / ".build/tests/types"
"""The cache of the types, which the runs share."""


def checked(folder: Path, program: str, *options: str) -> str:
    """Return what mypy writes about a program, in its strict mode."""
    (folder / "program.py").write_text(program)
    always = ["--strict", "--config-file", os.devnull, "--cache-dir", str(TYPES), "--no-error-summary"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *always, *options, "program.py"],
        env={"MYPYPATH": str(Path(carpool.__file__).parents[1])},
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE_SECONDS,  # of a processor, without a cache
    )
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout
