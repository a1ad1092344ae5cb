"""The list of mutants, and the copy of the sources that has all of them."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / ".build-mutants"
TREE = PLACE / "tree"
HERE = Path("Tests/mutants")
MODULES = {
    "http": "CarpoolHTTP",
    "cache": "CarpoolCache",
    "session": "CarpoolSession",
    "server": "CarpoolServer",
    "command": "CarpoolCLI",
    "curl": "CarpoolCurl",
}
"""The lists, and the module of each."""
OPEN, CLOSE = "«", "»"


class MutantError(Exception):
    """A mutant that cannot be made."""


@dataclass(frozen=True)
class Mutant:
    """One fault."""

    number: int
    module: str
    file: Path
    """Below the root."""
    before: str
    original: str
    after: str
    mutated: str | None
    """What stands in place of the original; `None` if the original is a statement that is left out."""
    is_statement: bool
    breaks: str
    """What goes wrong, in words."""
    likely: tuple[str, ...]
    """The suites of Swift tests that are run before the others, because they are likely to find it."""
    acceptance: tuple[str, ...]
    """What judges it if the Swift tests of its module do not find it: acceptance tests that are likely to find it, and
    files of Tests/Acceptance."""
    survives: str
    """Why no test finds it; empty if one does."""

    @property
    def text(self) -> str:
        """The text of the source, which occurs in the file once."""
        return self.before + self.original + self.after

    @property
    def replacement(self) -> str:
        """The text that has both forms."""
        if self.mutated is None:
            form = f"if !mutant({self.number}) {{ {self.original} }}"
        elif self.is_statement:
            form = f"if mutant({self.number}) {{ {self.mutated} }} else {{ {self.original} }}"
        else:
            form = f"(mutant({self.number}) ? ({self.mutated}) : ({self.original}))"
        return self.before + form + self.after

    def apply(self, source: str) -> str:
        """Return a file's content with both forms of this mutant."""
        if (count := source.count(self.text)) != 1:
            raise MutantError(f"mutant {self.number}: its text occurs {count} times in {self.file}")
        return source.replace(self.text, self.replacement)


def mutant(module: str, entry: Mapping[str, Any]) -> Mutant:
    """Return the mutant of an entry of a list."""
    before, _, rest = entry["text"].rpartition(OPEN) if OPEN in entry["text"] else ("", "", entry["text"])
    original, _, after = rest.partition(CLOSE)
    mutated = entry.get("mutated")
    return Mutant(
        number=entry["number"],
        module=module,
        file=Path("Sources", module, entry["file"]),
        before=before,
        original=original,
        after=after,
        mutated=mutated,
        is_statement=mutated is None or entry.get("is_statement", False),
        breaks=entry["breaks"],
        likely=tuple(entry.get("likely", ())),
        acceptance=tuple(acceptance(name) for name in entry["acceptance"]),
        survives=entry.get("survives", ""),
    )


def acceptance(name: str) -> str:
    """Return the path of an acceptance file, or the id of a test such as `cookies::test_one`."""
    file, colons, test = name.partition("::")
    return f"Tests/Acceptance/test_{file}.py{colons}{test}"


def mutants() -> dict[int, Mutant]:
    """All mutants by their numbers, in order."""
    found: dict[int, Mutant] = {}
    for name, module in MODULES.items():
        for entry in tomllib.loads((ROOT / HERE / f"{name}.toml").read_text())["mutant"]:
            one = mutant(module, entry)
            if one.number in found:
                raise MutantError(f"two mutants have the number {one.number}")
            if missing := [name for name in one.acceptance if not (ROOT / name.partition("::")[0]).is_file()]:
                raise MutantError(f"mutant {one.number}: {', '.join(missing)} is missing")
            found[one.number] = one
    return dict(sorted(found.items()))


def mutated_sources() -> dict[Path, str]:
    """The contents of the files that differ from those of the repository, by their paths below the root."""
    contents: dict[Path, str] = {}
    for one in mutants().values():
        if not (ROOT / one.file).is_file():
            raise MutantError(f"mutant {one.number}: {one.file} is missing")
        contents[one.file] = one.apply(contents.get(one.file) or (ROOT / one.file).read_text())
    switch = (ROOT / HERE / "Mutant.swift").read_text()
    for module in MODULES.values():
        contents[Path("Sources", module, "Mutant.swift")] = switch
    return contents


def copy() -> None:
    """Make the copy. A file that is the same already keeps its time, so that it is not compiled again."""
    contents: dict[Path, str | None] = dict(mutated_sources())
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in listed.split("\0"):
        if name and (ROOT / name).is_file():
            contents.setdefault(Path(name))
    for path in [path for path in TREE.rglob("*") if path.is_file() or path.is_symlink()]:
        if path.relative_to(TREE) not in contents:
            path.unlink()
    for name_of_file, content in contents.items():
        source, target = ROOT / name_of_file, TREE / name_of_file
        data = source.read_bytes() if content is None else content.encode()
        if target.is_file() and target.read_bytes() == data:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        if content is None:
            target.chmod(source.stat().st_mode)
