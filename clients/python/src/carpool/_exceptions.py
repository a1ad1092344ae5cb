"""The exceptions of this package.

CarpoolError
├── DaemonUnreachableError      no daemon, or it could not be started
│   └── ConnectionLostError     it disconnected during a call
├── ProtocolError               what answers on the socket is not carpoold
├── ForkedError                 an object of the parent process was used after os.fork()
├── RPCError                    the daemon refused the call
│   ├── MethodNotFoundError
│   ├── InvalidParamsError
│   ├── CallCancelledError
│   ├── AccessError             1000s: protocol and rights
│   ├── ObjectError             1100s: not found, wrong state
│   ├── QuotaError              1200s: a limit of the daemon
│   └── FileAccessError         1300s: a file that the call named
└── RequestError                the request has no accepted response
    ├── HTTPStatusError         raise_for_status() on 400 and above
    ├── RequestCancelledError
    ├── AdaptationError         an interceptor could not adapt the request
    ├── RetryError              a retrier failed with an error of its own
    ├── ValidationError         `validate` did not accept the response
    ├── SerializationError      the body has no value for `serialize`
    └── TransferError           no answer from the origin
        ├── ConnectError
        │   └── ProxyError
        ├── CertificateError
        ├── DecodingError
        └── RequestTimeoutError (a TimeoutError too)

Refuse                          not raised here: callback handlers raise it
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ._paths import shown

if TYPE_CHECKING:
    from ._response import Response


class CarpoolError(Exception):
    """The base class of the exceptions of this package.

    `type(error)(*error.args)` is an equal exception. They can be copied and pickled, with their attributes, notes,
    cause and context, but without tracebacks.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        chain = (_portable(self.__cause__), _portable(self.__context__), self.__suppress_context__)
        return _blank, (type(self),), (self.__dict__, self.args, *chain)

    def __setstate__(self, state: Any) -> None:
        """Set what `__reduce__` has saved."""
        attributes, self.args, cause, self.__context__, is_suppressed = state
        self.__dict__.update(attributes)
        self.__cause__ = cause
        self.__suppress_context__ = is_suppressed

    def __copy__(self) -> CarpoolError:
        copy = _blank(type(self))
        chain = (self.__cause__, self.__context__, self.__suppress_context__)
        copy.__setstate__((self.__dict__, self.args, *chain))
        return copy


def _blank(kind: type[CarpoolError]) -> CarpoolError:
    """Return an exception without attributes."""
    return kind.__new__(kind)


def _portable(error: BaseException | None) -> BaseException | None:
    """Return an exception that can be pickled: a cause of another package that cannot becomes its text."""
    if error is None or isinstance(error, CarpoolError):
        return error
    import pickle  # noqa: PLC0415, only for an error that is copied

    try:
        copy = pickle.loads(pickle.dumps(error))  # noqa: S301, what this process has made
    except Exception:  # noqa: BLE001, any code of the other package
        copy = None
    return error if type(copy) is type(error) else Exception(f"{type(error).__name__}: {error}")


def _shown(error: CarpoolError) -> str:
    """Return an exception without its record, which has the content and may have secrets."""
    return f"{type(error).__name__}({str(error)!r})"


class DaemonUnreachableError(CarpoolError):
    """No daemon answers on the socket and none could be started, or the program may open no more files."""


class ConnectionLostError(DaemonUnreachableError):
    """The connection ended before the answer came."""


class ProtocolError(CarpoolError):
    """The peer does not speak carpoold's protocol."""


class ForkedError(CarpoolError):
    """The object belongs to the parent process: after os.fork() the child makes its own."""


class RPCError(CarpoolError):
    """An error answer; `name` is its documented name, `data` has the other members."""

    def __init__(self, code: int, message: str, data: dict[str, Any]) -> None:
        self.code = code
        self.message = message
        self.data = data
        self.name: str = str(data.get("name", ""))
        self.retryable: bool = data.get("retryable") is True
        self.hint: str | None = _in_python(data.get("hint"))
        super().__init__(code, message, data)

    def __str__(self) -> str:
        return shown(f"{self.message} ({self.name or self.code})" + (f"; {self.hint}" if self.hint else ""))

    __repr__ = _shown


