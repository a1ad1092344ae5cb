from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import generate
import pytest

import carpool
from carpool import _exceptions


def test_everything_public_is_in_all() -> None:
    names = {name for name, value in vars(carpool).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert names | set(carpool._LATER) == set(carpool.__all__)
    assert all(inspect.isclass(getattr(carpool, name)) for name in carpool._LATER)


@pytest.mark.parametrize(
    ("name", "module"), [("AsyncClient", "asyncio"), ("Changes", "carpool._calls"), ("Changes", "datetime")]
)
def test_what_few_need_is_imported_when_it_is_asked_for(name: str, module: str) -> None:
    code = f"import sys, carpool as c; assert {module!r} not in sys.modules; c.{name}; assert {module!r} in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        getattr(carpool, "nonsense")  # noqa: B009, a name that a type checker refuses


def test_every_exception_is_exported() -> None:
    raised = {
        name for name, value in vars(_exceptions).items() if inspect.isclass(value) and issubclass(value, Exception)
    }
    assert raised <= set(carpool.__all__)


def test_both_clients_have_the_same_members() -> None:
    def members(kind: type) -> set[str]:
        return {
            name.removeprefix("a") if name == "aclose" else name for name in vars(kind) if not name.startswith("__")
        }

    assert members(carpool.AsyncClient) == members(carpool.Client)


def test_everything_public_has_a_docstring() -> None:
    undocumented = [name for name in carpool.__all__ if not inspect.getdoc(getattr(carpool, name))]
    for kind in (*carpool.AsyncClient.__mro__[:2], *carpool.Client.__mro__[:2], carpool.EventStream, carpool.Headers):
        undocumented += [
            name for name in vars(kind) if not name.startswith("_") and not inspect.getdoc(vars(kind)[name])
        ]
    assert undocumented == []


def test_the_package_is_typed() -> None:
    assert Path(carpool.__file__).with_name("py.typed").exists()


def test_the_blocking_client_is_generated_from_the_asyncio_one() -> None:
    assert generate.main(["--check"]) == 0
