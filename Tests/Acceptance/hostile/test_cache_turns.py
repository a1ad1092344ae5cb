"""The cache under load and with hostile answers: no turn takes long, and one user costs another nothing."""

from __future__ import annotations

import itertools
import json
import random
import threading

import pytest
from conftest import StartDaemon
from harness.caches import SESSION, cache, connections, entries, get, statistics, text, told
from harness.calls import line, send_and_read
from harness.daemon import Daemon
from harness.gauge import bounded_turns
from harness.users import NOBODY, as_root, wire_as
from harness.waiting import PATIENCE_SECONDS, eventually
from harness.wire import Wire
from origins.pages import MAX_AGE, Page
from origins.scripted import Exchange, ScriptedOrigin

MANY = 16_000
"""Entries of the least size, most of which fit the memory."""
KIB = 1 << 10
EACH = 250
"""Requests under way of one connection, which may have 256."""


def fill(wire: Wire, origin: ScriptedOrigin, count: int, **params: object) -> None:
    """Store so many entries of a few bytes."""
    origin.on("/fill", lambda exchange: exchange.reply(body=b"x", headers=[("Cache-Control", "max-age=3600")]))
    for first in range(0, count, 200):
        calls = [
            line("request.perform", number, url=f"{origin.url}/fill?{number}", session=SESSION, **params)
            for number in range(first, min(count, first + 200))
        ]
        send_and_read(wire, b"".join(calls), len(calls))


