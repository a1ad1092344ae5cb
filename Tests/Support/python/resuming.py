"""A pytest plugin: a run that was interrupted continues behind the modules that have passed.

CARPOOL_TEST_MEMORY names a directory. A module whose tests have all passed is remembered there as an empty file, and is
not collected by a later run with the same directory. `Tests/run --long` makes one for each state of the sources.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest

_failed: set[Path] = set()


def _memory() -> Path | None:
    name = os.environ.get("CARPOOL_TEST_MEMORY")
    return Path(name) if name else None


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out modules that have passed."""
    memory = _memory()
    return True if memory is not None and (memory / collection_path.name).exists() else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the modules that have a failure."""
    report = yield
    if report.failed:
        _failed.add(item.path)
    return report


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, bool, bool]:
    """Remember a module behind its last test."""
    done = yield
    memory = _memory()
    if memory is not None and item.path not in _failed and (nextitem is None or nextitem.path != item.path):
        memory.mkdir(parents=True, exist_ok=True)
        (memory / item.path.name).touch()
    return done


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A run in which every module had passed before has no tests, and has passed."""
    if _memory() is not None and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK
