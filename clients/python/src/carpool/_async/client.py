"""The asyncio client."""

from __future__ import annotations

import base64
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from .. import _fork, _log
from .. import _operations as operations
from .._bodies import in_files
from .._defaults import Defaults
from .._exceptions import ObjectError, RPCError
from .._inputs import ClientOptions, Data, Serialize, Upload
from .._models import Progress, is_of_caller
from .._options import RequestOptions
from .._paths import AnyPath, destination
from .._pipe import Pipe
from .._response import Response
from .._settings import Settings
from .._sources import Left, Source
from .cache import AsyncCache
from .control import AsyncControl
from .observer import AsyncObserver
from .stream import AsyncStream
from .verbs import CREDIT_BYTES, AsyncVerbs

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._callbacks import AsyncHandler
    from .._calls import (
        AdaptCall,
        AuthenticateCall,
        Authentication,
        BodyCall,
        CacheCall,
        CacheChanges,
        Changes,
        Credential,
        DestinationCall,
        PreprocessCall,
        RedirectCall,
        RefreshCall,
        RetryCall,
        SerializeCall,
        TrustCall,
        ValidateCall,
    )

# The maximum that body.read returns at a time, so that its line stays under the daemon's limit.
_CHUNK_BYTES = 32_768
# The interval of the progress of a download.
_PROGRESS_MS = 200


