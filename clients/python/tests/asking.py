"""A daemon that sends its client callbacks."""

from __future__ import annotations

from typing import Any

from both_clients import result
from daemon import record

URL_REQUEST = {"method": "POST", "url": "http://a/", "headers": [["A", "1"]], "body": {"text": "hi", "size_bytes": 2}}
HEAD = {"status": 302, "http_version": "h2", "headers": [["Location", "/b"]], "url": "http://a/"}
ERROR = {"name": "session_task_failed.timed_out", "message": "too slow", "retryable": True}
PARAMS: dict[str, dict[str, Any]] = {
    "adapt": {"url_request": URL_REQUEST},
    "retry": {"error": ERROR, "response": HEAD, "retry_count": 1},
    "redirect": {"response": HEAD, "url_request": URL_REQUEST},
    "validate": {"response": HEAD, "body": {"text": "[]", "size_bytes": 2}},
    "serialize": {"response": HEAD, "body": {"base64": "/w==", "size_bytes": 1}},
    "preprocess": {"body": {"text": "while(1);[1]", "size_bytes": 12}},
    "authenticate": {
        "host": "a",
        "port": 80,
        "realm": "r",
        "scheme": "digest",
        "proxy": True,
        "previous_failure_count": 1,
    },
    "destination": {"response": HEAD, "suggested_name": "a.zip"},
    "body": {"url_request": URL_REQUEST},
    "cache": {
        "url_request": URL_REQUEST,
        "response": HEAD,
        "body": {"size_bytes": 2},
        "proposed": {"ttl_ms": 1500, "storage": "disk"},
    },
    "refresh": {"credential": {"access_token": "old", "refresh_token": "r1", "expires": "2001-01-01T00:00:00.000000Z"}},
}


def question(kind: str, number: int = 1, name: str = "mine", **params: Any) -> dict[str, Any]:
    """A callback as the daemon sends it."""
    about = {"callback": name, "session": "default", "request": "r_1", "attempt": 1, "deadline_ms": 10_000}
    return {
        "id": f"cb_{number}",
        "method": f"callback.{kind}",
        "params": {**about, **PARAMS.get(kind, {}), **params},
    }


class Asking:
    """A daemon that sends its callbacks when a request is performed, and answers the request after the last of them."""

    def __init__(self, *questions: dict[str, Any]) -> None:
        self.questions = questions
        self.answers: dict[str, dict[str, Any]] = {}
        self.order: list[str] = []
        self._call: Any = None

    def __call__(self, message: dict[str, Any]) -> list[dict[str, Any] | bytes]:
        match message:
            case {"method": "request.perform", "id": call}:
                self._call = call
                return list(self.questions)
            case {"method": _}:
                return result({})(message)
        self.answers[message["id"]] = message
        self.order.append(message["id"])
        done = len(self.answers) == len(self.questions)
        return [{"id": self._call, "result": record()}] if done else [b" "]
