"""A daemon in this process that answers by routes."""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final

from .. import _fork, _functions
from .._exceptions import CarpoolError
from .._socket import MAX_PATH_BYTES
from . import records
from .connection import Connection
from .requests import Running
from .routes import Answer, Reply, Request, Route, unrouted

# The maximum number of recorded requests, and of those that are not dismissed: a test that makes more probably does so
# in a loop without an end.
MAX_REQUESTS: Final = 10_000
# The maximum sum of the recorded bodies, as in the daemon.
MAX_BYTES: Final = 256 << 20
# A write of this size into a pipe that poll(2) reports as writable does not block.
PIPE_BYTES: Final = 4_096
# The maximum time that closing waits for a thread. One that is in a function of a route may not end.
JOIN_SECONDS: Final = 5.0
# The pause between two attempts to accept a connection while there is no descriptor for it.
RETRY_SECONDS: Final = 0.05
_VARIABLE: Final = "CARPOOL_SOCKET"


class FakeDaemon:
    """A daemon in this process that answers requests by routes: `with FakeDaemon() as fake`.

    It listens on `socket`, in a temporary directory, from the beginning of the block to its end. In the block clients
    that are made without a socket use it, in this process and in those that it starts, and so do `carpool.get` and the
    other functions. Nothing is sent: a request without a route fails.
    """

    def __init__(self) -> None:
        self.folder = ""
        self._socket = ""
        self.changed = threading.Condition(threading.RLock())
        self.running: dict[str, Running] = {}
        self.sessions: dict[str, Any] = {"default": {}}
        self.routes: list[Route] = []
        """The routes, in the order in which they were made. The last one that matches a request is used."""
        self.is_closed = True
        self._requests: list[Request] = []
        self._bytes = 0
        self._last = 0
        self._origins: dict[str, int] = {}
        self._connections: set[Connection] = set()
        self._epoch = os.urandom(4).hex()
        self._undo = contextlib.ExitStack()

    @property
    def socket(self) -> str:
        """The path of the socket, in the block; raises CarpoolError outside of it."""
        if not self._socket:
            raise CarpoolError(
                "socket: the fake daemon listens only in its block: write `with FakeDaemon() as fake:`, and make "
                "clients in it"
            )
        return self._socket

    @property
    def requests(self) -> list[Request]:
        """The requests that were received, each redirect and each retry too, in order."""
        with self.changed:
            return list(self._requests)

    @property
    def unused_routes(self) -> list[Route]:
        """The routes that no request has used."""
        with self.changed:
            return [route for route in self.routes if not route.requests]

    def route(
        self,
        method: str,
        url: str | re.Pattern[str],
        replies: Answer | Sequence[Answer] | None = None,
        *,
        status_code: int = 200,
        headers: Mapping[str, str] | Iterable[tuple[str, str]] | None = None,
        json: Any = None,
        content: str | bytes | None = None,
        error: str | None = None,
    ) -> Route:
        """Answer requests of a method, "*" for all, and a URL; return the route, whose `requests` are its requests.

        `url` without a query has all queries; with one it has this, in any order. A compiled pattern has the URLs that
        it matches from their beginning. `replies` is a Reply, a function that takes a Request and returns a Reply, or a
        list of these, which are used in order, the last one again and again. The other arguments are those of Reply, in
        place of `replies`.
        """
        if replies is None:
            replies = Reply(status_code, headers=headers, json=json, content=content, error=error)
        elif status_code != 200 or any(each is not None for each in (headers, json, content, error)):  # noqa: PLR2004
            raise ValueError("route: pass replies, or the arguments of one reply, not both")
        made = Route(method, url, [replies] if isinstance(replies, Reply) or callable(replies) else list(replies))
        with self.changed:
            self.routes.append(made)
        return made

    def clear(self) -> None:
        """Remove the routes and the recorded requests."""
        with self.changed:
            self.routes.clear()
            self._requests.clear()
            self._bytes = 0

    def __enter__(self) -> FakeDaemon:
        if self._socket:
            raise RuntimeError("the fake daemon runs: make another one with FakeDaemon()")
        try:
            self._listen()
        except OSError as error:
            raise CarpoolError(f"the fake daemon cannot start: {error.strerror}") from error
        self._made_in = _fork.generation()
        self.is_closed = False
        _fork.add(self)
        self._undo.callback(self._restore, os.environ.get(_VARIABLE), _functions.replace_client(None))
        os.environ[_VARIABLE] = self._socket
        self._thread = threading.Thread(target=self._accept, name="carpool-fake", daemon=True)
        self._thread.start()
        return self

    def _listen(self) -> None:
        """Make the directory, the socket and a pipe; if one cannot be made, none is left."""
        with contextlib.ExitStack() as undo:
            # Else tempfile would say of a program that may open no more files that there is no directory.
            os.close(os.open(os.devnull, os.O_RDONLY))
            self.folder = tempfile.mkdtemp(prefix="carpool-")
            undo.callback(os.rmdir, self.folder)
            self._listener = undo.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            self._waking, self._wake = os.pipe()
            undo.callback(os.close, self._waking)
            undo.callback(os.close, self._wake)
            path = os.path.join(self.folder, "carpool.sock")  # noqa: PTH118, a path for the client
            if len(os.fsencode(path)) > MAX_PATH_BYTES:
                raise RuntimeError(f"the socket path {path} is too long: set TMPDIR to a shorter directory")
            self._listener.bind(path)
            self._listener.listen(socket.SOMAXCONN)
            undo.pop_all()
        self._socket = path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._undo.close()
        if self._made_in != _fork.generation():
            return
        with self.changed:
            self.is_closed = True
            self.changed.notify_all()
        os.close(self._wake)
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(JOIN_SECONDS)
        self._listener.close()
        with self.changed:
            connections = list(self._connections)
        for connection in connections:
            connection.end()
        for connection in connections:
            connection.thread.join(JOIN_SECONDS)
        for request in list(self.running.values()):
            request.cancel()
        os.close(self._waking)
        shutil.rmtree(self.folder, ignore_errors=True)
        self._socket = ""

    @staticmethod
    def _restore(socket_path: str | None, client: Any) -> None:
        inner = _functions.replace_client(client)
        if inner is not None:
            inner.close()
        if socket_path is None:
            os.environ.pop(_VARIABLE, None)
        else:
            os.environ[_VARIABLE] = socket_path

    def abandon(self) -> None:
        """Close the descriptors in a child of os.fork(), whose clients use the fake of the parent."""
        if not self.is_closed:
            # A thread that the child does not have may hold the lock.
            self.changed = threading.Condition(threading.RLock())
            self._listener.close()
            for connection in list(self._connections):
                connection.abandon()

    def _accept(self) -> None:
        number = 0
        while True:
            try:
                connected, _ = self._listener.accept()
            except OSError:
                with self.changed:
                    if self.is_closed:
                        return
                    # The program may open no more files: clients wait until it has closed some.
                    self.changed.wait(RETRY_SECONDS)
                continue
            number += 1
            connection = Connection(self, number, connected)
            with self.changed:
                self._connections.add(connection)
            connection.thread.start()

    # What connections and requests ask.

    @property
    def server(self) -> dict[str, Any]:
        """The daemon in the answer of client.hello."""
        return {"name": "carpoold", "version": "0.0.0", "pid": os.getpid(), "epoch": self._epoch}

    @property
    def peer(self) -> dict[str, Any]:
        """The client in the answer of client.hello."""
        return {"uid": os.geteuid(), "pid": os.getpid(), "role": "admin"}

    @property
    def cursor(self) -> str:
        """The position in the stream of events, which has none."""
        return f"{self._epoch}.0"

    def ended(self, connection: Connection) -> None:
        """Forget a connection."""
        with self.changed:
            self._connections.discard(connection)
            self.changed.notify_all()

    def begin(self, params: dict[str, Any]) -> Running:
        """Make a request; raises RefusedError if there are too many."""
        with self.changed:
            if len(self.running) >= MAX_REQUESTS:
                raise _full(f"{MAX_REQUESTS} requests that are not dismissed")
            self._last += 1
            request = Running(self, self._last, f"r_{self._epoch}_{self._last:x}", params)
            self.running[request.name] = request
        return request

    def forget(self, request: Running) -> None:
        """Remove a request."""
        with self.changed:
            self.running.pop(request.name, None)

    def start(self, request: Running) -> None:
        """Carry out a request that has its body: in a thread, if a function of a route may be called."""
        if request.is_streamed or request.state != "resumed":
            return
        with self.changed:
            has_function = any(route.has_function for route in self.routes)
        if has_function or request.incoming is not None:
            threading.Thread(target=self._run, args=(request,), name="carpool-fake-request", daemon=True).start()
        else:
            self._run(request)

    @staticmethod
    def _run(request: Running) -> None:
        try:
            if request.receive(MAX_BYTES):
                request.perform()
        except Exception as error:  # noqa: BLE001, whatever the function of a route raises is the failure of the request
            request.fail(f"{type(error).__name__}: {error}")

    def answer(self, request: Request) -> Answer:
        """Record a request, and return its reply."""
        with self.changed:
            self._bytes += len(request.content)
            if len(self._requests) >= MAX_REQUESTS or self._bytes > MAX_BYTES:
                raise RuntimeError(
                    f"the fake daemon records at most {MAX_REQUESTS} requests and {MAX_BYTES >> 20} MiB: call clear()"
                )
            self._requests.append(request)
            for route in reversed(self.routes):
                if route.matches(request.method, request.url):
                    return route.next(request)
        return unrouted()

    def connection_to(self, origin: str) -> tuple[int, bool]:
        """Return the number of the connection to an origin, and whether it was there before."""
        with self.changed:
            is_reused = origin in self._origins
            return self._origins.setdefault(origin, len(self._origins) + 1), is_reused

    def write_body(self, descriptor: int, content: bytes) -> int:
        """Write a body to a descriptor, and close it; return how many bytes were written before its reader closed."""
        rest = memoryview(content)
        ready = select.poll()
        ready.register(descriptor, select.POLLOUT)
        ready.register(self._waking, select.POLLIN)
        with contextlib.suppress(OSError), open(descriptor, "wb", buffering=0):
            while rest:
                if any(found == self._waking for found, _ in ready.poll()):
                    break
                rest = rest[os.write(descriptor, rest[:PIPE_BYTES]) :]
        return len(content) - len(rest)


def _full(what: str) -> records.RefusedError:
    return records.errors(1201, "queue_full", f"the fake daemon has {what}: call clear()")


Function = Callable[[Request], Reply]
