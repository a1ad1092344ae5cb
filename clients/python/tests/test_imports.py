"""`import carpool` takes tens of milliseconds, because it imports few modules: here are their names.

A new name here costs every program that imports the package. What few programs need is imported on first use.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

# The modules of the standard library that modules of the package import; these import more, as they need.
STANDARD = """
    __future__ _thread atexit base64 binascii codecs collections collections.abc contextlib dataclasses fcntl importlib
    inspect io json os select signal socket stat struct sys time types typing weakref
"""
# The modules of the package; those for asyncio, callbacks, and the adapters of requests and httpx are not among them.
OWN = """
    _bodies _channel _checks _cookies _defaults _environment _events _exceptions _fork _forms _framing _functions
    _handlers _inputs _lengths _interceptors _link _log _models _names _netrc _operations _options _paths _pipe _pool
    _proxies _response _rpc _settings _socket _sources _waiting _sync _sync.cache _sync.client _sync.control
    _sync.events _sync.observer _sync.stream _sync.verbs
"""

PROGRAM = """
import builtins, json, sys
imported, original = set(), builtins.__import__
def recording(name, globals=None, locals=None, fromlist=(), level=0):
    if level == 0 and globals and globals.get("__name__", "").split(".")[0] == "carpool":
        imported.add(name)
    return original(name, globals, locals, fromlist, level)
builtins.__import__ = recording
import carpool
builtins.__import__ = original
own = [name.removeprefix("carpool.") for name in sys.modules if name.startswith("carpool.")]
print(json.dumps([sorted(imported), own]))
"""


def test_importing_the_package_imports_only_these_modules() -> None:
    source = str(Path(__file__).resolve().parents[1] / "src")
    done = subprocess.run([sys.executable, "-S", "-c", PROGRAM], env={"PYTHONPATH": source}, check=True, stdout=-1)
    standard, own = json.loads(done.stdout)
    assert set(standard) <= set(STANDARD.split())
    assert "_sync.client" in own
    assert set(own) <= set(OWN.split())
