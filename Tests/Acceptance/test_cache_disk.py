"""Stores on disk: restarts, ends at any point, full disks, and damage (HS-02 to HS-09, HC-07)."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.caches import SESSION, cache, entries, field, get, statistics, told
from harness.daemon import Daemon
from harness.users import as_root
from harness.waiting import eventually
from harness.wire import Wire
from origins.pages import MAX_AGE, Page
from origins.scripted import Exchange, ScriptedOrigin

SMALL, LARGE = 1_000, 100_000
KILLS = 25


def body(name: str, size: int) -> bytes:
    """Return the body of a page: each byte depends on its name."""
    seed = hashlib.sha256(name.encode()).digest()
    return (seed * (size // len(seed) + 1))[:size]


def page(origin: ScriptedOrigin, path: str, size: int = SMALL) -> Page:
    return Page(origin, MAX_AGE, path=path, body=body(path, size))


def fetch(wire: Wire, page: Page, **params: Any) -> str:
    """Fetch a page, check that it is whole, and return what the cache did."""
    assert page.body is not None
    record = get(wire, page.url, SESSION, sha256=True, **params)
    assert record["outcome"]["ok"], record
    assert record["body"]["sha256"] == hashlib.sha256(page.body).hexdigest(), page.path
    return told(record)[0]


def stored(wire: Wire, count: int) -> None:
    """Wait until so many entries are on disk."""
    eventually(lambda: sum(row["where"] == "disk" for row in entries(wire, session=SESSION)) >= count)


def folder(daemon: Daemon) -> Path:
    """Return the folder of the daemon's stores."""
    return next((daemon.directory / "cache" / "carpool").glob("responses*"))


def database(daemon: Daemon) -> Path:
    return next(iter(Path(daemon.directory / "cache").rglob("index.db")))


@pytest.fixture
def pages(origin: ScriptedOrigin) -> list[Page]:
    return [page(origin, f"/disk/{number}", SMALL if number % 2 else LARGE) for number in range(6)]


def filled(daemon: Daemon, pages: list[Page]) -> None:
    with daemon.wire() as wire:
        cache(wire, SESSION, coalesce=False)
        for each in pages:
            fetch(wire, each)
        stored(wire, len(pages))


def asked(daemon: Daemon, pages: list[Page]) -> int:
    """Fetch all pages from a daemon, and return for how many the origin was asked."""
    before = sum(each.count for each in pages)
    with daemon.wire() as wire:
        cache(wire, SESSION, coalesce=False)
        for each in pages:
            fetch(wire, each)
    return sum(each.count for each in pages) - before


# MARK: Restarts


def test_hs_02_entries_are_found_after_a_restart(start: StartDaemon, pages: list[Page]) -> None:
    daemon = start()
    filled(daemon, pages)
    daemon.stop()
    daemon = start()
    with daemon.wire() as wire:
        cache(wire, SESSION, coalesce=False)
        assert fetch(wire, pages[0]) == "hit"
        record = get(wire, pages[1].url)
        assert (told(record), field(record, "Cache-Control")) == (("hit", "fresh"), "max-age=3600")
    assert asked(daemon, pages) == 0


def test_a_purge_reaches_the_disk(start: StartDaemon, pages: list[Page]) -> None:
    daemon = start()
    filled(daemon, pages)
    with daemon.wire() as wire:
        assert wire.call("cache.purge", all=True)["purged"] == len(pages)
    daemon.stop()
    assert asked(start(), pages) == len(pages)


def test_the_session_may_be_made_again(daemon: Daemon, wire: Wire, pages: list[Page]) -> None:
    filled(daemon, pages)
    wire.call("session.invalidate", session=SESSION)
    assert asked(daemon, pages) == 0


@pytest.mark.parametrize("settings", [{"disk_bytes": 0}, {"more": {"ephemeral": True}}], ids=["memory", "ephemeral"])
def test_what_is_in_memory_is_gone(start: StartDaemon, pages: list[Page], settings: dict[str, Any]) -> None:
    daemon = start()
    more = settings.pop("more", None)
    with daemon.wire() as wire:
        cache(wire, SESSION, more, coalesce=False, **settings)
        for each in pages:
            fetch(wire, each)
            assert fetch(wire, each) == "hit"
        assert {row["where"] for row in entries(wire)} == {"memory"}
    daemon.stop()
    assert asked(start(), pages) == len(pages)


