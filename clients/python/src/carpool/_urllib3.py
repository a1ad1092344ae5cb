"""What stands in the place of urllib3's connection pool in an adapter of requests."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from importlib.metadata import version
from typing import Any, Final, cast

import urllib3
from urllib3 import exceptions
from urllib3.util.request import rewind_body, set_file_position
from urllib3.util.retry import Retry
from urllib3.util.timeout import Timeout
from urllib3.util.url import parse_url

from . import _adapters as adapters
from ._exceptions import CarpoolError, InvalidParamsError, RequestError, RPCError
from ._http1 import response_of
from ._sources import PIECE_BYTES, buffer_bytes, has_ended, is_buffer, reader
from ._sync.exchange import Exchange

_SKIPPED: Final = "@@@SKIP_HEADER@@@"
_NO_RETRY: Final = Retry(0, read=False)


class RefusedError(Exception):
    """The daemon does not accept a parameter."""

    __module__ = "carpool.requests"


class BodyError(Exception):
    """An exception of the program, from the body that it sends: it is not one of the exchange."""

    def __init__(self, error: CarpoolError) -> None:
        super().__init__()
        self.error = error


class URLRefusedError(RefusedError):
    """The daemon does not accept the URL."""

    __module__ = "carpool.requests"


class _Source:
    """A body that may have to be sent again: a file from its position, and an iterator only if it was not read."""

    def __init__(self, body: Any) -> None:
        self._body = body
        self._position = set_file_position(body, None)
        self.was_read = False
        is_iterator = self._position is None and hasattr(body, "__next__")
        self.body = self if is_iterator else body
        if is_iterator and has_ended(body):
            raise exceptions.UnrewindableBodyError("the generator of the body has ended, and has no more bytes")

    def __iter__(self) -> Iterator[Any]:
        self.was_read = True
        return iter(self._body)

    def may_repeat(self, retries: Retry) -> Retry:
        """Return the retries after an error: none for an iterator that was read."""
        return _NO_RETRY if self.was_read else retries

    def rewind(self) -> None:
        """Let the body be sent again; raises UnrewindableBodyError if it cannot be."""
        if self._position is not None:
            rewind_body(self._body, self._position)
        if self.was_read:
            raise exceptions.UnrewindableBodyError("the body is an iterator that was read: it cannot be sent again")


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of `urlopen` that an attempt needs."""

    method: str
    url: str
    body: Any
    headers: Mapping[str | bytes, str | bytes]
    timeout: Timeout


