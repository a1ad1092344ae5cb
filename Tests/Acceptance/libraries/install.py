"""Makes the environments of the libraries: `install.py [--pin] [ENVIRONMENT...]`.

An environment is made again when its pins have changed. If not all of it can be had, its libraries are installed one by
one, and each that is missing has a line "not run: ..." in the output. The exit status is 0.

With --pin the pins are written: what pip chooses now for the releases in libraries.toml.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import listing
from listing import Library


def begin(environment: str) -> Path:
    """Make an empty environment, and return its Python."""
    python = listing.PLACE / environment / "bin/python"
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(python.parents[1])], check=True)
    return python


def pip(python: Path, *arguments: str) -> str:
    """Install with pip, and return its last error; an empty text if there was none."""
    command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries", "2"]
    command += arguments
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip has failed"]
    return "" if done.returncode == 0 else lines[-1]


def pin(environment: str, rows: list[Library]) -> None:
    """Install what the rows name, and write down what is installed then."""
    python = begin(environment)
    if error := pip(python, *(each for row in rows for each in (row.requirement, *row.beside))):
        sys.exit(error)
    found = subprocess.run([python, "-m", "pip", "freeze"], capture_output=True, text=True, check=True).stdout
    head = f"# Written by install.py --pin {environment}.\n"
    listing.pins(environment).write_text(head + found)
    _stamp(environment)


def make(environment: str, rows: list[Library]) -> None:
    """Make an environment, unless it is there with the same pins."""
    pinned = listing.pins(environment)
    stamp = listing.PLACE / environment / "pins.sum"
    if stamp.exists() and stamp.read_text() == _sum(environment):
        return
    python = begin(environment)
    # The pins name each package, so that nothing needs to be resolved.
    if not pip(python, "--no-deps", "-r", str(pinned)):
        _stamp(environment)
        return
    for row in rows:
        if error := pip(python, "-c", str(pinned), row.requirement, *row.beside):
            print(f"{row.name}: {error}")


def _sum(environment: str) -> str:
    return hashlib.sha256(listing.pins(environment).read_bytes()).hexdigest()


def _stamp(environment: str) -> None:
    (listing.PLACE / environment / "pins.sum").write_text(_sum(environment))


def main(arguments: list[str]) -> None:
    work = pin if "--pin" in arguments else make
    wanted = [argument for argument in arguments if argument != "--pin"]
    rows = [row for row in listing.libraries() if not wanted or row.environment in wanted]
    for environment in dict.fromkeys(row.environment for row in rows):
        work(environment, [row for row in rows if row.environment == environment])
    for row in rows:
        if missing := row.missing():
            print(f"not run: {row.name}, because pip could not install {', '.join(missing)}")


if __name__ == "__main__":
    main(sys.argv[1:])
