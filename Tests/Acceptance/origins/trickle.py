"""An answer that the test sends piece by piece."""

from __future__ import annotations

import threading

from harness.waiting import PATIENCE_SECONDS

from origins.scripted import Exchange, GoneError, ScriptedOrigin

_END = b"0\r\n\r\n"


class Trickle:
    """An answer in chunks, each sent by a call of the test."""

    def __init__(self, origin: ScriptedOrigin, path: str = "/trickle", status: int = 200) -> None:
        self._pieces: list[bytes | None] = []
        self._changed = threading.Condition()
        self._status = status
        self.url = origin.on(path, self._serve)

    def send(self, piece: bytes) -> None:
        self._add(b"%x\r\n%s\r\n" % (len(piece), piece))

    def end(self) -> None:
        self._add(_END)

    def cut(self) -> None:
        """Break the connection in the middle."""
        self._add(None)

    def _add(self, piece: bytes | None) -> None:
        with self._changed:
            self._pieces.append(piece)
            self._changed.notify()

    def _serve(self, exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 %d Reason\r\nTransfer-Encoding: chunked\r\n\r\n" % self._status)
        while True:
            with self._changed:
                if not self._changed.wait_for(lambda: self._pieces, PATIENCE_SECONDS):
                    raise GoneError
                piece = self._pieces.pop(0)
            if piece is None:
                exchange.reset()
            assert piece is not None
            exchange.send(piece)
            if piece == _END:
                return
