"""Where bodies are cut off: twenty bytes by a seed, the same for downloads and for uploads.

The seed and the points stand at the end of every run. CARPOOL_FAULT_SEED draws others, CARPOOL_FAULT_BYTES makes the
bodies larger: the points are spread over them, and each fault costs as much time as it takes to send them.
"""

from __future__ import annotations

import os
import random

SIZE = int(os.environ.get("CARPOOL_FAULT_BYTES", "3000017"))
SEED = int(os.environ.get("CARPOOL_FAULT_SEED", "4"))
POINTS = random.Random(SEED).sample(range(1, SIZE), 20)

SILENCE_MS = 4_000 + SIZE // 10_000
"""How long a stalled transfer lives: long enough for all twenty to reach their points."""


def told() -> str:
    return f"faults: seed {SEED}, bodies of {SIZE} bytes, cut at {', '.join(map(str, sorted(POINTS)))}"
