"""Interactive shells on a terminal, whose completions are tested key by key."""

from __future__ import annotations

import os
import pty
import select
import signal
import time
from collections.abc import Mapping
from pathlib import Path

from harness.waiting import PATIENCE_SECONDS

# Each shell: its arguments, and settings by which C-x c inserts all completions, and C-x p writes the line to a pipe.
SHELLS = {
    "bash": (
        ["bash", "--noprofile", "--norc", "-i"],
        """
        bind 'set bell-style none'
        bind '"\\C-xc": insert-completions'
        carpool_dump() { printf '%s\\n' "$READLINE_LINE" >&9; }
        bind -x '"\\C-xp": carpool_dump'
        """,
    ),
    "zsh": (
        ["zsh", "-f", "-i"],
        """
        autoload -Uz compinit && compinit -D
        unsetopt beep
        carpool_dump() { print -r -- "$BUFFER" >&9 }
        zle -N carpool_dump
        bindkey '^Xp' carpool_dump
        zstyle ':completion:everything:*' completer _all_matches _complete
        zstyle ':completion:everything:*' insert true
        zle -C everything complete-word _generic
        bindkey '^Xc' everything
        """,
    ),
}
INSERT_ALL = "\x18c"


class Typist:
    """A shell that has read a script of completions."""

    def __init__(self, shell: str, script: Path, variables: Mapping[str, str], directory: Path) -> None:
        arguments, settings = SHELLS[shell]
        pipe = directory / "lines"
        os.mkfifo(pipe)
        begin = directory / "begin"
        begin.write_text(f"exec 9>'{pipe}'\n{settings}\nsource '{script}'\necho ready >&9\n")
        self._lines = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        self._kept = b""
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.chdir(directory)
            os.execvpe(arguments[0], arguments, dict(variables) | {"TERM": "dumb", "PS1": "> "})
        self._send(f" . '{begin}'\n")
        assert self._line() == "ready"

    def after(self, keys: str) -> str:
        """Return the line after these keys, and clear it."""
        self._send(keys + "\x18p")
        line = self._line()
        self._send("\x15")
        return line

    def close(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._terminal)
        os.close(self._lines)

    def _send(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def _line(self) -> str:
        """The next line of the pipe; what the shell prints on the terminal meanwhile is dropped."""
        printed = b""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while b"\n" not in self._kept:
            left = deadline - time.monotonic()
            assert left > 0, printed.decode(errors="replace")
            ready, _, _ = select.select([self._terminal, self._lines], [], [], left)
            if self._lines in ready:
                self._kept += os.read(self._lines, 65_536)
            if self._terminal in ready:
                printed += os.read(self._terminal, 65_536)
        line, _, self._kept = self._kept.partition(b"\n")
        return line.decode()
