"""nghttpd as an origin: HTTP/2 by another implementation than nginx's."""

from __future__ import annotations

import re
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
        self._log = directory / "nghttpd.log"
        with self._log.open("wb") as output:
            self._process = begin(
                [
                    "nghttpd", "--address=127.0.0.1", f"--htdocs={files}", "--echo-upload", "--verbose",
                    str(port), str(certificate.key), str(certificate.chain),
                ],
                stdout=output,
            )  # fmt: skip
        self.https = f"https://127.0.0.1:{port}"
        await_ports(self._process, [port], self._log)

    def head(self, mark: str) -> dict[str, str]:
        """Return the fields of the received request that has this value in the field x-mark."""
        heads: dict[tuple[str, str], dict[str, str]] = {}
        text = re.sub(r"\x1b\[[\d;]*m", "", self._log.read_text(errors="replace"))
        line = r"^\[id=(\d+)\] .* recv \(stream_id=(\d+)\) (\S+): (.*)$"
        for connection, stream, name, value in re.findall(line, text, re.MULTILINE):
            heads.setdefault((connection, stream), {})[name] = value
        return next(head for head in heads.values() if head.get("x-mark") == mark)

    def stop(self) -> None:
        end(self._process, PATIENCE_SECONDS)
