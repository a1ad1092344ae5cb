"""httpbin as an origin: an independent implementation that returns the request as JSON."""

from __future__ import annotations

import socket
import sys
import urllib.request
from pathlib import Path

from harness.process import begin, end
from harness.waiting import PATIENCE_SECONDS


class Httpbin:
    """A running httpbin, served over HTTP/1.1 by a gunicorn in a process of its own."""

    def __init__(self, directory: Path) -> None:
        # Bound here and handed over: no other program takes the port, and what comes early waits instead of failing.
        with socket.create_server(("127.0.0.1", 0), backlog=128) as listener, (directory / "log").open("wb") as log:
            self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            self._process = begin(
                [
                    sys.executable, "-m", "gunicorn", "--bind", f"fd://{listener.fileno()}", "--no-control-socket",
                    "--worker-class", "gthread", "--threads", "8", "--keep-alive", "300", "--graceful-timeout", "1",
                    "httpbin:app",
                ],
                cwd=directory,
                pass_fds=[listener.fileno()],
                stdout=log,
                stderr=log,
            )  # fmt: skip
        try:
            urllib.request.urlopen(f"{self.url}/status/200", timeout=PATIENCE_SECONDS).close()
        except OSError as error:
            self.stop()
            raise AssertionError((directory / "log").read_text()) from error

    def stop(self) -> None:
        end(self._process, PATIENCE_SECONDS)
