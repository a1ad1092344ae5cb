"""What `carpool curl` leaves to the real curl, and how it finds it: on PATH, and never itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.daemon import CARPOOL, Daemon
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import ScriptedOrigin

UNSUPPORTED_SCHEME, FAILED_INIT = 1, 2
SHELL_TOOLS = ["bash", "cat", "sh", "env"]

Line = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """The only directory of programs: a link to carpool called curl, and what the lines need."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "curl").symlink_to(CARPOOL)
    (tools / "carpool").symlink_to(CARPOOL)
    for name in SHELL_TOOLS:
        (tools / name).symlink_to(shutil.which(name) or name)
    return tools


def stand_in(folder: Path) -> Path:
    """A program called curl that says how it was called."""
    folder.mkdir(exist_ok=True)
    program = folder / "curl"
    # Not env or a shell builtin that changes arguments: each is printed between marks, and standard input after them.
    program.write_text('#!/bin/bash\nprintf "<%s>" "$0" "$@"\nprintf "\\n"\ncat\nexit 77\n')
    program.chmod(0o755)
    return program


@pytest.fixture
def line(variables: dict[str, str], tools: Path, tmp_path: Path) -> Line:
    """Run a line of bash with a PATH."""

    def run(text: str, path: str = "", stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(tools / "bash"), "-c", text],
            env={**variables, "HOME": str(tmp_path), "PATH": path or str(tools)},
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


ODD = ["--ftp-port", "-", "-d", "a b", "-H", "X: ' \" \\ \t", "", "ftp://127.0.0.1:1/\udce9"]


def test_the_real_curl_gets_the_arguments_as_they_are(
    variables: dict[str, str], tools: Path, tmp_path: Path, daemon: Daemon
) -> None:
    real = stand_in(tmp_path / "real")
    environment = {**variables, "HOME": str(tmp_path), "PATH": f"{tools}:{real.parent}"}
    for command in (["curl"], ["carpool", "curl"]):
        done = subprocess.run(
            [*command, *ODD], env=environment, executable=str(tools / command[0]), input=b"from standard input",
            capture_output=True, timeout=PATIENCE_SECONDS, check=False,
        )  # fmt: skip
        words = "".join(f"<{word}>" for word in [str(real), *ODD]).encode("utf-8", "surrogateescape")
        assert done.stdout, done.stderr
        assert done.stdout == words + b"\nfrom standard input"
        assert done.returncode == 77
        # One line says why; nothing was sent.
        assert done.stderr.decode().count("\n") == 1
        assert "carpool" in done.stderr.decode()
    assert not daemon.call("request.list", scope="all")["requests"]


@pytest.mark.parametrize("first", ["link", "relative", "empty", "copy of the link", "directory", "not a program"])
def test_it_never_runs_itself(line: Line, tools: Path, tmp_path: Path, first: str) -> None:
    real = stand_in(tmp_path / "real")
    place = tmp_path / "first"
    place.mkdir()
    before = str(place)
    if first == "link":
        (place / "curl").symlink_to(tools / "curl")
    elif first == "relative":
        (place / "curl").symlink_to(CARPOOL)
        before = "first:./first:../" + tmp_path.name + "/first"
    elif first == "empty":
        (tmp_path / "curl").symlink_to(CARPOOL)
        before = ":"
    elif first == "copy of the link":
        os.link(CARPOOL, place / "curl") if same_file_system(CARPOOL, place) else shutil.copy2(CARPOOL, place / "curl")
    elif first == "directory":
        (place / "curl").mkdir()
    else:
        (place / "curl").write_text("not a program")
    done = line("curl ftp://127.0.0.1:1/", f"{tools}:{before}:{real.parent}")
    if first == "copy of the link" and not same_file_system(CARPOOL, place):
        # Another file with the same contents cannot be told from another program; it then finds the real one.
        assert done.returncode == 77
    assert (done.returncode, done.stdout) == (77, f"<{real}><ftp://127.0.0.1:1/>\n")


def same_file_system(first: str | Path, second: Path) -> bool:
    return Path(first).stat().st_dev == second.stat().st_dev


def test_a_wrapper_that_calls_the_link_again_ends(line: Line, tools: Path, tmp_path: Path) -> None:
    """A script called curl on PATH that runs `carpool curl`, as an alias would, is no real curl."""
    place = tmp_path / "wrapper"
    place.mkdir()
    script = place / "curl"
    script.write_text('#!/bin/sh\nexec carpool curl "$@"\n')
    script.chmod(0o755)
    done = line("carpool curl ftp://127.0.0.1:1/", f"{tools}:{place}")
    assert done.returncode == UNSUPPORTED_SCHEME
    assert "ftp://" in done.stderr


