"""Cookies of the command (`-b`, `-c`, `-j`), with the real curl beside it."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from harness.command import HTTP_FAILURE, OK, RPC_ERROR, TRANSFER_FAILED, USAGE, Run
from harness.daemon import CARPOOL, Daemon
from harness.users import NOBODY, as_root
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import ScriptedOrigin

FAR = 4_102_444_800
HEADING = "# Netscape HTTP Cookie File\n"
FILE = HEADING + f"127.0.0.1\tFALSE\t/\tFALSE\t0\tsess\ts1\n127.0.0.1\tFALSE\t/\tFALSE\t{FAR}\tpers\tp1\n"
LINES = "Set-Cookie: z=1; path=/\n"
SET = [
    ("Set-Cookie", "srv=1"),
    ("Set-Cookie", "keep=2; Max-Age=3600; Path=/"),
    ("Set-Cookie", "h=3; HttpOnly; Path=/x"),
]


@pytest.fixture
def place(origin: ScriptedOrigin, tmp_path: Path) -> Path:
    origin.on("/set", lambda exchange: exchange.reply(headers=SET))
    origin.on("/away", lambda exchange: exchange.reply(302, headers=[*SET, ("Location", "/end")]))
    (tmp_path / "jar").write_text(FILE)
    (tmp_path / "lines").write_text(LINES)
    return tmp_path


def by_curl(place: Path, *arguments: str) -> None:
    command = ["curl", "-q", "-sSL", "--noproxy", "*", "-o", "/dev/null", *arguments]
    subprocess.run(command, check=True, timeout=PATIENCE_SECONDS, cwd=place, stdin=subprocess.DEVNULL)


def cookies(origin: ScriptedOrigin) -> list[str]:
    """The cookies of the last request; their order is that of the jar."""
    return sorted(re.split("; ?", "; ".join(origin.requests[-1].values("cookie"))))


@pytest.mark.parametrize("path", ["/", "/away"])
@pytest.mark.parametrize(
    "options",
    [
        ["-b", "a=b; c=d"],
        ["-b", "a=b;c=d"],
        ["-b", "a=b", "-b", "c=d"],
        ["-b", 'a="q; w"; b='],
        ["-b", "a=1=2"],
        ["-b", "a=x y"],
        ["-b", ""],
        ["-b", "jar"],
        ["-b", "jar", "-j"],
        ["-b", "lines"],
        ["-b", "jar", "-b", "lines", "-b", "a=b;c=d"],
        ["-b", "jar", "-b", "srv2=x"],
        ["-b", "missing"],
        ["-b", "missing", "-c", "out"],
        ["-c", "out"],
        ["-b", "a=b", "-c", "out"],
        ["-b", "a=b", "-H", "Cookie: x=y"],
    ],
)
def test_the_command_sends_the_cookies_that_curl_sends(
    run: Run, origin: ScriptedOrigin, place: Path, options: list[str], path: str
) -> None:
    done = run("get", *options, f"{origin.url}{path}")
    assert done.returncode == OK, done.stderr
    ours = cookies(origin)
    written = (place / "out").read_text() if "out" in options else ""
    by_curl(place, *options, f"{origin.url}{path}")
    assert ours == cookies(origin)
    assert stored(written) == stored((place / "out").read_text() if "out" in options else "")


def stored(text: str) -> list[list[str]]:
    """The cookies of a file without their expiry dates, which have passed seconds."""
    lines = [line for line in text.splitlines() if line and (not line.startswith("#") or line.startswith("#HttpOnly_"))]
    rows = sorted(line.split("\t") for line in lines)
    return [[*row[:4], "" if row[4] == "0" else "later", *row[5:]] for row in rows]


@pytest.mark.parametrize("options", [[], ["-o", "body"], ["--stream"]], ids=["whole", "download", "stream"])
def test_a_jar_for_several_runs(run: Run, origin: ScriptedOrigin, place: Path, options: list[str]) -> None:
    out = place / "own"
    assert run("get", *options, "-c", "own", f"{origin.url}/set").returncode == OK
    assert out.stat().st_mode & 0o777 == 0o600
    assert run("get", *options, "-b", "own", "-c", "own", f"{origin.url}/").returncode == OK
    assert cookies(origin) == ["keep=2", "srv=1"]
    assert sorted(row[5] for row in stored(out.read_text())) == ["h", "keep", "srv"]
    assert sorted(each.name for each in place.iterdir() if each.name.startswith(".")) == []
    # curl reads what the command has written.
    by_curl(place, "-b", "own", f"{origin.url}/")
    assert cookies(origin) == ["keep=2", "srv=1"]


def test_standard_input_and_output(run: Run, origin: ScriptedOrigin, place: Path) -> None:
    origin.on("/set", lambda exchange: exchange.reply(body=b"body\n", headers=SET))
    done = run("get", "-b", "-", "-c", "-", f"{origin.url}/set", stdin=FILE.encode())
    assert done.stdout.startswith(f"body\n{HEADING}".encode())
    assert len(stored(done.stdout.decode().removeprefix("body\n"))) == 5
    assert cookies(origin) == ["pers=p1", "sess=s1"]


def test_a_jar_with_a_second_name_is_closed_to_others(run: Run, origin: ScriptedOrigin, place: Path) -> None:
    jar = place / "jar"
    jar.chmod(0o644)
    (place / "other").hardlink_to(jar)
    assert run("get", "-b", "jar", "-c", "jar", f"{origin.url}/set").returncode == OK
    assert (place / "other").samefile(jar) and len(stored(jar.read_text())) == 5
    assert jar.stat().st_mode & 0o777 == 0o600


@as_root
def test_a_jar_in_a_folder_of_another_user_is_refused(variables: dict[str, str], origin: ScriptedOrigin) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        done = subprocess.run(
            [CARPOOL, "get", "-c", f"{folder}/own", origin.url],
            env=variables,
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            cwd="/",
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    message = f"carpool: cannot write the cookies to {folder}/own: Permission denied\n"
    assert (done.returncode, done.stderr.decode()) == (USAGE, message)


def test_a_jar_is_written_also_if_the_request_fails(run: Run, origin: ScriptedOrigin, place: Path) -> None:
    origin.on("/refused", lambda exchange: exchange.reply(404, headers=SET))
    assert run("get", "-f", "-b", "jar", "-c", "own", f"{origin.url}/refused").returncode == HTTP_FAILURE
    assert len(stored((place / "own").read_text())) == 5
    assert run("get", "-b", "jar", "-c", "other", "http://127.0.0.1:1/").returncode == TRANSFER_FAILED
    assert stored((place / "other").read_text()) == stored(FILE)


def test_a_missing_file_is_named(run: Run, origin: ScriptedOrigin, place: Path) -> None:
    warning = b"carpool: warning: missing does not exist, and no cookies are read from it\n"
    assert run("get", "-b", "missing", origin.url).stderr == warning
    assert run("get", "-b", "missing", "-c", "missing", origin.url).stderr == b""


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["-c", "absent/jar"], USAGE, b"cannot write the cookies to absent/jar"),
        (["-c", ""], USAGE, b"--cookie-jar"),
        (["-c", "."], USAGE, b"cannot write the cookies to .: Is a directory\nhint: -c takes the name of a file"),
        (["-c", "linked"], USAGE, b"cannot write the cookies to linked: Is a directory"),
        (["-c", "linked/"], USAGE, b"cannot write the cookies to linked/: Is a directory"),
        (["-c", "jar/own"], USAGE, b"cannot write the cookies to jar/own: Not a directory"),
        (["-b", "."], USAGE, b"cannot read the cookies"),
        (["-b", "big"], USAGE, b"big"),
        (["-b", "jar", "-b", "a=\x01"], RPC_ERROR, b"--cookie"),
    ],
)
def test_what_cannot_be_used_is_refused(
    run: Run, origin: ScriptedOrigin, place: Path, options: list[str], code: int, message: bytes
) -> None:
    (place / "big").write_text("#" * 1_048_577)
    (place / "linked").symlink_to(place)
    done = run("get", *options, origin.url)
    assert (done.returncode, message in done.stderr) == (code, True), done.stderr
    assert not origin.requests


def test_a_long_jar_is_read_in_pages(run: Run, origin: ScriptedOrigin, place: Path) -> None:
    lines = [f"127.0.0.1\tFALSE\t/only/{number}\tFALSE\t{FAR}\tname{number}\t{'v' * 3_000}\n" for number in range(150)]
    (place / "long").write_text(HEADING + "".join(lines))
    assert run("get", "-b", "long", "-c", "copy", origin.url).returncode == OK
    assert stored((place / "copy").read_text()) == stored((place / "long").read_text())


def test_cookies_of_the_command_line_stay_with_their_origin(
    run: Run, origin: ScriptedOrigin, other: ScriptedOrigin, place: Path
) -> None:
    """curl sends them to the other host too."""
    target = other.url.replace("127.0.0.1", "localhost")
    origin.on("/other", lambda exchange: exchange.reply(302, headers=[("Location", target)]))
    for options in [["-b", "a=secret"], ["-b", "a=secret", "-b", "jar"]]:
        assert run("get", *options, f"{origin.url}/other").returncode == OK
        assert "a=secret" in cookies(origin)
        assert cookies(other) == [""]


def test_the_jar_of_a_session_is_neither_used_nor_changed(
    run: Run, daemon: Daemon, origin: ScriptedOrigin, place: Path
) -> None:
    with daemon.client() as client:
        client.call("session.create", name="kept", configuration={"cookies": {}})
        client.call("cookies.set", session="kept", cookies=[{"name": "own", "value": "1", "domain": "127.0.0.1"}])
        jars: list[Any] = [client.call("cookies.list", session="kept")["cookies"]]
        for options, expected in [
            (["-b", "jar", "-c", "out"], ["pers=p1", "sess=s1"]),
            (["-b", "a=b"], ["a=b"]),
            (["-b", ""], [""]),
        ]:
            run("get", "--session", "kept", *options, f"{origin.url}/set")
            assert cookies(origin) == expected
            jars.append(client.call("cookies.list", session="kept")["cookies"])
    assert [[each["name"] for each in jar] for jar in jars] == [["own"]] * 4
    report = run("doctor", "-b", "jar", origin.url).stdout.decode()
    assert "pers, sess" in report or "sess, pers" in report, report
