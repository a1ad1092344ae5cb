"""A body of 100 MB in a Python program: as a file, beside a line of base64 and beside requests."""

from __future__ import annotations

import json
import subprocess

from bench import Bench
from daemon import Daemon
from pythonloop import environment, interpreter
from report import Row, ratio_row

SIZE = 100_000_000
HANDOVER_AIM = 0.05
CALL_AIM = 1.0
MEMORY_AIM = 0.5

# Each program prints the seconds of what is measured and the largest memory that it ever had, in kB.
_REPORT = """
import resource
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""

# The record comes after the whole body: only the file remains to be read, piece by piece into a buffer.
HANDOVER = """
import json, time
import carpool
client = carpool.Client({socket!r})
record = client.call("request.perform", url={url!r})
piece, size = bytearray(1 << 18), 0
began = time.perf_counter()
with open(record["body"]["file"], "rb", buffering=0) as file:
    while count := file.readinto(piece):
        size += count
seconds = time.perf_counter() - began
assert size == {size}
client.call("body.release", request=record["request"])
"""

# The alternative of a body in the answer: a line of JSON through a socket, parsed and decoded.
INLINE = """
import base64, json, os, socket, time
ours, theirs = socket.socketpair()
line = b'{{"jsonrpc":"2.0","id":1,"result":{{"body":{{"base64":"' + base64.b64encode(bytes({size})) + b'"}}}}}}\\n'
if os.fork() == 0:
    theirs.sendall(line)
    os._exit(0)
del line
began = time.perf_counter()
with ours.makefile("rb", buffering=1 << 20) as lines:
    body = base64.b64decode(json.loads(lines.readline())["result"]["body"]["base64"])
seconds = time.perf_counter() - began
assert len(body) == {size}
"""

OURS = """
import json, time
import carpool
client = carpool.Client({socket!r})
client.get({warm!r})
began = time.perf_counter()
body = client.get({url!r}).content
seconds = time.perf_counter() - began
assert len(body) == {size}
"""

THEIRS = """
import json, time
import requests
session = requests.Session()
session.trust_env = False
session.get({warm!r}).content
began = time.perf_counter()
body = session.get({url!r}).content
seconds = time.perf_counter() - began
assert len(body) == {size}
"""


def measure(bench: Bench, daemon: Daemon) -> list[Row]:
    """Measure the hand-over, and the whole call with its memory, in processes of their own."""
    url = bench.origin.http + bench.origin.make_file("hundred", SIZE)
    values = {"socket": str(daemon.socket_path), "url": url, "warm": bench.origin.http, "size": SIZE}

    def run(program: str) -> tuple[float, float]:
        command = [interpreter(), "-c", program.format(**values) + _REPORT]
        seconds, kilobytes = json.loads(
            subprocess.run(command, env=environment(bench), check=True, stdout=subprocess.PIPE).stdout
        )
        return seconds, kilobytes / 1024

    def row(what: str, unit: str, pairs: list[tuple[float, float]], aim: float) -> Row:
        return ratio_row(
            f"100 MB in Python: {what}", unit, [pair[0] for pair in pairs], [pair[1] for pair in pairs], aim
        )

    rounds = range(bench.rounds)
    handover = [(run(HANDOVER)[0], run(INLINE)[0]) for _ in rounds]
    calls = [(run(OURS), run(THEIRS)) for _ in rounds]
    return [
        row("from the last byte to the client, against base64", "s", handover, HANDOVER_AIM),
        row("get, against requests", "s", [(ours[0], theirs[0]) for ours, theirs in calls], CALL_AIM),
        row("largest memory, against requests", "MiB", [(ours[1], theirs[1]) for ours, theirs in calls], MEMORY_AIM),
    ]
