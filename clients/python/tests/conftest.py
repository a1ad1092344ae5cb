from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from both_clients import BOTH, AnyClient, Connect, Start
from daemon import Answer, FakeDaemon
from loops import LOOPS, RunLoop, running_on

import carpool
from carpool import testing

pytest_plugins = ["deadlines"]


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxies and authorities of the machine are not those of the tests."""
    for name in carpool._environment._BYTES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=LOOPS)
def run_loop(request: pytest.FixtureRequest) -> RunLoop:
    return running_on(request.param)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    daemons: list[FakeDaemon] = []

    def begin(answer: Answer) -> FakeDaemon:
        daemons.append(FakeDaemon(tmp_path, answer))
        return daemons[-1]

    yield begin
    for daemon in daemons:
        daemon.close()


@pytest.fixture(params=BOTH)
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    clients: list[AnyClient] = []

    def begin(path: Path, **arguments: Any) -> AnyClient:
        clients.append(request.param(path, **arguments))
        return clients[-1]

    yield begin
    for client in clients:
        client.close()


@pytest.fixture
def fake() -> Iterator[testing.FakeDaemon]:
    with testing.FakeDaemon() as running:
        yield running


@pytest.fixture
def client(fake: testing.FakeDaemon) -> Iterator[carpool.Client]:
    with carpool.Client(fake.socket) as connected:
        yield connected
