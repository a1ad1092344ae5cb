"""Raw streams: what a client reads of them."""

from __future__ import annotations

import base64

from harness.wire import Wire


def read_all(wire: Wire, stream: str, size: int) -> bytes:
    """Return this many bytes of a stream, in as many reads as necessary."""
    data = b""
    while len(data) < size:
        piece = wire.call("stream.read", stream=stream)
        assert piece["size_bytes"], piece
        data += base64.b64decode(piece["base64"])
    return data
