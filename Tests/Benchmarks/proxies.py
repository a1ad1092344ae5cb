"""An HTTPS request through an HTTP proxy on this side of a long link. Needs squid, root, iproute2 and /dev/net/tun."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

from bench import Bench
from daemon import Daemon
from delay import DelayedLink
from origin import Origin, free_port
from report import Row, limit_row, ratio_row

SQUID = Path("/usr/sbin/squid")
FIRST_AIM_MS = 190
REUSED_AIM = 1.05

CONFIGURATION = """
http_port 127.0.0.1:{port}
http_access allow all
cache deny all
access_log none
cache_log {directory}/cache.log
pid_filename {directory}/squid.pid
coredump_dir none
shutdown_lifetime 0 seconds
visible_hostname squid.test
cache_effective_user proxy
"""


class Squid:
    """A running squid on loopback of a network namespace."""

    def __init__(self, directory: Path, prefix: tuple[str, ...]) -> None:
        """Start squid in `directory`, which must be new, and wait until it listens."""
        directory.mkdir(parents=True)
        # squid changes to another user.
        directory.parent.chmod(0o755)
        shutil.chown(directory, "proxy", "proxy")
        self.port = free_port()
        file = directory / "squid.conf"
        file.write_text(CONFIGURATION.format(port=self.port, directory=directory))
        command = [*prefix, str(SQUID), "-N", "-f", str(file)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        probe = [*prefix, "curl", "-s", "-o", "/dev/null", f"http://127.0.0.1:{self.port}/"]
        end = time.monotonic() + 30
        while subprocess.run(probe, check=False).returncode != 0:
            if self._process.poll() is not None or time.monotonic() > end:
                raise OSError("squid did not start")
            time.sleep(0.05)

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait(timeout=30)


def measure(bench: Bench) -> list[Row]:
    """Measure requests with and without the proxy in turn, on connections that are there."""
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists() or not SQUID.exists():
        print("proxies: needs squid, root and /dev/net/tun; left out")
        return []
    rounds = 15 if bench.quick else 101
    with DelayedLink(bench.scratch, one_way_ms=20) as link:
        origin = Origin(bench.scratch / "proxied-far", link.far_address, link.far)
        squid = Squid(bench.scratch / "proxied-squid", link.near)
        daemon = Daemon(bench.scratch / "proxied-near", link.near)
        try:
            return _compare(daemon, origin, f"http://127.0.0.1:{squid.port}", rounds)
        finally:
            daemon.stop()
            squid.stop()
            origin.stop()


def _compare(daemon: Daemon, origin: Origin, proxy: str, rounds: int) -> list[Row]:
    url = f"{origin.https}logged"
    # The daemon opens no file for a client with other mounts, and `ip netns exec` makes some.
    trust = {"ca_pem": origin.ca_file.read_text()}

    def seconds(through: dict[str, str]) -> float:
        began = time.monotonic()
        record = daemon.call("request.perform", url=url, trust=trust, **through)
        took = time.monotonic() - began
        if not record["outcome"]["ok"]:
            raise OSError(record["outcome"]["error"]["message"])
        return took

    proxied, direct = [], []
    for _ in range(rounds):
        proxied.append(seconds({"proxy": proxy}))
        direct.append(seconds({}))
    name = "https through an HTTP proxy, 40 ms round trip"
    return [
        limit_row(
            f"{name}: the first", proxied[0] * 1_000, "ms", FIRST_AIM_MS, f"without it: {direct[0] * 1_000:.0f} ms"
        ),
        ratio_row(f"{name}: the others, against those without it", "s", proxied[1:], direct[1:], REUSED_AIM),
        limit_row(f"{name}: connections, with and without it", origin.connections(2 * rounds), "", 2),
    ]
