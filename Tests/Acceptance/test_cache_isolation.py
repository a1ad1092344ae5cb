"""Who sees a stored response: users, sessions, credentials, trust, decoding (HK-02 to HK-06)."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import StartDaemon
from harness.caches import SESSION, cache, entries, failure, get, refusal, text, told
from harness.daemon import Daemon
from harness.users import NOBODY, as_root, wire_as
from harness.waiting import eventually
from harness.wire import Wire
from origins.authority import Authority
from origins.pages import MAX_AGE, Page
from origins.scripted import Exchange, ScriptedOrigin

DISABLED = {"evaluators": {"*": "disabled"}}


@pytest.fixture
def secure(authority: Authority) -> Iterator[ScriptedOrigin]:
    origin = ScriptedOrigin(authority.issue("cache-origin"))
    yield origin
    origin.stop()


@as_root
@pytest.mark.parametrize("settings", [{}, {"store": "common"}], ids=["own", "shared"])
def test_hk_03_another_user_sees_nothing(start: StartDaemon, origin: ScriptedOrigin, settings: dict[str, Any]) -> None:
    daemon = start(config={"access": {"uids": {str(NOBODY): "submit"}}})
    daemon.directory.chmod(0o755)
    page, theirs = Page(origin, MAX_AGE), Page(origin, MAX_AGE)
    with daemon.wire() as owner, wire_as(NOBODY, daemon.socket) as other:
        for wire in (owner, other):
            cache(wire, SESSION, coalesce=False, **settings)
        get(owner, page.url)
        assert entries(other) == []
        assert [each for each in other.call("cache.stats")["stores"] if each["entries"]] == []
        assert told(get(other, page.url, cache="return_cache_else_load")) == ("miss", "not_stored")
        assert page.count == 2
        get(other, theirs.url)
        # A purge of all takes one's own.
        assert other.call("cache.purge", all=True)["purged"] == 2
        assert text(get(owner, page.url)) == "1"
        # Nor a transfer that is under way, in sessions that make identical requests one.
        gate = origin.hold("/held")
        for wire in (owner, other):
            cache(wire, "flights")
        params = {"url": f"{origin.url}/held", "session": "flights"}
        calls = [(wire, wire.request("request.perform", params)) for wire in (owner, other)]
        origin.received(2, "/held")
        gate.set()
        for wire, call in calls:
            wire.result(call)


@as_root
def test_the_role_observe_sees_counts_alone(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start(config={"access": {"uids": {str(NOBODY): "observe"}}})
    daemon.directory.chmod(0o755)
    with wire_as(NOBODY, daemon.socket) as other:
        other.call("cache.stats")
        for method, params in (("cache.list", {}), ("cache.get", {"url": origin.url}), ("cache.purge", {"all": True})):
            assert refusal(other, method, **params)[0] == 1005, method


def test_hk_03_sessions_are_apart_unless_they_name_a_store(wire: Wire, origin: ScriptedOrigin) -> None:
    page = Page(origin, MAX_AGE)
    for name, settings in (("a", {}), ("b", {}), ("c", {"store": "s"}), ("d", {"store": "s"})):
        cache(wire, name, coalesce=False, **settings)
        get(wire, page.url, name)
    assert page.count == 3
    stores = {each["store"]: each for each in wire.call("cache.stats")["stores"]}
    assert (stores["s"]["shared"], stores["a"]["shared"]) == (True, False)
    assert wire.call("cache.purge", all=True, store="s")["purged"] == 1
    assert [told(get(wire, page.url, name))[0] for name in ("a", "b", "c")] == ["hit", "hit", "miss"]


CREDENTIALS = [
    # Fields of the first and the second request, and whether the second is served from the entry of the first.
    ({"Authorization": "a"}, {"Authorization": "a"}, True),
    ({"Authorization": "a"}, {"Authorization": "b"}, False),
    ({"Authorization": "a"}, {}, False),
    ({}, {"Authorization": "a"}, False),
    ({"Cookie": "a=1"}, {"Cookie": "a=1"}, True),
    ({"Cookie": "a=1"}, {"Cookie": "a=2"}, False),
    ({"Cookie": "a=1"}, {}, False),
    ({}, {"Cookie": "a=1"}, True),
    ({"Authorization": "a", "Cookie": "b"}, {"Authorization": "a"}, False),
]


@pytest.mark.parametrize(("first", "second", "is_hit"), CREDENTIALS, ids=str)
@pytest.mark.parametrize("policy", ["use_protocol", "return_cache_else_load"])
def test_hk_04_credentials(
    wire: Wire, origin: ScriptedOrigin, first: dict[str, str], second: dict[str, str], is_hit: bool, policy: str
) -> None:
    cache(wire, disk_bytes=0, coalesce=False)
    page = Page(origin, MAX_AGE)
    get(wire, page.url, headers=first)
    record = get(wire, page.url, headers=second, cache=policy)
    assert (page.count == 1) is is_hit
    if not is_hit and first:
        assert told(record)[1] == "credentials"


def test_hk_04_the_fields_of_a_session_count(wire: Wire, origin: ScriptedOrigin) -> None:
    """Two sessions with one store and different users: neither sees what the other was sent."""
    page = Page(origin, MAX_AGE)
    settings = {"store": "common", "coalesce": False, "disk_bytes": 0}
    for name in ("ada", "bob"):
        cache(wire, name, {"headers": {"Authorization": f"Bearer {name}"}}, **settings)
    cache(wire, "none", None, **settings)
    names = ["ada", "bob", "none"] * 2
    assert [text(get(wire, page.url, name)) for name in names] == ["1", "2", "3"] * 2


@pytest.mark.parametrize("name", ["Set-Cookie", "Vary"])
def test_hk_04_a_jar_and_a_stored_response(wire: Wire, origin: ScriptedOrigin, name: str) -> None:
    """A cookie of the session's jar is no credential of the caller; `Vary: Cookie` makes variants of it."""
    cache(wire, SESSION, {"cookies": {}}, coalesce=False)
    page = Page(origin, {**MAX_AGE, name: "a=1; Path=/" if name == "Set-Cookie" else "Cookie"})
    setter = Page(origin, {"Set-Cookie": "b=1; Path=/"})
    get(wire, page.url)
    get(wire, setter.url)
    get(wire, page.url)
    assert page.count == (1 if name == "Set-Cookie" else 2)


