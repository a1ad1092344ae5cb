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

from ._inputs import HeaderInput, Multipart, Upload
from ._models import Progress
from ._options import RequestOptions

if TYPE_CHECKING:
    from datetime import datetime

    from ._calls import Credential

# A message may take 1 MiB and base64 adds a third; a larger body goes as a file that the daemon reads.
MAX_INLINE_BODY_BYTES: Final = 512 << 10
# What body.put is given at a time: enough for the daemon to be busy, little enough for it to do other things between.
PIECE_BYTES: Final = 65_536
# A block that comes sooner after the one before waits for others until they make a piece.
GATHERING_SECONDS: Final = 0.005
# The longest that request.wait waits in one call.
MAX_POLL_MS: Final = 60_000


def request_params(
    method: str, url: str, options: RequestOptions, session: str | None
) -> tuple[dict[str, Any], bytes | None]:
    """Make the params of `request.perform` and `request.submit`, and the body if it is too large for a message.

    `session` is the client's, for a request that names none. Paths are made absolute. Raises ValueError for JSON that
    has no form on the wire, and for a request with two bodies.
    """
    params: dict[str, Any] = {"url": url, "method": method}
    given: dict[str, Any] = {"session": session}
    given.update({name: value for name, value in options.items() if value is not None or name == "json"})
    body = _take_body(given)
    parts = given.pop("multipart", None)
    interceptor = [*given.pop("interceptor", []), *_retry_policy(given.pop("retry", None))]
    for name, value in given.items():
        member, form = _FORMS.get(name, (name, None))
        converted = value if form is None else form(value)
        if converted is not None:
            params[member] = converted
    if interceptor:
        params["interceptor"] = interceptor
    if parts is not None:
        if body != (None, None):
            raise ValueError("a request has one body: json, data or multipart")
        params["body"] = {"multipart": _multipart(parts)}
    return params, _encode_body(params, body)


def _headers(headers: HeaderInput) -> list[list[str]]:
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return [[name, value] for name, value in pairs]


def _trust(verify: bool | str | os.PathLike[str]) -> dict[str, Any] | None:
    if isinstance(verify, bool):
        return None if verify else {"verify": False}
    return {"ca_file": os.path.abspath(verify)}  # noqa: PTH100, resolve() would follow links


def structured(value: Any) -> Any:
    """Give the wire's form of a value with bytes and times in it. A time without a zone is in the local one."""
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
    """Without importing `datetime`: where nobody has, there is none."""
    module = sys.modules.get("datetime")
    return module is not None and isinstance(value, module.datetime)


def credential_params(credential: Credential) -> dict[str, Any]:
    """Give the wire's form of a credential; times in milliseconds."""
    expires_ms = None if credential.expires_in is None else max(1, round(credential.expires_in * 1000))
    members = {
        "access_token": credential.access_token,
        "refresh_token": credential.refresh_token,
        "expires_in_ms": expires_ms,
    }
    return {name: value for name, value in members.items() if value is not None}


def _retry_policy(retry: bool | int | Mapping[str, Any] | None) -> list[Any]:
    """Give the element of `interceptor` that `retry` stands for, if it stands for one."""
    if retry is None or retry is False:
        return []
    if retry is True:
        return ["retry_policy"]
    return [{"retry_policy": {"limit": retry} if isinstance(retry, int) else dict(retry)}]


# The arguments that are not on the wire as they stand: the member that they become, and its form; None sends nothing.
_FORMS: Final[dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "headers": ("headers", _headers),
    "timeout": ("timeout_ms", lambda seconds: max(1, round(seconds * 1000))),
    "verify": ("trust", _trust),
    "parameters": ("parameters", structured),
}


