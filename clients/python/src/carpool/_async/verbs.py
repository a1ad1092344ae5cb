"""The methods of HTTP as methods of the client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from .._options import RequestOptions
from .._response import Response
from .stream import AsyncStream

if TYPE_CHECKING:
    from typing_extensions import Unpack

# The maximum of a streamed body that is in transit: the largest pipe that a user may have (pipe(7), pipe-max-size).
CREDIT_BYTES = 1_048_576


class AsyncVerbs:
    """`request`, and one method for each method of HTTP: the part of a client that makes requests and waits."""

    @overload
    async def request(
        self,
        method: str,
        url: str,
        *,
        stream: Literal[True],
        **options: Unpack[RequestOptions],
    ) -> AsyncStream: ...
    @overload
    async def request(
        self,
        method: str,
        url: str,
        *,
        stream: Literal[False] = ...,
        **options: Unpack[RequestOptions],
    ) -> Response: ...
    async def request(self, method: str, url: str, *, stream: bool = False, **options: Unpack[RequestOptions]) -> Any:
        """Send a request and return its response.

        `params` are names and values for the query; `headers` is a mapping or an ordered list of pairs; `json` a value;
        `data` a form, text, bytes, the path of a file, a file open for reading bytes, or an iterable of bytes, the last
        two read while they are sent; `files` the files of a form; `auth` a pair of user and password; `timeout` the
        seconds for the connection and between two bytes, or a pair of both, and `total` those for the whole request;
        `follow_redirects=False` returns a redirect; `verify`, `cert`, `cookies` and `proxies` are as in the package
        requests; `retry` is a number of retries. Other arguments are parameters of the daemon's `request.perform`.

        With `stream=True` it returns the stream of `stream`, which must be closed. Raises TypeError and ValueError for
        arguments that are wrong, RequestError and RPCError. A response with an error status is returned, unless
        `validate` refuses it.
        """
        return await self._either(method, url, options, stream=stream)

    async def _either(self, method: str, url: str, options: RequestOptions, *, stream: bool) -> Response | AsyncStream:
        """Return the response of a request, or its stream."""
        if stream:
            return await self._open(method, url, CREDIT_BYTES, options)
        return await self._request(method, url, options)

    async def _request(self, method: str, url: str, options: RequestOptions) -> Response:
        """Send a request and return its response."""
        raise NotImplementedError

    async def _open(self, method: str, url: str, credit_bytes: int, options: RequestOptions) -> AsyncStream:
        """Make a request whose body is read while it arrives."""
        raise NotImplementedError

    @overload
    async def get(self, url: str, *, stream: Literal[True], **options: Unpack[RequestOptions]) -> AsyncStream: ...
    @overload
    async def get(self, url: str, *, stream: Literal[False] = ..., **options: Unpack[RequestOptions]) -> Response: ...
    async def get(self, url: str, *, stream: bool = False, **options: Unpack[RequestOptions]) -> Any:
        """Make a GET request; the arguments are those of `request`."""
        return await self._either("GET", url, options, stream=stream)

    @overload
    async def options(self, url: str, *, stream: Literal[True], **options: Unpack[RequestOptions]) -> AsyncStream: ...
    @overload
    async def options(
        self,
        url: str,
        *,
        stream: Literal[False] = ...,
        **options: Unpack[RequestOptions],
    ) -> Response: ...
    async def options(self, url: str, *, stream: bool = False, **options: Unpack[RequestOptions]) -> Any:
        """Make an OPTIONS request; the arguments are those of `request`."""
        return await self._either("OPTIONS", url, options, stream=stream)

    @overload
    async def head(self, url: str, *, stream: Literal[True], **options: Unpack[RequestOptions]) -> AsyncStream: ...
    @overload
    async def head(self, url: str, *, stream: Literal[False] = ..., **options: Unpack[RequestOptions]) -> Response: ...
    async def head(self, url: str, *, stream: bool = False, **options: Unpack[RequestOptions]) -> Any:
        """Make a HEAD request; the arguments are those of `request`."""
        return await self._either("HEAD", url, options, stream=stream)

    @overload
    async def post(self, url: str, *, stream: Literal[True], **options: Unpack[RequestOptions]) -> AsyncStream: ...
    @overload
    async def post(self, url: str, *, stream: Literal[False] = ..., **options: Unpack[RequestOptions]) -> Response: ...
    async def post(self, url: str, *, stream: bool = False, **options: Unpack[RequestOptions]) -> Any:
        """Make a POST request; the arguments are those of `request`."""
        return await self._either("POST", url, options, stream=stream)

    @overload
    async def put(self, url: str, *, stream: Literal[True], **options: Unpack[RequestOptions]) -> AsyncStream: ...
    @overload
    async def put(self, url: str, *, stream: Literal[False] = ..., **options: Unpack[RequestOptions]) -> Response: ...
    async def put(self, url: str, *, stream: bool = False, **options: Unpack[RequestOptions]) -> Any:
        """Make a PUT request; the arguments are those of `request`."""
        return await self._either("PUT", url, options, stream=stream)

    @overload
    async def patch(self, url: str, *, stream: Literal[True], **options: Unpack[RequestOptions]) -> AsyncStream: ...
    @overload
    async def patch(self, url: str, *, stream: Literal[False] = ..., **options: Unpack[RequestOptions]) -> Response: ...
    async def patch(self, url: str, *, stream: bool = False, **options: Unpack[RequestOptions]) -> Any:
        """Make a PATCH request; the arguments are those of `request`."""
        return await self._either("PATCH", url, options, stream=stream)

    @overload
    async def delete(self, url: str, *, stream: Literal[True], **options: Unpack[RequestOptions]) -> AsyncStream: ...
    @overload
    async def delete(
        self,
        url: str,
        *,
        stream: Literal[False] = ...,
        **options: Unpack[RequestOptions],
    ) -> Response: ...
    async def delete(self, url: str, *, stream: bool = False, **options: Unpack[RequestOptions]) -> Any:
        """Make a DELETE request; the arguments are those of `request`."""
        return await self._either("DELETE", url, options, stream=stream)
