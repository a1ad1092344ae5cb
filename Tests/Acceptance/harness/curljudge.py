"""Command lines under the real curl, and under a link to carpool that is called curl."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import stat
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.waiting import PATIENCE_SECONDS

DATA = Path(__file__).parent.parent / "curl"
EXPECTED = DATA / "expected.json"
VERSION = "8.14.1"
"""The version whose behaviour is recorded."""

_LONGEST = 2_000
_MASKED = ("port", "sport", "hport", "rport", "ca")
_METER = re.compile(r"^[ \d].*--:--.*$\n?", re.MULTILINE)
_TIMES = re.compile(r"after \d+ (ms|milliseconds)")
_EXPIRY = re.compile(r"\b1[89]\d{8}\b")


def cases() -> list[str]:
    """The lines, with names in braces for what differs from run to run."""
    return [case["line"] for case in tomllib.loads((DATA / "lines.toml").read_text())["case"]]


def expected() -> dict[str, Any]:
    """What the real curl has done, by line."""
    data: dict[str, Any] = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    return data


class Judge:
    """Runs lines in a directory where `curl` is a given program."""

    def __init__(self, program: str | Path, names: Mapping[str, str], variables: Mapping[str, str], directory: Path):
        self._names = names
        self._directory = directory / "work"
        tools = directory / "tools"
        tools.mkdir()
        (tools / "curl").symlink_to(program)
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self._variables = {**kept, **variables, "HOME": str(self._directory), "COLUMNS": "500"}
        self._variables["PATH"] = f"{tools}:{self._variables['PATH']}"

    def run(self, line: str) -> dict[str, Any]:
        """Run a line; return what it printed, its exit code, and the files that it left."""
        self._directory.mkdir()
        (self._directory / "note").write_text("a note\nof two lines\n")
        for name, value in self._names.items():
            line = line.replace("{" + name + "}", value)
        done = subprocess.run(
            ["bash", "-c", line],
            env=self._variables,
            cwd=self._directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return {
            "code": done.returncode,
            "stdout": self._text(done.stdout),
            "stderr": self._messages(done.stderr),
            "files": self._files(),
        }

    def _text(self, data: bytes) -> str:
        for name, value in self._names.items():
            if name in _MASKED:
                data = data.replace(value.encode(), f"{{{name}}}".encode())
        if len(data) > _LONGEST:
            return f"{len(data)} bytes, {hashlib.sha256(data).hexdigest()}"
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return "base64 " + base64.b64encode(data).decode()
        return _EXPIRY.sub("EXPIRY", text)

    def _messages(self, data: bytes) -> str:
        text = self._text(data.replace(b"\r", b"\n"))
        return _TIMES.sub(r"after N \1", _METER.sub("", text))

    def _files(self) -> dict[str, list[str]]:
        files = {}
        for path in sorted(self._directory.rglob("*")):
            name = str(path.relative_to(self._directory))
            if name.startswith((".cache", ".local")) or not path.is_file():
                continue
            files[name] = [oct(stat.S_IMODE(path.stat().st_mode)), self._text(path.read_bytes())]
        return files
