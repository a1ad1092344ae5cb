"""A pytest plugin: every test has a deadline, and its processes start with the signals' default actions.

The deadline of a test is that of pytest-timeout (`timeout` in the suite's settings): an alarm that raises in the main
thread, so that the test fails, its fixtures end their processes, and the run continues. What an alarm cannot interrupt
(C code that keeps the interpreter's lock, a fixture that blocks while it ends) has GRACE_SECONDS more; then the process
ends with the stacks of all threads. pytest-xdist reports the test as failed and starts another worker, so suites run
with at least `-n 1`.

CARPOOL_TEST_SLOWNESS multiplies the deadlines, for builds that check themselves and for loaded machines.
"""

from __future__ import annotations

import faulthandler
import importlib.util
import os
import signal
import threading
from collections.abc import Iterator

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key

SLOWNESS = float(os.environ.get("CARPOOL_TEST_SLOWNESS", "1"))
GRACE_SECONDS = float(os.environ.get("CARPOOL_TEST_GRACE", "60")) * SLOWNESS


def pytest_addoption(parser: pytest.Parser) -> None:
    """Define the settings of pytest-timeout even if it is not installed: then only the end of the process is left."""
    if importlib.util.find_spec("pytest_timeout") is None:
        parser.addini("timeout", "seconds for one test")
        parser.addini("timeout_method", "not used")
        parser.addoption("--timeout", type=float, help="seconds for one test")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Apply the factor, and reset the signals that the starting shell ignores: children inherit them."""
    if config.option.timeout is None:
        config.option.timeout = float(config.getini("timeout")) * SLOWNESS
    if threading.current_thread() is threading.main_thread():
        # A shell ignores SIGINT in processes that a script starts in the background, nohup ignores SIGHUP.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """End the process when the test does not."""
    marker = item.get_closest_marker("timeout")
    _end_in(item, float(marker.args[0]) if marker is not None else item.config.option.timeout)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Start the timer again: pytest cancels it when a test fails, and its own alarm has ended by now."""
    _end_in(item, 0)
    return (yield)


def _end_in(item: pytest.Item, seconds: float) -> None:
    stderr = item.config.stash.get(fault_handler_stderr_fd_key, 2)
    faulthandler.dump_traceback_later(seconds + GRACE_SECONDS, exit=True, file=stderr)