class MethodNotFoundError(RPCError):
    """The daemon has no such method."""


class InvalidParamsError(RPCError):
    """A parameter is unknown or wrong; `data` has its `path`, what was `expected` and `did_you_mean`."""


class CallCancelledError(RPCError):
    """The call was cancelled by `rpc.cancel`."""


class AccessError(RPCError):
    """The protocol's limits or the caller's rights forbid the call."""


class ObjectError(RPCError):
    """The object of the call is unknown, deleted or in another state."""


class QuotaError(RPCError):
    """A limit of the daemon is reached."""


class FileAccessError(RPCError):
    """A file that the call named cannot be used."""


class RequestError(CarpoolError):
    """The request failed.

    `record` is the daemon's record of the request, and `data` the record of this error with its `details`. An error
    that was caused by another one also has it as its `__cause__`.
    """

    def __init__(self, name: str, message: str, record: dict[str, Any], data: dict[str, Any] | None = None) -> None:
        self.name = name
        self.message = message
        self.record = record
        self.data: dict[str, Any] = data or {}
        super().__init__()
        # Not by the constructor: that of a TimeoutError would read an errno from them.
        self.args = (name, message, record, data)
        self.__cause__ = self.underlying or self.retry_error

    def __str__(self) -> str:
        text = f"{self.message} ({self.name})" if self.message else self.name
        return shown(f"{text}; {self.hint}" if self.hint else text)

    __repr__ = _shown

    @property
    def request_id(self) -> str:
        """The daemon's id of the request."""
        return str(self.record.get("request", ""))

    @property
    def retryable(self) -> bool:
        """Whether a retry of the request may succeed, and is safe."""
        return self.data.get("retryable") is True

    @property
    def hint(self) -> str | None:
        """What to do about the error; None if nothing is known to help."""
        return _in_python(self.data.get("hint"))

    @property
    def details(self) -> dict[str, Any]:
        """The details of the error, as the page on failures lists them; causes are records."""
        return dict(self.data.get("details", {}))

    @property
    def resume_data(self) -> str | None:
        """The resume data of a failed download; None if it cannot be resumed."""
        return self.record.get("resume_data")

    @property
    def underlying(self) -> RequestError | None:
        """The error that caused this one."""
        return self._nested("underlying")

    @property
    def retry_error(self) -> RequestError | None:
        """The error of the retrier, for `request_retry_failed`."""
        return self._nested("retry_error")

    @property
    def original_error(self) -> RequestError | None:
        """The error for which the retrier was called, for `request_retry_failed`."""
        return self._nested("original_error")

    def _nested(self, member: str) -> RequestError | None:
        error = self.details.get(member)
        return make_request_error(error, self.record) if isinstance(error, dict) else None


class HTTPStatusError(RequestError):
    """The origin answered with status 400 or above."""

    def __init__(
        self, response: Response | dict[str, Any], content: bytes | None = None, encoding: str | None = None
    ) -> None:
        """Make the exception of a response.

        `args` has its record, content and encoding instead: other packages write them as JSON.
        """
        if isinstance(response, dict):
            from ._response import Response  # noqa: PLC0415, which imports this module

            response = Response(response, content)
            response.encoding = encoding
        self.response = response
        super().__init__("http_status", f"{response.url} answered {response.status_code}", response.record)
        self.args = (response.record, response.spooled, response.encoding)


class RequestCancelledError(RequestError):
    """The request was cancelled, or its session was invalidated."""


class AdaptationError(RequestError):
    """An interceptor could not adapt the request, so that it was not sent."""


class RetryError(RequestError):
    """A retrier failed with an error of its own: `retry_error`, after `original_error`."""


class ValidationError(RequestError):
    """`validate` did not accept the response; `record` contains it with its body."""


class SerializationError(RequestError):
    """The body could not be converted to the value that `serialize` names; `record` has the body."""


class TransferError(RequestError):
    """The transfer failed below HTTP."""


class ConnectError(TransferError):
    """No connection to the origin: its name, its address or the network failed."""


class ProxyError(ConnectError):
    """The proxy does not answer, or makes no connection to the origin."""


