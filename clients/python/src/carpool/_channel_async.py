"""The asyncio channel: one socket, any number of calls at a time."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from . import _fork, _socket, _waiting
from ._exceptions import AccessError, ConnectionLostError, DaemonUnreachableError
from ._handlers import Callbacks
from ._link_async import Link, within
from ._models import read_file
from ._offload import in_thread
from ._pipe import Pipe
from ._rpc import Notification
from ._sources_async import deliver

# The connections of the parent process: an event loop that is collected must not close their descriptors.
_KEPT: Final[list[Link]] = []


class _Place:
    """The connection of one event loop, and the lock of the task that makes it."""

    __slots__ = ("connecting", "link")

    def __init__(self) -> None:
        self.connecting = asyncio.Lock()
        self.link: Link | None = None


class AsyncChannel:
    """A connection for each event loop, made at its first call, and again at the next call after it was lost."""

    may_start: bool
    """Whether a daemon is started where there is none."""

    def __init__(self, path: str | os.PathLike[str] | None, *, is_feed: bool = False) -> None:
        self.may_start = True
        self.is_over = False
        self.max_line_bytes: int | None = None
        self._path = path
        self._is_feed = is_feed
        self._places: dict[asyncio.AbstractEventLoop, _Place] = {}
        self._was_connected = False
        self._callbacks = Callbacks(allow_async=True)
        _fork.add(self)

    def abandon(self) -> None:
        """Replace the descriptors of the parent's connections.

        Transports are not closed: the parent's event loop and the child's share the descriptors that are watched.
        """
        links = [place.link for place in self._places.values()]
        self._places = {}
        for link in links:
            if link is None or link.transport is None:
                continue
            _KEPT.append(link)
            descriptor = link.transport.get_extra_info("socket").fileno()
            if descriptor >= 0:
                nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
                os.dup2(nothing, descriptor, inheritable=False)
                os.close(nothing)

    async def call(
        self,
        method: str,
        params: dict[str, Any],
        descriptors: Sequence[int] = (),
        *,
        until_notified: bool = False,
    ) -> Any:
        """Call a method and return its result; raises RPCError or DaemonUnreachableError.

        The descriptors go with the message. With `until_notified` it returns None if a notification precedes the
        answer, which `AsyncCarrier.answer` then returns.
        """
        silence, end, pause = _waiting.silence(params), 0.0, 0.0
        while True:
            link = await self._connected(silence)
            try:
                return await link.ask(method, params, descriptors, until_notified=until_notified)
            except (AccessError, ConnectionLostError) as error:
                # The daemon ends, or has not read the call: the next one accepts it.
                end = end or time.monotonic() + silence
                is_for_the_next = link.is_unread if isinstance(error, ConnectionLostError) else error.name == "draining"
                if not is_for_the_next or link.is_bound or time.monotonic() + pause > end:
                    raise
            await asyncio.sleep(pause)
            pause = max(_waiting.FIRST_PAUSE, _waiting.longer(pause))
            self._leave(link)

    async def ask(self, link: Link | None, method: str, params: dict[str, Any], silence: float | None = None) -> Any:
        """Call a method of the daemon of a connection; raises ConnectionLostError if that has ended.

        After `silence` seconds the daemon is asked whether it runs; by default that depends on the params.
        """
        if link is None:
            raise ConnectionLostError(f"{method}: the connection to the daemon has ended")
        return await link.ask(method, params, silence=silence)

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification, which has no answer; without a connection nothing is sent."""
        if (link := self.link) is not None:
            link.tell(method, params)

    async def notification(self, timeout: float | None) -> Notification | None:
        """Return the next notification; None after `timeout` seconds."""
        # Notifications received before the connection was lost are returned first, then the loss is raised.
        link = self.link or await self._connected()
        end = None if timeout is None else time.monotonic() + timeout
        while not link.notifications:
            if link.ended is not None:
                raise link.ended
            link.arrival.clear()
            if not await self._happens(link.arrival, link, end):
                return None
        return link.take()

    @staticmethod
    async def _happens(event: asyncio.Event, link: Link, end: float | None) -> bool:
        """Wait for an event of a connection, and ask now and then whether the daemon runs; False at the end."""
        while True:
            left = _waiting.SILENCE_SECONDS if end is None else max(0.0, end - time.monotonic())
            try:
                await within(event.wait(), min(left, _waiting.SILENCE_SECONDS))
            except asyncio.TimeoutError:
                if end is not None and time.monotonic() >= end:
                    return False
                await link.ask("daemon.ping", {})
            else:
                return True

    @staticmethod
    async def resolved(value: Any) -> Any:
        """Return what a hook has returned, or what that results in."""
        return await value if hasattr(value, "__await__") else value

    @property
    def place(self) -> str:
        """Where the daemon listens, and whether there is a connection, for people."""
        links = [place.link for place in list(self._places.values())]
        found = [link.transport for link in links if link is not None and link.ended is None]
        return _socket.described(self._path, found[0].get_extra_info("peername") if found and found[0] else None)

    @property
    def link(self) -> Link | None:
        """The connection of the running event loop."""
        return self._place().link

    def feed(self) -> AsyncChannel:
        """Return another channel to the same daemon, for events: it reads only a few ahead."""
        return AsyncChannel(self._path, is_feed=True)

    @staticmethod
    async def pause(seconds: float) -> None:
        """Sleep."""
        await asyncio.sleep(seconds)

    async def serve(self, timeout: float | None) -> None:
        """Wait for `timeout` seconds, else until the connection is lost; callbacks are answered meanwhile."""
        link = await self._connected()
        if not await self._happens(link.closed, link, None if timeout is None else time.monotonic() + timeout):
            return
        raise link.ended or ConnectionLostError("the connection is closed")

    async def register(self, name: str, handlers: Mapping[str, Callable[[Any], Any] | None]) -> None:
        """Replace the handlers of a name, and send the names to the daemon if they have changed."""
        undo = self._callbacks.replace(name, handlers)
        try:
            await self._announce(await self._connected())
        except BaseException:
            undo()
            raise

    async def close(self) -> None:
        """End the connections of all event loops. Their calls and subscriptions end with them, and so do handlers."""
        error = ConnectionLostError("the client was closed")
        running = self._place()
        link, running.link = running.link, None
        for loop, place in list(self._places.items()):
            if place is not running and place.link is not None and not loop.is_closed():
                loop.call_soon_threadsafe(place.link.end, error)
        if link is not None:
            link.end(error)
            await asyncio.gather(*link.others_handling(), return_exceptions=True)

    async def read_pipe(self, pipe: Pipe) -> bytes:
        """Return what has arrived in a pipe, empty at its end."""
        # A fast body must not keep other tasks from running.
        await asyncio.sleep(0)
        with pipe.reading():
            while (block := pipe.read()) is None:
                await self._arrival(pipe)
            return block

    async def _arrival(self, pipe: Pipe) -> None:
        """Wait for bytes or the end of a pipe; raises DaemonUnreachableError if the daemon does not run."""
        loop, event = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(pipe.descriptor, event.set)
        try:
            await within(event.wait(), pipe.silence_seconds)
        except asyncio.TimeoutError:
            await self._check_daemon()
        finally:
            loop.remove_reader(pipe.descriptor)

    async def _check_daemon(self) -> None:
        """Ask the daemon whether it runs. If it does not answer, the connection ends, unless other calls wait on it."""
        link = self.link
        try:
            await within(self.ask(link, "daemon.ping", {}), _waiting.PING_SECONDS)
        except asyncio.TimeoutError as error:
            if link is not None and not link.calls:
                link.end(ConnectionLostError("the daemon does not answer"))
            raise _waiting.silent() from error

    deliver = staticmethod(deliver)

    async def read_file(self, path: str) -> bytes | None:
        """Read a spool file in a thread; None if this process cannot open it."""
        content: bytes | None = await in_thread(read_file, path)
        return content

    def _leave(self, link: Link) -> None:
        """Connect again at the next call, if nothing else uses this connection."""
        place = self._place()
        if place.link is link and not link.calls and not link.is_bound:
            place.link = None
            link.end(ConnectionLostError("the daemon is ending"))

    def _place(self) -> _Place:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError(_no_loop()) from None
        if (place := self._places.get(loop)) is None:
            for other in [each for each in list(self._places) if each.is_closed()]:
                if (left := self._places.pop(other, None)) is not None and left.link is not None:
                    left.link.release()
            place = self._places.setdefault(loop, _Place())
        return place

    async def _connected(self, patience: float = 0.0) -> Link:
        place = self._place()
        if place.link is not None and place.link.ended is None:
            return place.link
        if self.is_over:
            raise ConnectionLostError("the client was closed")
        async with place.connecting:
            if place.link is None or place.link.ended is not None:
                place.link = await self._made(patience)
            return place.link

    async def _made(self, patience: float) -> Link:
        # A daemon that was there before is probably being restarted.
        wait = patience if self._was_connected and self.may_start else 0.0
        connection = await self._opened(wait)
        try:
            _, link = await asyncio.get_running_loop().create_unix_connection(
                lambda: Link(self._callbacks, is_feed=self._is_feed), sock=connection
            )
        except BaseException as error:
            connection.close()
            if not isinstance(error, OSError):
                raise
            raise DaemonUnreachableError(f"cannot use the daemon's socket: {error.strerror}") from error
        try:
            if not self._are_announced_elsewhere():
                await self._announce(link)
        except BaseException:
            # Without the names the daemon would not call.
            link.end(ConnectionLostError("the daemon refused the names of the callbacks"))
            raise
        self._was_connected = True
        return link

    async def _opened(self, patience: float) -> socket.socket:
        """Connect in a thread. A cancelled caller does not leave the connection open."""
        opening = in_thread(
            lambda: _socket.connect(
                self._path, may_start=self.may_start, patience=patience, max_line_bytes=self.max_line_bytes
            )
        )
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_close_result)
            raise

    async def _announce(self, link: Link) -> None:
        """Send the names of the callbacks to the daemon, if they have changed since they were last sent."""
        names, earlier = self._callbacks.names, link.announced
        if earlier == names:
            return
        link.announced = names  # at once, for a task that registers while this one waits
        try:
            await link.ask("client.hello", {"callbacks": names})
        except BaseException:
            link.announced = earlier
            raise

    def _are_announced_elsewhere(self) -> bool:
        """Whether handlers run in another event loop already: not in this one too, unless it calls `register`."""
        here = asyncio.get_running_loop()
        return any(
            place.link is not None and place.link.announced and place.link.ended is None
            for loop, place in list(self._places.items())
            if loop is not here and not loop.is_closed()
        )


def _close_result(opening: asyncio.Future[socket.socket]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


def _no_loop() -> str:
    """Return the message for a caller without an event loop of asyncio."""
    needed = "AsyncClient needs the event loop of asyncio or uvloop"
    # It is imported where there may be another one.
    sniffio = sys.modules.get("sniffio")
    found = getattr(getattr(sniffio, "thread_local", None), "name", None)
    if found in {None, "asyncio"}:
        return f"{needed}, and none is running: use it in a coroutine that asyncio.run() runs, or use a Client"
    return (
        f"{needed}, and this is {found}: use a Client in a thread, as in trio.to_thread.run_sync(client.get, url), "
        "or httpx.AsyncClient(transport=carpool.httpx.AsyncCarpoolTransport()), which runs on trio too"
    )
