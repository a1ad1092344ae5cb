"""Messages for attributes of requests and httpx that this package names differently."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Final

_RENAMED: Final = {
    "aclose": "close",
    "aiter_bytes": "iter_bytes",
    "aiter_lines": "iter_lines",
    "aiter_text": "iter_text",
    "apparent_encoding": "encoding",
    "aread": "read",
    "charset_encoding": "encoding",
    "close": "aclose",
    "iter_content": "iter_bytes",
    "iter_raw": "iter_bytes",
    "reason_phrase": "reason",
    "status": "status_code",
}
_MISSING: Final = {
    "body": "use content",
    "close": "there is nothing to close: the body has been read",
    "has_redirect_location": "use is_redirect",
    "iter_json": "use stream=True and iter_json, or json() for a body that is one value",
    "iter_sse": "use stream=True and iter_sse",
    "iter_text": "use text, or stream=True and iter_text",
    "next": 'use links["next"], or headers["location"] of a redirect',
    "raw": "use stream=True and iter_bytes",
    "read": "use content, or stream=True and read()",
    "request": "with detail='full' attempts[-1] has the request that was sent",
}
_OF_COOKIES: Final = {
    "get_dict": "use dict(cookies)",
    "jar": "use list, which has the cookies with all members",
    "set_cookie": 'use set(name, value, domain, path), or update([{"name": NAME, "value": VALUE}])',
}
# Arguments of methods that have none, and what the methods do instead.
_OF_METHODS: Final = {
    "chunk_size": "lines come as they arrive",
    "decode_unicode": "lines are text; for bytes use iter_bytes",
    "delimiter": "lines end with LF, CRLF or CR; for others divide text, or what iter_text returns",
    "read": "it returns the whole body; for parts use iter_bytes(chunk_size), for a file download of a client",
}
NO_BLOCK: Final = (
    "a Response is no context manager: its body has been read, and there is nothing to close; with stream=True there is"
)
_OF_CLIENTS: Final = {
    "adapters": "use retry= or proxies=, or addresses= of a request",
    "build_request": "use request(method, url), which sends it too",
    "is_closed": "a client that was closed connects again at its next call",
    "get_adapter": "use retry= or proxies=, or addresses= of a request",
    "mount": "use retry= or proxies=, or addresses= of a request",
    "prepare_request": "use request(method, url), and auth=FUNCTION to change a request before it is sent",
    "send": "use request(method, url)",
}
_ONE_POOL: Final = "the daemon holds the connections of all programs; the limits of its configuration apply"
# Arguments of other packages.
NO_ARGUMENTS: Final = {
    "app": "requests are sent by the daemon; use addresses= of a request for another server",
    "default_encoding": "set response.encoding",
    "event_hooks": 'use hooks={"response": FUNCTION}, auth=FUNCTION for the request, and client.events() for events',
    "extensions": "timeout= and the other arguments have their own names",
    "form": 'use data={"NAME": "VALUE"} for a form',
    "http1": 'use http2=False, or http_version="1.1" in a request',
    "limits": _ONE_POOL,
    "max_redirects": 'use redirect={"max_hops": N} in a request',
    "mounts": "use proxies=, or addresses= of a request",
    "pool_connections": _ONE_POOL,
    "pool_maxsize": _ONE_POOL,
    "text": "use data= for text, with its type in headers=",
    "transport": "requests are sent by the daemon; use retry= or proxies=, or addresses= of a request for another way",
    "trust_env": "the proxies and authorities of the environment apply unless proxies= or proxy=, and verify= or "
    "trust= are passed, and .netrc is read only with auth=carpool.NetrcAuth()",
    "uds": 'use addresses={"unix_socket": PATH} of a request',
}
_CLASSES: Final = {
    "AuthBase": "a function, as auth=FUNCTION",
    "BasicAuth": "auth=(user, password)",
    "ConnectTimeout": "RequestTimeoutError",
    "ConnectionError": "ConnectError",
    "HTTPAdapter": "retry=, proxies= or addresses=; carpool.requests.CarpoolAdapter in a requests.Session",
    "HTTPBasicAuth": "auth=(user, password)",
    "HTTPDigestAuth": "DigestAuth",
    "HTTPError": "HTTPStatusError for a status, CarpoolError for all errors",
    "InvalidURL": "RequestError, whose name is invalid_url",
    "JSONDecodeError": "json.JSONDecodeError for json(), SerializationError for serialize=",
    "Limits": "the configuration of the daemon, which holds the connections of all programs",
    "NetRCAuth": "NetrcAuth",
    "ReadError": "TransferError",
    "ReadTimeout": "RequestTimeoutError",
    "Request": "request(method, url)",
    "RequestException": "CarpoolError",
    "Retry": 'retry=N, or retry={"limit": N, "statuses": [503]}',
    "SSLError": "CertificateError",
    "Session": "Client, with cookies=True if it keeps cookies, as a Session does",
    "Timeout": "RequestTimeoutError for the error, timeout=(connect, read) for the limits",
    "TimeoutException": "RequestTimeoutError",
    "TooManyRedirects": "TransferError, whose name is session_task_failed.http_too_many_redirects",
    "TransportError": "TransferError",
    "URL": "str",
    "adapters": "retry=, proxies= or addresses=; carpool.requests.CarpoolAdapter in a requests.Session",
    "auth": "auth=(user, password), carpool.DigestAuth, carpool.NetrcAuth or auth=FUNCTION",
    "call": "call of a Client",
    "codes": "numbers, or http.HTTPStatus",
    "cookies": "the cookies of a Client(cookies=True) or of a response, or http.cookiejar",
    "create_session": "create_session of a Client",
    "download": "download of a Client",
    "events": "events of a Client",
    "exceptions": "the classes of the package itself, such as carpool.CarpoolError",
    "reachability": "reachability of a Client",
    "register": "register of a Client",
    "serve": "serve of a Client",
    "packages": "the packages themselves, such as urllib3; retry= in place of a Retry",
    "session": "Client, with cookies=True if it keeps cookies, as a Session does",
    "sessions": "Client, with cookies=True if it keeps cookies, as a Session does",
    "stream": "get, post and the others with stream=True",
    "submit": "submit of a Client",
    "subscribe": "subscribe of a Client",
    "upload": "upload of a Client",
    "utils": "urllib.parse and http.cookiejar",
    "wait": "wait of a Client",
}
BY_NAME: Final = (
    "only the method and the URL are passed by position: pass params= for the query, data= or json= for the body, and "
    "the other arguments by their names too"
)


def missing_in_module(module: str, name: str) -> AttributeError:
    """Return the error for a name that the package does not have, with the name to use."""
    text = f"module {module!r} has no attribute {name!r}"
    return AttributeError(f"{text}: use {_CLASSES[name]}" if name in _CLASSES else text)


class Finder:
    """Has the names to use in place of those of requests and httpx for `from carpool import NAME`.

    Such a statement looks for a module of this name, and has a message of its own for an error of `__getattr__`.
    """

    @staticmethod
    def find_spec(module: str, *others: object) -> None:
        """Find no module; raise ImportError with the name to use in place of one that the package does not have.

        Only in a statement `import`: importlib.util.find_spec, which only looks for a module, has None.
        """
        package, _, name = module.rpartition(".")
        if package == __package__ and name in _CLASSES and _is_importing():
            raise ImportError(f"cannot import name {name!r} from {package!r}: use {_CLASSES[name]}", name=module)


def _is_importing() -> bool:
    """Whether the caller of importlib's search, which has called a finder, imports what it finds."""
    search = sys._getframe(1).f_back  # noqa: SLF001, importlib passes no other mark
    caller = search and search.f_back
    return bool(caller and caller.f_code.co_name == "_find_and_load_unlocked")


