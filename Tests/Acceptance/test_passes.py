"""Every module of the suite has its pass, so that a new one is not forgotten on the other libcurl."""

from __future__ import annotations

from collections import Counter

from harness.passes import SUITE, modules


def test_each_module_stands_once_in_the_list() -> None:
    there = Counter(path.stem.removeprefix("test_") for path in SUITE.glob("test_*.py"))
    listed = Counter(modules("libcurl") + modules("checked") + modules("once"))
    assert listed == there, f"to add to passes.toml: {there - listed}; to remove: {listed - there}"