class Origin:
    """The requests of one call of an adapter; `settings` are the parameters of its connection."""

    def __init__(
        self,
        base: str,
        settings: dict[str, Any],
        configuration: dict[str, Any],
        idle: adapters.Idle[Exchange],
    ) -> None:
        self.base = base
        self._settings = settings
        self._configuration = configuration
        self._idle = idle

    def __repr__(self) -> str:
        return f"<carpoold for {self.base}>"

    def urlopen(
        self,
        *,
        method: str,
        url: str,
        body: Any = None,
        headers: Mapping[str | bytes, str | bytes] | None = None,
        retries: Retry | None = None,
        timeout: Timeout | None = None,
        **ignored: Any,
    ) -> urllib3.HTTPResponse:
        """Send a request, and again as `retries` says; raises the exceptions of urllib3."""
        retries = retries or _NO_RETRY
        source = _Source(body)
        call = Call(method, url, source.body, headers or {}, timeout or Timeout())
        while True:
            response = None
            try:
                response = self._attempt(call, retries)
                if not retries.is_retry(method, response.status, "Retry-After" in response.headers):
                    return response
                retries = retries.increment(method, url, response=response, _pool=self)  # type: ignore[arg-type]
                response.drain_conn()
            except exceptions.MaxRetryError:
                if response is None or retries.raise_on_status:
                    raise
                return response
            except exceptions.HTTPError as error:
                if isinstance(error, exceptions.InvalidHeader):
                    raise
                retries = source.may_repeat(retries)
                retries = retries.increment(method, url, error=error, _pool=self, _stacktrace=sys.exc_info()[2])  # type: ignore[arg-type]
            retries.sleep(response)
            source.rewind()

    def _attempt(self, call: Call, retries: Retry) -> urllib3.HTTPResponse:
        # With its invalid characters percent-encoded: requests leaves some in the URL of a redirect.
        whole = self.base + call.url if call.url.startswith("/") else call.url
        target = self.base + parse_url(whole).request_uri
        params, blocks = _request(call, target)
        params = _with_proxy_user(self._settings | params)
        # The read timeout of one with a total is known when it has begun.
        timeout = call.timeout.clone()
        timeout.start_connect()
        params["connect_timeout_ms"] = adapters.milliseconds(_seconds(timeout.connect_timeout))
        params["timeout_ms"] = adapters.milliseconds(_seconds(timeout.read_timeout))
        exchange = self._begin(target)
        try:
            exchange.open(params, self._configuration)
            if "stream" in params.get("body", {}):
                _send(exchange, blocks, adapters.Counted(params))
            head = exchange.head()
            message = response_of(exchange, head, call.method, self._keep)
        except BaseException as error:
            self._keep(exchange)
            if isinstance(error, BodyError):
                raise error.error from error.error.__cause__
            converted = self._converted(error, target)
            if converted is error:
                raise
            raise converted from error
        return urllib3.HTTPResponse(
            body=message,
            headers=urllib3.HTTPHeaderDict(message.headers.raw_items()),
            status=message.status,
            version=20 if head["http_version"] == "h2" else message.version,
            reason=message.reason,
            preload_content=False,
            decode_content=False,
            pool=self,  # type: ignore[arg-type]
            original_response=message,
            retries=retries,
            request_method=call.method,
            request_url=call.url,
        )

    def _begin(self, url: str) -> Exchange:
        idle = self._idle.take()
        try:
            return (idle and idle.next()) or Exchange.on_new_channel()
        except CarpoolError as error:
            raise cast("Exception", self._converted(error, url)) from error

    def _keep(self, exchange: Exchange) -> None:
        """End an exchange, and keep its channel for the next one."""
        exchange.close()
        if exchange.is_reusable and (surplus := self._idle.give(exchange)):
            surplus.channel.close()

    def _converted(self, error: BaseException, url: str) -> BaseException:
        """Return the exception of urllib3 for an error of the exchange."""
        if isinstance(error, adapters.LengthError):
            return exceptions.InvalidHeader(str(error))
        if isinstance(error, RequestError):
            return _failure(self, error, url)
        if isinstance(error, RPCError):
            return _refusal(self, error, url)
        if isinstance(error, CarpoolError):
            return exceptions.ProtocolError(adapters.connection_message(error))
        if isinstance(error, (HTTPException, ConnectionError)):
            return exceptions.ProtocolError("Connection aborted.", error)
        return error


def _failure(origin: Origin, error: RequestError, url: str) -> Exception:
    """Return the exception for a request that has failed."""
    name, message = error.name, error.message
    if name == "session_task_failed.timed_out":
        if error.data.get("timeout") == "connect":
            return exceptions.ConnectTimeoutError(origin, message)
        return exceptions.ReadTimeoutError(origin, url, f"Read timed out. ({message})")  # type: ignore[arg-type]
    if name.startswith("session_task_failed.proxy."):
        return exceptions.ProxyError(message, OSError(message))
    if name in adapters.UNREACHED:
        return exceptions.NewConnectionError(origin, message)  # type: ignore[arg-type]
    kind: type[Exception] | None = None
    if name.startswith(adapters.UNTRUSTED):
        kind = exceptions.SSLError
    elif name in {"invalid_url", "session_task_failed.bad_url"}:
        kind = URLRefusedError
    elif name == "session_task_failed.cannot_parse_response" and "Content-Length" in message:
        kind = exceptions.InvalidHeader
    return kind(message) if kind else exceptions.ProtocolError("Connection aborted.", ConnectionError(message))