def default_of_client(kind: str, name: str) -> AttributeError:
    """Return the error for an argument of a client that is used as an attribute."""
    return AttributeError(f"{kind} has no attribute {name!r}: pass {name}= to {kind}(), or to a request")


def no_cookies(kind: str) -> AttributeError:
    """Return the error for the cookies of a client that keeps none."""
    return AttributeError(f"this {kind} keeps no cookies: pass cookies=True to {kind}(), or set its cookies to True")


def method_of_client(kind: str, name: str) -> AttributeError:
    """Return the error for a method of a client that is replaced by a value."""
    text = f"{kind}.{name} is a method, which only another function may replace"
    return AttributeError(f"{text}: pass stream= to get, post and the other methods" if name == "stream" else text)


def missing_in_client(kind: str, name: str, has: object) -> AttributeError:
    """Return the error for an attribute that a client does not have."""
    hint = _OF_CLIENTS.get(name) or NO_ARGUMENTS.get(name)
    return AttributeError(f"{kind} has no attribute {name!r}: {hint}") if hint else missing(kind, name, has)


def unknown_of_client(kind: str, name: str, of_client: Iterable[str], of_request: Iterable[str]) -> AttributeError:
    """Return the error for an attribute that is set and that a client does not have."""
    hint = _OF_CLIENTS.get(name) or NO_ARGUMENTS.get(name)
    if not hint and name in of_request:
        hint = f"pass {name}= to a request"
    elif not hint and (meant := nearest(name, of_client)):
        hint = f"did you mean {meant}= of {kind}()?"
    own = "an instance of a subclass may have attributes of its own"
    return AttributeError(f"{kind} has no attribute {name!r}: {hint or own}")


def no_arguments(method: str, given: Iterable[object]) -> TypeError:
    """Return the error for arguments of a method that has none."""
    name = next(iter(given), None)
    hint = _OF_METHODS.get(str(name)) or _OF_METHODS.get(method)
    return TypeError(f"{method}() has no argument {name!r}" + (f": {hint}" if hint else ""))


def missing_in_cookies(kind: str, name: str) -> AttributeError:
    """Return the error for an attribute that cookies do not have."""
    text = f"{kind} has no attribute {name!r}"
    return AttributeError(f"{text}: {_OF_COOKIES[name]}" if name in _OF_COOKIES else text)


def missing_in_stream(kind: str, name: str, has: object, response: object) -> AttributeError:
    """Return the error for an attribute that a stream does not have."""
    if name in {"body", "content", "text", "json"}:
        return AttributeError(f"{kind} has no attribute {name!r}: use read(), or one of the iterators")
    if name == "raw":
        return AttributeError(f"{kind} has no attribute {name!r}: use iter_bytes, or download of a client for a file")
    if hasattr(response, name):
        return AttributeError(f"{kind} has no attribute {name!r}: use head.{name}")
    return missing(kind, name, has)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the name that was probably meant."""
    import difflib  # noqa: PLC0415, only for an error

    return next(iter(difflib.get_close_matches(name, sorted(known), 1)), None)


def missing(kind: str, name: str, has: object) -> AttributeError:
    """Return the error for an attribute that does not exist, with the name to use."""
    text = f"{kind} has no attribute {name!r}"
    if name in _RENAMED and hasattr(has, _RENAMED[name]):
        text += f": use {_RENAMED[name]}"
    elif name in _MISSING:
        text += f": {_MISSING[name]}"
    return AttributeError(text)