def test_hs_02_files_are_of_the_user_alone(daemon: Daemon, pages: list[Page]) -> None:
    filled(daemon, pages)
    place = folder(daemon)
    assert place.is_dir()
    found = list(place.rglob("*"))
    assert any(path.name == "index.db" for path in found)
    for path in found:
        assert path.stat().st_mode & 0o077 == 0, path


# MARK: Ends at any point


class Storer:
    """Fetches new pages as fast as it can until its daemon is gone."""

    def __init__(self, origin: ScriptedOrigin) -> None:
        self.origin = origin
        self.count = 0
        origin.on("/k", self._answer)

    def _answer(self, exchange: Exchange) -> None:
        exchange.reply(body=self.body(exchange.request.target), headers=[("Cache-Control", "max-age=3600")])

    def body(self, target: str) -> bytes:
        number = int(target.partition("?")[2])
        return body(target, 40_000 if number % 3 == 0 else 300 + number % 7_000)

    def store(self, daemon: Daemon, seconds: float) -> None:
        """Store until the daemon is killed after that time, several requests at a time."""
        with daemon.wire() as wire:
            cache(wire, SESSION)
            deadline = threading_timer(daemon, seconds)
            with contextlib.suppress(AssertionError, OSError, ValueError), deadline:
                while True:
                    for _ in range(8):
                        self.count += 1
                        wire.request("request.perform", url=self._url(self.count), session=SESSION)
                    for _ in range(8):
                        wire.receive()

    def _url(self, number: int) -> str:
        return f"{self.origin.url}/k?{number}"

    def check(self, daemon: Daemon, dice: random.Random) -> int:
        """Read entries of any time; each that is served is whole. Returns how many came from the store."""
        hits = 0
        with daemon.wire() as wire:
            cache(wire, SESSION)
            newest = range(max(1, self.count - 60), self.count + 1)
            oldest = dice.sample(range(1, self.count + 1), min(40, self.count))
            for number in {*newest, *oldest}:
                params = {"url": self._url(number), "session": SESSION, "sha256": True}
                record = wire.call("request.perform", **params, cache="return_cache_dont_load")
                if record["outcome"]["ok"]:
                    hits += 1
                    expected = hashlib.sha256(self.body(f"/k?{number}")).hexdigest()
                    assert record["body"]["sha256"] == expected, number
        return hits


