"""What carpool doctor says about how the connections of a request are shared, by the place where its body goes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import carpool
import pytest
from harness.command import OK, Run
from harness.daemon import CARPOOL
from harness.waiting import PATIENCE_SECONDS

URL = "https://api.example:8443/x"
PIPED = "not with requests that HTTP/2 sends at once, because whatever reads the output may be slow"
ALONE = "only with streams, downloads and uploads, which may be long"
IN_ORDER = "a connection carries one request at a time, then the next one"
AT_ONCE = "a connection carries many requests at once, if the server speaks HTTP/2"


def ordinary(client: carpool.Client) -> str:
    """How ordinary requests share connections over TLS, with this libcurl."""
    return AT_ONCE if client.call("daemon.info")["libcurl"]["profile"] == "multiplex" else IN_ORDER


@pytest.mark.parametrize(
    "options, line",
    [
        ([], PIPED),
        (["-i"], PIPED),
        (["--stream"], PIPED),
        (["--whole"], AT_ONCE),
        (["--http1.1"], IN_ORDER),
        (["-o", "file"], ALONE),
        (["--lines"], ALONE),
    ],
)
def test_the_doctor_says_how_a_piped_body_over_https_shares(
    run: Run, client: carpool.Client, options: list[str], line: str
) -> None:
    if line == AT_ONCE:
        line = ordinary(client)
    done = run("doctor", *options, URL)
    assert done.returncode == OK, done.stderr
    assert f"\nsharing      {line}" in done.stdout.decode()


def test_the_doctor_says_that_a_body_for_a_file_shares(
    variables: dict[str, str], client: carpool.Client, directory: Path
) -> None:
    with (directory / "report").open("wb") as report:
        subprocess.run([CARPOOL, "doctor", URL], env=variables, stdout=report, check=True, timeout=PATIENCE_SECONDS)
    assert f"\nsharing      {ordinary(client)}\n" in (directory / "report").read_text()
