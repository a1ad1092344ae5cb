"""The wheel and the source distribution, as `pip install` makes and uses them."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata

import carpool

FOLDER = Path(__file__).resolve().parents[1]
PACKAGE = FOLDER / "src/carpool"
MODULES = {f"carpool/{path.relative_to(PACKAGE)}" for path in PACKAGE.rglob("*.py")} | {"carpool/py.typed"}

# Each part is a process that starts an interpreter, pip or mypy.
pytestmark = pytest.mark.timeout(180)


def run(*command: str | Path, folder: Path) -> str:
    """Run a Python program that finds the package only where it is installed, and return what it prints."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MYPY", "PIP_"))}
    done = subprocess.run(
        command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4_000:]
    return done.stdout


def build(source: Path, target: Path) -> tuple[Path, Path]:
    """Build both distributions of a source tree: the wheel and the source distribution."""
    run(sys.executable, "-m", "hatchling", "build", "-d", target, folder=source)
    (wheel,), (sdist,) = target.glob("*.whl"), target.glob("*.tar.gz")
    return wheel, sdist


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(FOLDER, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def python(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has the wheel and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder, folder=folder)
    python = folder / "bin/python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    run(*pip, "install", "--quiet", "--no-index", built[0], folder=folder)
    return python


def test_the_metadata_is_valid_and_complete(built: tuple[Path, Path]) -> None:
    wheel, sdist = built
    release = f"carpool-{carpool.__version__}"
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"{release}.dist-info/METADATA")
        licence = archive.read(f"{release}.dist-info/licenses/LICENSE")
    with tarfile.open(sdist) as source:
        file = source.extractfile(f"{release}/PKG-INFO")
        assert file is not None
        assert file.read() == text
    metadata = Metadata.from_email(text, validate=True)
    assert (metadata.name, str(metadata.version)) == ("carpool", carpool.__version__)
    assert (metadata.license_expression, licence) == ("MIT", (FOLDER / "LICENSE").read_bytes())
    assert metadata.description == (FOLDER / "README.md").read_text()
    assert metadata.description_content_type == "text/markdown"
    assert metadata.summary
    assert metadata.author
    assert metadata.keywords
    assert metadata.provides_extra == ["httpx", "httpx2", "requests"]
    assert all(requirement.marker for requirement in metadata.requires_dist or [])


def test_the_classifiers_name_the_versions_of_python(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as archive:
        metadata = Metadata.from_email(archive.read(f"carpool-{carpool.__version__}.dist-info/METADATA"))
    classifiers = metadata.classifiers or []
    prefix = "Programming Language :: Python :: 3."
    versions = {name.removeprefix(prefix) for name in classifiers if name.startswith(prefix)}
    allowed = metadata.requires_python
    assert allowed is not None
    assert versions == {str(minor) for minor in range(15) if allowed.contains(f"3.{minor}")}
    kinds = {name.split(" :: ")[0] for name in classifiers}
    assert {"Development Status", "Framework", "Operating System", "Topic", "Typing"} <= kinds


def test_the_wheel_has_all_modules_and_nothing_else(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as archive:
        names = set(archive.namelist())
    about = {f"carpool-{carpool.__version__}.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL")}
    assert names == MODULES | about | {f"carpool-{carpool.__version__}.dist-info/licenses/LICENSE"}


def test_the_source_distribution_builds_the_same_wheel(built: tuple[Path, Path], tmp_path: Path) -> None:
    wheel, sdist = built
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    again, _ = build(tmp_path / sdist.name.removesuffix(".tar.gz"), tmp_path / "again")
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


def test_the_installed_package_is_imported(python: Path, tmp_path: Path) -> None:
    code = """
import importlib.metadata, importlib.util, pkgutil, sys
import carpool
assert carpool.__file__.startswith(sys.prefix), carpool.__file__
assert carpool.__version__ == importlib.metadata.version("carpool")
for module in pkgutil.walk_packages(carpool.__path__, "carpool."):
    assert importlib.util.find_spec(module.name).origin.startswith(sys.prefix), module
for name in carpool.__all__:
    getattr(carpool, name)
with carpool.Client("/nonexistent/socket") as client:
    try:
        client.get("http://127.0.0.1/")
    except carpool.DaemonUnreachableError as error:
        print(type(error).__name__)
"""
    assert run(python, "-I", "-c", code, folder=tmp_path) == "DaemonUnreachableError\n"


def members_by_class() -> dict[str, list[str]]:
    """The public members of each public class."""
    kinds = {name: getattr(carpool, name) for name in carpool.__all__}
    return {
        name: [member for member in vars(kind) if not member.startswith("_")]
        for name, kind in kinds.items()
        if inspect.isclass(kind) and kind.__module__.partition(".")[0] == "carpool"
    }


def revealing(members: dict[str, list[str]]) -> tuple[str, list[str]]:
    """Write a program that reveals the types of all that is public, and name what each line of it reveals."""
    lines, names = ["import carpool"], [""]
    for name in carpool.__all__:
        lines += [f"reveal_type(carpool.{name})"]
        names += [name]
        if members.get(name):
            lines += [f"def of_{name}(value: carpool.{name}) -> None:"]
            lines += [f"    reveal_type(value.{member})" for member in members[name]]
            names += ["", *(f"{name}.{member}" for member in members[name])]
    return "\n".join(lines) + "\n", names


def test_a_type_checker_finds_the_types_of_the_installed_package(python: Path, tmp_path: Path) -> None:
    program, names = revealing(members_by_class())
    (tmp_path / "revealed.py").write_text(program)
    (tmp_path / "consumer.py").write_text((FOLDER / "tests/consumer.py").read_text())
    options = ["--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}", f"--python-executable={python}"]
    output = run(sys.executable, "-m", "mypy", *options, "consumer.py", "revealed.py", folder=tmp_path)
    found = dict(re.findall(r"^revealed\.py:(\d+): note: Revealed type is \"(.*)\"$", output, re.MULTILINE))
    types = {name: found.get(str(number)) for number, name in enumerate(names, 1) if name}
    assert [name for name, kind in types.items() if kind is None] == []
    # Values of JSON.
    assert {name for name, kind in types.items() if kind == "Any"} == {"Changes.json", "Response.value"}
