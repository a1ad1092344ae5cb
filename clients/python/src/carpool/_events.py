"""Events: the notifications of the daemon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Event:
    """An event; its types are those of the daemon's notification `event`.

    Three types report missing events: `gap` (`data["since"]` is the cursor where they begin), `snapshot` (the current
    state, in `data`) and `lagged` (`data["dropped"]` events were not read in time).
    """

    record: dict[str, Any]
    """The daemon's record."""

    @property
    def type(self) -> str:
        """The type of the event."""
        return str(self.record["type"])

    @property
    def cursor(self) -> str | None:
        """The position in the stream of events: `since` resumes after it."""
        return self.record.get("cursor")

    @property
    def data(self) -> dict[str, Any]:
        """The data of the type."""
        data: dict[str, Any] = self.record.get("data", {})
        return data

    @property
    def time(self) -> datetime | None:
        """When it happened; None for `gap` and `snapshot`."""
        if "time" not in self.record:
            return None
        # Few programs need it, and its import takes long.
        from datetime import datetime  # noqa: PLC0415

        # Before 3.11 fromisoformat does not accept the Z of RFC 3339.
        return datetime.fromisoformat(self.record["time"].replace("Z", "+00:00"))

    @property
    def session(self) -> str | None:
        """The name of the session that it is about."""
        return self.record.get("session")

    @property
    def request_id(self) -> str | None:
        """The id of the request that it is about."""
        return self.record.get("request")

    @property
    def client(self) -> str | None:
        """The daemon's name of the connection that made the request."""
        return self.record.get("client")

    @property
    def attempt(self) -> int | None:
        """Which attempt of the request it is about, from 1."""
        return self.record.get("attempt")


@dataclass(frozen=True, slots=True)
class Way:
    """Whether packets can leave, by the default route or to a host; from the daemon's record."""

    record: dict[str, Any]
    """The daemon's record."""

    @property
    def status(self) -> str:
        """One of `satisfied`, `unsatisfied`, `requires_connection` and `unknown`."""
        return str(self.record["status"])

    @property
    def is_usable(self) -> bool:
        """Whether a request may succeed: packets can leave, or the daemon cannot know."""
        return self.status in {"satisfied", "unknown"}


@dataclass(frozen=True, slots=True)
class HostReachability(Way):
    """The routes to one host."""

    @property
    def host(self) -> str:
        """The host as it was named."""
        return str(self.record["host"])

    @property
    def addresses(self) -> list[dict[str, Any]]:
        """Its addresses, each with its own `status`, `interface`, `gateway` and `source`."""
        return list(self.record["addresses"])

    @property
    def is_unknown_name(self) -> bool:
        """Whether the look-up found that no host has the name."""
        return bool(self.record.get("dns", {}).get("error") == "cannot_find_host")


@dataclass(frozen=True, slots=True)
class Reachability(Way):
    """The state of the network."""

    hosts: Mapping[str, HostReachability] = field(default_factory=dict)
    """The routes to the requested hosts, by name, as far as they are known."""

    @property
    def reason(self) -> str | None:
        """Why packets cannot leave, such as `no_carrier`; None if they can."""
        return self.record.get("unsatisfied_reason")

    @property
    def interface(self) -> str | None:
        """The interface of the default route."""
        return self.record.get("interface")


def event_params(
    types: str | list[str], scope: str, *, snapshot: bool | None, progress_interval: float | None
) -> dict[str, Any]:
    """Return the params of `events.subscribe`, without the cursor. Times are in seconds here, in ms on the wire."""
    params: dict[str, Any] = {"types": [types] if isinstance(types, str) else types, "scope": scope}
    if snapshot is not None:
        params["snapshot"] = snapshot
    if progress_interval is not None:
        params["progress_interval_ms"] = round(progress_interval * 1000)
    return params


def initial_events(answer: dict[str, Any], since: str | None) -> list[dict[str, Any]]:
    """Return the events that the answer of a subscription implies: a gap and a snapshot."""
    common = {"sub": answer["sub"], "cursor": answer["cursor"]}
    events = []
    if answer.get("gap"):
        events.append({**common, "type": "gap", "data": {"since": since}})
    snapshot = answer.get("snapshot")
    if "reachability" in answer:
        snapshot = {name: answer[name] for name in ("reachability", "hosts") if name in answer}
    if snapshot is not None:
        events.append({**common, "type": "snapshot", "data": snapshot})
    return events
