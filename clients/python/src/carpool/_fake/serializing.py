"""The values of `serialize`, as the daemon makes them."""

from __future__ import annotations

import base64
import json
from typing import Any, Final

from .._response import charset
from .records import Hop, failure

_FAILED: Final = "response_serialization_failed."
_EMPTY_STATUSES: Final = frozenset({204, 205})


class SerializingError(Exception):
    """A body that has no value: the error of the request."""

    def __init__(self, error: dict[str, Any]) -> None:
        self.error = error
        super().__init__(error["message"])


def value(kind: str, hop: Hop) -> Any:
    """Return the value of a body; raises SerializingError."""
    content = hop.body
    if not content:
        if hop.request.method == "HEAD" or hop.reply.status_code in _EMPTY_STATUSES:
            return {"json": None, "string": "", "data": {"$data": ""}}[kind]
        message = "the response has no body, and neither its status nor the request's method allows that"
        raise SerializingError(failure(f"{_FAILED}input_data_nil_or_zero_length", message))
    if kind == "data":
        return {"$data": base64.b64encode(content).decode()}
    return _json(content) if kind == "json" else _text(content, hop)


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError as error:
        line, column = getattr(error, "lineno", 1), getattr(error, "colno", 1)
        details = {"code": "syntax", "line": line, "column": column}
        underlying = failure("invalid_json", str(error), details=details)
        message = f"the body is not JSON: {error}"
        raise SerializingError(
            failure(f"{_FAILED}json_serialization_failed", message, details={"underlying": underlying})
        ) from None


def _text(content: bytes, hop: Hop) -> str:
    kind = next((field for name, field in hop.reply.headers if name.lower() == "content-type"), "")
    encoding = charset(kind) or "iso-8859-1"
    try:
        return content.decode(encoding)
    except ValueError:
        message = f"the body is not valid {encoding}"
        raise SerializingError(
            failure(f"{_FAILED}string_serialization_failed", message, details={"encoding": encoding})
        ) from None
