"""The programs that the guard of instructions counts: those of this checkout and of another commit."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from programs import built, described, of_commit, require_current

SCRIPT = """#!/bin/sh -e
{knows}
folder=${{0%/*}}/..
case ${{1-}} in --release) place=$folder/.build-release/release ;; *) place=$folder/.build/release ;; esac
mkdir -p "$place"
echo "{name}" >"$place/carpoold"
echo "{name}" >"$place/carpool"
echo object >"$place/object"
echo built >>"$folder/../../builds"
"""


def commit(root: Path, name: str, knows: str = "") -> None:
    """Commit a script that builds a daemon of this name; it knows two kinds of build if it has `--release`."""
    script = root / "clients/build"
    script.parent.mkdir(exist_ok=True)
    script.write_text(SCRIPT.format(name=name, knows=knows))
    if not knows:
        script.write_text(script.read_text().replace("--release", "--never"))
    script.chmod(0o700)
    me = {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    (root / "clients/python/src").mkdir(parents=True, exist_ok=True)
    (root / "clients/python/src/client.py").touch()
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", name]):
        subprocess.run(["git", "-C", str(root), *command], check=True, env={**os.environ, **me})


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    commit(tmp_path, "old")
    commit(tmp_path, "new", knows="# clients/build [--release]")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "kind", "content", "place"),
    [
        ("HEAD", "packages", "new", ".build-release/release"),
        ("HEAD", "developers", "new", ".build/release"),
        ("HEAD~1", "packages", "old", ".build/release"),
    ],
)
def test_a_commit_is_built_once_by_its_own_script(
    checkout: Path, name: str, kind: str, content: str, place: str
) -> None:
    for _ in range(2):
        found = of_commit(checkout, name, kind)
        assert found.daemon.read_text() == f"{content}\n"
        assert found.daemon.parent.match(f"*/{place}")
    assert (checkout / "builds").read_text() == "built\n"
    # The programs and the client's sources are kept, and nothing else.
    kept = found.sources.parents[2]
    assert [*(checkout / ".build-guard").iterdir()] == [kept]
    files = {str(file.relative_to(kept)) for file in kept.rglob("*") if file.is_file()}
    assert files == {f"{place}/carpoold", f"{place}/carpool", "clients/python/src/client.py"}


def test_each_kind_of_build_is_compared_with_the_same_kind(checkout: Path) -> None:
    found = {kind: of_commit(checkout, "HEAD", kind).daemon for kind in ("packages", "developers", "packages")}
    assert found["packages"].parent.parent.name == ".build-release"
    assert found["developers"].parent.parent.name == ".build"
    with pytest.raises(SystemExit, match="has the packages' build alone"):
        of_commit(checkout, "HEAD~1", "developers")


def test_an_interrupted_build_is_made_again(checkout: Path) -> None:
    half = checkout / ".build-guard/building/.build-release/release"
    half.mkdir(parents=True)
    (half / "carpoold").write_text("half")
    assert of_commit(checkout, "HEAD", "packages").daemon.read_text() == "new\n"


def test_a_commit_that_does_not_exist_is_an_error(checkout: Path) -> None:
    with pytest.raises(SystemExit, match="there is no commit none-such"):
        of_commit(checkout, "none-such", "packages")


def age(path: Path, seconds: float) -> None:
    """Let a file be so many seconds old."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (time.time() - seconds,) * 2)


def test_programs_that_are_older_than_a_source_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CARPOOLD", raising=False)
    with pytest.raises(SystemExit, match=r"carpoold is not built: run clients/build$"):
        require_current(tmp_path)
    program = tmp_path / ".build/release/carpoold"
    sources = [tmp_path / name for name in ("Package.swift", "clients/build", "Sources/A/a.swift")]
    age(program, 100)
    for source in sources:
        age(source, 200)
    for folder in ("Sources/A", "Sources"):
        os.utime(tmp_path / folder, (time.time() - 200,) * 2)
    require_current(tmp_path)
    for source in sources:
        age(source, 50)
        with pytest.raises(
            SystemExit, match=f"is older than {source}: run clients/build, or remove {tmp_path}/.build$"
        ):
            require_current(tmp_path)
        age(source, 200)
    # A build that began later has found nothing to write.
    age(sources[0], 50)
    age(tmp_path / ".build/built", 40)
    require_current(tmp_path)
    # That of the packages comes first, also if it is older.
    age(tmp_path / ".build-release/release/carpoold", 100)
    with pytest.raises(SystemExit, match=r"run clients/build --release, or remove .*/\.build-release$"):
        require_current(tmp_path)
    monkeypatch.setenv("CARPOOLD", "/given")
    require_current(tmp_path)


def test_the_packages_build_is_preferred_and_named(tmp_path: Path) -> None:
    for kind in (".build", ".build-release"):
        (tmp_path / kind / "release").mkdir(parents=True)
    own, packages = tmp_path / ".build/release", tmp_path / ".build-release/release"
    assert built(tmp_path) == own
    assert "(clients/build: flags unknown; the packages' build, clients/build --release, is not there)" in described(
        own
    )
    (packages / "carpoold").touch()
    arguments = '["swiftc","-module-name","CarpoolServer","-O","-I","/a","-g","-enforce-exclusivity=unchecked","-O"]'
    packages.with_suffix(".yaml").write_text(f"    args: {arguments}\n")
    assert built(tmp_path) == packages
    assert described(built(tmp_path)).endswith("(clients/build --release: -O -g -enforce-exclusivity=unchecked)")