def _take_body(options: dict[str, Any]) -> tuple[Upload | None, str | None]:
    """Take the body out of the options, and with it the content type that it implies."""
    data = options.pop("data", None)
    if "json" not in options:
        return data, None
    if data is not None:
        raise ValueError("a request has one body: json or data")
    text = json.dumps(options.pop("json"), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text, "application/json"


def is_streamed(options: RequestOptions) -> bool:
    """Whether a body is read while it is sent.

    Raises ValueError if the request is held until its head is there: nobody waits for that and sends at the same time.
    """
    is_streamed = _is_source(options.get("data"))
    if is_streamed and options.get("hold_for_headers"):
        raise ValueError("who waits for the head sends text, bytes or the path of a file, not what is read meanwhile")
    return is_streamed


def _is_source(data: object) -> bool:
    return data is not None and not isinstance(data, (str, bytes, bytearray, memoryview, os.PathLike))


def _multipart(parts: Multipart) -> list[dict[str, Any]]:
    """Give the daemon's parts of a form."""
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
    # The daemon takes no name without an extension for a file's own unless it is told to.
    return {"file": path, "file_name": os.path.basename(path)}  # noqa: PTH119


def destination(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Give the place of a download: a file, or a directory in which the response names it."""
    place = os.path.abspath(path)  # noqa: PTH100, as above
    kind = "directory" if os.path.isdir(place) else "path"  # noqa: PTH112
    return present({kind: place, "remove_previous": True, "umask": _umask()})


def _umask() -> int | None:
    """Give our umask; it cannot be asked for without changing it for a moment, which other threads would notice."""
    status = Path("/proc/self/status")
    with contextlib.suppress(OSError, ValueError):
        for line in status.read_text().splitlines():
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return None


def progress(record: dict[str, Any]) -> Progress:
    """Give how far a download is."""
    received = record.get("received_bytes", (record.get("body") or {}).get("size_bytes", 0))
    total = record.get("total_bytes", received if "outcome" in record and record["outcome"]["ok"] else None)
    return Progress(received, total, record.get("resume_data"))


class Gathering:
    """Makes pieces that fit a message of the blocks of a body. Small blocks that come fast are gathered."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._asked = time.monotonic()

    def add(self, block: bytes) -> Iterator[bytes]:
        """Take a block, and give the pieces that can go; all of it if the block was long in coming."""
        was_slow = time.monotonic() - self._asked > GATHERING_SECONDS
        self._pending += block
        yield from self._take(1 if was_slow else PIECE_BYTES)
        self._asked = time.monotonic()

    def rest(self) -> Iterator[bytes]:
        """Give what is left at the end."""
        return self._take(1)

    def _take(self, least: int) -> Iterator[bytes]:
        while len(self._pending) >= least:
            yield bytes(self._pending[:PIECE_BYTES])
            del self._pending[:PIECE_BYTES]


def pieces(data: Iterable[bytes]) -> Iterator[bytes]:
    """Make pieces of what is read."""
    read = getattr(data, "read", None)
    gathering = Gathering()
    for block in data if read is None else iter(lambda: cast("bytes", read(PIECE_BYTES)), b""):
        yield from gathering.add(block)
    yield from gathering.rest()


def _encode_body(params: dict[str, Any], body: tuple[Upload | None, str | None]) -> bytes | None:
    """Put the body into the params, or give it back when it is too large for a message."""
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
    whole = cast("str | bytes", data)
    raw = whole.encode() if isinstance(whole, str) else whole
    if len(raw) > MAX_INLINE_BODY_BYTES:
        return raw
    params["body"] = {"text": whole} if isinstance(whole, str) else {"base64": base64.b64encode(raw).decode()}
    return None


def _default_content_type(params: dict[str, Any], value: str) -> None:
    pairs = params.setdefault("headers", [])
    if not any(name.lower() == "content-type" for name, _ in pairs):
        pairs.append(["Content-Type", value])


def present(params: Mapping[str, Any]) -> dict[str, Any]:
    """Give the params that are not None."""
    return {name: value for name, value in params.items() if value is not None}


def deadline(timeout: float | None) -> float | None:
    """Give the moment at which a timeout has passed."""
    return None if timeout is None else time.monotonic() + timeout


def poll_ms(end: float | None) -> int:
    """Give how long the next poll may take until a moment; 0 when it has come."""
    left = MAX_POLL_MS if end is None else round((end - time.monotonic()) * 1000)
    return min(max(0, left), MAX_POLL_MS)


def can_read(path: str) -> bool:
    """Whether a file of the daemon's is within our reach."""
    return os.access(path, os.R_OK)


def spool_path(record: dict[str, Any]) -> str | None:
    """Give the file that holds the body of a record, if it is in one."""
    return cast("str | None", (record.get("body") or {}).get("file"))
