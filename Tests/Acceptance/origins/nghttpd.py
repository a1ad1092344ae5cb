"""nghttpd as an origin: HTTP/2 by another implementation than nginx's."""

from __future__ import annotations

from pathlib import Path

from harness.process import begin, end
from harness.waiting import PATIENCE_SECONDS

from origins.authority import Authority
from origins.ports import await_ports, free_ports


class Nghttpd:
    """A running nghttpd that serves a folder over HTTPS, and sends back what is posted."""

    def __init__(self, directory: Path, authority: Authority, files: Path) -> None:
        certificate = authority.shared("nghttpd")
        directory.mkdir()
        (port,) = free_ports(1)
        with (directory / "nghttpd.log").open("wb") as output:
            self._process = begin(
                [
                    "nghttpd", "--address=127.0.0.1", f"--htdocs={files}", "--echo-upload", "--verbose",
                    str(port), str(certificate.key), str(certificate.chain),
                ],
                stdout=output,
            )  # fmt: skip
        self.https = f"https://127.0.0.1:{port}"

        await_ports(self._process, [port], directory / "nghttpd.log")

    def stop(self) -> None:
        end(self._process, PATIENCE_SECONDS)
