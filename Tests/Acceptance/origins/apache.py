"""apache2 as an origin with Digest and Basic authentication."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from harness.process import begin, end
from harness.waiting import PATIENCE_SECONDS

from origins.ports import await_ports, free_ports

USER, PASSWORD, REALM = "ada", "pass-of-the-origin", "the vault"
_CONFIGURATION = """
ServerName localhost
ServerRoot {directory}
Listen 127.0.0.1:{port}
PidFile {directory}/apache.pid
DefaultRuntimeDir {directory}
ErrorLog {directory}/error.log
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authn_core_module {modules}/mod_authn_core.so
LoadModule authn_file_module {modules}/mod_authn_file.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule authz_user_module {modules}/mod_authz_user.so
LoadModule auth_basic_module {modules}/mod_auth_basic.so
LoadModule auth_digest_module {modules}/mod_auth_digest.so
LoadModule alias_module {modules}/mod_alias.so
LoadModule headers_module {modules}/mod_headers.so
DocumentRoot {directory}/files
KeepAlive On
MaxKeepAliveRequests 0
<Location />
    Require all granted
</Location>
<Location /digest>
    AuthType Digest
    AuthName "{realm}"
    AuthUserFile {directory}/digest
    AuthDigestNonceLifetime {lifetime}
    Require valid-user
</Location>
<Location /basic>
    AuthType Basic
    AuthName "{realm}"
    AuthUserFile {directory}/basic
    Require valid-user
</Location>
"""


class Apache:
    """The files /digest/hello.txt and /basic/hello.txt, for one user."""

    def __init__(self, directory: Path, lifetime: int = 300) -> None:
        files = directory / "files"
        for place in ("digest/below", "basic/below"):
            (files / place).mkdir(parents=True)
            (files / place / "hello.txt").write_text("hello\n")
            (files / place).parent.joinpath("hello.txt").write_text("hello\n")
        digest = hashlib.md5(f"{USER}:{REALM}:{PASSWORD}".encode()).hexdigest()
        (directory / "digest").write_text(f"{USER}:{REALM}:{digest}\n")
        command = ["openssl", "passwd", "-apr1", "-stdin"]
        done = subprocess.run(command, input=PASSWORD, capture_output=True, text=True, check=True)
        (directory / "basic").write_text(f"{USER}:{done.stdout}")
        (port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        configuration = directory / "apache.conf"
        configuration.write_text(
            _CONFIGURATION.format(
                directory=directory, port=port, modules="/usr/lib/apache2/modules", realm=REALM, lifetime=lifetime
            )
        )
        # Its worker processes are not root, and have to read the files.
        for path in [directory, *directory.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        program = shutil.which("apache2") or "/usr/sbin/apache2"
        self._process = begin([program, "-f", str(configuration), "-D", "FOREGROUND"], stderr=subprocess.DEVNULL)

        await_ports(self._process, [port], directory / "error.log")

    def stop(self) -> None:
        end(self._process, PATIENCE_SECONDS)
