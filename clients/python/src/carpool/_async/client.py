"""The asyncio client."""

from __future__ import annotations

import base64
import contextlib
import os
import tempfile
from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Any

from .. import _operations as operations
from .._channel_async import AsyncChannel
from .._exceptions import RPCError
from .._models import Response
from .._operations import UNSET, Data, HeaderInput
from .._rpc import Notification

# body.read gives at most this much at a time, so that its line stays under the daemon's limit.
_CHUNK_BYTES = 32_768


class AsyncClient:
    """One connection to carpoold, for one event loop: any number of its tasks may use it at the same time.

    `socket` names the daemon's socket; without it the daemon is found, and started if there is none. `session` is the
    name of the session of all requests that name none. The connection is made at the first call.
    """

    def __init__(self, socket: str | os.PathLike[str] | None = None, *, session: str | None = None) -> None:
        self._channel = AsyncChannel(socket)
        self._session = session

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connection. Its requests that are under way are cancelled; a later call connects again."""
        await self._channel.close()

    async def call(self, method: str, /, **params: Any) -> Any:
        """Call a method of the daemon with named parameters and give its result; raises RPCError."""
        return await self._channel.call(method, params)

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: HeaderInput | None = None,
        json: Any = UNSET,
        data: Data | None = None,
        timeout: float | None = None,
        session: str | None = None,
        verify: bool | str | os.PathLike[str] = True,
        **options: Any,
    ) -> Response:
        """Make a request and wait for the whole answer.

        `headers` is a mapping or an ordered list of pairs; `json` a value, `data` text, bytes or the path of a file;
        `timeout` the seconds without any progress; `verify` False, or the path of a file of trusted certificates.
        `options` are further parameters of the daemon's `request.perform`. Raises RequestError and RPCError; an answer
        with an error status is returned.
        """
        params = operations.perform_params(
            method,
            url,
            headers=headers,
            timeout=timeout,
            session=session or self._session,
            verify=verify,
            options=options,
        )
        large = operations.encode_body(params, json, data)
        if large is None:
            record = await self._channel.call("request.perform", params)
        else:
            with tempfile.NamedTemporaryFile(prefix="carpool-") as file:
                file.write(large)
                file.flush()
                params["body"] = {"file": file.name}
                record = await self._channel.call("request.perform", params)
        path = operations.spool_path(record)
        return operations.response(record, None if path is None else await self._take_body(record["request"], path))

    async def get(self, url: str, **arguments: Any) -> Response:
        """Make a GET request; the arguments are those of `request`."""
        return await self.request("GET", url, **arguments)

    async def head(self, url: str, **arguments: Any) -> Response:
        """Make a HEAD request; the arguments are those of `request`."""
        return await self.request("HEAD", url, **arguments)

    async def post(self, url: str, **arguments: Any) -> Response:
        """Make a POST request; the arguments are those of `request`."""
        return await self.request("POST", url, **arguments)

    async def put(self, url: str, **arguments: Any) -> Response:
        """Make a PUT request; the arguments are those of `request`."""
        return await self.request("PUT", url, **arguments)

    async def patch(self, url: str, **arguments: Any) -> Response:
        """Make a PATCH request; the arguments are those of `request`."""
        return await self.request("PATCH", url, **arguments)

    async def delete(self, url: str, **arguments: Any) -> Response:
        """Make a DELETE request; the arguments are those of `request`."""
        return await self.request("DELETE", url, **arguments)

    async def subscribe(self, types: Sequence[str] = ("*",), scope: str = "mine") -> str:
        """Ask for events whose type matches one of the globs; gives the subscription's name.

        `scope` is "mine", "all" or "session:NAME". The events come out of `notifications`.
        """
        answer = await self._channel.call("events.subscribe", {"types": list(types), "scope": scope})
        return str(answer["sub"])

    async def unsubscribe(self, subscription: str) -> None:
        """End a subscription: none of its events comes after this, but those that were received are still given."""
        await self._channel.call("events.unsubscribe", {"sub": subscription})

    async def notifications(self, timeout: float | None = None) -> AsyncIterator[Notification]:
        """Iterate over what the daemon sends by itself; ends when nothing came for `timeout` seconds, or when closed.

        At most 10,000 wait to be read; then they are replaced by one event of the type `lagged`.
        """
        while (notification := await self._channel.notification(timeout)) is not None:
            yield notification

    async def _take_body(self, request: str, path: str) -> bytes:
        """Read a body out of the spool and let it go; in pieces when its file is out of our reach."""
        body = await self._channel.read_file(path)
        if body is None:
            body = await self._read_body(request)
        # The daemon drops the file by itself later: that it is gone already is no failure of this request.
        with contextlib.suppress(RPCError):
            await self._channel.call("body.release", {"request": request})
        return body

    async def _read_body(self, request: str) -> bytes:
        body = bytearray()
        while True:
            piece = await self._channel.call(
                "body.read", {"request": request, "offset": len(body), "length_bytes": _CHUNK_BYTES}
            )
            body += base64.b64decode(piece["base64"])
            if piece["eof"]:
                return bytes(body)
