"""One request of an adapter: its head at once, its bodies in pieces, on a connection to the daemon of its own."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Any

from .._adapters import EVENTS, MAX_LINE_BYTES, PIECE_BYTES, POLL_MS, READ_BYTES, session_call
from .._channel_async import AsyncChannel
from .._exceptions import ObjectError, make_request_error, request_error

if TYPE_CHECKING:
    from typing_extensions import Self


class Exchange:
    """A request and its response, on a channel that nothing else uses meanwhile.

    The steps are `open`, `put` for each block of a streamed body, `end`, `head`, and `read` until it returns no bytes.
    After that `is_reusable` says whether the channel may be used for another.
    """

    def __init__(self, channel: AsyncChannel) -> None:
        self.channel = channel
        self.is_over = False
        self.is_reusable = False
        self._request = ""
        self._record: dict[str, Any] = {}
        self._is_streamed = False
        self._is_whole = False
        self._is_resumed = False
        self._offset = 0

    @classmethod
    async def on_new_channel(cls) -> Self:
        """Connect to the daemon; raises DaemonUnreachableError."""
        channel = AsyncChannel.exclusive(None)
        hello: dict[str, Any] = {"max_line_bytes": MAX_LINE_BYTES}
        if name := os.environ.get("CARPOOL_CLIENT"):
            hello["name"] = name
        await channel.call("client.hello", hello)
        return cls(channel)

    async def open(self, params: dict[str, Any], configuration: dict[str, Any]) -> None:
        """Send the request in a session of this configuration, which is created if there is none."""
        body = params.get("body", {})
        self._is_streamed = "stream" in body
        self._is_whole = params["kind"] != "stream"
        try:
            await self._submit(params)
        except ObjectError as error:
            if error.name != "session.not_found":
                raise
            await self.channel.call(*session_call(params["session"], configuration))
            await self._submit(params)

    async def put(self, block: bytes) -> bool:
        """Send a block of the body; return False if the request has ended and takes no more."""
        for start in range(0, len(block), PIECE_BYTES):
            piece = base64.b64encode(block[start : start + PIECE_BYTES]).decode()
            if not await self._put({"base64": piece}):
                return False
        return True

    async def end(self) -> bool:
        """End the body; return False if the request has ended before."""
        return await self._put({"end": True})

    async def head(self) -> dict[str, Any]:
        """Wait for the head of the response and return it; raises RequestError."""
        if self._is_streamed:
            await self._wait_for_event()
            self._record = await self.channel.call("request.get", {"request": self._request})
        if not self._record.get("response"):
            self.is_over = self.is_reusable = not self._is_streamed
            raise request_error(self._record)
        return dict(self._record["response"])

    async def read(self) -> bytes:
        """Return the next bytes of the body, none after the last; raises RequestError."""
        if not self._is_streamed and not self._is_resumed:
            self._is_resumed = True
            await self.channel.call("request.resume", {"request": self._request})
        if self._is_whole and not self.is_over:
            return await self._read_whole()
        params = {"request": self._request, "credit_bytes": READ_BYTES, "timeout_ms": POLL_MS}
        while not self.is_over:
            piece = await self.channel.call("request.read", params)
            if completion := piece.get("complete"):
                await self._dismiss()
                if completion["error"]:
                    raise make_request_error(completion["error"], self._record)
            if data := piece.get("base64"):
                return base64.b64decode(data)
        return b""

    async def aclose(self) -> None:
        """Cancel the request by ending its connection, unless it is over."""
        if not self.is_reusable:
            self.is_over = True
            await self.channel.close()

    async def _read_whole(self) -> bytes:
        """Return the next bytes of a body that the daemon stores: a GET with a body cannot be a stream."""
        record: dict[str, Any] = {"finished": False}
        while self._offset == 0 and record.get("finished") is False:
            record = await self.channel.call("request.wait", {"request": self._request, "timeout_ms": POLL_MS})
        if "outcome" in record and not record["outcome"]["ok"]:
            await self._dismiss()
            raise request_error(record)
        piece = await self.channel.call("body.read", {"request": self._request, "offset": self._offset})
        self._offset += piece["length_bytes"]
        if piece["eof"]:
            await self._dismiss()
        return base64.b64decode(piece["base64"])

    async def _submit(self, params: dict[str, Any]) -> None:
        if self._is_streamed:
            self._record = await self.channel.call("request.submit", {**params, "events": {"types": list(EVENTS)}})
        else:
            self._record = await self.channel.call("request.perform", {**params, "hold_for_headers": True})
        self._request = self._record["request"]

    async def _put(self, piece: dict[str, Any]) -> bool:
        try:
            await self.channel.call("body.put", {"request": self._request, **piece})
        except ObjectError:
            # The response came early and is complete, or the request has failed; the head says which.
            return False
        return True

    async def _wait_for_event(self) -> None:
        while True:
            notification = await self.channel.notification(None)
            if notification is None or notification.params.get("type") in EVENTS:
                return

    async def _dismiss(self) -> None:
        if self._is_streamed:
            # Events of this request are still to come: the channel is not used again.
            await self.channel.close()
        else:
            await self.channel.call("request.dismiss", {"request": self._request})
            self.is_reusable = True
        self.is_over = True
