"""Programs that use all processors, beside which the benchmarks and the hostile tests load the daemon."""

from __future__ import annotations

BUSY = ["sh", "-c", "while :; do :; done"]
BUSY_PROGRAMS = 4
