"""Ways to start a program with fewer rights than its caller has."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from pathlib import Path

NOBODY = 65_534

# The filter lets everything pass but socket(AF_NETLINK, ...), which fails with EAFNOSUPPORT (97), as it does under a
# service manager's RestrictAddressFamilies=. The offsets are those of struct seccomp_data: call, first argument.
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_SOCKET = 41 if os.uname().machine == "x86_64" else 198
_AF_NETLINK, _EAFNOSUPPORT = 16, 97
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2


def as_nobody(program: str, directory: Path) -> Path:
    """Return a script that runs the program as another user without capabilities; that user owns the directory."""
    for path in [directory, *directory.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    script = directory / "as-nobody"
    drop = "setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all"
    script.write_text(f'#!/bin/sh\nexec {drop} {program} "$@"\n')
    script.chmod(0o755)
    return script


def without_netlink(program: str, directory: Path) -> Path:
    """Return a script that runs the program where it may not open a netlink socket."""
    script = directory / "without-netlink"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} {program} "$@"\n')
    script.chmod(0o755)
    return script


def _forbid_netlink() -> None:
    steps = [
        (_LOAD, 0, 0, 0),
        (_EQUAL, 0, 3, _SOCKET),
        (_LOAD, 0, 0, 16),
        (_EQUAL, 0, 1, _AF_NETLINK),
        (_RETURN, 0, 0, _ERRNO | _EAFNOSUPPORT),
        (_RETURN, 0, 0, _ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in [(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program, 0, 0)]:
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    _forbid_netlink()
    os.execv(sys.argv[1], sys.argv[1:])
