"""JSON texts byte by byte, for tests of what the daemon accepts and what arrives."""

from __future__ import annotations

import json
from typing import Any

from harness.wire import Wire


def is_taken(wire: Wire, text: bytes) -> bool:
    """Whether the daemon accepts a text as JSON: as a parameter of a call it is then refused for another reason."""
    message = b'{"jsonrpc":"2.0","id":"c","method":"daemon.ping","params":{"x":' + text + b"}}"
    wire.send_bytes(b"Content-Length: %d\r\n\r\n" % len(message) + message)
    answer = wire.receive()
    if answer["error"]["code"] == -32700:
        assert answer["id"] is None
        return False
    assert (answer["id"], answer["error"]["code"]) == ("c", -32602) or "nested deeper" in str(answer)
    return "nested deeper" not in str(answer)


def exact(text: bytes) -> Any:
    """The content of a text: members in order, duplicates twice, and numbers as they are spelled."""
    return json.loads(
        text,
        object_pairs_hook=tuple,
        parse_int=lambda text: ("number", text),
        parse_float=lambda text: ("number", text),
    )
