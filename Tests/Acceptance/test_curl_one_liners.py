"""`carpool curl` against the real curl: output, exit codes and files of everyday command lines.

What curl 8.14.1 does is data: curl/expected.json. CURL_JUDGE=record writes it with the curl on PATH, and
CURL_JUDGE=curl compares it with the curl on PATH, which shows that the lines do the same each time.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.curljudge import EXPECTED, VERSION, Judge, cases, expected
from harness.daemon import CARPOOL, Daemon
from origins.authority import Authority
from origins.curlpages import CurlPages
from origins.nginx import Nginx

MODE = os.environ.get("CURL_JUDGE", "")
KNOWN = expected()


@pytest.fixture(scope="module")
def plain() -> Iterator[CurlPages]:
    origin = CurlPages()
    yield origin
    origin.stop()


@pytest.fixture(scope="module")
def secure(authority: Authority) -> Iterator[CurlPages]:
    origin = CurlPages(authority.issue("pages"))
    yield origin
    origin.stop()


@pytest.fixture
def judge(
    plain: CurlPages,
    secure: CurlPages,
    nginx: Nginx,
    authority: Authority,
    daemon: Daemon,
    tmp_path: Path,
) -> Iterator[Judge]:
    plain.forget()
    with socket.create_server(("127.0.0.1", 0)) as closed:
        refused = closed.getsockname()[1]
    names = {
        "http": f"http://127.0.0.1:{plain.port}",
        "host": f"127.0.0.1:{plain.port}",
        "port": str(plain.port),
        "https": f"https://127.0.0.1:{secure.port}",
        "sport": str(secure.port),
        "h2": nginx.https,
        "hport": nginx.https.rpartition(":")[2],
        "rport": str(refused),
        "ca": str(authority.ca_file),
        "refused": f"http://127.0.0.1:{refused}/",
    }
    program = shutil.which("curl") if MODE else shutil.which(CARPOOL)
    assert program is not None
    yield Judge(program, names, {"CARPOOL_SOCKET": str(daemon.socket)}, tmp_path)


def test_the_recorded_version() -> None:
    """Data of another version must not be recorded."""
    if MODE:
        version = subprocess.run(["curl", "-V"], capture_output=True, text=True, check=True).stdout
        assert version.startswith(f"curl {VERSION} ")
    assert MODE == "record" or sorted(KNOWN) == sorted(cases())


@pytest.mark.parametrize("line", cases())
def test_a_line(judge: Judge, daemon: Daemon, line: str) -> None:
    found = judge.run(line)
    if MODE == "record":
        data = expected()
        data[line] = found
        EXPECTED.write_text(json.dumps({line: data[line] for line in cases() if line in data}, indent=1) + "\n")
        return
    assert compared(found, line, daemon) == compared(KNOWN[line], line, daemon)


def compared(result: dict[str, Any], line: str, daemon: Daemon) -> dict[str, Any]:
    """What is compared: messages of failures, HTTP/2 and sizes are those of libcurl, which may be older than curl's."""
    if MODE or daemon.call("daemon.info")["libcurl"]["profile"] == "multiplex":
        return result
    is_of_libcurl = "{h2}" in line or "%{size_request}" in line
    return {"code": result["code"]} if is_of_libcurl else {**result, "stderr": ""}
