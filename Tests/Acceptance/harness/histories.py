"""Random histories of one resumed download: what its mirrors serve, and what happens to its partial file."""

from __future__ import annotations

import os
import random
import threading
from email.utils import formatdate
from pathlib import Path
from typing import Any

from origins.ranges import SECONDS_OF_A_DAY
from origins.scripted import Exchange, ScriptedOrigin

from harness.daemon import Daemon
from harness.downloads import opened
from harness.waiting import eventually
from harness.wire import Wire

SIZE = 60_000
NOW = 1_700_000_000


class Mirror:
    """A server of one version at a time; how it treats validators and ranges is its own."""

    def __init__(self, dice: random.Random, versions: list[bytes]) -> None:
        self._versions = versions
        self.current = 0
        self._has_tag = dice.random() < 0.7
        self._has_date = dice.random() < 0.4
        self._ignores_ranges = dice.random() < 0.15
        self._ignores_conditions = dice.random() < 0.3
        self._has_length = dice.random() < 0.8
        self.cut: int | None = None
        """After how many bytes of its body the next answer ends."""
        self.stops = False
        """Whether it waits there for the end of the connection, instead of closing it."""
        self.has_stopped = threading.Event()

    @property
    def body(self) -> bytes:
        return self._versions[self.current]

    def _validators(self) -> list[tuple[str, str]]:
        fields = [("Date", formatdate(NOW + SECONDS_OF_A_DAY, usegmt=True))]
        if self._has_tag:
            fields.append(("ETag", f'"v{self.current}"'))
        if self._has_date:
            fields.append(("Last-Modified", formatdate(NOW + self.current, usegmt=True)))
        return fields

    def __call__(self, exchange: Exchange) -> None:
        fields = self._validators()
        asked, condition = (exchange.request.values(name) for name in ("Range", "If-Range"))
        holds = not condition or self._ignores_conditions or condition[0] in [value for _, value in fields[1:]]
        start = int(asked[0].removeprefix("bytes=").removesuffix("-")) if asked else 0
        if not asked or not holds or self._ignores_ranges:
            return self._send(exchange, 200, self.body, fields)
        size = len(self.body)
        if start >= size:
            return exchange.reply(416, headers=[("Content-Range", f"bytes */{size}")])
        fields.append(("Content-Range", f"bytes {start}-{size - 1}/{size}"))
        return self._send(exchange, 206, self.body[start:], fields)

    def _send(self, exchange: Exchange, status: int, body: bytes, fields: list[tuple[str, str]]) -> None:
        cut, stops = self.cut, self.stops
        self.cut, self.stops = None, False
        count = len(body) if cut is None else min(cut, len(body))
        if self._has_length:
            exchange.reply(status, body[:count], fields, length=len(body))
        else:
            lines = [f"HTTP/1.1 {status} OK", *(f"{name}: {value}" for name, value in fields)]
            exchange.send("\r\n".join([*lines, "Transfer-Encoding: chunked", "", ""]).encode())
            exchange.send(b"%x\r\n%s\r\n" % (count, body[:count]) if count else b"")
            if cut is None:
                exchange.send(b"0\r\n\r\n")
        if cut is None or (self._has_length and count == len(body)):
            return
        if stops:
            self.has_stopped.set()
            exchange.wait_for_peer_to_close()
        exchange.close()


