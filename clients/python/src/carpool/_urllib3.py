"""What stands in the place of urllib3's connection pool in an adapter of requests."""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from importlib.metadata import version
from typing import Any, Final

import urllib3
from urllib3 import exceptions
from urllib3.util.request import rewind_body, set_file_position
from urllib3.util.retry import Retry
from urllib3.util.timeout import Timeout

from . import _adapters as adapters
from ._exceptions import CarpoolError, RequestError, RPCError
from ._http1 import ResponseBytes, parsed
from ._sync.exchange import Exchange

_READ_BYTES: Final = 65_536
_SKIPPED: Final = "@@@SKIP_HEADER@@@"
_UNREACHED: Final = {
    "session_task_failed.cannot_find_host",
    "session_task_failed.cannot_connect_to_host",
    "session_task_failed.not_connected_to_internet",
    "session_task_failed.dns_lookup_failed",
}


class URLRefusedError(Exception):
    """The daemon does not accept the URL."""


_KINDS: Final[list[tuple[str, type[Exception]]]] = [
    ("session_task_failed.secure_connection_failed", exceptions.SSLError),
    ("session_task_failed.server_certificate_", exceptions.SSLError),
    ("session_task_failed.client_certificate.", exceptions.SSLError),
    ("server_trust_evaluation_failed", exceptions.SSLError),
    ("invalid_url", URLRefusedError),
    ("session_task_failed.bad_url", URLRefusedError),
]


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
        retries = retries or Retry(0, read=False)
        call = Call(method, url, body, headers or {}, timeout or Timeout())
        position = set_file_position(body, None)
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
                retries = retries.increment(method, url, error=error, _pool=self, _stacktrace=sys.exc_info()[2])  # type: ignore[arg-type]
            retries.sleep(response)
            if position is not None:
                rewind_body(body, position)

    def _attempt(self, call: Call, retries: Retry) -> urllib3.HTTPResponse:
        target = self.base + call.url if call.url.startswith("/") else call.url
        params, blocks = _request(call, target)
        params = _with_proxy_user(self._settings | params)
        params["connect_timeout_ms"] = adapters.milliseconds(_seconds(call.timeout.connect_timeout))
        params["timeout_ms"] = adapters.milliseconds(_seconds(call.timeout.read_timeout))
        exchange = self._begin()
        try:
            exchange.open(params, self._configuration)
            if "stream" in params.get("body", {}):
                _send(exchange, blocks)
            head = exchange.head()
            message = parsed(ResponseBytes(exchange, head, call.method, self._keep), call.method)
        except BaseException as error:
            exchange.close()
            self._keep(exchange)
            converted = self._converted(error, target)
            if converted is error:
                raise
            raise converted from error
        return urllib3.HTTPResponse(
            body=message,
            headers=urllib3.HTTPHeaderDict(message.msg.items()),
            status=message.status,
            version=20 if head["http_version"] == "h2" else message.version,
            reason=message.reason,
            preload_content=False,
            decode_content=False,
            original_response=message,
            retries=retries,
            request_method=call.method,
            request_url=call.url,
        )

    def _begin(self) -> Exchange:
        if idle := self._idle.take():
            return Exchange(idle.channel)
        try:
            return Exchange.on_new_channel()
        except CarpoolError as error:
            raise exceptions.ProtocolError(adapters.connection_message(error)) from error

    def _keep(self, exchange: Exchange) -> None:
        if exchange.is_reusable:
            self._idle.give(exchange)

    def _converted(self, error: BaseException, url: str) -> BaseException:
        """Return the exception of urllib3 for an error of the exchange."""
        if isinstance(error, RequestError):
            return _failure(self, error, url)
        if isinstance(error, RPCError):
            return _refusal(error)
        if isinstance(error, CarpoolError):
            return exceptions.ProtocolError(adapters.connection_message(error))
        if isinstance(error, (HTTPException, ConnectionError)):
            return exceptions.ProtocolError("Connection aborted.", error)
        return error


def _failure(origin: Origin, error: RequestError, url: str) -> Exception:
    name, message = error.name, error.message
    if name == "session_task_failed.timed_out":
        if error.data.get("timeout") == "connect":
            return exceptions.ConnectTimeoutError(origin, message)
        return exceptions.ReadTimeoutError(origin, url, f"Read timed out. ({message})")  # type: ignore[arg-type]
    if name.startswith("session_task_failed.proxy."):
        return exceptions.ProxyError(message, OSError(message))
    if name in _UNREACHED:
        return exceptions.NewConnectionError(origin, message)  # type: ignore[arg-type]
    kind = next((kind for start, kind in _KINDS if name.startswith(start)), None)
    if name == "session_task_failed.cannot_parse_response" and "Content-Length" in message:
        kind = exceptions.InvalidHeader
    return kind(message) if kind else exceptions.ProtocolError("Connection aborted.", ConnectionError(message))


def _refusal(error: RPCError) -> Exception:
    path = str(error.data.get("path", ""))
    if path.startswith("params.headers"):
        return exceptions.InvalidHeader(str(error))
    if path.startswith("params.url"):
        return URLRefusedError(str(error))
    if path.startswith(("params.trust", "params.client_certificate")) or error.name.startswith("client_certificate."):
        return exceptions.SSLError(str(error))
    if path.startswith("params.proxy"):
        return exceptions.ProxyError(str(error), OSError(str(error)))
    return exceptions.ProtocolError(str(error))


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
        raise exceptions.InvalidHeader(str(error)) from error
    length = next((value for name, value in fields if name.lower() == b"content-length"), None)
    content = b"" if body is None else _content(body)
    if body is not None or length is not None:
        params |= adapters.body_params(call.method, content, None if length is None else int(length))
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
    return bytes(body) if isinstance(body, (bytes, bytearray, memoryview)) else None


def _blocks(body: Any) -> Iterator[bytes]:
    """Yield the blocks of a file or an iterable as they are read."""
    reader: Callable[[int], Any] | None = getattr(body, "read", None)
    blocks = iter(body) if reader is None else iter(lambda: reader(_READ_BYTES), None)
    for block in blocks:
        if not block and reader is not None:
            return
        if block:
            yield block.encode() if isinstance(block, str) else bytes(block)


def _send(exchange: Exchange, blocks: Iterator[bytes]) -> None:
    for block in blocks:
        if not exchange.put(block):
            return
    exchange.end()
