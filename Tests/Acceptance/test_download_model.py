"""A resumed download is one version, byte for byte, or fails: random histories of mirrors, tokens and partial files."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from conftest import StartDaemon
from harness.daemon import Daemon
from harness.histories import History
from origins.scripted import ScriptedOrigin

COUNT = int(os.environ.get("CARPOOL_HISTORIES", "40"))
SEED = int(os.environ.get("CARPOOL_HISTORIES_SEED", "2611"))
BATCH = 20
STEPS = 8


@pytest.mark.parametrize("batch", range(-(-COUNT // BATCH)))
def test_a_resumed_download_is_one_version(
    start: StartDaemon, origin: ScriptedOrigin, folder: Path, batch: int
) -> None:
    dice = random.Random(f"{SEED} {batch}")
    daemon: Daemon = start()
    wire = daemon.wire()
    resumed = 0
    for number in range(BATCH):
        history = History(dice, origin, folder, f"h{number}")
        for _ in range(dice.randrange(1, STEPS)):
            kind = dice.random()
            if kind < 0.5:
                history.download(wire)
            elif kind < 0.75:
                history.damage()
            elif not history.interrupt(daemon, wire):
                wire.close()
                daemon = start()
                wire = daemon.wire()
        history.finish(wire)
        resumed += history.resumed
    wire.close()
    assert resumed > 0, "no download was resumed"
