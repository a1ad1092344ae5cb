"""The parameters of requests and sessions. Written by docs/generate from the catalogue: do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from ._inputs import (
    CacheOptions,
    CachePolicy,
    HeaderInput,
    PythonOptions,
    RedirectOptions,
    Serialize,
    SessionCacheOptions,
)
from ._interceptors import Interceptor


class RequestOptions(PythonOptions, total=False):
    """The keyword arguments of a request. None is the same as omitting one, except for `timeout` and `total`."""

    headers: HeaderInput | None
    """Header fields, in order. The daemon sets `Content-Length` and the fields of a connection itself. A `Host`
    other than the URL's is sent to the URL's host, over a connection that only requests with the same one share.
    Default: none.
    """
    body: Mapping[str, Any] | None
    """The request's body. Default: none."""
    expect_continue: bool | None
    """Whether the request sends `Expect: 100-continue` and waits for the answer before the body. Costs a round trip,
    or a second if the server does not answer. Without `default_headers` only over HTTP/1.1, and for a body of
    more than 1 MiB or of an unknown length. Default: false.
    """
    encoding: Literal["form", "json", "plist"] | Mapping[str, Any] | None
    """How `params` are encoded. Default: "form"."""
    session: str | None
    """The session that the request belongs to. Default: "default"."""
    kind: Literal["data", "upload", "download", "stream"] | None
    """`data`: the record holds the response's body. `upload`: the same, with the events of uploads. `download`: the
    body goes to a file. `stream`: readers receive the body as it arrives: see `request.read` and
    `request.attach`. Default: upload if the body is stream, multipart, fd or callback, otherwise data.
    """
    destination: str | Mapping[str, Any] | None
    """Where a download is stored. Default: the destination in resume_data, otherwise a file of the spool."""
    resume_data: str | None
    """The token of an earlier download that this one continues, from its record or from an event. Default: none."""
    cancel_on_stream_error: bool | None
    """For `stream`: whether the first failure of a reader, such as a line that is not JSON, cancels the request.
    Default: false.
    """
    start: Literal["immediate", "manual"] | None
    """When a request starts. `immediate`: at once. `manual`: with `request.resume`. Default: the session's."""
    setup: Literal["lazy", "eager"] | None
    """When the request to send is made. `lazy`: when the request starts. `eager`: at once, adapters included.
    Default: the session's.
    """
    hold_for_headers: bool | None
    """Whether the call answers with the head, and the body waits: `request.resume` receives it, `request.cancel`
    ends the request, `request.wait` returns the whole record. There is one such head: that of the first response
    whose status no retry policy retries. Default: false.
    """
    interceptor: Sequence[Interceptor] | None
    """Adapters and retriers, in order. Those of a session run before those of its requests. Default: none."""
    validate: bool | Sequence[Mapping[str, Any]] | None
    """Which responses are acceptable; others fail the request. Default: the session's."""
    serialize: Serialize | Sequence[Serialize] | None
    """Which values are made of the body; the record holds the body if there are none. Default: none."""
    credential: Mapping[str, Any] | None
    """The user and the password for the origin of the URL: a challenge (401) is answered once, and not shown as a
    response. Not sent to other origins. Default: none.
    """
    credentials: Sequence[Mapping[str, Any]] | None
    """Users and passwords by host, for this request and its redirects: the first one that is for the host of a hop
    is used there, if `credential` is not. Default: none.
    """
    authenticate: Mapping[str, Any] | None
    """A client that decides how challenges of the server, and of an HTTP proxy that gets the request as it is, are
    answered: see `callback.authenticate`. Default: with credential, credentials and those of the session.
    """
    trust: Literal["system"] | Mapping[str, Any] | None
    """How the server's certificate is verified. Default: the session's."""
    timeout_ms: int | None
    """The longest time without a byte in either direction. Default: the session's."""
    resource_timeout_ms: int | None
    """The longest time from start to end, with waiting, redirects and retries. Default: the session's."""
    queue_timeout_ms: int | None
    """The longest time to wait for a connection. After it the request fails with `session_task_failed.timed_out` and
    `queued`. Default: no limit but resource_timeout_ms.
    """
    priority: Literal["high", "normal", "low"] | None
    """The order among requests that wait for the same origin: `high` before `normal` before `low`; the lower ones
    still receive a share of the connections. Default: "normal".
    """
    connect_timeout_ms: int | None
    """The longest time to resolve, connect and negotiate TLS. Default: the session's."""
    waits_for_connectivity: bool | None
    """Whether a request waits until its host is reachable, instead of failing with `not_connected_to_internet`. Only
    `resource_timeout_ms` runs meanwhile. Default: the session's.
    """
    http_version: Literal["auto", "1.1", "2"] | None
    """The versions of HTTP that may be used. Default: the session's."""
    url_encoding: Literal["percent", "as_is", "exact"] | None
    """The handling of characters that are invalid in a URL. Default: the session's."""
    redirect: Literal["follow", "do_not_follow"] | RedirectOptions | None
    """The handling of redirects. Default: the session's."""
    decode: bool | Literal["unless_file"] | None
    """Whether br, gzip and deflate are requested, and encoded bodies are decoded. `unless_file`: a compressed file
    whose own format is named as its coding, such as `a.tar.gz` with `Content-Encoding: gzip`, stays as it is; a
    download requests no coding, and decodes one that was applied nevertheless. Default: the session's.
    """
    max_ratio: int | None
    """The most decoded bytes per received byte, once more than 1 MiB is decoded. Default: the session's."""
    response_body: Literal["auto", "inline", "file"] | Mapping[str, Any] | None
    """Where the body goes. Default: "auto"."""
    sha256: bool | None
    """Whether the record has the SHA-256 of the body as it is in the record or the file. Default: false."""
    events: Mapping[str, Any] | None
    """Sends this request's events on this connection, from the first to the last, and then `subscription.closed`;
    the answer has the name of the subscription. The events of `request.submit` come after its answer, those of
    `request.perform` before. Default: none.
    """
    on_disconnect: Literal["cancel", "detach"] | None
    """Whether the request is cancelled or continues when its caller's connection is lost. Default: "cancel"."""
    key: str | None
    """The caller's own name for the request. A second call with the same key and parameters returns the same
    request. Default: none.
    """
    tags: Mapping[str, str] | None
    """Labels for `request.list`. Default: {}."""
    max_body_bytes: int | None
    """The most bytes of the response's body, decoded; 0 accepts no body. A larger one fails the request with
    `response_too_large`: before the body if `Content-Length` says so and the body is not encoded, otherwise as
    soon as the limit is exceeded. A download counts the bytes that it resumes from, and its partial file is
    removed. Default: the session's.
    """
    tls: Mapping[str, Any] | None
    """The versions and ciphers of TLS. Default: the session's."""
    addresses: Mapping[str, Any] | None
    """How hosts are reached. A request's own replace those of its session. Default: the session's."""
    client_certificate: Literal["none"] | Mapping[str, Any] | None
    """The certificate that is presented to servers that ask for one. It is never returned. Default: the session's."""
    proxy: str | Mapping[str, Any] | None
    """The proxies through which hosts are reached. A request's own replace those of its session; `{}` is none.
    Default: the session's.
    """
    cache: CachePolicy | CacheOptions | None
    """How the store of the session is used, in place of what the session says. A session without one refuses all but
    `no_store`, unless the configuration file turns all caches off. Default: the session's.
    """
    default_headers: bool | None
    """Whether the daemon adds its own fields and those of the session. Without them the request has those of
    `headers` alone, in their order, and what HTTP requires; `headers` may then have the fields of a connection
    too, and names with a colon at their end, whose values are sent over HTTP/1.1 as they are, without a blank
    behind the colon that they do not have. The value of `Content-Length` is always the length of the body, and
    `Transfer-Encoding` must be `chunked`. Default: true.
    """
    connections_per_host: int | None
    """The most HTTP/1.1 connections of the client to one host while requests with this setting wait or run, and the
    same for streams and downloads; at most half of `limits.host_connections`. Of several settings the largest
    holds. Default: the session's.
    """
    certificates: bool | None
    """Whether each hop of the record has what is known of the server's certificates. The request uses a connection
    that was made for such a request, or a new one. Default: false.
    """
    body_after_challenge: Sequence[Literal["origin", "proxy"]] | None
    """The servers that get the body only with an answer to their challenge: before that requests have an empty one,
    as curl does for Digest. Any other response with a status below 300 leads to the request with its body.
    `proxy`: one that gets the request as it is. Default: none.
    """
    after: str | float | None
    """The `id` of an earlier `request.perform` of this connection. The request begins when that call has been
    answered with a response whose status is below 300, and at once if that was the last such answer; otherwise
    the call ends with `request.skipped`, and nothing was sent. Not for a request that continues without its
    caller. For a client that makes requests one after the other without a round trip to the daemon between them.
    """


