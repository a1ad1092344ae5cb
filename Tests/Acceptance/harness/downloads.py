"""Downloads: the tests start them, interrupt them and check what is left."""

from __future__ import annotations

import base64
import json
import os
import zlib
from pathlib import Path
from typing import Any

from origins.ranges import Resource

from harness.wire import Wire

SIZE = 300_000
HALF = 120_000
LOST = "session_task_failed.network_connection_lost"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def download(wire: Wire, url: str, destination: Any = None, **params: Any) -> dict[str, Any]:
    if destination is not None:
        params["destination"] = str(destination) if isinstance(destination, Path) else destination
    record: dict[str, Any] = wire.call("request.perform", url=url, kind="download", **params)
    return record


def broken(wire: Wire, url: str, resource: Resource, path: Path, count: int = HALF) -> str:
    """Interrupt a download, and return what it can be resumed with."""
    resource.breaks = [count]
    record = download(wire, url, path)
    assert record["outcome"]["error"]["name"] == LOST
    assert not path.exists()
    token: str = record["resume_data"]
    return token


def opened(token: str) -> dict[str, Any]:
    """The decoded content of a token."""
    content: dict[str, Any] = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    return content


def sealed(content: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


ATTRIBUTE = "user.carpool.part"


def note(partial: Path, validator: str, count: int | None = None) -> None:
    """Write the record of a partial file that a killed daemon has left: all of its bytes are known, or the first."""
    content = partial.read_bytes()[:count]
    os.setxattr(partial, ATTRIBUTE, f"1 {len(content)} {zlib.crc32(content):x} - {validator}".encode())


def is_whole(record: dict[str, Any], resource: Resource, path: Path) -> bool:
    """Whether the file has every byte, and nothing else is left."""
    assert record["outcome"]["ok"], record
    assert record["body"] == {"file": str(path), "size_bytes": len(resource.body)}
    assert "resume_data" not in record
    assert os.listxattr(path) == []
    return path.read_bytes() == resource.body and names(path.parent) == [path.name]
