"""Cells of the matrix of options (`curl/matrix.toml`), and how two programs carry them out."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import random
import re
import shlex
import subprocess
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

from origins.scripted import Received

from harness.waiting import PATIENCE_SECONDS

DATA: dict[str, Any] = tomllib.loads((Path(__file__).resolve().parents[1] / "curl" / "matrix.toml").read_text())

_TIMES = re.compile(r"^(time_.*|speed_.*|local_port|conn_id|curl_version|errormsg)$")
"""Members of %{json} that differ from run to run; the words of some failures are the daemon's."""
_BOUNDARY = re.compile(rb"-{24}[0-9A-Za-z]{22}")
_MASKS = [_BOUNDARY, re.compile(rb"Date: [^\r]*"), re.compile(rb'nonce="[^"]*"')]


@dataclass(frozen=True, eq=False)
class Cell:
    """A value of each axis."""

    matrix: str
    values: Mapping[str, str]

    def __str__(self) -> str:
        return " ".join(f"{axis}={value}" for axis, value in self.values.items())

    def words(self, names: Mapping[str, str]) -> list[str]:
        """The arguments of the command."""
        axes = DATA[self.matrix]["axes"]
        text = " ".join(axes[axis][value] for axis, value in self.values.items())
        return shlex.split(Template(text).substitute(names))


@dataclass
class Outcome:
    """What a run has left, by name."""

    parts: dict[str, Any] = field(default_factory=dict)


def credential_cells() -> list[Cell]:
    """Every combination of the axes, but for those that `without` leaves out."""
    table = DATA["credentials"]
    axes: dict[str, dict[str, str]] = table["axes"]
    cells = [Cell("credentials", dict(zip(axes, values, strict=True))) for values in itertools.product(*axes.values())]
    return [cell for cell in cells if not any(_matches(cell, rule) for rule in table["without"])]


def tls_cells() -> list[Cell]:
    """As many combinations as the table says. Most axes have their first value, so that few causes meet in a cell."""
    table = DATA["tls"]
    axes: dict[str, dict[str, str]] = table["axes"]
    generator = random.Random(table["seed"])
    found: dict[tuple[str, ...], Cell] = {}
    while len(found) < table["count"]:
        values = []
        for each in axes.values():
            names = list(each)
            is_usual = generator.random() < table["usual"]
            values.append(names[0] if is_usual else generator.choice(names))
        cell = Cell("tls", dict(zip(axes, values, strict=True)))
        if not any(_matches(cell, rule) for rule in table["without"]):
            found[tuple(values)] = cell
    return list(found.values())


def sample(cells: Sequence[Cell], seed: int) -> list[Cell]:
    """Some of the cells: each value of each axis is in one, and each pair of values of the axes that are paired."""
    most = DATA[cells[0].matrix].get("most", len(cells[0].values))
    left = [cell for cell in cells if _unusual(cell) <= most]
    random.Random(seed).shuffle(left)
    parts = {cell: _parts(cell) for cell in left}
    missing = set().union(*parts.values())
    chosen: list[Cell] = []
    while missing:
        chosen.append(max(left, key=lambda cell: len(parts[cell] & missing)))
        missing -= parts[chosen[-1]]
    return chosen


def _unusual(cell: Cell) -> int:
    """How many values of a cell are not the first of their axes."""
    axes = DATA[cell.matrix]["axes"]
    return sum(value != next(iter(axes[axis])) for axis, value in cell.values.items())


def _parts(cell: Cell) -> set[tuple[str, ...]]:
    """The values that a cell tests, and the pairs of those whose axes are paired. A fault hides all other values."""
    faults = _faults(cell)
    if faults:
        return set(faults)
    paired = [(axis, cell.values[axis]) for axis in DATA[cell.matrix].get("paired", [])]
    return {*cell.values.items(), *(first + second for first, second in itertools.combinations(paired, 2))}


def _matches(cell: Cell, rule: Mapping[str, Any]) -> bool:
    """Whether a cell has, of each axis that a rule names, one of its values, so many faults, and is none of `but`."""
    if any(_matches(cell, each) for each in rule.get("but", [])):
        return False
    if not all(cell.values[axis] in rule[axis] for axis in rule if axis in cell.values):
        return False
    return "faults" not in rule or len(_faults(cell)) >= rule["faults"]


def _faults(cell: Cell) -> list[tuple[str, str]]:
    """The values of a cell that no connection can be made with."""
    faults = [rule for rule in DATA[cell.matrix].get("faults", []) if _matches(cell, rule)]
    return [(axis, cell.values[axis]) for rule in faults for axis in rule if axis in cell.values]


