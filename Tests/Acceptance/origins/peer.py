"""A peer of raw streams: a server over TCP or TLS that runs a test's function for each connection."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable
from typing import Any

from harness.waiting import join

from origins.authority import Certificate

Talk = Callable[[socket.socket], None]
# Starts a peer; returns the parameters of `stream.open` that reach it.
StartPeer = Callable[..., dict[str, Any]]


def echo(connection: socket.socket) -> None:
    """Send back what comes, and the end too."""
    while data := connection.recv(65_536):
        connection.sendall(data)


class Peer:
    """Listens on loopback; every connection has a thread of its own, and the given size of the receive buffer."""

    def __init__(
        self,
        talk: Talk = echo,
        certificate: Certificate | None = None,
        receive_bytes: int = 0,
        protocols: tuple[str, ...] = (),
    ) -> None:
        self._talk = talk
        self._context: ssl.SSLContext | None = None
        if certificate is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(certificate.chain, certificate.key)
            self._context.set_alpn_protocols(protocols)
        self._listener = socket.create_server(("127.0.0.1", 0))
        if receive_bytes:
            # Before a connection comes, which inherits it: the kernel does not let a fixed buffer grow.
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def stop(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        join(self._threads[:1])
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        join(self._threads)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._open.add(connection)
                self._threads.append(threading.Thread(target=self._serve, args=(connection,), daemon=True))
                self._threads[-1].start()

    def _serve(self, raw: socket.socket) -> None:
        connection = raw
        with contextlib.suppress(OSError):
            if self._context is not None:
                connection = self._context.wrap_socket(raw.dup(), server_side=True)
            self._talk(connection)
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()
        self._open.discard(raw)
        raw.close()
