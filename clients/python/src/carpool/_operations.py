"""Arguments to params and record to response: pure, shared by both clients."""

from __future__ import annotations

import base64
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

from . import _checks, _environment, _lengths, _proxies
from ._bodies import Body, is_source
from ._defaults import Defaults, retry_interceptor
from ._inputs import DigestAuth, HeaderInput
from ._models import Progress
from ._netrc import NetrcAuth
from ._options import RequestOptions
from ._paths import AnyPath, absolute, local, trust_of_path
from ._response import Response
from ._sources import Source

if TYPE_CHECKING:
    from datetime import datetime

    from ._calls import Credential

    # An object that names a file, and what the client writes to this file.
    Large = tuple[dict[str, Any], bytes]

# The longest limit that the daemon takes: 30 days, in place of none.
MAX_MS: Final = 2_592_000_000
# The maximum timeout of one call of request.wait.
MAX_POLL_MS: Final = 60_000


# The members of `trust` that say which authorities are trusted.
_AUTHORITIES: Final = frozenset({"ca_file", "ca_path", "ca_pem", "verify", "environment"})

# The statuses that a retry policy retries by default.
RETRIED: Final = frozenset({408, 429, 500, 502, 503, 504})


def request_params(
    method: str, url: str, options: RequestOptions, defaults: Defaults
) -> tuple[dict[str, Any], list[Large]]:
    """Return the params of `request.perform` and `request.submit`, and contents that are too large for a message.

    Paths are made absolute. Raises TypeError for an argument that a request does not have, and for a value of another
    type than it takes; ValueError for JSON that has no form on the wire, and for a request with two bodies or with two
    arguments for one parameter. Then nothing is sent.
    """
    if options:
        _checks.check_names("a request", options, RequestOptions.__optional_keys__)
        _checks.check_types(options)
    method = _checks.check_target(method, url)
    given = defaults.options(options)
    given.pop("hooks", None)
    values, is_encoded = given.pop("params", None), "encoding" in given
    params: dict[str, Any] = {"url": defaults.url(url, values, is_encoded=is_encoded), "method": method}
    if is_encoded and values is not None:
        params["parameters"] = structured(values)
    for name, value in (("headers", defaults.headers), ("cookies", defaults.cookies)):
        if (made := value(given.pop(name, None))) is not None:
            params[name] = made
    auth = given.get("auth")
    if auth is not None and not isinstance(auth, tuple):
        given |= _auth_options(auth, given, params["url"])
    body = Body(given)
    interceptor = [*given.pop("interceptor", []), *retry_interceptor(given.pop("retry", None))]
    _add_limits(params, given)
    _add_members(params, given)
    if "proxy" not in params and (proxy := _proxies.of_environment()) is not None:
        params["proxy"] = proxy
    _add_authorities(params)
    if interceptor:
        params["interceptor"] = interceptor
    _add_body(params, body)
    _lengths.check(params, body.large)
    if callable(auth) and not isinstance(auth, NetrcAuth):
        from ._prepared import authorize  # noqa: PLC0415, few programs do

        authorize(auth, params, body.large)
    _lengths.leave_out(params)
    return params, body.large


def _auth_options(auth: Any, given: Mapping[str, Any], url: str) -> dict[str, Any]:
    """Return the options for an `auth` that is no pair: a function is called later, with the whole request."""
    if isinstance(auth, NetrcAuth):
        if "credentials" in given:
            raise ValueError("auth and another argument both set credentials: pass only one of them")
        return {"auth": None, "credentials": auth.credentials(url)}
    return {"auth": None} if callable(auth) else {}


def set_detail(call: str, params: dict[str, Any]) -> None:
    """Ask for a short record, unless the request says otherwise; `request.submit` returns none."""
    if call == "request.perform":
        params.setdefault("detail", "short")
    elif "detail" in params:
        raise TypeError("detail: not an argument of submit; `response` of the client returns the full record")


