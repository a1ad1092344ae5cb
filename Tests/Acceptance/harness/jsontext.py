"""Texts of JSON as they are, for tests of what is taken and what arrives."""

from __future__ import annotations

import json
from typing import Any

from harness.wire import Wire


def is_taken(wire: Wire, text: bytes) -> bool:
    """Whether a text is JSON for the daemon: among the parameters of a call it is refused for another reason then."""
    message = b'{"jsonrpc":"2.0","id":"c","method":"daemon.ping","params":{"x":' + text + b"}}"
    wire.send_bytes(b"Content-Length: %d\r\n\r\n" % len(message) + message)
    answer = wire.receive()
    if answer["error"]["code"] == -32700:
        assert answer["id"] is None
        return False
    assert (answer["id"], answer["error"]["code"]) == ("c", -32602) or "nested deeper" in str(answer)
    return "nested deeper" not in str(answer)


def exact(text: bytes) -> Any:
    """What a text says: members in their order, twice where they stand twice, and numbers in their spelling."""
    return json.loads(
        text,
        object_pairs_hook=tuple,
        parse_int=lambda text: ("number", text),
        parse_float=lambda text: ("number", text),
    )
