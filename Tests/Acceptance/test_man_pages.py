"""The pages of the manual that `carpool help --man` and `carpoold --man` print, and their installation."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from harness.command import OK, USAGE, Run
from harness.daemon import CARPOOL, CARPOOLD
from harness.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]


def pages(run: Run) -> dict[str, bytes]:
    """All pages, by the name of their command; that of carpool(1) is empty."""
    commands = [command["name"] for command in json.loads(run("help", "--json").stdout)["commands"]]
    made = {}
    for name in ["", *commands]:
        done = run("help", "--man", *([name] if name else []))
        assert (done.returncode, done.stderr) == (OK, b""), name
        made[name] = done.stdout
    return made


def plain(page: bytes, directory: Path) -> str:
    """The page as man prints it, which must not warn."""
    path = directory / "page.1"
    path.write_bytes(page)
    done = subprocess.run(
        ["man", "--warnings=w", "-E", "UTF-8", "-l", str(path)],
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MANWIDTH": "100", "MANPAGER": "col -bx"},
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    assert done.stderr == b""
    return done.stdout.decode()


def test_no_page_has_a_warning(run: Run) -> None:
    for name, page in pages(run).items():
        done = subprocess.run(
            ["groff", "-man", "-ww", "-K", "utf8", "-T", "utf8", "-z"],
            input=page,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), name


def test_a_page_shows_all_of_the_help(run: Run, directory: Path) -> None:
    for name, page in pages(run).items():
        shown = " ".join(plain(page, directory).split())
        help_text = run("help", *([name] if name else [])).stdout.decode()
        if name == "curl":
            help_text = run("curl", "--help", "all").stdout.decode()
        missing = [word for word in re.findall(r"(?<![\w-])--?[a-z0-9][\w.-]*\w", help_text) if word not in shown]
        assert not missing, name
        for example in re.findall(r"^  (carpool .*)$", help_text, re.MULTILINE) if name != "curl" else []:
            assert " ".join(example.split()) in shown
        assert f"carpool{'-' if name else ''}{name} - " in shown


def test_the_page_of_the_daemon_shows_all_of_its_help(directory: Path) -> None:
    made = {}
    for option in ["--man", "--help"]:
        done = subprocess.run([CARPOOLD, option], capture_output=True, timeout=PATIENCE_SECONDS, check=True)
        assert done.stderr == b""
        made[option] = done.stdout
    assert made["--man"].startswith(b'.TH "CARPOOLD" 8 ')
    shown = " ".join(plain(made["--man"], directory).split())
    options = re.findall(r"^  (?:-h, )?(--[a-z-]+)(?: [A-Z]+)?  +(.*)$", made["--help"].decode(), re.MULTILINE)
    assert len(options) > 8
    for name, summary in options:
        assert name in shown
        assert f"{summary[0].upper()}{summary[1:]}." in shown
    for title in ["NAME", "SYNOPSIS", "SIGNALS", "EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"]:
        assert f" {title} " in shown


def test_signs_of_the_shell_stay_as_they_are(run: Run, directory: Path) -> None:
    page = plain(pages(run)["curl"], directory)
    assert r"carpool curl -o /dev/null -s -w '%{http_code}\n' https://example.com/" in page


def test_the_order_of_the_arguments_does_not_matter(run: Run) -> None:
    assert run("help", "get", "--man").stdout == run("help", "--man", "get").stdout
    done = run("help", "--man", "get", "post")
    assert done.returncode == USAGE
    assert b"help takes one COMMAND, not also 'post'" in done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["-x"], ["one", "two"]])
def test_installing_takes_one_folder(variables: dict[str, str], directory: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        [ROOT / "clients/install-shell", *arguments],
        env=variables | {"CARPOOL_CLI": str(CARPOOL)},
        cwd=directory,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.splitlines()[0]) == (
        1,
        b"",
        b"carpool: usage: clients/install-shell [PREFIX]",
    )


def test_man_and_the_shells_find_what_is_installed(variables: dict[str, str], run: Run, directory: Path) -> None:
    installed = subprocess.run(
        [ROOT / "clients/install-shell", directory / "prefix"],
        env=variables | {"CARPOOL_CLI": str(CARPOOL), "CARPOOLD": str(CARPOOLD)},
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    assert installed.stderr == b""
    files = installed.stdout.decode().splitlines()
    assert len(files) == 4 + len(pages(run))
    share = directory / "prefix/share"
    assert (share / "man/man1/carpool-get.1").read_bytes() == pages(run)["get"]
    assert (share / "man/man8/carpoold.8").read_bytes().startswith(b'.TH "CARPOOLD" 8 ')
    for shell, path in [
        ("bash", "bash-completion/completions/carpool"),
        ("zsh", "zsh/site-functions/_carpool"),
        ("fish", "fish/vendor_completions.d/carpool.fish"),
    ]:
        assert (share / path).read_bytes() == run("completion", shell).stdout
    (directory / "prefix/bin").mkdir()
    path = f"{directory}/prefix/bin:{os.environ['PATH']}"
    found = subprocess.run(
        ["man", "-w", "carpool-get"],
        env={"PATH": path},
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    assert found.stdout.decode().strip() == str(share / "man/man1/carpool-get.1")
    # Fish reads the completions of commands that are on PATH.
    (directory / "prefix/bin/carpool").symlink_to(shutil.which(CARPOOL) or "")
    offered = subprocess.run(
        ["fish", "-c", "complete -C 'carpool daemon sto'"],
        env=variables | {"PATH": path, "XDG_DATA_HOME": str(share), "XDG_CONFIG_HOME": str(directory)},
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    assert offered.stdout == b"stop\n"
