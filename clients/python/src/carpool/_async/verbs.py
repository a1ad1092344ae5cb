"""The methods of HTTP as methods of the client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

from .. import _names
from .._options import RequestOptions
from .._response import Response
from .stream import AsyncStream

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._arguments import RequestArguments
    from .._defaults import Defaults
    from .._mismatch import NoSuchArgument, OtherType
    from .._pages import Pages

    Wrong = OtherType[NoReturn]

# The maximum of a streamed body that is in transit: the largest pipe that a user may have (pipe(7), pipe-max-size).
CREDIT_BYTES = 1_048_576


class AsyncVerbs:
    """`request`, and one method for each method of HTTP: the part of a client that makes requests and waits."""

    @overload
    async def request(
        self,
        method: str | Wrong,
        url: str | Wrong,
        *,
        stream: Literal[True] | Wrong,
        **options: Unpack[RequestArguments],
    ) -> AsyncStream: ...
    @overload
    async def request(
        self,
        method: str | Wrong,
        url: str | Wrong,
        *,
        stream: Literal[False] = ...,
        **options: Unpack[RequestArguments],
    ) -> Response: ...
    @overload
    async def request(self, method: str, url: str, **options: NoSuchArgument[NoReturn]) -> Response: ...
    async def request(self, method: Any, url: Any, *more: Any, stream: Any = False, **options: Any) -> Any:
        """Send a request and return its response.

        `params` are names and values for the query; `headers` is a mapping or an ordered list of pairs; `json` a value;
        `data` a form, text, bytes, the path of a file, a file open for reading bytes, or an iterable of bytes, the last
        two read while they are sent; `files` the files of a form; `auth` a pair of user and password; `timeout` the
        seconds for the connection and between two bytes, or a pair of both, and `total` those for the whole request;
        `follow_redirects=False` returns a redirect; `verify`, `cert`, `cookies` and `proxies` are as in the package
        requests; `retry` is a number of retries. Other arguments are parameters of the daemon's `request.perform`.

        With `stream=True` it returns the stream of `stream`, which must be closed. `get` and the others
        call this method: that of a subclass, or a mock of it, is called for them too. Raises TypeError and ValueError
        for arguments that are wrong, RequestError and RPCError. A response with an error status is returned, unless
        `validate` refuses it.
        """
        if more:
            raise TypeError(_names.BY_NAME)
        if stream:
            return await self._open(method, url, CREDIT_BYTES, options)
        return await self._request(method, url, options)

    async def _request(self, method: str, url: str, options: Any) -> Response:
        """Send a request and return its response."""
        raise NotImplementedError

    async def _open(self, method: str, url: str, credit_bytes: int, options: Any) -> AsyncStream:
        """Make a request whose body is read while it arrives."""
        raise NotImplementedError

    @property
    def _defaults_of_pages(self) -> Defaults:
        """What is added to requests."""
        raise NotImplementedError

    def pages(
        self,
        url: str,
        *,
        method: str = "GET",
        next_url: str | None = None,
        cursor: str | None = None,
        cursor_param: str | None = None,
        max_pages: int | None = None,
        **options: Unpack[RequestOptions],
    ) -> AsyncIterator[Response]:
        """Iterate over the pages of a resource: the responses from this URL on, each as it is requested.

        The next page is the one that the header field `Link` names with `rel="next"`; with `next_url`, a member of the
        JSON, its URL; with `cursor`, the value of a member that is sent as `cursor_param` in the query. A member is a
        name, or a JSON pointer such as `/meta/next`. The iteration ends with a page that has no next one or a status of
        400 or above, with a page that was there before, and after `max_pages`; without it more than 1,000 raise
        CarpoolError. Another origin than that of `url` gets no credentials. The other arguments are those of `request`.
        """
        from .._pages import Pages  # noqa: PLC0415, few programs use it

        way = {"next_url": next_url, "cursor": cursor, "cursor_param": cursor_param}
        pages = Pages(url, options, self._defaults_of_pages, **way, max_pages=max_pages)
        return self._each(method, pages)

    async def _each(self, method: str, pages: Pages) -> AsyncIterator[Response]:
        is_there = True
        while is_there:
            response = await self.request(method, pages.url, **pages.options)
            yield response
            is_there = pages.advance(response)

    @overload
    async def get(
        self,
        url: str | Wrong,
        *,
        stream: Literal[True] | Wrong,
        **options: Unpack[RequestArguments],
    ) -> AsyncStream: ...
    @overload
    async def get(
        self,
        url: str | Wrong,
        *,
        stream: Literal[False] = ...,
        **options: Unpack[RequestArguments],
    ) -> Response: ...
    @overload
    async def get(self, url: str, **options: NoSuchArgument[NoReturn]) -> Response: ...
    async def get(self, url: Any, *more: Any, **options: Any) -> Any:
        """Make a GET request; the arguments are those of `request`."""
        return await self.request("GET", url, *more, **options)

    @overload
    async def options(
        self,
        url: str | Wrong,
        *,
        stream: Literal[True] | Wrong,
        **options: Unpack[RequestArguments],
    ) -> AsyncStream: ...
    @overload
    async def options(
        self,
        url: str | Wrong,
        *,
        stream: Literal[False] = ...,
        **options: Unpack[RequestArguments],
    ) -> Response: ...
    @overload
    async def options(self, url: str, **options: NoSuchArgument[NoReturn]) -> Response: ...
    async def options(self, url: Any, *more: Any, **options: Any) -> Any:
        """Make an OPTIONS request; the arguments are those of `request`."""
        return await self.request("OPTIONS", url, *more, **options)

    @overload
    async def head(
        self,
        url: str | Wrong,
        *,
        stream: Literal[True] | Wrong,
        **options: Unpack[RequestArguments],
    ) -> AsyncStream: ...
    @overload
    async def head(
        self,
        url: str | Wrong,
        *,
        stream: Literal[False] = ...,
        **options: Unpack[RequestArguments],
    ) -> Response: ...
    @overload
    async def head(self, url: str, **options: NoSuchArgument[NoReturn]) -> Response: ...
    async def head(self, url: Any, *more: Any, **options: Any) -> Any:
        """Make a HEAD request; the arguments are those of `request`. It follows redirects too."""
        return await self.request("HEAD", url, *more, **options)

    @overload
    async def post(
        self,
        url: str | Wrong,
        *,
        stream: Literal[True] | Wrong,
        **options: Unpack[RequestArguments],
    ) -> AsyncStream: ...
    @overload
    async def post(
        self,
        url: str | Wrong,
        *,
        stream: Literal[False] = ...,
        **options: Unpack[RequestArguments],
    ) -> Response: ...
    @overload
    async def post(self, url: str, **options: NoSuchArgument[NoReturn]) -> Response: ...
    async def post(self, url: Any, *more: Any, **options: Any) -> Any:
        """Make a POST request; the arguments are those of `request`."""
        return await self.request("POST", url, *more, **options)

    @overload
    async def put(
        self,
        url: str | Wrong,
        *,
        stream: Literal[True] | Wrong,
        **options: Unpack[RequestArguments],
    ) -> AsyncStream: ...
    @overload
    async def put(
        self,
        url: str | Wrong,
        *,
        stream: Literal[False] = ...,
        **options: Unpack[RequestArguments],
    ) -> Response: ...
    @overload
    async def put(self, url: str, **options: NoSuchArgument[NoReturn]) -> Response: ...
    async def put(self, url: Any, *more: Any, **options: Any) -> Any:
        """Make a PUT request; the arguments are those of `request`."""
        return await self.request("PUT", url, *more, **options)

    @overload
    async def patch(
        self,
        url: str | Wrong,
        *,
        stream: Literal[True] | Wrong,
        **options: Unpack[RequestArguments],
    ) -> AsyncStream: ...
    @overload
    async def patch(
        self,
        url: str | Wrong,
        *,
        stream: Literal[False] = ...,
        **options: Unpack[RequestArguments],
    ) -> Response: ...
    @overload
    async def patch(self, url: str, **options: NoSuchArgument[NoReturn]) -> Response: ...
    async def patch(self, url: Any, *more: Any, **options: Any) -> Any:
        """Make a PATCH request; the arguments are those of `request`."""
        return await self.request("PATCH", url, *more, **options)

    @overload
    async def delete(
        self,
        url: str | Wrong,
        *,
        stream: Literal[True] | Wrong,
        **options: Unpack[RequestArguments],
    ) -> AsyncStream: ...
    @overload
    async def delete(
        self,
        url: str | Wrong,
        *,
        stream: Literal[False] = ...,
        **options: Unpack[RequestArguments],
    ) -> Response: ...
    @overload
    async def delete(self, url: str, **options: NoSuchArgument[NoReturn]) -> Response: ...
    async def delete(self, url: Any, *more: Any, **options: Any) -> Any:
        """Make a DELETE request; the arguments are those of `request`."""
        return await self.request("DELETE", url, *more, **options)
