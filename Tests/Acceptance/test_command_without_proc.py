"""Without /proc, as in the chroot of an image builder, the command says what is missing, and curl runs the real one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from harness.command import OK, UNREACHABLE, USAGE, Done
from harness.daemon import CARPOOL, CARPOOLD, environment
from harness.users import as_root
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import ScriptedOrigin

pytestmark = as_root


@pytest.fixture
def home(tmp_path: Path) -> Path:
    if subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no mount namespaces here")
    made = tmp_path / "home"
    made.mkdir(mode=0o700)
    return made


def without_proc(home: Path, program: str | Path, *arguments: str) -> Done:
    line = 'mount -t tmpfs none /proc && exec "$@"'
    return subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", line, "sh", program, *arguments],
        env=environment(home), cwd=home, check=False, capture_output=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip


def test_arguments_are_read(home: Path) -> None:
    done = without_proc(home, CARPOOL, "version")
    assert (done.returncode, done.stderr) == (OK, b"") and done.stdout.startswith(b"carpool ")
    wrong = without_proc(home, CARPOOL, "get", "--nonsense")
    assert wrong.returncode == USAGE and b"unknown option --nonsense" in wrong.stderr


def test_a_request_says_what_is_missing(home: Path, origin: ScriptedOrigin) -> None:
    done = without_proc(home, CARPOOL, "get", origin.url)
    assert done.returncode == UNREACHABLE
    assert b"/proc is not mounted, and the daemon needs it" in done.stderr
    assert origin.requests == []


def test_curl_runs_the_real_one(home: Path, origin: ScriptedOrigin) -> None:
    if shutil.which("curl") is None:
        pytest.skip("there is no curl on PATH")
    url = origin.on("/page", lambda exchange: exchange.reply(body=b"hello"))
    done = without_proc(home, CARPOOL, "curl", "-sS", "-u", "ada:secret", url)
    assert (done.returncode, done.stdout) == (OK, b"hello")
    assert [request.values("authorization") for request in origin.requests] == [["Basic YWRhOnNlY3JldA=="]]


def test_the_daemon_does_not_serve(home: Path) -> None:
    done = without_proc(home, CARPOOLD, "--socket", str(home / "socket"))
    assert done.returncode == 1 and b"carpoold: /proc is not mounted" in done.stderr
    assert without_proc(home, CARPOOLD, "--version").stdout.startswith(b"carpoold ")
