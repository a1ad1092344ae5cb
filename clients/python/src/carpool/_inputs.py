"""Types of arguments that have a form of their own in Python. `_options` has those of the wire, and is generated."""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, Callable, Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from ._netrc import NetrcAuth
from ._paths import AnyPath

if TYPE_CHECKING:
    from ._cookies import CookieInput

HeaderInput = Mapping[str, str | None] | Iterable[tuple[str, str | None]]
# Names and values of a query or a form; a value may be a list of values, and None leaves the name out.
Pairs = Mapping[str, Any] | Sequence[tuple[str, Any]]
# The same, or the text of a query. With `encoding` it is any value that the daemon encodes.
ParamInput = Pairs | Sequence[Any] | str | bytes
# Bodies in memory, and files.
Data = str | bytes | os.PathLike[str] | os.PathLike[bytes]
# The same, and bodies that are read while they are sent. Only AsyncClient takes asynchronous iterables.
Upload = Data | IO[bytes] | Iterable[bytes] | AsyncIterable[bytes]
FileContent = str | bytes | os.PathLike[str] | os.PathLike[bytes] | IO[bytes]
# A content; a name of a file (None for a field), a content, a type and header fields; or a part of the daemon's.
Part = (
    FileContent
    | tuple[str | None, FileContent]
    | tuple[str | None, FileContent, str | None]
    | tuple[str | None, FileContent, str | None, Mapping[str, str]]
    | Mapping[str, Any]
)
# The parts of a form by name; or a list of parts in the format of the daemon.
FileInput = Mapping[str, Part] | Sequence[tuple[str, Part]] | Sequence[Mapping[str, Any]]
# Seconds for the connection and between two bytes: both, or one for each. None is no limit.
TimeoutInput = float | tuple[float | None, float | None]
VerifyInput = bool | AnyPath
# Functions that are called with each response; what they return, unless it is None, replaces the response.
HookInput = Mapping[str, Callable[..., Any] | Sequence[Callable[..., Any]]]
CertInput = AnyPath | tuple[AnyPath, AnyPath]

Serializer = Literal["data", "string", "json", "plist", "none"]


class _CallbackName(TypedDict):
    name: str


class CallbackOptions(_CallbackName, total=False):
    """A callback by the name under which a client has registered it."""

    deadline_ms: int
    on_failure: str


class RetryPolicy(TypedDict, total=False):
    """When a request is sent again: the members of `retry_policy`."""

    limit: int
    base: int
    scale_ms: int
    methods: Sequence[str]
    statuses: Sequence[int]
    codes: Sequence[int | str]
    respect_retry_after: bool
    jitter: float
    max_delay_ms: int
    max_back_off_ms: int
    max_elapsed_ms: int
    all_failures: bool
    without_validation: bool


class RedirectOptions(TypedDict, total=False):
    """The handling of redirects, with all members."""

    modify: Mapping[str, Any]
    callback: CallbackOptions
    max_hops: int
    keep_method: bool
    keep_authorization: Literal["never", "same_origin", "always"]
    allow_downgrade: bool
    strip_headers: Sequence[str]
    keep_headers: Sequence[str]


# In the functional form, because `as` is a keyword.
SerializeOptions = TypedDict(
    "SerializeOptions",
    {
        "as": Serializer,
        "encoding": str,
        "empty_methods": Sequence[str],
        "empty_statuses": Sequence[int],
        "preprocess": str | Mapping[str, Any],
        "callback": CallbackOptions,
    },
    total=False,
)
Serialize = Serializer | SerializeOptions


CachePolicy = Literal[
    "use_protocol",
    "reload_ignoring_cache",
    "return_cache_else_load",
    "return_cache_dont_load",
    "reload_revalidating",
    "no_store",
]
CacheHandler = Literal["cache", "do_not_cache"] | Mapping[str, Any]


class _CacheUse(TypedDict, total=False):
    policy: CachePolicy
    ttl_ms: int
    ignore_remote: bool
    handler: CacheHandler


class CacheOptions(_CacheUse, total=False):
    """How a request uses the stored responses of its session: the members of `cache` of a request."""

    store_downloads: bool


class SessionCacheOptions(_CacheUse, total=False):
    """The store of a session, and how its requests use it: the members of `cache` of a configuration."""

    store: str
    mode: Literal["private", "shared"]
    disk_bytes: int
    max_entry_bytes: int
    heuristic: bool
    heuristic_max_ms: int
    stale_if_error_ms: int
    stale_if_offline_ms: int
    coalesce: bool
    coalesce_wait_ms: int
    disk_secrets: bool


class DigestAuth(NamedTuple):
    """A user and a password for `auth` that are sent as a digest, once the server asks."""

    username: str
    password: str

    def __repr__(self) -> str:
        return f"DigestAuth({self.username!r}, ...)"


DigestAuth.__module__ = "carpool"

