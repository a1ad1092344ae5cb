"""Requests of the asynchronous client while the program ends: then no thread can be started any more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS
from loops import LOOPS
from origins.scripted import ScriptedOrigin

CARPOOL = """
    async with carpool.AsyncClient() as client:
        assert (await client.get(url)).status_code == 200
        assert len((await client.get(f"{url}/big")).content) == 3_000_000
        with open(sys.argv[0], "rb") as file:
            assert (await client.post(url, data=file)).status_code == 200
        try:
            await carpool.AsyncClient("/nothing").get(url)
        except carpool.DaemonUnreachableError:
            print("done")
"""
HTTPX = """
    import carpool.httpx, httpx
    async with httpx.AsyncClient(transport=carpool.httpx.AsyncCarpoolTransport()) as client:
        found = await asyncio.gather(*(client.get(path) for path in (url, f"{url}/big")))
        assert len(found[1].content) == 3_000_000
        print("done")
"""
IN_THREAD = """
def late():
    threading.main_thread().join()
    run(main())

threading.Thread(target=late).start()
"""
AT_EXIT = "import atexit; atexit.register(lambda: run(main()))"
PROGRAM = """
import asyncio, os, sys, threading
import carpool

if sys.argv[2] == "uvloop":
    import uvloop

    run = uvloop.run
else:
    run = asyncio.run
url = sys.argv[1]

async def main():
{body}
{end}
"""


def check(daemon: Daemon, *arguments: str | Path) -> None:
    """Run a program in Python, which must end without a word on standard error."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "CARPOOL_SOCKET": str(daemon.socket)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert (done.stderr, done.stdout) == ("", "done\n")


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("end", [IN_THREAD, AT_EXIT], ids=["thread", "atexit"])
@pytest.mark.parametrize("body", [CARPOOL, HTTPX], ids=["carpool", "httpx"])
def test_requests_work_while_the_program_ends(
    daemon: Daemon, origin: ScriptedOrigin, tmp_path: Path, body: str, end: str, loop: str
) -> None:
    origin.on("/big", lambda exchange: exchange.reply(body=bytes(3_000_000)))
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(body=body, end=end))
    check(daemon, program, origin.url, loop)


ON_TRIO = """
import sys, threading
import carpool.httpx, httpx, trio

def refuse(*_):
    raise RuntimeError("can't create new thread at interpreter shutdown")

async def send():
    url = sys.argv[1]
    async with httpx.AsyncClient(transport=carpool.httpx.AsyncCarpoolTransport()) as client:
        assert len((await client.get(f"{url}/big")).content) == 3_000_000
        assert (await client.post(url, content=pieces())).status_code == 200
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(client.get, url)
        with trio.move_on_after(0.1):
            await client.get(url)
    print("done")

async def pieces():
    yield b"a"
    yield b"b"

def late():
    threading.main_thread().join()
    # As in Python 3.12.
    threading.Thread.start = refuse
    trio.run(send)

threading.Thread(target=late).start()
"""


def test_requests_on_trio_need_no_thread_while_the_program_ends(daemon: Daemon, origin: ScriptedOrigin) -> None:
    origin.on("/big", lambda exchange: exchange.reply(body=bytes(3_000_000)))
    check(daemon, "-c", ON_TRIO, origin.url)
