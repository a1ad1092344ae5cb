"""uvicorn on uvloop: handlers that use AsyncClient and the transport of httpx, many at a time, relays, and the end."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from loopback import EventStream, Origin, serving

CONTENT = os.urandom(3_000_000)


class Server:
    """uvicorn, in a process of its own."""

    def __init__(self, origin: Origin) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        number = self._listener.fileno()
        command = [sys.executable, "-m", "uvicorn", "app_uvicorn:app", "--loop", "uvloop", "--fd", str(number)]
        with Path("server.log").open("wb") as log:
            self.process = subprocess.Popen(
                command, pass_fds=[number], stdout=log, stderr=log, env=os.environ | {"ORIGIN": origin.url},
                cwd=Path(__file__).parent,
            )  # fmt: skip

    def get(self, path: str, method: str = "GET", body: bytes | None = None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body)
        response = connection.getresponse()
        found = response.status, response.read()
        connection.close()
        return found

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(30) in {0, -signal.SIGTERM}, self.process.returncode
        log = Path("server.log").read_text()
        assert "Application shutdown complete" in log, log
        for word in ("Traceback", "Warning", "was destroyed", "never retrieved", "ERROR"):
            assert word not in log, log


def handlers(origin: Origin, server: Server) -> None:
    assert server.get("/loop") == (200, b"uvloop")
    origin.on("/large", lambda exchange: exchange.reply(body=CONTENT))
    origin.on("/none", lambda exchange: exchange.reply(404, b"nothing"))
    origin.on("/echo", lambda exchange: exchange.reply(body=exchange.request.body))
    for path in ("/get", "/httpx", "/relay"):
        assert server.get(f"{path}?name=large") == (200, CONTENT), path
        assert server.get(f"{path}?name=none") == (404, b"nothing"), path
    assert server.get("/post?name=echo", "POST", CONTENT) == (200, CONTENT)

    together = threading.Barrier(5)
    origin.on("/five", lambda exchange: (together.wait(60), exchange.reply(body=b"x")))
    assert server.get("/both?name=five") == (200, b"xxxxx")
    origin.on("/small", lambda exchange: exchange.reply(body=b"small"))
    with ThreadPoolExecutor(30) as threads:
        paths = [f"/{kind}?name=small" for kind in ("get", "httpx", "relay") for _ in range(100)]
        assert set(threads.map(server.get, paths)) == {(200, b"small")}


def relays(origin: Origin, server: Server) -> None:
    events = EventStream(["data: one\n\n", "data: two\n\n"])
    origin.on("/events", events)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", "/relay?name=events")
    response = connection.getresponse()
    assert response.read(11) == b"data: one\n\n"
    events.go_on()
    assert response.read() == b"data: two\n\n"

    # The browser leaves: so does the request.
    endless = EventStream(["data: one\n\n"], ends=False)
    origin.on("/endless", endless)
    connection.request("GET", "/relay?name=endless")
    response = connection.getresponse()
    assert response.read(11) == b"data: one\n\n"
    response.close()
    connection.close()
    assert endless.was_left.wait(30)


with serving() as origin:
    server = Server(origin)
    handlers(origin, server)
    relays(origin, server)
    server.end()
