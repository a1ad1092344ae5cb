"""gunicorn: workers of four kinds that are forked from a process whose clients have sent requests."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from loopback import Origin, serving

KINDS = [f"{kind}-{name}" for kind in ("before", "after") for name in ("client", "requests", "httpx")] + ["function"]


@contextlib.contextmanager
def server(origin: Origin, *arguments: str) -> Iterator[int]:
    """Run gunicorn with an app that is read before the workers are forked; return its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener, Path("server.log").open("wb") as log:
        place = ["--preload", "--no-control-socket", "--bind", f"fd://{listener.fileno()}"]
        process = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", *arguments, *place],
            pass_fds=[listener.fileno()],
            stdout=log,
            stderr=log,
            env=os.environ | {"ORIGIN": origin.url},
            cwd=Path(__file__).parent,
        )
        try:
            yield int(listener.getsockname()[1])
            process.send_signal(signal.SIGTERM)
            assert process.wait(40) == 0, process.returncode
        finally:
            process.kill()
            told = Path("server.log").read_text()
    assert "Traceback" not in told and "[ERROR]" not in told, told


def get(port: int, path: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    assert response.status == 200, (response.status, body)
    return body


def ask(port: int, path: str) -> dict[str, Any]:
    """Let a worker send all its requests."""
    found: dict[str, Any] = json.loads(get(port, path))
    assert all(found[kind] == f"{path}/{kind.replace('-', '/')}" for kind in KINDS), found
    return found


def all_workers(origin: Origin, port: int, path: str, count: int) -> set[int]:
    """Ask so many times at once; each request waits for the others, so that each is in a place of its own."""
    together = threading.Barrier(count)

    def meet(exchange: Any) -> None:
        together.wait(60)
        exchange.reply(body=exchange.request.target.encode())

    origin.on(f"{path}/before/client", meet)
    with ThreadPoolExecutor(count) as threads:
        return {found["pid"] for found in threads.map(lambda _: ask(port, path), range(count))}


def processes(origin: Origin) -> None:
    with server(origin, "app_gunicorn:app", "--workers", "3") as port:
        pids = all_workers(origin, port, "/first", 3)
        assert len(pids) == 3, pids
        for number in range(10):
            ask(port, f"/again{number}")
        # A worker that is ended is replaced by another child of the same process.
        ended = pids.pop()
        os.kill(ended, signal.SIGTERM)
        while Path(f"/proc/{ended}").exists():
            time.sleep(0.02)
        assert ended not in all_workers(origin, port, "/replaced", 3)


def many_at_a_time(origin: Origin, kind: str, *arguments: str) -> None:
    """Serve as many requests at a time, in one process, as a session has connections to a host."""
    with server(origin, "app_gunicorn:app", "--worker-class", kind, *arguments) as port:
        assert len(all_workers(origin, port, f"/{kind}", 6)) == 1


def event_loops(origin: Origin) -> None:
    """Run the app of ASGI, whose asynchronous clients were made before the fork."""
    origin.on("/small", lambda exchange: exchange.reply(body=b"small"))
    with server(origin, "app_uvicorn:app", "--worker-class", "asgi", "--workers", "2") as port:
        paths = [f"/{kind}?name=small" for kind in ("get", "httpx", "relay") for _ in range(30)]
        with ThreadPoolExecutor(20) as threads:
            assert set(threads.map(lambda path: get(port, path), paths)) == {b"small"}


with serving() as origin:
    origin.handler = lambda exchange: exchange.reply(body=exchange.request.target.encode())
    processes(origin)
    many_at_a_time(origin, "gthread", "--threads", "6")
    many_at_a_time(origin, "gevent")
    parents = [target for target in origin.targets() if "/parent/" in target]
    assert len(parents) == 9, parents
    event_loops(origin)