@contextlib.contextmanager
def threading_timer(daemon: Daemon, seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, daemon.process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.join()
        daemon.kill()


def test_hs_08_a_daemon_that_is_killed_at_any_point_serves_no_wrong_byte(
    directory: Path, origin: ScriptedOrigin
) -> None:
    dice = random.Random(int(os.environ.get("CARPOOL_KILL_SEED", "8")))
    storer = Storer(origin)
    hits = 0
    for _ in range(int(os.environ.get("CARPOOL_KILLS", KILLS))):
        daemon = Daemon(directory)
        assert daemon.launch_status == "ready"
        storer.store(daemon, 0.05 + dice.random() * 0.25)
        daemon = Daemon(directory)
        hits += storer.check(daemon, dice)
        daemon.kill()
    assert storer.count > KILLS * 8
    assert hits > 0


# MARK: Damage


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def noise(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(path.stat().st_size))


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def of_another_version(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 999")
        connection.commit()


@pytest.mark.parametrize("damage", [truncated, noise, emptied, of_another_version])
def test_hs_05_an_index_that_is_damaged_begins_again(start: StartDaemon, pages: list[Page], damage: Any) -> None:
    daemon = start()
    filled(daemon, pages)
    path = database(daemon)
    daemon.stop()
    for other in path.parent.glob("index.db-*"):
        other.unlink()
    damage(path)
    daemon = start()
    assert asked(daemon, pages) == len(pages)
    with daemon.wire() as wire:
        stored(wire, 1)
    daemon.stop()
    # It is stored again, and found after another restart.
    assert asked(start(), pages) == 0


@pytest.mark.parametrize("how", ["flipped", "shorter", "gone"])
def test_hs_03_hs_04_a_body_that_is_damaged_is_never_served(start: StartDaemon, pages: list[Page], how: str) -> None:
    daemon = start()
    large = [each for each in pages if each.body and len(each.body) == LARGE]
    filled(daemon, large)
    bodies = [path for path in (database(daemon).parent / "body").rglob("*") if path.is_file()]
    assert len(bodies) == len(large)
    daemon.stop()
    for path in bodies:
        if how == "flipped":
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 1
            path.write_bytes(content)
        elif how == "shorter":
            os.truncate(path, LARGE - 1)
        else:
            path.unlink()
    daemon = start()
    with daemon.wire() as wire:
        cache(wire, SESSION, coalesce=False)
        for each in large:
            record = get(wire, each.url, SESSION, sha256=True)
            if not record["outcome"]["ok"]:
                # Part of a large body was delivered before its checksum was known.
                assert "corrupt" in record["outcome"]["error"]["name"]
                record = get(wire, each.url, SESSION, sha256=True)
            assert record["body"]["sha256"] == hashlib.sha256(each.body or b"").hexdigest()
            assert each.count == 2
        assert statistics(wire)["counters"]["corrupt"] == len(large)


def test_the_folder_is_removed_while_the_daemon_runs(daemon: Daemon, pages: list[Page]) -> None:
    filled(daemon, pages[:3])
    shutil.rmtree(folder(daemon))
    for _ in range(2):
        asked(daemon, pages)
    assert daemon.call("daemon.ping")["pong"]


@pytest.fixture
def full_disk(start: StartDaemon) -> Iterator[Path]:
    """A small file system in the place of the daemon's stores."""
    daemon = start()
    with daemon.wire() as wire:
        cache(wire, SESSION)
        eventually(lambda: list((daemon.directory / "cache" / "carpool").glob("responses*")))
    place = folder(daemon)
    daemon.stop()
    options = "size=512k,mode=700"
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], check=True, capture_output=True)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no file system may be mounted here: {error.stderr!r}")
    yield place
    # Its daemon ends later.
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@as_root
def test_hs_08_a_full_disk_turns_off_storing_and_no_request_fails(
    full_disk: Path, start: StartDaemon, origin: ScriptedOrigin
) -> None:
    daemon = start()
    assert folder(daemon) == full_disk
    many = [page(origin, f"/full/{number}", LARGE) for number in range(20)]
    with daemon.wire() as wire, daemon.wire() as listener:
        listener.call("events.subscribe", types=["cache.write_failed"])
        cache(wire, SESSION, coalesce=False)
        for each in many:
            assert fetch(wire, each) == "miss"
        event = listener.event("cache.write_failed")["data"]
        assert event["store"] == SESSION
        assert statistics(wire)["counters"]["write_failures"] >= 1
        assert {fetch(wire, each) for each in many} <= {"hit", "miss"}
        # One event a minute.
        assert listener.is_silent()


# MARK: Owners and sizes


def test_hs_09_a_second_daemon_has_memory_alone(start: StartDaemon, directory: Path, pages: list[Page]) -> None:
    first = start()
    filled(first, pages)
    place = folder(first)
    second = start(socket=directory / "other")
    asked(second, pages[:1])
    second.stop()
    # The folder of the second one, which has another socket, becomes that of the first.
    (own,) = [path for path in place.parent.glob("responses*") if path != place]
    shutil.rmtree(own)
    own.symlink_to(place)
    second = start(socket=directory / "other")
    for _ in range(2):
        asked(second, pages)
    with second.wire() as wire:
        assert {row["where"] for row in entries(wire)} <= {"memory"}
    assert asked(first, pages) == 0


def test_a_store_keeps_to_its_size(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire, SESSION, disk_bytes=1_000_000, max_entry_bytes=LARGE, coalesce=False)
    many = [page(origin, f"/size/{number}", LARGE) for number in range(30)]
    for each in many:
        fetch(wire, each)
    # Responses are saved after they are answered.
    eventually(lambda: statistics(wire)["counters"]["evicted"] > 0)
    eventually(lambda: statistics(wire)["disk_bytes"] <= 1_000_000)
    total = sum(path.stat().st_size for path in (database(daemon).parent / "body").rglob("*") if path.is_file())
    assert total <= 1_100_000
    assert fetch(wire, many[-1]) == "hit"
