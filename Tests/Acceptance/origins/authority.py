"""Certificates made for one run."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

LOCAL = "DNS:localhost,IP:127.0.0.1,IP:::1"


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key, in files."""

    chain: Path
    key: Path


class Authority:
    """A certificate authority that only the tests trust, by `ca_file`."""

    def __init__(self, directory: Path, name: str = "Carpool tests") -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.ca_file = directory / "ca.pem"
        self._shared: dict[tuple[str, str], Certificate] = {}
        self._openssl(
            "req", "-x509", *_KEY, "-days", "2", "-subj", f"/CN={name}", "-keyout", "ca.key", "-out", "ca.pem"
        )

    def issue(self, name: str, subject: str = LOCAL, *, days: int = 2) -> Certificate:
        """Make a certificate for a subjectAltName; a negative number of days makes one that has ended."""
        self._openssl(
            "req", *_KEY, "-subj", f"/CN={name}", "-addext", f"subjectAltName={subject}",
            "-keyout", f"{name}.key", "-out", f"{name}.csr",
        )  # fmt: skip
        self._openssl(
            "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", str(days), "-copy_extensions", "copy", "-out", f"{name}.pem",
        )  # fmt: skip
        return Certificate(self.directory / f"{name}.pem", self.directory / f"{name}.key")

    def shared(self, name: str, subject: str = LOCAL) -> Certificate:
        """Return the certificate of this name, which is made at the first call."""
        if (name, subject) not in self._shared:
            self._shared[name, subject] = self.issue(name, subject)
        return self._shared[name, subject]

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self.directory, check=True, capture_output=True)
