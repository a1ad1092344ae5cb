"""Types of the elements of `interceptor`: adapters and retriers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, TypedDict

from ._inputs import RetryPolicy

InterceptorName = Literal["retry_policy", "connection_lost", "offline", "compress"]
"""An interceptor with its defaults."""


class _Header(TypedDict):
    name: str
    value: str


class SetHeaderOptions(_Header, total=False):
    """Sets a header field."""

    mode: Literal["replace", "append", "if_absent"]


class RewriteQuery(TypedDict):
    """Values of the query by name; each replaces all pairs of its name."""

    set: Mapping[str, str]


class RewriteOptions(TypedDict, total=False):
    """Replaces parts of the URL."""

    scheme: Literal["http", "https"]
    host: str
    port: int
    path_prefix: str
    query: RewriteQuery


class BasicOptions(TypedDict):
    """`Authorization: Basic`."""

    username: str
    password: str


class BearerOptions(TypedDict):
    """`Authorization: Bearer`."""

    token: str


class ConnectionLostOptions(TypedDict, total=False):
    """Retries when a connection is lost."""

    limit: int
    base: int
    scale_ms: int
    methods: Sequence[str]
    respect_retry_after: bool
    jitter: float
    max_delay_ms: int
    max_back_off_ms: int
    max_elapsed_ms: int


class OfflineOptions(TypedDict, total=False):
    """Waits for the network and retries."""

    wait_ms: int
    codes: Sequence[int | str]
    methods: Sequence[str]


class _OAuth2Token(TypedDict):
    access_token: str


class OAuth2Credential(_OAuth2Token, total=False):
    """A credential of OAuth 2.0."""

    refresh_token: str
    expires_in_ms: int


class OAuth2Window(TypedDict, total=False):
    """The most refreshes in a time."""

    interval_ms: int
    attempts: int


class _CallbackName(TypedDict):
    name: str


class RefreshCallback(_CallbackName, total=False):
    """The callback that returns a new credential."""

    deadline_ms: int
    on_failure: Literal["fail"]


class OAuth2Options(TypedDict, total=False):
    """Sends a credential, and refreshes it once for all requests that wait; it needs `token_url` or `callback`."""

    grant: Literal["refresh_token", "client_credentials", "password"]
    token_url: str
    client_id: str
    client_secret: str
    client_auth: Literal["basic", "body"]
    username: str
    password: str
    parameters: Mapping[str, str | Sequence[str]]
    scope: str
    headers: Mapping[str, str]
    callback: RefreshCallback
    credential: OAuth2Credential | None
    refresh_before_ms: int
    window: OAuth2Window | None
    refresh_timeout_ms: int


class CompressOptions(TypedDict, total=False):
    """Compresses the request's body."""

    format: Literal["deflate", "gzip"]
    duplicate: Literal["error", "replace", "skip"]
    min_bytes: int


class InterceptorCallback(_CallbackName, total=False):
    """A client decides, by the handlers `adapt` and `retry` that it has registered under the name."""

    deadline_ms: int
    on_failure: Literal["fail", "skip", "retry"]
    handles: Sequence[Literal["adapt", "retry"]]


class InterceptorOptions(TypedDict, total=False):
    """One interceptor: an element has exactly one of these members."""

    set_header: SetHeaderOptions
    rewrite: RewriteOptions
    basic_auth: BasicOptions
    bearer: BearerOptions
    retry_policy: RetryPolicy
    connection_lost: ConnectionLostOptions
    offline: OfflineOptions
    oauth2: OAuth2Options
    compress: CompressOptions
    callback: InterceptorCallback


class _Unknown:
    """The type of values of which a type checker knows nothing: no value has it, and `Any` is taken for it."""


class _Writable(Protocol):
    """A dictionary that may have values of all types, such as a `dict[str, object]`.

    The literal of an element has values of its own types. So its members are checked, as those of InterceptorOptions.
    """

    def __getitem__(self, name: str, /) -> object: ...

    def __setitem__(self, name: str, value: _Unknown, /) -> None: ...


Interceptor = InterceptorName | InterceptorOptions | Mapping[str, _Unknown] | _Writable
"""An element of `interceptor`: one whose members a type checker knows, or a mapping whose type says nothing of them."""
