"""The response of a request."""

from __future__ import annotations

import codecs
import io
import json
import typing
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn

from . import _cookies, _framing, _names, _paths
from ._cookies import Cookies
from ._exceptions import CarpoolError, HTTPStatusError, RequestError, request_error
from ._models import CacheOutcome, Headers, body_content, is_of_caller, read_file

if TYPE_CHECKING:
    from datetime import timedelta
    from pathlib import Path


# The statuses of redirects that the daemon follows.
_FOLLOWED: Final = frozenset({301, 302, 303, 307, 308})


@dataclass(slots=True, repr=False)
class Response:
    """The response of a request. Properties read the daemon's record.

    `status_code`, `url`, `http_version` and `headers` are those of the origin's answer; where there is none, they raise
    the error that the request ended with. Only `encoding` can be set.
    """

    __module__ = "carpool"

    # `typing.get_type_hints` looks names up in the package, which has `typing`.
    record: dict[str, typing.Any]
    """The daemon's record."""
    spooled: bytes | None = field(default=None, compare=False)
    """The body, when it was too large for the record."""
    _encoding: str | None = field(default=None, init=False, compare=False)

    def __repr__(self) -> str:
        # Without the record, which has the content and may have secrets.
        head = self.record.get("response")
        if head is None:
            return f"<Response {self.record.get('request')} {self.record.get('state')}>"
        method = self.record.get("method", "")
        size = (self.record.get("body") or {}).get("size_bytes")
        parts = (str(head.get("status")), method, head.get("url"), None if size is None else f"{size} bytes")
        return f"<Response {' '.join(part for part in parts if part)}>"

    @property
    def request_id(self) -> str:
        """The daemon's id of the request."""
        return str(self.record["request"])

    @property
    def status_code(self) -> int:
        """The status code."""
        return int(self._answer["status"])

    @property
    def reason(self) -> str:
        """The standard phrase of the status code; empty if it has none. The phrase of the server is not kept."""
        return reason_phrase(self.status_code)

    @property
    def ok(self) -> bool:
        """Whether the status is below 400."""
        return self.status_code < 400  # noqa: PLR2004, the first error status of RFC 9110

    @property
    def is_success(self) -> bool:
        """Whether the status is one of 200 to 299."""
        return self.status_code // 100 == 2  # noqa: PLR2004, the class of RFC 9110

    @property
    def is_redirect(self) -> bool:
        """Whether this is a redirect that was not followed: a status of 300 to 399 with the field `Location`."""
        return self.status_code // 100 == 3 and "location" in self.headers  # noqa: PLR2004, the class of RFC 9110

    @property
    def is_error(self) -> bool:
        """Whether the status is 400 or above."""
        return not self.ok

    @property
    def url(self) -> str:
        """The URL that answered, after redirects."""
        return str(self._answer["url"])

    @property
    def http_version(self) -> str:
        """The protocol of the origin's answer, by its name in ALPN: "h2", "http/1.1" or "http/1.0"."""
        return str(self._answer["http_version"])

    @property
    def headers(self) -> Headers:
        """The header fields of the answer."""
        return Headers(self._answer["headers"])

    @property
    def cookies(self) -> Cookies:
        """The jar of the request at its end, if it had the argument `cookies`; otherwise what this response sets."""
        if (exported := self.record.get("cookies")) is not None:
            return Cookies(exported)
        return Cookies({"list": _cookies.kept(_cookies.set_by(self.url, self.headers.get_list("set-cookie")))})

    @property
    def links(self) -> dict[str, dict[str, str]]:
        """The links of the header field `Link`, by relation type, such as `links["next"]["url"]`; URLs are absolute."""
        if "link" not in self.headers:
            return {}
        from ._links import parse  # noqa: PLC0415, few programs read them

        return parse(self.headers.get_list("link"), self.url)

    @property
    def cache(self) -> CacheOutcome | None:
        """What the cache did; None if the session has no cache."""
        record = self.record.get("cache")
        return None if record is None else CacheOutcome(record)

    def __getstate__(self) -> tuple[Any, ...]:
        # The daemon's own file may be gone when the copy is used; if it is gone now, the copy has no content either.
        body, content = self.record.get("body") or {}, self.spooled
        if content is None and "file" in body and not is_of_caller(body["file"], self.record):
            content = read_file(body["file"])
        return self.record, content, self._encoding

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.record, self.spooled, self._encoding = state

    @property
    def content(self) -> bytes:
        """The body. Decoded from the record, or read from `path`, at each access.

        Raises CarpoolError for a body that has not been received yet, and for one that cannot be read any more, such as
        that of a request that was dismissed.
        """
        if self.spooled is not None:
            return self.spooled
        body = self.record.get("body") or {}
        content = body_content(body)
        return self._file_content(body) if content is None else content

    def _file_content(self, body: dict[str, Any]) -> bytes:
        """Return the content of the file of a body; raises CarpoolError if there is none."""
        if "file" not in body:
            reason = "was received by another reader" if "fd" in body else "was released, or its retention has ended"
            raise CarpoolError(f"the body of {self.request_id} {reason if body else 'has not been received yet'}")
        try:
            with open(_paths.local(body["file"]), "rb", buffering=0) as file:  # noqa: PTH123, without pathlib
                return file.read()
        except OSError as error:
            raise CarpoolError(
                f"the body of {self.request_id} was in {_paths.shown(body['file'])}, which cannot be read: "
                f"{error.strerror}. A file of the daemon is removed when its request is dismissed: read `content` "
                "before"
            ) from error

    @property
    def encoding(self) -> str:
        """The encoding of `text`: the charset of Content-Type, or UTF-8. It can be set."""
        return self._encoding or charset(self.headers.get("content-type", "")) or "utf-8"

    @encoding.setter
    def encoding(self, name: str | None) -> None:
        if name is not None:
            # Raises LookupError for one that does not exist.
            name = codecs.lookup(name).name
        self._encoding = name

    @property
    def text(self) -> str:
        """The body as text, decoded by `encoding`; invalid bytes become U+FFFD."""
        return self.content.decode(self.encoding, "replace")

    def json(self, **options: Any) -> Any:
        """Return the body parsed as JSON: in UTF-8, -16 or -32, and otherwise in `encoding`.

        Options are those of `json.loads`.
        Raises `json.JSONDecodeError` if it is not JSON, or has a value that Python refuses, such as arrays that are
        nested too deeply.
        """
        body = self.record.get("body") or {}
        return body["json"] if "json" in body and not options else _parsed(self.content, options, self)

    def iter_bytes(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Iterate over the body in pieces of `chunk_size` bytes; without it in one piece."""
        chunks = _framing.Chunks(chunk_size)
        if content := self.content:
            yield from chunks.add(content)
        yield from chunks.rest()

    def iter_lines(self, *given: NoReturn, **named: NoReturn) -> Iterator[str]:
        """Iterate over the lines of `text`, without their ends: LF, CRLF or CR."""
        if given or named:
            raise _names.no_arguments("iter_lines", [*named, *given])
        return (line.removesuffix("\n") for line in io.StringIO(self.text, newline=None))

    @property
    def elapsed(self) -> timedelta:
        """The time from the beginning of the first attempt to the end of the body; 0 if nothing was sent."""
        from datetime import timedelta  # noqa: PLC0415, few programs need it

        if not self.finished:
            raise CarpoolError("the request has not finished")
        return timedelta(microseconds=(self.record.get("metrics") or {}).get("duration_us", 0))

    @property
    def history(self) -> list[Response]:
        """The redirects that led to this response, in order, without bodies.

        Of their header fields the daemon keeps `Location` and `Set-Cookie`, as they were received.
        """
        done = {"request": self.request_id, "state": "finished", "outcome": {"ok": True}, "body": {"none": True}}
        heads = [head for head in self.record.get("redirects", []) if head["status"] in _FOLLOWED]
        return [Response({**done, "response": head}) for head in heads]

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """The hops of the last attempt, each with its times in microseconds and sizes in bytes; see `attempts`."""
        attempts = self._detail("metrics", "attempts", [])
        return list(attempts[-1].get("metrics", [])) if attempts else []

    @property
    def attempts(self) -> list[dict[str, Any]]:
        """All attempts; the last one has this answer.

        Only with the argument `detail="full"` of the request, and from `Client.response`; otherwise raises
        CarpoolError.
        """
        return list(self._detail("attempts", "attempts", []))

    @property
    def timeline(self) -> dict[str, Any] | None:
        """The points in time of the request and the durations between them; see `attempts`."""
        found: dict[str, Any] | None = self._detail("timeline", "timeline", None)
        return found

    def _detail(self, name: str, member: str, unfinished: Any) -> Any:
        """Return the member for a property, which a short record does not have."""
        if member not in self.record and self.finished:
            raise CarpoolError(
                f"{name}: the record of {self.request_id} is short; pass detail='full' with the request, or for one of "
                f"`submit` call `response` of the client"
            )
        return self.record.get(member, unfinished)

    @property
    def path(self) -> Path | None:
        """The file that holds the body: a download's own, or one of the daemon's that stays as long as the request."""
        from pathlib import Path  # noqa: PLC0415, few programs need it

        file = (self.record.get("body") or {}).get("file")
        return None if file is None else Path(_paths.local(file))

    @property
    def sha256(self) -> str | None:
        """The body's SHA-256 in hexadecimal digits, if the request has `sha256`."""
        return (self.record.get("body") or {}).get("sha256")

    @property
    def resume_data(self) -> str | None:
        """The resume data of an incomplete download."""
        return self.record.get("resume_data")

    @property
    def finished(self) -> bool:
        """Whether the request is over; with `hold_for_headers` it may not be."""
        return "outcome" in self.record

    @property
    def value(self) -> Any:
        """The value of the serializer, of the first one if there are several; bytes and dates in their wire format.

        None without a serializer, after a failure, and if it was too large for a message: then there is the body.
        """
        return (self.record.get("outcome") or {}).get("value")

    @property
    def values(self) -> list[Any]:
        """The results of several serializers, in order: each has `serializer`, `ok`, and `value` or `error`."""
        return list((self.record.get("outcome") or {}).get("values", []))

    @property
    def error(self) -> RequestError | None:
        """The error of the request; None if it succeeded."""
        return request_error(self.record) if self.record.get("outcome", {}).get("ok") is False else None

    def raise_for_outcome(self) -> Response:
        """Raise the error of the request; return the response if there is none."""
        if error := self.error:
            raise error
        return self

    def raise_for_status(self) -> Response:
        """Raise HTTPStatusError if the status is 400 or above; otherwise return the response."""
        if not self.ok:
            raise HTTPStatusError(self)
        return self

    @property
    def _answer(self) -> dict[str, Any]:
        """The origin's answer in the record."""
        answer: dict[str, Any] | None = self.record.get("response")
        if answer is None:
            self.raise_for_outcome()
            raise CarpoolError("the origin has not answered yet")
        return answer

    if not TYPE_CHECKING:

        def __enter__(self) -> NoReturn:
            raise TypeError(_names.NO_BLOCK)

        __exit__ = __aenter__ = __aexit__ = __enter__

        def __getattr__(self, name: str) -> Any:
            raise _names.missing("Response", name, type(self))


def charset(content_type: str) -> str | None:
    """Return the charset of a Content-Type; None if it has none that is known."""
    for part in content_type.split(";")[1:]:
        name, _, value = part.partition("=")
        if name.strip().lower() == "charset":
            return _text_encoding(value.strip().strip("\"'"))
    return None


def _text_encoding(name: str) -> str | None:
    """Return Python's name of an encoding; None if it has no such one, or it is not one of text, such as base64."""
    try:
        codec = codecs.lookup(name)
        decoder = codec.incrementaldecoder
        text = decoder and decoder("replace").decode(b"\xff", True)
    except (LookupError, ValueError, AssertionError, TypeError):
        return None
    # Punycode of Python 3.13 is text, and leaves out what it cannot decode.
    return codec.name if isinstance(text, str) and text else None


def _parsed(content: bytes, options: dict[str, Any], response: Response | None = None) -> Any:
    """Return the value of a JSON text; raises JSONDecodeError for any bytes that have none.

    A text that is in no encoding of JSON may be in that of its response.
    """
    encoding = json.detect_encoding(content)
    try:
        return json.loads(content.decode(encoding, "surrogatepass"), **options)
    except (ValueError, RecursionError) as error:
        # Where an invalid byte became U+FFFD, it is not in that one either.
        if isinstance(error, UnicodeDecodeError) and response and "\ufffd" not in (text := response.text):
            return _parsed(text.encode(errors="surrogatepass"), options)
        is_of_content = isinstance(error, (UnicodeDecodeError, RecursionError)) or not options
        if isinstance(error, json.JSONDecodeError) or not is_of_content:
            raise
        good = content[: error.start] if isinstance(error, UnicodeDecodeError) else b""
        position = len(good.decode(encoding, "replace"))
        raise json.JSONDecodeError(str(error), content.decode(encoding, "replace"), position) from error


def reason_phrase(status: int) -> str:
    """Return the standard phrase of a status code; empty if it has none."""
    from http import HTTPStatus  # noqa: PLC0415, few programs need it

    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
