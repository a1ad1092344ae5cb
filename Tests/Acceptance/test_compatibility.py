"""docs/compatibility.md knows every behaviour of the model, once, and names tests that exist."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from harness.daemon import ROOT

# How many behaviours each section of the model has.
SECTIONS = {
    "SE": 28, "RL": 30, "DR": 5, "ST": 13, "UP": 7, "MP": 15, "DL": 17, "PE": 14, "FE": 18, "HH": 10, "ME": 5, "VA": 10,
    "RS": 11, "RI": 11, "RT": 13, "AI": 14, "HA": 6, "TR": 13, "EM": 44, "NO": 11, "RH": 9, "CH": 12, "CO": 8, "NR": 12,
    "TM": 6, "SD": 8, "WS": 11, "AS": 9, "CU": 8,
}  # fmt: skip
ROW = re.compile(r"^\| (?P<ids>[^|]+) \| (?P<what>.+) \| (?P<verdict>.*\*\*.+) \| (?P<test>.*?) ?\|$", re.MULTILINE)
ID = re.compile(r"\b([A-Z]{2})-(\d{2})\b")
VERDICTS = ("**same**", "**better**", "**not applicable**", "**not yet**")
PAGE = (ROOT / "docs/compatibility.md").read_text()
ROWS = [match for match in ROW.finditer(PAGE) if ID.match(match["ids"])]


@pytest.mark.parametrize("section", SECTIONS)
def test_every_behaviour_has_one_row(section: str) -> None:
    found = Counter(f"{s}-{n}" for row in ROWS for s, n in ID.findall(row["ids"]) if s == section)
    assert dict(found) == {f"{section}-{number:02}": 1 for number in range(1, SECTIONS[section] + 1)}


def test_every_row_has_a_verdict_with_its_reason() -> None:
    for row in ROWS:
        verdict = row["verdict"]
        assert verdict.startswith(VERDICTS), row[0]
        for bare in ("**better**", "**not applicable**", "**not yet**"):
            assert verdict != bare, f"no reason: {row[0]}"


def test_what_is_there_is_tested() -> None:
    for row in ROWS:
        if not row["verdict"].startswith(("**not yet**", "**not applicable**")):
            assert row["test"], row[0]


def test_every_named_test_exists() -> None:
    python = {path.name: path.read_text() for path in (ROOT / "Tests/Acceptance").glob("test_*.py")}
    swift = {path.stem: path.read_text() for path in (ROOT / "Tests").rglob("*Tests.swift")}
    python |= {path.name: path.read_text() for path in (ROOT / "clients/python/tests").glob("test_*.py")}
    for row in ROWS:
        cell = row["test"]
        names = re.findall(r"`([^`]+)`", cell)
        assert not cell or names, row[0]
        for name in names:
            if match := re.fullmatch(r"(test_\w+\.py)::(\w+)(\[.+\])?", name):
                assert f"def {match[2]}(" in python.get(match[1], ""), name
            else:
                match = re.fullmatch(r"Swift: (\w+)\.(\w+)", name)
                assert match, name
                assert f"func {match[2]}(" in swift.get(match[1], ""), name


def test_the_page_is_read_as_it_is_meant() -> None:
    assert sum(SECTIONS.values()) == sum(len(ID.findall(row["ids"])) for row in ROWS if not row["ids"].startswith("F-"))
    assert Path(ROOT / "docs/compatibility.md").exists()
