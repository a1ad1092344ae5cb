"""What both transports of httpx share: the parameters of a request, its response, and the exceptions."""

from __future__ import annotations

import contextlib
import errno
import os
import ssl
import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any, Final, cast

import httpx

from . import _adapters as adapters
from ._environment import trust_of_folders, trust_of_variable
from ._exceptions import (
    AccessError,
    CarpoolError,
    ConnectionLostError,
    InvalidParamsError,
    QuotaError,
    RequestError,
    RPCError,
)
from ._http1 import raw_headers
from ._paths import trust_of_path
from ._response import reason_phrase
from ._sources import buffer_bytes, has_ended, is_buffer

_VERSIONS: Final = {"http/1.0": b"HTTP/1.0", "http/1.1": b"HTTP/1.1", "h2": b"HTTP/2"}
_PARTIAL: Final = 18  # CURLE_PARTIAL_FILE


def pause_before(retry: int) -> float:
    """Return the seconds before a retry of a connection, as httpcore counts them."""
    return 0.0 if retry == 0 else 0.5 * float(2 ** (retry - 1))


def is_replaced(transport: type, method: str, pool: str) -> bool:
    """Whether a mock has replaced the method that sends, of a transport of httpx or of the pool below it."""
    core = sys.modules.get("httpcore")
    return adapters.is_replaced(transport, method) or (
        core is not None and adapters.is_replaced(getattr(core, pool), method)
    )


class Settings:
    """The arguments of a transport as parameters of its requests."""

    def __init__(
        self,
        *,
        verify: Any,
        cert: Any,
        trust_env: bool,
        http1: bool,
        http2: bool,
        proxy: Any,
        uds: str | None,
        local_address: str | None,
        **_: Any,
    ) -> None:
        self.configuration = dict(adapters.BASE_CONFIGURATION)
        self._tls: dict[str, Any] = {}
        self._trust(verify, trust_env)
        if cert:
            self._tls["client_certificate"] = adapters.certificate(cert)
        self._common: dict[str, Any] = {
            **adapters.BASE_PARAMS,
            "session": adapters.session_name(self.configuration),
            "http_version": "1.1" if not http2 else "auto" if http1 else "2",
            "proxy": _proxy(proxy),
        }
        addresses = {"unix_socket": uds and os.path.abspath(uds), "local_address": local_address}  # noqa: PTH100
        if given := {name: value for name, value in addresses.items() if value}:
            self._common["addresses"] = given

    def _trust(self, verify: Any, trust_env: bool) -> None:
        if isinstance(verify, ssl.SSLContext):
            self.configuration["trust"] = adapters.trust_of_context(verify)
        elif isinstance(verify, (str, bytes, os.PathLike)):
            self._tls["trust"] = trust_of_path(verify)
        elif not verify:
            self._tls["trust"] = {"verify": False}
        elif trust_env and (file := os.environ.get("SSL_CERT_FILE")):
            self._tls["trust"] = trust_of_variable("SSL_CERT_FILE", file)
        elif trust_env and (folders := os.environ.get("SSL_CERT_DIR")):
            self._tls["trust"] = trust_of_folders(folders)

    def params(self, request: httpx.Request) -> dict[str, Any]:
        """Return the parameters of a request; raises UnsupportedProtocol and LocalProtocolError."""
        url = request.url
        if url.scheme not in {"http", "https"}:
            raise httpx.UnsupportedProtocol(
                f"Request URL has an unsupported protocol '{url.scheme}://'."
                if url.scheme
                else "Request URL is missing an 'http://' or 'https://' protocol.",
                request=request,
            )
        target = request.extensions.get("target", url.raw_path).decode("ascii")
        whole = f"{url.scheme}://{url.netloc.decode('ascii')}{target}"
        try:
            headers = adapters.header_fields(request.headers.raw, whole)
        except adapters.HeaderError as error:
            raise httpx.LocalProtocolError(str(error), request=request) from error.__cause__
        params = self._common | {"method": request.method, "url": whole, "headers": headers}
        if url.scheme == "https":
            params |= self._tls
        params |= _body(request)
        timeout = request.extensions.get("timeout", {})
        waits = [timeout.get("read")]
        if "stream" in params.get("body", {}):
            waits.append(timeout.get("write"))
        params["timeout_ms"] = max(map(adapters.milliseconds, waits))
        params["connect_timeout_ms"] = adapters.milliseconds(timeout.get("connect"))
        return adapters.take_expectation(params)

    @staticmethod
    def response(head: dict[str, Any], stream: httpx.SyncByteStream | httpx.AsyncByteStream) -> httpx.Response:
        """Return the response with this head and body."""
        extensions = {
            "http_version": _VERSIONS.get(head["http_version"], b"HTTP/1.1"),
            "reason_phrase": b"" if head["http_version"] == "h2" else reason_phrase(head["status"]).encode(),
        }
        return httpx.Response(head["status"], headers=raw_headers(head), stream=stream, extensions=extensions)


def may_retry(error: httpx.TransportError) -> bool:
    """Whether another connection may help: not where the daemon refuses the call."""
    return not isinstance(error.__cause__, RPCError) or isinstance(error.__cause__, (AccessError, QuotaError))


