"""A process of nginx with the settings that every one of the tests has."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

from harness.process import begin

_CONFIGURATION = """
{user}
worker_processes 1;
daemon off;
pid {directory}/nginx.pid;
error_log {directory}/error.log;
events {{ worker_connections 4096; }}
http {{
    keepalive_requests 100000;
    ssl_protocols TLSv1.2 TLSv1.3;
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    {http}
}}
"""


def start_nginx(directory: Path, http: str, listeners: list[socket.socket]) -> subprocess.Popen[bytes]:
    """Start nginx with the contents of its block `http`; it takes over the sockets, on which its servers listen."""
    user = "user root;" if os.getuid() == 0 else ""
    configuration = directory / "nginx.conf"
    configuration.write_text(_CONFIGURATION.format(user=user, directory=directory, http=http))
    descriptors = [listener.fileno() for listener in listeners]
    process = begin(
        [shutil.which("nginx") or "/usr/sbin/nginx", "-p", str(directory), "-c", str(configuration)],
        env={**os.environ, "NGINX": "".join(f"{descriptor};" for descriptor in descriptors)},
        pass_fds=descriptors,
        stderr=subprocess.DEVNULL,
    )
    for listener in listeners:
        listener.close()
    return process
