"""`client.cache`: what is sent for each of its methods, and what they return."""

from __future__ import annotations

from typing import Any

import pytest
from both_clients import AnyClient, Connect, Start, result
from daemon import FakeDaemon

PAGES: dict[Any, dict[str, Any]] = {
    None: {"entries": [{"url": "http://a/1"}, {"url": "http://a/2"}], "next": "t"},
    "t": {"entries": [{"url": "http://a/3"}], "next": None},
}


def answered(message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
    match message["method"]:
        case "cache.stats":
            return result({"stores": [{"store": "default"}]})(message)
        case "cache.list":
            return result(PAGES[message["params"].get("next")])(message)
        case "cache.get":
            return result({"would": "forward", "reason": "not_stored", "explanation": "Nothing is stored."})(message)
        case "cache.purge":
            return result({"changed": True, "purged": 3})(message)
    return result({})(message)


@pytest.fixture
def daemon(start: Start) -> FakeDaemon:
    return start(answered)


@pytest.fixture
def client(daemon: FakeDaemon, connect: Connect) -> AnyClient:
    return connect(daemon.path)


def sent(daemon: FakeDaemon) -> list[tuple[str, dict[str, Any]]]:
    return [(message["method"], message["params"]) for message in daemon.received]


def test_pages_are_read_to_the_last(daemon: FakeDaemon, client: AnyClient) -> None:
    found = client.listed("cache.entries", url="http://a/", session="s")
    assert [entry["url"] for entry in found] == ["http://a/1", "http://a/2", "http://a/3"]
    asked = {"url": "http://a/", "session": "s"}
    assert sent(daemon) == [("cache.list", asked), ("cache.list", {**asked, "next": "t"})]


def test_a_question_is_about_a_request(daemon: FakeDaemon, client: AnyClient) -> None:
    answer = client.run("cache.get", "http://a/", headers={"Accept": "b"}, method="HEAD")
    assert (answer["would"], answer["reason"]) == ("forward", "not_stored")
    assert sent(daemon) == [("cache.get", {"url": "http://a/", "headers": [["Accept", "b"]], "method": "HEAD"})]


def test_statistics_are_a_list_of_stores(daemon: FakeDaemon, client: AnyClient) -> None:
    assert client.run("cache.stats", store="ours") == [{"store": "default"}]
    assert sent(daemon) == [("cache.stats", {"store": "ours"})]


@pytest.mark.parametrize(
    ("arguments", "named", "expected"),
    [
        (["http://a/"], {}, {"url": "http://a/"}),
        ([], {"prefix": "http://a/b", "session": "s"}, {"prefix": "http://a/b", "session": "s"}),
        ([], {"origin": "http://a", "soft": True}, {"origin": "http://a", "soft": True}),
        ([], {"older_than": 1.5, "store": "ours"}, {"older_than_ms": 1500, "store": "ours"}),
        ([], {"everything": True}, {"all": True}),
    ],
)
def test_a_purge_says_what_is_removed(
    daemon: FakeDaemon,
    client: AnyClient,
    arguments: list[str],
    named: dict[str, Any],
    expected: dict[str, Any],
) -> None:
    assert client.run("cache.purge", *arguments, **named) == 3
    assert sent(daemon) == [("cache.purge", expected)]
