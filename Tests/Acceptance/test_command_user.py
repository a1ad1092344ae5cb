"""`-u` of the command, with the real curl beside it: empty users, and users in URLs."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path

import pytest
from harness.command import OK, USAGE, Run
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import ScriptedOrigin


def identity(origin: ScriptedOrigin) -> str:
    """Return the user and the password of the last request."""
    field = next(iter(origin.requests[-1].values("authorization")), "")
    return base64.b64decode(field.removeprefix("Basic ")).decode() if field.startswith("Basic ") else field


@pytest.mark.parametrize(
    ("options", "user", "expected"),
    [
        (["-u", ":token"], "", ":token"),
        (["-u", ":"], "", ":"),
        (["-u", "ada:"], "", "ada:"),
        (["-u", "ada:se:cret"], "", "ada:se:cret"),
        (["-u", "ada:secret"], "bob@", "ada:secret"),
        (["-u", "ada:secret"], "bob:other@", "ada:secret"),
        (["-u", "ada:secret"], ":other@", "ada:secret"),
        (["-u", "ada:secret"], "@", "ada:secret"),
        (["-u", "ada:"], "bob:other@", "ada:"),
        (["-u", ":token"], "bob:other@", ":token"),
        (["-u", "ada:secret", "-H", "Authorization: Bearer x"], "bob:other@", "Bearer x"),
        (["-u", "ada:secret", "--netrc-file", "netrc"], "bob@", "ada:secret"),
        ([], "bob:other@", "bob:other"),
    ],
)
def test_the_user_of_the_command_line_is_sent_as_curl_sends_it(
    run: Run, origin: ScriptedOrigin, tmp_path: Path, options: list[str], user: str, expected: str
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login bob password third\n")
    url = f"http://{user}{origin.url.removeprefix('http://')}/a@b?c=d@e"
    done = run("get", *options, url)
    assert (done.returncode, identity(origin)) == (OK, expected), done.stderr
    curl = ["curl", "-q", "-sS", "--noproxy", "*", "-o", "/dev/null", *options, url]
    subprocess.run(curl, check=True, cwd=tmp_path, timeout=PATIENCE_SECONDS)
    assert identity(origin) == expected
    assert [request.target for request in origin.requests] == ["/a@b?c=d@e"] * 2


def test_an_empty_user_option_is_refused(run: Run, origin: ScriptedOrigin) -> None:
    done = run("get", "-u", "", origin.url)
    assert (done.returncode, b"--user is empty: it takes USER:PASSWORD" in done.stderr) == (USAGE, True), done.stderr
    assert not origin.requests
