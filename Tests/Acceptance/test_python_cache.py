"""The cache of the Python client: `cache=`, `response.cache`, `client.cache`, and handlers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import carpool
import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.waiting import eventually
from origins.scripted import ScriptedOrigin

FRESH = ("Cache-Control", "max-age=600")


@pytest.fixture
def daemon(start: StartDaemon) -> Daemon:
    return start(config={"cache": "use_protocol"})


@pytest.fixture
def client(daemon: Daemon, origin: ScriptedOrigin) -> Iterator[carpool.Client]:
    origin.on("/fresh", lambda exchange: exchange.reply(body=b"page", headers=[FRESH, ("Set-Cookie", "a=b")]))
    origin.on("/silent", lambda exchange: exchange.reply(body=b"page"))
    with daemon.client() as client:
        yield client


def test_a_response_says_what_the_cache_did(client: carpool.Client, origin: ScriptedOrigin) -> None:
    first, second = (client.get(f"{origin.url}/fresh").cache for _ in range(2))
    assert first is not None
    assert (first.status, first.forward, first.is_stored, first.is_from_store) == ("miss", "uri-miss", True, False)
    assert second is not None
    assert (second.status, second.reason, second.forward, second.is_from_store) == ("hit", "fresh", None, True)
    assert second.age is not None
    assert second.ttl is not None
    assert 0 <= second.age < 600
    assert 0 < second.ttl <= 600
    assert len(origin.requests) == 1


def test_a_call_has_a_policy(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = f"{origin.url}/silent"
    with pytest.raises(carpool.TransferError, match="resource_unavailable"):
        client.get(url, cache="return_cache_dont_load")
    client.get(url, cache={"ttl_ms": 60_000})
    assert client.get(url, cache="return_cache_dont_load").content == b"page"
    passed = client.get(url, cache="no_store").cache
    assert passed is not None
    assert (passed.status, passed.reason, passed.is_stored) == ("bypass", "policy", False)


def test_a_setting_of_a_store_belongs_to_a_session(client: carpool.Client, origin: ScriptedOrigin) -> None:
    with pytest.raises(carpool.InvalidParamsError, match="belongs to the `cache` of a session"):
        client.get(origin.url, cache={"store": "ours"})  # type: ignore[arg-type]


def test_sessions_share_a_store_by_its_name(client: carpool.Client, origin: ScriptedOrigin) -> None:
    shared: carpool.SessionOptions = {"cache": {"store": "ours", "disk_bytes": 0}}
    for name in ("one", "two"):
        client.create_session(name, shared)
    client.create_session("three", {"cache": {"disk_bytes": 0}})
    answers = [client.get(f"{origin.url}/fresh", session=name).cache for name in ("one", "two", "three")]
    assert [answer.status for answer in answers if answer is not None] == ["miss", "hit", "miss"]
    stores = {store["store"]: store["shared"] for store in client.cache.stats()}
    assert stores["ours"] is True
    assert stores["three"] is False


def test_stored_responses_are_listed_explained_and_removed(client: carpool.Client, origin: ScriptedOrigin) -> None:
    url = f"{origin.url}/fresh"
    assert client.cache.get(url)["would"] == "forward"
    client.get(url)
    assert [entry["url"] for entry in client.cache.entries()] == [url]
    assert list(client.cache.entries(f"{origin.url}/other")) == []
    assert client.cache.get(url)["reason"] == "fresh"
    assert client.cache.purge(url, soft=True) == 1
    assert client.cache.get(url)["reason"] == "invalidated"
    assert client.cache.purge(everything=True) == 1
    assert client.cache.purge(everything=True) == 0


def test_an_unknown_store_is_an_object_error(client: carpool.Client) -> None:
    with pytest.raises(carpool.ObjectError) as caught:
        client.cache.stats("none")
    assert caught.value.name == "cache.unavailable"


def test_ch_03_a_handler_decides(client: carpool.Client, origin: ScriptedOrigin) -> None:
    calls: list[carpool.CacheCall] = []

    def keep(call: carpool.CacheCall) -> carpool.CacheChanges | bool:
        calls.append(call)
        if call.request.url.endswith("/silent"):
            return False
        return carpool.CacheChanges(ttl=5, set_headers={"X-Kept": "1"}, remove_headers=["Set-Cookie"])

    client.register("keep", cache=keep)
    cache: carpool.CacheOptions = {"handler": {"callback": {"name": "keep"}}}
    assert "set-cookie" in client.get(f"{origin.url}/fresh", cache=cache).headers
    client.get(f"{origin.url}/silent", cache={"ttl_ms": 60_000, **cache})

    def is_decided() -> bool:
        client.serve(0.05)
        return len(calls) == 2 and client.cache.get(f"{origin.url}/fresh")["would"] == "serve"

    eventually(is_decided)
    hit = client.get(f"{origin.url}/fresh")
    assert hit.headers["x-kept"] == "1"
    assert "set-cookie" not in hit.headers
    assert hit.cache is not None
    assert hit.cache.ttl is not None
    assert hit.cache.ttl <= 5
    assert client.cache.get(f"{origin.url}/silent")["reason"] == "not_stored"
    assert (calls[0].response.status_code, calls[0].size_bytes, calls[0].storage) == (200, 4, "memory")


def test_the_asyncio_client_has_the_same(daemon: Daemon, origin: ScriptedOrigin) -> None:
    origin.on("/fresh", lambda exchange: exchange.reply(body=b"page", headers=[FRESH]))
    url = f"{origin.url}/fresh"

    async def ask() -> None:
        async with carpool.AsyncClient(daemon.socket) as client:
            await client.get(url)
            assert [entry["url"] async for entry in client.cache.entries()] == [url]
            assert (await client.cache.get(url))["would"] == "serve"
            assert await client.cache.purge(prefix=origin.url) == 1

    asyncio.run(ask())
