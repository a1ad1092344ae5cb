"""Chains of certificates with chosen faults, made with openssl for one run."""

from __future__ import annotations

import base64
import functools
import hashlib
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from origins.authority import Certificate

_CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


def pin(certificate: Path) -> str:
    """The pin of the first certificate of a file, as curl writes it."""
    return _pin_of(certificate.read_bytes())


@functools.cache
def _pin_of(pem: bytes) -> str:
    key = subprocess.run(["openssl", "x509", "-pubkey", "-noout"], input=pem, capture_output=True, check=True)
    der = subprocess.run(
        ["openssl", "pkey", "-pubin", "-outform", "DER"], input=key.stdout, capture_output=True, check=True
    )
    return "sha256//" + base64.b64encode(hashlib.sha256(der.stdout).digest()).decode()


def _openssl(*arguments: str) -> bytes:
    return subprocess.run(["openssl", *arguments], check=True, capture_output=True).stdout


@dataclass
class Signer:
    """An authority, or an intermediate one."""

    directory: Path
    name: str
    parent: Signer | None = None
    serial: int = field(default=1)
    days: int = 30
    extensions: list[str] = field(default_factory=list)
    """In addition to those of an authority; one that names the same extension replaces it."""
    lists: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        self.file = self.directory / f"{self.name}.pem"
        self.key = self.directory / f"{self.name}.key"
        own = {text.partition("=")[0] for text in self.extensions}
        usual = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"]
        wanted = [text for text in usual if text.partition("=")[0] not in own] + self.extensions
        extensions = [word for text in wanted for word in ("-addext", text)]
        subject = ["-subj", f"/CN={self.name}"]
        if self.parent is None:
            _openssl(
                "req", "-x509", *_CURVE, "-days", "30", *subject, *extensions,
                "-keyout", str(self.key), "-out", str(self.file),
            )  # fmt: skip
        else:
            request = self.directory / f"{self.name}.csr"
            _openssl("req", *_CURVE, *subject, *extensions, "-keyout", str(self.key), "-out", str(request))
            self.parent.sign(request, self.file, days=self.days)

    def sign(self, request: Path, out: Path, days: int, *options: str) -> None:
        self.serial += 1
        _openssl(
            "x509", "-req", "-in", str(request), "-CA", str(self.file), "-CAkey", str(self.key),
            "-set_serial", str(self.serial), "-days", str(days), "-copy_extensions", "copy", "-out", str(out), *options,
        )  # fmt: skip

    def sign_for_later(self, request: Path, out: Path) -> None:
        """Sign a certificate that is valid in the future alone."""
        database = self.directory / f"{self.name}.later"
        database.write_text("")
        configuration = self.directory / f"{self.name}-later.cnf"
        configuration.write_text(
            f"[ca]\ndefault_ca=own\n[own]\ndatabase={database}\nnew_certs_dir={self.directory}\ndefault_md=sha256\n"
            "policy=any\nrand_serial=yes\ncopy_extensions=copy\n[any]\ncommonName=supplied\n"
        )
        _openssl(
            "ca", "-batch", "-config", str(configuration), "-cert", str(self.file), "-keyfile", str(self.key),
            "-startdate", "20900101000000Z", "-enddate", "20910101000000Z", "-notext", "-in", str(request),
            "-out", str(out),
        )  # fmt: skip

    def issue(
        self,
        name: str,
        subject: str = "DNS:localhost,IP:127.0.0.1",
        *,
        days: int = 30,
        sends_parents: bool = True,
        key: list[str] | None = None,
        common_name: str | None = None,
        extensions: tuple[str, ...] = (),
        digest: str = "sha256",
        is_for_later: bool = False,
        more: bytes = b"",
    ) -> Certificate:
        """A server's certificate, with the intermediate ones above it, before which the server sends `more`."""
        request, leaf, file = (self.directory / f"{name}.{suffix}" for suffix in ("csr", "leaf", "pem"))
        names = ["-addext", f"subjectAltName={subject}"] if subject else []
        names += [word for text in extensions for word in ("-addext", text)]
        _openssl(
            "req", *(key or _CURVE), "-subj", f"/CN={common_name or name}", *names,
            "-keyout", str(self.directory / f"{name}.key"), "-out", str(request),
        )  # fmt: skip
        if is_for_later:
            self.sign_for_later(request, leaf)
        else:
            self.sign(request, leaf, days, f"-{digest}")
        above = more
        parent: Signer | None = self
        while sends_parents and parent is not None and parent.parent is not None:
            above += parent.file.read_bytes()
            parent = parent.parent
        if above:
            (self.directory / f"{name}.above").write_bytes(above)
        file.write_bytes(leaf.read_bytes() + above)
        return Certificate(file, self.directory / f"{name}.key")

    def revocation_list(self, *revoked: Certificate, days: int = 30, extensions: str = "") -> Path:
        """A list of this authority; a negative number of days makes one that has ended."""
        database = self.directory / f"{self.name}.index"
        database.write_text("")
        configuration = self.directory / f"{self.name}.cnf"
        configuration.write_text(
            f"[ca]\ndefault_ca=own\n[own]\ndatabase={database}\ndefault_md=sha256\ncrlnumber={database}.number\n"
            f"certificate={self.file}\nprivate_key={self.key}\ncrl_extensions=extensions\n"
            "[reasons]\nonlysomereasons=keyCompromise\n[indirect]\nindirectCRL=TRUE\n[authorities]\nonlyCA=TRUE\n"
            f"[extensions]\nauthorityKeyIdentifier=keyid\n{extensions}\n"
        )
        Path(f"{database}.number").write_text("01\n")
        for certificate in revoked:
            _openssl("ca", "-config", str(configuration), "-revoke", str(certificate.chain))
        # Of its own: other tests use the lists that were made before.
        self.lists += 1
        out = self.directory / f"{self.name}-{self.lists}.crl"
        times = ["-crldays", str(days)]
        if days < 0:
            times = ["-crl_lastupdate", "200101000000Z", "-crl_nextupdate", "200102000000Z"]
        _openssl("ca", "-config", str(configuration), "-gencrl", *times, "-out", str(out))
        return out

    def staple(self, certificate: Certificate, status: str = "good", *, signer: Signer | None = None) -> Path:
        """The answer of an OCSP responder about a certificate that this authority has issued."""
        leaf = Path(str(certificate.chain).removesuffix(".pem") + ".leaf")
        number = _openssl("x509", "-in", str(leaf), "-serial", "-noout").decode().strip().removeprefix("serial=")
        flag, time = ("R", "250101000000Z") if status == "revoked" else ("V", "")
        index = self.directory / f"{certificate.chain.stem}.ocsp-index"
        index.write_text(f"{flag}\t351231235959Z\t{time}\t{number}\tunknown\t/CN={certificate.chain.stem}\n")
        out = self.directory / f"{certificate.chain.stem}.{status}.ocsp"
        request = self.directory / f"{certificate.chain.stem}.ocsp-request"
        _openssl(
            "ocsp", "-issuer", str(self.file), "-cert", str(leaf), "-no_nonce", "-reqout", str(request)
        )  # fmt: skip
        by = signer or self
        _openssl(
            "ocsp", "-index", str(index), "-CA", str(self.file), "-rsigner", str(by.file), "-rkey", str(by.key),
            "-reqin", str(request), "-respout", str(out), "-ndays", "7",
        )  # fmt: skip
        return out


def self_signed(directory: Path, name: str, subject: str = "DNS:localhost,IP:127.0.0.1") -> Certificate:
    """A certificate that has signed itself."""
    directory.mkdir(parents=True, exist_ok=True)
    file, key = directory / f"{name}.pem", directory / f"{name}.key"
    _openssl(
        "req", "-x509", *_CURVE, "-days", "30", "-subj", f"/CN={name}", "-addext", f"subjectAltName={subject}",
        "-keyout", str(key), "-out", str(file),
    )  # fmt: skip
    return Certificate(file, key)
