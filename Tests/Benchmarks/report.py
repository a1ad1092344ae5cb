"""Rows of the result and their table."""

from __future__ import annotations

import dataclasses
import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One measured thing: ours beside the peer's, and whether the aim is met, if there is one."""

    what: str
    ours: str
    peer: str
    result: str
    aim: str
    is_met: bool | None

    def line(self) -> str:
        """Return the row in Markdown."""
        outcome = {True: "met", False: "**missed**", None: ""}[self.is_met]
        return f"| {self.what} | {self.ours} | {self.peer} | {self.result} | {self.aim} | {outcome} |"


def quantity(value: float, unit: str) -> str:
    """Return a number with three digits and its unit."""
    number = f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
    return f"{number} {unit}".strip()


def ratio_row(what: str, unit: str, ours: list[float], peer: list[float], aim: float | None) -> Row:
    """Compare alternating runs; without an aim the row only has the ratio.

    The ratio is the median of the ratios of the pairs, so that a slow minute of the machine hits both alike.
    """
    ratio = statistics.median(mine / other for mine, other in zip(ours, peer, strict=True))
    middle = statistics.median
    return Row(
        what,
        quantity(middle(ours), unit),
        quantity(middle(peer), unit),
        f"{ratio:.2f}",
        "" if aim is None else f"at most {aim:.2f}",
        None if aim is None else ratio <= aim,
    )


def least_row(what: str, unit: str, ours: list[float], peer: list[float], aim: float) -> Row:
    """Compare alternating runs of which more is better, as `ratio_row` does."""
    row = ratio_row(what, unit, ours, peer, None)
    ratio = statistics.median(mine / other for mine, other in zip(ours, peer, strict=True))
    return dataclasses.replace(row, aim=f"at least {aim:.2f}", is_met=ratio >= aim)


def limit_row(what: str, ours: float, unit: str, limit: float, peer: str = "") -> Row:
    """Compare a number with a limit."""
    measured = quantity(ours, unit)
    return Row(what, measured, peer, measured, f"at most {quantity(limit, unit)}", ours <= limit)


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    head = ["| what | carpool | peer | result | aim | outcome |", "| --- | --- | --- | --- | --- | --- |"]
    return "\n".join(head + [row.line() for row in rows])
