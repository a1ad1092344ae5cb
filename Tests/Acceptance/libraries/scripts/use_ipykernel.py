"""ipykernel: cells that use Client and AsyncClient with await at the top, and requests that an interrupt ends."""

from __future__ import annotations

import sys
import time
from typing import Any

from jupyter_client.manager import KernelManager
from loopback import EventStream, Origin, serving

PATIENCE_SECONDS = 60

STREAM = """
async with tasks.stream("GET", f"{url}/text") as stream:
    print(await stream.read(), end="")
"""
TRANSPORT = """
import httpx2
from carpool.httpx2 import AsyncCarpoolTransport
async with httpx2.AsyncClient(transport=AsyncCarpoolTransport()) as sends:
    print((await sends.get(f"{url}/text")).text, end="")
"""


class Notebook:
    """A kernel, and the cells that it runs."""

    def __init__(self) -> None:
        self._manager = KernelManager(
            kernel_cmd=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        )
        self._manager.start_kernel()
        self._client = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=PATIENCE_SECONDS)

    def begin(self, code: str) -> str:
        """Start a cell, and return its id."""
        return str(self._client.execute(code, store_history=False))

    def end(self, cell: str) -> tuple[str, str]:
        """Wait for the end of a cell: the name of what it raised, if anything, and what it printed."""
        printed, raised = "", ""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            message: Any = self._client.get_iopub_msg(timeout=max(0.0, deadline - time.monotonic()))
            if message["parent_header"].get("msg_id") != cell:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                printed += content["text"]
            elif kind == "error":
                raised = content["ename"]
                printed += "\n".join(content["traceback"])
            elif kind == "status" and content["execution_state"] == "idle":
                return raised, printed

    def run(self, code: str) -> str:
        raised, printed = self.end(self.begin(code))
        assert not raised, printed
        return printed

    def interrupt(self) -> None:
        self._manager.interrupt_kernel()

    def close(self) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel()


def cells(origin: Origin, notebook: Notebook) -> None:
    origin.on("/text", lambda exchange: exchange.reply(body="größe".encode()))
    notebook.run(
        f"import asyncio, carpool\nurl = {origin.url!r}\nclient, tasks = carpool.Client(), carpool.AsyncClient()"
    )
    assert notebook.run("print(client.get(f'{url}/text').text, end='')") == "größe"
    assert notebook.run("print((await tasks.get(f'{url}/text')).text, end='')") == "größe"
    # The same client in a later cell, and several requests at a time.
    several = "found = await asyncio.gather(*(tasks.get(f'{url}/text') for _ in range(10)))\nprint(len(found), end='')"
    assert notebook.run(several) == "10"
    assert notebook.run("response = client.get(f'{url}/text')\nresponse.raise_for_status()\nprint(repr(client))")
    assert notebook.run(STREAM) == repr("größe".encode())
    assert notebook.run(TRANSPORT) == "größe"


def interrupts(origin: Origin, notebook: Notebook) -> None:
    for number, call in enumerate(("client.get", "await tasks.get")):
        endless = EventStream([": waits\n\n"], ends=False)
        origin.on(f"/endless{number}", endless)
        cell = notebook.begin(f"{call}(f'{{url}}/endless{number}')")
        origin.received(1, f"/endless{number}")
        notebook.interrupt()
        raised, printed = notebook.end(cell)
        assert raised in {"KeyboardInterrupt", "CancelledError"}, printed
        assert endless.was_left.wait(30), "the request goes on after the interrupt"
        # The clients can be used as before.
        assert notebook.run("print(client.get(f'{url}/text').text, end='')") == "größe"
        assert notebook.run("print((await tasks.get(f'{url}/text')).text, end='')") == "größe"


with serving() as origin:
    notebook = Notebook()
    cells(origin, notebook)
    interrupts(origin, notebook)
    notebook.run("client.close()\nawait tasks.aclose()")
    notebook.close()
