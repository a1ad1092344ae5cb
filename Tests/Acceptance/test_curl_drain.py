"""`carpool curl` while its daemon ends: running transfers finish, and those that follow use the next daemon."""

from __future__ import annotations

import subprocess
from pathlib import Path

from harness.daemon import CARPOOL, environment
from harness.process import running
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import ScriptedOrigin


def test_a_transfer_that_runs_finishes_when_another_one_is_refused(tmp_path: Path, origin: ScriptedOrigin) -> None:
    variables = environment(tmp_path)
    gates = [origin.hold("/slow", b"slow "), origin.hold("/fast", b"fast ")]
    origin.on("/third", lambda exchange: exchange.reply(body=b"third"))
    urls = [f"{origin.url}/{name}" for name in ("slow", "fast", "third")]
    arguments = [CARPOOL, "curl", "-sSZ", "--parallel-max", "2", *urls]
    with running(arguments, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tool:
        origin.received(2)
        subprocess.run([CARPOOL, "call", "daemon.drain"], env=variables, timeout=PATIENCE_SECONDS, check=True)
        gates[1].set()
        assert tool.stdout is not None
        # The third transfer begins now, and the daemon refuses it.
        printed = tool.stdout.read(5)
        gates[0].set()
        rest, errors = tool.communicate(timeout=PATIENCE_SECONDS)
        assert (printed + rest, errors, tool.returncode) == (b"fast slow third", b"", 0)
    subprocess.run([CARPOOL, "daemon", "stop"], env=variables, timeout=PATIENCE_SECONDS, check=True)
    assert sorted(request.target for request in origin.requests) == ["/fast", "/slow", "/third"]
