"""An origin, and the proxy before it, whose answers are drawn at random from all that can cause a further request."""

from __future__ import annotations

import random
import threading
from collections import Counter

from origins.scripted import Exchange, Handler

DIGEST = 'Digest realm="r", qop="auth", nonce="{}"'
CHALLENGES = {
    "basic": ['Basic realm="r"'],
    "digest": [DIGEST],
    "sha256": [DIGEST + ", algorithm=SHA-256"],
    "stale": [DIGEST + ", stale=true"],
    "both": [DIGEST, 'Basic realm="r"'],
    "realms": ['Basic realm="{}"'],
}
HEADERS = {"429": [("Retry-After", "0")], "503": [("Retry-After", "0")]}
STATUSES = ["200", "304", "417", "421", "425", "429", "503"]
HANG_SECONDS = 3.0
FIELDS = {401: "WWW-Authenticate", 407: "Proxy-Authenticate"}


class Restless:
    """A handler. Answers to a request are drawn by the seed and its path, so that a failure can be repeated."""

    def __init__(self, seed: int) -> None:
        self.received: Counter[str] = Counter()
        """How many requests came for each path."""
        self._seed = seed
        self._random: dict[str, random.Random] = {}
        self._lock = threading.Lock()
        self.released = threading.Event()
        self._special: dict[str, Handler] = {
            "itself": redirect_to_itself,
            "103": early_hints,
            "reset": lambda exchange: exchange.reset(),
            "close": lambda exchange: exchange.close(),
            "cut": cut,
            "hang": self._hang,
            "slow": self._slow,
        }
        self._answers = [*CHALLENGES, *self._special, *STATUSES]

    def __call__(self, exchange: Exchange) -> None:
        path = exchange.request.target
        with self._lock:
            self.received[path] += 1
            dice = self._random.setdefault(path, random.Random(f"{self._seed} {path}"))
            # A path prefers a few answers, so that loops of one or two kinds come about.
            favourites = random.Random(f"{self._seed} favourites of {path}").choices(self._answers, k=3)
            answer = dice.choice([*favourites * 8, *self._answers])
            nonce = f"n{dice.getrandbits(64):x}"
            status = dice.choice([401, 407])
        if answer in CHALLENGES:
            exchange.reply(status, b"no", [(FIELDS[status], text.format(nonce)) for text in CHALLENGES[answer]])
        elif answer in self._special:
            self._special[answer](exchange)
        else:
            exchange.reply(int(answer), b"" if answer == "304" else b"no", HEADERS.get(answer, ()))

    def _hang(self, exchange: Exchange) -> None:
        self.released.wait(HANG_SECONDS)
        exchange.close()

    def _slow(self, exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n")
        for _ in range(40):
            if self.released.wait(0.05):
                break
            exchange.send(b"x")
        exchange.close()


def early_hints(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
    exchange.reply(body=b"ok")


def cut(exchange: Exchange) -> None:
    exchange.reply(body=b"cut", length=100)
    exchange.close()


def redirect_to_itself(exchange: Exchange) -> None:
    exchange.reply(307, headers=[("Location", exchange.request.target)])