# A user and a password, or a function that changes the request.
AuthInput = tuple[str, str] | DigestAuth | NetrcAuth | Callable[[Any], Any]


class PythonOptions(TypedDict, total=False):
    """Arguments of a request that have a form of their own in Python: `_operations` writes them for the wire."""

    params: ParamInput | None
    """Names and values that are appended to the query of the URL, as a mapping, a list of pairs, or text. With
    `encoding` they are what the daemon encodes, into the query or the body, with bytes, times and nested values.
    """
    json: Any
    """A value that is sent as JSON; None is no body."""
    data: Upload | Pairs | None
    """The body: a form as a mapping or a list of pairs; text, bytes, the path of a file, an open file, or an iterable
    of pieces."""
    files: FileInput | None
    """The files of a form, by name: a file open for reading bytes, bytes, text, a path, or a tuple of the file's name,
    its content, its type and the header field `Content-Type`; `data` has the other fields of the form. Or a list of
    parts in the format of the daemon.
    """
    timeout: TimeoutInput | None
    """The seconds for the connection, and between two bytes; a pair has one for each. None is no limit."""
    total: float | None
    """`resource_timeout_ms` in seconds: the limit of the whole request. None is no limit."""
    allow_redirects: bool | None
    """The same as `follow_redirects`."""
    follow_redirects: bool | None
    """False for a redirect as the response. `redirect` says more."""
    verify: VerifyInput | None
    """False for no check of the server's certificate; the path of a file or directory with the only authorities to
    trust. By default those of `REQUESTS_CA_BUNDLE`, `CURL_CA_BUNDLE`, `SSL_CERT_FILE` or `SSL_CERT_DIR` of the
    environment, of the session, or of the system. `trust` says more."""
    cert: CertInput | None
    """The path of a client certificate with its key, in PEM or PKCS#12; or the two paths of a certificate and a key.
    With a password or another form, use `client_certificate`.
    """
    auth: AuthInput | None
    """A user and a password that are sent with the first request, to the origin of the URL alone; a `DigestAuth`; a
    `NetrcAuth`, without which no `.netrc` file is read; or a function that gets the `PreparedRequest` before it is
    sent, may change it, and returns it, such as an `AuthBase` of requests. `credential` and `credentials` say more.
    """
    cookies: CookieInput | None
    """A jar of this request and its redirects alone, which `response.cookies` has at the end: a mapping of names to
    values, which are for the origin of the URL; a list of cookies with all members; the cookies of a response; or an
    `http.cookiejar.CookieJar`, which is not changed. An empty one is an empty jar. The jar of the session is neither
    used nor changed.
    """
    proxies: Mapping[str, str | None] | None
    """The URLs of proxies, by `http`, `https` or `all`, and the hosts without one as `no_proxy`. By default those of
    the environment: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as curl reads them; `{}` changes nothing.
    `proxy` says more; `proxy={}` and `{"all": None}` are no proxy.
    """
    hooks: HookInput | None
    """`{"response": f}` or `{"response": [f, ...]}`: functions that are called with the response, or the head of a
    stream, before it is returned. A value other than None replaces the response, but no head. In place of those of
    the client.
    """
    retry: bool | int | RetryPolicy | None
    """A number of retries, of failures and of error statuses; True for the default number; or the members of a
    policy."""
    detail: Literal["short", "full"] | None
    """How much the response has: "full" is with `attempts`, `metrics` and `timeline`. By default it has the redirects,
    the sums of all attempts and all that is known of the response. `submit` does not take it: `response` of the client
    returns all.
    """


class ClientOptions(TypedDict, total=False):
    """Arguments of a client: the defaults of its requests."""

    base_url: str
    """The URL that a relative URL of a request is appended to."""
    headers: HeaderInput
    """Header fields of each request that has none of the same name."""
    params: ParamInput
    """Names and values for the query of each request that has none of the same name."""
    auth: AuthInput
    """The user and the password of each request, whatever its URL, or a function that changes it."""
    cookies: CookieInput | bool
    """True keeps cookies: those that responses set are sent with later requests. Cookies in a form that a request
    takes are the first ones; a jar is copied, and not changed."""
    hooks: HookInput
    """Functions that are called with each response, as of a request."""
    proxies: Mapping[str, str | None]
    """The proxies, in place of those of the environment and of the session."""
    proxy: str | Mapping[str, Any]
    """The parameter `proxy` in full, in place of `proxies`."""
    cert: CertInput
    """The client certificate."""
    verify: VerifyInput
    """Which servers are trusted."""
    timeout: TimeoutInput | None
    """The time limits of each request."""
    total: float | None
    """The limit of each request as a whole."""
    allow_redirects: bool
    """The same as `follow_redirects`."""
    follow_redirects: bool
    """Whether redirects are followed."""
    http2: bool
    """False for HTTP/1.1 alone. By default HTTP/2 is used with servers that offer it."""
    retry: bool | int | RetryPolicy
    """The retries of each request."""
