"""Client of carpoold: one HTTP session for every tool of the machine."""

import importlib
import sys
import typing

from . import _names
from ._cookies import Cookies
from ._events import Event, HostReachability, Reachability
from ._exceptions import (
    AccessError,
    AdaptationError,
    CallCancelledError,
    CarpoolError,
    CertificateError,
    ConnectError,
    ConnectionLostError,
    DaemonUnreachableError,
    DecodingError,
    FileAccessError,
    ForkedError,
    HTTPStatusError,
    InvalidParamsError,
    MethodNotFoundError,
    ObjectError,
    ProtocolError,
    ProxyError,
    QuotaError,
    Refuse,
    RequestCancelledError,
    RequestError,
    RequestTimeoutError,
    RetryError,
    RPCError,
    SerializationError,
    TransferError,
    ValidationError,
)
from ._functions import delete, get, head, options, pages, patch, post, put, request
from ._inputs import (
    CacheOptions,
    CallbackOptions,
    ClientOptions,
    DigestAuth,
    RedirectOptions,
    RetryPolicy,
    SerializeOptions,
    SessionCacheOptions,
)
from ._interceptors import InterceptorOptions
from ._models import CacheOutcome, Headers, Progress, ServerSentEvent
from ._netrc import NetrcAuth
from ._options import RequestOptions, SessionOptions
from ._response import Response
from ._rpc import Notification
from ._sync.cache import Cache
from ._sync.client import Client
from ._sync.events import EventStream
from ._sync.stream import Stream

if typing.TYPE_CHECKING:
    from ._async.cache import AsyncCache
    from ._async.client import AsyncClient
    from ._async.events import AsyncEventStream
    from ._async.stream import AsyncStream
    from ._calls import (
        AdaptCall,
        AuthenticateCall,
        BodyCall,
        CacheCall,
        CacheChanges,
        CallbackCall,
        Changes,
        Credential,
        DestinationCall,
        PreprocessCall,
        RedirectCall,
        RefreshCall,
        ResponseHead,
        RetryCall,
        SerializeCall,
        TrustCall,
        URLRequest,
        ValidateCall,
    )
    from ._jar import ClientCookies
    from ._prepared import PreparedRequest

__all__ = [
    "AccessError",
    "AdaptCall",
    "AdaptationError",
    "AsyncCache",
    "AsyncClient",
    "AsyncEventStream",
    "AsyncStream",
    "AuthenticateCall",
    "BodyCall",
    "Cache",
    "CacheCall",
    "CacheChanges",
    "CacheOptions",
    "CacheOutcome",
    "CallCancelledError",
    "CallbackCall",
    "CallbackOptions",
    "CarpoolError",
    "CertificateError",
    "Changes",
    "Client",
    "ClientCookies",
    "ClientOptions",
    "ConnectError",
    "ConnectionLostError",
    "Cookies",
    "Credential",
    "DaemonUnreachableError",
    "DecodingError",
    "DestinationCall",
    "DigestAuth",
    "Event",
    "EventStream",
    "FileAccessError",
    "ForkedError",
    "HTTPStatusError",
    "Headers",
    "HostReachability",
    "InterceptorOptions",
    "InvalidParamsError",
    "MethodNotFoundError",
    "NetrcAuth",
    "Notification",
    "ObjectError",
    "PreparedRequest",
    "PreprocessCall",
    "Progress",
    "ProtocolError",
    "ProxyError",
    "QuotaError",
    "RPCError",
    "Reachability",
    "RedirectCall",
    "RedirectOptions",
    "RefreshCall",
    "Refuse",
    "RequestCancelledError",
    "RequestError",
    "RequestOptions",
    "RequestTimeoutError",
    "Response",
    "ResponseHead",
    "RetryCall",
    "RetryError",
    "RetryPolicy",
    "SerializationError",
    "SerializeCall",
    "SerializeOptions",
    "ServerSentEvent",
    "SessionCacheOptions",
    "SessionOptions",
    "Stream",
    "TransferError",
    "TrustCall",
    "URLRequest",
    "ValidateCall",
    "ValidationError",
    "delete",
    "get",
    "head",
    "options",
    "pages",
    "patch",
    "post",
    "put",
    "request",
]

# The version of the package; pyproject.toml reads it here.
__version__ = "0.1.0"

_LATER = {
    "AsyncCache": "._async.cache",
    "AsyncClient": "._async.client",
    "AsyncEventStream": "._async.events",
    "AsyncStream": "._async.stream",
    "ClientCookies": "._jar",
    "PreparedRequest": "._prepared",
} | dict.fromkeys(
    (
        "AdaptCall",
        "AuthenticateCall",
        "AuthenticateCall",
        "BodyCall",
        "CacheCall",
        "CacheChanges",
        "CallbackCall",
        "Changes",
        "Credential",
        "DestinationCall",
        "PreprocessCall",
        "RedirectCall",
        "RefreshCall",
        "ResponseHead",
        "RetryCall",
        "SerializeCall",
        "TrustCall",
        "URLRequest",
        "ValidateCall",
    ),
    "._calls",
)

if _names.Finder not in sys.meta_path:
    # The last one: it is asked for what does not exist.
    sys.meta_path.append(_names.Finder)

# A type checker would accept every name.
if not typing.TYPE_CHECKING:

    def __getattr__(name: str) -> typing.Any:
        """Import asyncio and the callback classes on first use, because few programs need them."""
        if name not in _LATER:
            raise _names.missing_in_module(__name__, name)
        return getattr(importlib.import_module(_LATER[name], __name__), name)
