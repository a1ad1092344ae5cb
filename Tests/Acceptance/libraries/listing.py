"""The libraries of `libraries.toml`, and the environments in which they are installed."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLACE = Path(os.environ.get("CARPOOL_LIBRARIES", HERE.parents[2] / ".build-libraries"))
"""Where the environments are made, and kept for later runs."""


@dataclass(frozen=True)
class Library:
    """One row: a release of a package, and the script that uses it."""

    requirement: str
    """The release, such as `gql[httpx2]==4.4.0`."""
    environment: str
    adapter: str
    script: str
    beside: tuple[str, ...] = ()
    """Releases of other packages that the script needs."""

    @property
    def package(self) -> str:
        return re.split(r"[\[=]", self.requirement, maxsplit=1)[0]

    @property
    def version(self) -> str:
        return self.requirement.partition("==")[2]

    @property
    def name(self) -> str:
        return f"{self.package}-{self.version}"

    @property
    def python(self) -> Path:
        return PLACE / self.environment / "bin/python"

    def missing(self) -> list[str]:
        """Return the releases that the environment does not have."""
        wanted = [re.sub(r"\[.*\]", "", each) for each in (self.requirement, *self.beside)]
        return [each for each in wanted if each.lower() not in _installed(self.python)]


@functools.cache
def _installed(python: Path) -> set[str]:
    """Return all releases in an environment, as `name==version` in small letters; it is not asked again."""
    if not python.exists():
        return set()
    program = "import importlib.metadata as m; print(*(f'{d.name}=={d.version}' for d in m.distributions()))"
    found = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    return set(found.stdout.lower().split())


def pins(environment: str) -> Path:
    """Return the file that pins all packages of an environment."""
    return HERE / "environments" / f"{environment}.txt"


def libraries() -> list[Library]:
    """Return all rows."""
    rows = tomllib.loads((HERE / "libraries.toml").read_text())["library"]
    return [Library(**row | {"beside": tuple(row.get("beside", ()))}) for row in rows]