@pytest.mark.parametrize("settings", [{"disk_bytes": 0}, {}], ids=["memory", "disk"])
def test_lists_and_purges_of_thousands_of_entries(
    daemon: Daemon, wire: Wire, origin: ScriptedOrigin, settings: dict[str, int]
) -> None:
    cache(wire, SESSION, coalesce=False, **settings)
    with bounded_turns(daemon):
        fill(wire, origin, MANY)
        eventually(lambda: statistics(wire)["entries"] >= MANY // 2)
        for _ in range(20):
            wire.call("cache.list", limit=1_000)
            wire.call("cache.list", url=f"{origin.url}/nothing")
        assert wire.call("cache.purge", older_than_ms=3_600_000)["purged"] == 0
        assert wire.call("cache.purge", prefix=f"{origin.url}/fill?1", soft=True)["purged"] > 1_000
        assert wire.call("cache.purge", all=True)["purged"] >= MANY // 2
        assert statistics(wire)["entries"] == 0


def test_ten_thousand_variants_of_one_url(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire, SESSION, coalesce=False)
    page = Page(origin, {**MAX_AGE, "Vary": "X-A"})
    with bounded_turns(daemon):
        for first in range(0, 10_000, 200):
            calls = [
                line("request.perform", number, url=page.url, session=SESSION, headers={"X-A": f"{number}" * 20})
                for number in range(first, first + 200)
            ]
            send_and_read(wire, b"".join(calls), len(calls))
    assert len(entries(wire, session=SESSION)) <= 16


def _vary(_: random.Random) -> tuple[str, str]:
    return "Vary", ", ".join(f"X-{number}" for number in range(8_000))


def _commas(_: random.Random) -> tuple[str, str]:
    return "Vary", "," * 60 * KIB


def _control(_: random.Random) -> tuple[str, str]:
    return "Cache-Control", ", ".join(["max-age=3600"] * 4_000)


def _quotes(_: random.Random) -> tuple[str, str]:
    return "Cache-Control", 'max-age=3600, a="' + '\\"' * 20_000


def _age(_: random.Random) -> tuple[str, str]:
    return "Age", "0, " * 20_000


def _expires(_: random.Random) -> tuple[str, str]:
    return "Expires", "Tue, " * 12_000


def _tag(_: random.Random) -> tuple[str, str]:
    return "ETag", '"' + "x" * 60 * KIB + '"'


def _noise(dice: random.Random) -> tuple[str, str]:
    letters = [chr(code) for code in range(33, 127)]
    return "Cache-Control", "".join(dice.choices(letters, k=60 * KIB))


@pytest.mark.parametrize("make", [_vary, _commas, _control, _quotes, _age, _expires, _tag, _noise])
def test_fields_of_sixty_kibibytes(daemon: Daemon, wire: Wire, origin: ScriptedOrigin, make: object) -> None:
    assert callable(make)
    name, value = make(random.Random(1))
    fields = [("Cache-Control", "max-age=3600")] if name != "Cache-Control" else []

    def answer(exchange: Exchange) -> None:
        exchange.reply(body=b"body", headers=[*fields, (name, value)])

    url = origin.on("/large", answer)
    cache(wire, SESSION)
    headers = {f"X-{number}": "a" * 40 for number in range(500)}
    with bounded_turns(daemon):
        for _ in range(20):
            assert get(wire, url, headers=headers)["body"]["size_bytes"] == 4
            get(wire, url, headers={**headers, "If-None-Match": value[:8_000]} if name == "ETag" else headers)
            wire.call("cache.get", url=url, session=SESSION)


def test_many_wait_for_one_and_leave_at_once(daemon: Daemon, origin: ScriptedOrigin) -> None:
    with daemon.wire() as wire:
        cache(wire, SESSION, coalesce_wait_ms=60_000)
        gate = origin.hold("/held")
        params = {"url": f"{origin.url}/held", "session": SESSION}
        calls = b"".join(line("request.perform", number, **params) for number in range(EACH))
        with bounded_turns(daemon):
            with connections(daemon, 4) as crowd:
                for each in crowd:
                    each.send_bytes(calls)
                eventually(lambda: statistics(wire)["counters"]["waits"] >= 4 * EACH - 1)
            eventually(daemon.is_idle)
            # And once more until the end: the response cannot be shared, so that each is sent.
            with connections(daemon, 4) as crowd:
                for each in crowd:
                    each.send_bytes(calls)
                eventually(lambda: statistics(wire)["counters"]["waits"] >= 8 * EACH - 2)
                gate.set()
                for each in crowd:
                    for _ in range(EACH):
                        assert text(json.loads(each.receive_bytes())["result"]) == "released"


CROWD = 16
"""Connections with `EACH` requests."""


@pytest.mark.parametrize("end", ["reset", "304", "304 no-store", "500", "large head"])
def test_thousands_wait_for_one_that_ends(daemon: Daemon, origin: ScriptedOrigin, end: str) -> None:
    """The end of the request for which 4,000 wait takes no long turn, whatever it is."""
    gate = threading.Event()
    count = itertools.count()
    fields = [("Cache-Control", "max-age=0, stale-if-error=600"), ("ETag", '"1"')]

    def answer(exchange: Exchange) -> None:
        if next(count) == 0:
            return exchange.reply(body=b"stored", headers=fields)
        gate.wait(PATIENCE_SECONDS)
        if end == "reset":
            return exchange.reset()
        if end.startswith("304"):
            control = "no-store" if "no-store" in end else "max-age=600"
            return exchange.send(f'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\nCache-Control: {control}\r\n\r\n'.encode())
        if end == "500":
            return exchange.reply(500)
        return exchange.reply(
            body=b"new", headers=[("Cache-Control", "max-age=600"), *((f"X-{n}", "a" * 40) for n in range(900))]
        )

    url = origin.on("/crowd", answer)
    with daemon.wire() as wire:
        cache(wire, SESSION, coalesce_wait_ms=60_000)
        get(wire, url)
        calls = b"".join(line("request.perform", number, url=url, session=SESSION) for number in range(EACH))
        with bounded_turns(daemon), connections(daemon, CROWD) as crowd:
            for each in crowd:
                each.send_bytes(calls)
            eventually(lambda: statistics(wire)["counters"]["waits"] >= CROWD * EACH - 1)
            gate.set()
            for each in crowd:
                for _ in range(EACH):
                    assert "result" in json.loads(each.receive_bytes())
    if end == "500":
        # Each gets the stale response, and the origin is not asked by each of them.
        assert next(count) == 2


@as_root
def test_a_greedy_user_evicts_nothing_of_another(start: StartDaemon, origin: ScriptedOrigin) -> None:
    config = {"access": {"uids": {str(NOBODY): "submit"}}, "limits": {"cache_memory_bytes": 1 << 20}}
    daemon = start(config=config)
    daemon.directory.chmod(0o755)
    own = [Page(origin, MAX_AGE, body=b"x" * 20_000) for _ in range(10)]
    with daemon.wire() as modest, wire_as(NOBODY, daemon.socket) as greedy:
        for wire in (modest, greedy):
            cache(wire, SESSION, disk_bytes=0, coalesce=False)
        for page in own:
            get(modest, page.url)
        for number in range(100):
            get(greedy, Page(origin, MAX_AGE, body=b"y" * 40_000, path=f"/greedy/{number}").url)
        assert {told(get(modest, page.url))[0] for page in own} == {"hit"}
        assert statistics(greedy)["counters"]["evicted"] > 50
        assert statistics(modest)["counters"]["evicted"] == 0