def test_behind_a_wrapper_is_the_real_curl(line: Line, tools: Path, tmp_path: Path) -> None:
    """A wrapper is passed over, also a copy of the command, and what was read from standard input is given back."""
    copy, wrapper = tmp_path / "copy", tmp_path / "wrapper"
    copy.mkdir()
    shutil.copy2(CARPOOL, copy / "curl")
    wrapper.mkdir()
    script = wrapper / "curl"
    script.write_text('#!/bin/sh\nexec carpool curl "$@"\n')
    script.chmod(0o755)
    real = stand_in(tmp_path / "real")
    text = 'url = "ftp://127.0.0.1:1/"\n'
    done = line("carpool curl -K -", f"{tools}:{wrapper}:{copy}:{wrapper}:{real.parent}", text.encode())
    assert (done.returncode, done.stdout) == (77, f"<{real}><-K><->\n{text}")


def test_a_program_that_cannot_be_run_is_passed_over(line: Line, tools: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    program = broken / "curl"
    program.write_text("#!/missing/interpreter\n")
    program.chmod(0o755)
    real = stand_in(tmp_path / "real")
    done = line("carpool curl ftp://127.0.0.1:1/", f"{tools}:{broken}:{real.parent}")
    assert (done.returncode, done.stdout) == (77, f"<{real}><ftp://127.0.0.1:1/>\n")


@pytest.mark.parametrize("path", ["real", "./real", "", "."])
def test_a_folder_of_the_current_one_is_not_searched(line: Line, tools: Path, tmp_path: Path, path: str) -> None:
    real = stand_in(tmp_path / "real")
    shutil.copy2(real, tmp_path / "curl")
    done = line("carpool curl ftp://127.0.0.1:1/", f"{tools}:{path}")
    assert (done.returncode, done.stdout) == (UNSUPPORTED_SCHEME, "")
    assert "none on PATH" in done.stderr


def test_the_version_names_the_library_of_tls(line: Line, daemon: Daemon) -> None:
    """Installers look for it, such as `curl -V | grep ' OpenSSL/'`."""
    done = line("curl -V")
    first = done.stdout.splitlines()[0]
    assert first.startswith("curl 8.14.1 (")
    assert f" {daemon.call('daemon.info')['libcurl']['libraries']} carpool/" in first
    assert " OpenSSL/" in first


@pytest.mark.parametrize(
    ("words", "named", "code"),
    [("--http3 http://127.0.0.1:1/", "--http3", FAILED_INIT), ("scp://127.0.0.1:1/x", "scp://", UNSUPPORTED_SCHEME)],
)
def test_without_a_real_curl_the_option_is_named(line: Line, words: str, named: str, code: int) -> None:
    for command in (f"curl {words}", f"carpool curl {words}", f"curl --no-fallback {words}"):
        done = line(command)
        assert (done.returncode, done.stdout) == (code, "")
        assert named in done.stderr


def test_no_fallback_is_an_error_although_there_is_one(line: Line, tools: Path, tmp_path: Path) -> None:
    real = stand_in(tmp_path / "real")
    done = line("curl --no-fallback --http3 http://127.0.0.1:1/", f"{tools}:{real.parent}")
    assert (done.returncode, done.stdout) == (FAILED_INIT, "")
    assert "--http3" in done.stderr


def test_a_configuration_from_standard_input_is_put_back(line: Line, tools: Path, tmp_path: Path) -> None:
    real = stand_in(tmp_path / "real")
    text = 'url = "ftp://127.0.0.1:1/"\n# and more\n'
    done = line("curl -K - -v", f"{tools}:{real.parent}", text.encode())
    assert done.stdout.replace("\n", "") == f"<{real}><-K><-><-v>{text}".replace("\n", "")
    assert done.returncode == 77


def test_a_body_from_standard_input_is_not_read_before(line: Line, tools: Path, tmp_path: Path) -> None:
    real = stand_in(tmp_path / "real")
    done = line("curl -T - --http3 http://127.0.0.1:1/", f"{tools}:{real.parent}", b"the body")
    assert done.stdout.endswith("\nthe body")
    done = line("curl -d @- ftp://127.0.0.1:1/", f"{tools}:{real.parent}", b"the body")
    assert done.stdout.endswith("\nthe body")


def test_without_a_daemon_the_real_curl_does_the_work(
    variables: dict[str, str], tools: Path, tmp_path: Path, origin: ScriptedOrigin
) -> None:
    real = stand_in(tmp_path / "real")
    environment = {
        **variables,
        "HOME": str(tmp_path),
        "PATH": f"{tools}:{real.parent}",
        "CARPOOL_SOCKET": str(tmp_path / "missing" / "socket"),
    }
    command = [str(tools / "curl"), "-d", "@-", origin.url]
    done = subprocess.run(
        command, env=environment, input=b"the body", capture_output=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.returncode == 77
    assert done.stdout.decode() == f"<{real}><-d><@-><{origin.url}>\nthe body"
    assert not origin.requests
    environment["PATH"] = str(tools)
    done = subprocess.run(
        command, env=environment, input=b"the body", capture_output=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.returncode == FAILED_INIT
    assert b"daemon" in done.stderr
