"""Proxies: squid for HTTP and HTTPS, tinyproxy, microsocks for SOCKS 5, and one of a Perl module for SOCKS 4."""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import subprocess
from pathlib import Path
from typing import Any

import carpool
import pytest
from harness.daemon import ROOT
from harness.process import begin, end, own_name, remove_shared_memory
from harness.waiting import PATIENCE_SECONDS, eventually

from origins.authority import Authority, Certificate
from origins.ports import await_ports, free_ports

NEEDS_USER = "session_task_failed.proxy.authentication_required"
USER, PASSWORD = "ada", "pass-of-the-proxy"
OTHER, OTHER_PASSWORD = "bob", "other-pass-of-the-proxy"
PERCENT = ("p%41", "x%42y%")
MORE = [("eve", "third-pass-of-the-proxy"), ("mallory", "fourth-pass-of-the-proxy")]
_SQUID = """
http_port 127.0.0.1:{plain} name=plain
http_port 127.0.0.1:{basic} name=basic
https_port 127.0.0.1:{secure} name=secure tls-cert={certificate.chain} tls-key={certificate.key}
auth_param basic program /usr/lib/squid/basic_ncsa_auth {directory}/users
auth_param basic realm proxy
auth_param basic credentialsttl 1 hour
auth_param digest program /usr/lib/squid/digest_file_auth -c {directory}/digests
auth_param digest realm proxy
auth_param digest nonce_strictness on
acl basic myportname basic
acl user proxy_auth REQUIRED
acl refused port 9
http_access deny CONNECT refused
http_access allow !basic
http_access allow basic user
http_access deny all
cache deny all
logformat short %>p %rm %ru %un %>Hs
logfile_rotate 0
buffered_logs off
access_log stdio:{directory}/access.log short
cache_log {directory}/cache.log
pid_filename {directory}/squid.pid
coredump_dir none
shutdown_lifetime 0 seconds
visible_hostname squid.test
hosts_file {directory}/hosts
connect_timeout 5 seconds
forwarded_for delete
cache_effective_user {user}
"""


class Squid:
    """A squid with three ports: without a user, with one (Basic or Digest), and with TLS. It resolves `only.squid`."""

    def __init__(self, directory: Path, certificate: Certificate) -> None:
        self.directory = directory
        directory.mkdir(parents=True)
        self.plain, self.basic, self.secure = free_ports(3)
        root = os.getuid() == 0
        user = "proxy" if root else pwd.getpwuid(os.getuid()).pw_name
        users = [(USER, PASSWORD), (OTHER, OTHER_PASSWORD), *MORE]
        lines = [f"{name}:{_crypted(password)}\n" for name, password in [*users, PERCENT]]
        (directory / "users").write_text("".join(lines))
        digests = [
            f"{name}:proxy:{hashlib.md5(f'{name}:proxy:{password}'.encode()).hexdigest()}\n" for name, password in users
        ]
        (directory / "digests").write_text("".join(digests))
        (directory / "hosts").write_text("127.0.0.1 localhost only.squid\n")
        configuration = directory / "squid.conf"
        configuration.write_text(
            _SQUID.format(
                plain=self.plain, basic=self.basic, secure=self.secure, certificate=certificate, directory=directory,
                user=user,
            )
        )  # fmt: skip
        if root:
            shutil.chown(directory, user, user)
            directory.chmod(0o755)
        self._log = directory / "access.log"
        # Its shared memory has this name.
        self.name = own_name("carpool")
        command = [program("squid"), "-N", "-n", self.name, "-f", str(configuration)]
        self._process = begin(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        await_ports(self._process, [self.plain, self.basic, self.secure], directory / "cache.log")

    def log(self, part: str, count: int) -> list[list[str]]:
        """Return the lines with this text, when there are so many: port, method, URL, user, status."""
        found: list[list[str]] = []

        def has_all() -> bool:
            lines = self._log.read_text().splitlines() if self._log.exists() else []
            found[:] = [line.split() for line in lines if part in line]
            return len(found) >= count

        eventually(has_all)
        return found

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(PATIENCE_SECONDS)

    def stop(self) -> None:
        try:
            end(self._process, PATIENCE_SECONDS)
        finally:
            remove_shared_memory(self.name)


class Socks:
    """SOCKS 5, without and with a user and a password, and SOCKS 4."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True)
        self.plain, self.basic, self.four = free_ports(3)
        micro = [program("microsocks"), "-i", "127.0.0.1", "-p"]
        commands = [
            [*micro, str(self.plain)],
            [*micro, str(self.basic), "-u", USER, "-P", PASSWORD],
            [str(ROOT / "Tests/Support/socks4-proxy"), str(self.four)],
        ]
        self._processes = [begin(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for command in commands]
        for process, port in zip(self._processes, [self.plain, self.basic, self.four], strict=True):
            await_ports(process, [port], directory / "error.log")

    def stop(self) -> None:
        for process in self._processes:
            end(process, PATIENCE_SECONDS)


class Tinyproxy:
    """A tinyproxy that requires a user."""

    password = "PasswordOfTinyproxy"

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True)
        (self.port,) = free_ports(1)
        configuration = directory / "tinyproxy.conf"
        lines = [f"Port {self.port}", "Listen 127.0.0.1", "Timeout 60", f'LogFile "{directory}/error.log"']
        configuration.write_text("\n".join([*lines, f"BasicAuth {USER} {self.password}", ""]))
        command = [program("tinyproxy"), "-d", "-c", str(configuration)]
        self._process = begin(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        await_ports(self._process, [self.port], directory / "error.log")

    def stop(self) -> None:
        end(self._process, PATIENCE_SECONDS)


def program(name: str) -> str:
    found = shutil.which(name) or shutil.which(f"/usr/sbin/{name}")
    if found is None:
        pytest.fail(f"{name} is not installed")
    return found


def _crypted(password: str) -> str:
    command = ["openssl", "passwd", "-apr1", "-stdin"]
    return subprocess.run(command, input=password, capture_output=True, text=True, check=True).stdout.strip()


def perform(client: carpool.Client, url: str, **params: Any) -> dict[str, Any]:
    record: dict[str, Any] = client.call("request.perform", url=url, **params)
    return record


def failure(client: carpool.Client, url: str, **params: Any) -> str:
    return str(perform(client, url, **params)["outcome"]["error"]["name"])


def hops(record: dict[str, Any]) -> list[dict[str, Any]]:
    metrics: list[dict[str, Any]] = record["attempts"][-1]["metrics"]
    return metrics


def trusting(authority: Authority) -> dict[str, Any]:
    return {"trust": {"ca_file": str(authority.ca_file)}}
