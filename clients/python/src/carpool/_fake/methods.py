"""The methods of a fake daemon, by their names on the wire."""

from __future__ import annotations

import base64
import binascii
import functools
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from .._adapters import HEAD_EVENT
from . import checks, records
from .incoming import Incoming
from .requests import Running

if TYPE_CHECKING:
    from .connection import Call
    from .daemon import FakeDaemon

# The most bytes of one body.read, and of a body that arrives in pieces, as in the daemon.
READ_BYTES: Final = 32_768
ROOM_BYTES: Final = 1 << 20
# The most bytes of one request.read: in base64 they fit a message.
MOST_READ_BYTES: Final = 1 << 19
# The longest time of one request.wait in milliseconds, as in the daemon.
LONG_POLL_MS: Final = 60_000


def _missing(name: str) -> records.RefusedError:
    hint = "It may have been dismissed, or its retention has ended; see request.list."
    return records.errors(1101, "request.not_found", f"no such request: {name}", hint=hint, request=name)


def _running(fake: FakeDaemon, call: Call) -> Running:
    request = _stored(fake, call)
    if request.is_lent:
        raise _missing(request.name)
    return request


def _stored(fake: FakeDaemon, call: Call) -> Running:
    """Return a request whose body may be all that is left of it."""
    name = str(call.params.get("request"))
    request = fake.running.get(name)
    if request is None:
        raise _missing(name)
    return request


def _hello(fake: FakeDaemon, call: Call) -> Any:
    if call.params.get("callbacks"):
        raise checks.not_done("params.callbacks", "callbacks")
    name = str(call.params.get("name", "python"))
    return {
        "protocol": 1,
        "server": fake.server,
        "client": call.connection.name,
        "peer": {**fake.peer, "name": name, "identity": f"name:{name}"},
        "capabilities": {},
        "limits": {"inline_body_bytes": records.INLINE_BYTES, "long_poll_ms": LONG_POLL_MS},
        "cursor": fake.cursor,
    }


def _ping(_: FakeDaemon, __: Call) -> Any:
    return {"pong": True, "time": records.now()}


def _begin(fake: FakeDaemon, call: Call) -> Running:
    session = call.params.get("session", "default")
    if session not in fake.sessions:
        raise records.errors(1107, "session.not_found", f"no such session: {session}", session=session)
    request = fake.begin(_with_session(fake.sessions[session], call.params))
    try:
        if isinstance(place := call.params.get("response_body"), dict):
            request.descriptor = _descriptor(call, "response_body", place)
            request.inline_bytes = int(place.get("inline_bytes", 0))
        if "fd" in (body := call.params.get("body") or {}):
            if request.state != "resumed":
                raise checks.not_done("params.body", "a body with fd of a request that does not start at once")
            request.incoming = Incoming(_descriptor(call, "body", body))
    except records.RefusedError:
        fake.forget(request)
        request.cancel()
        raise
    return request


def _descriptor(call: Call, name: str, place: Mapping[str, Any]) -> int:
    """Return a copy of a descriptor that came with the line."""
    index = place.get("fd")
    if not isinstance(index, int) or not 0 <= index < len(call.descriptors):
        raise checks.not_done(f"params.{name}", "a descriptor but one that came with the line")
    return os.dup(call.descriptors[index])