class CertificateError(TransferError):
    """TLS failed or the origin's certificate is not trusted."""


class DecodingError(TransferError):
    """The body of the answer could not be decoded, or it exceeds its limit."""


class RequestTimeoutError(TransferError, TimeoutError):
    """The request exceeded a time limit."""


class Refuse(Exception):  # noqa: N818, an answer, not an error
    """Raised by a callback handler to refuse; the reason becomes part of the request's error.

    A `redirect` callback has no such answer: the redirect is not followed.
    """


# The place where programs find them, which tracebacks show and pickles contain.
for _kind in list(vars().values()):
    if isinstance(_kind, type) and issubclass(_kind, Exception):
        _kind.__module__ = "carpool"
del _kind

# The mapping from error codes to classes: single codes first, then ranges of a hundred.
_BY_CODE: Final[dict[int, type[RPCError]]] = {
    -32601: MethodNotFoundError,
    -32602: InvalidParamsError,
    -32800: CallCancelledError,
    1206: ObjectError,
}
_BY_HUNDRED: Final[dict[int, type[RPCError]]] = {10: AccessError, 11: ObjectError, 12: QuotaError, 13: FileAccessError}

_BY_NAME: Final[dict[str, type[RequestError]]] = {
    "explicitly_cancelled": RequestCancelledError,
    "session_invalidated": RequestCancelledError,
    "request_adaptation_failed": AdaptationError,
    "request_retry_failed": RetryError,
    "response_validation_failed": ValidationError,
    "response_serialization_failed": SerializationError,
    "session_task_failed": TransferError,
    "server_trust_evaluation_failed": CertificateError,
    "session_task_failed.timed_out": RequestTimeoutError,
    "session_task_failed.cannot_find_host": ConnectError,
    "session_task_failed.dns_lookup_failed": ConnectError,
    "session_task_failed.cannot_connect_to_host": ConnectError,
    "session_task_failed.not_connected_to_internet": ConnectError,
    "session_task_failed.proxy": ProxyError,
    "session_task_failed.secure_connection_failed": CertificateError,
    "session_task_failed.server_certificate_untrusted": CertificateError,
    "session_task_failed.server_certificate_has_bad_date": CertificateError,
    "session_task_failed.server_certificate_has_unknown_root": CertificateError,
    "session_task_failed.server_certificate_not_yet_valid": CertificateError,
    "session_task_failed.client_certificate.rejected": CertificateError,
    "session_task_failed.client_certificate.required": CertificateError,
    "session_task_failed.client_certificate.expired": CertificateError,
    "session_task_failed.client_certificate.unsupported_key": CertificateError,
    "session_task_failed.cannot_decode_raw_data": DecodingError,
    "session_task_failed.cannot_decode_content_data": DecodingError,
    "session_task_failed.data_length_exceeds_maximum": DecodingError,
}


def _in_python(hint: str | None) -> str | None:
    if hint is None:
        return None
    from ._hints import in_python  # noqa: PLC0415, only for an error

    return in_python(hint)


def rpc_error(error: dict[str, Any]) -> RPCError | RequestError:
    """Return the exception of a JSON-RPC error object, or of an answer that cannot be read, which has a name."""
    if "name" in error:
        return make_request_error(error, {})
    code = error.get("code")
    code = code if isinstance(code, int) else 0
    data = error.get("data")
    kind = _BY_CODE.get(code) or _BY_HUNDRED.get(code // 100, RPCError)
    return kind(code, str(error.get("message", "")), data if isinstance(data, dict) else {})


def request_error(record: dict[str, Any]) -> RequestError:
    """Return the exception of a response record whose outcome is an error."""
    return make_request_error(record["outcome"]["error"], record)


def make_request_error(error: dict[str, Any], record: dict[str, Any]) -> RequestError:
    """Return the exception of an error inside a record."""
    name = str(error.get("name") or (error.get("data") or {}).get("name", ""))
    kind, known = None, name
    while kind is None and known:
        kind = _BY_NAME.get(known)
        known = known.rpartition(".")[0]
    return (kind or RequestError)(name, str(error.get("message", "")), record, error)
