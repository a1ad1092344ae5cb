"""nginx as an origin that asks for client certificates, and says whose it got."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path
from typing import Any

from harness.process import end
from harness.waiting import PATIENCE_SECONDS, eventually

from origins.authority import Authority, Certificate
from origins.nginxprocess import start_nginx

PASSWORD = "open sesame"
"""The password of the keys of :func:`issue_person`."""

_SERVER = """
    server {{
        listen 127.0.0.1:{port} ssl {protocol};
        ssl_verify_client {verify};
        ssl_client_certificate {ca};
        location / {{ return 200 "$ssl_client_s_dn $connection"; }}
        location /elsewhere {{ return 307 {other}/; }}
    }}
"""
_HTTP = """
    log_format shared escape=json '{{"connection":$connection,"session":"$http_x_session","host":"$http_host",'
        '"certificate":"$ssl_client_s_dn","serial":"$ssl_client_serial","tls":"$ssl_protocol",'
        '"address":"$remote_addr","http":"$server_protocol","resumed":"$ssl_session_reused","target":"$request_uri"}}';
    access_log {directory}/access.log shared;
    default_type text/plain;
    ssl_certificate {chain};
    ssl_certificate_key {key};
    ssl_session_cache shared:mutual:1m;
    {servers}
"""


def openssl(*arguments: str | Path) -> None:
    """Run a command of OpenSSL."""
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def files(certificate: Certificate) -> dict[str, str]:
    """The parameter `client_certificate`."""
    return {"file": str(certificate.chain), "key_file": str(certificate.key)}


def issue_person(authority: Authority) -> Certificate:
    """A certificate with the subject CN=person in the forms in which it is given: files beside it."""
    made = authority.issue("person")
    stem = made.key.with_suffix("")
    stem.with_suffix(".both").write_bytes(made.chain.read_bytes() + made.key.read_bytes())
    password = f"pass:{PASSWORD}"
    openssl("pkcs8", "-topk8", "-in", made.key, "-passout", password, "-out", stem.with_suffix(".locked"))
    pack: list[str | Path] = ["pkcs12", "-export", "-in", made.chain, "-inkey", made.key, "-passout", password]
    openssl(*pack, "-out", stem.with_suffix(".p12"))
    openssl(*pack, "-legacy", "-out", stem.with_suffix(".rc2"))
    stem.with_suffix(".password").write_text(PASSWORD + "\n")
    return made


class MutualNginx:
    """A running nginx. Each answer is the subject of the client's certificate and the number of the connection."""

    def __init__(self, directory: Path, authority: Authority) -> None:
        directory.mkdir(parents=True)
        self._log = directory / "access.log"
        sockets = [socket.create_server(("127.0.0.1", 0), backlog=512) for _ in range(3)]
        urls = [f"https://127.0.0.1:{listener.getsockname()[1]}" for listener in sockets]
        self.optional, self.optional2, self.required = urls
        """Asks for a certificate, over HTTP/1.1 and HTTP/2; answers 400 without one."""
        certificate = authority.issue("mutual")
        kinds = [("optional", ""), ("optional", "http2"), ("on", "")]
        servers = "".join(
            _SERVER.format(
                port=listener.getsockname()[1], protocol=protocol, verify=verify, ca=authority.ca_file,
                other=urls[1 - index] if index < 2 else urls[0],
            )
            for index, (listener, (verify, protocol)) in enumerate(zip(sockets, kinds, strict=True))
        )  # fmt: skip
        http = _HTTP.format(directory=directory, chain=certificate.chain, key=certificate.key, servers=servers)
        self._process = start_nginx(directory, http, sockets)

    def log(self, target: str, count: int) -> list[dict[str, Any]]:
        """Wait until `count` requests for a target are in the log, and return all that are there."""

        def found() -> list[dict[str, Any]]:
            # The last line may not be complete yet.
            lines = self._log.read_text().split("\n")[:-1]
            return [entry for entry in map(json.loads, lines) if entry["target"] == target]

        eventually(lambda: len(found()) >= count)
        return found()

    def stop(self) -> None:
        end(self._process, PATIENCE_SECONDS)
