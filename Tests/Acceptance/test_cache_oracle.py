"""Our shared cache and squid decide alike about the same random sequences of requests (RFC 9111)."""

from __future__ import annotations

import contextlib
import http.client
import os
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.cachejudge import Decision, Sequence, difference, sequences
from harness.caches import cache, connections
from harness.daemon import Daemon
from harness.process import persistently
from harness.waiting import PATIENCE_SECONDS
from origins.cachingsquid import CachingSquid
from origins.scripted import Exchange, ScriptedOrigin

COUNT = int(os.environ.get("CARPOOL_ORACLE_COUNT", "2000"))
SEED = int(os.environ.get("CARPOOL_ORACLE_SEED", "9111"))
LANES = 16


@pytest.fixture
def squid_cache() -> Iterator[CachingSquid]:
    # Its user must be able to enter the directory, which pytest makes for this user alone.
    with tempfile.TemporaryDirectory(prefix="squid-") as place:
        Path(place).chmod(0o755)
        proxy = persistently(lambda number: CachingSquid(Path(place) / f"squid{number}"))
        yield proxy
        proxy.stop()


class Script:
    """The origin of both: counts the requests of each cache for each sequence."""

    def __init__(self, origin: ScriptedOrigin, all_of_them: list[Sequence]) -> None:
        self._sequences = all_of_them
        self._seen: Counter[str] = Counter()
        self._now = time.time()
        self._url = origin.on("/o", self._answer)

    def url(self, cache_name: str, sequence: Sequence) -> str:
        return f"{self._url}?{cache_name}.{sequence.number}"

    def seen(self, cache_name: str, sequence: Sequence) -> int:
        return self._seen[f"{cache_name}.{sequence.number}"]

    def _answer(self, exchange: Exchange) -> None:
        name = exchange.request.target.partition("?")[2]
        self._seen[name] += 1
        answer = self._sequences[int(name.partition(".")[2])].answer
        fields = answer.fields(self._now)
        tags = ", ".join(exchange.request.values("If-None-Match"))
        if answer.tag is not None and answer.tag in tags:
            lines = "".join(f"{field}: {value}\r\n" for field, value in fields)
            exchange.send(f"HTTP/1.1 304 Not Modified\r\n{lines}\r\n".encode())
        else:
            exchange.reply(200, b"body", fields)


Decisions = dict[int, list[Decision]]


def ask_squid(squid: CachingSquid, script: Script, lane: list[Sequence], found: Decisions) -> None:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", squid.port, timeout=PATIENCE_SECONDS)) as proxy:
        for sequence in lane:
            for ask in sequence.asks:
                before = script.seen("squid", sequence)
                proxy.request(ask.method, script.url("squid", sequence), headers=ask.fields)
                response = proxy.getresponse()
                response.read()
                found[sequence.number].append(Decision(response.status, script.seen("squid", sequence) > before))


def ask_carpool(daemon: Daemon, script: Script, all_of_them: list[Sequence], found: Decisions) -> None:
    """Of each lane one sequence at a time, one request after the other; all lanes at once."""
    lanes = [
        [(sequence, ask) for sequence in all_of_them[lane::LANES] for ask in sequence.asks] for lane in range(LANES)
    ]
    with connections(daemon, LANES) as wires:
        for place in range(max(map(len, lanes))):
            waiting = []
            for wire, lane in zip(wires, lanes, strict=True):
                if place < len(lane):
                    sequence, ask = lane[place]
                    before = script.seen("carpool", sequence)
                    params = {"url": script.url("carpool", sequence), "method": ask.method, "session": "oracle"}
                    call = wire.request("request.perform", {**params, "headers": ask.fields})
                    waiting.append((wire, call, sequence, before))
            for wire, call, sequence, before in waiting:
                record = wire.result(call)
                assert record["outcome"]["ok"], record
                is_asked = script.seen("carpool", sequence) > before
                found[sequence.number].append(Decision(record["response"]["status"], is_asked))


def test_squid_and_carpool_decide_alike(daemon: Daemon, origin: ScriptedOrigin, squid_cache: CachingSquid) -> None:
    all_of_them = sequences(SEED, COUNT)
    script = Script(origin, all_of_them)
    theirs: Decisions = defaultdict(list)
    ours: Decisions = defaultdict(list)
    with daemon.wire() as wire:
        cache(wire, "oracle", mode="shared", heuristic=False, coalesce=False, disk_bytes=0)
    lanes = [all_of_them[lane::4] for lane in range(4)]
    threads = [
        threading.Thread(target=ask_squid, args=(squid_cache, script, lane, theirs), daemon=True) for lane in lanes
    ]
    for thread in threads:
        thread.start()
    ask_carpool(daemon, script, all_of_them, ours)
    for thread in threads:
        thread.join()
    rules: Counter[str] = Counter()
    unexplained = []
    for sequence in all_of_them:
        assert len(theirs[sequence.number]) == len(ours[sequence.number]) == len(sequence.asks)
        rule = difference(sequence, ours[sequence.number], theirs[sequence.number])
        rules["alike" if rule is None else rule] += 1
        if rule == "":
            unexplained.append((sequence, ours[sequence.number], theirs[sequence.number]))
    print(f"seed {SEED}: {dict(rules)}")
    assert not unexplained, f"seed {SEED}, {len(unexplained)} of {COUNT}: {unexplained[:3]}"
    assert rules["alike"] > COUNT * 0.98
