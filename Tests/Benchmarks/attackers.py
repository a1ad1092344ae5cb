"""Clients that overload the daemon, a process each: python attackers.py KIND SOCKET ORIGIN SECONDS FOLDER."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Attack = Callable[[str, str, float, Path], None]
PIECE = 1 << 16
DOWNLOADS_A_SECOND = 200
"""Each makes five jobs."""


class Connection:
    """A connection that sends what fits and reads what comes, each in a thread of its own."""

    def __init__(self, path: str, name: str) -> None:
        """Connect and send a name, by which the daemon distinguishes clients."""
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rb", buffering=1 << 20)
        self.call("client.hello", name=name)

    def call(self, method: str, /, **params: Any) -> Any:
        """Make a call and return its result."""
        self.socket.sendall(line(method, params))
        return json.loads(self.lines.readline())["result"]

    def flood(self, data: bytes, seconds: float) -> None:
        """Send the same data again and again, and read all answers without parsing them."""
        end = time.monotonic() + seconds
        self.socket.settimeout(0.2)

        def drain() -> None:
            while time.monotonic() < end:
                with contextlib.suppress(TimeoutError):
                    if not self.socket.recv(1 << 20):
                        return

        reader = threading.Thread(target=drain, daemon=True)
        reader.start()
        view = memoryview(data)
        sent = 0
        while time.monotonic() < end:
            with contextlib.suppress(TimeoutError):
                sent = (sent + self.socket.send(view[sent : sent + PIECE])) % len(data)
        reader.join(1)


def line(method: str, params: dict[str, Any], number: int = 1) -> bytes:
    """Return a call as it is sent."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


def lists(path: str, origin: str, seconds: float, _: Path) -> None:
    """List all retained requests, of which there are many."""
    connection = Connection(path, "lists")
    connection.flood(b"".join(line("request.list", {}, number) for number in range(100)), seconds)


def journal(path: str, origin: str, seconds: float, _: Path) -> None:
    """Read events from the beginning."""
    connection = Connection(path, "journal")
    cursor = connection.call("events.next", timeout_ms=0)["cursor"]
    for _number in range(50):
        connection.call("request.perform", url=origin)
    params = {"since": cursor, "timeout_ms": 0}
    connection.flood(b"".join(line("events.next", params, number) for number in range(100)), seconds)


def batches(path: str, origin: str, seconds: float, _: Path) -> None:
    """Call `rpc.discover` a hundred times in one message."""
    calls = [{"jsonrpc": "2.0", "id": number, "method": "rpc.discover"} for number in range(100)]
    Connection(path, "batches").flood(json.dumps(calls).encode() + b"\n", seconds)


def bodies(path: str, origin: str, seconds: float, _: Path) -> None:
    """Send JSON bodies of 1 MB, thirty-two at a time."""
    value = [{"id": number, "name": f"name {number}", "ratio": number / 7} for number in range(15_000)]
    params = {"url": origin, "method": "POST", "body": {"json": value}}
    Connection(path, "bodies").flood(b"".join(line("request.perform", params, number) for number in range(32)), seconds)


def chunks(path: str, origin: str, seconds: float, _: Path) -> None:
    """Get bodies that come in chunks of one byte, four at a time."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(peer: socket.socket) -> None:
        with contextlib.suppress(OSError), peer:
            peer.recv(65_536)
            peer.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(1 << 20):
                peer.sendall(b"1\r\nx\r\n" * 20_000)

    def accept() -> None:
        with contextlib.suppress(OSError):
            for _ in itertools.count():
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    connection = Connection(path, "chunks")
    for number in range(4):
        params = {"url": f"http://127.0.0.1:{listener.getsockname()[1]}/"}
        connection.socket.sendall(line("request.perform", params, number))
    time.sleep(seconds)


def downloads(path: str, origin: str, seconds: float, folder: Path) -> None:
    """Download large files, six at a time, and begin again."""
    connection = Connection(path, "downloads")
    end = time.monotonic() + seconds

    def begin(place: int) -> None:
        destination = {"path": str(folder / f"attack-{place}"), "remove_previous": True}
        params = {"url": f"{origin}files/large", "kind": "download", "destination": destination}
        connection.socket.sendall(line("request.perform", params, place))

    for place in range(6):
        begin(place)
    connection.socket.settimeout(seconds)
    with contextlib.suppress(TimeoutError):
        while time.monotonic() < end:
            begin(json.loads(connection.lines.readline())["id"])


def files(path: str, origin: str, seconds: float, folder: Path) -> None:
    """Download small files, so many that threads of the daemon get a thousand jobs a second."""
    connections = [Connection(path, f"files {number}") for number in range(4)]
    failures: list[str] = []
    for connection in connections:
        connection.socket.settimeout(None)
        threading.Thread(target=_read_records, args=(connection, failures), daemon=True).start()
    begin = time.monotonic()
    for number in itertools.count():
        time.sleep(max(0, begin + number / DOWNLOADS_A_SECOND - time.monotonic()))
        if failures:
            sys.exit(f"a download has failed: {failures[0]}")
        if time.monotonic() > begin + seconds:
            return
        destination = {"path": str(folder / f"file-{number % 64}"), "remove_previous": True}
        params = {"url": origin, "kind": "download", "destination": destination}
        connections[number % len(connections)].socket.sendall(line("request.perform", params, number))


def _read_records(connection: Connection, failures: list[str]) -> None:
    """Read the answers of a connection, and note those that are no record of a request that has succeeded."""
    for answer in connection.lines:
        if not json.loads(answer).get("result", {}).get("outcome", {}).get("ok"):
            failures.append(answer.decode())


ATTACKS: dict[str, Attack] = {
    attack.__name__: attack for attack in (lists, journal, batches, bodies, chunks, downloads)
}
LOADS: dict[str, Attack] = {"files": files}
"""What a client may do all day."""


if __name__ == "__main__":
    kind, path, origin, seconds, folder = sys.argv[1:]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    (ATTACKS | LOADS)[kind](path, origin, float(seconds), Path(folder))
