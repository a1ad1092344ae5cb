"""The part of the client that observes: events, and the network."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from typing import NoReturn

from .. import _checks, _fork
from .._channel_async import AsyncChannel
from .._events import HostReachability, Reachability, event_params
from .._operations import deadline, present
from .._rpc import Notification
from .events import AsyncEventStream


class AsyncObserver:
    """Events and reachability: the part of a client that makes no requests."""

    def __init__(self, socket: str | os.PathLike[str] | None) -> None:
        self._channel = AsyncChannel(_checks.check_socket(socket))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a client cannot be pickled: make one in each process, with the same socket and session")

    def events(
        self,
        types: str | Sequence[str] = "*",
        *,
        scope: str = "mine",
        since: str | None = None,
        snapshot: bool | None = None,
        progress_interval: float | None = None,
        reconnect: bool = True,
        timeout: float | None = None,
    ) -> AsyncEventStream:
        """Iterate over the events whose type matches one of the patterns, as they happen.

        `scope` is "mine", "all" or "session:NAME". `since` is the cursor of an earlier event: the events after it are
        returned first. With `snapshot` the first event contains the current state. `progress_interval` is the minimum
        time in seconds between two progress events of a request. After a restart of the daemon the iteration
        reconnects and resumes after the last event; without `reconnect` it raises ConnectionLostError. The iteration
        ends after `timeout` seconds without an event.
        """
        wanted = types if isinstance(types, str) else list(types)
        params = event_params(wanted, scope, snapshot=snapshot, progress_interval=progress_interval)
        feed = self._channel.feed()
        return AsyncEventStream(feed, "events.subscribe", params, since=since, reconnect=reconnect, timeout=timeout)

    async def subscribe(self, types: Sequence[str] = ("*",), scope: str = "mine") -> str:
        """Subscribe to events on this connection; return the subscription's id. `events` does more, and is simpler.

        `scope` is "mine", "all" or "session:NAME". `notifications` returns the events.
        """
        answer = await self._channel.call("events.subscribe", {"types": list(types), "scope": scope})
        return str(answer["sub"])

    async def unsubscribe(self, subscription: str) -> None:
        """End a subscription. Events that were received before are still returned."""
        await self._channel.call("events.unsubscribe", {"sub": subscription})

    async def notifications(self, timeout: float | None = None) -> AsyncIterator[Notification]:
        """Iterate over the notifications of the daemon; ends after `timeout` seconds without one, or when closed.

        At most 10,000 wait to be read; then they are replaced by one event of the type `lagged`.
        """
        made_in = _fork.generation()
        while (notification := await self._channel.notification(timeout)) is not None:
            yield notification
            _fork.check(made_in, "the subscription")

    async def reachability(self, host: str | None = None, *, fresh: bool = False) -> Reachability:
        """Return whether packets can leave, and the routes to a host. Nothing is sent.

        `fresh` reads the state of the interfaces again first.
        """
        params = present({"host": host, "fresh": fresh or None})
        record = await self._channel.call("reachability.get", params)
        ways = record.pop("host", None)
        return Reachability(record, {} if ways is None else {ways["host"]: HostReachability(ways)})

    async def watch_reachability(
        self,
        *hosts: str,
        minor: bool = False,
        lost_after: float | None = None,
        back_after: float | None = None,
        min_interval: float | None = None,
        reconnect: bool = True,
    ) -> AsyncIterator[Reachability]:
        """Iterate over the state of the network: now, and after every change of it or of the routes to the hosts.

        `minor` includes changes that do not affect connections. A loss is reported after `lost_after` seconds, a
        return after `back_after`, and changes at most every `min_interval`; None means the daemon's default.
        `reconnect` is as in `events`.
        """
        params = present(
            {
                "hosts": list(hosts) or None,
                "level": "minor" if minor else None,
                "lost_after_ms": None if lost_after is None else round(lost_after * 1000),
                "back_after_ms": None if back_after is None else round(back_after * 1000),
                "min_interval_ms": None if min_interval is None else round(min_interval * 1000),
            }
        )
        feed = AsyncEventStream(self._channel.feed(), "reachability.watch", params, reconnect=reconnect)
        async with feed as changes:
            known: dict[str, HostReachability] = {}
            async for change in changes:
                if "reachability" in change.data:
                    known |= {ways["host"]: HostReachability(ways) for ways in change.data.get("hosts", ())}
                    yield Reachability(change.data["reachability"], dict(known))

    async def wait_online(self, host: str | None = None, *, timeout: float | None = None) -> Reachability:
        """Wait until packets can leave, to a host if one is named.

        Raises TimeoutError after `timeout` seconds, and LookupError when packets can leave and no host has that name.
        """
        params = present({"hosts": None if host is None else [host], "lost_after_ms": 0, "min_interval_ms": 0})
        feed = AsyncEventStream(self._channel.feed(), "reachability.watch", params, until=deadline(timeout))
        async with feed as changes:
            ways: HostReachability | None = None
            async for change in changes:
                for record in change.data.get("hosts", ()):
                    ways = HostReachability(record)
                state = Reachability(change.data["reachability"], {} if ways is None else {ways.host: ways})
                if host is not None and not _is_known(state):
                    # A watch begins before the name is resolved, and reports only changes.
                    state = await self.reachability(host)
                    ways = state.hosts.get(host, ways)
                if state.is_usable if host is None else ways is not None and ways.is_usable and _is_known(state):
                    return state
                if state.status == "satisfied" and ways is not None and ways.is_unknown_name:
                    raise LookupError(f"host not found: {host}")
        raise TimeoutError(f"no route to {host or 'any network'}")


def _is_known(state: Reachability) -> bool:
    """Return whether the routes to the hosts are known: false while a name is resolved, unless they cannot be known."""
    return state.status == "unknown" or all(ways.status != "unknown" for ways in state.hosts.values())
