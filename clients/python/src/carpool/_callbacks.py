"""Callbacks: from the daemon's call to its handler, and from the handler's value to the answer."""

from __future__ import annotations

import base64
import inspect
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

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
    RetryCall,
    SerializeCall,
    TrustCall,
    ValidateCall,
)
from ._exceptions import Refuse
from ._handlers import MAX_QUESTIONS
from ._inputs import DigestAuth
from ._log import logger
from ._operations import auth_params, credential_params
from ._paths import absolute
from ._rpc import Question, RPCConnection

Asked = TypeVar("Asked", bound=CallbackCall)
Given = TypeVar("Given")
Handler = Callable[[Asked], Given]
AsyncHandler = Callable[[Asked], Given | Awaitable[Given]]

_METHOD_NOT_FOUND: Final = -32601
_INTERNAL_ERROR: Final = -32603


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of callback: the arguments of its handlers, and the wire format of their values."""

    call: type[CallbackCall]
    answer: Callable[[Any, Any], dict[str, Any]]
    refuse: Callable[[str], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Asking:
    """A callback and its handler; None if no handler is registered."""

    question: Question
    kind: str
    handler: Callable[[Any], Any] | None

    @property
    def deadline(self) -> float | None:
        """The seconds after which the daemon no longer waits for the answer."""
        return CallbackCall(self.question.params).deadline

    def ask(self) -> Any:
        """Run the handler and return its value, an awaitable if the handler is asynchronous."""
        if self.handler is None:
            raise LookupError("no such handler")
        return self.handler(_KINDS[self.kind].call(self.question.params))

    def answer(self, rpc: RPCConnection, value: Any) -> bytes:
        """Convert the handler's value to the answer. Raises TypeError and ValueError if that is not possible."""
        if inspect.isawaitable(value):
            if inspect.iscoroutine(value):
                value.close()
            raise TypeError("the handler is asynchronous: use an AsyncClient")
        kind = _KINDS[self.kind]
        return rpc.send_result(self.question, kind.answer(kind.call(self.question.params), value))

    def failure(self, rpc: RPCConnection, error: Exception) -> bytes:
        """Convert an exception to the answer. Only the text of a `Refuse` is sent: others may contain secrets."""
        name = self.question.params.get("callback")
        if self.handler is None:
            logger().warning("no handler is registered for %s of %r", self.question.method, name)
            return rpc.send_error(self.question, _METHOD_NOT_FOUND, "no such handler")
        if isinstance(error, Refuse):
            return rpc.send_result(self.question, _KINDS[self.kind].refuse(str(error)))
        logger().error("the %s handler of %r failed", self.kind, name, exc_info=error)
        return rpc.send_error(self.question, _INTERNAL_ERROR, type(error).__name__)


def asking(question: Question, handlers: Mapping[str, Callable[[Any], Any]] | None) -> Asking:
    """Return the handler of a callback among those registered under its name."""
    kind = question.method.removeprefix("callback.")
    if handlers is None or kind not in _KINDS:
        return Asking(question, kind, None)
    # An interceptor gets both calls, adapt and retry; the one without a handler changes nothing.
    return Asking(question, kind, handlers.get(kind, _nothing if kind in {"adapt", "retry"} else None))


def too_many(rpc: RPCConnection, question: Question) -> bytes:
    """Return the error answer to a callback beyond the maximum of `MAX_QUESTIONS`."""
    logger().warning("%s is refused: %d callbacks are waiting", question.method, MAX_QUESTIONS)
    return rpc.send_error(question, _INTERNAL_ERROR, "too many callbacks are waiting")


def _nothing(_: CallbackCall) -> None:
    return None


def _wrong(value: object, expected: str) -> TypeError:
    return TypeError(f"the handler returned {type(value).__name__}, expected {expected}")


def _fail(message: str) -> dict[str, Any]:
    return {"fail": {"message": message}}


def _bytes_or_text(value: str | bytes) -> dict[str, Any]:
    return {"text": value} if isinstance(value, str) else {"base64": base64.b64encode(value).decode()}


def _adapt(_: AdaptCall, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Changes):
        raise _wrong(value, "Changes or None")
    answer: dict[str, Any] = {"method": value.method, "url": value.url, "remove_headers": value.remove_headers}
    if value.headers is not None:
        pairs = value.headers.items() if isinstance(value.headers, Mapping) else value.headers
        answer["headers"] = [[name, text] for name, text in pairs]
    if value.set_headers is not None:
        answer["set_headers"] = dict(value.set_headers)
    if value.body is not None:
        answer["body"] = _bytes_or_text(value.body)
    elif value.json is not None:
        answer["body"] = {"json": value.json}
    return {name: member for name, member in answer.items() if member is not None}


