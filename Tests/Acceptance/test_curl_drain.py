"""`carpool curl` while its daemon ends: running transfers finish, and those that follow use the next daemon.

Whatever ends the daemon, a request that it may have read is not sent again.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.daemon import CARPOOL, environment
from harness.process import running
from harness.waiting import PATIENCE_SECONDS, eventually
from origins.scripted import ScriptedOrigin

ENDED_BY_DAEMON = 56
REQUESTS = {"GET": [], "POST": ["-d", "a"], "file": ["-T", "body"]}


@pytest.fixture
def variables(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The variables of a daemon that is started when it is needed."""
    made = environment(tmp_path)
    yield made
    subprocess.run([CARPOOL, "daemon", "stop"], env=made, timeout=PATIENCE_SECONDS, check=True)


def call(variables: dict[str, str], method: str) -> str:
    command = [CARPOOL, "call", method]
    done = subprocess.run(command, env=variables, timeout=PATIENCE_SECONDS, check=True, stdout=subprocess.PIPE)
    return done.stdout.decode()


def number(text: str, name: str) -> int:
    found = re.search(rf'"{name}": ?(\d+)', text)
    assert found, text
    return int(found[1])


def targets(origin: ScriptedOrigin) -> list[str]:
    return sorted(request.target for request in origin.requests)


def test_a_transfer_that_runs_finishes_when_another_one_is_refused(
    variables: dict[str, str], origin: ScriptedOrigin
) -> None:
    gates = [origin.hold("/slow", b"slow "), origin.hold("/fast", b"fast ")]
    origin.on("/third", lambda exchange: exchange.reply(body=b"third"))
    urls = [f"{origin.url}/{name}" for name in ("slow", "fast", "third")]
    arguments = [CARPOOL, "curl", "-sSZ", "--parallel-max", "2", *urls]
    with running(arguments, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tool:
        origin.received(2)
        call(variables, "daemon.drain")
        gates[1].set()
        assert tool.stdout is not None
        # The third transfer begins now, and the daemon refuses it.
        printed = tool.stdout.read(5)
        gates[0].set()
        rest, errors = tool.communicate(timeout=PATIENCE_SECONDS)
        assert (printed + rest, errors, tool.returncode) == (b"fast slow third", b"", 0)
    assert targets(origin) == ["/fast", "/slow", "/third"]


@pytest.mark.parametrize("kind", REQUESTS)
def test_transfers_after_a_drain_use_the_next_daemon(
    variables: dict[str, str], origin: ScriptedOrigin, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "body").write_bytes(b"the body")
    for name in range(1, 13):
        origin.on(f"/{name}", lambda exchange: exchange.reply(body=exchange.request.target.encode()))
    gate = origin.hold("/3", b"/3")
    arguments = [CARPOOL, "curl", "-sS", *REQUESTS[kind], f"{origin.url}/[1-12]"]
    with running(arguments, env=variables, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tool:
        origin.received(1, "/3")
        call(variables, "daemon.drain")
        gate.set()
        printed, errors = tool.communicate(timeout=PATIENCE_SECONDS)
        assert (errors, tool.returncode) == (b"", 0)
    assert printed.decode() == "".join(f"/{name}" for name in range(1, 13))
    assert targets(origin) == sorted(f"/{name}" for name in range(1, 13))


def test_a_killed_daemon_ends_one_transfer_of_several(variables: dict[str, str], origin: ScriptedOrigin) -> None:
    gate = origin.hold("/3", b"")
    for name in (1, 2, *range(4, 13)):
        origin.on(f"/{name}", lambda exchange: exchange.reply(body=exchange.request.target.encode()))
    arguments = [CARPOOL, "curl", "-sS", "-w", "%{exitcode} ", f"{origin.url}/[1-12]"]
    with running(arguments, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tool:
        origin.received(1, "/3")
        os.kill(number(call(variables, "daemon.info"), "pid"), signal.SIGKILL)
        printed, errors = tool.communicate(timeout=PATIENCE_SECONDS)
        gate.set()
    expected = "".join(f"{ENDED_BY_DAEMON} " if name == 3 else f"/{name}0 " for name in range(1, 13))
    assert printed.decode() == expected, errors
    assert targets(origin) == sorted(f"/{name}" for name in range(1, 13))


def test_a_request_that_a_killed_daemon_has_read_is_not_sent_again(
    variables: dict[str, str], origin: ScriptedOrigin
) -> None:
    """The command learns that the daemon has ended when it sends the next call on the connection of a running one."""
    held, fast = origin.hold("/held", b"held"), origin.hold("/fast", b"fast ")
    origin.on("/next", lambda exchange: exchange.reply(body=b"next"))
    urls = [f"{origin.url}/{name}" for name in ("held", "fast", "next")]
    arguments = [CARPOOL, "curl", "-sSZ", "--parallel-max", "2", "-d", "a", *urls]
    with running(arguments, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tool:
        origin.received(2)
        daemon = number(call(variables, "daemon.info"), "pid")
        tool.send_signal(signal.SIGSTOP)
        fast.set()
        eventually(lambda: number(call(variables, "daemon.stats").partition('"transfers"')[2], "active") == 1)
        os.kill(daemon, signal.SIGKILL)
        tool.send_signal(signal.SIGCONT)
        printed, errors = tool.communicate(timeout=PATIENCE_SECONDS)
        held.set()
    assert (printed, tool.returncode) == (b"fast next", ENDED_BY_DAEMON), errors
    assert targets(origin) == ["/fast", "/held", "/next"]
