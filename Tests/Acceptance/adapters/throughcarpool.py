"""A pytest plugin: the tests of requests, httpx or httpx2 send through a daemon, and a file names those that did.

It is loaded by `run`. With CARPOOL=off the same tests send with the transport of the library.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
import uvloop

SENDING: set[str] = set()
OUTCOMES: dict[str, str] = {}
_current = ""


if os.environ.get("ADAPTER_OF") == "httpx2":
    # Before the tests of httpx import it: they run with httpx2 in its place, whose source distribution has none.
    import httpx2

    httpx2.alias_httpx()


def _noting(function: Any) -> Any:
    """Return a function that notes the running test, and does the same."""

    def noted(*args: Any, **kwargs: Any) -> Any:
        SENDING.add(_current)
        return function(*args, **kwargs)

    return noted


def _patch_requests() -> None:
    import requests.adapters  # noqa: PLC0415, only one of the libraries may be installed
    import requests.sessions  # noqa: PLC0415, only one of the libraries may be installed
    from carpool.requests import CarpoolAdapter  # noqa: PLC0415, only one of the libraries may be installed

    CarpoolAdapter.send = _noting(CarpoolAdapter.send)  # type: ignore[method-assign]
    requests.adapters.HTTPAdapter = requests.sessions.HTTPAdapter = CarpoolAdapter  # type: ignore[misc]


def _patch_httpx() -> None:
    import httpx  # noqa: PLC0415, only one of the libraries may be installed
    import httpx._client  # noqa: PLC0415, only one of the libraries may be installed
    from carpool import httpx as ours  # noqa: PLC0415, only one of the libraries may be installed

    _replace_transports(ours, httpx, httpx._client)


def _patch_httpx2() -> None:
    import httpx2  # noqa: PLC0415, only one of the libraries may be installed
    import httpx2._client  # noqa: PLC0415, only one of the libraries may be installed
    from carpool import httpx2 as ours  # noqa: PLC0415, only one of the libraries may be installed

    _replace_transports(ours, httpx2, httpx2._client)


def _replace_transports(ours: Any, *modules: Any) -> None:
    blocking, asynchronous = ours.CarpoolTransport, ours.AsyncCarpoolTransport
    blocking.handle_request = _noting(blocking.handle_request)
    asynchronous.handle_async_request = _noting(asynchronous.handle_async_request)
    for module in modules:
        module.HTTPTransport, module.AsyncHTTPTransport = blocking, asynchronous


def pytest_configure(config: pytest.Config) -> None:
    from harness.daemon import Daemon  # noqa: PLC0415, only one of the libraries may be installed

    config.addinivalue_line("markers", "timeout: the deadline of a test")
    directory = Path(tempfile.mkdtemp(prefix="carpool-"))
    daemon = Daemon(directory)
    os.environ["CARPOOL_SOCKET"] = str(daemon.socket)

    def end() -> None:
        daemon.stop()
        shutil.rmtree(directory)

    config.add_cleanup(end)
    if os.environ.get("ADAPTER_LOOP") == "uvloop":
        # anyio runs the tests for asyncio on a loop of the policy.
        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    {"requests": _patch_requests, "httpx": _patch_httpx, "httpx2": _patch_httpx2}[os.environ["ADAPTER_OF"]]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    global _current  # noqa: PLW0603
    _current = item.nodeid


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.outcome != "passed" or report.when == "call":
        # A test that is expected to fail may pass by chance with either transport.
        outcome = "skipped" if hasattr(report, "wasxfail") else report.outcome
        OUTCOMES[report.nodeid] = outcome


def pytest_sessionfinish() -> None:
    if path := os.environ.get("ADAPTER_RESULTS"):
        results = {name: OUTCOMES.get(name, "skipped") for name in sorted(SENDING)}
        Path(path).write_text(json.dumps(results, indent=1))
