"""Passwords that a daemon must not leave behind: looked for after each test in everything that it has written."""

from __future__ import annotations

from pathlib import Path

PASSWORDS = [
    "pass-of-the-origin",
    "pass-of-the-proxy",
    "pass-of-the-client",
    "pass-of-the-session",
    "typed-päss",
    "päss-of-a-file",
]
"""Those of the tests of credentials and proxies; `other-pass-of-the-proxy` has the first in it."""


def check(directory: Path) -> None:
    """Fail if the log, the state or the cache of a daemon has one of the passwords."""
    places = [directory / "log", *(directory / name for name in ("state", "cache"))]
    files = [file for place in places for file in ([place] if place.is_file() else place.rglob("*"))]
    for file in files:
        if file.is_symlink() or not file.is_file():
            continue
        content = file.read_bytes()
        found = [password for password in PASSWORDS if password.encode() in content]
        assert not found, f"{file} has the password {found[0]}"
