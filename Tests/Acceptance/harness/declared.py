"""Configuration files that declare sessions, and their reloads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import carpool
import pytest

from harness.daemon import Daemon
from harness.wire import RemoteError, Wire


def write(path: Path, text: str | bytes, mode: int = 0o600) -> Path:
    """Write a file that only this user can read."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)
    return path


def declaring(**sessions: Any) -> dict[str, Any]:
    return {"sessions": sessions}


def reload(daemon: Daemon, config: dict[str, Any]) -> Any:
    """Return the changes of a reload."""
    daemon.configure(config)
    return daemon.call("daemon.config_reload")["changed"]


def refusal(daemon: Daemon, config: dict[str, Any]) -> str:
    """Return the message with which a reload refuses a configuration."""
    daemon.configure(config)
    with daemon.client() as client, pytest.raises(carpool.CarpoolError) as caught:
        client.call("daemon.config_reload")
    return str(caught.value)


def refused(wire: Wire, method: str, **params: Any) -> RemoteError:
    with pytest.raises(RemoteError) as caught:
        wire.call(method, **params)
    return caught.value


def sessions(daemon: Daemon) -> dict[str, Any]:
    """Return the sessions of the daemon's user by name."""
    return {session["session"]: session for session in daemon.call("session.list")["sessions"]}
