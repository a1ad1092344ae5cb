"""The parameters of every measurement."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from origin import Origin
from programs import ROOT

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Bench:
    """One run of the benchmarks: where its files go, the origin, and how long it may take."""

    scratch: Path
    origin: Origin
    quick: bool
    baseline: Path | None = None
    """An older carpoold to compare with."""

    @property
    def rounds(self) -> int:
        """How often each pair is measured; odd, for the median."""
        return 3 if self.quick else 7

    def compile(self, program: str) -> str:
        """Compile a C program of this folder, optimized and against the installed libcurl, and return its path."""
        binary = self.scratch / program
        source = HERE / f"{program}.c"
        subprocess.run(["cc", "-O2", "-Wall", "-o", str(binary), str(source), "-lcurl"], check=True)
        return str(binary)

    def compile_swift(self, program: str) -> str:
        """Compile a Swift program of this folder with the module maps of the C libraries, and return its path."""
        binary = self.scratch / program
        maps = [flag for module in ("CCurl", "CJansson") for flag in ("-I", str(ROOT / "Sources" / module))]
        command = ["swiftc", "-O", "-parse-as-library", *maps, "-o", str(binary), str(HERE / f"{program}.swift")]
        subprocess.run(command, check=True)
        return str(binary)
