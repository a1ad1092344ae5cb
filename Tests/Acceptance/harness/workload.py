"""Calls of all kinds, to see which of them a fault of the system reaches, and how they fail."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import Exchange, ScriptedOrigin

from harness.daemon import Daemon
from harness.waiting import SLOWNESS, eventually
from harness.wire import RemoteError

CALL_SECONDS = 15 * SLOWNESS
LARGE = "/1m.bin"
LARGE_BYTES = 1 << 20
KINDS = ["address", "name", "secure", "large", "download", "replaced", "upload"]


class FailedError(Exception):
    """A call or a request that failed, by the name of the failure."""


class Ask(Protocol):
    """Makes a call on a connection, with descriptors; raises FailedError."""

    def __call__(self, method: str, /, descriptors: Sequence[int] = (), **params: Any) -> Any: ...


def storable(exchange: Exchange) -> None:
    exchange.reply(body=bytes(50_000), headers=[("Cache-Control", "max-age=3600")])


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
        return {"timeout_ms": 5_000, "connect_timeout_ms": 5_000, "cache": "no_store", **kinds[kind]}

    def outcome(self, method: str, /, **params: Any) -> str:
        """Make a call; return "ok", or the name of what it failed with."""
        return self._talk(lambda ask: ask(method, **params))

    def _talk(self, steps: Callable[[Ask], object]) -> str:
        """Make calls on one connection; return "ok", or the name of the first failure."""
        asked = "nothing"

        def ask(method: str, /, descriptors: Sequence[int] = (), **params: Any) -> Any:
            nonlocal asked
            asked = method
            call = wire.request_with(descriptors, method, **params)
            while (answer := wire.receive()).get("id") not in {call, None}:
                pass
            if "error" in answer:
                raise FailedError(RemoteError(answer["error"]).name)
            if error := (answer["result"].get("outcome") or {}).get("error"):
                raise FailedError(error["name"])
            return answer["result"]

        try:
            with self.daemon.wire(timeout=CALL_SECONDS) as wire:
                steps(ask)
        except TimeoutError as error:
            raise AssertionError(f"{asked} is not answered") from error
        except OSError as error:
            return f"closed: {error}"
        except (AssertionError, FailedError) as error:
            # The former is that of Wire.receive.
            return str(error)
        return "ok"

    def _passed(self, ask: Ask) -> None:
        """Send a file and the end of a pipe by their descriptors."""
        body: dict[str, Any] = {"url": self.origin.url, "method": "POST", "body": {"fd": 0}, "timeout_ms": 5_000}
        with (self.folder / "sent").open("rb") as file:
            ask(
                "request.perform", [file.fileno()], url=self.origin.url, method="POST", body={"fd": 0}, timeout_ms=5_000
            )
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb"):
            os.write(writing, b"x")
            os.close(writing)
            ask("request.perform", [reading], **body)

    def _written(self, ask: Ask) -> None:
        """Get bodies into a pipe and into a file by their descriptors."""
        body = {"url": f"{self.nginx.http}/hello.txt", "response_body": {"fd": 0}, "cache": "no_store"}
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb"), os.fdopen(writing, "wb"), (self.folder / "written").open("wb") as file:
            for descriptor in (writing, file.fileno()):
                ask("request.perform", [descriptor], timeout_ms=5_000, **body)

    def _opened(self, ask: Ask) -> None:
        """Get bodies by their descriptors: one that was in memory, and one that was in a file."""
        for path in ("/hello.txt", LARGE):
            request = ask("request.submit", url=self.nginx.http + path, cache="no_store")["request"]
            ask("request.wait", request=request, timeout_ms=10_000)
            ask("body.open", request=request)
            ask("request.dismiss", request=request)

    def _stored(self, ask: Ask) -> None:
        """Store a response on disk, use it, and remove the store."""
        self.count += 1
        name, url = f"stored-{self.count}", self.origin.on(f"/stored/{self.count}", storable)
        ask("session.create", name=name, configuration={"cache": {"mode": "private"}})
        ask("request.perform", url=url, session=name, timeout_ms=5_000)
        # A disk that takes nothing is no failure of the request.
        with contextlib.suppress(AssertionError):
            eventually(lambda: any(row["where"] == "disk" for row in ask("cache.list", session=name)["entries"]), 1.0)
        ask("request.perform", url=url, session=name, timeout_ms=5_000)
        ask("session.invalidate", session=name)
        # The index is closed by a thread, after the answer.
        with contextlib.suppress(AssertionError):
            eventually(lambda: not any(f"{name}/index.db" in target for target in self.daemon.descriptors()), 1.0)

    def _streamed(self, ask: Ask) -> None:
        """Exchange bytes with a server."""
        host, _, port = self.origin.url.removeprefix("http://").rpartition(":")
        stream = ask("stream.open", host=host, port=int(port), tls=False, timeout_ms=5_000)["stream"]
        ask("stream.write", stream=stream, text="GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        ask("stream.read", stream=stream)
        ask("stream.close", stream=stream)

    def run(self) -> dict[str, str]:
        """Make one call of each kind."""
        outcomes = {"ping": self.outcome("daemon.ping")}
        outcomes |= {kind: self.outcome("request.perform", **self.parameters(kind)) for kind in KINDS}
        steps = {
            "passed": self._passed, "written": self._written, "opened": self._opened, "stored": self._stored,
            "streamed": self._streamed,
        }  # fmt: skip
        outcomes |= {kind: self._talk(talk) for kind, talk in steps.items()}
        return outcomes | {"reachability": self.outcome("reachability.get", host="localhost")}

    def is_served(self) -> bool:
        """Whether all kinds of calls work."""
        return set(self.run().values()) == {"ok"}
