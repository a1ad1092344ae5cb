"""Calls of the asyncio client whose callers were cancelled: their requests are cancelled in the daemon."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from . import _waiting
from ._exceptions import CarpoolError

if TYPE_CHECKING:
    from ._link_async import Link, Pending

# The label by which a request is found whose name this program does not know yet.
TAG: Final = "carpool.call"
# The maximum number of labels of a request.
MAX_TAGS: Final = 8
_STATES: Final = ("resumed", "initialized", "suspended")


class Orphans:
    """The calls of one connection whose callers were cancelled.

    The name of a request is only in the answer of its call. So each `request.perform` has a label of its own, and when
    its caller is cancelled `request.list` finds the name.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._prefix = os.urandom(6).hex()
        self._last = 0
        self._labels: dict[int, str] = {}
        self._submitted: set[int] = set()
        self._searching: asyncio.Task[None] | None = None

    def marked(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the params of a call, with a label if the call makes a request that must end with its caller.

        A request with a key belongs to all callers that have the key.
        """
        if method != "request.perform" or "key" in params or params.get("on_disconnect") == "detach":
            return params
        tags = params.get("tags") or {}
        if len(tags) >= MAX_TAGS:
            return params
        self._last += 1
        return {**params, "tags": {**tags, TAG: f"{self._prefix}.{self._last:x}"}}

    def add(self, call: int, method: str, params: Mapping[str, Any]) -> None:
        """End the request of a call whose caller was cancelled."""
        label = (params.get("tags") or {}).get(TAG) if method == "request.perform" else None
        if label is not None:
            self._labels[call] = label
            if self._searching is None or self._searching.done():
                self._searching = self._link.loop.create_task(self._search())
        elif method == "request.submit" and params.get("on_disconnect") == "cancel":
            self._submitted.add(call)
        else:
            self._link.tell("rpc.cancel", {"id": call})

    def add_answered(self, pending: Pending) -> None:
        """End the request of a call whose caller was cancelled when the answer had come, but had not reached it."""
        params, future = pending.params, pending.future
        is_labelled = pending.method == "request.perform" and TAG in (params.get("tags") or {})
        is_submitted = pending.method == "request.submit" and params.get("on_disconnect") == "cancel"
        has_result = future.done() and not future.cancelled() and future.exception() is None
        if has_result and (is_labelled or is_submitted):
            self._end(future.result())

    def answered(self, call: int, value: Any) -> None:
        """Note the answer of such a call."""
        if self._labels.pop(call, None) is None and call not in self._submitted:
            return
        self._submitted.discard(call)
        self._end(value)

    def _end(self, value: Any) -> None:
        """Cancel and dismiss the request of an answer, unless it has finished."""
        if isinstance(value, dict) and "request" in value and "outcome" not in value:
            self._link.tell("request.cancel", {"request": value["request"]})
            self._link.tell("request.dismiss", {"request": value["request"]})

    def end(self) -> None:
        """Stop: the requests end with the connection."""
        self._labels.clear()
        if self._searching is not None:
            self._searching.cancel()

    async def _search(self) -> None:
        """Cancel the requests until their calls are answered. A call that names files makes its request later."""
        pause = _waiting.FIRST_PAUSE
        with contextlib.suppress(CarpoolError):
            while self._labels:
                found = False
                for state in _STATES:
                    found |= await self._cancel(state)
                if not found and self._labels:
                    await asyncio.sleep(pause)
                    pause = _waiting.longer(pause)

    async def _cancel(self, state: str) -> bool:
        """Cancel the requests in a state that have one of the labels; return whether there were any."""
        params: dict[str, Any] = {"state": state}
        found = False
        while self._labels:
            page = await self._link.ask("request.list", params)
            wanted = set(self._labels.values())
            for entry in page["requests"]:
                if (entry.get("tags") or {}).get(TAG) in wanted:
                    found = True
                    self._link.tell("request.cancel", {"request": entry["request"]})
            if page["next"] is None:
                break
            params["next"] = page["next"]
        return found
