"""Client of carpoold: one HTTP session for every tool of the machine."""

import typing

from ._calls import (
    AdaptCall,
    BodyCall,
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
    URLRequest,
    ValidateCall,
)
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
    HTTPStatusError,
    InvalidParamsError,
    MethodNotFoundError,
    ObjectError,
    ProtocolError,
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
from ._models import Headers, Progress, Response, ServerSentEvent
from ._options import CallbackOptions, RedirectOptions, RequestOptions, RetryPolicy, SerializeOptions
from ._rpc import Notification
from ._sync.client import Client
from ._sync.stream import Stream

if typing.TYPE_CHECKING:
    from ._async.client import AsyncClient
    from ._async.stream import AsyncStream

__all__ = [
    "AccessError",
    "AdaptCall",
    "AdaptationError",
    "AsyncClient",
    "AsyncStream",
    "BodyCall",
    "CallCancelledError",
    "CallbackCall",
    "CallbackOptions",
    "CarpoolError",
    "CertificateError",
    "Changes",
    "Client",
    "ConnectError",
    "ConnectionLostError",
    "Credential",
    "DaemonUnreachableError",
    "DecodingError",
    "DestinationCall",
    "FileAccessError",
    "HTTPStatusError",
    "Headers",
    "InvalidParamsError",
    "MethodNotFoundError",
    "Notification",
    "ObjectError",
    "PreprocessCall",
    "Progress",
    "ProtocolError",
    "QuotaError",
    "RPCError",
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
    "Stream",
    "TransferError",
    "URLRequest",
    "ValidateCall",
    "ValidationError",
]


def __getattr__(name: str) -> type:
    """Import the asynchronous client when it is asked for: asyncio is half of what the package takes to be there."""
    if name == "AsyncClient":
        from ._async.client import AsyncClient  # noqa: PLC0415, that is the point

        return AsyncClient
    if name == "AsyncStream":
        from ._async.stream import AsyncStream  # noqa: PLC0415

        return AsyncStream
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