def _refusal(origin: Origin, error: RPCError, url: str) -> Exception:
    """Return the exception for a call that the daemon refuses: one that urllib3 repeats only where that may help."""
    path, message = str(error.data.get("path", "")), str(error)
    if path.startswith("params.headers"):
        return exceptions.InvalidHeader(message)
    if path.startswith("params.url"):
        return URLRefusedError(message)
    reason: Exception | None = None
    if path.startswith(("params.trust", "params.client_certificate")) or error.name.startswith("client_certificate."):
        reason = exceptions.SSLError(message)
    elif path.startswith("params.proxy"):
        reason = exceptions.ProxyError(message, OSError(message))
    if reason is not None:
        return exceptions.MaxRetryError(origin, url, reason)  # type: ignore[arg-type]
    return RefusedError(message) if isinstance(error, InvalidParamsError) else exceptions.ProtocolError(message)


def _seconds(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) else None


def _request(call: Call, url: str) -> tuple[dict[str, Any], Iterator[bytes]]:
    """Return the parameters of a request and the blocks of its body."""
    body = call.body
    fields = [(_bytes(name), _bytes(value)) for name, value in call.headers.items()]
    names = {name.lower() for name, _ in fields}
    # What http.client and urllib3 add.
    added = [] if b"accept-encoding" in names else [(b"Accept-Encoding", b"identity")]
    if b"user-agent" not in names:
        added.append((b"User-Agent", f"python-urllib3/{version('urllib3')}".encode()))
    kept = [field for field in fields if field[1] != _SKIPPED.encode()]
    try:
        params: dict[str, Any] = {
            "method": call.method,
            "url": url,
            "headers": adapters.header_fields(added + kept, url),
        }
    except adapters.HeaderError as error:
        raise exceptions.InvalidHeader(str(error)) from error.__cause__
    length = next((value for name, value in fields if name.lower() == b"content-length"), None)
    content = b"" if body is None else _content(body)
    if body is not None or length is not None:
        try:
            count = None if length is None else adapters.content_length(length.decode("latin-1"))
        except adapters.LengthError as error:
            raise exceptions.InvalidHeader(str(error)) from error
        if content is not None and count == _len(body):
            # requests counts the elements of an array, which may have several bytes.
            count = len(content)
        params |= adapters.body_params(content, count)
    return adapters.take_expectation(params), iter([content]) if content is not None else _blocks(body)


def _with_proxy_user(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with the user of the field Proxy-Authorization as that of the proxy."""
    name = "proxy-authorization"
    found = next((value for field, value in params["headers"] if field.lower() == name), None)
    if not params["proxy"] or found is None:
        return params
    proxy: dict[str, Any] = params["proxy"]
    scheme, _, token = found.partition(" ")
    if scheme.lower() == "basic" and "@" not in proxy["all"]:
        user, _, password = base64.b64decode(token).decode("latin-1").partition(":")
        proxy = {"all": {"url": proxy["all"], "username": user, "password": password}}
    return params | {"proxy": proxy, "headers": [field for field in params["headers"] if field[0].lower() != name]}


def _bytes(text: str | bytes) -> bytes:
    return text.encode("latin-1") if isinstance(text, str) else text


def _content(body: Any) -> bytes | None:
    """Return the bytes of a body that is in memory."""
    if isinstance(body, str):
        return body.encode()
    return buffer_bytes(body) if is_buffer(body) else None


def _len(body: Any) -> int | None:
    return len(body) if hasattr(body, "__len__") and not isinstance(body, str) else None


def _blocks(body: Any) -> Iterator[bytes]:
    """Yield the blocks of a file or an iterable as they are read; raises BodyError for its CarpoolError."""
    read = reader(body)
    try:
        blocks = iter(body) if read is None else iter(lambda: read(PIECE_BYTES), None)
        for block in blocks:
            if not block and read is not None:
                return
            if block:
                yield block.encode() if isinstance(block, str) else buffer_bytes(block)
    except CarpoolError as error:
        raise BodyError(error) from error


def _send(exchange: Exchange, blocks: Iterator[bytes], counted: adapters.Counted) -> None:
    for block in blocks:
        counted.add(block)
        if not exchange.put(block):
            return
    counted.end()
    exchange.end()
