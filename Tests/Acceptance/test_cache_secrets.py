"""What stays off the disk: secrets of requests and of responses (HC-07, HK-04)."""

from __future__ import annotations

import pytest
from conftest import StartDaemon
from harness.caches import SESSION, cache, entries, get
from harness.daemon import Daemon
from harness.waiting import eventually
from harness.wire import Wire
from origins.pages import MAX_AGE, Page
from origins.scripted import ScriptedOrigin

SECRET = "secret-of-the-cache-7f3a"


def stored(wire: Wire, count: int) -> None:
    """Wait until so many entries are on disk."""
    eventually(lambda: sum(row["where"] == "disk" for row in entries(wire, session=SESSION)) >= count)


def found_on_disk(daemon: Daemon, words: list[bytes]) -> set[tuple[bytes, str]]:
    found = set()
    for path in (daemon.directory / "cache").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            found |= {(word, path.name) for word in words if word in content}
    return found


@pytest.mark.parametrize("disk_secrets", [False, True])
def test_hc_07_hk_04_secrets_stay_in_memory(start: StartDaemon, origin: ScriptedOrigin, disk_secrets: bool) -> None:
    daemon = start()
    bodies = [b"body-of-a-known-user", b"body-with-a-cookie", b"body-for-all"]
    known, cookie, open_page = (Page(origin, MAX_AGE, body=content) for content in bodies)
    cookie.fields["Set-Cookie"] = f"a={SECRET}-set"
    with daemon.wire() as wire:
        cache(wire, SESSION, disk_secrets=disk_secrets, coalesce=False)
        get(wire, open_page.url)
        stored(wire, 1)
        for _ in range(2):
            get(wire, known.url, headers={"Authorization": f"Bearer {SECRET}", "Cookie": f"b={SECRET}-sent"})
            get(wire, cookie.url)
            get(wire, open_page.url)
        assert (known.count, cookie.count, open_page.count) == (1, 1, 1)
        stored(wire, 3 if disk_secrets else 1)
    daemon.stop()
    words = [SECRET.encode(), b"-sent", *bodies]
    found = {word for word, _ in found_on_disk(daemon, words)}
    # What the origin said is stored, with `disk_secrets`; what the client sent never is.
    assert (b"body-of-a-known-user" in found, b"body-with-a-cookie" in found) == (disk_secrets, disk_secrets)
    assert b"body-for-all" in found
    assert b"-sent" not in found
    for path in (daemon.directory / "cache").rglob("*"):
        assert not path.is_file() or f"Bearer {SECRET}".encode() not in path.read_bytes(), path


def test_hk_05_values_of_fields_that_vary_are_not_readable(start: StartDaemon, origin: ScriptedOrigin) -> None:
    """A value that selects a response is hashed with the key of the store, which recognises it after a restart."""
    daemon = start()
    page = Page(origin, {**MAX_AGE, "Vary": "X-Variant"}, body=b"for one variant")
    headers = {"X-Variant": SECRET}
    for turn in range(2):
        with daemon.wire() as wire:
            cache(wire, SESSION, coalesce=False)
            get(wire, page.url, headers=headers)
            stored(wire, 1)
        daemon.stop()
        assert found_on_disk(daemon, [SECRET.encode()]) == set()
        assert page.count == 1, turn
        daemon = start()


def test_hk_04_another_key_and_another_cookie_are_other_callers(wire: Wire, origin: ScriptedOrigin) -> None:
    page = Page(origin, MAX_AGE, body=b"for one key")
    cache(wire, SESSION, coalesce=False)
    for key in ("one", "two", "one"):
        get(wire, page.url, headers={"X-Api-Key": key})
    assert page.count == 2
    jar = Page(origin, MAX_AGE, path="/jar", body=b"for one login")
    wire.call("session.create", name="jar", configuration={"cache": {}, "cookies": {}})
    for value in ("a", "b"):
        wire.call("cookies.set", session="jar", cookies=[{"name": "login", "value": value, "domain": "127.0.0.1"}])
        get(wire, jar.url, "jar")
    assert jar.count == 2
