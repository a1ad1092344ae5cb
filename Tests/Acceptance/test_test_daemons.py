"""The daemon that the tests of a module share: what one of them leaves fails it, and the next does not see it."""

from __future__ import annotations

import contextlib
import functools
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.shared import Lender
from harness.waiting import eventually
from origins.scripted import ScriptedOrigin


@pytest.fixture
def lender(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lender]:
    monkeypatch.setattr("harness.shared.eventually", functools.partial(eventually, seconds=0.5))
    lent = Lender(None)
    yield lent
    lent.close()


def lend(lender: Lender, use: Callable[[Daemon], object] = lambda daemon: None, has_failed: bool = False) -> int:
    """Lend the daemon for a use; returns its process."""
    with lender.lend(lambda: has_failed) as daemon:
        use(daemon)
        return daemon.pid


def test_what_one_stores_the_next_does_not_see(lender: Lender, origin: ScriptedOrigin) -> None:
    url = origin.on("/fresh", lambda exchange: exchange.reply(headers=[("Cache-Control", "max-age=600")]))
    made: dict[str, Any] = {"name": "left", "configuration": {"cookies": {}}}

    def first(daemon: Daemon) -> None:
        with daemon.client() as client:
            client.call("session.create", **made)
            client.call("credentials.set", host="127.0.0.1", username="ada", password="secret")
            client.call("request.submit", url=url)
            assert client.get(url).ok
            assert client.call("request.list", scope="all")["requests"]
        (daemon.directory / "file").write_text("left")

    def second(daemon: Daemon) -> None:
        with daemon.client() as client:
            assert [session["session"] for session in client.call("session.list")["sessions"]] == ["default"]
            assert client.call("request.list", scope="all")["requests"] == []
            assert client.call("credentials.list")["credentials"] == []
            assert client.call("pool.stats")["total"]["connections"] == 0
            seen = len(origin.requests)
            assert client.get(url).ok
            assert len(origin.requests) == seen + 1, "it was stored"
        assert daemon.log.read_text() == ""
        assert not (daemon.directory / "file").exists()

    assert lend(lender, first) == lend(lender, second)


def test_a_client_that_is_left_fails_its_test_alone(lender: Lender) -> None:
    before = lend(lender)
    with contextlib.ExitStack() as stack:
        with pytest.raises(AssertionError, match="clients that have not left"):
            lend(lender, lambda daemon: stack.enter_context(daemon.client()).call("daemon.ping"))
        assert lend(lender) != before


def test_a_request_that_is_left_fails_its_test_alone(lender: Lender, origin: ScriptedOrigin) -> None:
    origin.hold("/held")
    before = lend(lender)
    with pytest.raises(AssertionError, match="unfinished work: "):
        lend(lender, lambda daemon: daemon.call("request.submit", url=f"{origin.url}/held"))
    assert lend(lender) != before


def stop_and_continue(daemon: Daemon) -> None:
    daemon.signal(signal.SIGSTOP)
    daemon.signal(signal.SIGCONT)


@pytest.mark.parametrize(
    "use",
    [stop_and_continue, Daemon.kill, Daemon.terminate, lambda daemon: daemon.config_file.write_text("{ }")],
    ids=["signalled", "killed", "ended", "configured"],
)
def test_a_daemon_that_is_not_as_it_was_is_replaced(lender: Lender, use: Callable[[Daemon], object]) -> None:
    assert lend(lender, use) != lend(lender)


def test_a_daemon_of_a_test_that_has_failed_is_replaced(lender: Lender) -> None:
    assert lend(lender, has_failed=True) != lend(lender)


def test_a_daemon_whose_use_raises_is_ended(lender: Lender) -> None:
    used: list[Daemon] = []

    def use(daemon: Daemon) -> None:
        used.append(daemon)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        lend(lender, use)
    assert used[0].process.poll() is not None
    assert not used[0].directory.exists()
    assert lend(lender) != used[0].pid


def test_the_memory_of_a_shared_daemon_is_not_measured(lender: Lender) -> None:
    with pytest.raises(AssertionError, match="own_daemon"):
        lend(lender, lambda daemon: daemon.memory_kib())
