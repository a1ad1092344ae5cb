"""The programs that are measured: those of the packages if they are built, otherwise those of developers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The folders of `clients/build --release` and `clients/build`, in a checkout.
BUILDS = {".build-release/release": "clients/build --release", ".build/release": "clients/build"}
FLAG = re.compile(r'"(-(?:O\w*|g\w*|enforce-exclusivity=\w+|disable-cmo|cross-module-optimization))"')


@dataclass(frozen=True)
class Programs:
    """The daemon, the command, and the sources of the Python client."""

    daemon: Path
    command: Path
    sources: Path


def built(root: Path) -> Path:
    """Return the folder with the programs of a checkout; that of the packages if there is one."""
    folders = [root / folder for folder in BUILDS]
    return next((folder for folder in folders if (folder / "carpoold").exists()), folders[-1])


def kind(folder: Path) -> str:
    """Return whose build a folder has: "packages" or "developers"."""
    return "packages" if folder.match("*/.build-release/release") else "developers"


def described(folder: Path) -> str:
    """Return which programs a folder has, how they were built, and the compiler's flags if they are known."""
    maker = next((maker for place, maker in BUILDS.items() if folder.match(f"*/{place}")), None)
    if maker is None:
        return str(folder)
    manifest = folder.with_suffix(".yaml")
    lines = manifest.read_text().splitlines() if manifest.exists() else []
    compiling = next((line for line in lines if '"-module-name","CarpoolServer"' in line), "")
    flags = " ".join(dict.fromkeys(FLAG.findall(compiling))) or "flags unknown"
    missing = "" if maker.endswith("--release") else "; the packages' build, clients/build --release, is not there"
    return f"{folder} ({maker}: {flags}{missing})"


CARPOOLD = Path(os.environ.get("CARPOOLD", built(ROOT) / "carpoold"))
CARPOOL = Path(os.environ.get("CARPOOL_CLI", built(ROOT) / "carpool"))


def own() -> Programs:
    """Return the programs of this checkout, or those that the environment names."""
    return Programs(CARPOOLD, CARPOOL, ROOT / "clients/python/src")


def newer_source(root: Path, folder: Path) -> Path | None:
    """Return a source of a checkout that is newer than its programs in a folder, or than their build's beginning."""
    stamp = folder.parent / "built"
    age = (stamp if stamp.exists() else folder / "carpoold").stat().st_mtime
    sources = [root / "Package.swift", root / "clients/build", root / "Sources", *(root / "Sources").rglob("*")]
    return next((source for source in sources if source.exists() and source.stat().st_mtime > age), None)


def require_current(root: Path) -> None:
    """End if the programs of a checkout are missing or older than its sources, unless the environment names others."""
    if "CARPOOLD" in os.environ:
        return
    folder = built(root)
    maker = BUILDS[str(folder.relative_to(root))]
    if not (folder / "carpoold").exists():
        sys.exit(f"{folder}/carpoold is not built: run {maker}")
    if source := newer_source(root, folder):
        sys.exit(f"{folder}/carpoold is older than {source}: run {maker}, or remove {folder.parent}")


def of_commit(root: Path, commit: str, kind: str) -> Programs:
    """Return the programs of a commit of a checkout: of this kind, built once, by the commit's script, and kept."""
    git = ["git", "-C", str(root)]
    command = [*git, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"]
    name = subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()
    if not name:
        sys.exit(f"there is no commit {commit}")
    kept, folder = (root / ".build-guard" / place for place in (f"{name[:12]}-{kind}", "building"))
    if not kept.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        archive = subprocess.run([*git, "archive", name], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(folder)], check=True, input=archive)
        script = folder / "clients/build"
        has_both = "--release" in script.read_text()
        if kind == "developers" and not has_both:
            sys.exit(f"{name[:12]} has the packages' build alone: run clients/build --release here to compare with it")
        print(f"building {name[:12]} in {folder}", flush=True)
        options = ["--release"] if kind == "packages" and has_both else []
        subprocess.run([str(script), *options], check=True, stdout=sys.stderr)
        _keep(folder, kept)
    return of_folder(built(kept), kept)


def _keep(checkout: Path, kept: Path) -> None:
    """Move the programs of a checkout and the sources of its client to a folder, and remove the rest."""
    made, folder = built(checkout), kept.with_name("keeping")
    shutil.rmtree(folder, ignore_errors=True)
    place = folder / made.relative_to(checkout)
    place.mkdir(parents=True)
    for name in ("carpoold", "carpool"):
        shutil.copy2(made / name, place / name)
    if made.with_suffix(".yaml").exists():
        shutil.copy2(made.with_suffix(".yaml"), place.with_suffix(".yaml"))
    shutil.copytree(checkout / "clients/python/src", folder / "clients/python/src")
    # Complete or not there.
    folder.rename(kept)
    shutil.rmtree(checkout)


def of_folder(folder: Path, checkout: Path = ROOT) -> Programs:
    """Return the programs in a folder, with the Python client of a checkout."""
    return Programs(folder / "carpoold", folder / "carpool", checkout / "clients/python/src")
