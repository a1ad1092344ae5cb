"""The cases that several languages read, from Tests/Support/vectors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_DIRECTORY = Path(__file__).resolve().parents[2] / "Support" / "vectors"


def lines(name: str) -> list[str]:
    """Return the rows of a file as they stand."""
    # Not splitlines: texts hold separators of Unicode's that end no row.
    return (_DIRECTORY / f"{name}.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n")


def rows(name: str) -> Iterator[dict[str, Any]]:
    for line in lines(name):
        row: dict[str, Any] = json.loads(line)
        yield row


def verbatim(line: str, member: str) -> str:
    """Return the text of a row's first member: Python's own numbers cannot hold all that JSON's can."""
    start = f'{{"{member}": '
    assert line.startswith(start), line
    _, end = json.JSONDecoder().raw_decode(line, len(start))
    return line[len(start) : end]
