"""Tests that block on purpose: each fails within its deadline, its processes are ended, and the run continues."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from harness.daemon import ROOT
from harness.waiting import SLOWNESS, eventually

SUITE = """
import signal, socket, subprocess, threading, time
import pytest



def test_first(): pass

def test_sleeps(): time.sleep(600)

def test_waits_for_a_lock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()

def test_waits_for_a_thread():
    thread = threading.Thread(target=time.sleep, args=(600,), daemon=True)
    thread.start()
    thread.join()

def test_reads_a_silent_socket():
    near, far = socket.socketpair()
    near.recv(1)

def test_spins():
    while True: pass

@pytest.fixture
def slow_to_begin(): time.sleep(600)

def test_has_a_fixture_that_does_not_begin(slow_to_begin): pass

@pytest.fixture
def child(request):
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()

def test_blocks_with_a_child(child):
    print("pid of the child:", child.pid)
    child.wait()

def test_signals_have_their_default_actions():
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
        assert signal.getsignal(number) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ignored = next(line for line in open("/proc/self/status") if line.startswith("SigIgn"))
    assert not int(ignored.split()[1], 16) & (1 << signal.SIGINT - 1 | 1 << signal.SIGHUP - 1)
"""

# An alarm raises in Python alone: these end with their worker.
STUBBORN = """
    import signal, threading, time
    import pytest


    @pytest.fixture
    def slow_to_end():
        yield
        time.sleep(600)

    def test_hears_no_alarm():
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        time.sleep(600)

    def test_has_a_fixture_that_does_not_end(slow_to_end): time.sleep(600)

    def test_leaves_a_thread(): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()

    def test_last(): pass
"""


def outcome(directory: Path, suite: str, *arguments: str, grace: int = 60) -> tuple[str, int]:
    """Run a suite with deadlines of a second, as a script in the background would, and return what it printed.

    The deadlines grow on a slow machine, as those of all tests do.
    """
    lines = suite.strip("\n").splitlines()
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    (directory / "test_blocking.py").write_text("\n".join(line[margin:] for line in lines))
    (directory / "conftest.py").write_text('pytest_plugins = ["deadlines"]\n')
    (directory / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT}/Tests/Support/python\ntimeout = 1\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, str(directory)],
        env={**os.environ, "CARPOOL_TEST_GRACE": str(grace)},
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=100 * SLOWNESS,
        check=False,
        preexec_fn=lambda: [signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGHUP)],
    )
    return done.stdout + done.stderr, done.returncode


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "workers"])
def test_a_test_that_blocks_fails_and_the_run_goes_on(tmp_path: Path, workers: list[str]) -> None:
    told, code = outcome(tmp_path, SUITE, *workers)
    assert code == 1, told
    assert "6 failed, 2 passed, 1 error" in told, told
    child = next(int(line.split()[-1]) for line in told.splitlines() if line.startswith("pid of the child:"))
    eventually(lambda: not Path(f"/proc/{child}").exists())


def test_what_no_alarm_interrupts_ends_with_its_worker(tmp_path: Path) -> None:
    told, code = outcome(tmp_path, STUBBORN, "-n", "1", grace=1)
    assert code == 1, told
    assert "2 passed" in told, told
    assert "crashed while running 'test_blocking.py::test_hears_no_alarm'" in told, told
    assert "crashed while running 'test_blocking.py::test_has_a_fixture_that_does_not_end'" in told, told


def test_no_thread_of_the_tests_keeps_the_process() -> None:
    """A thread that blocks keeps the interpreter from ending unless it is a daemon thread."""
    found = []
    for folder in (ROOT / "Tests", ROOT / "clients/python/tests"):
        for path in folder.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and ast.unparse(node.func) in {"threading.Thread", "Thread"}:
                    given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
                    if given.get("daemon") != "True":
                        found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not found, f"not daemon threads: {found}"