def applying(cell: Cell, code: int) -> list[dict[str, Any]]:
    """The rules of known differences that are about a cell in which curl has this exit code."""
    rules = DATA[cell.matrix]["known"]
    return [rule for rule in rules if _matches(cell, rule) and code in rule.get("exit", [code])]


def surprises(cell: Cell, code: int, names: Collection[str]) -> list[str]:
    """What differs in a cell although no rule has it, and what a rule has and does not differ."""
    rules = applying(cell, code)
    always = {name for rule in rules if not rule.get("race") for name in rule["differs"]}
    sometimes = {name for rule in rules for name in rule["differs"]}
    return [*(name for name in names if name not in sometimes), *sorted(always - set(names))]


def unused(name: str, codes: Mapping[Cell, int]) -> list[str]:
    """What rules name and no cell has, if these are all cells of a matrix with the exit codes of curl."""
    used: set[tuple[int, str, object]] = set()
    for cell, code in codes.items():
        for rule in applying(cell, code):
            used.update((id(rule), axis, value) for axis, value in {**cell.values, "exit": code}.items())
    return [
        f"{part} {value!r} of: {rule['reason']}"
        for rule in DATA[name]["known"]
        for part in {*DATA[name]["axes"], "exit"} & set(rule)
        for value in rule[part]
        if (id(rule), part, value) not in used
    ]


def run(
    program: str, cell: Cell, place: Path, names: Mapping[str, str], environment: Mapping[str, str],
    requests: Callable[[], list[Received]],
) -> Outcome:  # fmt: skip
    """Run a cell; returns exit code, output, the members of %{json}, and the requests that have come."""
    report = place / "report.json"
    report.unlink(missing_ok=True)
    stdin = DATA.get("input", "from standard input\n").encode()
    is_file = cell.values.get("body") == "stdin-file"
    with (place / "input").open("rb") as file:
        done = subprocess.run(
            [program, "-sS", "-m", "20", "-w", f"%output{{{report}}}%{{json}}", *cell.words(names)],
            cwd=place, env=dict(environment), capture_output=True, timeout=PATIENCE_SECONDS, check=False,
            **({"stdin": file} if is_file else {"input": stdin}),
        )  # fmt: skip
    outcome = Outcome({"exit code": done.returncode, "stdout": _masked(done.stdout)})
    members = json.loads(report.read_bytes()) if report.exists() else {}
    is_counted = not any("Digest" in value for request in requests() for value in _credentials(request))
    for name, value in members.items():
        if _TIMES.match(name) or (name == "size_request" and not is_counted):
            continue
        outcome.parts[f"json.{name}"] = _masked(value.encode()) if isinstance(value, str) else value
    received = requests()
    outcome.parts["number of requests"] = len(received)
    for number, request in enumerate(received, 1):
        outcome.parts[f"request {number}"] = _shown(request)
    return outcome


def _masked(data: bytes) -> str:
    """A text without what differs from run to run."""
    for pattern in _MASKS:
        data = pattern.sub(b"MASKED", data)
    return data.decode("latin-1")


def _credentials(request: Received) -> list[str]:
    return request.values("Authorization") + request.values("Proxy-Authorization")


def _shown(request: Received) -> tuple[Any, ...]:
    """A request without the place of its credentials, and without what is random in them."""
    fields = [
        (name.lower(), _masked(value.encode())) for name, value in request.headers
        if name.lower() not in ("authorization", "proxy-authorization")
    ]  # fmt: skip
    schemes = sorted(value if value.startswith("Basic") else value.split()[0] for value in _credentials(request))
    body = _BOUNDARY.sub(b"BOUNDARY", request.body)
    return request.method, request.target, fields, schemes, hashlib.sha256(body).hexdigest()[:12], len(body)


def pin_of(key: bytes) -> str:
    """Return the pin of a public key in PEM, as --pinnedpubkey takes it."""
    body = base64.b64decode(b"".join(key.splitlines()[1:-1]))
    return "sha256//" + base64.b64encode(hashlib.sha256(body).digest()).decode()


def differences(expected: Outcome, actual: Outcome) -> dict[str, str]:
    """What the second program did otherwise, by the name of the part."""
    names = [*expected.parts, *(name for name in actual.parts if name not in expected.parts)]
    return {
        name: f"curl {expected.parts.get(name)!r}, tool {actual.parts.get(name)!r}"[:400]
        for name in names
        if expected.parts.get(name) != actual.parts.get(name)
    }
