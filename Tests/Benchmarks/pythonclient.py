"""The Python client against requests and httpx, all warm, each in a process that imports nothing of the others."""

from __future__ import annotations

import pythonprocess
from bench import Bench
from daemon import Daemon
from origin import BODY
from pythonloop import Program, Took, alternate
from report import Row, least_row, ratio_row

DEFAULT_AIM = 0.34
LEAN_AIM = 0.5
HTTPX_AIM = 0.75
ADAPTER_AIM = 0.9
THREADS_AIM = 0.9
STREAM_AIM = 1.0
STREAM_CPU_AIM = 0.7

WARM_UP = 50
THREADS = 8
STREAM_BYTES = 200_000_000

CARPOOL = """
import carpool
client = carpool.Client({socket!r}, session="benchmark")
def once(): return len(client.get({url!r}).content)
"""
REQUESTS = """
import requests
session = requests.Session()
session.verify = {ca_file!r}
def once(): return len(session.get({url!r}).content)
"""
# Without trust_env requests looks neither for proxies of the environment nor for .netrc: a third of its time.
LEAN_REQUESTS = REQUESTS.replace("def once", "session.trust_env = False\ndef once")
HTTPX = """
import httpx, ssl
client = httpx.Client(verify=ssl.create_default_context(cafile={ca_file!r}))
def once(): return len(client.get({url!r}).content)
"""
ADAPTER = """
import os
os.environ["CARPOOL_SOCKET"] = {socket!r}
import requests
from carpool.requests import CarpoolAdapter
session = requests.Session()
session.verify = {ca_file!r}
session.mount("https://", CarpoolAdapter())
def once(): return len(session.get({url!r}).content)
"""

# Each thread keeps its connection from round to round. The barrier makes each of them do one of the tasks.
THREADED = """
import carpool, threading
from concurrent.futures import ThreadPoolExecutor
threads, barrier, local = ThreadPoolExecutor({threads}), threading.Barrier({threads}), threading.local()
def made(): return carpool.Client({socket!r}, session="benchmark")
{choice}
def work(_):
    client = chosen()
    barrier.wait(60)
    return sum(len(client.get({url!r}).content) for _ in range({gets}))
def once(): return sum(threads.map(work, range({threads})))
"""
SHARED = """
shared = made()
def chosen(): return shared
"""
OWN = """
def chosen():
    if not hasattr(local, "client"): local.client = made()
    return local.client
"""

CARPOOL_STREAM = """
import carpool
client = carpool.Client({socket!r}, session="benchmark")
def once():
    with client.stream("GET", {url!r}) as stream:
        return sum(map(len, stream.iter_bytes()))
"""
# The default of chunk_size is one byte; pieces of 64 KiB are what its users choose for speed.
REQUESTS_STREAM = """
import requests
session = requests.Session()
session.trust_env = False
def once():
    with session.get({url!r}, stream=True) as response:
        return sum(map(len, response.iter_content(65_536)))
"""


def measure(bench: Bench) -> list[Row]:
    """Measure single requests over both schemes, threads, a stream, and programs that end at once."""
    daemon = Daemon(bench.scratch / "python")
    try:
        trust = {"ca_file": str(bench.origin.ca_file)}
        daemon.call("session.create", name="benchmark", configuration={"trust": trust})
        rows = [
            *_warm(bench, daemon, "http", bench.origin.http),
            *_warm(bench, daemon, "https", bench.origin.https),
            _adapter(bench, daemon),
            _threads(bench, daemon),
            *_stream(bench, daemon),
        ]
    finally:
        daemon.stop()
    return rows + pythonprocess.measure(bench)


def _seconds(taken: list[Took], factor: float = 1.0) -> list[float]:
    return [each.seconds * factor for each in taken]


def _values(bench: Bench, daemon: Daemon, url: str) -> dict[str, object]:
    return {"socket": str(daemon.socket_path), "ca_file": str(bench.origin.ca_file), "url": url}


def _repeated(bench: Bench, daemon: Daemon, url: str, codes: tuple[str, ...]) -> list[list[float]]:
    """Return the microseconds of a small get with each program."""
    values, count = _values(bench, daemon, url), 100 if bench.quick else 500
    programs = [Program(bench, code, len(BODY), count=count, warm=WARM_UP, **values) for code in codes]
    return [_seconds(taken, 1e6) for taken in alternate(bench.rounds, programs)]


def _warm(bench: Bench, daemon: Daemon, scheme: str, url: str) -> list[Row]:
    ours, default, lean, httpx = _repeated(bench, daemon, url, (CARPOOL, REQUESTS, LEAN_REQUESTS, HTTPX))
    name = f"Python get, warm, {scheme}, against"
    return [
        ratio_row(f"{name} requests.Session", "us", ours, default, DEFAULT_AIM),
        ratio_row(f"{name} requests.Session without trust_env", "us", ours, lean, LEAN_AIM),
        ratio_row(f"{name} httpx.Client", "us", ours, httpx, HTTPX_AIM),
    ]


def _adapter(bench: Bench, daemon: Daemon) -> Row:
    ours, theirs = _repeated(bench, daemon, bench.origin.https, (ADAPTER, REQUESTS))
    return ratio_row("requests with CarpoolAdapter, warm, https, against without", "us", ours, theirs, ADAPTER_AIM)


def _threads(bench: Bench, daemon: Daemon) -> Row:
    """Measure threads with one client, against threads that have one each."""
    gets = 50 if bench.quick else 250
    values = {**_values(bench, daemon, bench.origin.http), "threads": THREADS, "gets": gets}
    programs = [
        Program(bench, THREADED.replace("{choice}", choice), len(BODY) * THREADS * gets, count=1, warm=1, **values)
        for choice in (SHARED, OWN)
    ]
    taken = alternate(bench.rounds, programs)
    one, many = ([THREADS * gets / each.seconds for each in column] for column in taken)
    return least_row(f"{THREADS} threads with one Client, against {THREADS} Clients", "gets/s", one, many, THREADS_AIM)


def _stream(bench: Bench, daemon: Daemon) -> list[Row]:
    size = STREAM_BYTES // 10 if bench.quick else STREAM_BYTES
    path = bench.origin.make_file("streamed", size)
    values = _values(bench, daemon, bench.origin.http + path)
    programs = [Program(bench, code, size, count=1, warm=1, **values) for code in (CARPOOL_STREAM, REQUESTS_STREAM)]
    ours, theirs = alternate(bench.rounds, programs)
    (bench.origin.directory / path).unlink()
    name = f"Python stream of {size // 1_000_000} MB, http, against requests"
    cpu, other_cpu = ([each.cpu for each in taken] for taken in (ours, theirs))
    return [
        ratio_row(f"{name}: time", "s", _seconds(ours), _seconds(theirs), STREAM_AIM),
        ratio_row(f"{name}: CPU of the client", "s", cpu, other_cpu, STREAM_CPU_AIM),
    ]
