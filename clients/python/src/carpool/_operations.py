"""Arguments to params and record to response: pure, shared by both clients."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

from . import _cookies, _proxies
from ._inputs import DigestAuth, HeaderInput, Multipart, Upload
from ._models import Progress
from ._netrc import NetrcAuth
from ._options import RequestOptions

if TYPE_CHECKING:
    from datetime import datetime

    from ._calls import Credential

# A message may have 1 MiB and base64 adds a third; a larger body is sent as a file that the daemon reads.
MAX_INLINE_BODY_BYTES: Final = 512 << 10
# The size of a piece in body.put: large enough to keep the transfer busy, small enough not to delay other clients.
PIECE_BYTES: Final = 65_536
# A block that comes within this time after the one before is collected with others into a piece.
GATHERING_SECONDS: Final = 0.005
# The maximum timeout of one call of request.wait.
MAX_POLL_MS: Final = 60_000


def request_params(
    method: str, url: str, options: RequestOptions, session: str | None
) -> tuple[dict[str, Any], bytes | None]:
    """Return the params of `request.perform` and `request.submit`, and the body if it is too large for a message.

    `session` is the client's, for a request that names none. Paths are made absolute. Raises ValueError for JSON that
    has no form on the wire, and for a request with two bodies or with two arguments for one parameter.
    """
    params: dict[str, Any] = {"url": url, "method": method}
    given: dict[str, Any] = {"session": session}
    given.update({name: value for name, value in options.items() if value is not None or name == "json"})
    if isinstance(auth := given.get("auth"), NetrcAuth):
        if "credentials" in given:
            raise ValueError("auth and another argument both set credentials: pass only one of them")
        given["auth"], given["credentials"] = None, auth.credentials(url)
    body = _take_body(given)
    parts = given.pop("multipart", None)
    interceptor = [*given.pop("interceptor", []), *_retry_policy(given.pop("retry", None))]
    for name, value in given.items():
        member, form = _FORMS.get(name, (name, None))
        converted = value if form is None else form(value)
        if converted is not None:
            if member in params:
                raise ValueError(f"{name} and another argument both set {member}: pass only one of them")
            params[member] = converted
    if "proxy" not in params and (proxy := _proxies.of_environment()) is not None:
        params["proxy"] = proxy
    if interceptor:
        params["interceptor"] = interceptor
    if parts is not None:
        if body != (None, None):
            raise ValueError("a request has one body: pass only one of json, data and multipart")
        params["body"] = {"multipart": _multipart(parts)}
    return params, _encode_body(params, body)


def _headers(headers: HeaderInput) -> list[list[str]]:
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return [[name, value] for name, value in pairs]


def _trust(verify: bool | str | os.PathLike[str]) -> dict[str, Any] | None:
    if isinstance(verify, bool):
        return None if verify else {"verify": False}
    if not os.fspath(verify):
        raise ValueError("verify is empty: pass the path of a file or a directory, or False")
    path = os.path.abspath(verify)  # noqa: PTH100, resolve() would follow links
    return {"ca_path" if os.path.isdir(path) else "ca_file": path}  # noqa: PTH112, without importing pathlib


def _certificate(cert: str | os.PathLike[str] | tuple[str | os.PathLike[str], ...]) -> dict[str, Any]:
    """Return `client_certificate` for the argument `cert`; resolve() would follow links."""
    if isinstance(cert, (tuple, list)):
        if len(cert) != 2 or not all(cert):  # noqa: PLR2004, a pair
            raise ValueError("cert is one path or a pair of paths; client_certificate has a password too")
        certificate, key = cert
        return {"file": os.path.abspath(certificate), "key_file": os.path.abspath(key)}  # noqa: PTH100
    if not os.fspath(cert):
        raise ValueError("cert is empty: pass the path of a file, or a pair of paths")
    return {"file": os.path.abspath(cert)}  # noqa: PTH100


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


def _retry_policy(retry: bool | int | Mapping[str, Any] | None) -> list[Any]:
    """Return the element of `interceptor` for the argument `retry`; None if there is none."""
    if retry is None or retry is False:
        return []
    if retry is True:
        return ["retry_policy"]
    return [{"retry_policy": {"limit": retry} if isinstance(retry, int) else dict(retry)}]


_CALLBACK: Final = '{"callback": {"name": "NAME"}}'

# Arguments with another name or format on the wire: the member and its conversion; None sends nothing.
_FORMS: Final[dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "headers": ("headers", _headers),
    "timeout": ("timeout_ms", lambda seconds: max(1, round(seconds * 1000))),
    "verify": ("trust", _trust),
    "cert": ("client_certificate", _certificate),
    "auth": ("credential", lambda auth: None if auth is None else auth_params(auth)),
    "cookies": ("cookies", _cookies.given),
    "proxies": ("proxy", _proxies.given),
    "parameters": ("parameters", structured),
    "authenticate": _registered("authenticate", _CALLBACK),
    "cache": ("cache", _cache),
    "destination": _registered("destination", _CALLBACK),
    "redirect": _registered("redirect", _CALLBACK),
    "serialize": _registered("serialize", _CALLBACK),
    "trust": _registered("trust", f'{{"evaluators": {{"*": {_CALLBACK}}}}}'),
    "validate": _registered("validate", f"[{_CALLBACK}]"),
}


def _take_body(options: dict[str, Any]) -> tuple[Upload | None, str | None]:
    """Remove the body from the options; return it with its default content type."""
    data = options.pop("data", None)
    if "json" not in options:
        return data, None
    if data is not None:
        raise ValueError("a request has one body: pass only one of json and data")
    text = json.dumps(options.pop("json"), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text, "application/json"


def is_streamed(options: RequestOptions) -> bool:
    """Whether a body is read while it is sent.

    Raises ValueError with `hold_for_headers`: the client cannot wait for the head and send at the same time.
    """
    is_streamed = _is_source(options.get("data"))
    if is_streamed and options.get("hold_for_headers"):
        raise ValueError("a call that waits for the head cannot stream data: pass text, bytes or the path of a file")
    return is_streamed


def _is_source(data: object) -> bool:
    return data is not None and not isinstance(data, (str, bytes, bytearray, memoryview, os.PathLike))


def _multipart(parts: Multipart) -> list[dict[str, Any]]:
    """Return the parts of a form in their wire format."""
    if not isinstance(parts, Mapping):
        return [dict(part) for part in parts]
    return [{"name": name, **_part(content)} for name, content in parts.items()]


def _part(content: object) -> dict[str, Any]:
    if isinstance(content, Mapping):
        return dict(content)
    if isinstance(content, str):
        return {"text": content}
    if isinstance(content, (bytes, bytearray, memoryview)):
        return {"base64": base64.b64encode(content).decode()}
    path = os.path.abspath(cast("os.PathLike[str]", content))  # noqa: PTH100, as above
    # The daemon derives a file name only from a path with an extension.
    return {"file": path, "file_name": os.path.basename(path)}  # noqa: PTH119


def destination(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the destination of a download: a file, or a directory in which the response names the file."""
    place = os.path.abspath(path)  # noqa: PTH100, as above
    kind = "directory" if os.path.isdir(place) else "path"  # noqa: PTH112
    return present({kind: place, "remove_previous": True, "umask": _umask()})


