"""The parts that the adapters of requests and httpx share: parameters of the request, sessions, idle connections."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import ssl
import threading
from collections.abc import Iterable
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlsplit

from . import _fork
from ._environment import variable
from ._log import logger
from ._operations import MAX_MS, certificate_of_paths
from ._pool import MAX_IDLE

# The longest line that an adapter reads: it holds the largest head that the daemon accepts.
MAX_LINE_BYTES: Final = 1 << 20
# The most bytes of a request's body in one message, which base64 makes a third larger.
PIECE_BYTES: Final = 1 << 19
# The event that has the head of a response.
HEAD_EVENT: Final = "task.did_receive_response"
# The failures of requests that have not reached a server.
UNREACHED: Final = (
    "session_task_failed.cannot_find_host",
    "session_task_failed.cannot_connect_to_host",
    "session_task_failed.not_connected_to_internet",
    "session_task_failed.dns_lookup_failed",
)
# Those of certificates, of the server and of the client.
UNTRUSTED: Final = (
    "session_task_failed.secure_connection_failed",
    "session_task_failed.server_certificate_",
    "session_task_failed.client_certificate.",
    "server_trust_evaluation_failed",
)
# What the sessions of adapters have in common: the library sends its own fields, decodes, and follows redirects.
BASE_CONFIGURATION: Final[dict[str, Any]] = {
    "languages": [],
    "decode": False,
    "redirect": "do_not_follow",
    "url_encoding": "as_is",
    "resource_timeout_ms": MAX_MS,
}
# What their requests have in common: the cookies, the cache and the proxies are those of the library.
BASE_PARAMS: Final[dict[str, Any]] = {
    "cache": "no_store",
    "on_disconnect": "cancel",
    "proxy": {},
}
# Fields that the daemon sets itself, and those of the connection, which is the daemon's.
_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding", b"connection", b"keep-alive"})
_EXPECT: Final = ("expect", "100-continue")

# The replaced methods that the log names.
_MAX_SAID: Final = 100

C = TypeVar("C")

# The most that a session accepts: requests and httpx make many more connections to a host than one does by default. The
# daemon grants half of its `limits.host_connections`, by default 64.
CONNECTIONS_PER_HOST: Final = 256
# It has the number, so that two versions of the client do not create one session with two settings.
_SESSION_PREFIX: Final = f"python-adapter-{CONNECTIONS_PER_HOST}-"


class HeaderError(ValueError):
    """A header field that cannot be sent through the daemon."""


def is_off() -> bool:
    """Whether CARPOOL=off is in the environment: the library then sends its requests itself."""
    return variable("CARPOOL").lower() == "off"


def is_replaced(kind: type, name: str) -> bool:
    """Whether another library, such as a mock, has replaced a method of a class, which is then to see the requests.

    Its code is in another file than that of the class. An object that only wraps it, such as that of a tracer, has the
    same code.
    """
    method = getattr(kind, name, None)
    if _own.get((kind, name)) is method:
        return False
    code, own = getattr(method, "__code__", None), kind.__init__.__code__  # type: ignore[misc]
    if code is not None and code.co_filename == own.co_filename:
        _own[kind, name] = method
        return False
    _say_once(f"{kind.__module__}.{kind.__qualname__}.{name}", "another object" if code is None else code.co_filename)
    return True


# The methods that are those of their classes, so that a request looks at them only once.
_own: Final[dict[tuple[type, str], object]] = {}
_said: Final[set[tuple[str, str]]] = set()


def _say_once(what: str, where: str) -> None:
    if (what, where) not in _said and len(_said) < _MAX_SAID:
        _said.add((what, where))
        logger().info("%s is replaced by %s, which gets the requests in place of carpoold", what, where)


def check_library(request: object, kind: type) -> None:
    """Raise TypeError for a request of another library than the transport's, such as one of httpx2 for httpx's."""
    if isinstance(request, kind):
        return
    library, other = (each.__module__.partition(".")[0] for each in (kind, type(request)))
    raise TypeError(f"carpool.{library} sends requests of {library}, not of {other}; use carpool.{other}")


def milliseconds(seconds: float | None) -> int:
    """Return a timeout for the daemon; None is none."""
    if seconds is None or math.isinf(seconds):
        return MAX_MS
    return min(MAX_MS, max(1, math.ceil(seconds * 1000)))


def session_name(configuration: dict[str, Any]) -> str:
    """Return the name of the session with this configuration."""
    return _BASE_SESSION if configuration == BASE_CONFIGURATION else _session_name(configuration)


def _session_name(configuration: dict[str, Any]) -> str:
    digest = hashlib.sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest()
    return _SESSION_PREFIX + digest[:24]


# The session of nearly all requests, whose name is computed only once.
_BASE_SESSION: Final = _session_name(BASE_CONFIGURATION)


class LengthError(Exception):
    """A body has another number of bytes than its Content-Length."""


def session_call(name: str, configuration: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the call that creates a session."""
    configuration = {"connections_per_host": CONNECTIONS_PER_HOST, **configuration}
    return "session.create", {"name": name, "configuration": configuration}


def header_fields(fields: Iterable[tuple[bytes, bytes]], url: str) -> list[tuple[str, str]]:
    """Return the fields to send, without those that the daemon sets itself; raises HeaderError."""
    sent = []
    for name, value in fields:
        if name.lower() in _FRAMING or (name.lower() == b"host" and _is_host_of(value, url)):
            continue
        try:
            sent.append((name.decode("ascii"), value.decode()))
        except UnicodeDecodeError as error:
            shown = name.decode("latin-1")
            raise HeaderError(
                f"header {shown}: expected ASCII or UTF-8, got {value!r}; carpoold sends no other bytes, so encode the "
                f"value, or set CARPOOL=off"
            ) from error
    return sent


