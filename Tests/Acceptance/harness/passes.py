"""Which modules of the suite run in which pass: `passes.toml`."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

SUITE = Path(__file__).resolve().parents[1]
CHOSEN = os.environ.get("CARPOOL_TEST_PASS", "")
"""The kinds of modules of a pass, such as `libcurl`, or parts of them, separated by blanks; otherwise all modules."""


def modules(chosen: str) -> list[str]:
    """Return the names of the modules of a kind or a part, without `test_` and `.py`."""
    kinds = tomllib.loads((SUITE / "passes.toml").read_text())
    if chosen in kinds:
        return [name for names in kinds[chosen].values() for name in names]
    return next(kind[chosen] for kind in kinds.values() if chosen in kind)


def is_left_out(path: Path) -> bool:
    """Whether the chosen pass runs without this module."""
    is_module = path.parent == SUITE and path.name.startswith("test_")
    chosen = [name for word in CHOSEN.split() for name in modules(word)]
    return bool(CHOSEN) and is_module and path.stem.removeprefix("test_") not in chosen
