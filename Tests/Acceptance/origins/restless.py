"""Origins whose answers are drawn at random from all that can cause a further request."""

from __future__ import annotations

import random
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable

import hpack

from origins import frames as h2
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
PROTOCOL_ERROR, CANCEL = 1, 8
MAX_CONCURRENT_STREAMS = 3
NO_STREAMS = h2.frame(h2.SETTINGS, 0, 0, struct.pack(">HI", MAX_CONCURRENT_STREAMS, 0))
FIELDS = {401: "WWW-Authenticate", 407: "Proxy-Authenticate"}


class Dice:
    """Draws answers by the seed and the path, so that a failure can be repeated."""

    def __init__(self, seed: int, answers: list[str]) -> None:
        self.received: Counter[str] = Counter()
        """How many requests came for each path."""
        self.released = threading.Event()
        self._seed = seed
        self._answers = answers
        self._random: dict[str, random.Random] = {}
        self._lock = threading.Lock()

    def draw(self, path: str) -> tuple[str, int, str]:
        """Return an answer, the status of a challenge, and a nonce. A path prefers three of the answers, so that loops
        of one or two kinds occur."""
        with self._lock:
            self.received[path] += 1
            dice = self._random.setdefault(path, random.Random(f"{self._seed} {path}"))
            favourites = random.Random(f"{self._seed} favourites of {path}").choices(self._answers, k=3)
            answer = dice.choice([*favourites * 8, *self._answers])
            return answer, dice.choice([401, 407]), f"n{dice.getrandbits(64):x}"


class Restless(Dice):
    """A handler of HTTP/1.1, as an origin and as the proxy before it."""

    def __init__(self, seed: int) -> None:
        self._special: dict[str, Handler] = {
            "itself": redirect_to_itself,
            "103": early_hints,
            "reset": lambda exchange: exchange.reset(),
            "close": lambda exchange: exchange.close(),
            "cut": cut,
            "hang": self._hang,
            "slow": self._slow,
        }
        super().__init__(seed, [*CHALLENGES, *self._special, *STATUSES])

    def __call__(self, exchange: Exchange) -> None:
        answer, status, nonce = self.draw(exchange.request.target)
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


class RestlessFrames(Dice):
    """What a peer of HTTP/2 does with each of its connections."""

    def __init__(self, seed: int) -> None:
        self._special: dict[str, Callable[[int], bytes]] = {
            "refused": lambda stream: h2.reset(stream, h2.REFUSED_STREAM),
            "cancelled": lambda stream: h2.reset(stream, CANCEL),
            "broken": lambda stream: h2.reset(stream, PROTOCOL_ERROR),
            "leaving": lambda stream: h2.goaway(0),
            "hang": lambda stream: b"",
            "no streams": lambda stream: NO_STREAMS,
            "invalid": lambda stream: h2.frame(h2.DATA, 0, 0, b"x"),
        }
        super().__init__(seed, [*CHALLENGES, *self._special, "itself", "cut", *STATUSES])

    def __call__(self, connection: socket.socket) -> None:
        connection.sendall(h2.frame(h2.SETTINGS, 0, 0, h2.MANY_STREAMS))
        h2.read_exactly(connection, h2.PREFACE_BYTES)
        decoder, encoder = hpack.Decoder(), hpack.Encoder()
        while not self.released.is_set():
            kind, flags, stream, payload = h2.read(connection)
            if kind == h2.SETTINGS and not flags & h2.ACKNOWLEDGED:
                connection.sendall(h2.frame(h2.SETTINGS, h2.ACKNOWLEDGED, 0))
            elif kind == h2.DATA and payload:
                connection.sendall(h2.frame(h2.WINDOW_UPDATE, 0, 0, struct.pack(">I", len(payload))))
            elif kind == h2.HEADERS:
                block = payload[5:] if flags & h2.PRIORITY else payload
                path = dict(decoder.decode(block, raw=True))[b":path"].decode()
                connection.sendall(self._answer(stream, path, encoder))

    def _answer(self, stream: int, path: str, encoder: hpack.Encoder) -> bytes:
        answer, status, nonce = self.draw(path)
        if answer in self._special:
            return self._special[answer](stream)
        fields, body = [(":status", "200")], b""
        if answer in CHALLENGES:
            # A challenge of a proxy is one of a gateway here, which is no proxy of the client.
            name = FIELDS[status].lower()
            fields = [(":status", str(status)), *((name, text.format(nonce)) for text in CHALLENGES[answer])]
        elif answer == "itself":
            fields = [(":status", "307"), ("location", path)]
        elif answer == "cut":
            fields, body = [*fields, ("content-length", "100")], b"cut"
        else:
            fields = [(":status", answer), *((name.lower(), text) for name, text in HEADERS.get(answer, []))]
        block = encoder.encode(fields)
        head = h2.frame(h2.HEADERS, h2.END_HEADERS, stream, block)
        return head + h2.frame(h2.DATA, h2.END_STREAM, stream, body)
