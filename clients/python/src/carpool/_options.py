"""The keyword arguments of a request, in one place: their types here, their way onto the wire in `_operations`."""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from typing import IO, Any, Literal, TypedDict

HeaderInput = Mapping[str, str] | Iterable[tuple[str, str]]
# What is there as a whole.
Data = str | bytes | os.PathLike[str]
# The same, and what is read while it is sent. An asynchronous iterable is for the asynchronous client alone.
Upload = Data | IO[bytes] | Iterable[bytes] | AsyncIterable[bytes]
# The parts of a form by name, each a text, bytes, a path or a part of the daemon's; or a list of the daemon's.
Multipart = Mapping[str, "str | bytes | os.PathLike[str] | Mapping[str, Any]"] | Sequence[Mapping[str, Any]]

Serializer = Literal["data", "string", "json", "plist", "none"]


class _CallbackName(TypedDict):
    name: str


class CallbackOptions(_CallbackName, total=False):
    """What stands under `callback` where a client is asked by the name under which it is registered."""

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
    without_validation: bool


class RedirectOptions(TypedDict, total=False):
    """What is done with redirects, in full."""

    modify: Mapping[str, Any]
    callback: CallbackOptions
    max_hops: int
    keep_method: bool
    keep_authorization: Literal["never", "same_origin", "always"]
    allow_downgrade: bool
    strip_headers: Sequence[str]
    keep_headers: Sequence[str]


# By its call form, because `as` is a word of the language.
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


class RequestOptions(TypedDict, total=False):
    """Every keyword of a request. None is the same as leaving it out, but for `json`, where it is a value."""

    # Those that have a form of their own in Python.
    headers: HeaderInput | None
    json: Any
    data: Upload | None
    multipart: Multipart | None
    timeout: float | None
    verify: bool | str | os.PathLike[str]
    parameters: Any
    retry: bool | int | RetryPolicy | None

    # Those that go as they stand.
    session: str | None
    encoding: Literal["form", "json", "plist"] | Mapping[str, Mapping[str, Any]] | None
    interceptor: Sequence[str | Mapping[str, Any]] | None
    validate: bool | Sequence[Mapping[str, Any]] | None
    serialize: Serialize | Sequence[Serialize] | None
    redirect: Literal["follow", "do_not_follow"] | RedirectOptions | None
    start: Literal["immediate", "manual"] | None
    setup: Literal["lazy", "eager"] | None
    hold_for_headers: bool | None
    key: str | None
    events: Mapping[str, Any] | None
    tags: Mapping[str, str] | None
    on_disconnect: Literal["cancel", "detach"] | None
    kind: Literal["data", "upload", "stream", "download"] | None
    destination: str | Mapping[str, Any] | None
    resume_data: str | None
    sha256: bool | None
    expect_continue: bool | None
    response_body: Literal["auto", "inline", "file"] | None
    timeout_ms: int | None
    resource_timeout_ms: int | None
    connect_timeout_ms: int | None
    waits_for_connectivity: bool | None
    http_version: str | None
    url_encoding: Literal["percent", "as_is"] | None
    decode: bool | None
    max_ratio: int | None
    trust: str | Mapping[str, Any] | None
    body: Mapping[str, Any] | None
