"""squid as a cache in memory, to compare decisions with."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from pathlib import Path

from harness.process import begin, end, own_name, remove_shared_memory
from harness.waiting import PATIENCE_SECONDS

from origins.ports import await_ports, free_ports
from origins.proxies import program

_CONFIGURATION = """
http_port 127.0.0.1:{port}
http_access allow all
cache_mem 64 MB
maximum_object_size_in_memory 512 KB
memory_cache_shared off
refresh_pattern . 0 0% 0
collapsed_forwarding off
via off
forwarded_for delete
access_log none
cache_log {directory}/cache.log
pid_filename {directory}/squid.pid
coredump_dir none
logfile_rotate 0
shutdown_lifetime 0 seconds
visible_hostname squid.test
cache_effective_user {user}
"""


class CachingSquid:
    """A shared cache in front of every origin, without heuristic freshness."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True)
        (self.port,) = free_ports(1)
        root = os.getuid() == 0
        user = "proxy" if root else pwd.getpwuid(os.getuid()).pw_name
        configuration = directory / "squid.conf"
        configuration.write_text(_CONFIGURATION.format(port=self.port, directory=directory, user=user))
        if root:
            shutil.chown(directory, user, user)
            directory.chmod(0o755)
        self.name = own_name("caching")
        command = [program("squid"), "-N", "-n", self.name, "-f", str(configuration)]
        self._process = begin(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        await_ports(self._process, [self.port], directory / "cache.log")

    def stop(self) -> None:
        try:
            end(self._process, PATIENCE_SECONDS)
        finally:
            remove_shared_memory(self.name)
