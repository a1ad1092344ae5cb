"""Both clients behind one interface, so that a test of what they share runs once for each."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from daemon import Answer, FakeDaemon
from loops import LOOPS

import carpool

Start = Callable[[Answer], FakeDaemon]


class Blocking:
    """The blocking client behind that interface; a name may be one of a member, such as `cache.get`."""

    def __init__(self, path: Path, **arguments: Any) -> None:
        self.client = carpool.Client(path, **arguments)

    def run(self, name: str, *arguments: Any, **named: Any) -> Any:
        return attrgetter(name)(self.client)(*arguments, **named)

    def listed(self, name: str, **named: Any) -> list[Any]:
        return list(attrgetter(name)(self.client)(**named))

    def notified(self, count: int, timeout: float) -> list[carpool.Notification]:
        found = []
        for notification in self.client.notifications(timeout):
            found.append(notification)
            if len(found) == count:
                break
        return found

    def close(self) -> None:
        self.client.close()


class Asynchronous:
    """The asyncio client, each operation run to its end."""

    new_loop = staticmethod(LOOPS["asyncio"])

    def __init__(self, path: Path, **arguments: Any) -> None:
        self.loop = self.new_loop()
        self.client = carpool.AsyncClient(path, **arguments)

    def run(self, name: str, *arguments: Any, **named: Any) -> Any:
        return self.loop.run_until_complete(attrgetter(name)(self.client)(*arguments, **named))

    def listed(self, name: str, **named: Any) -> list[Any]:
        async def collect() -> list[Any]:
            return [each async for each in attrgetter(name)(self.client)(**named)]

        return self.loop.run_until_complete(collect())

    def notified(self, count: int, timeout: float) -> list[carpool.Notification]:
        async def collect() -> list[carpool.Notification]:
            found = []
            async for notification in self.client.notifications(timeout):
                found.append(notification)
                if len(found) == count:
                    break
            return found

        return self.loop.run_until_complete(collect())

    def close(self) -> None:
        self.run("aclose")
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()


class OnUvloop(Asynchronous):
    """The asyncio client on another event loop."""

    new_loop = staticmethod(LOOPS["uvloop"])


BOTH: Final = [Blocking, Asynchronous, OnUvloop]
AnyClient = Blocking | Asynchronous
Connect = Callable[..., AnyClient]


def result(value: Any) -> Answer:
    return lambda message: [{"id": message["id"], "result": value}]
