"""Sessions with a cache, and what their records say about it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from harness.daemon import Daemon
from harness.wire import RemoteError, Wire

SESSION = "cached"
Record = dict[str, Any]


@contextlib.contextmanager
def connections(daemon: Daemon, count: int) -> Iterator[list[Wire]]:
    """Connect this often for the time of a `with`."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(daemon.wire()) for _ in range(count)]


def cache(wire: Wire, name: str = SESSION, more: dict[str, Any] | None = None, /, **settings: Any) -> str:
    """Create a session with a cache of these settings, and with more configuration; returns its name."""
    wire.call("session.create", name=name, configuration={**(more or {}), "cache": settings or {"mode": "private"}})
    return name


def get(wire: Wire, url: str, session: str = SESSION, /, **params: Any) -> Record:
    record: Record = wire.call("request.perform", url=url, session=session, **params)
    return record


def text(record: Record) -> str:
    """Return the body of a response."""
    assert record["outcome"]["ok"], record
    return str(record["body"].get("text", ""))


def told(record: Record) -> tuple[str, str]:
    """Return what the cache did, and why."""
    return record["cache"]["status"], record["cache"]["reason"]


def failure(record: Record) -> str:
    assert not record["outcome"]["ok"], record
    return str(record["outcome"]["error"]["name"])


def field(record: Record, name: str) -> str | None:
    """Return the values of a field of the response, joined; None if it has none."""
    found = [value for each, value in record["response"]["headers"] if each.lower() == name.lower()]
    return ", ".join(found) if found else None


def counters(wire: Wire, store: str = SESSION) -> dict[str, Any]:
    found: dict[str, Any] = statistics(wire, store)["counters"]
    return found


def statistics(wire: Wire, store: str = SESSION) -> dict[str, Any]:
    stores: list[dict[str, Any]] = wire.call("cache.stats")["stores"]
    return next(each for each in stores if each["store"] == store)


def entries(wire: Wire, **params: Any) -> list[dict[str, Any]]:
    """Return all entries, page by page."""
    found: list[dict[str, Any]] = []
    page: dict[str, Any] = {"next": None}
    while True:
        more = {"next": page["next"]} if page["next"] else {}
        page = wire.call("cache.list", **params, **more)
        found += page["entries"]
        if not page.get("next"):
            return found


def would(wire: Wire, url: str, session: str = SESSION, **params: Any) -> tuple[str, str]:
    """Return what the cache would do, and why."""
    answer = wire.call("cache.get", url=url, session=session, **params)
    assert answer["explanation"]
    return answer["would"], answer["reason"]


def refusal(wire: Wire, method: str, /, **params: Any) -> tuple[int, str]:
    """Return the code of an error, and its message with what it is about."""
    try:
        wire.call(method, **params)
    except RemoteError as error:
        return error.code, str(error.error)
    raise AssertionError(f"{method} is not refused")
