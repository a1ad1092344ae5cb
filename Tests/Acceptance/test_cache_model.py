"""The cache in the session model: handlers, policies, events, metrics (CH-01 to CH-12, EM-11)."""

from __future__ import annotations

from collections.abc import Iterator
from email.utils import formatdate
from typing import Any

import carpool
import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import Exchange, ScriptedOrigin

FRESH = ("Cache-Control", "max-age=600")
STALE = ("Cache-Control", "max-age=0")


@pytest.fixture
def daemon(start: StartDaemon) -> Daemon:
    return start(config={"cache": "use_protocol"})


@pytest.fixture
def client(daemon: Daemon, origin: ScriptedOrigin) -> Iterator[carpool.Client]:
    def tagged(exchange: Exchange) -> None:
        is_known = '"1"' in exchange.request.values("if-none-match")
        exchange.reply(304 if is_known else 200, b"" if is_known else b"tagged", [STALE, ("ETag", '"1"')])

    fields = [FRESH, ("X-Wire", "1"), ("Date", formatdate(usegmt=True))]
    origin.on("/fresh", lambda exchange: exchange.reply(body=b"fresh", headers=fields))
    origin.on("/stale", lambda exchange: exchange.reply(body=b"stale", headers=[STALE]))
    origin.on("/tagged", tagged)
    with daemon.client() as client:
        client.create_session("cached", {"cache": {"disk_bytes": 0}})
        yield client


def counted(origin: ScriptedOrigin, path: str) -> int:
    return sum(request.target == path for request in origin.requests)


def status(response: carpool.Response) -> str | None:
    return None if response.cache is None else response.cache.status


@pytest.mark.parametrize("cache", [None, "use_protocol", {"handler": "cache"}])
def test_ch_01_ch_12_a_fresh_response_is_served_again(
    client: carpool.Client, origin: ScriptedOrigin, cache: Any
) -> None:
    first, second = (client.get(f"{origin.url}/fresh", session="cached", cache=cache) for _ in range(2))
    assert (status(first), status(second)) == ("miss", "hit")
    assert first.content == second.content == b"fresh"
    assert first.headers["date"] == second.headers["date"]
    assert counted(origin, "/fresh") == 1


def test_ch_12_a_hit_has_one_attempt_and_no_connection(client: carpool.Client, origin: ScriptedOrigin) -> None:
    first, second = (client.get(f"{origin.url}/fresh", detail="full") for _ in range(2))
    kinds = [response.record["metrics"]["resource_fetch_type"] for response in (first, second)]
    assert kinds == ["network", "local_cache"]
    assert len(second.attempts) == 1
    (hop,) = second.metrics
    assert hop["connection"] is None
    assert hop["cache"] == second.record["cache"]
    assert (hop["request_header_bytes"], hop["response_body_bytes"]) == (0, 0)


def test_ch_02_do_not_cache_stores_nothing(client: carpool.Client, origin: ScriptedOrigin) -> None:
    for _ in range(2):
        assert client.get(f"{origin.url}/fresh", cache={"handler": "do_not_cache"}).content == b"fresh"
    assert counted(origin, "/fresh") == 2
    assert list(client.cache.entries()) == []


def test_ch_03_modify_stores_another_response(client: carpool.Client, origin: ScriptedOrigin) -> None:
    changes = {"set_headers": {"X-Kept": "1"}, "remove_headers": ["x-wire"], "ttl_ms": 60_000}
    first = client.get(f"{origin.url}/stale", cache={"handler": {"modify": changes}})
    second = client.get(f"{origin.url}/stale")
    assert "x-kept" not in first.headers
    assert (second.headers["x-kept"], status(second), second.content) == ("1", "hit", b"stale")
    assert counted(origin, "/stale") == 1


def test_ch_04_the_handler_of_the_request_replaces_that_of_the_session(
    client: carpool.Client, origin: ScriptedOrigin
) -> None:
    client.create_session("careful", {"cache": {"disk_bytes": 0, "handler": "do_not_cache"}})
    client.get(f"{origin.url}/fresh", session="careful")
    assert list(client.cache.entries(session="careful")) == []
    client.get(f"{origin.url}/fresh", session="careful", cache={"handler": "cache"})
    assert len(list(client.cache.entries(session="careful"))) == 1


