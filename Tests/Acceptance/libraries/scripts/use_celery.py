"""celery: tasks in a pool of forked workers; the exceptions of Carpool come back from them, in both serializations."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import carpool
from loopback import EventStream, Origin, in_turn, serving, status


def raised(result: Any, kind: type[Exception]) -> Any:
    """Return the exception of a task, which must be of this class."""
    try:
        result.get(timeout=60)
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def tasks(origin: Origin) -> None:
    import app_celery  # noqa: PLC0415, its settings are in the environment

    origin.on("/text", lambda exchange: exchange.reply(body="größe".encode()))
    results = [app_celery.fetch.delay(f"{origin.url}/text") for _ in range(20)]
    found = [result.get(timeout=60) for result in results]
    assert {text for text, _ in found} == {"größe"} and os.getpid() not in {pid for _, pid in found}

    origin.on("/missing", lambda exchange: exchange.reply(404, b"nothing"))
    error = raised(app_celery.demand.delay(f"{origin.url}/missing"), carpool.HTTPStatusError)
    assert "404" in str(error) and "/missing" in str(error), error
    error = raised(app_celery.demand.delay(f"http://127.0.0.1:{closed_port()}/"), carpool.ConnectError)
    assert "127.0.0.1" in str(error), error
    error = raised(app_celery.mistake.delay(f"{origin.url}/text"), carpool.InvalidParamsError)
    assert "timeout_ms" in str(error), error

    origin.on("/shaky", in_turn(status(500), status(503), lambda exchange: exchange.reply(body=b"at last")))
    before = len(origin.requests)
    assert app_celery.insist.delay(f"{origin.url}/shaky").get(timeout=60) == "at last"
    assert len(origin.requests) == before + 3

    endless = EventStream([": waits\n\n"], ends=False)
    origin.on("/endless", endless)
    origin.on("/endless/after", lambda exchange: exchange.reply(body=b"as before"))
    assert app_celery.wait.delay(f"{origin.url}/endless").get(timeout=60) == "interrupted, then as before"
    assert endless.was_left.wait(30), "the request goes on after the task was interrupted"


def with_worker(origin: Origin, serializer: str) -> None:
    folder = Path.cwd() / serializer
    for name in ("queue", "control", "results"):
        (folder / name).mkdir(parents=True)
    os.environ |= {"TASKS": str(folder), "SERIALIZER": serializer, "C_FORCE_ROOT": "1"}
    command = [
        sys.executable, "-m", "celery", "-A", "app_celery", "worker", "--concurrency", "2", "--pool", "prefork",
        "--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "warning",
    ]  # fmt: skip
    with (folder / "log").open("wb") as log:
        worker = subprocess.Popen(command, stdout=log, stderr=log, cwd=Path(__file__).parent)
    try:
        tasks(origin)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(40) == 0, worker.returncode
    except BaseException:
        print((folder / "log").read_text())
        raise
    finally:
        worker.kill()


if len(sys.argv) > 1:
    with serving() as origin:
        with_worker(origin, sys.argv[1])
else:
    # Each in a process of its own, because the settings of the app are those of its module.
    for serializer in ("json", "pickle"):
        subprocess.run([sys.executable, "-X", "faulthandler", __file__, serializer], check=True)
