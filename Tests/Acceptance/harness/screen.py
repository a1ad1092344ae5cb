"""A terminal of tmux, in which commands run and whose text is read."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

from harness.daemon import CARPOOL, Daemon
from harness.waiting import PATIENCE_SECONDS, eventually

ENDING = {"kill-session", "kill-server", "capture-pane"}
"""Commands of tmux that may find nothing any more."""


class Screen:
    """A server of tmux with one terminal at a time."""

    def __init__(self, socket: Path, daemon: Daemon) -> None:
        self._command = ["tmux", "-S", str(socket), "-f", "/dev/null"]
        self._environment = {**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket), "LC_ALL": "C.UTF-8"}
        self._environment.pop("TMUX", None)

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._command, *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert done.returncode == 0 or arguments[0] in ENDING, f"tmux {arguments[0]}: {done.stderr}"
        return done.stdout

    def open(self, width: int, line: str) -> None:
        """Open a terminal of this width that runs a line of bash."""
        self._run(
            *["new-session", "-d", "-s", "only", "-x", str(width), "-y", "60", "bash", "-c", f"{line}; read -r _"],
            # Otherwise the server ends with its last session, and a new one may still find it.
            *[";", "set-option", "-g", "exit-empty", "off"],
        )

    def resize(self, width: int) -> None:
        """Change the width of the terminal, whose programs get SIGWINCH."""
        self._run("resize-window", "-t", "only", "-x", str(width))

    @property
    def text(self) -> str:
        """What the terminal shows."""
        return self._run("capture-pane", "-p", "-t", "only")

    def wait(self, condition: Callable[[str], bool]) -> str:
        """Wait until what it shows is so, and return it."""
        found = eventually(lambda: (text := self.text) and condition(text) and text)
        assert isinstance(found, str)
        return found

    def close(self) -> None:
        """Close the terminal: its programs get SIGHUP."""
        self._run("kill-session", "-t", "only")

    def show(self, width: int, *words: str) -> str:
        """Run the command on a terminal of this width, and return what it shows."""
        self.open(width, f"{shlex.join([CARPOOL, *words])}; echo END")
        text = self.wait(lambda text: "END" in text)
        self.close()
        return text[: text.rindex("END")]

    def stop(self) -> None:
        """End the server and all that runs in it."""
        self._run("kill-server")
