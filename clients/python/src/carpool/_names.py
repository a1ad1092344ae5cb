"""Messages for attributes of requests and httpx that this package names differently."""

from __future__ import annotations

from typing import Final

_RENAMED: Final = {
    "aiter_bytes": "iter_bytes",
    "aiter_lines": "iter_lines",
    "aiter_text": "iter_text",
    "apparent_encoding": "encoding",
    "aread": "read",
    "charset_encoding": "encoding",
    "iter_content": "iter_bytes",
    "iter_raw": "iter_bytes",
    "reason_phrase": "reason",
    "status": "status_code",
}
_MISSING: Final = {
    "has_redirect_location": "use is_redirect",
    "iter_json": "use stream=True and iter_json, or json() for a body that is one value",
    "iter_sse": "use stream=True and iter_sse",
    "iter_text": "use text, or stream=True and iter_text",
    "links": 'parse headers["link"]',
    "next": 'use headers["location"]',
    "raw": "use stream=True and iter_bytes",
    "request": "with detail='full' attempts[-1] has the request that was sent",
}
_CLASSES: Final = {
    "BasicAuth": "auth=(user, password)",
    "ConnectTimeout": "RequestTimeoutError",
    "ConnectionError": "ConnectError",
    "HTTPError": "HTTPStatusError for a status, CarpoolError for all errors",
    "NetRCAuth": "NetrcAuth",
    "ReadTimeout": "RequestTimeoutError",
    "RequestException": "CarpoolError",
    "SSLError": "CertificateError",
    "Session": "Client",
    "Timeout": "RequestTimeoutError for the error, timeout=(connect, read) for the limits",
    "TimeoutException": "RequestTimeoutError",
    "TransportError": "TransferError",
    "call": "call of a Client",
    "create_session": "create_session of a Client",
    "download": "download of a Client",
    "events": "events of a Client",
    "reachability": "reachability of a Client",
    "register": "register of a Client",
    "serve": "serve of a Client",
    "submit": "submit of a Client",
    "subscribe": "subscribe of a Client",
    "upload": "upload of a Client",
    "wait": "wait of a Client",
    "stream": "get, post and the others with stream=True",
}


def missing_in_module(module: str, name: str) -> AttributeError:
    """Return the error for a name that the package does not have, with the name to use."""
    text = f"module {module!r} has no attribute {name!r}"
    return AttributeError(f"{text}: use {_CLASSES[name]}" if name in _CLASSES else text)


def default_of_client(kind: str, name: str) -> AttributeError:
    """Return the error for an argument of a client that is used as an attribute."""
    return AttributeError(f"{kind} has no attribute {name!r}: pass {name}= to {kind}(), or to a request")


def missing_in_stream(kind: str, name: str, has: object, response: object) -> AttributeError:
    """Return the error for an attribute that a stream does not have."""
    if name in {"content", "text", "json"}:
        return AttributeError(f"{kind} has no attribute {name!r}: use read(), or one of the iterators")
    if hasattr(response, name):
        return AttributeError(f"{kind} has no attribute {name!r}: use head.{name}")
    return missing(kind, name, has)


def missing(kind: str, name: str, has: object) -> AttributeError:
    """Return the error for an attribute that does not exist, with the name to use."""
    text = f"{kind} has no attribute {name!r}"
    if name in _RENAMED and hasattr(has, _RENAMED[name]):
        text += f": use {_RENAMED[name]}"
    elif name in _MISSING:
        text += f": {_MISSING[name]}"
    return AttributeError(text)
