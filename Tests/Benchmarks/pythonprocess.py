"""Python programs that make one request and end: what an import costs, and the same over a link with a delay."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from pathlib import Path

from bench import Bench
from daemon import Daemon
from delay import DelayedLink
from origin import Origin
from pythonloop import environment, interpreter
from report import Row, limit_row, ratio_row

IMPORT_AIM_MS = 60
CLIENT_AIM = 0.33
ADAPTER_AIM = 0.65

CARPOOL = """
import carpool
print(carpool.get({url!r}, session="delayed").status_code)
"""
REQUESTS = """
import requests
print(requests.get({url!r}, verify={ca_file!r}).status_code)
"""
ADAPTER = """
import requests
from carpool.requests import CarpoolAdapter
with requests.Session() as session:
    session.mount("https://", CarpoolAdapter())
    print(session.get({url!r}, verify={ca_file!r}).status_code)
"""


def measure(bench: Bench) -> list[Row]:
    """Measure both."""
    return [_import(bench), *_delayed(bench)]


def _run(code: str, env: dict[str, str], prefix: tuple[str, ...] = ()) -> float:
    """Return the seconds from the start to the end of a program."""
    began = time.perf_counter()
    done = subprocess.run([*prefix, interpreter(), "-c", code], env=env, check=True, timeout=60, stdout=subprocess.PIPE)
    took = time.perf_counter() - began
    if done.stdout not in {b"", b"200\n"}:
        raise OSError(f"the program printed {done.stdout!r}")
    return took


def _import(bench: Bench) -> Row:
    env = environment(bench)
    _run("import carpool", env)
    bare, ours = [], []
    for _ in range(9 if bench.quick else 30):
        bare.append(_run("pass", env) * 1_000)
        ours.append(_run("import carpool", env) * 1_000)
    extra = statistics.median(ours) - statistics.median(bare)
    peer = f"{statistics.median(bare):.1f} ms without"
    return limit_row("import carpool: longer than an interpreter without it by", extra, "ms", IMPORT_AIM_MS, peer)


def _delayed(bench: Bench) -> list[Row]:
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        print("Python over a delayed link: needs root and /dev/net/tun; left out")
        return []
    with DelayedLink(bench.scratch, one_way_ms=20) as link:
        origin = Origin(bench.scratch / "python-far", link.far_address, link.far)
        daemon = Daemon(bench.scratch / "python-near", link.near)
        try:
            # The daemon opens no file for a client with other mounts, which `ip netns exec` makes.
            near = ("nsenter", f"--net=/run/netns/{link.names[0]}", f"--mount=/proc/{daemon.pid}/ns/mnt")
            trust = {"ca_pem": origin.ca_file.read_text()}
            daemon.call("session.create", name="delayed", configuration={"trust": trust})
            env = {**environment(bench), "CARPOOL_SOCKET": str(daemon.socket_path)}
            return _compare(bench, origin, env, near)
        finally:
            daemon.stop()
            origin.stop()


def _compare(bench: Bench, origin: Origin, env: dict[str, str], prefix: tuple[str, ...]) -> list[Row]:
    values = {"url": origin.https, "ca_file": str(origin.ca_file)}
    codes = [code.format(**values) for code in (CARPOOL, ADAPTER, REQUESTS)]
    for code in codes:
        _run(code, env, prefix)
    taken = [[_run(code, env, prefix) for code in codes] for _ in range(2 * bench.rounds + 1)]
    ours, adapter, theirs = (list(column) for column in zip(*taken, strict=True))
    name = "a Python program with one https get, 40 ms round trip, against requests"
    return [
        ratio_row(f"{name}: carpool", "s", ours, theirs, CLIENT_AIM),
        ratio_row(f"{name}: requests with CarpoolAdapter", "s", adapter, theirs, ADAPTER_AIM),
    ]
