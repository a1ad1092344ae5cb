"""The transports of httpx2, which are made of those of httpx: the tests of these with the other package's name."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import carpool.httpx
import httpx2
import pytest
from harness import transports
from harness.daemon import Daemon
from origins.scripted import ScriptedOrigin


def fill(module: dict[str, object], path: Path) -> None:
    """Run a file in a module, with the other name of the package wherever it has this one."""
    text = re.sub(r"\bhttpx\b", "httpx2", path.read_text())
    text = re.sub(r"\bharness\.transports\b", "harness.transports2", text)
    exec(compile(text, str(path), "exec"), module)


sys.modules["harness.transports2"] = ModuleType("harness.transports2")
fill(vars(sys.modules["harness.transports2"]), Path(transports.__file__))
fill(globals(), Path(__file__).with_name("test_python_httpx.py"))


def test_a_transport_of_the_other_package_says_so(daemon: Daemon, origin: ScriptedOrigin) -> None:
    with (
        httpx2.Client(transport=carpool.httpx.CarpoolTransport()) as client,  # type: ignore[arg-type]
        pytest.raises(TypeError, match=r"carpool\.httpx sends requests of httpx, not of httpx2; use carpool\.httpx2"),
    ):
        client.get(origin.url)
    assert origin.requests == []