def test_hk_02_what_was_got_without_verification_is_never_served_to_one_who_verifies(
    wire: Wire, secure: ScriptedOrigin, authority: Authority
) -> None:
    page = Page(secure, MAX_AGE)
    trusting = {"ca_file": str(authority.ca_file)}
    cache(wire, coalesce=False)
    assert text(get(wire, page.url, trust=DISABLED)) == "1"
    assert failure(get(wire, page.url)) != ""
    assert page.count == 1
    assert text(get(wire, page.url, trust=trusting)) == "2"
    for trust, body in ((trusting, "2"), (DISABLED, "1")):
        assert text(get(wire, page.url, trust=trust)) == body
    assert failure(get(wire, page.url, cache="return_cache_dont_load"))


def test_hk_02_addresses_are_part_of_the_key(wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire, coalesce=False)
    page = Page(origin, MAX_AGE)
    url = f"http://key.example:{origin.port}{page.path}"
    for _ in range(2):
        assert text(get(wire, url, addresses={"resolve": [f"*:{origin.port}:127.0.0.1"]})) == "1"
    assert page.count == 1
    # Nobody listens there.
    assert failure(get(wire, url, addresses={"resolve": [f"*:{origin.port}:127.0.0.2"]}))


def test_hk_06_the_other_decode_is_a_miss(wire: Wire, origin: ScriptedOrigin) -> None:
    content = gzip.compress(b"hello" * 100)
    fields = [("Cache-Control", "max-age=3600"), ("Content-Encoding", "gzip"), ("Content-Type", "text/plain")]
    url = origin.on("/gzip", lambda exchange: Exchange.reply(exchange, 200, content, fields))
    cache(wire, coalesce=False)
    for decode in (True, False, True, False):
        record = get(wire, url, decode=decode)
        assert record["body"]["size_bytes"] == (500 if decode else len(content))
    assert len(origin.requests) == 2


def test_a_store_is_not_known_before_its_session(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    cache(wire, "late")
    page = Page(origin, MAX_AGE)
    get(wire, page.url, "late")
    wire.call("session.invalidate", session="late")
    eventually(daemon.is_idle)
    assert refusal(wire, "cache.get", url=page.url, session="late")[0] == 1107
