"""A path that fails a given number of times, and records when its requests came."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable

from origins.scripted import Exchange, ScriptedOrigin


class FailingPath:
    """Answers with the given statuses in turn and repeats the last; 0 breaks the connection inside the body."""

    def __init__(
        self,
        origin: ScriptedOrigin,
        *statuses: int,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes = b"",
        path: str = "/failing",
    ) -> None:
        self._statuses = itertools.chain(statuses, itertools.repeat(statuses[-1]))
        self._headers = list(headers)
        self._body = body
        self._arrivals: list[float] = []
        self.url = origin.on(path, self._answer)

    def _answer(self, exchange: Exchange) -> None:
        self._arrivals.append(time.monotonic())
        if status := next(self._statuses):
            exchange.reply(status, self._body, self._headers)
        else:
            exchange.reply(body=b"cut", length=100)
            exchange.close()

    @property
    def hits(self) -> int:
        """The number of requests so far."""
        return len(self._arrivals)

    @property
    def gaps_ms(self) -> list[float]:
        """The times between one arrival and the next."""
        return [(after - before) * 1000 for before, after in itertools.pairwise(self._arrivals)]
