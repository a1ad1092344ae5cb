"""The stored responses of sessions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from .._channel_async import AsyncChannel
from .._inputs import HeaderInput
from .._operations import cache_request, present


class AsyncCache:
    """The stored responses of sessions: `client.cache`.

    `session` and `store` select the store of a session, or one that sessions share by its name; without them the
    methods are about all stores of the user, except `get`, which is about the session `default`.
    """

    __module__ = "carpool"

    def __init__(self, channel: AsyncChannel) -> None:
        self._channel = channel

    async def stats(self, store: str | None = None) -> list[dict[str, Any]]:
        """Return the sizes and counters of the stores, as in `cache.stats`."""
        return list((await self._channel.call("cache.stats", present({"store": store})))["stores"])

    async def entries(
        self,
        url: str | None = None,
        *,
        origin: str | None = None,
        session: str | None = None,
        store: str | None = None,
    ) -> AsyncIterator[dict[str, Any]]:
        """Iterate over the stored responses, as in `cache.list`; `url` is what their URLs begin with."""
        params = present({"url": url, "origin": origin, "session": session, "store": store})
        while True:
            page = await self._channel.call("cache.list", params)
            for entry in page["entries"]:
                yield entry
            if (following := page["next"]) is None:
                return
            params["next"] = following

    async def get(
        self,
        url: str,
        *,
        session: str | None = None,
        headers: HeaderInput | None = None,
        method: str | None = None,
    ) -> dict[str, Any]:
        """Return what the cache would do with a request, and why, as in `cache.get`. Nothing is sent."""
        return dict(await self._channel.call("cache.get", cache_request(url, session, headers, method)))

    async def purge(
        self,
        url: str | None = None,
        *,
        prefix: str | None = None,
        origin: str | None = None,
        older_than: float | None = None,
        everything: bool = False,
        session: str | None = None,
        store: str | None = None,
        soft: bool = False,
    ) -> int:
        """Remove stored responses, and return their number.

        One argument says which: all variants of a URL, those whose URL begins with `prefix`, those of an origin, those
        stored more than `older_than` seconds ago, or `everything`. With `soft` they are marked as stale instead.
        """
        params = {
            "url": url,
            "prefix": prefix,
            "origin": origin,
            "older_than_ms": None if older_than is None else round(older_than * 1000),
            "all": everything or None,
            "session": session,
            "store": store,
            "soft": soft or None,
        }
        return int((await self._channel.call("cache.purge", present(params)))["purged"])
