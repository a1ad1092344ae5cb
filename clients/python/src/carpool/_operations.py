"""Arguments to params and record to response: pure, shared by both clients."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ._exceptions import request_error
from ._models import Response

HeaderInput = Mapping[str, str] | Iterable[tuple[str, str]]
Data = str | bytes | os.PathLike[str]

UNSET: Final[Any] = object()
"""The default of `json`, because None is a JSON value."""

# A message may take 1 MiB and base64 adds a third; a larger body goes as a file that the daemon reads.
MAX_INLINE_BODY_BYTES: Final = 512 << 10


def perform_params(
    method: str,
    url: str,
    *,
    headers: HeaderInput | None,
    timeout: float | None,
    session: str | None,
    verify: bool | str | os.PathLike[str],
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """Make the params of `request.perform`, the body aside; `timeout` in seconds, paths made absolute."""
    params: dict[str, Any] = {"url": url, "method": method, **options}
    if headers is not None:
        pairs = headers.items() if isinstance(headers, Mapping) else headers
        params["headers"] = [[name, value] for name, value in pairs]
    if timeout is not None:
        params["timeout_ms"] = max(1, round(timeout * 1000))
    if session is not None:
        params["session"] = session
    if verify is False:
        params["trust"] = {"verify": False}
    elif verify is not True:
        params["trust"] = {"ca_file": os.path.abspath(verify)}  # noqa: PTH100, resolve() would follow links
    return params


def encode_body(params: dict[str, Any], json_value: Any, data: Data | None) -> bytes | None:
    """Put the body into the params, or give it back when it is too large for a message.

    Raises ValueError when both forms are given or `json_value` has no JSON form.
    """
    if json_value is not UNSET:
        if data is not None:
            raise ValueError("a request has one body: json or data")
        _default_content_type(params, "application/json")
        data = json.dumps(json_value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if data is None:
        return None
    if isinstance(data, os.PathLike):
        params["body"] = {"file": os.path.abspath(data)}  # noqa: PTH100, as above
        return None
    raw = data.encode() if isinstance(data, str) else data
    if len(raw) > MAX_INLINE_BODY_BYTES:
        return raw
    params["body"] = {"text": data} if isinstance(data, str) else {"base64": base64.b64encode(raw).decode()}
    return None


def _default_content_type(params: dict[str, Any], value: str) -> None:
    pairs = params.setdefault("headers", [])
    if not any(name.lower() == "content-type" for name, _ in pairs):
        pairs.append(["Content-Type", value])


def spool_path(record: dict[str, Any]) -> str | None:
    """Give the file that holds the body of a record, if it is in one."""
    body = record.get("body")
    return body.get("file") if body else None


def response(record: dict[str, Any], spooled: bytes | None) -> Response:
    """Make the response of a record, or raise what its outcome says."""
    if not record["outcome"]["ok"]:
        raise request_error(record)
    return Response(record, spooled)
