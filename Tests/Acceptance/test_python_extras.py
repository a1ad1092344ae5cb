"""The adapters of requests and httpx need no packages but those of the extras `requests` and `httpx`."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys

import pytest
from harness.daemon import Daemon
from origins.scripted import ScriptedOrigin
from packaging.requirements import Requirement

# The names of modules that cannot be imported, as if their packages were not installed; and the URL.
BLOCKED = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[2:]))
"""

PROGRAMS = {
    "requests": """
import requests
from carpool.requests import CarpoolAdapter
with requests.Session() as session:
    session.mount("http://", CarpoolAdapter())
    print(session.get(sys.argv[1]).status_code)
""",
    "httpx": """
import asyncio, httpx
from carpool.httpx import AsyncCarpoolTransport, CarpoolTransport
with httpx.Client(transport=CarpoolTransport()) as client:
    print(client.get(sys.argv[1]).status_code)
async def main():
    async with httpx.AsyncClient(transport=AsyncCarpoolTransport()) as client:
        print((await client.get(sys.argv[1])).status_code)
asyncio.run(main())
""",
}


def required(package: str, found: frozenset[str] = frozenset()) -> frozenset[str]:
    """The names of the packages that are installed with a package, with its own."""
    found |= {package}
    for text in importlib.metadata.requires(package) or []:
        requirement = Requirement(text)
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and requirement.name not in found:
            found = required(requirement.name, found)
    return found


def plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


@pytest.mark.parametrize("package", PROGRAMS)
def test_an_adapter_needs_no_other_package(package: str, daemon: Daemon, origin: ScriptedOrigin) -> None:
    installed = {plain(name) for name in required(package)}
    others = [
        module
        for module, owners in importlib.metadata.packages_distributions().items()
        if installed.isdisjoint(plain(owner) for owner in owners)
    ]
    assert {"pytest", "trio"} <= set(others)
    env = {**os.environ, "CARPOOL_SOCKET": str(daemon.socket)}
    program = BLOCKED + PROGRAMS[package]
    done = subprocess.run(
        [sys.executable, "-c", program, origin.url, *others], env=env, capture_output=True, text=True, check=False
    )
    assert set(done.stdout.split()) == {"200"}, done.stderr
