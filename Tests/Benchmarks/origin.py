"""The origin of the benchmarks: nginx with HTTP, HTTPS with HTTP/2, and a certificate made for the run."""

from __future__ import annotations

import random
import socket
import subprocess
import time
from pathlib import Path

BODY = "x" * 200
JSON = '{"id": 1234567, "name": "a record of two hundred bytes", "tags": ["one", "two", "three"], "ratio": 0.618, \
"nested": {"is_set": true, "nothing": null, "list": [1, 2, 3, 4, 5, 6, 7, 8, 9]}, "end": "...."}'

PIECE = 1 << 20

CONFIGURATION = """
{user}
worker_processes 1;
pid {directory}/nginx.pid;
error_log {directory}/error.log;
events {{ worker_connections 2048; }}
http {{
    access_log off;
    default_type text/plain;
    keepalive_requests 100000000;
    keepalive_timeout 300s;
    http2_max_concurrent_streams 256;
    log_format connection '$connection $ssl_protocol $server_protocol';
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    server {{
        listen {address}:{http_port};
        listen {address}:{https_port} ssl http2;
        ssl_protocols {protocols};
        ssl_certificate {directory}/origin.pem;
        ssl_certificate_key {directory}/origin.key;
        location / {{ return 200 "{body}"; }}
        location /json {{ default_type application/json; return 200 '{json}'; }}
        location /digest {{
            if ($http_authorization = "") {{
                add_header WWW-Authenticate 'Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256' always;
                return 401;
            }}
            return 200 "{body}";
        }}
        location /open {{
            if ($http_authorization = "-") {{ return 401; }}
            return 200 "{body}";
        }}
        location /basic {{
            if ($http_authorization = "") {{
                add_header WWW-Authenticate 'Basic realm="r"' always;
                return 401;
            }}
            return 200 "{body}";
        }}
        location /files/ {{ sendfile on; root {directory}; }}
        location /put/ {{ dav_methods PUT; client_max_body_size 0; root {directory}; }}
        location /logged {{ access_log {directory}/access.log connection; return 200 "{body}"; }}
    }}
}}
"""


def free_port() -> int:
    """Return a port that has no listener at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def make_certificates(directory: Path, names: str) -> Path:
    """Make an authority and a certificate for `names` (a subjectAltName), and return the authority's file."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    for arguments in (
        ["req", "-x509", *key, "-days", "2", "-subj", "/CN=Benchmark CA", "-keyout", "ca.key", "-out", "ca.pem"],
        [
            "req",
            *key,
            "-subj",
            "/CN=origin",
            "-addext",
            f"subjectAltName={names}",
            "-keyout",
            "origin.key",
            "-out",
            "origin.csr",
        ],
        [
            "x509",
            "-req",
            "-in",
            "origin.csr",
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-days",
            "2",
            "-copy_extensions",
            "copy",
            "-out",
            "origin.pem",
        ],
    ):
        subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)
    return directory / "ca.pem"


class Origin:
    """A running nginx; `prefix` starts it elsewhere, in a network namespace for example."""

    def __init__(
        self,
        directory: Path,
        address: str = "127.0.0.1",
        prefix: tuple[str, ...] = (),
        protocols: str = "TLSv1.2 TLSv1.3",
    ) -> None:
        """Start nginx in `directory`, which must be new, and wait until it answers."""
        directory.mkdir(parents=True)
        (directory / "put").mkdir()
        self.directory = directory
        self.ca_file = make_certificates(directory, f"IP:{address},DNS:localhost")
        http_port, https_port = free_port(), free_port()
        self.http = f"http://{address}:{http_port}/"
        self.https = f"https://{address}:{https_port}/"
        configuration = CONFIGURATION.format(
            user="user root;",
            directory=directory,
            address=address,
            protocols=protocols,
            body=BODY,
            json=JSON,
            http_port=http_port,
            https_port=https_port,
        )
        (directory / "nginx.conf").write_text(configuration)
        command = [*prefix, "nginx", "-p", str(directory), "-c", str(directory / "nginx.conf"), "-g", "daemon off;"]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        probe = [*prefix, "curl", "-s", "-o", "/dev/null", "--retry", "50", "--retry-connrefused", "--retry-delay", "0"]
        subprocess.run([*probe, "--retry-max-time", "10", self.http], check=True)

    def make_file(self, name: str, size: int) -> str:
        """Make a file that is served below `files/`, no two pieces of it alike, and return its path there."""
        (self.directory / "files").mkdir(exist_ok=True)
        dice = random.Random(name)
        with (self.directory / "files" / name).open("wb") as file:
            for left in range(size, 0, -PIECE):
                file.write(dice.randbytes(min(PIECE, left)))
        return f"files/{name}"

    def connections(self, requests: int) -> int:
        """Count the TCP connections of this many finished requests, and clear the log."""
        log = self.directory / "access.log"
        end = time.monotonic() + 10
        # nginx logs a request after its last byte is out.
        while len(lines := log.read_text().splitlines()) < requests:
            assert time.monotonic() < end, f"{len(lines)} of {requests} requests are logged"
            time.sleep(0.01)
        log.write_text("")
        return len({line.split()[0] for line in lines})

    def stop(self) -> None:
        """End nginx."""
        self.process.terminate()
        self.process.wait(timeout=10)