def _is_host_of(value: bytes, url: str) -> bool:
    parts = urlsplit(url)
    return value.decode("latin-1").lower() == parts.netloc.rpartition("@")[2].lower()


def take_expectation(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with `expect_continue` in the place of the field, which the daemon sends itself."""
    kept = [field for field in params["headers"] if (field[0].lower(), field[1].lower()) != _EXPECT]
    if "body" not in params or len(kept) == len(params["headers"]):
        return params
    return params | {"headers": kept, "expect_continue": True}


def body_params(content: bytes | None, length: int | None) -> dict[str, Any]:
    """Return the parameters for a body: the bytes themselves, or a stream of a known or unknown length.

    `content` is None if the body is sent in pieces; `length` is that of the field Content-Length.
    """
    body: dict[str, Any] = {"stream": True}
    if content is not None and length in {None, len(content)}:
        if len(content) <= PIECE_BYTES:
            body = {"base64": base64.b64encode(content).decode()}
            return {"kind": "upload", "body": body}
        length = len(content)
    if length is not None:
        body["length_bytes"] = length
    return {"kind": "upload", "body": body}


class Counted:
    """Compares the bytes of a body that is sent in pieces with its Content-Length."""

    def __init__(self, params: dict[str, Any]) -> None:
        self._length: int | None = params["body"].get("length_bytes")
        self._count = 0

    def add(self, block: bytes) -> None:
        """Count a block before it is sent; raises LengthError."""
        self._count += len(block)
        if self._length is not None and self._count > self._length:
            raise LengthError(f"the body has more bytes than {self._length}, its Content-Length")

    def end(self) -> None:
        """Check the number at the end; raises LengthError."""
        if self._length is not None and self._count < self._length:
            raise LengthError(f"the body has {self._count} bytes, fewer than {self._length}, its Content-Length")


def content_length(text: str) -> int:
    """Return the number in a field Content-Length; raises LengthError."""
    if not (text.isascii() and text.isdigit()):
        raise LengthError(f"Content-Length: expected a number of bytes, not {text!r}")
    return int(text)


def trust_of_context(context: ssl.SSLContext) -> dict[str, Any] | str:
    """Return the parameter `trust` that verifies as an SSLContext does.

    Raises ValueError for a context whose authorities Python does not tell: those in a folder (`capath`), or none.
    """
    if context.verify_mode == ssl.CERT_NONE:
        return {"verify": False}
    authorities = context.get_ca_certs(binary_form=True)
    # The system's authorities are in a folder alone on some systems; truststore asks the system itself.
    is_of_system = ssl.get_default_verify_paths().cafile is None or type(context).__module__.startswith("truststore")
    if not authorities and not is_of_system:
        raise ValueError(
            "the SSLContext has no authorities that Python can read, as with capath: pass the folder itself, "
            "verify=FOLDER, or load a file into the context (cafile)"
        )
    trust: dict[str, Any] = {"ca_pem": "".join(map(ssl.DER_cert_to_PEM_cert, authorities))} if authorities else {}
    if not context.check_hostname:
        trust["evaluators"] = {"*": {"default": {"validate_host": False}}}
    return trust or "system"


def certificate(cert: Any) -> dict[str, Any]:
    """Return the parameter `client_certificate` of a path, or of the paths of certificate, key, and a password."""
    return certificate_of_paths(cert) if isinstance(cert, (str, bytes, os.PathLike)) else certificate_of_paths(*cert)


class Idle(Generic[C]):
    """Connections to the daemon that no request uses; they belong to the process that has made them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made_in = _fork.generation()
        self._free: list[tuple[object, C]] = []

    def take(self, owner: object = None) -> C | None:
        """Return a connection of this owner (an event loop), the one that was used last; None if there is none."""
        self._check_process()
        with self._lock:
            for index in range(len(self._free) - 1, -1, -1):
                if self._free[index][0] is owner:
                    return self._free.pop(index)[1]
        return None

    def give(self, connection: C, owner: object = None) -> C | None:
        """Keep a connection for the next request. Returns the one to close because there are too many."""
        self._check_process()
        with self._lock:
            self._free.append((owner, connection))
            return self._free.pop(0)[1] if len(self._free) > MAX_IDLE else None

    def drain(self) -> list[C]:
        """Return all connections and forget them."""
        self._check_process()
        with self._lock:
            free, self._free = self._free, []
        return [connection for _, connection in free]

    def _check_process(self) -> None:
        if self._made_in != _fork.generation():
            # A child of fork: its parent uses these connections. A thread that it does not have may hold the lock.
            self.__init__()  # type: ignore[misc]


def connection_message(error: BaseException) -> str:
    """Return the message for a daemon that cannot be reached."""
    return f"carpoold cannot be reached: {error}; start it, or set CARPOOL=off to send requests without it"


def proxy(url: str) -> dict[str, Any]:
    """Return the parameter `proxy` for the URL of a proxy, whose port is that of its scheme if it has none."""
    parts = urlsplit(url)
    port = {"http": 80, "https": 443}.get(parts.scheme.lower(), 1080) if parts.port is None else parts.port
    user = parts.netloc.rpartition("@")[0]
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return {"all": f"{parts.scheme}://{user}{'@' if user else ''}{host}:{port}"}
