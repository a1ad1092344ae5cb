"""The part of the client that controls requests by their ids, and sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import _log
from .. import _operations as operations
from .._channel_async import AsyncChannel
from .._options import SessionOptions

if TYPE_CHECKING:
    from .._calls import Credential


class AsyncControl:
    """Methods about requests that were submitted, and about sessions."""

    _channel: AsyncChannel

    async def resume(self, request: str) -> bool:
        """Start or resume a request; return whether that changed its state."""
        return bool((await self._channel.call("request.resume", {"request": request}))["changed"])

    async def suspend(self, request: str) -> bool:
        """Suspend a request until it is resumed; return whether that changed its state."""
        return bool((await self._channel.call("request.suspend", {"request": request}))["changed"])

    async def cancel(self, request: str) -> bool:
        """Cancel a request; return whether that changed its state."""
        is_changed = bool((await self._channel.call("request.cancel", {"request": request}))["changed"])
        if is_changed:
            _log.abandoned(request, "explicitly_cancelled")
        return is_changed

    async def curl(self, request: str, *, reveal: bool = False) -> str | None:
        """Return a curl command that sends the same request; None before it is created. `reveal` shows secrets."""
        answer = await self._channel.call("request.curl", {"request": request, "reveal": reveal})
        return None if answer["curl"] is None else str(answer["curl"])

    async def create_session(self, name: str, configuration: SessionOptions | Mapping[str, Any] | None = None) -> bool:
        """Create a session; return False if a session with this name and configuration exists."""
        params = operations.present({"name": name, "configuration": configuration})
        return bool((await self._channel.call("session.create", params))["changed"])

    async def set_credential(self, session: str, credential: Credential | None) -> None:
        """Replace or remove the credential of a session's authentication."""
        wire = None if credential is None else operations.credential_params(credential)
        await self._channel.call("session.set_credential", {"session": session, "credential": wire})

    async def cancel_requests(self, session: str) -> int:
        """Cancel the unfinished requests of a session; return their number."""
        return int((await self._channel.call("session.cancel_requests", {"session": session}))["cancelled"])