def _retry(_: RetryCall, value: Any) -> dict[str, Any]:
    if value is None or value is False:
        return {"decision": "do_not_retry"}
    if value is True:
        return {"decision": "retry"}
    if not isinstance(value, (int, float)):
        raise _wrong(value, "True, False, None or seconds")
    return {"decision": "retry", "delay_ms": max(0, round(value * 1000))}


def _redirect(call: RedirectCall, value: Any) -> dict[str, Any]:
    if value is False:
        return {"decision": "do_not_follow"}
    return {"decision": "follow", **_adapt(call, None if value is True else value)}


def _validate(_: ValidateCall, value: Any) -> dict[str, Any]:
    if value is not None and not isinstance(value, bool):
        raise _wrong(value, "True, False or None")
    return {"valid": value is not False}


def _trust(_: TrustCall, value: Any) -> dict[str, Any]:
    if not isinstance(value, bool):
        raise _wrong(value, "True or False")
    return {"trusted": value}


def _authenticate(_: AuthenticateCall, value: Any) -> dict[str, Any]:
    if value is None:
        return {"action": "default"}
    if value is False:
        return {"action": "reject"}
    if not isinstance(value, (tuple, list, DigestAuth)):
        raise _wrong(value, "a pair of user and password, a DigestAuth, None or False")
    credential = auth_params(value if isinstance(value, DigestAuth) else tuple(value))
    if not isinstance(value, DigestAuth):
        # The server has asked: its strongest scheme is used.
        credential = {name: credential[name] for name in ("username", "password")}
    return {"credential": credential}


def _preprocess(_: PreprocessCall, value: Any) -> dict[str, Any]:
    if not isinstance(value, (str, bytes)):
        raise _wrong(value, "text or bytes")
    return _bytes_or_text(value)


def _destination(_: DestinationCall, value: Any) -> dict[str, Any]:
    if value is None:
        return {"spool": True}
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise _wrong(value, "a path or None")
    return {"path": absolute("the destination", value)}


def _body(_: BodyCall, value: Any) -> dict[str, Any]:
    if isinstance(value, os.PathLike):
        return {"file": absolute("the body", value)}
    if not isinstance(value, (str, bytes)):
        raise _wrong(value, "text, bytes or a path")
    return _bytes_or_text(value)


def _cache(_: CacheCall, value: Any) -> dict[str, Any]:
    if value is False:
        return {"decision": "do_not_cache"}
    if value is None or value is True:
        return {"decision": "cache"}
    if not isinstance(value, CacheChanges):
        raise _wrong(value, "CacheChanges, True, False or None")
    members = {
        "set_headers": None if value.set_headers is None else dict(value.set_headers),
        "remove_headers": value.remove_headers,
        "body": None if value.body is None else _bytes_or_text(value.body),
        "ttl_ms": None if value.ttl is None else max(0, round(value.ttl * 1000)),
        "storage": value.storage,
    }
    return {"decision": "modify", **{name: member for name, member in members.items() if member is not None}}


def _refresh(_: RefreshCall, value: Any) -> dict[str, Any]:
    if not isinstance(value, Credential):
        raise _wrong(value, "a Credential")
    return {"credential": credential_params(value)}


_KINDS: Final[dict[str, _Kind]] = {
    "adapt": _Kind(AdaptCall, _adapt, _fail),
    "retry": _Kind(RetryCall, _retry, lambda message: {"decision": "do_not_retry_with_error", "message": message}),
    "redirect": _Kind(RedirectCall, _redirect, lambda _: {"decision": "do_not_follow"}),
    "validate": _Kind(ValidateCall, _validate, lambda message: {"valid": False, "message": message}),
    "trust": _Kind(TrustCall, _trust, lambda message: {"trusted": False, "message": message}),
    "authenticate": _Kind(AuthenticateCall, _authenticate, lambda message: {"action": "cancel", "message": message}),
    "serialize": _Kind(SerializeCall, lambda _, value: {"value": value}, _fail),
    "preprocess": _Kind(PreprocessCall, _preprocess, _fail),
    "destination": _Kind(DestinationCall, _destination, _fail),
    "body": _Kind(BodyCall, _body, _fail),
    "cache": _Kind(CacheCall, _cache, lambda _: {"decision": "do_not_cache"}),
    "refresh": _Kind(RefreshCall, _refresh, _fail),
}
