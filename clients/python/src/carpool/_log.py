"""The log: a line of the level INFO at the end of each request, and its record at the level DEBUG.

The module logging is not imported for it: a program that has not imported it has no handler for the lines.
"""

from __future__ import annotations

import json
import sys
import time
from collections import OrderedDict
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from ._exceptions import CarpoolError

if TYPE_CHECKING:
    from logging import Logger

# The maximum number of requests whose beginning or end is remembered, about 3 MB: as many as the daemon lets a client
# queue. The line of a request that began before these has no method but that of its record, and may be written twice.
MAX_REQUESTS: Final = 10_000
_INFO: Final = 20
_DEBUG: Final = 10
# Shorter times have a decimal.
_WHOLE_MS: Final = 10

_begun: OrderedDict[str, Beginning] = OrderedDict()
_written: OrderedDict[str, object] = OrderedDict()
_loggers: list[Logger] = []


def logger() -> Logger:
    """Return the logger of the package. The program configures it; without that nothing is printed."""
    if not _loggers:
        import logging  # noqa: PLC0415, most programs have no log

        made = logging.getLogger("carpool")
        if not any(isinstance(handler, logging.NullHandler) for handler in made.handlers):
            made.addHandler(logging.NullHandler())
        _loggers.append(made)
    return _loggers[0]


def beginning(method: str, url: str) -> Beginning | _Unwritten:
    """Return a context for the call that makes a request: it writes the line if the call fails."""
    return Beginning(method, url) if _is_written() else _UNWRITTEN


def ended(record: dict[str, Any]) -> None:
    """Write the line of a request whose record has come, unless it continues or has its line."""
    if _is_written() and "outcome" in record and _is_first(str(record["request"])):
        _write_record(_begun.pop(str(record["request"]), None), record)


def abandoned(request: str, reason: str | None = None) -> None:
    """Write the line of a request that its caller ends, without a reason because of the exception handled now."""
    if _is_written() and (begun := _begun.pop(request, None)) and _is_first(request):
        begun.fail(reason or _name(sys.exc_info()[1]))


def closed(head: dict[str, Any], read_bytes: int) -> None:
    """Write the line of a stream that ends before its body, unless it has its line."""
    if _is_written() and (begun := _begun.pop(head["request"], None)) and _is_first(head["request"]):
        error = sys.exc_info()[1]
        reason = "closed before the end of its body" if error is None else _name(error)
        text = _size(read_bytes, begun.elapsed_ms)
        _write(begun.method, begun.url, f"{head['response']['status']} ({text}): {reason}")


class Beginning:
    """A request that begins: what its line needs and no record has."""

    __slots__ = ("_start", "method", "url")

    def __init__(self, method: str, url: str) -> None:
        self.method = method
        self.url = url
        self._start = time.monotonic()

    def __enter__(self) -> Beginning:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if error is not None:
            self.fail(_name(error))

    @property
    def elapsed_ms(self) -> float:
        """The milliseconds since the beginning."""
        return (time.monotonic() - self._start) * 1000

    def made(self, record: dict[str, Any]) -> None:
        """Write the line if the record of the request is complete, and else expect its end."""
        request = str(record["request"])
        _written.pop(request, None)
        _begun[request] = self
        if len(_begun) > MAX_REQUESTS:
            _begun.popitem(last=False)
        ended(record)

    def fail(self, reason: str) -> None:
        """Write the line of a request without a record."""
        _write(self.method, self.url, _failed(self.elapsed_ms, reason))


class _Unwritten:
    """Stands for a beginning if the level INFO is off."""

    __slots__ = ()

    def __enter__(self) -> _Unwritten:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def made(self, record: dict[str, Any]) -> None:
        """Do nothing."""


_UNWRITTEN: Final = _Unwritten()


def _is_written() -> bool:
    return "logging" in sys.modules and logger().isEnabledFor(_INFO)


def _is_first(request: str) -> bool:
    """Whether the line of a request is the caller's to write: two threads may wait for the same request."""
    own = object()
    is_first = _written.setdefault(request, own) is own
    if len(_written) > MAX_REQUESTS:
        _written.popitem(last=False)
    return is_first


def _write_record(begun: Beginning | None, record: dict[str, Any]) -> None:
    method, url = (begun.method, begun.url) if begun else (record.get("method", "?"), record.get("url", "?"))
    metrics = record.get("metrics") or {}
    took = metrics["duration_us"] / 1000 if "duration_us" in metrics else begun.elapsed_ms if begun else 0.0
    error = record["outcome"].get("error")
    if head := record.get("response"):
        parts = [_size((record.get("body") or {}).get("size_bytes", 0), took), *_ways(record, metrics)]
        result = f"{head['status']} ({', '.join(parts)})" + (f": {error['name']}" if error else "")
    else:
        result = _failed(took, error["name"] if error else "no response")
    _write(method, url, result)
    if logger().isEnabledFor(_DEBUG):
        from ._secrets import masked  # noqa: PLC0415, most programs have no log

        text = json.dumps(masked(record), ensure_ascii=False)
        logger().debug("record of %s: %s", record["request"], text)


def _ways(record: dict[str, Any], metrics: dict[str, Any]) -> list[str]:
    """Return where the response came from, and what else took time."""
    cache = (record.get("cache") or {}).get("status")
    ways = [f"cache {cache}"] if cache in {"hit", "stale", "revalidated", "collapsed"} else []
    if "reused" in metrics and cache not in {"hit", "stale", "collapsed"}:
        ways.append("reused connection" if metrics["reused"] else "new connection")
    for name in ("attempts", "redirects"):
        if (count := metrics.get(name, 0)) > (name == "attempts"):
            ways.append(f"{count} {name if count > 1 else name[:-1]}")
    return ways


def _write(method: str, url: str, result: str) -> None:
    from ._secrets import shown  # noqa: PLC0415, as above

    logger().info("%s %s %s", method, shown(url), result)


def _failed(took_ms: float, reason: str) -> str:
    return f"failed after {_time(took_ms)}: {reason}"


def _size(size_bytes: int, took_ms: float) -> str:
    return f"{size_bytes} {'byte' if size_bytes == 1 else 'bytes'} in {_time(took_ms)}"


def _time(took_ms: float) -> str:
    return f"{took_ms:.0f} ms" if took_ms >= _WHOLE_MS else f"{took_ms:.1f} ms"


def _name(error: BaseException | None) -> str:
    """Return the documented name of an error; of others the class, because their text may have secrets."""
    name = getattr(error, "name", "") if isinstance(error, CarpoolError) else ""
    return name or type(error).__name__
