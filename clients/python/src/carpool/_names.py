"""Names of attributes that a response does not have, and those to use."""

from __future__ import annotations

from typing import Final

_RENAMED: Final = {
    "aiter_bytes": "iter_bytes",
    "aiter_lines": "iter_lines",
    "aiter_text": "iter_text",
    "apparent_encoding": "encoding",
    "aread": "read",
    "charset_encoding": "encoding",
    "iter_content": "iter_bytes",
    "iter_raw": "iter_bytes",
    "reason_phrase": "reason",
    "status": "status_code",
}
_MISSING: Final = {
    "has_redirect_location": "use is_redirect",
    "links": 'parse headers["link"]',
    "next": 'use headers["location"]',
    "raw": "use stream=True and iter_bytes",
    "request": "attempts[-1] has the request that was sent",
}


def missing(kind: str, name: str, has: object) -> AttributeError:
    """Return the error for an attribute that does not exist, with the name to use."""
    text = f"{kind} has no attribute {name!r}"
    if name in _RENAMED and hasattr(has, _RENAMED[name]):
        text += f": use {_RENAMED[name]}"
    elif name in _MISSING:
        text += f": {_MISSING[name]}"
    return AttributeError(text)