def traced(head: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the event of a response for the extension `trace`, by the names of httpcore."""
    headers = raw_headers(head)
    if head["http_version"] == "h2":
        return "http2.receive_response_headers.complete", {"return_value": (head["status"], headers)}
    value = (_VERSIONS[head["http_version"]], head["status"], reason_phrase(head["status"]).encode(), headers)
    return "http11.receive_response_headers.complete", {"return_value": value}


def _proxy(proxy: Any) -> dict[str, Any]:
    if proxy is None:
        return {}
    given = proxy if isinstance(proxy, httpx.Proxy) else httpx.Proxy(proxy)
    server: dict[str, Any] = {"url": adapters.proxy(str(given.url))["all"]}
    if given.auth is not None:
        server["username"], server["password"] = given.auth
    return {"all": server}


def _body(request: httpx.Request) -> dict[str, Any]:
    length = request.headers.get("content-length")
    if length is None and "transfer-encoding" not in request.headers:
        return {}
    content = _content(request)
    if content is not None and len(content) > adapters.PIECE_BYTES:
        content = None
    return adapters.body_params(content, None if length is None else adapters.content_length(length))


def _content(request: httpx.Request) -> bytes | None:
    """Return a body that is in memory; httpx divides those that are no bytes, such as arrays, into their elements."""
    if isinstance(request.stream, httpx.ByteStream):
        return b"".join(request.stream)
    source = getattr(request.stream, "_stream", None)
    return buffer_bytes(source) if is_buffer(source) else None


def blocks(request: httpx.Request) -> Iterable[bytes]:
    """Return the blocks of a body that is sent in pieces."""
    content = _content(request)
    return cast("httpx.SyncByteStream", request.stream) if content is None else [content]


def check_unread(request: httpx.Request) -> None:
    """Raise StreamConsumed for a body that was read before; httpx does so only for a generator of the same request."""
    if isinstance(request.stream, httpx.ByteStream):
        return
    source = getattr(request.stream, "_stream", None)
    is_iterator = (hasattr(source, "__next__") or hasattr(source, "__anext__")) and not hasattr(source, "seek")
    if has_ended(source) or (is_iterator and getattr(request.stream, "_is_stream_consumed", False)):
        raise httpx.StreamConsumed


@contextlib.contextmanager
def converted(request: httpx.Request, *, is_sending: bool = False, is_receiving: bool = False) -> Iterator[None]:
    """Raise the exceptions of httpx for those of the daemon."""
    try:
        yield
    except adapters.LengthError as error:
        raise httpx.LocalProtocolError(str(error), request=request) from error
    except RequestError as error:
        raise _failure(error, is_receiving=is_receiving)(error.message, request=request) from error
    except RPCError as error:
        path = str(error.data.get("path", ""))
        kind: type[httpx.TransportError] = httpx.ReadError if is_receiving else httpx.ConnectError
        if path.startswith("params.proxy"):
            kind = httpx.ProxyError
        elif isinstance(error, InvalidParamsError):
            kind = httpx.LocalProtocolError
        raise kind(str(error), request=request) from error
    except CarpoolError as error:
        lost: type[httpx.TransportError] = httpx.ConnectError
        if is_receiving or isinstance(error, ConnectionLostError):
            lost = httpx.WriteError if is_sending else httpx.ReadError
        raise lost(adapters.connection_message(error), request=request) from error


@contextlib.asynccontextmanager
async def finished(blocks: AsyncIterator[bytes]) -> AsyncIterator[AsyncIterator[bytes]]:
    """Close an asynchronous generator that was not read to its end."""
    try:
        yield blocks
    finally:
        if (close := getattr(blocks, "aclose", None)) is not None:
            await close()


@contextlib.contextmanager
def taken_within(seconds: float | None, request: httpx.Request) -> Iterator[None]:
    """Raise WriteTimeout if a block of the body was not taken."""
    try:
        yield
    except TimeoutError as error:
        message = f"a block of the body was not taken within {seconds} s"
        raise httpx.WriteTimeout(message, request=request) from error


def _failure(error: RequestError, *, is_receiving: bool) -> type[httpx.TransportError]:
    name = error.name
    if name == "session_task_failed.timed_out":
        kinds = {"connect": httpx.ConnectTimeout, "queue": httpx.PoolTimeout, "body": httpx.WriteTimeout}
        return kinds.get(str(error.data.get("timeout")), httpx.ReadTimeout)
    if name.startswith("session_task_failed.proxy."):
        return httpx.ProxyError
    if name.startswith(adapters.UNREACHED + adapters.UNTRUSTED):
        return httpx.ConnectError
    if name in {"invalid_url", "session_task_failed.bad_url"}:
        return httpx.UnsupportedProtocol
    is_partial = (error.data.get("curl") or {}).get("code") == _PARTIAL
    if (
        name == "session_task_failed.network_connection_lost"
        and error.data.get("errno") == errno.ECONNRESET
        and not is_partial
    ):
        return httpx.ReadError
    return httpx.RemoteProtocolError
