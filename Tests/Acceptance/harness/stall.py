"""A disk that stalls: every call on files below one folder waits until the test releases it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.daemon import CARPOOLD, ROOT
from harness.waiting import eventually

NAME = "libjansson.so.4"


class StalledDisk:
    """A folder whose calls wait while it is stalled, in a daemon whose environment includes `variables`."""

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
        """Let every call continue."""
        self._stall.unlink(missing_ok=True)


def build(place: Path, folder: Path) -> StalledDisk:
    """Build the library that makes a folder stall, in a directory that is made for it."""
    place.mkdir()
    linked = subprocess.run(["ldd", CARPOOLD], capture_output=True, text=True, check=True, timeout=20).stdout
    real = next((line.split()[2] for line in linked.splitlines() if NAME in line), None)
    if real is None:
        pytest.skip(f"{CARPOOLD} does not use {NAME}")
    # The real library gets another name: ours is linked to an empty one, which the real one then replaces.
    other = place / ("x" + NAME)
    shared = ["cc", "-shared", "-fPIC", "-O1"]
    subprocess.run(
        [*shared, f"-Wl,-soname,{other.name}", "-x", "c", "/dev/null", "-o", str(other)], check=True, timeout=60
    )
    # The daemon needs the version that jansson's symbols have; those of the C library are defined without one.
    versions = place / "versions"
    versions.write_text(f"{NAME} {{}};\n")
    options = [f"-Wl,-soname,{NAME}", f"-Wl,--version-script,{versions}", "-Wl,--no-as-needed"]
    source = ROOT / "Tests/Support/stall.c"
    subprocess.run([*shared, *options, "-o", str(place / NAME), str(source), str(other)], check=True, timeout=60)
    shutil.copyfile(real, other)
    return StalledDisk(place / NAME, folder)
