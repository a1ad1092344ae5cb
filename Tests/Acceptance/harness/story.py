"""What one connection receives about requests, in order: their events, their callbacks and the answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from harness.wire import RemoteError, Wire

Answerer = Callable[[dict[str, Any]], Any]

# The usual parts of an order, by the names of the events; see `told` for the details in brackets.
MAKING = ["request.did_create_initial_url_request", "request.did_create_url_request"]
ADAPTING = [
    "request.did_create_initial_url_request",
    "request.did_adapt_initial_request",
    "request.did_create_url_request",
]
STARTING = ["request.did_create_task", "request.did_resume_task"]
BEGINNING = ["request.did_resume", *MAKING, *STARTING]
METRICS = ["task.did_collect_metrics", "request.did_gather_metrics"]
COMPLETING = [*METRICS, "task.did_complete(None)", "request.did_complete_task(None)"]
CANCELLING = ["request.did_cancel", "request.did_cancel_task"]

# Reported once for each piece of a body.
PIECES = {"task.did_receive_data", "task.did_write_data"}


def failing(code: str) -> list[str]:
    """Return the end of a task that fails with a URL error of the transport."""
    return [*METRICS, f"task.did_complete({code})", f"request.did_complete_task({code})"]


def ending(outcome: str = "none") -> list[str]:
    """Return the end of a request: the outcome is its serializer, or the name of its failure."""
    return ["request.did_finish", f"request.did_parse_response({outcome})"]


# The details of an event in the session model's orders, by its type: from its data, and the name of its error.
DETAILS: dict[str, Callable[[dict[str, Any], Any], Any]] = {
    "task.did_complete": lambda _, error: error,
    "request.did_complete_task": lambda _, error: error,
    "task.did_receive_response": lambda data, _: data["response"]["status"],
    "task.will_redirect": lambda data, _: data["status"],
    "task.did_receive_challenge": lambda data, _: f"{data['method']}, {data['previous_failure_count']}",
    "request.is_retrying": lambda data, _: data["retry_count"],
    "request.did_parse_response": lambda data, error: error or data["serializer"],
    "request.did_validate": lambda data, error: f"{data['validator']}, {error or 'ok'}",
    "request.did_fail_to_create_url_request": lambda _, error: error,
    "request.did_fail_to_adapt_url_request": lambda _, error: error,
    "request.did_fail_to_create_uploadable": lambda _, error: error,
    "request.did_fail_task_early": lambda _, error: error,
    "request.did_finish_downloading": lambda _, error: error or "ok",
}


def told(event: dict[str, Any]) -> str:
    """Return an event as one word: its type, and in brackets its details in the session model's orders."""
    kind, data = str(event["type"]), event["data"]
    error = data.get("error")
    if isinstance(error, dict):
        error = error["name"]
    return f"{kind}({DETAILS[kind](data, error)})" if kind in DETAILS else kind


class Story:
    """A subscription on a connection that makes requests too, so that events and answers come in one order."""

    def __init__(self, wire: Wire, types: Sequence[str] = ("request.*", "task.*", "session.*"), **scope: str) -> None:
        self.wire = wire
        self.events: list[dict[str, Any]] = []
        self.answerers: dict[str, Answerer] = {}
        """The function that answers a callback, by its method; a callback without one stays open."""
        self.asked: list[dict[str, Any]] = []
        """Every callback that has come."""
        self._answers: dict[Any, dict[str, Any]] = {}
        wire.call("events.subscribe", types=list(types), **scope)

    # Reading

    def _read(self) -> None:
        message = self.wire.receive()
        if message.get("method") == "event":
            self.events.append(message["params"])
        elif "method" in message:
            self.asked.append(message)
            kind = message["method"].removeprefix("callback.")
            if kind in self.answerers:
                self.answer(message, self.answerers[kind](message["params"]))
        else:
            self._answers[message["id"]] = message

    def answer(self, question: dict[str, Any], result: Any) -> None:
        """Answer a callback."""
        self.wire.send({"jsonrpc": "2.0", "id": question["id"], "result": result})

    def question(self, kind: str, number: int = 1) -> dict[str, Any]:
        """Wait for the callback of that kind and number, from 1."""
        while len(found := [asked for asked in self.asked if asked["method"] == f"callback.{kind}"]) < number:
            self._read()
        return found[number - 1]

    def until(self, word: str, request: str | None = None) -> dict[str, Any]:
        """Wait for the last event with that description (of a request), and return it."""
        seen = 0
        while True:
            for event in self.events[seen:]:
                if told(event) == word and request in {None, event.get("request")}:
                    return event
            seen = len(self.events)
            self._read()

    def result(self, call: int) -> Any:
        """Read everything until a call is answered, and return its result."""
        while call not in self._answers:
            self._read()
        answer = self._answers.pop(call)
        if "error" in answer:
            raise RemoteError(answer["error"])
        return answer["result"]

    # Calling

    def call(self, method: str, **params: Any) -> Any:
        return self.result(self.wire.request(method, params))

    def begin(self, url: str, **params: Any) -> int:
        """Make a request whose answer is waited for with `result`."""
        return self.wire.request("request.perform", {"url": url, **params})

    def perform(self, url: str, **params: Any) -> dict[str, Any]:
        record: dict[str, Any] = self.result(self.begin(url, **params))
        return record

    def submit(self, url: str, **params: Any) -> str:
        return str(self.call("request.submit", url=url, **params)["request"])

    def wait(self, request: str) -> dict[str, Any]:
        record: dict[str, Any] = self.call("request.wait", request=request)
        return record

    # What was received

    def words(self, request: str | None = None, without: Collection[str] = ("request.progress",)) -> list[str]:
        """Return the events (of a request) as words; consecutive pieces of a body are one.

        The number of progress events depends on timing, so they are left out by default.
        """
        words: list[str] = []
        for event in self.events:
            word = told(event)
            if word in without:
                continue
            if request in {None, event.get("request")} and (word not in PIECES or words[-1:] != [word]):
                words.append(word)
        return words

    def forget(self) -> None:
        """Begin again."""
        self.events = []
