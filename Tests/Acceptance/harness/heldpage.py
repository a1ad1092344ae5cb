"""A page of memory that stays absent until the test releases it, like one of a FUSE file without a server."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import select
import struct
from collections.abc import Iterator

import pytest

from harness.waiting import PATIENCE_SECONDS

# linux/userfaultfd.h and asm/unistd.h; the number of the call is that of x86-64 and, second, of arm64.
_CALLS = {"x86_64": 323, "aarch64": 282}
_API, _REGISTER, _ZERO_PAGE = 0xC018AA3F, 0xC020AA00, 0xC020AA04
_VERSION, _MISSING = 0xAA, 1
_MESSAGE_BYTES = 32
_READ_WRITE, _PRIVATE_ANONYMOUS = 3, 0x22

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
LIBC.write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
LIBC.recv.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class HeldPage:
    """The page. A system call that copies from or to it waits inside the kernel, with the locks that it has taken."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._bytes = os.sysconf("SC_PAGE_SIZE")
        self._is_held = True
        fcntl.ioctl(descriptor, _API, struct.pack("QQQ", _VERSION, 0, 0))
        self.address: int = LIBC.mmap(None, self._bytes, _READ_WRITE, _PRIVATE_ANONYMOUS, -1, 0)
        fcntl.ioctl(descriptor, _REGISTER, struct.pack("QQQQ", self.address, self._bytes, _MISSING, 0))

    def wait(self) -> None:
        """Wait until a call waits for the page."""
        ready, _, _ = select.select([self._descriptor], [], [], PATIENCE_SECONDS)
        assert ready, "nothing waits for the page"
        os.read(self._descriptor, _MESSAGE_BYTES)

    def release(self) -> None:
        """Make the page present, full of zeros."""
        if self._is_held:
            fcntl.ioctl(self._descriptor, _ZERO_PAGE, struct.pack("QQQq", self.address, self._bytes, 0, 0))
        self._is_held = False


@contextlib.contextmanager
def held_page() -> Iterator[HeldPage]:
    """Make such a page; it is released at the end. The threads that wait for it must be joined inside."""
    number = _CALLS.get(os.uname().machine)
    descriptor = LIBC.syscall(number, os.O_CLOEXEC | os.O_NONBLOCK) if number else -1
    if descriptor < 0:
        pytest.skip("this user may not create a userfaultfd")
    try:
        page = HeldPage(descriptor)
        yield page
        page.release()
        LIBC.munmap(page.address, os.sysconf("SC_PAGE_SIZE"))
    finally:
        os.close(descriptor)
