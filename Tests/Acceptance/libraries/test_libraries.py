"""Programs of PyPI, in the pinned releases of libraries.toml, send through the daemon what their users send.

Each script runs in the environment of its library, with an origin of its own, and checks there that the connections to
the origin are the daemon's (`scripts/loopback.py`).
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from harness.daemon import ROOT, Daemon
from harness.waiting import SLOWNESS
from listing import HERE, Library, libraries
from origins.authority import Authority

DEADLINE_SECONDS = 100 * SLOWNESS
IS_DIRECT = "CARPOOL_LIBRARY_DIRECT" in os.environ
# The library is the daemon's; with one of the others requests ignores the authorities of a session.
UNSET = {"LD_LIBRARY_PATH", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"}
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATHS = (ROOT / "clients/python/src", ROOT / "Tests/Acceptance", ROOT / "Tests/Support/python")


def chosen() -> list[Library]:
    """The libraries of the chosen environment; without the daemon only those that have an adapter."""
    environment = os.environ.get("CARPOOL_LIBRARY_ENVIRONMENT")
    return [
        library
        for library in libraries()
        if environment in {None, library.environment}
        and (not IS_DIRECT or library.adapter.startswith(("carpool.requests", "carpool.httpx")))
    ]


@pytest.mark.parametrize("library", chosen(), ids=lambda library: library.name)
def test_library(library: Library, daemon: Daemon, authority: Authority, tmp_path: Path) -> None:
    if missing := library.missing():
        pytest.skip(f"not installed: {', '.join(missing)}; Tests/Acceptance/libraries/run installs it")
    variables = {name: value for name, value in daemon.environment.items() if name not in UNSET} | {
        "CARPOOL_SOCKET": str(daemon.socket),
        "CARPOOL_LIBRARY_ADAPTER": library.adapter,
        "CARPOOL_LIBRARY_DAEMON": str(daemon.pid),
        "CARPOOL_LIBRARY_AUTHORITY": str(authority.directory),
        "PYTHONPATH": os.pathsep.join(map(str, PATHS)),
        "PYTHONDONTWRITEBYTECODE": "1",
        **({"CARPOOL": "off"} if IS_DIRECT else {}),
    }
    script = subprocess.Popen(
        [str(library.python), "-X", "faulthandler", str(HERE / "scripts" / library.script)],
        env=variables,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = script.communicate(timeout=DEADLINE_SECONDS)
    except subprocess.TimeoutExpired:
        # It prints the stacks of its threads.
        script.send_signal(signal.SIGABRT)
        output, _ = script.communicate(timeout=5)
    finally:
        # The processes that the script has started.
        _kill_group(script.pid)
    assert script.returncode == 0, output.decode(errors="replace")


@pytest.mark.parametrize("environment", sorted({library.environment for library in chosen()} - {"previous"}))
def test_the_code_of_the_page_can_be_run(environment: str) -> None:
    """It makes clients, and sends nothing."""
    rows = [library for library in libraries() if library.environment == environment]
    if missing := [each for row in rows for each in row.missing()]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    blocks = CODE.findall((ROOT / "docs/libraries.md").read_text())
    mine = [block for block in blocks if ("httpx_sse" in block or "import openai" in block) == (environment == "quick")]
    assert len(mine) > 1
    program = f"for block in {mine!r}:\n    print(block)\n    exec(block, {{}})"
    variables = dict.fromkeys(["OPENAI_API_KEY", "ANTHROPIC_API_KEY"], "none")
    done = subprocess.run(
        [rows[0].python, "-c", program],
        env=os.environ | variables | {"PYTHONPATH": str(PATHS[0])},
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return
