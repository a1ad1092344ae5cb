"""The Python client against requests, both warm, each in a process that imports nothing of the other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench import Bench
from daemon import ROOT, Daemon
from report import Row, ratio_row

AIM = 0.5
WARM_UP = 50

# The code of a user. `get` is bound first, so that both loops do the same.
OURS = """
import carpool
client = carpool.Client({socket!r}, session="benchmark")
client.call("session.create", name="benchmark", configuration={{"trust": {{"ca_file": {ca_file!r}}}}})
def get(): return client.get({url!r}).content
"""
THEIRS = """
import requests
session = requests.Session()
session.trust_env = False
session.verify = {ca_file!r}
def get(): return session.get({url!r}).content
"""
LOOP = """
import sys, time
for _ in range({warm}): get()
while sys.stdin.readline():
    began = time.perf_counter()
    for _ in range({count}): body = get()
    print((time.perf_counter() - began) / {count} * 1e6, len(body), flush=True)
"""


def measure(bench: Bench) -> list[Row]:
    """Measure both schemes."""
    daemon = Daemon(bench.scratch / "python")
    try:
        return [_pair(bench, daemon, scheme, url) for scheme, url in _targets(bench)]
    finally:
        daemon.stop()


def _targets(bench: Bench) -> list[tuple[str, str]]:
    return [("http", bench.origin.http), ("https", bench.origin.https)]


def interpreter() -> str:
    """The tests' interpreter, which has requests; otherwise the one that runs this."""
    own = ROOT / ".venv/bin/python"
    return str(own) if own.exists() else sys.executable


def _start(code: str, values: dict[str, object]) -> subprocess.Popen[str]:
    env = os.environ | {"PYTHONPATH": str(ROOT / "clients/python/src")}
    command = [interpreter(), "-c", (code + LOOP).format(**values)]
    return subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _round(process: subprocess.Popen[str]) -> float:
    if process.stdin is None or process.stdout is None:
        raise OSError("the client has no pipes")
    process.stdin.write("go\n")
    process.stdin.flush()
    return float(process.stdout.readline().split()[0])


def _pair(bench: Bench, daemon: Daemon, scheme: str, url: str) -> Row:
    values: dict[str, object] = {
        "socket": str(daemon.socket_path),
        "url": url,
        "ca_file": str(Path(bench.origin.ca_file)),
        "count": 100 if bench.quick else 500,
        "warm": WARM_UP,
    }
    with _start(OURS, values) as ours, _start(THEIRS, values) as theirs:
        try:
            other, mine = [], []
            for _ in range(bench.rounds):
                other.append(_round(theirs))
                mine.append(_round(ours))
        finally:
            ours.terminate()
            theirs.terminate()
    return ratio_row(f"Python get, warm, {scheme}, against requests.Session", "us", mine, other, AIM)
