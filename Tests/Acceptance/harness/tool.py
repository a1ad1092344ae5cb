"""The command `carpool` while it runs, and what it has printed so far."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.daemon import CARPOOL
from harness.process import begin
from harness.waiting import PATIENCE_SECONDS, eventually, join


class Tool:
    """`carpool ARGUMENTS` under way; its lines are read as they come."""

    def __init__(self, variables: Mapping[str, str], *arguments: str | Path, shell: str | None = None) -> None:
        command = [CARPOOL, *map(str, arguments)]
        self.process = begin(
            command if shell is None else ["bash", "-c", shell, *command],
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._told: list[bytes] = []
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._listen, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Tool:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_SECONDS)
        join(self._readers)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    def line(self) -> str:
        """Return the next line of standard output; fails at its end."""
        line = self._lines.get(timeout=PATIENCE_SECONDS)
        assert line, f"it has ended: {self.told}"
        return line.decode().rstrip("\n")

    def next(self) -> dict[str, Any]:
        """Return the next line's object."""
        value: dict[str, Any] = json.loads(self.line())
        return value

    def rest(self) -> list[dict[str, Any]]:
        """Return the objects of all other lines, once it has ended."""
        lines = iter(lambda: self._lines.get(timeout=PATIENCE_SECONDS), b"")
        return [json.loads(line) for line in lines]

    @property
    def told(self) -> str:
        """What it has written to standard error."""
        return b"".join(self._told).decode()

    def until_told(self, words: str) -> None:
        """Wait until it has written something to standard error."""
        eventually(lambda: words in self.told)

    def end(self, number: signal.Signals | None = None) -> int:
        """Wait until it has ended, by a signal if one is given, and return its exit code."""
        if number is not None:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE_SECONDS)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._told.append(line)
