"""A reader of a stream, which receives it on its connection."""

from __future__ import annotations

import base64
from typing import Any

from harness.wire import Wire

PLENTY = 1 << 40


class Reader:
    """Attached to a request; keeps its own messages in order, and drops all others."""

    def __init__(self, wire: Wire, request: str, serializer: str = "bytes", credit: int = PLENTY) -> None:
        self.wire = wire
        self.request = request
        self.messages: list[dict[str, Any]] = []
        answer = wire.call("request.attach", request=request, **{"as": serializer}, credit_bytes=credit)
        self.name = answer["reader"]

    def next(self) -> dict[str, Any]:
        """Wait for the next message."""
        while True:
            message = self.wire.receive()
            if message.get("method") == "request.data" and message["params"]["reader"] == self.name:
                data: dict[str, Any] = message["params"]
                self.messages.append(data)
                assert data["seq"] == len(self.messages)
                return data

    def until(self, size: int) -> None:
        """Wait until this many bytes of the stream have come."""
        while self.size < size:
            self.next()

    def complete(self) -> dict[str, Any]:
        """Wait for the end, and return how it ended."""
        while "complete" not in (message := self.next()):
            pass
        completion: dict[str, Any] = message["complete"]
        return completion

    def grant(self, credit: int) -> None:
        """Grant more without waiting for the answer."""
        self.wire.request("request.credit", request=self.request, reader=self.name, credit_bytes=credit)

    @property
    def size(self) -> int:
        return sum(message["size_bytes"] for message in self.messages)

    @property
    def bytes(self) -> bytes:
        return b"".join(base64.b64decode(message.get("base64", "")) for message in self.messages)

    @property
    def text(self) -> str:
        return "".join(message.get("text", "") for message in self.messages)

    def items(self, member: str) -> list[Any]:
        """Return what all messages hold under a name, as one list."""
        return [item for message in self.messages for item in message.get(member, [])]

    @property
    def errors(self) -> list[dict[str, Any]]:
        return [message["error"] for message in self.messages if "error" in message]
