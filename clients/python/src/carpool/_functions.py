"""The functions of the package, such as `carpool.get`: requests of one client, which is made at the first call."""

from __future__ import annotations

import atexit
from typing import Final

from ._defaults import Defaults
from ._options import RequestOptions
from ._response import Response
from ._sync.client import Client
from ._sync.stream import Stream
from ._sync.verbs import Verbs

_made: Final[dict[str, Client]] = {}


def _client() -> Client:
    """Return the client; of two that threads make at the same time, one is not used and has no connection."""
    if "client" not in _made and _made.setdefault("client", client := Client()) is client:
        atexit.register(client.close)
    return _made["client"]


def replace_client(client: Client | None) -> Client | None:
    """Replace the client of the functions, without one by the next that is made; return the one before."""
    before = _made.pop("client", None)
    if client is not None:
        _made["client"] = client
    return before


class _Functions(Verbs):
    def _request(self, method: str, url: str, options: RequestOptions) -> Response:
        return _client().request(method, url, **options)

    def _open(self, method: str, url: str, credit_bytes: int, options: RequestOptions) -> Stream:
        return _client().request(method, url, stream=True, **options)

    @property
    def _defaults_of_pages(self) -> Defaults:
        return _client()._defaults  # noqa: SLF001, of this package


_functions: Final = _Functions()
request = _functions.request
get = _functions.get
options = _functions.options
head = _functions.head
post = _functions.post
put = _functions.put
patch = _functions.patch
delete = _functions.delete
pages = _functions.pages
