"""Bodies of requests: from the parameters of a call to the bytes that the daemon would send."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

from .._paths import local

_CONTENTS = ("text", "base64", "json", "file", "offset")
BOUNDARY = "carpool.boundary.fake"


def body_bytes(body: dict[str, Any] | None) -> bytes:
    """Return the bytes of the parameter `body`; raises ValueError for a form that the fake does not know."""
    match body or {}:
        case {"text": str(text)}:
            return text.encode()
        case {"base64": str(text)}:
            return base64.b64decode(text)
        case {"json": value}:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        case {"file": str(path), **rest}:
            return Path(local(path)).read_bytes()[int(rest.get("offset", 0)) :]
        case {"multipart": list(parts)}:
            lines = b"".join(_part(part) for part in parts)
            return lines + f"--{BOUNDARY}--\r\n".encode()
        case given if not given:
            return b""
    raise ValueError(f"a body with {' and '.join(body or {})}")


def content_type(body: dict[str, Any] | None) -> str | None:
    """Return the type that the daemon adds for a body."""
    if body and "multipart" in body:
        return f"multipart/form-data; boundary={BOUNDARY}"
    return "application/json" if body and "json" in body else None


def _part(part: dict[str, Any]) -> bytes:
    """Return a part of a form."""
    content: dict[str, Any] = {
        name: part[name] for name in ("text", "base64", "json", "file", "offset") if name in part
    }
    name = part.get("file_name") or (os.path.basename(part["file"]) if "file" in part else None)  # noqa: PTH119
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{part["name"]}"'
    head += f'; filename="{local(name)}"' if name else ""
    kind = part.get("content_type") or content_type(content)
    head += f"\r\nContent-Type: {kind}" if kind else ""
    return head.encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body_bytes(content) + b"\r\n"
