"""Calls of all kinds, to see which of them a fault of the system reaches, and how they fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin

from harness.daemon import Daemon
from harness.waiting import SLOWNESS
from harness.wire import RemoteError

CALL_SECONDS = 15 * SLOWNESS
LARGE = "/1m.bin"
LARGE_BYTES = 1 << 20
KINDS = ["address", "name", "secure", "large", "download", "replaced", "upload"]


class Workload:
    """Each call has a connection of its own, and new names."""

    def __init__(
        self, daemon: Daemon, origin: ScriptedOrigin, nginx: Nginx, authority: Authority, folder: Path
    ) -> None:
        self.daemon, self.origin, self.nginx, self.authority, self.folder = daemon, origin, nginx, authority, folder
        self.count = 0
        (folder / "sent").write_bytes(b"x" * 10_000)

    def parameters(self, kind: str) -> dict[str, Any]:
        """Return the parameters of a request."""
        self.count += 1
        file = self.folder / f"got-{self.count}"
        new = self.folder / f"new-{self.count}"
        kinds: dict[str, dict[str, Any]] = {
            "address": {"url": self.origin.url},
            "name": {"url": self.origin.url.replace("127.0.0.1", "localhost")},
            "secure": {"url": f"{self.nginx.https}/hello.txt", "trust": {"ca_file": str(self.authority.ca_file)}},
            "large": {"url": self.nginx.http + LARGE},
            "download": {"url": self.nginx.http + LARGE, "kind": "download", "destination": {"path": str(file)}},
            "replaced": {
                "url": self.nginx.http + LARGE,
                "kind": "download",
                "destination": {"path": str(new / file.name), "create_directories": True, "remove_previous": True},
            },
            "upload": {"url": self.origin.url, "method": "POST", "body": {"file": str(self.folder / "sent")}},
        }
        return {"timeout_ms": 5_000, "connect_timeout_ms": 5_000, **kinds[kind]}

    def outcome(self, method: str, /, **params: Any) -> str:
        """Make a call; return "ok", or the name of what it failed with."""
        try:
            with self.daemon.wire(timeout=CALL_SECONDS) as wire:
                call = wire.request(method, params)
                while (answer := wire.receive()).get("id") not in {call, None}:
                    pass
        except TimeoutError as error:
            raise AssertionError(f"{method} is not answered") from error
        except OSError as error:
            return f"closed: {error}"
        except AssertionError as error:
            # Wire.receive
            return str(error)
        if "error" in answer:
            return RemoteError(answer["error"]).name
        result = answer["result"]
        if method != "request.perform" or result["outcome"]["ok"]:
            return "ok"
        return str(result["outcome"]["error"]["name"])

    def run(self) -> dict[str, str]:
        """Make one call of each kind."""
        outcomes = {"ping": self.outcome("daemon.ping")}
        outcomes |= {kind: self.outcome("request.perform", **self.parameters(kind)) for kind in KINDS}
        return outcomes | {"reachability": self.outcome("reachability.get", host="localhost")}

    def is_served(self) -> bool:
        """Whether all kinds of calls work."""
        return set(self.run().values()) == {"ok"}
