"""The header field Content-Length of the caller: the daemon sends the field itself, with the length of the body."""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ._paths import local

if TYPE_CHECKING:
    from ._operations import Large


def given(fields: Iterable[Sequence[str | None]] | None) -> str | None:
    """Return the value of the field; None if there is none."""
    found = [value for name, value in fields or () if name and name.lower() == "content-length"]
    return found[-1] if found else None


def checked(text: str, length: int | None) -> int:
    """Return the number in the field; raises ValueError if it is none, or another one than that of a known length."""
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"headers: Content-Length is the number of bytes in data, not {text!r}")
    if length is not None and int(text) != length:
        raise ValueError(f"headers: Content-Length is {text}, but the body has {length} bytes: leave the field out")
    return int(text)


def check(params: dict[str, Any], large: list[Large]) -> None:
    """Raise ValueError if a request has the field with another length than that of its body, if that is known."""
    if (text := given(params.get("headers"))) is not None:
        checked(text, None if "parameters" in params else _of_body(params.get("body"), large))


def leave_out(params: dict[str, Any]) -> None:
    """Remove the field from the parameters of a request."""
    if given(params.get("headers")) is not None:
        params["headers"] = [field for field in params["headers"] if field[0].lower() != "content-length"]


def _of_body(body: dict[str, Any] | None, large: list[Large]) -> int | None:
    """Return the number of bytes of a parameter `body`; None for a form with files, which the daemon writes."""
    for place, content in large:
        if place is body:
            return len(content)
    match body or {"text": ""}:
        case {"text": str(text)}:
            return len(text.encode())
        case {"base64": str(text)}:
            return len(base64.b64decode(text))
        case {"stream": True, "length_bytes": int(length)}:
            return length
        case {"file": str(path)} if body == {"file": path}:
            return _of_file(path)
    return None


def _of_file(path: str) -> int | None:
    try:
        found = os.stat(local(path))  # noqa: PTH116, without pathlib
    except (OSError, ValueError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None
