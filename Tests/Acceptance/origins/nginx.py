"""nginx as an origin: HTTP/1.1, and HTTPS with and without HTTP/2, over one set of files."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import random
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.process import end
from harness.waiting import PATIENCE_SECONDS, join

from origins.authority import Authority
from origins.nginxprocess import start_nginx

_HTTP = """
    default_type application/octet-stream;
    types {{ text/plain txt; application/json json; }}
    log_format connection escape=json '{{"connection":$connection,"number":$connection_requests,'
        '"method":"$request_method","target":"$request_uri","status":$status,"protocol":"$server_protocol",'
        '"port":$server_port,"agent":"$http_user_agent"}}';
    access_log {directory}/access.fifo connection;
    keepalive_timeout 300s;
    http2_max_concurrent_streams 256;
    client_max_body_size 64m;
    ssl_certificate {chain};
    ssl_certificate_key {key};
    server {{
        listen {address}:{http};
        listen {address}:{https} ssl http2;
        listen {address}:{https1} ssl;
        root {directory}/files;
        location /slow/ {{ alias {directory}/files/; limit_rate 64k; }}
        location /nothing {{ return 204; }}
        location /host {{ return 200 $host; }}
        location /missing {{ return 404 "no such thing\\n"; }}
        location /broken {{ return 500 "it broke\\n"; }}
        location /moved {{ return 302 /hello.txt; }}
        location /gzip/ {{ alias {directory}/files/; gzip on; gzip_types *; gzip_min_length 1; }}
        location /put/ {{ alias {directory}/put/; dav_methods PUT DELETE; create_full_put_path on; }}
        location /expects {{ if ($http_expect) {{ return 417; }} return 200 $content_length; }}
        location /fields {{ include {directory}/fields.conf; return 204; }}
        location /more-fields {{ include {directory}/more-fields.conf; return 204; }}
        location /held/ {{ proxy_pass http://127.0.0.1:{held}; proxy_read_timeout 120s; }}
    }}
"""


@dataclass(frozen=True)
class LogLine:
    """One request as nginx saw it."""

    connection: int
    number: int
    method: str
    target: str
    status: int
    protocol: str
    port: int
    agent: str


class Nginx:
    """A running nginx. `held` is the port of the origin behind /held/."""

    def __init__(self, directory: Path, authority: Authority, held: int, address: str = "127.0.0.1") -> None:
        self.directory = directory
        for name in ("files", "put"):
            (directory / name).mkdir(parents=True)
        self.hashes = _make_files(directory / "files")
        self._log: list[LogLine] = []
        self._logged = threading.Condition()
        self._reader = self._follow_log(directory / "access.fifo")
        # The ports are bound here and handed over, so that none is lost to another program and none refuses a
        # connection while nginx starts.
        sockets = [_listener(address) for _ in range(3)]
        http, https, https1 = (listener.getsockname()[1] for listener in sockets)
        # More fields than libcurl takes, and more than nghttp2 does.
        for name, count in (("fields", 5_001), ("more-fields", 25_000)):
            lines = (f"add_header x-{number} v;\n" for number in range(count))
            (directory / f"{name}.conf").write_text("".join(lines))
        certificate = authority.issue(f"nginx-{address}", f"DNS:localhost,IP:127.0.0.1,IP:::1,IP:{address}")
        configuration = _HTTP.format(
            directory=directory,
            address=address,
            chain=certificate.chain,
            key=certificate.key,
            http=http,
            https=https,
            https1=https1,
            held=held,
        )
        self._process = start_nginx(directory, configuration, sockets)
        self.http = f"http://{address}:{http}"
        self.https = f"https://{address}:{https}"
        """HTTPS with HTTP/2."""
        self.https1 = f"https://{address}:{https1}"
        """HTTPS with HTTP/1.1 alone."""

    def stop(self) -> None:
        end(self._process, PATIENCE_SECONDS)
        with (self.directory / "access.fifo").open("wb") as fifo:
            fifo.write(b"\n")
        join([self._reader])

    def log(self, count: int, matches: Callable[[LogLine], bool]) -> list[LogLine]:
        """Wait until nginx has logged `count` requests that match, and return all that do."""
        with self._logged:
            self._logged.wait_for(lambda: sum(map(matches, self._log)) >= count, PATIENCE_SECONDS)
            found = [line for line in self._log if matches(line)]
        assert len(found) >= count, f"{len(found)} of {count} requests reached the origin"
        return found

    def _follow_log(self, path: Path) -> threading.Thread:
        # A pipe instead of a file: nginx writes a line when it has finished a request, after the client has read the
        # answer, and only a pipe reports that as an event.
        os.mkfifo(path)
        descriptor = os.open(path, os.O_RDWR)
        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, 1 << 20)

        def follow() -> None:
            with os.fdopen(descriptor, "rb") as lines:
                while (line := lines.readline()) != b"\n":
                    with self._logged:
                        self._log.append(LogLine(**json.loads(line)))
                        self._logged.notify_all()

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        return thread


def _listener(address: str) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, 0))
    listener.listen(1024)
    return listener


def _make_files(directory: Path) -> dict[str, str]:
    """Make the files that are served, and return the SHA-256 of each."""
    dice = random.Random(7)
    files = {
        "hello.txt": b"hello, world\n",
        "empty.txt": b"",
        "200.bin": dice.randbytes(200),
        "20k.bin": dice.randbytes(20_000),
        "100k.bin": dice.randbytes(100_000),
        "1m.bin": dice.randbytes(1 << 20),
        "16m.bin": dice.randbytes(16 << 20),
        "words.txt": b" ".join(dice.choice([b"car", b"pool", b"daemon", b"curl"]) for _ in range(20_000)),
        "small.json": b'{"name": "carpool", "list": [1, 2.5, null, true], "text": "\xc3\xa9"}',
    }
    for name, content in files.items():
        (directory / name).write_bytes(content)
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
