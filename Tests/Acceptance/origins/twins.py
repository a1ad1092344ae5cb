"""Two nginx servers of one name at two addresses, with certificates of two authorities, that say what they see."""

from __future__ import annotations

import socket
from pathlib import Path

from harness.process import end
from harness.waiting import PATIENCE_SECONDS

from origins.authority import Authority
from origins.nginxprocess import start_nginx

NAMES = ["a.example", "b.example", "c.example"]
_SERVER = """
    server {{
        listen 127.0.0.{number}:{port} ssl {protocol};
        ssl_certificate {certificate.chain};
        ssl_certificate_key {certificate.key};
        ssl_verify_client optional;
        ssl_client_certificate {ca};
        location / {{ return 200 '{number}|$ssl_client_s_dn|$ssl_protocol|$http_host|$ssl_server_name|$http_x_tag'; }}
        location /to {{ return 307 https://$arg_host:$server_port/; }}
    }}
"""
_HTTP = """
    access_log off;
    ssl_session_cache shared:twins:1m;
    {servers}
"""


class Twins:
    """Server 1 at 127.0.0.1 and server 2 at 127.0.0.2, on one port for HTTP/1.1 and on one for HTTP/2."""

    def __init__(self, directory: Path, clients: Authority) -> None:
        directory.mkdir(parents=True)
        self.authorities = {number: Authority(directory / f"ca{number}", f"twin {number}") for number in (1, 2)}
        subject = ",".join(f"DNS:{name}" for name in NAMES)
        self.certificates = {number: each.issue("twin", subject) for number, each in self.authorities.items()}
        listeners = [listener for _ in range(2) for listener in _pair()]
        self.ports = [listeners[0].getsockname()[1], listeners[2].getsockname()[1]]
        servers = "".join(
            _SERVER.format(
                number=number, port=port, protocol=protocol, certificate=self.certificates[number], ca=clients.ca_file
            )
            for port, protocol in zip(self.ports, ["", "http2"], strict=True)
            for number in (1, 2)
        )
        self._process = start_nginx(directory, _HTTP.format(servers=servers), listeners)

    def stop(self) -> None:
        end(self._process, PATIENCE_SECONDS)


def _pair() -> list[socket.socket]:
    """Two listeners with the same port."""
    for _ in range(50):
        first = socket.create_server(("127.0.0.1", 0), backlog=512)
        try:
            return [first, socket.create_server(("127.0.0.2", first.getsockname()[1]), backlog=512)]
        except OSError:
            first.close()
    raise RuntimeError("no port is free at both addresses")
