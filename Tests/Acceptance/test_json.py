"""The daemon's JSON means to another parser what it means to ours."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from harness.daemon import ROOT

CASES = [json.loads(line) for line in (ROOT / "Tests/Support/writer-cases.jsonl").read_text().splitlines()]


def number(text: str) -> Any:
    """A real as a double, and one beyond a double as its digits."""
    value = float(text)
    return Decimal(text) if value in {float("inf"), float("-inf")} else value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"][:24])
def test_what_is_written_means_what_was_read(case: dict[str, str]) -> None:
    assert json.loads(case["written"], parse_float=number) == json.loads(case["text"], parse_float=number)
    assert "\n" not in case["written"]
