"""A disk that stalls: every call on files below one folder waits until the test lets it go."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.daemon import CARPOOLD, ROOT
from harness.waiting import eventually

NAME = "libplist-2.0.so.3"


class StalledDisk:
    """A folder whose calls wait while it is stalled. Give `variables` to the daemon that is to feel it."""

    def __init__(self, library: Path, folder: Path) -> None:
        self.folder = folder
        self._stall = library.parent / "stall"
        self._watch = library.parent / "watch"
        self._calls = library.parent / "calls"
        paths = [str(library.parent), os.environ.get("CARPOOL_LIBCURL_DIR", "")]
        self.variables = {"LD_LIBRARY_PATH": ":".join(path for path in paths if path)}

    def stall(self) -> None:
        """Stall from now on."""
        self._calls.unlink(missing_ok=True)
        self._begin(self._stall)

    def watch(self) -> None:
        """Note every call from now on, without a wait."""
        self._calls.unlink(missing_ok=True)
        self._begin(self._watch)

    def _begin(self, control: Path) -> None:
        part = control.with_suffix(".new")
        part.write_text(str(self.folder))
        part.rename(control)

    def wait(self) -> None:
        """Wait until a call waits."""
        eventually(lambda: len(self.calls) > 0)

    @property
    def calls(self) -> list[tuple[int, str]]:
        """The calls that were noted since the last `stall` or `watch`: the thread, and the name of the call."""
        lines = self._calls.read_text().splitlines() if self._calls.exists() else []
        return [(int(thread), name) for thread, name in (line.split() for line in lines)]

    def release(self) -> None:
        """Let every call go on."""
        self._stall.unlink(missing_ok=True)


def build(place: Path, folder: Path) -> StalledDisk:
    """Build the library that makes a folder stall, in a directory that is made for it."""
    place.mkdir()
    linked = subprocess.run(["ldd", CARPOOLD], capture_output=True, text=True, check=True, timeout=20).stdout
    real = next((line.split()[2] for line in linked.splitlines() if NAME in line), None)
    if real is None:
        pytest.skip(f"{CARPOOLD} does not use {NAME}")
    # The real library goes on under another name of the same length, so that ours can have its own.
    other = "x" + NAME[1:]
    renamed = Path(real).read_bytes().replace(b"\0%s\0" % NAME.encode(), b"\0%s\0" % other.encode())
    (place / other).write_bytes(renamed)
    source = ROOT / "Tests/Support/stall.c"
    command = ["cc", "-shared", "-fPIC", "-O1", f"-Wl,-soname,{NAME}", "-Wl,--no-as-needed", "-o", str(place / NAME)]
    subprocess.run([*command, str(source), str(place / other)], check=True, timeout=60)
    return StalledDisk(place / NAME, folder)
