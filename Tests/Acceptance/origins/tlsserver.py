"""openssl s_server as an origin: versions, ciphers and certificates that no other server here offers."""

from __future__ import annotations

import socket
import subprocess

from harness.process import begin, end
from harness.waiting import PATIENCE_SECONDS

from origins.authority import Certificate


class TLSServer:
    """A running `openssl s_server -www`: it answers each request with a page, and closes the connection."""

    def __init__(self, certificate: Certificate, *arguments: str) -> None:
        # Bound by the server itself, which takes no socket from its parent; another program that gets the same port
        # in between makes the server fail, and then another port is tried.
        for _ in range(20):
            with socket.create_server(("127.0.0.1", 0)) as listener:
                self.port: int = listener.getsockname()[1]
            self._process = begin(
                [
                    "openssl", "s_server", "-accept", f"127.0.0.1:{self.port}", "-www",
                    "-cert", str(certificate.chain), "-key", str(certificate.key), *arguments,
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
            if self._accepts():
                break
            self.stop()
        self.url = f"https://127.0.0.1:{self.port}/"

    def _accepts(self) -> bool:
        """Wait for the line that says that the server listens; false if it ends before."""
        assert self._process.stdout is not None
        return any(line.startswith(b"ACCEPT") for line in self._process.stdout)

    def stop(self) -> None:
        end(self._process, PATIENCE_SECONDS)
        assert self._process.stdout is not None
        self._process.stdout.close()
