"""TCP connections as the kernel lists them: /proc/net/tcp, see proc(5)."""

from __future__ import annotations

import contextlib
from pathlib import Path


def _established() -> list[tuple[int, int, int, int, str]]:
    """Return local and remote port, bytes to be sent and to be read, and timer of every established connection."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [
        (
            int(row[1].partition(":")[2], 16),
            int(row[2].partition(":")[2], 16),
            int(row[4].partition(":")[0], 16),
            int(row[4].partition(":")[2], 16),
            row[5],
        )
        for row in rows
        if row[3] == "01"
    ]


def unsent(port: int) -> int:
    """How many bytes wait in the kernel to be sent to a port."""
    return sum(count for _, remote, count, _, _ in _established() if remote == port)


def is_read(ports: tuple[int, int]) -> bool:
    """Whether the peer of a connection, whose ports are ours and the peer's, has read all that was sent to it."""
    rows = [row for row in _established() if row[:2] in {ports, ports[::-1]}]
    return sum(unsent if local == ports[0] else unread for local, _, unsent, unread, _ in rows) == 0


def is_stopped(port: int, to: int | None = None) -> bool:
    """Whether a connection from a port has bytes to send, but its peer's window is closed."""
    # Timer 04: the zero window probe timer.
    return any(
        local == port and to in {None, remote} and timer.startswith("04")
        for local, remote, _, _, timer in _established()
    )


def listens(process: int, port: int) -> bool:
    """Whether a process itself listens on a port: another program may have taken a port that was free a moment ago."""
    inodes = set()
    for table in ("tcp", "tcp6"):
        for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            local, _, state, *_, inode = row.split()[1:10]
            if state == "0A" and int(local.rpartition(":")[2], 16) == port:
                inodes.add(f"socket:[{inode}]")
    with contextlib.suppress(FileNotFoundError):
        return any(str(entry.readlink()) in inodes for entry in Path(f"/proc/{process}/fd").iterdir())
    return False
