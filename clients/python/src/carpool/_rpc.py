"""JSON-RPC 2.0 over lines, without input or output: bytes in, events out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from ._exceptions import ConnectionLostError, ProtocolError
from ._paths import encodable

# The daemon keeps its lines under 64 KiB; only rpc.discover is longer, by far less than this. A peer that sends more
# without a line end is not carpoold, and must not exhaust the memory.
MAX_LINE_BYTES: Final = 16 << 20
# The maximum message of the daemon by default. The daemon refuses a longer call; a longer answer is refused here,
# because the daemon could not find out which of its callbacks it answers.
MAX_ANSWER_BYTES: Final = 1 << 20

# The name of the failure of a call whose answer Python refuses: it is nested too deeply, or has an endless number.
UNREADABLE: Final = "response_serialization_failed.decoding_failed"
_ANSWER: Final = b'{"jsonrpc":"2.0","id":'

# One encoder for all calls: json.dumps with separators builds a new one each time.
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
_decode = json.JSONDecoder().decode


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of a call that succeeded."""

    id: int
    value: Any


@dataclass(frozen=True, slots=True)
class Failure:
    """The answer of a call that failed; `id` is None when the daemon could not read the message at all."""

    id: int | None
    error: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that the daemon sends without an answer, after the client has subscribed."""

    method: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """A call of the daemon to the client, to be answered under its id."""

    id: int | str
    method: str
    params: dict[str, Any]


class NeedData:
    """The type of `NEED_DATA`: no complete message is buffered."""

    __slots__ = ()


NEED_DATA: Final = NeedData()
Event = Result | Failure | Notification | Question | NeedData


class RPCConnection:
    """The protocol state of one connection: the last id, and the bytes of the incomplete message."""

    __slots__ = ("_buffer", "_last_id", "_max_line_bytes", "_scanned")

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._buffer = bytearray()
        self._scanned = 0
        self._last_id = 0
        self._max_line_bytes = max_line_bytes

    def send_request(self, method: str, params: dict[str, Any]) -> tuple[int, bytes]:
        """Return the id of a new call and the bytes to write.

        Raises ValueError or TypeError when a value has no JSON form (NaN, a lone surrogate, an object).
        """
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        return self._last_id, _line(message)

    def send_notification(self, method: str, params: dict[str, Any]) -> bytes:
        """Return the bytes of a notification."""
        return _line({"jsonrpc": "2.0", "method": method, "params": params})

    def send_result(self, question: Question, value: Any) -> bytes:
        """Return the bytes of the answer to a call of the daemon.

        Raises ValueError or TypeError when the value has no JSON form, or one that is too long for the daemon.
        """
        data = _line({"jsonrpc": "2.0", "id": question.id, "result": value})
        if len(data) > MAX_ANSWER_BYTES:
            raise ValueError(f"the answer has {len(data)} bytes, more than {MAX_ANSWER_BYTES}; return a smaller value")
        return data

    def send_error(self, question: Question, code: int, message: str, data: dict[str, Any] | None = None) -> bytes:
        """Return the bytes of an error answer to a call of the daemon."""
        failure = {"code": code, "message": message} | ({} if data is None else {"data": data})
        return (_encode({"jsonrpc": "2.0", "id": question.id, "error": failure}) + "\n").encode()

    def receive_data(self, data: bytes) -> None:
        """Add bytes read from the socket; empty data means that the daemon closed the connection."""
        if not data:
            raise ConnectionLostError("the daemon closed the connection")
        self._buffer += data

    @property
    def has_line(self) -> bool:
        """Whether a complete line has been received."""
        return self._buffer.find(b"\n", self._scanned) >= 0

    def next_event(self) -> Event:
        """Return the next complete message, or NEED_DATA. Blank lines are skipped."""
        while True:
            end = self._buffer.find(b"\n", self._scanned)
            if end < 0:
                self._scanned = len(self._buffer)
                if self._scanned > self._max_line_bytes:
                    raise ProtocolError(f"the daemon sent a line of more than {self._max_line_bytes} bytes")
                return NEED_DATA
            line = self._buffer[:end]
            del self._buffer[: end + 1]
            self._scanned = 0
            if line and not line.isspace():
                return _event(line)


def _line(message: dict[str, Any]) -> bytes:
    """Return a message as a line."""
    text = _encode(message) + "\n"
    try:
        return text.encode()
    except UnicodeEncodeError:
        name = "params" if "params" in message else "result"
        return (_encode({**message, name: encodable(message[name])}) + "\n").encode()


def _event(line: bytearray) -> Event:
    try:
        message = _decode(line.decode())
    except (ValueError, RecursionError) as error:
        if not isinstance(error, json.JSONDecodeError) and (call := _answered(line)) is not None:
            return Failure(
                call, {"name": UNREADABLE, "message": f"the answer has a value that Python refuses: {error}"}
            )
        raise ProtocolError(f"the daemon sent a line that is not JSON: {bytes(line[:80])!r}") from error
    match message:
        case {"result": value, "id": int(call)}:
            return Result(call, value)
        case {"error": dict(failure), "id": int() | None as call}:
            return Failure(call, failure)
        case {"method": str(method), "params": dict(params)} if "id" not in message:
            return Notification(method, params)
        case {"method": str(method), "params": dict(params), "id": int() | str() as question}:
            return Question(question, method, params)
    raise ProtocolError(f"the daemon sent a message that is neither an answer nor a call: {bytes(line[:80])!r}")


def _answered(line: bytearray) -> int | None:
    """Return the id of the call that a line answers, from its beginning; None if it is no answer."""
    number, _, rest = line.removeprefix(_ANSWER).partition(b",")
    is_answer = line.startswith(_ANSWER) and rest.startswith((b'"result":', b'"error":'))
    return int(number) if is_answer and number.isdigit() else None
