"""Callback handlers by name, and hooks.

The module that runs the handlers is imported with the first one: most programs have none.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ._callbacks import Asking
    from ._rpc import Question, RPCConnection

# The maximum number of callbacks of the daemon at a time; more are an error of the peer, or of handlers that hang.
MAX_QUESTIONS: Final = 256


class Callbacks:
    """The registered handlers of a client, and the names that were sent to the daemon."""

    def __init__(self, *, allow_async: bool) -> None:
        self._allow_async = allow_async
        self._handlers: dict[str, dict[str, Callable[[Any], Any]]] = {}

    @property
    def names(self) -> list[str]:
        """Every registered name."""
        return list(self._handlers)

    def replace(self, name: str, handlers: Mapping[str, Callable[[Any], Any] | None]) -> Callable[[], None]:
        """Replace the handlers of a name by these, by kind; without handlers the name is removed.

        Returns a function that undoes it. Raises TypeError for what is no function, and for an asynchronous function
        without an event loop.
        """
        given = {kind: handler for kind, handler in handlers.items() if handler is not None}
        for kind, handler in given.items():
            if not callable(handler):
                raise TypeError(f"the {kind} handler of {name!r} is no function")
            if not self._allow_async and inspect.iscoroutinefunction(handler):
                raise TypeError(f"the {kind} handler of {name!r} is asynchronous: use an AsyncClient")
        earlier = self._handlers.get(name, {})
        self._put(name, given)
        return lambda: self._put(name, earlier)

    def _put(self, name: str, handlers: dict[str, Callable[[Any], Any]]) -> None:
        if handlers:
            self._handlers[name] = handlers
        else:
            self._handlers.pop(name, None)

    def asking(self, question: Question) -> Asking:
        """Return the handler of a callback."""
        from ._callbacks import asking  # noqa: PLC0415, most programs get no callbacks

        return asking(question, self._handlers.get(str(question.params.get("callback"))))

    @staticmethod
    def too_many(rpc: RPCConnection, question: Question) -> bytes:
        """Return the error answer to a callback beyond the maximum of `MAX_QUESTIONS`."""
        from ._callbacks import too_many  # noqa: PLC0415, as above

        return too_many(rpc, question)


def resolved(value: Any) -> Any:
    """Return what a hook has returned; raises TypeError for an awaitable."""
    if hasattr(value, "__await__"):
        if hasattr(value, "close"):
            value.close()
        raise TypeError("hooks: the function is asynchronous: use an AsyncClient")
    return value