class History:
    """One destination, the tokens that were ever given out for it, and random steps."""

    def __init__(self, dice: random.Random, origin: ScriptedOrigin, folder: Path, name: str) -> None:
        self._dice = dice
        self._place = folder / name
        first = dice.randbytes(dice.randrange(1, SIZE))
        changed = bytearray(first)
        changed[dice.randrange(len(first))] ^= 0xFF
        self._versions = [first, bytes(changed), dice.randbytes(len(first)), dice.randbytes(dice.randrange(1, SIZE))]
        self._mirrors = [Mirror(dice, self._versions) for _ in range(3)]
        self._urls = [origin.on(f"/{name}/{number}", mirror) for number, mirror in enumerate(self._mirrors)]
        self._tokens: list[str] = []
        self.steps: list[str] = []
        self.resumed = 0

    def parts(self) -> list[Path]:
        return sorted(self._place.parent.glob(f".{self._place.name}.*.carpool-part"))

    # What happens to the partial file

    def damage(self) -> None:
        parts = self.parts()
        if not parts:
            return
        part = self._dice.choice(parts)
        size = part.stat().st_size
        kind = self._dice.choice(["cut", "lengthen", "rewrite", "remove", "replace"])
        self.steps.append(f"{kind} {part.name}, {size} bytes")
        match kind:
            case "cut":
                os.truncate(part, self._dice.randrange(size + 1))
            case "lengthen":
                with part.open("ab") as file:
                    file.write(self._dice.choice(self._versions)[size : size + 1_000] or b"more")
            case "rewrite" if size > 0:
                with part.open("r+b") as file:
                    file.seek(self._dice.randrange(size))
                    file.write(b"rewritten"[: max(1, size - file.tell())])
            case "remove":
                part.unlink()
            case "replace":
                # With the bytes of another version: as `cp` does, into the same file.
                part.write_bytes(self._dice.choice(self._versions)[:size])

    # What the program does

    def _params(self, number: int) -> dict[str, Any]:
        params: dict[str, Any] = {"url": self._urls[number], "kind": "download"}
        params["destination"] = {"path": str(self._place), "remove_previous": True}
        if self._tokens and self._dice.random() < 0.85:
            # Mostly the newest.
            newest = self._dice.random() < 0.6
            params["resume_data"] = self._tokens[-1] if newest else self._dice.choice(self._tokens)
        return params

    def _prepare(self) -> tuple[int, Mirror]:
        number = self._dice.randrange(len(self._mirrors))
        mirror = self._mirrors[number]
        # Mostly the same one, so that there is something to resume.
        mirror.current = self._dice.choice([0, 0, 0, 0, 0, 0, 1, 2, 3])
        return number, mirror

    def download(self, wire: Wire) -> None:
        """Download from a mirror, which may break off."""
        number, mirror = self._prepare()
        mirror.cut = self._dice.randrange(len(mirror.body)) if self._dice.random() < 0.8 else None
        params = self._params(number)
        self.steps.append(f"download v{mirror.current} from {number}, cut {mirror.cut}, {self._shown(params)}")
        self._place.unlink(missing_ok=True)
        record = wire.call("request.perform", **params)
        mirror.cut = None
        self._judge(record, mirror)

    def interrupt(self, daemon: Daemon, wire: Wire) -> bool:
        """Cancel a download, or kill the daemon meanwhile. Returns whether the daemon lives."""
        number, mirror = self._prepare()
        mirror.cut, mirror.stops = self._dice.randrange(len(mirror.body)), True
        mirror.has_stopped.clear()
        params = self._params(number)
        kills = self._dice.random() < 0.5
        self.steps.append(f"{'kill' if kills else 'cancel'} v{mirror.current} from {number}, {self._shown(params)}")
        self._place.unlink(missing_ok=True)
        request = wire.call("request.submit", **params)["request"]
        record = eventually(lambda: self._until_stopped(wire, request, mirror)) or {}
        if kills and not record.get("finished", True):
            if self._dice.random() < 0.5:
                # Some of it may be written by then.
                self._keep(wire.call("request.get", request=request))
            daemon.kill()
            mirror.cut, mirror.stops = None, False
            return False
        answer = wire.call("request.cancel", request=request, resume_data=True)
        record = wire.call("request.wait", request=request)
        assert answer.get("resume_data") == record.get("resume_data"), self.steps
        mirror.cut, mirror.stops = None, False
        self._judge(record, mirror)
        return True

    def _until_stopped(self, wire: Wire, request: str, mirror: Mirror) -> dict[str, Any] | None:
        record: dict[str, Any] = wire.call("request.get", request=request)
        return record if record.get("finished", True) or mirror.has_stopped.is_set() else None

    def finish(self, wire: Wire) -> None:
        """Download with the newest token from a mirror that breaks nothing."""
        number, mirror = self._prepare()
        params = self._params(number)
        self.steps.append(f"finish v{mirror.current} from {number}, {self._shown(params)}")
        self._place.unlink(missing_ok=True)
        record = wire.call("request.perform", **params)
        assert record["outcome"]["ok"], (record, self.steps)
        self._judge(record, mirror)

    def _shown(self, params: dict[str, Any]) -> str:
        token = params.get("resume_data")
        return "no token" if token is None else str({**opened(token), "url": None, "destination": None})

    def _keep(self, record: dict[str, Any]) -> None:
        if token := record.get("resume_data"):
            self._tokens.append(token)

    def _judge(self, record: dict[str, Any], mirror: Mirror) -> None:
        self._keep(record)
        self.resumed += "resumed_at_bytes" in record
        outcome = record["outcome"]
        self.steps.append(f"  {outcome}, {record.get('resumed_at_bytes')}, {record.get('restarted')}")
        if outcome["ok"]:
            assert self._place.read_bytes() == mirror.body, "\n".join(self.steps)
        else:
            assert not self._place.exists(), "\n".join(self.steps)
