"""The completions of `carpool completion`, in the real shells."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.command import OK, UNREACHABLE, USAGE, Run
from harness.daemon import CARPOOL, environment
from harness.typist import INSERT_ALL, Typist
from harness.waiting import PATIENCE_SECONDS
from harness.wire import Wire
from origins.scripted import ScriptedOrigin

SHELLS = ["bash", "zsh", "fish"]


def script(run: Run, shell: str, directory: Path) -> Path:
    done = run("completion", shell)
    assert (done.returncode, done.stderr) == (OK, b"")
    path = directory / f"carpool.{shell}"
    path.write_bytes(done.stdout)
    return path


@pytest.fixture
def folder(directory: Path) -> Path:
    """A folder with files to complete."""
    made = directory / "work"
    made.mkdir()
    (made / "a page.html").touch()
    (made / "body.json").touch()
    (made / "certificates").mkdir()
    return made


@pytest.fixture(params=["bash", "zsh"])
def typist(
    request: pytest.FixtureRequest, run: Run, variables: dict[str, str], directory: Path, folder: Path
) -> Iterator[Typist]:
    made = Typist(request.param, script(run, request.param, directory), variables, folder)
    yield made
    made.close()


# The methods for streams.
STREAM = ["open", "read", "write", "close_write", "close"]

# What is typed, and the line after the tabulator.
LINES = [
    ("carpool ge", "carpool get "),
    ("carpool wait", "carpool wait-online "),
    ("carpool --socket body.json daem", "carpool --socket body.json daemon "),
    ("carpool --socket=body.json daem", "carpool --socket=body.json daemon "),
    ("carpool get --heade", "carpool get --header"),
    ("carpool get https://example.com/ --dry", "carpool get https://example.com/ --dry-run "),
    ("carpool get -x http://127.0.0.1:8080 --dry", "carpool get -x http://127.0.0.1:8080 --dry-run "),
    ("carpool get --pretty al", "carpool get --pretty always "),
    ("carpool get --pretty=al", "carpool get --pretty=always "),
    ("carpool get --cache no", "carpool get --cache no_store "),
    ("carpool get --priority hi", "carpool get --priority high "),
    ("carpool get -o bo", "carpool get -o body.json "),
    ("carpool get -so bo", "carpool get -so body.json "),
    ("carpool get --output=bo", "carpool get --output=body.json "),
    ("carpool get -o a", "carpool get -o a\\ page.html "),
    ("carpool get --capath c", "carpool get --capath certificates/"),
    ("carpool post -d @bo", "carpool post -d @body.json "),
    ("carpool post -d @a", "carpool post -d @a\\ page.html "),
    ("carpool post -d @a\\ p", "carpool post -d @a\\ page.html "),
    ("carpool post -d bo", "carpool post -d bo"),
    ("carpool get bo", "carpool get bo"),
    ("carpool get --timeout bo", "carpool get --timeout bo"),
    ("carpool daemon sto", "carpool daemon stop "),
    ("carpool cache pu", "carpool cache purge "),
    ("carpool completion fi", "carpool completion fish "),
    ("carpool help dae", "carpool help daemon "),
    ("carpool watch --scope se", "carpool watch --scope session:"),
    ("carpool get -- --dry", "carpool get -- --dry"),
    ("carpool call request.per", "carpool call request.perform "),
    ("carpool call daemon.in", "carpool call daemon.info "),
    ("carpool curl --remote-header", "carpool curl --remote-header-name "),
    ("carpool curl get --no-clob", "carpool curl get --no-clobber "),
    ("carpool curl -fsSLo bo", "carpool curl -fsSLo body.json "),
    ("carpool curl --help outp", "carpool curl --help output "),
]


def test_a_tabulator_completes_the_word(typist: Typist) -> None:
    # Whether a space follows a unique completion differs between the shells where one can type on, as after @FILE.
    found = {typed: typist.after(typed + "\t") for typed, _ in LINES}
    assert {typed: line.rstrip(" =") for typed, line in found.items()} == {
        typed: line.rstrip(" =") for typed, line in LINES
    }


def test_all_options_and_commands_are_offered(typist: Typist, run: Run) -> None:
    for command in ["get", "curl", "watch", "cache"]:
        text = run("curl", "--help", "all").stdout if command == "curl" else run("help", command).stdout
        listed = {word for word in text.decode().split() if word.startswith("--") and word[-1] not in ".:),"}
        line = typist.after(f"carpool {command} --{INSERT_ALL}")
        offered = {word.rstrip("=") for word in line.split()}
        assert {word for word in listed if word[2:3].isalnum()} - {"--no-progress-meter"} <= offered
    commands = typist.after(f"carpool {INSERT_ALL}").split()
    assert {"get", "curl", "wait-online", "help", "completion"} <= set(commands)


def test_fish_completes(run: Run, variables: dict[str, str], directory: Path, folder: Path) -> None:
    path = script(run, "fish", directory)

    def offered(line: str) -> set[str]:
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source {path}; complete -C $argv[1]", line],
            env=variables,
            cwd=folder,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=True,
        )
        assert done.stderr == b""
        return {row.split("\t")[0] for row in done.stdout.decode().splitlines()}

    assert offered("carpool get --he") == {"--head", "--header", "--help"}
    assert {"get", "curl", "completion"} <= offered("carpool ")
    assert offered("carpool --socket x da") == {"daemon"}
    assert offered("carpool get --pretty ") == {"auto", "always", "never"}
    assert offered("carpool get --pretty=al") == {"--pretty=always"}
    assert offered("carpool get -o b") == {"body.json"}
    assert offered("carpool get --capath ") == {"certificates/"}
    assert offered("carpool post -d @b") == {"@body.json"}
    assert offered("carpool get b") == set()
    assert offered("carpool call stream.") == {f"stream.{name}" for name in STREAM}
    assert offered("carpool daemon ") == {"start", "stop", "status", "restart"}
    assert offered("carpool curl get --no-clob") == {"--no-clobber"}
    assert offered("carpool watch --scope m") == {"mine"}


def test_zsh_finds_the_script_in_a_folder(run: Run, variables: dict[str, str], directory: Path) -> None:
    functions = directory / "functions"
    functions.mkdir()
    script(run, "zsh", directory).rename(functions / "_carpool")
    load = "fpath=($argv[1] $fpath); autoload -Uz compinit; compinit -D; print $_comps[carpool]"
    done = subprocess.run(
        ["zsh", "-fc", load, "zsh", str(functions)],
        env=variables,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    assert done.stdout == b"_carpool\n"


def test_the_script_of_bash_has_no_mistakes(run: Run, directory: Path) -> None:
    path = script(run, "bash", directory)
    done = subprocess.run(
        ["shellcheck", "--shell=bash", path], capture_output=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.stdout == b""


@pytest.mark.parametrize("shell", SHELLS)
def test_the_scripts_run_no_command(run: Run, shell: str, directory: Path) -> None:
    lines = script(run, shell, directory).read_text().splitlines()
    assert not [line for line in lines if "$(carpool" in line or "(carpool " in line or line.startswith("carpool")]


def test_another_shell_is_refused(run: Run) -> None:
    done = run("completion", "tcsh")
    assert done.returncode == USAGE
    assert b"completion takes one of bash, zsh, fish, requests, not 'tcsh'" in done.stderr
    assert run("completion").returncode == USAGE


def test_the_methods_are_those_of_the_daemon(run: Run) -> None:
    described = {method["name"] for method in json.loads(run("openrpc").stdout)["methods"]}
    (line,) = re.findall(
        r"^_carpool_of_call\(\) \{\n    options=.*\n    operands='(.*)'$", script_of_bash(run), re.MULTILINE
    )
    assert set(line.split()) == described


def script_of_bash(run: Run) -> str:
    return run("completion", "bash").stdout.decode()


@pytest.fixture
def running(wire: Wire, origin: ScriptedOrigin) -> Iterator[str]:
    """The name of the only request that runs."""
    gate = origin.hold("/held")
    name: str = wire.call("request.submit", url=f"{origin.url}/held")["request"]
    origin.received(1, "/held")
    yield name
    gate.set()


@pytest.fixture
def on_path(variables: dict[str, str], directory: Path) -> None:
    """`carpool` is on PATH."""
    folder = directory / "programs"
    folder.mkdir()
    (folder / "carpool").symlink_to(Path(CARPOOL).resolve())
    variables["PATH"] = f"{folder}:{variables['PATH']}"


@pytest.mark.usefixtures("on_path")
def test_a_running_request_is_completed(running: str, typist: Typist) -> None:
    for command in ["show", "cancel", "pause", "resume"]:
        assert typist.after(f"carpool {command} r\t").rstrip() == f"carpool {command} {running}"
    assert typist.after("carpool show --js\t").rstrip() == "carpool show --json"


@pytest.mark.usefixtures("on_path")
def test_fish_completes_a_running_request(
    running: str, run: Run, variables: dict[str, str], directory: Path, origin: ScriptedOrigin
) -> None:
    path = script(run, "fish", directory)
    for command in ["show", "cancel", "pause", "resume"]:
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source {path}; complete -C $argv[1]", f"carpool {command} r"],
            env=variables,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=True,
        )
        assert done.stdout.decode() == f"{running}\tGET {origin.url}/held\n"


def test_without_a_daemon_no_request_is_completed_and_none_is_started(directory: Path) -> None:
    variables = environment(directory)
    done = subprocess.run(
        [CARPOOL, "completion", "requests"], env=variables, capture_output=True, timeout=PATIENCE_SECONDS, check=True
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    status = subprocess.run(
        [CARPOOL, "daemon", "status"], env=variables, capture_output=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert status.returncode == UNREACHABLE
