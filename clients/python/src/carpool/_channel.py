"""The blocking channel: a connection for each thread, which calls, answers and waits on it."""

from __future__ import annotations

import _thread
import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final

from . import _fork, _socket, _waiting
from ._exceptions import AccessError, CarpoolError, ConnectionLostError, DaemonUnreachableError, rpc_error
from ._handlers import MAX_QUESTIONS, Callbacks, resolved
from ._link import BOUND, MAX_ATOMIC_BYTES, Begun, Link, keep
from ._models import read_file
from ._pipe import Pipe
from ._pool import Pool, Seat
from ._rpc import Failure, NeedData, Notification, Question
from ._sources import deliver

# A handler that makes a call may get the next callback while it waits. This is the maximum depth; then the next
# callback waits, because handlers that cause each other's callbacks would exhaust the stack.
MAX_NESTED: Final = 8


class Channel:
    """One connection for each thread, made at its first call, and again at the next call after it was lost.

    The connection of a thread that has ended is used by the next new thread.
    """

    may_start: bool
    """Whether a daemon is started where there is none."""
    is_over: bool
    """Whether no connection is made any more: a thread may be about to, while another one closes it."""
    _local: Any
    """Has the seat of each thread; made at the first use, because gevent may replace threads after the import."""

    def __init__(self, path: str | os.PathLike[str] | None, *, is_exclusive: bool = False) -> None:
        self.may_start = True
        self.is_over = False
        self.max_line_bytes: int | None = None
        self._is_exclusive = is_exclusive
        self._path = path
        self._callbacks = Callbacks(allow_async=False)
        self._was_connected = False
        self._begin()
        _fork.add(self)

    def _begin(self) -> None:
        """Begin without connections."""
        vars(self).pop("_local", None)
        self._pool = Pool()
        self._declared: Link | None = None
        self._serving: list[Link] = []

    def abandon(self) -> None:
        """Close the descriptors of the parent's connections."""
        links = list(self._pool.links)
        self._pool.links.clear()
        self._begin()
        for link in links:
            # Not close(): a thread that the child does not have may hold its lock.
            link.socket.close()

    def call(
        self,
        method: str,
        params: dict[str, Any],
        descriptors: Sequence[int] = (),
        *,
        until_notified: bool = False,
    ) -> Any:
        """Call a method and return its result; raises RPCError or DaemonUnreachableError.

        The descriptors go with the message. With `until_notified` it returns None if a notification precedes the
        answer, which `Carrier.answer` then returns.

        A call that the daemon cannot have read, because it had ended before, is made to the next one. So is one that a
        daemon has refused because it ends.
        """
        try:
            return self._call(method, params, descriptors, until_notified=until_notified)
        except AccessError as error:
            if error.name != "draining":
                raise
        end, pause = time.monotonic() + _waiting.silence(params), _waiting.FIRST_PAUSE
        while True:
            time.sleep(pause)
            pause = _waiting.longer(pause)
            link = self._seat.link
            if link is not None and link.can_be_replaced():
                self._drop(link)
            try:
                return self._call(method, params, descriptors, until_notified=until_notified)
            except AccessError as error:
                if error.name != "draining" or time.monotonic() + pause > end:
                    raise

    def ask(self, link: Link | None, method: str, params: dict[str, Any], silence: float | None = None) -> Any:
        """Call a method of the daemon of a connection; raises ConnectionLostError if that has ended.

        After `silence` seconds the daemon is asked whether it runs; by default that depends on the params.
        """
        if link is None or link.has_ended():
            raise ConnectionLostError(f"{method}: the connection to the daemon has ended")
        if link is not self._seat.link:
            return self.call(method, params)
        return self._ask(link, method, params, _waiting.SILENCE_SECONDS if silence is None else silence)

    def _call(self, method: str, params: dict[str, Any], descriptors: Sequence[int], *, until_notified: bool) -> Any:
        silence = _waiting.silence(params)
        link = self._seat.link
        if link is not None and (link.waiting or link.is_bound):
            return self._ask(link, method, params, silence, descriptors, until_notified=until_notified)
        end, pause = 0.0, 0.0
        while True:
            link = link or self._connected(silence)
            try:
                return self._ask(link, method, params, silence, descriptors, until_notified=until_notified)
            except ConnectionLostError:
                end = end or time.monotonic() + silence
                if not link.is_unsent or time.monotonic() + pause > end:
                    raise
            link = None
            time.sleep(pause)
            pause = max(_waiting.FIRST_PAUSE, _waiting.longer(pause))

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification, which has no answer; without a connection nothing is sent."""
        link = self._seat.link
        if link is not None:
            with contextlib.suppress(DaemonUnreachableError), self._in_step(link, ""):
                link.send(link.rpc.send_notification(method, params), 0.0)

    def notification(self, timeout: float | None) -> Notification | None:
        """Return the next notification; None after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        unread = self._seat.notifications
        if not unread:
            self._advance_until(deadline, lambda: len(unread) > 0)
        return unread.popleft() if unread else None

    def feed(self) -> Channel:
        """Return another channel to the same daemon, for events: they are read on demand."""
        return Channel(self._path)

    @property
    def place(self) -> str:
        """Where the daemon listens, and whether there is a connection, for people."""
        links = [link for link in list(self._pool.links) if not link.has_ended()]
        return _socket.described(self._path, links[0].socket.getpeername() if links else None)

    @staticmethod
    def pause(seconds: float) -> None:
        time.sleep(seconds)  # looked up at each call: gevent replaces it after this import

    def serve(self, timeout: float | None) -> None:
        """Answer callbacks until `timeout` seconds have passed, else until the connection is lost."""
        deadline = None if timeout is None else time.monotonic() + timeout
        seat = self._seat
        seat.is_declaring = True
        if (link := seat.link) is not None and link is not self._declared and link.can_be_replaced():
            # The daemon calls the newest connection that has declared a name.
            self._drop(link)
        link = self._connected()
        self._serving.append(link)
        try:
            self._announce(link)
            self._advance_until(deadline, lambda: False)
        finally:
            self._serving.remove(link)

    def register(self, name: str, handlers: Mapping[str, Callable[[Any], Any] | None]) -> None:
        """Replace the handlers of a name, and send the names to the daemon if they have changed.

        They are declared by the threads that serve, and without such a thread by this one.
        """
        undo = self._callbacks.replace(name, handlers)
        try:
            others = [link for link in self._serving if link is not self._seat.link]
            if others:
                self._declare_for(others)
            else:
                self._seat.is_declaring = True
                self._announce(self._connected())
        except BaseException:
            undo()
            raise

    def _declare_for(self, others: list[Link]) -> None:
        """Declare the names on the connections of threads that serve, after the daemon has accepted them here."""
        link, names = self._connected(), self._callbacks.names
        self._ask(link, "client.hello", {"callbacks": names})
        self._ask(link, "client.hello", {"callbacks": []})
        self._seat.is_declaring = False
        link.announced = []
        for other in others:
            other.announced = names
            # It has no answer, which the thread of that connection would receive.
            other.send(other.rpc.send_notification("client.hello", {"callbacks": names}))

    def close(self) -> None:
        """End the connections of all threads. Their calls and their subscriptions end with them."""
        seat = self._seat
        for link in list(self._pool.links):
            if link is seat.link or link in self._pool.idle:
                self._drop(link)
            else:
                link.interrupt()

    def read_pipe(self, pipe: Pipe) -> bytes:
        """Return what has arrived in a pipe, empty at its end; answers callbacks while it waits."""
        with pipe.reading():
            while (block := pipe.read()) is None:
                link = self._connected()
                with self._in_step(link, " while a body arrived"):
                    # Messages that were read with others come first.
                    if self._advance(link, 0.0) or pipe.is_ready(link.socket, pipe.silence_seconds):
                        continue
                    if not self._is_alive(link):
                        raise _waiting.silent()
            return block

    resolved = staticmethod(resolved)
    read_file = staticmethod(read_file)
    deliver = staticmethod(deliver)

    @property
    def _seat(self) -> Seat:
        """The seat of this thread."""
        try:
            seat: Seat = self._local.seat
        except AttributeError:
            # One of the threads that come here first sets it.
            made = SimpleNamespace() if self._is_exclusive else _thread._local()  # noqa: SLF001
            seat = vars(self).setdefault("_local", made).seat = Seat(self._pool)
        return seat

    @property
    def link(self) -> Link | None:
        """The connection of this thread."""
        return self._seat.link

    def _connected(self, patience: float = 0.0) -> Link:
        seat = self._seat
        if seat.link is None:
            if self.is_over:
                raise ConnectionLostError("the client was closed")
            # The daemon calls the newest connection that has declared a name.
            seat.link = (None if seat.is_declaring else self._pool.reused()) or self._made(patience)
            try:
                self._announce(seat.link)
            except BaseException:
                # Without the names the daemon would not call.
                self._drop(seat.link)
                raise
        return seat.link

    def _made(self, patience: float) -> Link:
        # A daemon that was there before is probably being restarted.
        wait = patience if self._was_connected and self.may_start else 0.0
        may, most = self.may_start, self.max_line_bytes
        link = Link(_socket.connect(self._path, may_start=may, patience=wait, max_line_bytes=most))
        self._was_connected = True
        self._pool.links.add(link)
        return link

    def _announce(self, link: Link) -> None:
        """Send the names of the callbacks to the daemon, if they have changed since they were last sent."""
        if not self._seat.is_declaring:
            return
        names = self._callbacks.names
        if link.announced != names:
            self._ask(link, "client.hello", {"callbacks": names})
            link.announced = names
            self._declared = link

    def _drop(self, link: Link) -> None:
        link.close()
        self._pool.links.discard(link)
        seat = self._seat
        if seat.link is link:
            seat.link = None

    @contextlib.contextmanager
    def _in_step(self, link: Link, occasion: str) -> Iterator[None]:
        """Drop a connection after an interruption: a message that was half written or read cannot be completed."""
        try:
            yield
        except CarpoolError:
            self._drop(link)
            raise
        except OSError as error:
            self._drop(link)
            if error.errno is None:
                # Not the socket's, which does not block: that of a signal handler of the program.
                raise
            link.is_unsent |= isinstance(error, ConnectionResetError) and link.has_only_sent_one
            raise link.lost(error, occasion) from error
        except BaseException:
            self._drop(link)
            raise

    def _ask(
        self,
        link: Link,
        method: str,
        params: dict[str, Any],
        silence: float = _waiting.SILENCE_SECONDS,
        descriptors: Sequence[int] = (),
        *,
        until_notified: bool = False,
    ) -> Any:
        begun = self._send(link, method, params, silence, descriptors)
        return self._answer(link, begun, until_notified=until_notified)

    def _send(
        self, link: Link, method: str, params: dict[str, Any], silence: float, descriptors: Sequence[int]
    ) -> Begun:
        call, data = link.rpc.send_request(method, params)
        with self._in_step(link, f" during {method}"):
            link.waiting.add(call)
            link.is_unsent = True
            link.has_only_sent_one = len(link.waiting) == 1 and len(data) <= MAX_ATOMIC_BYTES
            link.send(data, silence, is_call=True, descriptors=descriptors)
            link.is_unsent = False
        return Begun(call, method, params, silence)

    def _answer(self, link: Link, begun: Begun, *, until_notified: bool) -> Any:
        call, method, params, silence = begun
        with self._in_step(link, f" during {method}"):
            while call not in link.answers:
                # What was received with the notification comes first: it may be the answer.
                if until_notified and self._seat.notifications and not link.rpc.has_line:
                    link.begun = begun
                    return None
                if not self._advance(link, silence) and not self._is_alive(link):
                    raise _waiting.unanswered(method, params)
            link.waiting.remove(call)
        answer = link.answers.pop(call)
        if isinstance(answer, Failure):
            error = rpc_error(answer.error)
            if answer.id is None and isinstance(error, AccessError):
                # The daemon has refused the connection, and closes it.
                self._drop(link)
            raise error
        if method in BOUND or ("events" in params and "outcome" not in answer.value):
            link.is_bound = True
        return answer.value

    def _is_alive(self, link: Link) -> bool:
        """Ask the daemon whether it runs, and wait for that or another message; its answer is for no call."""
        _, data = link.rpc.send_request("daemon.ping", {})
        link.send(data, 0.0)
        return self._advance(link, _waiting.PING_SECONDS)

    def _advance_until(self, deadline: float | None, is_done: Callable[[], bool]) -> None:
        link = self._connected()
        with self._in_step(link, ""):
            while not is_done():
                silence = _waiting.SILENCE_SECONDS
                left = silence if deadline is None else min(silence, max(0.0, deadline - time.monotonic()))
                if self._advance(link, left):
                    continue
                if deadline is not None and time.monotonic() >= deadline:
                    break
                if not self._is_alive(link):
                    raise _waiting.silent()

    def _advance(self, link: Link, seconds: float) -> bool:
        """Handle the next message or callback of a connection; return False if nothing comes for so long."""
        if link.questions and link.nested < MAX_NESTED:
            self._serve(link, link.questions.popleft())
            return True
        match link.rpc.next_event():
            case NeedData():
                return link.receive(seconds)
            case Notification() as notification:
                keep(self._seat.notifications, notification)
            case Question() as question if len(link.questions) >= MAX_QUESTIONS:
                link.send(self._callbacks.too_many(link.rpc, question))
            case Question() as question:
                link.questions.append(question)
            case answer:
                link.settle(answer)
        return True

    def _serve(self, link: Link, question: Question) -> None:
        asking = self._callbacks.asking(question)
        link.nested += 1
        try:
            data = asking.answer(link.rpc, asking.ask())
        except Exception as error:  # noqa: BLE001, every exception of a handler is answered and logged
            data = asking.failure(link.rpc, error)
        finally:
            link.nested -= 1
        link.send(data)