def _add_members(params: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Add the parameters for the arguments that each set one of them."""
    if "allow_redirects" in given and "follow_redirects" in given:
        if given["allow_redirects"] is not given["follow_redirects"]:
            raise ValueError("allow_redirects and follow_redirects are the same argument, and differ: pass one of them")
        given = {name: value for name, value in given.items() if name != "allow_redirects"}
    for name, value in given.items():
        member, form = _FORMS.get(name, (name, None))
        converted = value if form is None or value is None else form(value)
        if converted is not None:
            if member in params:
                raise ValueError(f"{name} and another argument both set {member}: pass only one of them")
            params[member] = converted


def _add_limits(params: dict[str, Any], given: dict[str, Any]) -> None:
    """Add the time limits for the arguments `timeout` and `total`, which are removed; None is no limit."""
    if "total" in given:
        params["resource_timeout_ms"] = _milliseconds("total", given.pop("total"))
    if "timeout" not in given:
        return
    timeout = given.pop("timeout")
    connect, read = timeout if isinstance(timeout, (list, tuple)) else (timeout, timeout)
    params["timeout_ms"] = _milliseconds("timeout", read)
    if "connect_timeout_ms" not in given or isinstance(timeout, (list, tuple)):
        params["connect_timeout_ms"] = _milliseconds("timeout", connect)


def _milliseconds(name: str, seconds: float | None) -> int:
    return MAX_MS if seconds is None else _checks.seconds_ms(name, seconds)


def _add_authorities(params: dict[str, Any]) -> None:
    """Add the authorities of the environment, unless the request says which servers are trusted."""
    trust = params.get("trust")
    if trust is not None and (not isinstance(trust, Mapping) or _AUTHORITIES & trust.keys()):
        return
    if (found := _environment.authorities()) is None:
        return
    if trust is not None:
        # Evaluators of the request, which the trust of a session does not replace.
        del found["environment"]
    params["trust"] = {**(trust or {}), **found}


def _add_body(params: dict[str, Any], body: Body) -> None:
    """Add the body, and its content type if the header fields have none."""
    if body.content_type is not None:
        pairs = params.setdefault("headers", [])
        if not any(name.lower() == "content-type" for name, _ in pairs):
            pairs.append(["Content-Type", body.content_type])
    if body.param is not None:
        if "body" in params:
            raise ValueError("body and another argument both set the body: pass only one of them")
        params["body"] = body.param


def _redirect(follows: bool) -> str:
    return "follow" if follows else "do_not_follow"


def _trust(verify: bool | AnyPath) -> dict[str, Any] | None:
    if isinstance(verify, bool):
        return None if verify else {"verify": False}
    if not os.fspath(verify):
        raise ValueError("verify is empty: pass the path of a file or a directory, or False")
    return trust_of_path(verify)


def _certificate(cert: AnyPath | tuple[AnyPath, ...]) -> dict[str, Any]:
    """Return `client_certificate` for the argument `cert`; resolve() would follow links."""
    if isinstance(cert, (tuple, list)):
        if len(cert) != 2 or not all(cert):  # noqa: PLR2004, a pair
            raise ValueError("cert is one path or a pair of paths; client_certificate has a password too")
        return certificate_of_paths(*cert)
    if not os.fspath(cert):
        raise ValueError("cert is empty: pass the path of a file, or a pair of paths")
    return certificate_of_paths(cert)


def certificate_of_paths(
    file: AnyPath, key: AnyPath | None = None, password: str | bytes | None = None
) -> dict[str, Any]:
    """Return the parameter `client_certificate` for the paths of a certificate and its key."""
    given = {"file": absolute("cert", file)}
    if key:
        given["key_file"] = absolute("cert", key)
    if password:
        given["password"] = password.decode() if isinstance(password, bytes) else password
    return given


def auth_params(auth: tuple[str, str] | DigestAuth) -> dict[str, Any]:
    """Return `credential` for the argument `auth`."""
    if isinstance(auth, DigestAuth):
        return {"username": auth.username, "password": auth.password, "schemes": ["digest"]}
    if not isinstance(auth, (tuple, list)) or len(auth) != 2:  # noqa: PLR2004, a pair
        raise ValueError("auth is a pair of user and password, a DigestAuth or a NetrcAuth")
    username, password = auth
    return {"username": username, "password": password, "schemes": ["basic"], "preemptive": True}


def _registered(name: str, example: str) -> tuple[str, Callable[[Any], Any]]:
    """Return the form of a parameter that names a callback: a function must be registered."""

    def form(value: Any) -> Any:
        if callable(value):
            raise ValueError(
                f'{name} is a function: register it with client.register("NAME", {name}=...), and pass {name}={example}'
            )
        return value

    return name, form


def _cache(value: Any) -> Any:
    """Check the parameter `cache`: a function must be registered."""
    handler = value.get("handler") if isinstance(value, Mapping) else None
    if callable(handler) or callable(value):
        raise ValueError(
            'the handler of cache is a function: register it with client.register("NAME", cache=...), and pass '
            f'cache={{"handler": {_CALLBACK}}}'
        )
    return value


def structured(value: Any) -> Any:
    """Return the wire format of a value with bytes and times. A time without a zone is local time."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"$data": base64.b64encode(value).decode()}
    if _is_time(value):
        return {"$date": value.timestamp()}
    if isinstance(value, Mapping):
        return {name: structured(member) for name, member in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [structured(element) for element in value]
    return value


def _is_time(value: Any) -> TypeGuard[datetime]:
    """Check without importing `datetime`: if it is not imported, no value is one."""
    module = sys.modules.get("datetime")
    return module is not None and isinstance(value, module.datetime)


def credential_params(credential: Credential) -> dict[str, Any]:
    """Return the wire format of a credential; times are in milliseconds."""
    expires_ms = None if credential.expires_in is None else max(1, round(credential.expires_in * 1000))
    members = {
        "access_token": credential.access_token,
        "refresh_token": credential.refresh_token,
        "expires_in_ms": expires_ms,
    }
    return {name: value for name, value in members.items() if value is not None}


_CALLBACK: Final = '{"callback": {"name": "NAME"}}'

# Arguments with another name or format on the wire: the member and its conversion; None sends nothing.
_FORMS: Final[dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "allow_redirects": ("redirect", _redirect),
    "follow_redirects": ("redirect", _redirect),
    "verify": ("trust", _trust),
    "cert": ("client_certificate", _certificate),
    "auth": ("credential", auth_params),
    "proxies": ("proxy", _proxies.given),
    "authenticate": _registered("authenticate", _CALLBACK),
    "cache": ("cache", _cache),
    "destination": _registered("destination", _CALLBACK),
    "redirect": _registered("redirect", _CALLBACK),
    "serialize": _registered("serialize", _CALLBACK),
    "trust": _registered("trust", f'{{"evaluators": {{"*": {_CALLBACK}}}}}'),
    "validate": _registered("validate", f"[{_CALLBACK}]"),
}


def is_streamed(options: RequestOptions) -> bool:
    """Whether a body is read while it is sent.

    Raises ValueError with `hold_for_headers`: the client cannot wait for the head and send at the same time.
    """
    is_streamed = is_source(options.get("data"))
    if is_streamed and options.get("hold_for_headers"):
        raise ValueError("a call that waits for the head cannot stream data: pass text, bytes or the path of a file")
    return is_streamed


def measured(options: RequestOptions, defaults: Defaults) -> tuple[RequestOptions, Source | None]:
    """Return the options with a body that is read while it is sent as a `Source`, and that; None if there is none.

    A header field Content-Length is its length.
    """
    if not is_streamed(options):
        return options, None
    _checks.check_types(options)
    fields = None if options.get("headers") is None else _checks.header_pairs(options["headers"])
    source = Source(options["data"], _lengths.given(defaults.headers(fields)))
    changed: dict[str, Any] = {**options, "data": source}
    if fields is not None:
        changed["headers"] = fields
    return cast("RequestOptions", changed), source


def until_disconnect(options: RequestOptions) -> RequestOptions:
    """Return the options of `request.submit` for a caller who waits for the response, its detail and its hooks."""
    _checks.check_types({"detail": options.get("detail"), "hooks": options.get("hooks")})
    return {"on_disconnect": "cancel", **options, "detail": None, "hooks": None}


def check_submitted(options: RequestOptions) -> None:
    """Raise TypeError for an argument that is about the response."""
    if options.get("hooks") is not None:
        raise TypeError("hooks: not an argument of submit; call them with the response of `wait`")


def stream_options(options: RequestOptions) -> RequestOptions:
    """Return the options of a request whose body is read while it arrives.

    Raises ValueError with `data` that is read while it is sent, with `response_body`, and with `retry`: the head would
    be that of the first attempt. A default `retry` of the client does not apply. Raises TypeError with `detail`.
    """
    if options.get("retry"):
        raise ValueError("retry: a stream is not retried, because its head has been returned: remove retry or stream")
    if options.get("response_body"):
        raise ValueError("response_body: the body of a stream is read from the stream: remove response_body or stream")
    if options.get("detail") is not None:
        raise TypeError(
            "detail: not an argument of a stream, whose head is returned first: read the stream to its end, and call "
            "client.response(stream.request_id) in its block"
        )
    given = {**options, "hold_for_headers": True, "retry": None}
    is_streamed(cast("RequestOptions", given))
    return cast("RequestOptions", given)


def is_last_of_retries(response: Response, options: Mapping[str, Any]) -> bool:
    """Whether a response with an error status was refused by `retry` alone, after the last retry.

    It is returned like any other, as by the command.
    """
    retry = options.get("retry")
    if not retry or options.get("validate") or (isinstance(retry, Mapping) and not retry.get("without_validation")):
        return False
    error = (response.record.get("outcome") or {}).get("error") or {}
    if error.get("name") != "response_validation_failed.unacceptable_status_code":
        return False
    statuses = retry.get("statuses") if isinstance(retry, Mapping) else None
    # Another status was refused by the validators of the session.
    return response.status_code in (RETRIED if statuses is None else statuses)


def progress(record: dict[str, Any]) -> Progress:
    """Return the progress of a download."""
    received = record.get("received_bytes", (record.get("body") or {}).get("size_bytes", 0))
    total = record.get("total_bytes", received if "outcome" in record and record["outcome"]["ok"] else None)
    return Progress(received, total, record.get("resume_data"))


def present(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the params that are not None."""
    return {name: value for name, value in params.items() if value is not None}


def cache_request(url: str, session: str | None, headers: HeaderInput | None, method: str | None) -> dict[str, Any]:
    """Return the params of `cache.get`."""
    fields = None if headers is None else [list(pair) for pair in _checks.header_pairs(headers)]
    return present({"url": url, "session": session, "headers": fields, "method": method})


def deadline(timeout: float | None) -> float | None:
    """Return the deadline of a timeout."""
    return None if timeout is None else time.monotonic() + timeout


def poll_ms(end: float | None) -> int:
    """Return the timeout of the next poll, at most until a deadline; 0 if it has passed."""
    left = MAX_POLL_MS if end is None else round((end - time.monotonic()) * 1000)
    return min(max(0, left), MAX_POLL_MS)


def can_read(path: str) -> bool:
    """Whether this process can read a file of the daemon's."""
    return os.access(local(path), os.R_OK)


def spool_path(record: dict[str, Any]) -> str | None:
    """Return the path of the file with the body of a record; None if it is inline."""
    return cast("str | None", (record.get("body") or {}).get("file"))
