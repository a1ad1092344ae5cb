"""Answers of each size, to bodies that are sent in each way, by each client: all bytes arrive, in both directions."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import random
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import carpool
import httpx
import pytest
import requests
from carpool.httpx import AsyncCarpoolTransport, CarpoolTransport
from carpool.requests import CarpoolAdapter
from carpool.testing import FakeDaemon, Reply
from harness.daemon import Daemon
from loops import LOOPS, running_on
from origins.scripted import ScriptedOrigin

# Around the most bytes that a record has in itself, 45,056, and those of an adapter's pipe.
SIZES = [0, 1_000, 44_000, 46_000, 140_000, 3_000_000]
ANSWERS = {size: random.Random(size).randbytes(size) for size in SIZES}
BODY = random.Random(5).randbytes(70_000)

Received = list[bytes]
Send = Callable[[str, dict[str, Any]], Any]


def pieces() -> Iterator[bytes]:
    for start in range(0, len(BODY), 10_001):
        yield BODY[start : start + 10_001]


async def async_pieces() -> AsyncIterator[bytes]:
    for piece in pieces():
        yield piece


def argument(name: str, made: Callable[[], Any]) -> dict[str, Any]:
    return {name: made()}


class Ways:
    """The ways of sending a body: functions that make the arguments of a request."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "body"
        self.path.write_bytes(BODY)
        self._opened = contextlib.ExitStack()

    def close(self) -> None:
        self._opened.close()

    def _file(self) -> Any:
        return self._opened.enter_context(self.path.open("rb"))

    def _descriptor(self) -> Any:
        """Return the end of a pipe, into which a thread writes."""
        reading, writing = os.pipe()

        def write() -> None:
            with os.fdopen(writing, "wb") as file:
                file.write(BODY)

        threading.Thread(target=write, daemon=True).start()
        return self._opened.enter_context(os.fdopen(reading, "rb"))

    def of(self, kind: str) -> dict[str, Callable[[], dict[str, Any]]]:
        """Return the ways that a client of this kind has."""
        raw = "content" if kind.startswith("httpx") else "data"
        streams: dict[str, Callable[[], Any]] = {"async generator": async_pieces}
        if kind != "httpx-async":
            # An asynchronous client of httpx takes no others.
            streams = {"file": self._file, "BytesIO": lambda: io.BytesIO(BODY), "descriptor": self._descriptor}
            streams["generator"] = pieces
        if kind == "httpx":
            # httpx takes the size of a pipe, which is 0, for the length of the body.
            del streams["descriptor"]
        if kind in {"sync", "async"}:
            streams |= {"Path": lambda: self.path, "list": lambda: list(pieces())}
        if kind == "async":
            streams["async generator"] = async_pieces
        return {
            **{name: functools.partial(argument, raw, made) for name, made in streams.items()},
            "bytes": lambda: {raw: BODY},
            "text": lambda: {raw: "é" * 40_000},
            "nothing": dict,
            "form": lambda: {"data": {"a": "b" * 1_000}},
            "JSON": lambda: {"json": {"a": "b" * 60_000}},
            "files": lambda: {"files": {"a": ("name", BODY)}},
            "multipart": lambda: {"data": {"a": "b"}, "files": {"c": self._file()}},
        }


def sent(way: str, received: bytes) -> bool:
    """Whether a server has received the body of a way."""
    match way:
        case "nothing":
            return received == b""
        case "text":
            return received == "é".encode() * 40_000
        case "form":
            return received == b"a=" + b"b" * 1_000
        case "JSON":
            return b"b" * 60_000 in received
        case "files" | "multipart":
            return BODY in received
    return received == BODY


def blocking(url: str, way: dict[str, Any]) -> Any:
    with carpool.Client() as client:
        return client.post(url, **way).content


def by_requests(url: str, way: dict[str, Any]) -> Any:
    with requests.Session() as session:
        session.mount("http://", CarpoolAdapter())
        return session.post(url, **way).content


def by_httpx(url: str, way: dict[str, Any]) -> bytes:
    with httpx.Client(transport=CarpoolTransport()) as client:
        return client.post(url, **way).content


async def asynchronous(url: str, way: dict[str, Any]) -> Any:
    async with carpool.AsyncClient() as client:
        return (await client.post(url, **way)).content


async def by_async_httpx(url: str, way: dict[str, Any]) -> bytes:
    async with httpx.AsyncClient(transport=AsyncCarpoolTransport()) as client:
        return (await client.post(url, **way)).content


def on(loop: str, send: Callable[..., Any]) -> Send:
    return lambda url, way: running_on(loop)(send(url, way))


SENDERS: dict[str, tuple[str, Send]] = {
    "Client": ("sync", blocking),
    "requests": ("requests", by_requests),
    "httpx": ("httpx", by_httpx),
    **{f"AsyncClient on {loop}": ("async", on(loop, asynchronous)) for loop in LOOPS},
    **{f"httpx on {loop}": ("httpx-async", on(loop, by_async_httpx)) for loop in LOOPS},
}


def check(folder: Path, sender: str, url: str, received: Received) -> None:
    """Send each body in each way for an answer of each size."""
    kind, send = SENDERS[sender]
    wrong = []
    with contextlib.closing(Ways(folder)) as ways:
        for size, answer in ANSWERS.items():
            for way, arguments in ways.of(kind).items():
                content = send(f"{url}{size}", arguments())
                if content != answer or not sent(way, received[-1]):
                    wrong.append(f"{way}: {len(received[-1])} bytes arrived, and {len(content)} of {size} came back")
    assert wrong == []


@pytest.mark.parametrize("sender", SENDERS)
def test_every_answer_to_every_way_of_sending_is_whole(
    daemon: Daemon, origin: ScriptedOrigin, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sender: str
) -> None:
    monkeypatch.setenv("CARPOOL_SOCKET", str(daemon.socket))
    received: Received = []
    for size in SIZES:

        def handler(exchange: Any, size: int = size) -> None:
            received.append(exchange.request.body)
            exchange.reply(body=ANSWERS[size])

        origin.on(f"/{size}", handler)
    check(tmp_path, sender, f"{origin.url}/", received)
    assert daemon.spooled() == []


@pytest.mark.parametrize("sender", SENDERS)
def test_the_fake_daemon_answers_every_way_of_sending(tmp_path: Path, sender: str) -> None:
    received: Received = []

    def reply(request: Any) -> Reply:
        received.append(request.content)
        return Reply(content=ANSWERS[int(request.url.rpartition("/")[2])])

    with FakeDaemon() as fake:
        fake.route("POST", re.compile("http://fake.example/"), reply)
        check(tmp_path, sender, "http://fake.example/", received)
        assert list(Path(fake.folder).iterdir()) == [Path(fake.socket)]
