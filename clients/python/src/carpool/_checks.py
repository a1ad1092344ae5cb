"""Refusals: names and types of arguments that a request or a client does not have."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from . import _names
from ._bodies import check_data
from ._netrc import NetrcAuth
from ._paths import checked

_METHODS: Final = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
_RENAMED: Final = {
    "content": "data",
    "max_retries": "retry",
    "multipart": "files",
    "parameters": "params",
    "query": "params",
    "status": "status_code",
}
_HTTPX_TIMEOUT: Final = "; of a Timeout of httpx pass (timeout.connect, timeout.read)"


def check_names(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise TypeError for the first name that is not known, with the name that was probably meant."""
    known = frozenset(known)
    for name in given:
        if name not in known:
            raise TypeError(_unknown(what, name, known))


def _unknown(what: str, name: str, known: frozenset[str]) -> str:
    if name in _RENAMED and _RENAMED[name] in known:
        return f"{what} takes {_RENAMED[name]}, not {name}"
    if name in _names.NO_ARGUMENTS:
        return f"{what} has no argument {name!r}: {_names.NO_ARGUMENTS[name]}"
    if name == "stream":
        return f"{what} has no argument 'stream': request, get, post and the other methods of HTTP have it"
    meant = _names.nearest(name, known)
    return f"{what} has no argument {name!r}" + (f"; did you mean {meant}?" if meant else "")


def check_types(options: Mapping[str, Any]) -> None:
    """Raise TypeError or ValueError for an argument whose value has another type than it takes."""
    for name, value in options.items():
        if (check := _TYPES.get(name)) is not None and value is not None:
            check(name, value)


def check_target(method: object, url: object) -> str:
    """Return the method as it is sent: in upper case if that is one of the methods of a client.

    Other methods may be in lower case. Raises TypeError if the method or the URL is not text.
    """
    if not isinstance(method, str):
        raise TypeError(f"method: expected str, not {type(method).__name__}")
    if not isinstance(url, str):
        raise TypeError(f"url: expected str, not {type(url).__name__}; pass str(url)")
    return method if method in _METHODS or method.upper() not in _METHODS else method.upper()


def check_socket(socket: Any) -> Any:
    """Return the argument `socket` of a client; raises TypeError or ValueError unless it is a path or None."""
    if socket is None:
        return None
    if not isinstance(socket, (str, os.PathLike)):
        raise TypeError(f"socket: expected the path of the daemon's socket or None, not {type(socket).__name__}")
    if not (path := os.fspath(socket)):
        raise ValueError("socket: the path is empty: leave it out, or pass None, to find the daemon or to start it")
    if "://" in path:
        raise ValueError(
            "socket: expected the path of the daemon's socket, not a URL; for the URL before relative ones pass "
            "base_url="
        )
    checked("socket", path)
    return socket


def header_pairs(headers: Any) -> list[tuple[str, str | None]]:
    """Return the argument `headers` as pairs; None stands for a field that is removed."""
    expected = "headers: expected a mapping of names to str, or a list of pairs"
    if isinstance(headers, (str, bytes)) or not isinstance(headers, Iterable):
        raise TypeError(f"{expected}, not {type(headers).__name__}")
    pairs = list(headers.items()) if isinstance(headers, Mapping) else list(headers)
    for pair in pairs:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:  # noqa: PLR2004, a pair
            raise TypeError(f"{expected}: {pair!r} is no pair of a name and a value")
        name, value = pair
        if not isinstance(name, str):
            raise TypeError(f"headers: a name is str, not {type(name).__name__}: {name!r}")
        if value is not None and not isinstance(value, str):
            # Without the value, which may be a secret.
            raise TypeError(f"headers: the value of {name!r} is str or None, not {type(value).__name__}")
    return [(name, value) for name, value in pairs]


def _check_headers(_: str, value: object) -> None:
    # An iterator would be used up.
    if isinstance(value, (str, bytes, Mapping, list, tuple)) or not isinstance(value, Iterable):
        header_pairs(value)