class SessionOptions(TypedDict, total=False):
    """The configuration of a session."""

    headers: Mapping[str, str | Sequence[str]] | Sequence[Sequence[str]]
    """Sent with every request that has no field of the same name. Default: none."""
    languages: Sequence[str]
    """The values of `Accept-Language`, the preferred one first: `de-AT`, `en` or `*`. Default: ["en"]."""
    ephemeral: bool
    """Whether the session stores nothing on disk: persistent cookies are refused, and responses are cached in memory
    alone. Default: false.
    """
    start: Literal["immediate", "manual"]
    """When a request starts. `immediate`: at once. `manual`: with `request.resume`. Default: "immediate"."""
    setup: Literal["lazy", "eager"]
    """When the request to send is made. `lazy`: when the request starts. `eager`: at once, adapters included.
    Default: "lazy".
    """
    interceptor: Sequence[Interceptor]
    """Adapters and retriers, in order. Those of a session run before those of its requests. Default: none."""
    validate: bool | Sequence[Mapping[str, Any]]
    """Which responses are acceptable; others fail the request. Default: false."""
    trust: Literal["system"] | Mapping[str, Any]
    """How the server's certificate is verified. Default: "system"."""
    timeout_ms: int
    """The longest time without a byte in either direction. Default: 60000."""
    resource_timeout_ms: int
    """The longest time from start to end, with waiting, redirects and retries. Default: 604800000."""
    connect_timeout_ms: int
    """The longest time to resolve, connect and negotiate TLS. Default: 60000."""
    waits_for_connectivity: bool
    """Whether a request waits until its host is reachable, instead of failing with `not_connected_to_internet`. Only
    `resource_timeout_ms` runs meanwhile. Default: false.
    """
    http_version: Literal["auto", "1.1", "2"]
    """The versions of HTTP that may be used. Default: "auto"."""
    url_encoding: Literal["percent", "as_is", "exact"]
    """The handling of characters that are invalid in a URL. Default: "percent"."""
    redirect: Literal["follow", "do_not_follow"] | RedirectOptions
    """The handling of redirects. Default: "follow"."""
    decode: bool | Literal["unless_file"]
    """Whether br, gzip and deflate are requested, and encoded bodies are decoded. `unless_file`: a compressed file
    whose own format is named as its coding, such as `a.tar.gz` with `Content-Encoding: gzip`, stays as it is; a
    download requests no coding, and decodes one that was applied nevertheless. Default: true.
    """
    max_ratio: int
    """The most decoded bytes per received byte, once more than 1 MiB is decoded. Default: 200."""
    max_body_bytes: int
    """The most bytes of the response's body, decoded; 0 accepts no body. A larger one fails the request with
    `response_too_large`: before the body if `Content-Length` says so and the body is not encoded, otherwise as
    soon as the limit is exceeded. A download counts the bytes that it resumes from, and its partial file is
    removed. Default: no limit.
    """
    tls: Mapping[str, Any]
    """The versions and ciphers of TLS. Default: TLS 1.2 and 1.3."""
    addresses: Mapping[str, Any]
    """How hosts are reached. A request's own replace those of its session. Default: at the addresses of their names."""
    client_certificate: Literal["none"] | Mapping[str, Any]
    """The certificate that is presented to servers that ask for one. It is never returned. Default: none."""
    proxy: str | Mapping[str, Any]
    """The proxies through which hosts are reached. A request's own replace those of its session; `{}` is none.
    Default: none.
    """
    connections_per_host: int
    """The most HTTP/1.1 connections of the client to one host while requests with this setting wait or run, and the
    same for streams and downloads; at most half of `limits.host_connections`. Of several settings the largest
    holds. Default: limits.host_connections_per_client: 6.
    """
    credentials: Sequence[Mapping[str, Any]]
    """Users and passwords by protection space: requests without a `credential` of their own answer challenges with
    them. They are never returned; see `credentials.list`. Default: [].
    """
    cookies: Mapping[str, Any]
    """The jar of the session, which all its requests use and change. `{}` is a jar in memory. Default: no cookies."""
    cache: CachePolicy | SessionCacheOptions
    """The store of responses that the requests of the session use, or how they use it. `{}` is a store in memory and
    on disk with all defaults. Default: no cache; the session default has one in memory, for explicit freshness
    alone.
    """