class AsyncClient(Settings, AsyncControl, AsyncObserver, AsyncVerbs):
    """A client of carpoold, for any number of tasks; it has a connection for each event loop in which it is used.

    `socket` names the daemon's socket; without it the daemon is found, and started if there is none. `session` is the
    name of the session of all requests that name none. The other arguments are defaults of the requests: a relative URL
    is appended to `base_url`; header fields, params and cookies are added unless the request has the same name, and the
    rest applies unless the request has the argument, also as None. `headers`, `params`, `auth`, `cookies` and `hooks`
    can be changed later. A connection is made at the first call of a loop.
    """

    __module__ = "carpool"

    def __init__(
        self,
        socket: str | os.PathLike[str] | None = None,
        *,
        session: str | None = None,
        **defaults: Unpack[ClientOptions],
    ) -> None:
        super().__init__(socket)
        self._defaults = Defaults(session, defaults)
        self._expect_cookies()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections. Their requests under way are cancelled; a later call connects again."""
        await self._channel.close()

    @property
    def cache(self) -> AsyncCache:
        """The stored responses of sessions."""
        return AsyncCache(self._channel)

    async def call(self, method: str, /, **params: Any) -> Any:
        """Call a method of the daemon with named parameters and return its result; raises RPCError."""
        return await self._channel.call(method, params)

    async def _request(self, method: str, url: str, options: RequestOptions) -> Response:
        """Send a request and return its response."""
        if operations.is_streamed(options):
            request = await self.submit(method, url, **operations.until_disconnect(options))
            response = await self._finish(request, options.get("detail"))
        else:
            record = await self._make("request.perform", method, url, options)
            response = await self._loaded(record)
            if response.spooled is not None:
                # The daemon deletes the file later anyway: that it is already deleted is not an error.
                with contextlib.suppress(RPCError):
                    await self._channel.call("body.release", {"request": response.request_id})
        error = response.error
        if error is not None and not operations.is_last_of_retries(response, self._defaults.options(options)):
            raise error
        return await self._hooked(response, options)

    async def _hooked(self, response: Response, options: RequestOptions) -> Response:
        """Call the hooks with a response, and return it, or what they have replaced it with."""
        for hook in self._defaults.responders(options):
            changed = await self._channel.resolved(hook(response))
            response = response if changed is None else changed
        return response

    async def submit(self, method: str, url: str, **options: Unpack[RequestOptions]) -> str:
        """Start a request and return its id without waiting; the arguments are those of `request`.

        A file or an iterable in `data` is read to its end before this returns, unless the request ends earlier.
        """
        operations.check_submitted(options)
        given, source = operations.measured(options, self._defaults)
        with source or contextlib.nullcontext():
            request = str((await self._make("request.submit", method, url, given))["request"])
            if source is not None:
                await self._feed(request, source)
        return request

    async def upload(
        self,
        url: str,
        content: Upload,
        *,
        method: str = "POST",
        **options: Unpack[RequestOptions],
    ) -> Response:
        """Send a body as an upload, with its events; `data` and the other arguments are those of `request`."""
        given = cast("RequestOptions", {**options, "kind": "upload", "data": content})
        return await self.request(method, url, **given)

    async def download(
        self,
        url: str,
        path: AnyPath,
        *,
        method: str = "GET",
        progress: Callable[[Progress], object] | None = None,
        resume: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> Response:
        """Download a URL to a file, and return the response, whose `path` is the file.

        `path` is the file, which is replaced when the body is complete and `validate` has accepted it, or a directory,
        in which the response names the file. The mode and the other attributes of a file that is replaced stay.
        `progress` is called five times a second. `resume` is the `resume_data` of an error or of a progress: the
        download is resumed, unless the resource has changed. The other arguments are those of `request`. Raises
        RequestError, with `resume_data` if the download can be resumed.
        """
        place = destination(path)
        made = {**options, "kind": "download", "destination": place, "resume_data": resume}
        request = await self.submit(method, url, **operations.until_disconnect(cast("RequestOptions", made)))
        made_in = _fork.generation()
        try:
            response = await self._watch(request, progress, options.get("detail"))
        except BaseException:
            self._abandon(request, made_in, resume_data=True)
            raise
        if response.resume_data is None:
            await self._dismiss(request)
        return await self._hooked(response.raise_for_outcome(), options)

    @contextlib.asynccontextmanager
    async def stream(
        self, method: str, url: str, *, credit_bytes: int = CREDIT_BYTES, **options: Unpack[RequestOptions]
    ) -> AsyncIterator[AsyncStream]:
        """Make a request whose body is read while it arrives: `async with client.stream("GET", url) as stream`.

        `credit_bytes` is the maximum of the body that is in transit. The other arguments are those of `request`; `data`
        that is read while it is sent raises ValueError. The request ends with the block.
        """
        stream = await self._open(method, url, credit_bytes, options)
        try:
            yield stream
        finally:
            await stream.aclose()

    async def _open(self, method: str, url: str, credit_bytes: int, options: RequestOptions) -> AsyncStream:
        """Make a request whose body is read while it arrives."""
        with Pipe(credit_bytes).passing() as pipe:
            given = operations.stream_options(options)
            record = await self._make("request.perform", method, url, given, pipe)
            stream = AsyncStream(self._channel, Response(record).raise_for_outcome().record, pipe)
        try:
            await self._hooked(stream.head, options)
            await self.resume(stream.request_id)
        except BaseException:
            await stream.aclose()
            raise
        return stream

    async def wait(self, request: str, timeout: float | None = None) -> Response:
        """Wait until a request has finished, and return the response, also if it has failed.

        Raises TimeoutError if it has not finished after `timeout` seconds.
        """
        return await self._kept(await self._poll("request.wait", {"request": request, "detail": "short"}, timeout))

    async def response(
        self, request: str, serialize: Serialize | Sequence[Serialize] | None = None, timeout: float | None = None
    ) -> Response:
        """Wait like `wait`, and return the full record, with the body serialized again; nothing is sent again."""
        params = {"request": request, "serialize": serialize}
        return await self._kept(await self._poll("request.response", params, timeout))

    async def register(
        self,
        name: str,
        *,
        adapt: AsyncHandler[AdaptCall, Changes | None] | None = None,
        retry: AsyncHandler[RetryCall, float | None] | None = None,
        redirect: AsyncHandler[RedirectCall, Changes | bool | None] | None = None,
        validate: AsyncHandler[ValidateCall, bool | None] | None = None,
        trust: AsyncHandler[TrustCall, bool] | None = None,
        authenticate: AsyncHandler[AuthenticateCall, Authentication] | None = None,
        serialize: AsyncHandler[SerializeCall, Any] | None = None,
        preprocess: AsyncHandler[PreprocessCall, str | bytes] | None = None,
        destination: AsyncHandler[DestinationCall, AnyPath | None] | None = None,
        body: AsyncHandler[BodyCall, Data] | None = None,
        cache: AsyncHandler[CacheCall, CacheChanges | bool | None] | None = None,
        refresh: AsyncHandler[RefreshCall, Credential] | None = None,
    ) -> None:
        """Handle the daemon's callbacks of this name with these functions, which replace earlier ones.

        The classes of their arguments describe arguments and return values. Raise `Refuse` to refuse, with a reason.
        Any other exception is logged, the daemon receives its type, and the callback's `on_failure` applies.
        The name is sent to the daemon at once, and again on each new connection.
        """
        handlers = {
            "adapt": adapt, "retry": retry, "redirect": redirect, "validate": validate, "trust": trust,
            "authenticate": authenticate, "serialize": serialize, "preprocess": preprocess, "destination": destination,
            "body": body, "cache": cache, "refresh": refresh,
        }  # fmt: skip
        if not any(handlers.values()):
            raise ValueError(f"no handler for {name!r}: pass at least one, for example validate=")
        await self._channel.register(name, handlers)

    async def unregister(self, name: str) -> None:
        """Stop answering callbacks of this name."""
        await self._channel.register(name, {})

    async def serve(self, timeout: float | None = None) -> None:
        """Answer callbacks for `timeout` seconds, without one until the connection is lost: ConnectionLostError."""
        await self._channel.serve(timeout)

    @property
    def _defaults_of_pages(self) -> Defaults:
        return self._defaults

    async def _make(self, call: str, method: str, url: str, options: RequestOptions, pipe: Pipe | None = None) -> Any:
        """Call a method that makes a request; a content too large for a message is sent as a file."""
        params, large = operations.request_params(method, url, options, self._defaults)
        operations.set_detail(call, params)
        passed = pipe.body_of(params) if pipe else ()
        with _log.beginning(method, params["url"]) as line, in_files(large) if large else contextlib.nullcontext():
            record = await self._channel.call(call, params, passed)
            line.made(record)
        if self._defaults.jar is not None:
            self._defaults.jar.made(record)
        return record

    async def _feed(self, request: str, source: Source) -> None:
        """Send the body to the daemon in pieces, until the daemon refuses more."""
        made_in = _fork.generation()
        left, piece = Left(source), ""

        async def send(block: bytes) -> bool:
            # It is kept until the next one: memory that is returned to the kernel for each costs a fifth of the time.
            nonlocal piece
            _fork.check(made_in, "the request")
            piece = base64.b64encode(left.cut(block)).decode()
            return await self._put(request, base64=piece) and not left.is_none

        try:
            is_whole = await self._channel.deliver(source.data, send, lambda: self._is_over(request))
            if is_whole and left.needs_end():
                await self._put(request, end=True)
        except BaseException:
            self._abandon(request, made_in)
            raise

    async def _put(self, request: str, **piece: Any) -> bool:
        """Send a piece of a body; False if the request has finished early: its record has the outcome."""
        try:
            await self._channel.call("body.put", {"request": request, **piece})
        except ObjectError:
            return False
        return True

    async def _is_over(self, request: str) -> bool:
        """Whether a request has ended, or another client has dismissed it."""
        try:
            record = await self._channel.call("request.get", {"request": request, "detail": "short"})
        except ObjectError:
            return True
        return record.get("finished") is not False

    async def _finish(self, request: str, detail: str | None) -> Response:
        """Wait for a request, read its body and dismiss it."""
        made_in = _fork.generation()
        try:
            record = await self._poll("request.wait", {"request": request, "detail": detail or "short"}, None)
            response = await self._loaded(record)
        except BaseException:
            self._abandon(request, made_in)
            raise
        await self._dismiss(request)
        return response

    async def _watch(self, request: str, progress: Callable[[Progress], object] | None, detail: Any) -> Response:
        """Wait for a download and report its progress."""
        made_in = _fork.generation()
        poll_ms = operations.MAX_POLL_MS if progress is None else _PROGRESS_MS
        params = {"request": request, "timeout_ms": poll_ms, "detail": detail or "short"}
        while True:
            record = await self._channel.call("request.wait", params)
            if progress is not None:
                progress(operations.progress(record))
                _fork.check(made_in, "the download")
            if record.get("finished") is not False:
                self._end(record)
                return Response(record)

    def _abandon(self, request: str, made_in: int, **params: Any) -> None:
        """Cancel a request whose caller was interrupted; it ends with its connection too. A child leaves it alone."""
        if made_in == _fork.generation():
            _log.abandoned(request)
            self._channel.tell("request.cancel", {"request": request, **params})

    async def _dismiss(self, request: str) -> None:
        with contextlib.suppress(RPCError):
            await self._channel.call("request.dismiss", {"request": request})

    def _end(self, record: dict[str, Any]) -> None:
        """Note the end of a request that was submitted."""
        _log.ended(record)
        if self._defaults.jar is not None:
            self._defaults.jar.receive(record, is_later=True)

    async def _poll(self, call: str, params: dict[str, Any], timeout: float | None) -> dict[str, Any]:
        """Repeat a long poll until the request has finished; return its record. Raises TimeoutError."""
        end = operations.deadline(timeout)
        while True:
            poll_ms = operations.poll_ms(end)
            record = dict(await self._channel.call(call, operations.present({**params, "timeout_ms": poll_ms})))
            if record.get("finished") is not False:
                self._end(record)
                return record
            if operations.poll_ms(end) == 0:
                raise TimeoutError(f"{params['request']} has not finished in time")

    async def _kept(self, record: dict[str, Any]) -> Response:
        """Return the response of a request that is kept. A file that can be read is read when the content is used."""
        path = operations.spool_path(record)
        return Response(record) if path is not None and operations.can_read(path) else await self._loaded(record)

    async def _loaded(self, record: dict[str, Any]) -> Response:
        """Return the response of a record, with the content of its file, which a download keeps."""
        path = operations.spool_path(record)
        if path is None or (is_of_caller(path, record) and operations.can_read(path)):
            return Response(record)
        body = await self._channel.read_file(path)
        return Response(record, await self._read_body(record["request"]) if body is None else body)

    async def _read_body(self, request: str) -> bytes:
        body = bytearray()
        while True:
            piece = await self._channel.call(
                "body.read", {"request": request, "offset": len(body), "length_bytes": _CHUNK_BYTES}
            )
            body += base64.b64decode(piece["base64"])
            if piece["eof"]:
                return bytes(body)