def test_ch_05_em_11_the_event_comes_after_the_data_and_only_for_what_would_be_stored(
    daemon: Daemon, client: carpool.Client, origin: ScriptedOrigin
) -> None:
    origin.on("/secret", lambda exchange: exchange.reply(body=b"x", headers=[("Cache-Control", "no-store")]))
    with daemon.client() as watcher:
        watcher.subscribe(["task.*"], "all")
        for path in ("/secret", "/fresh", "/fresh"):
            client.get(f"{origin.url}{path}")
        client.get(f"{origin.url}/last", cache="no_store")
        told: list[tuple[str, dict[str, Any]]] = []
        for notification in watcher.notifications(PATIENCE_SECONDS):
            kind, data = notification.params["type"], notification.params["data"]
            told.append((kind, data))
            if kind == "task.did_receive_response" and data["response"]["url"].endswith("/last"):
                break
    kinds = [kind for kind, _ in told]
    assert kinds.count("task.will_cache_response") == 1
    place = kinds.index("task.will_cache_response")
    assert "task.did_receive_data" in kinds[:place]
    data = told[place][1]
    assert (data["url"], data["status"], data["size_bytes"]) == (f"{origin.url}/fresh", 200, 5)
    assert (data["storage"], data["store"]) == ("memory", "default")


@pytest.mark.parametrize(
    ("policy", "fresh", "stale", "tagged"),
    [
        ("use_protocol", 1, 2, 2),
        ("reload_ignoring_cache", 2, 2, 2),
        ("return_cache_else_load", 1, 1, 1),
        ("return_cache_dont_load", 1, 1, 1),
        ("reload_revalidating", 2, 2, 2),
        ("no_store", 2, 2, 2),
    ],
)
def test_ch_06_to_ch_10_policies(
    client: carpool.Client, origin: ScriptedOrigin, policy: str, fresh: int, stale: int, tagged: int
) -> None:
    # A response without a validator is stored only while it is fresh.
    client.get(f"{origin.url}/stale", cache={"ttl_ms": 1})
    for path in ("/fresh", "/tagged"):
        client.get(f"{origin.url}{path}")
    for path, count in (("/fresh", fresh), ("/stale", stale), ("/tagged", tagged)):
        response = client.get(f"{origin.url}{path}", cache=policy)  # type: ignore[arg-type]
        assert response.content == path[1:].encode()
        assert counted(origin, path) == count, path


def test_ch_09_nothing_stored_is_an_error_and_asks_nobody(client: carpool.Client, origin: ScriptedOrigin) -> None:
    with pytest.raises(carpool.TransferError) as caught:
        client.get(f"{origin.url}/fresh", cache="return_cache_dont_load", retry=3, detail="full")
    error = caught.value
    assert (error.name, error.retryable) == ("session_task_failed.resource_unavailable", False)
    assert error.record["outcome"]["error"]["url_error_code"] == -1008
    assert error.record["response"] is None
    assert (len(error.record["attempts"]), origin.requests) == (1, [])


def test_ch_10_a_validation_asks_with_the_tag(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.get(f"{origin.url}/tagged")
    response = client.get(f"{origin.url}/tagged", cache="reload_revalidating")
    assert (response.status_code, response.content, status(response)) == (200, b"tagged", "revalidated")
    assert origin.requests[-1].values("if-none-match") == ['"1"']


def test_ch_11_stores_have_sizes_and_can_be_emptied(client: carpool.Client, origin: ScriptedOrigin) -> None:
    client.get(f"{origin.url}/fresh")
    client.get(f"{origin.url}/fresh", session="cached")
    stores = {store["store"]: store for store in client.cache.stats()}
    assert {name: store["entries"] for name, store in stores.items()} == {"cached": 1, "default": 1}
    assert all(store["memory_bytes"] > 0 and store["disk_bytes"] == 0 for store in stores.values())
    assert client.cache.purge(everything=True) == 2
    assert [store["entries"] for store in client.cache.stats()] == [0, 0]
