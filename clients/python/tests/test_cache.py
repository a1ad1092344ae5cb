"""`client.cache`: what is sent for each of its methods, and what they return."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from both_clients import Start, result
from daemon import FakeDaemon
from loops import LOOPS

import carpool

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


class Blocking:
    def __init__(self, path: Path) -> None:
        self.client = carpool.Client(path)

    def run(self, name: str, *arguments: Any, **named: Any) -> Any:
        return getattr(self.client.cache, name)(*arguments, **named)

    def entries(self, **named: Any) -> list[dict[str, Any]]:
        return list(self.client.cache.entries(**named))

    def close(self) -> None:
        self.client.close()


class Asynchronous:
    new_loop = staticmethod(LOOPS["asyncio"])

    def __init__(self, path: Path) -> None:
        self.loop = self.new_loop()
        self.client = carpool.AsyncClient(path)

    def run(self, name: str, *arguments: Any, **named: Any) -> Any:
        return self.loop.run_until_complete(getattr(self.client.cache, name)(*arguments, **named))

    def entries(self, **named: Any) -> list[dict[str, Any]]:
        async def collect() -> list[dict[str, Any]]:
            return [entry async for entry in self.client.cache.entries(**named)]

        return self.loop.run_until_complete(collect())

    def close(self) -> None:
        self.loop.run_until_complete(self.client.aclose())
        self.loop.close()


class OnUvloop(Asynchronous):
    new_loop = staticmethod(LOOPS["uvloop"])


@pytest.fixture
def daemon(start: Start) -> FakeDaemon:
    return start(answered)


@pytest.fixture(params=[Blocking, Asynchronous, OnUvloop])
def cache(request: pytest.FixtureRequest, daemon: FakeDaemon) -> Iterator[Blocking | Asynchronous]:
    client: Blocking | Asynchronous = request.param(daemon.path)
    yield client
    client.close()


def sent(daemon: FakeDaemon) -> list[tuple[str, dict[str, Any]]]:
    return [(message["method"], message["params"]) for message in daemon.received]


def test_pages_are_read_to_the_last(daemon: FakeDaemon, cache: Blocking | Asynchronous) -> None:
    found = cache.entries(url="http://a/", session="s")
    assert [entry["url"] for entry in found] == ["http://a/1", "http://a/2", "http://a/3"]
    asked = {"url": "http://a/", "session": "s"}
    assert sent(daemon) == [("cache.list", asked), ("cache.list", {**asked, "next": "t"})]


def test_a_question_is_about_a_request(daemon: FakeDaemon, cache: Blocking | Asynchronous) -> None:
    answer = cache.run("get", "http://a/", headers={"Accept": "b"}, method="HEAD")
    assert (answer["would"], answer["reason"]) == ("forward", "not_stored")
    assert sent(daemon) == [("cache.get", {"url": "http://a/", "headers": [["Accept", "b"]], "method": "HEAD"})]


def test_statistics_are_a_list_of_stores(daemon: FakeDaemon, cache: Blocking | Asynchronous) -> None:
    assert cache.run("stats", store="ours") == [{"store": "default"}]
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
    cache: Blocking | Asynchronous,
    arguments: list[str],
    named: dict[str, Any],
    expected: dict[str, Any],
) -> None:
    assert cache.run("purge", *arguments, **named) == 3
    assert sent(daemon) == [("cache.purge", expected)]
