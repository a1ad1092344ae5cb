"""The argument `auth` that reads a `.netrc` file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from ._paths import checked

if TYPE_CHECKING:
    from pathlib import Path

    from ._paths import AnyPath

# The characters of hosts besides letters and digits; names with others in a file are for other programs.
_HOST_MARKS: Final = "-_."
_MAX_NAME: Final = 253
_SPACE, _DELETE = "\x20", "\x7f"
# What a request may bring.
_MAX_ENTRIES: Final = 64


class NetrcAuth:
    """The users and passwords of a `.netrc` file for `auth`, sent with the first request to each machine of the file.

    The file is read once, here, by the rules of the module `netrc`: `~/.netrc`, or `path`. Raises OSError if there is
    none, and `netrc.NetrcParseError`. Without this the client reads no such file.
    """

    __module__ = "carpool"

    def __init__(self, path: AnyPath | None = None) -> None:
        # Few programs need them, and they import others.
        import netrc  # noqa: PLC0415
        from pathlib import Path  # noqa: PLC0415

        self.path: Path = Path("~/.netrc").expanduser() if path is None else Path(checked("path", os.fsdecode(path)))
        self._hosts = netrc.netrc(None if path is None else os.fspath(self.path)).hosts

    def __repr__(self) -> str:
        return f"NetrcAuth({str(self.path)!r})"

    def credentials(self, url: str) -> list[dict[str, Any]]:
        """Return the parameter `credentials`: the URL's machine, the others for redirects, and the default."""
        from urllib.parse import urlsplit  # noqa: PLC0415

        try:
            own = urlsplit(url).hostname or ""
        except ValueError:
            # The daemon says what is wrong with the URL.
            own = ""
        # False is less than True: the URL's machine is first, and `default` last.
        names = sorted(self._hosts, key=lambda name: (name == "default", name.lower() != own))
        entries = [entry for name in names if (entry := self._entry(name)) is not None]
        return entries[:_MAX_ENTRIES]

    def _entry(self, name: str) -> dict[str, Any] | None:
        username, _, password = self._hosts[name]
        username, password = username or "", password or ""
        has_control = any(character < _SPACE or character == _DELETE for character in username + password)
        if not (username or password) or ":" in username or has_control:
            return None
        host = "*" if name == "default" else _host(name)
        if not host:
            return None
        return {
            "host": host, "username": username, "password": password, "schemes": ["basic"], "preemptive": True
        }  # fmt: skip


def _host(name: str) -> str:
    """Return a name as the host on the wire; empty if it is none."""
    if ":" in name:
        return f"[{name}]" if all(character in "0123456789abcdefABCDEF:." for character in name) else ""
    is_host = name.isascii() and len(name) <= _MAX_NAME and not name.endswith(".")
    return name if is_host and name.translate(dict.fromkeys(map(ord, _HOST_MARKS))).isalnum() else ""
