"""A run of the suite that was interrupted continues behind the modules that have passed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness.daemon import ROOT
from harness.waiting import PATIENCE_SECONDS

MODULES = {
    "test_passes.py": "def test_one(): pass\ndef test_two(): pass\n",
    "test_fails.py": 'import os\ndef test_one(): assert "MENDED" in os.environ\ndef test_two(): pass\n',
    "test_ends_badly.py": (
        "import os, pytest\n@pytest.fixture\ndef bad():\n    yield\n"
        '    assert "MENDED" in os.environ\ndef test_one(bad): pass\n'
    ),
}


def outcome(directory: Path, *arguments: str, **variables: str) -> tuple[str, int]:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, str(directory)],
        env={**os.environ, "CARPOOL_TEST_MEMORY": str(directory / "memory"), **variables},
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS * 2,
        check=False,
    )
    return done.stdout + done.stderr, done.returncode


@pytest.mark.parametrize("workers", [[], ["-n", "2", "--dist", "loadfile"]], ids=["alone", "workers"])
def test_what_has_passed_is_left_out(tmp_path: Path, workers: list[str]) -> None:
    for name, text in MODULES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["deadlines", "resuming"]\n')
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT}/Tests/Support/python\ntimeout = 60\n")
    told, code = outcome(tmp_path, *workers)
    assert "1 failed, 4 passed, 1 error" in told, told
    assert code == 1
    assert [path.name for path in (tmp_path / "memory").iterdir()] == ["test_passes.py"]
    told, code = outcome(tmp_path, *workers, MENDED="1")
    assert "3 passed" in told, told
    assert code == 0
    told, code = outcome(tmp_path, *workers)
    assert "no tests ran" in told, told
    assert code == 0
