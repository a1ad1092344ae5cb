"""Paths of files as parameters and in records.

A name of Linux is bytes, and text of the daemon is UTF-8: a byte that belongs to no character is the character U+10FE00
plus the byte, in a private use area (docs/protocol.md). In Python it is a surrogate, U+DC00 plus the byte, by
`os.fsdecode`.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any, Final, TypeVar

AnyPath = str | bytes | os.PathLike[str] | os.PathLike[bytes]
P = TypeVar("P")

_BASE: Final = 0x10FE00
_SURROGATES: Final = 0xDC00
_FIRST, _LAST = chr(_BASE + 0x80), chr(_BASE + 0xFF)
_TO_WIRE: Final = {_SURROGATES + byte: _BASE + byte for byte in range(0x80, 0x100)}
# The members of parameters that are paths, or names of files.
_MEMBERS: Final = frozenset(
    {
        *("ca_file", "ca_path", "crl_file", "destination", "directory", "file", "file_name", "files", "key_file"),
        *("password_file", "path", "unix_socket"),
    }
)


def absolute(name: str, path: AnyPath) -> str:
    """Return the absolute path for the daemon; raises ValueError with the name of the argument if it is none."""
    return wire(name, os.path.abspath(os.fsdecode(path)))  # noqa: PTH100, resolve() would follow links


def checked(name: str, path: str) -> str:
    """Return a path; raises ValueError with the name of the argument if it is none."""
    wire(name, path)
    return path


def is_of_process(path: AnyPath) -> bool:
    """Whether a path may name another file in another process: `/dev/stdin`, `/dev/fd/3` and what they lead to."""
    folder = os.path.realpath(os.path.dirname(os.fsdecode(path)) or ".") + "/"  # noqa: PTH120, without pathlib
    return folder.startswith(("/dev/", "/proc/")) and not folder.startswith("/dev/shm/")  # noqa: S108, a prefix


def wire(name: str, path: str) -> str:
    """Return a path, or the name of a file, for the daemon."""
    if path.isascii():
        return path
    try:
        text = os.fsencode(path).decode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name}: {path!a} is not the name of a file: it has {path[error.start]!a}, which stands for no "
            "byte; the bytes of a name are U+DC80 to U+DCFF, as os.fsdecode returns them"
        ) from None
    if max(text) >= _FIRST:
        # The characters themselves are written as their bytes, so that each path has one text.
        text = "".join(_escaped(each) if _FIRST <= each <= _LAST else each for each in text)
    return text.translate(_TO_WIRE)


def _escaped(character: str) -> str:
    return "".join(chr(_BASE + byte) for byte in character.encode())


def local(path: str) -> str:
    """Return a path of the daemon as Python names it: the inverse of `wire`."""
    if path.isascii() or not any(_FIRST <= each <= _LAST for each in path):
        return path
    pieces = (bytes([ord(each) - _BASE]) if _FIRST <= each <= _LAST else each.encode() for each in path)
    return os.fsdecode(b"".join(pieces))


def shown(text: str) -> str:
    r"""Return a text in which the bytes of paths that are not UTF-8 are written as in Python: `\xe9`."""
    if text.isascii():
        return text
    return "".join(f"\\x{ord(each) - _BASE:x}" if _FIRST <= each <= _LAST else each for each in text)


def encodable(value: P, place: str = "") -> P:
    """Return parameters with surrogates, which have no UTF-8: they are written if they are those of a path.

    Raises ValueError with the place of any other.
    """
    return _encodable(value, place, place)  # type: ignore[no-any-return]


def _encodable(value: Any, place: str, member: str) -> Any:
    if isinstance(value, str) and not value.isascii():
        if member in _MEMBERS and "cookies" not in place:
            return wire(place, value)
        if wrong := next((each for each in value if "\ud800" <= each <= "\udfff"), None):
            raise ValueError(f"{place}: it has the surrogate {wrong!a}, which is no character and has no UTF-8")
    if isinstance(value, dict):
        start = f"{place}." if place else ""
        return {name: _encodable(each, f"{start}{name}", name) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encodable(each, f"{place}[{number}]", member) for number, each in enumerate(value)]
    return value


def trust_of_path(path: AnyPath, name: str = "verify") -> dict[str, Any]:
    """Return the parameter `trust` for a file or a directory of authorities."""
    return {"ca_path" if os.path.isdir(path) else "ca_file": absolute(name, path)}  # noqa: PTH112, without pathlib


def destination(path: AnyPath) -> dict[str, Any]:
    """Return the destination of a download: a file, or a directory in which the response names the file.

    A file that is replaced keeps its mode and its other attributes, and a new one has the umask of this process.
    """
    kind = "directory" if os.path.isdir(path) else "path"  # noqa: PTH112, as above
    given = {kind: absolute("path", path), "remove_previous": True, "keep_attributes": True}
    mask = _umask()
    return given if mask is None else {**given, "umask": mask}


def _umask() -> int | None:
    """Return the umask without changing it, as umask(2) would for a moment in all threads."""
    with (
        contextlib.suppress(OSError, ValueError),
        open("/proc/self/status", encoding="utf-8", errors="replace") as status,  # noqa: PTH123, without pathlib
    ):
        for line in status:
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return None
