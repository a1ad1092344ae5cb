"""One request of a fake daemon: from its parameters to its record."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urldefrag, urljoin, urlsplit

from .._models import Headers
from .._paths import local
from . import checks, contents, records, serializing
from .cookies import Jar
from .incoming import Incoming
from .records import Attempt, Hop
from .routes import NO_ROUTE, Reply, Request, no_route

if TYPE_CHECKING:
    from .daemon import FakeDaemon

# The maximum number of redirects of a request, as in the daemon.
MAX_REDIRECTS: Final = 16
# How long the body of a performed request stays in its file, as in the daemon.
_LEASE_SECONDS: Final = 600
_FAILED: Final = "session_task_failed."
_CANCELLED: Final = ("explicitly_cancelled", "the request was cancelled")


class Running:
    """A request: `perform` makes its attempts, and `complete` its record, at once or when its body was read."""

    def __init__(self, fake: FakeDaemon, number: int, name: str, params: dict[str, Any]) -> None:
        checks.check(params)
        self.number = number
        self.name = name
        self.params = params
        self.state = "initialized" if params.get("start") == "manual" else "resumed"
        self.is_held = False
        self.is_lent = False
        body = params.get("body") or {}
        self._length: int | None = body.get("length_bytes") if body.get("stream") is True else None
        self.is_streamed = body.get("stream") is True and self._length != 0
        self.descriptor: int | None = None
        self.inline_bytes = 0
        self.incoming: Incoming | None = None
        self.announce: Callable[[Running, dict[str, Any]], None] | None = None
        self.record: dict[str, Any] | None = None
        self.content = b""
        self._fake = fake
        self._start = records.now()
        self._attempts: list[Attempt] = []
        self._received = bytearray()
        self._taken = 0
        self._jar = None if params.get("cookies") is None else Jar(params["cookies"], params["url"])
        try:
            is_later = body.get("stream") is True or "fd" in body
            self._body = b"" if is_later else contents.body_bytes(params.get("body"))
        except ValueError as error:
            raise checks.not_done("params.body", str(error)) from None
        except OSError as error:
            path = str(error.filename)
            raise records.errors(1301, "file.cannot_open", f"cannot open {path}", path=path) from None

    @property
    def is_over(self) -> bool:
        """Whether the record is complete."""
        return self.record is not None

    def entry(self) -> dict[str, Any]:
        """Return what is known of a request that is not over."""
        made: dict[str, Any] = {"request": self.name, "state": self.state, "finished": False}
        if self._attempts and self._attempts[-1].hops and (head := self._attempts[-1].hops[-1].head):
            made |= {"held": True} if self.is_held else {}
            if self._jar is not None and self._jar.is_about_changes:
                made |= self._jar.exported()
            made["response"] = head
        return made

    def listed(self) -> dict[str, Any]:
        """Return the entry of a list."""
        tags = {"tags": self.params["tags"]} if self.params.get("tags") else {}
        return {
            "request": self.name,
            "state": self.state,
            "finished": self.is_over,
            "session": self.params.get("session", "default"),
            "client": "python",
            "method": self.method,
            "url": self.params["url"],
            "created": self._start,
            **tags,
        }

    @property
    def method(self) -> str:
        """The method of the first hop."""
        kind = self.params.get("kind")
        return str(self.params.get("method") or ("POST" if kind == "upload" else "GET"))

    def put(self, piece: bytes) -> int:
        """Add a piece of the body; return the length of all pieces."""
        self._received += piece
        return len(self._received)

    @property
    def is_received(self) -> bool:
        """Whether all bytes of a body of known length have come."""
        return self._length is not None and len(self._received) >= self._length

    def take(self, most: int) -> bytes:
        """Return the next bytes of the response's body."""
        piece = self.content[self._taken : self._taken + most]
        self._taken += len(piece)
        return piece

    @property
    def is_read(self) -> bool:
        """Whether all bytes were taken."""
        return self._taken >= len(self.content)

    def end_body(self) -> None:
        """End the body that came in pieces."""
        self._body, self.is_streamed = bytes(self._received), False

    def receive(self, most: int) -> bool:
        """Read the body that comes through a descriptor; return False if the request has ended meanwhile."""
        if self.incoming is None:
            return True
        body = self.incoming.read(most)
        self._body = body or b""
        return body is not None

    @property
    def attempt_count(self) -> int:
        """The number of attempts so far."""
        return len(self._attempts)

    def perform(self) -> None:
        """Make the attempts; complete the request, unless its body waits."""
        parts = urlsplit(self.params["url"])
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            message = f"not an absolute http or https URL: {self.params['url']}"
            error = records.failure("invalid_url", message, details={"url": self.params["url"]})
            self._attempts = [Attempt([], error)]
            self._finish(error)
            return
        while True:
            attempt = Attempt()
            self._attempts.append(attempt)
            self._follow(attempt)
            hop = attempt.hops[-1]
            head = hop.head if attempt.error is None else None
            attempt.is_answered = head is not None
            if self.announce is not None and head is not None:
                self.announce(self, head)
            attempt.error = attempt.error or self._error(hop)
            if attempt.error is None or not checks.is_retried(self.params, hop, attempt.error, len(self._attempts)):
                break
        if self.params.get("hold_for_headers") and hop.reply.has_head and self.state == "resumed":
            with self._fake.changed:
                self.is_held = True
                self._fake.changed.notify_all()
            return
        self.complete()

    def _error(self, hop: Hop) -> dict[str, Any] | None:
        name = hop.reply.error
        if name is not None:
            message = no_route(hop.request.method, hop.request.url, self._fake.routes) if name == NO_ROUTE else name
            return records.failure(name, message)
        return checks.validated(self.params, hop) or checks.refused_by_retry(self.params, hop)

    def _follow(self, attempt: Attempt) -> None:
        """Make the hops of an attempt."""
        method, body = self.method, self._body
        url, fragment = urldefrag(self.params["url"])
        while True:
            hop = self._hop(method, url, body, fragment)
            attempt.hops.append(hop)
            place = checks.redirect(self.params, hop)
            if place is None:
                return
            if len(attempt.hops) > MAX_REDIRECTS:
                message = f"more than {MAX_REDIRECTS} redirects"
                limit = {"limit": MAX_REDIRECTS}
                attempt.error = records.failure(f"{_FAILED}http_too_many_redirects", message, details=limit)
                return
            body = b"" if place[0] != method else body
            method = place[0]
            url, own = urldefrag(urljoin(url, place[1]))
            fragment = own or fragment

    def _hop(self, method: str, url: str, body: bytes, fragment: str) -> Hop:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        url = parts._replace(netloc=host).geturl()
        url = url if parts.path else f"{parts.scheme}://{host}/" + (f"?{parts.query}" if parts.query else "")
        fields = self._headers(parts.username, parts.password, body)
        if self._jar is not None and not any(name.lower() == "cookie" for name, _ in fields):
            fields += self._jar.field(url)
        request = Request(method, url, Headers(fields), body, self.params)
        answer = self._fake.answer(request)
        reply = answer if isinstance(answer, Reply) else self._called(answer, request)
        if self._jar is not None:
            self._jar.store(url, [value for name, value in reply.headers if name.lower() == "set-cookie"])
        number, is_reused = self._fake.connection_to(f"{parts.scheme}://{host}")
        return Hop(request, reply, number, is_reused, fragment)

    def _called(self, function: Callable[[Request], Any], request: Request) -> Reply:
        reply = function(request)
        if not isinstance(reply, Reply):
            raise TypeError(f"the function of a route returned {type(reply).__name__}, expected a Reply")
        return reply

    def _headers(self, user: str | None, password: str | None, body: bytes) -> list[list[str]]:
        fields = [list(pair) for pair in self.params["headers"]]
        names = {name.lower() for name, _ in fields}
        kind = contents.content_type(self.params.get("body"))
        if body and kind and "content-type" not in names:
            fields.append(["Content-Type", kind])
        credential = self.params.get("credential") or {}
        if credential.get("preemptive"):
            user, password = credential["username"], credential["password"]
        if user is not None and "authorization" not in names:
            fields.append(["Authorization", "Basic " + base64.b64encode(f"{user}:{password or ''}".encode()).decode()])
        return fields

    def complete(self) -> None:
        """Deliver the body, and make the record. A body for a descriptor is written by a thread."""
        hop = self._attempts[-1].hops[-1]
        self.content = hop.body if hop.reply.has_head else b""
        is_refused = self._attempts[-1].error is not None and hop.reply.error is None
        is_short = 0 < self.inline_bytes >= len(self.content)
        descriptor = None if is_refused or is_short else self._taken_descriptor()
        if descriptor is not None:
            threading.Thread(target=self._write, args=(descriptor,), name="carpool-fake-body", daemon=True).start()
            return
        self._finish(self._attempts[-1].error, self._placed())

    def _taken_descriptor(self) -> int | None:
        """Return the descriptor for the body, to the first caller: a connection that ends cancels in another thread."""
        with self._fake.changed:
            descriptor, self.descriptor = self.descriptor, None
        return descriptor

    def _write(self, descriptor: int) -> None:
        written = self._fake.write_body(descriptor, self.content)
        error = self._attempts[-1].error
        if error is None and written < len(self.content):
            error = records.failure("response_output_closed", "the reader of the body has closed its end")
        self._finish(error, {"fd": True, "size_bytes": written} if written else None)

    def _placed(self) -> dict[str, Any]:
        """Return the body of the record, in a file if it is large or a download."""
        error, kind = self._attempts[-1].error, self.params.get("response_body")
        place = self.params.get("destination") or {}
        if self.params.get("kind") == "download" and error is None:
            name = Path(urlsplit(self.params["url"]).path).name or self.name
            path = place.get("path") or (Path(place["directory"], name) if "directory" in place else self._own_file)
            return self._in_file(str(path), keeps_mode=place.get("keep_attributes", False))
        body = None if kind == "file" else records.inline(self.content)
        if body is not None:
            return body
        return self._in_file(self._own_file)

    def _in_file(self, path: str, *, keeps_mode: bool = False) -> dict[str, Any]:
        part = Path(f"{local(path)}.part")
        part.write_bytes(self.content)
        if keeps_mode and Path(local(path)).exists():
            shutil.copymode(local(path), part)
        part.replace(local(path))
        return {"file": path, "size_bytes": len(self.content)}

    @property
    def _own_file(self) -> str:
        """The file in which the daemon stores the body."""
        return os.path.join(self._fake.folder, self.name)  # noqa: PTH118, a string for the record

    def release(self) -> bool:
        """Remove the body from its file, unless that is a destination; return whether that changed anything."""
        if self.record is None or self.record["body"].get("file") != self._own_file:
            return False
        Path(self._own_file).unlink(missing_ok=True)
        self.record = {**self.record, "body": {"gone": True, "size_bytes": len(self.content)}}
        return True

    def lend(self) -> bool:
        """Leave only the body of a performed request, for a time; return False if it is not in a file of the daemon."""
        if self.record is None or self.record["body"].get("file") != self._own_file:
            return False
        self.record["body"]["expires"] = records.now(_LEASE_SECONDS)
        self.is_lent = True
        return True

    @property
    def is_released(self) -> bool:
        """Whether the body was removed."""
        return self.record is not None and "gone" in self.record["body"]

    def cancel(self) -> bool:
        """End the request; return whether that changed anything."""
        if self.is_over:
            return False
        error = records.failure(*_CANCELLED)
        if self._attempts:
            self._attempts[-1].error = error
        self.state = "cancelled"
        self._finish(error)
        return True

    def fail(self, reason: str) -> None:
        """Fail the request because a function of a route has failed."""
        self._finish(records.failure("testing.route_failed", reason))

    def _finish(self, error: dict[str, Any] | None, body: dict[str, Any] | None = None) -> None:
        body = body or {"none": True, "size_bytes": 0}
        if self.incoming is not None:
            self.incoming.stop()
        if (descriptor := self._taken_descriptor()) is not None:
            os.close(descriptor)
        if error is None:
            outcome = self._serialized(self.params.get("serialize"))
            if not outcome["ok"]:
                self._attempts[-1].error = outcome["error"]
        else:
            outcome = {"ok": False, "error": error}
        if self.params.get("sha256") and error is None:
            body["sha256"] = hashlib.sha256(self.content).hexdigest()
        attempts = self._attempts
        with self._fake.changed:
            if self.record is not None:
                return
            self.state = "cancelled" if self.state == "cancelled" else "finished"
            self.record = {
                "request": self.name,
                "state": self.state,
                "outcome": outcome,
                "response": attempts[-1].hops[-1].head if attempts and attempts[-1].hops else None,
                "body": body,
                "metrics": records.metrics(attempts),
                **({} if self._jar is None else self._jar.exported()),
            }
            self._fake.changed.notify_all()

    def answer(self, level: str) -> dict[str, Any]:
        """Return the record, with the parts of this level."""
        if self.record is None:
            return self.entry() | ({} if level == "standard" else records.redirects(self._attempts))
        found = {**self.record}
        if level != "standard":
            found |= records.redirects(self._attempts)
        if level != "short":
            found["attempts"] = [attempt.record(is_full=level == "full") for attempt in self._attempts]
        if level == "full":
            is_answered = bool(self._attempts) and self._attempts[-1].is_answered
            found["timeline"] = records.timeline(self._start, is_answered=is_answered)
        return found

    def full_record(self, serializer: Any) -> dict[str, Any]:
        """Return the record with header fields and times, and the body serialized again."""
        record = self.answer("full")
        if serializer and record["outcome"]["ok"]:
            record["outcome"] = self._serialized(serializer)
        return record

    def _serialized(self, kind: str | None) -> dict[str, Any]:
        """Return the outcome with the value of the body, or the error."""
        if kind in {None, "none"}:
            return {"ok": True}
        try:
            return {"ok": True, "value": serializing.value(str(kind), self._attempts[-1].hops[-1])}
        except serializing.SerializingError as error:
            return {"ok": False, "error": error.error}