def _with_session(configuration: Mapping[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a request with those of its session."""
    kept = {name: configuration[name] for name in ("redirect", "validate") if name in configuration}
    interceptor = [*(configuration.get("interceptor") or []), *(params.get("interceptor") or [])]
    fields = _fields(configuration.get("headers"))
    own = _fields(params.get("headers"))
    names = {name.lower() for name, _ in own}
    headers = [pair for pair in fields if pair[0].lower() not in names] + own
    return {**kept, **params, "interceptor": interceptor, "headers": headers}


def _fields(headers: Any) -> list[list[str]]:
    pairs = headers.items() if isinstance(headers, dict) else headers or ()
    return [list(pair) for pair in pairs]


def _perform(fake: FakeDaemon, call: Call) -> Any:
    request = _begin(fake, call)
    if call.params.get("on_disconnect") != "detach":
        call.connection.bound.add(request.name)
    subscription = f"s{request.number}" if call.params.get("events") else None
    if subscription is not None:
        request.announce = functools.partial(_announce, fake, call, subscription)
    fake.start(request)

    def is_answered() -> bool:
        return request.is_over or request.is_held

    def answer() -> Any:
        if request.record is None:
            return request.answer(_level(call))
        if not request.lend():
            fake.forget(request)
        found = request.answer(_level(call))
        if subscription is None:
            return found
        closed = {"type": "subscription.closed", "data": {"reason": "request_finished"}}
        call.connection.notify({**_event(fake, subscription), **closed})
        return {**found, "sub": subscription}

    return call.when(is_answered, answer)


def _event(fake: FakeDaemon, subscription: str) -> dict[str, Any]:
    return {"sub": subscription, "cursor": fake.cursor, "time": records.now()}


def _announce(fake: FakeDaemon, call: Call, subscription: str, request: Running, head: dict[str, Any]) -> None:
    """Send the event with the head of a response."""
    names = {"session": request.params.get("session", "default"), "request": request.name}
    names |= {"client": call.connection.name}
    event = {"type": HEAD_EVENT, **names, "attempt": request.attempt_count, "data": {"response": head}}
    call.connection.notify({**_event(fake, subscription), **event})


def _submit(fake: FakeDaemon, call: Call) -> Any:
    if call.params.get("events"):
        raise checks.not_done("params.events", "events of request.submit")
    request = _begin(fake, call)
    if call.params.get("on_disconnect") == "cancel":
        call.connection.bound.add(request.name)
    answer = {"request": request.name, "state": request.state, "cursor": fake.cursor}
    fake.start(request)
    return answer


def _record(fake: FakeDaemon, call: Call) -> Any:
    return _running(fake, call).answer(_level(call))


def _wait(fake: FakeDaemon, call: Call) -> Any:
    request = _running(fake, call)
    return call.when(lambda: request.is_over, lambda: request.answer(_level(call)), _seconds(call))


def _response(fake: FakeDaemon, call: Call) -> Any:
    request = _running(fake, call)
    serializer = call.params.get("serialize")
    checks.check({"url": request.params["url"], "serialize": serializer})
    return call.when(
        lambda: request.is_over,
        lambda: request.full_record(serializer) if request.is_over else request.entry(),
        _seconds(call),
    )


def _level(call: Call) -> str:
    return str(call.params.get("detail", "standard"))


def _seconds(call: Call) -> float:
    return float(min(call.params.get("timeout_ms", LONG_POLL_MS), LONG_POLL_MS)) / 1000


def _resume(fake: FakeDaemon, call: Call) -> Any:
    request = _running(fake, call)
    if request.is_held:
        request.is_held = False
        request.complete()
    elif request.state == "initialized":
        request.state = "resumed"
        fake.start(request)
    else:
        return {"changed": False, "state": request.state}
    return {"changed": True, "state": "resumed"}


def _cancel(fake: FakeDaemon, call: Call) -> Any:
    request = _running(fake, call)
    return {"changed": request.cancel(), "state": request.state}


def _dismiss(fake: FakeDaemon, call: Call) -> Any:
    request = _running(fake, call)
    request.cancel()
    request.release()
    fake.forget(request)
    return {"changed": True, "state": "dismissed"}


def _list(fake: FakeDaemon, call: Call) -> Any:
    state = call.params.get("state")
    entries = [request.listed() for request in list(fake.running.values()) if not request.is_lent]
    return {"requests": [entry for entry in entries if state in {None, entry["state"]}], "next": None}


def _put(fake: FakeDaemon, call: Call) -> Any:
    request = _running(fake, call)
    if request.is_over or not request.is_streamed:
        raise records.errors(1102, "wrong_state", "the body has ended", request=request.name, state=request.state)
    piece = call.params.get("text", "").encode()
    try:
        piece = base64.b64decode(call.params.get("base64", "")) or piece
    except binascii.Error:
        raise records.errors(
            -32602, "invalid_params", "params.base64", path="params.base64", expected="base64"
        ) from None
    offset = request.put(piece)
    if call.params.get("end") or not piece or request.is_received:
        request.end_body()
        if request.state == "resumed":
            fake.start(request)
    return {"accepted_bytes": len(piece), "offset_bytes": offset, "room_bytes": ROOM_BYTES}


def _read(fake: FakeDaemon, call: Call) -> Any:
    request = _stored(fake, call)
    if request.is_released:
        message = f"the body of {request.name} is no longer stored"
        raise records.errors(1106, "body.gone", message, hint="Send the request again.", request=request.name)
    offset = call.params.get("offset", 0)
    piece = request.content[offset : offset + call.params.get("length_bytes", READ_BYTES)]
    return {
        "base64": base64.b64encode(piece).decode(),
        "offset": offset,
        "length_bytes": len(piece),
        "size_bytes": len(request.content),
        "eof": offset + len(piece) >= len(request.content),
    }


def _next(fake: FakeDaemon, call: Call) -> Any:
    request = _running(fake, call)

    def answer() -> Any:
        if not request.is_over:
            return {"request": request.name}
        piece = request.take(min(int(call.params.get("credit_bytes", READ_BYTES)), MOST_READ_BYTES))
        read: dict[str, Any] = {"request": request.name}
        if piece:
            read["base64"] = base64.b64encode(piece).decode()
        if request.is_read:
            read["complete"] = {"error": (request.record or {})["outcome"].get("error")}
        return read

    return call.when(lambda: request.is_over, answer, _seconds(call))


def _release(fake: FakeDaemon, call: Call) -> Any:
    request = fake.running.get(str(call.params.get("request")))
    is_changed = request is not None and request.release()
    if request is not None and request.is_lent:
        fake.forget(request)
    return {"changed": is_changed, "state": "released"}


def _create(fake: FakeDaemon, call: Call) -> Any:
    name, configuration = call.params["name"], call.params.get("configuration") or {}
    if fake.sessions.setdefault(name, configuration) is configuration:
        return {"changed": True, "session": name, "state": "valid"}
    if fake.sessions[name] != configuration:
        raise records.errors(1105, "session.exists", f"session {name} exists", session=name)
    return {"changed": False, "session": name, "state": "valid"}


def _invalidate(fake: FakeDaemon, call: Call) -> Any:
    name = call.params["session"]
    if name not in fake.sessions:
        raise records.errors(1107, "session.not_found", f"no such session: {name}", session=name)
    if name != "default":
        del fake.sessions[name]
    return {"changed": True, "state": "invalid"}


def _stop_call(_: FakeDaemon, call: Call) -> Any:
    call.connection.stop(call.params.get("id"))
    return {}


METHODS: Final[dict[str, Callable[[FakeDaemon, Call], Any]]] = {
    "client.hello": _hello,
    "daemon.ping": _ping,
    "request.perform": _perform,
    "request.submit": _submit,
    "request.get": _record,
    "request.wait": _wait,
    "request.response": _response,
    "request.read": _next,
    "request.resume": _resume,
    "request.cancel": _cancel,
    "request.dismiss": _dismiss,
    "request.list": _list,
    "body.put": _put,
    "body.read": _read,
    "body.release": _release,
    "session.create": _create,
    "session.invalidate": _invalidate,
    "rpc.cancel": _stop_call,
}