def seconds_ms(name: str, value: object) -> int:
    """Return a time limit in milliseconds; raises TypeError if it is no number of seconds above 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        more = _HTTPX_TIMEOUT if hasattr(value, "connect") else ""
        pair = ", a pair (connect, read)" if name == "timeout" else ""
        raise TypeError(f"{name}: expected a number of seconds{pair} or None, not {type(value).__name__}{more}")
    if not value > 0:
        raise ValueError(f"{name}: expected more than 0 seconds, or None for no limit, not {value!r}")
    return max(1, round(min(value, 2_592_000) * 1000))


def _check_timeout(name: str, value: object) -> None:
    if not isinstance(value, (list, tuple)):
        seconds_ms(name, value)
        return
    if len(value) != 2:  # noqa: PLR2004, a pair
        raise TypeError(f"{name}: expected a number of seconds or a pair (connect, read), not {len(value)} numbers")
    for part in value:
        if part is not None:
            seconds_ms(name, part)


def _check_bool(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"{name}: expected True or False, not {type(value).__name__}")


def _check_response_body(name: str, value: object) -> None:
    if isinstance(value, Mapping):
        raise TypeError(
            f'{name}: expected "auto", "inline" or "file"; for a body that is read as it arrives use stream=True'
        )
    _check_str(name, value)


def _check_detail(name: str, value: object) -> None:
    if value not in ("short", "full"):
        raise ValueError(f'{name}: expected "short" or "full", not {value!r}')


def check_count(name: str, value: object) -> None:
    """Raise TypeError or ValueError unless the value is a number of at least 1."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name}: expected a number of bytes, not {type(value).__name__}")
    if value < 1:
        raise ValueError(f"{name}: expected at least 1 byte, not {value}")


def _check_str(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected str, not {type(value).__name__}")


def _check_verify(name: str, value: object) -> None:
    if not isinstance(value, (bool, str, bytes, os.PathLike)):
        raise TypeError(
            f"{name}: expected True, False or the path of a file or a directory, not {type(value).__name__}; "
            "trust= and tls= have more settings"
        )


def _check_auth(name: str, value: object) -> None:
    if isinstance(value, NetrcAuth) or callable(value):
        return
    if not isinstance(value, (tuple, list)):
        raise TypeError(
            f"{name}: expected a pair of user and password, a DigestAuth, a NetrcAuth or a function, not "
            f"{type(value).__name__}"
        )
    if not all(isinstance(part, str) for part in value):
        raise TypeError(f"{name}: the user and the password are str")


def _check_hooks(name: str, value: object) -> None:
    if not isinstance(value, Mapping):
        raise TypeError(f'{name}: expected {{"response": FUNCTION}}, not {type(value).__name__}')
    for hook, found in value.items():
        if hook != "response":
            more = "; auth=FUNCTION is called with the request" if hook == "request" else ""
            raise ValueError(f"{name}: the only hook is 'response', not {hook!r}{more}")
        for function in found if isinstance(found, (list, tuple)) else [] if found is None else [found]:
            if not callable(function):
                raise TypeError(f"{name}: the hook 'response' is a function or a list, not {type(function).__name__}")


def _check_cert(name: str, value: object) -> None:
    paths = value if isinstance(value, (list, tuple)) else [value]
    for path in paths:
        if not isinstance(path, (str, bytes, os.PathLike)):
            raise TypeError(f"{name}: expected a path or a pair of paths, not {type(path).__name__}")


def _check_proxies(name: str, value: object) -> None:
    if not isinstance(value, Mapping):
        raise TypeError(
            f"{name}: expected a mapping of schemes to URLs, not {type(value).__name__}: for one proxy pass "
            'proxies={"all": "http://HOST:PORT"}'
        )


def _check_retry(name: str, value: object) -> None:
    if not isinstance(value, (bool, int, Mapping)):
        raise TypeError(
            f"{name}: expected a number of retries, True, False or the members of a policy, such as "
            f'{{"limit": 3, "statuses": [503]}}, not {type(value).__name__}'
        )
    if isinstance(value, int) and value < 0:
        raise ValueError(f"{name}: expected a number of retries of 0 or more, not {value}")


_TYPES: Final[dict[str, Callable[[str, Any], object]]] = {
    "allow_redirects": _check_bool,
    "auth": _check_auth,
    "base_url": _check_str,
    "cert": _check_cert,
    "data": lambda _, value: check_data(value),
    "detail": _check_detail,
    "follow_redirects": _check_bool,
    "headers": _check_headers,
    "hooks": _check_hooks,
    "http2": _check_bool,
    "proxies": _check_proxies,
    "response_body": _check_response_body,
    "retry": _check_retry,
    "session": _check_str,
    "timeout": _check_timeout,
    "total": seconds_ms,
    "verify": _check_verify,
}