def _umask() -> int | None:
    """Return the umask without changing it, as umask(2) would for a moment in all threads."""
    status = Path("/proc/self/status")
    with contextlib.suppress(OSError, ValueError):
        for line in status.read_text().splitlines():
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return None


def progress(record: dict[str, Any]) -> Progress:
    """Return the progress of a download."""
    received = record.get("received_bytes", (record.get("body") or {}).get("size_bytes", 0))
    total = record.get("total_bytes", received if "outcome" in record and record["outcome"]["ok"] else None)
    return Progress(received, total, record.get("resume_data"))


class Gathering:
    """Combines the blocks of a body into pieces that fit a message; small blocks that come fast are collected."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._asked = time.monotonic()

    def add(self, block: bytes) -> Iterator[bytes]:
        """Add a block; return the pieces that can be sent, everything if the block came late."""
        was_slow = time.monotonic() - self._asked > GATHERING_SECONDS
        self._pending += block
        yield from self._take(1 if was_slow else PIECE_BYTES)
        self._asked = time.monotonic()

    def rest(self) -> Iterator[bytes]:
        """Return the rest."""
        return self._take(1)

    def _take(self, least: int) -> Iterator[bytes]:
        while len(self._pending) >= least:
            yield bytes(self._pending[:PIECE_BYTES])
            del self._pending[:PIECE_BYTES]


def pieces(data: Iterable[bytes]) -> Iterator[bytes]:
    """Collect blocks into pieces."""
    read = getattr(data, "read", None)
    gathering = Gathering()
    for block in data if read is None else iter(lambda: cast("bytes", read(PIECE_BYTES)), b""):
        yield from gathering.add(block)
    yield from gathering.rest()


def _encode_body(params: dict[str, Any], body: tuple[Upload | None, str | None]) -> bytes | None:
    """Put the body into the params, or return it if it is too large for a message."""
    data, content_type = body
    if content_type is not None:
        _default_content_type(params, content_type)
    if data is None:
        return None
    if isinstance(data, os.PathLike):
        params["body"] = {"file": os.path.abspath(data)}  # noqa: PTH100, as above
        return None
    if _is_source(data):
        params["body"] = {"stream": True}
        return None
    content = cast("str | bytes", data)
    raw = content.encode() if isinstance(content, str) else content
    if len(raw) > MAX_INLINE_BODY_BYTES:
        return raw
    params["body"] = {"text": content} if isinstance(content, str) else {"base64": base64.b64encode(raw).decode()}
    return None


def _default_content_type(params: dict[str, Any], value: str) -> None:
    pairs = params.setdefault("headers", [])
    if not any(name.lower() == "content-type" for name, _ in pairs):
        pairs.append(["Content-Type", value])


def present(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the params that are not None."""
    return {name: value for name, value in params.items() if value is not None}


def cache_request(url: str, session: str | None, headers: HeaderInput | None, method: str | None) -> dict[str, Any]:
    """Return the params of `cache.get`."""
    fields = None if headers is None else _headers(headers)
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
    return os.access(path, os.R_OK)


def spool_path(record: dict[str, Any]) -> str | None:
    """Return the path of the file with the body of a record; None if it is inline."""
    return cast("str | None", (record.get("body") or {}).get("file"))
