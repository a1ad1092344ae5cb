"""How bodies are written to files: in batches, in order, and bounded (B3)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from harness.daemon import Daemon
from harness.wire import Wire
from origins.scripted import Exchange, ScriptedOrigin

CHUNKS = 100_000


def writes(daemon: Daemon) -> int:
    """Count the daemon's calls of write(2) and its variants, by proc(5)."""
    text = Path(f"/proc/{daemon.process.pid}/io").read_text()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("syscw")))


@pytest.mark.parametrize("kind", ["data", "download"])
def test_b3_one_byte_chunks_do_not_cost_a_write_each(
    daemon: Daemon, wire: Wire, origin: ScriptedOrigin, tmp_path: Path, kind: str
) -> None:
    body = bytes(number & 0xFF for number in range(CHUNKS))

    def drip(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        exchange.send(b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n")

    params = {"destination": str(tmp_path / "file")} if kind == "download" else {"response_body": "file"}
    before = writes(daemon)
    record = wire.call("request.perform", url=origin.on("/drip", drip), kind=kind, sha256=True, **params)
    assert record["outcome"]["ok"], record
    assert record["body"]["sha256"] == hashlib.sha256(body).hexdigest()
    assert Path(record["body"]["file"]).read_bytes() == body
    assert writes(daemon) - before < CHUNKS // 100
