"""One request of an adapter: its head at once, its bodies in pieces, on a connection to the daemon of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._adapters import HEAD_EVENT, session_call
from .._carrier_async import AsyncCarrier
from .._exceptions import CarpoolError, ObjectError, request_error
from .._feed import Feed
from .._http1 import body_length, raw_headers
from .._models import body_content
from .._pipe import READ_BYTES, Pipe

if TYPE_CHECKING:
    from typing_extensions import Self

# The size of a pipe whose body has filled it.
_LARGE_PIPE_BYTES = 1 << 20
# The longest body that the daemon may send in the answer. A longer one costs the daemon more as text than in the pipe.
_INLINE_BYTES = 16_384


class Exchange:
    """A request and its response, on a channel that nothing else uses meanwhile.

    The steps are `open`, `put` for each block of a streamed body, `end`, `head`, and `read` until it returns no bytes.
    It is one call of `request.perform`: an event has the head, a pipe the body, and the answer the end. A short body
    that has arrived at once is in the answer instead, which often comes with the event, and has the head too. After the
    body `is_reusable` says whether `next` may return another exchange on the same channel.
    """

    def __init__(self, channel: AsyncCarrier) -> None:
        self.channel = channel
        self.is_reusable = False
        self.headers: list[tuple[bytes, bytes]] = []
        self.length: int | None = None
        self._pipe = Pipe(READ_BYTES)
        self._feed: Feed | None = None
        self._answer: dict[str, Any] | None = None
        self._method = ""
        self._received = 0
        self._is_over = False

    @classmethod
    def on_new_channel(cls) -> Self:
        """Return an exchange that connects to the daemon when it is opened."""
        return cls(AsyncCarrier())

    async def next(self) -> Self | None:
        """Return an exchange on the channel of this one, which is over; None if the daemon does not answer there."""
        try:
            if self._answer is None:
                # The body was complete before the answer.
                await self.channel.settle()
        except CarpoolError:
            await self.channel.close()
            return None
        finally:
            self._pipe.close()
        return type(self)(self.channel)

    async def open(self, params: dict[str, Any], configuration: dict[str, Any]) -> None:
        """Send the request in a session of this configuration, which is created if there is none."""
        self._method = params["method"]
        params = {**params, "events": {"types": [HEAD_EVENT]}, "detail": "short"}
        descriptors = self._pipe.body_of(params, _INLINE_BYTES)
        with self._pipe.passing():
            if "stream" in params.get("body", {}):
                # Before the body, of which nothing is sent a second time.
                await self.channel.call(*session_call(params["session"], configuration))
                await self._open_feed(params, descriptors)
                return
            try:
                self._answer = await self.channel.call("request.perform", params, descriptors, until_notified=True)
            except ObjectError as error:
                if error.name != "session.not_found":
                    raise
                await self.channel.call(*session_call(params["session"], configuration))
                self._answer = await self.channel.call("request.perform", params, descriptors, until_notified=True)

    async def _open_feed(self, params: dict[str, Any], descriptors: list[int]) -> None:
        self._feed = Feed()
        body = {name: value for name, value in params["body"].items() if name != "stream"}
        params["body"] = {**body, "fd": len(descriptors)}
        try:
            await self.channel.begin("request.perform", params, [*descriptors, self._feed.reading])
        finally:
            self._feed.close_reading()

    async def put(self, block: bytes, seconds: float | None = None) -> bool:
        """Send a block of the body; return False if the request takes no more. Raises TimeoutError after `seconds`."""
        try:
            await self.channel.write(self._opened_feed(), block, seconds)
        except (BrokenPipeError, ConnectionResetError):
            # The response came early, or the request has failed; the head says which.
            return False
        return True

    def end(self) -> None:
        """End the body."""
        self._opened_feed().end()

    def _opened_feed(self) -> Feed:
        if self._feed is None:
            raise CarpoolError("the request was sent with its whole body: it takes no more of it")
        return self._feed

    async def head(self) -> dict[str, Any]:
        """Wait for the head of the response and return it; raises RequestError."""
        response = None
        if self._feed is not None:
            self._answer = await self.channel.answer(until_notified=True)
        while self._answer is None:
            event = self.channel.take()
            if event is None:
                self._answer = await self.channel.answer(until_notified=True)
            elif event.params.get("type") == HEAD_EVENT:
                response = event.params["data"]["response"]
                if response.get("truncated"):
                    response = await self._whole_head(str(event.params["request"]))
                break
        if response is None:
            response = (await self._end_of_call())["response"]
            if response is None:
                await self._raise()
        head: dict[str, Any] = response
        self.headers = raw_headers(head)
        self.length = body_length(head["status"], self.headers, self._method)
        if self.length == 0:
            self._finish()
        return head

    async def read(self) -> bytes:
        """Return the next bytes of the body, none after the last; raises RequestError."""
        if self._is_over:
            return b""
        block = b"" if self._has_all else await self.channel.read(self._pipe)
        if not block:
            return await self._end()
        if self._received == 0 and len(block) == READ_BYTES != self.length:
            self._pipe.grow(_LARGE_PIPE_BYTES)
        self._received += len(block)
        if self._received == self.length:
            self._finish()
        return block

    async def aclose(self) -> None:
        """Cancel the request by ending its connection, unless it is over."""
        if self._answer is not None:
            self._finish()
        if not self.is_reusable:
            self._is_over = True
            await self.channel.close()
            self._pipe.close()
            if self._feed is not None:
                # An unfinished body that ends before the request is cancelled would be complete for the daemon.
                await self.channel.wait_for_close(self._feed)
        if self._feed is not None:
            self._feed.close()

    def _finish(self) -> None:
        """Note that the body is complete. The pipe stays open, because closing it would cancel the request."""
        self._is_over = self.is_reusable = True

    @property
    def _has_all(self) -> bool:
        """Whether the answer says that the pipe has no more of the body, whose end may not be there yet."""
        if self._answer is None:
            return False
        body = self._answer["body"]
        return "fd" not in body or self._received >= body["size_bytes"]

    async def _end(self) -> bytes:
        """Return the body that the answer has. Without one note the end; raises RequestError if the request failed."""
        answer = await self._end_of_call()
        self._pipe.close()
        if not self._received and (block := await self._content(answer)):
            self._received = len(block)
            if answer["outcome"]["ok"]:
                self._finish()
            return block
        await self._raise()
        return b""

    async def _content(self, answer: dict[str, Any]) -> bytes | None:
        """Return the body of an answer; one with many characters that JSON escapes is in a file."""
        if "file" not in answer["body"]:
            return body_content(answer["body"])
        request = {"request": answer["request"]}
        content = body_content(await self.channel.call("body.read", request))
        await self.channel.call("body.release", request)
        return content

    async def _raise(self) -> None:
        """Note the end of the request; raises RequestError if it has failed."""
        answer = await self._end_of_call()
        self._finish()
        self._pipe.close()
        if not answer["outcome"]["ok"]:
            raise request_error(answer)

    async def _end_of_call(self) -> dict[str, Any]:
        if self._answer is None:
            self._answer = dict(await self.channel.answer())
        self.channel.forget_notifications()
        return self._answer

    async def _whole_head(self, request: str) -> dict[str, Any] | None:
        """Return a head that is too long for an event."""
        try:
            record = await self.channel.call("request.get", {"request": request, "detail": "short"})
        except ObjectError:
            # The request is over.
            record = await self._end_of_call()
        response: dict[str, Any] | None = record["response"]
        return response
