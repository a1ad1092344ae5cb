"""Client of carpoold: one HTTP session for every tool of the machine."""

from ._async.client import AsyncClient
from ._exceptions import (
    AccessError,
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
    RequestCancelledError,
    RequestError,
    RequestTimeoutError,
    RPCError,
    TransferError,
)
from ._models import Headers, Response
from ._rpc import Notification
from ._sync.client import Client

__all__ = [
    "AccessError",
    "AsyncClient",
    "CallCancelledError",
    "CarpoolError",
    "CertificateError",
    "Client",
    "ConnectError",
    "ConnectionLostError",
    "DaemonUnreachableError",
    "DecodingError",
    "FileAccessError",
    "HTTPStatusError",
    "Headers",
    "InvalidParamsError",
    "MethodNotFoundError",
    "Notification",
    "ObjectError",
    "ProtocolError",
    "QuotaError",
    "RPCError",
    "RequestCancelledError",
    "RequestError",
    "RequestTimeoutError",
    "Response",
    "TransferError",
]
