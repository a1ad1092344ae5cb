"""`-u` of the command, with the real curl beside it: empty users, users in URLs, and schemes that are of no use."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path

import pytest
from harness.command import HTTP_FAILURE, OK, USAGE, Run
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import ScriptedOrigin
from test_credentials import DIGEST, challenging
from test_netrc import newest_curl


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
    assert [request.target for request in origin.requests] == ["/a@b?c=d@e"]
    if not newest_curl():
        return
    curl = ["curl", "-q", "-sS", "--noproxy", "*", "-o", "/dev/null", *options, url]
    subprocess.run(curl, check=True, cwd=tmp_path, timeout=PATIENCE_SECONDS)
    assert identity(origin) == expected


def test_an_empty_user_option_is_refused(run: Run, origin: ScriptedOrigin) -> None:
    done = run("get", "-u", "", origin.url)
    assert (done.returncode, b"--user is empty: it takes USER:PASSWORD" in done.stderr) == (USAGE, True), done.stderr
    assert not origin.requests


@pytest.mark.parametrize(
    ("challenge", "options", "warning"),
    [
        (
            DIGEST.format(1), ["-u", "ada:secret"],
            "user and password were sent as basic; the server offers digest with SHA-256, which the credential's "
            "schemes do not allow; use --digest or --anyauth",
        ),
        (
            'Basic realm="r"', ["-u", "ada:secret", "--digest"],
            "the credential was not used: the server offers basic, which the credential's schemes do not allow; "
            "use --basic or --anyauth",
        ),
        (
            'Digest realm="r", nonce="1", algorithm=SHA-384', ["-u", "ada:secret"],
            "user and password were sent as basic; the server offers digest with SHA-384, and of these the "
            "credential allows none that is supported (basic, digest)",
        ),
        (
            DIGEST.format(1), ["--netrc-file", "netrc"],
            "user and password were sent as basic; the server offers digest with SHA-256, which the credential's "
            "schemes do not allow; use --digest or --anyauth",
        ),
    ],
)  # fmt: skip
def test_the_warning_says_what_was_sent_and_what_to_do(
    run: Run, origin: ScriptedOrigin, tmp_path: Path, challenge: str, options: list[str], warning: str
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ada password secret\n")
    url = origin.on("/w", challenging(challenge))
    done = run("get", "-f", *options, url)
    assert done.returncode == HTTP_FAILURE
    assert f"carpool: warning: {warning}\n" in done.stderr.decode()
    assert ("were sent" in warning) == (identity(origin) == "ada:secret")


def test_the_warning_of_a_proxy_names_its_options(run: Run, origin: ScriptedOrigin) -> None:
    offer = [("Proxy-Authenticate", 'Basic realm="r"')]
    origin.on("http://a.test/", lambda exchange: exchange.reply(407, headers=offer))
    done = run("get", "-x", origin.url, "-U", "ada:secret", "--proxy-digest", "http://a.test/")
    assert (
        b"the credential was not used: the proxy offers basic, which the credential's schemes do not allow; "
        b"use --proxy-basic or --proxy-anyauth\n"
    ) in done.stderr


def test_the_doctor_says_what_is_sent_in_place_of_the_credential(run: Run, origin: ScriptedOrigin) -> None:
    mine = ["-u", "ada:secret"]
    for options, user, line in [
        ([*mine], "", "user ada, basic, at once (command line)"),
        ([*mine], "bob:other@", "user ada, basic, at once (command line)"),
        ([], "bob:other@", "user and password of the URL, basic, at once"),
        ([*mine, "-H", "Authorization: Bearer x"], "", "the field Authorization, which is sent as it is"),
        (["-H", "Authorization: Bearer x"], "bob:other@", "the field Authorization, which is sent as it is"),
    ]:
        url = f"http://{user}{origin.url.removeprefix('http://')}/"
        done = run("doctor", *options, url)
        assert f"credential   {line}\n" in done.stdout.decode(), done
        assert b"secret" not in done.stdout and b"bob" not in done.stdout and b"Bearer" not in done.stdout
        run("get", *options, url)
        expected = "ada:secret" if "ada" in line else "bob:other" if "URL" in line else "Bearer x"
        assert identity(origin) == expected
