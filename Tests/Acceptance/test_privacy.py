"""What the daemon does not disclose of its starter and of its secrets."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import carpool
import pytest
from conftest import StartDaemon
from harness.command import OK, USAGE, Run
from harness.daemon import CARPOOLD, Daemon, environment
from harness.users import NOBODY, as_root
from harness.waiting import eventually
from origins.authority import Authority
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin

KEPT = {"HOME", "USER", "PATH", "TZ", "TMPDIR", "NOTIFY_SOCKET", "LD_LIBRARY_PATH", "ASAN_OPTIONS"}
KEPT_PREFIXES = ("XDG_", "CARPOOL_", "LISTEN_", "WATCHDOG_")
SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "of-the-starter",
    "https_proxy": "http://127.0.0.1:1",
    "OPENSSL_CONF": "/nonexistent",
    "LD_BIND_NOW": "1",
    "LANG": "de_AT.UTF-8",
    "BASH_FUNC_x%%": "() { :; }",
}


def environ(daemon: Daemon) -> dict[str, str]:
    """Return the variables of the running program, as the kernel has them."""
    text = Path(f"/proc/{daemon.pid}/environ").read_bytes().decode(errors="surrogateescape")
    return dict(entry.split("=", 1) for entry in text.split("\0") if entry)


@as_root
def test_a8_a_daemon_has_no_variable_but_the_documented_ones(start: StartDaemon) -> None:
    daemon = start(variables={**SECRETS, "TZ": "UTC", "CARPOOL_CLIENT": "x"})
    found = environ(daemon)
    assert {name for name in found if name not in KEPT and not name.startswith(KEPT_PREFIXES)} == set()
    assert found["PATH"] == "/usr/local/bin:/usr/bin:/bin"
    assert (found["TZ"], found["HOME"]) == ("UTC", str(daemon.directory))
    assert Path(f"/proc/{daemon.pid}/comm").read_text().strip() == Path(CARPOOLD).name
    assert daemon.call("daemon.ping")["pong"]


def test_a8_a_clean_environment_costs_no_second_execution(directory: Path) -> None:
    """A benchmark's tool loses a program that executes itself, so that this can be turned off."""
    kept = {name: value for name, value in environment(directory).items() if name.startswith(("XDG_", "HOME"))}
    libraries = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "ASAN_OPTIONS") if name in os.environ}
    variables = {**kept, **libraries, "PATH": "/usr/local/bin:/usr/bin:/bin"}
    socket = directory / "s"
    with subprocess.Popen([CARPOOLD, "--dumpable", "--socket", str(socket)], env=variables) as process:
        try:
            eventually(socket.exists)
            entries = Path(f"/proc/{process.pid}/environ").read_text()
        finally:
            process.terminate()
    assert "HOME=" in entries
    assert "CARPOOL_EXECUTED" not in entries


@as_root
def test_a8_what_tells_that_it_was_done_is_no_way_around_it(start: StartDaemon) -> None:
    daemon = start(variables={**SECRETS, "CARPOOL_EXECUTED": "1"})
    assert not SECRETS.keys() & environ(daemon).keys()


def test_a8_openssl_conf_loads_nothing_into_the_daemon(
    start: StartDaemon, nginx: Nginx, authority: Authority, tmp_path: Path
) -> None:
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("there is no C compiler")
    proof = tmp_path / "loaded"
    (tmp_path / "evil.c").write_text(
        "#include <fcntl.h>\n__attribute__((constructor)) static void here(void) {"
        f' open("{proof}", O_CREAT | O_WRONLY, 0600); }}\nint OSSL_provider_init(void) {{ return 0; }}\n'
    )
    library = tmp_path / "evil.so"
    command = [compiler, "-shared", "-fPIC", "-w", "-o", str(library), str(tmp_path / "evil.c")]
    subprocess.run(command, check=True)
    configuration = tmp_path / "openssl.cnf"
    configuration.write_text(
        "openssl_conf = start\n[start]\nproviders = providers\n[providers]\nevil = evil\ndefault = default\n"
        f"[evil]\nmodule = {library}\nactivate = 1\n[default]\nactivate = 1\n"
    )
    daemon = start(variables={"OPENSSL_CONF": str(configuration), "LD_PRELOAD": ""})
    trust = {"ca_file": str(authority.ca_file)}
    record = daemon.call("request.perform", url=f"{nginx.https}/hello.txt", trust=trust)
    assert record["outcome"]["ok"]
    assert not proof.exists()


def test_a8_no_variable_decides_the_language(start: StartDaemon, origin: ScriptedOrigin) -> None:
    variables = {"LANG": "de_AT.UTF-8", "LC_ALL": "fr_FR.UTF-8", "LANGUAGE": "sv"}
    start(variables=variables).call("request.perform", url=origin.url)
    assert origin.received(1)[0].values("Accept-Language") == ["en;q=1.0"]


@as_root
@pytest.mark.parametrize("dumpable", [False, True])
def test_a9_programs_of_the_same_user_cannot_look_into_the_daemon(start: StartDaemon, dumpable: bool) -> None:
    daemon = start(*["--dumpable"] * dumpable, user=NOBODY)
    assert daemon.launch_status == "ready"
    look = ["test", "-r", f"/proc/{daemon.pid}/environ", "-a", "-r", f"/proc/{daemon.pid}/fd/0"]
    done = subprocess.run(look, user=NOBODY, group=NOBODY, extra_groups=[], check=False)
    assert (done.returncode == 0) is dumpable
    (line,) = [line for line in Path(f"/proc/{daemon.pid}/limits").read_text().splitlines() if "core" in line]
    assert dumpable or line.split()[4:6] == ["0", "0"]


@as_root
def test_a9_a_daemon_of_an_ordinary_user_does_all_that_it_did(start: StartDaemon, nginx: Nginx, tmp_path: Path) -> None:
    """Such a process no longer owns its entries in /proc: features that use them still work."""
    daemon = start(user=NOBODY)
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents[:-1]:
        if parent.owner() == "root" and "pytest" in str(parent):
            parent.chmod(0o755)
    daemon.socket.chmod(0o666)
    script = f"""
import carpool, json, os, pathlib, sys
client = carpool.Client({str(daemon.socket)!r})
record = client.call("request.submit", url={nginx.http!r} + "/1m.bin")["request"]
assert os.path.getsize(client.call("request.wait", request=record)["body"]["file"]) == 1048576
done = client.call("request.perform", url={nginx.http!r} + "/1m.bin", kind="download",
                   destination={str(tmp_path / "out")!r})
assert done["outcome"]["ok"], done
reader, writer = os.pipe()
assert client.call("daemon.stats")["loop"]["turns"] > 0
client.close()
print("fine")
"""
    environment = {**os.environ, "PYTHONPATH": os.environ.get("PYTHONPATH", str(Path(carpool.__file__).parents[1]))}
    done = subprocess.run(
        [shutil.which("python3", path="/usr/bin") or "python3", "-c", script],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("fine\n", 0), done.stderr


def test_a9_header_fields_may_come_from_a_file(run: Run, origin: ScriptedOrigin, tmp_path: Path) -> None:
    (tmp_path / "secrets").write_text("# for the API\nAuthorization: Bearer x:y\r\n\nX-A:  1 \n")
    done = run("get", "-H", "X-First: 0", "-H", "@secrets", "-H", "X-Last: 2", origin.url)
    assert (done.returncode, done.stderr) == (OK, b"")
    names = ("X-First", "Authorization", "X-A", "X-Last")
    found = [pair for pair in origin.received(1)[0].headers if pair[0] in names]
    assert found == [("X-First", "0"), ("Authorization", "Bearer x:y"), ("X-A", "1"), ("X-Last", "2")]
    done = run("get", "-H", "@-", origin.url, stdin=b"X-In: 3\n")
    assert origin.received(2)[1].values("X-In") == ["3"]
    (tmp_path / "wrong").write_text("A: 1\nsecret without a name\n")
    for arguments, words in [(("-H", "@wrong"), b"line 2"), (("-H", "@none"), b"none"), (("-H", "@"), b"@")]:
        done = run("get", *arguments, origin.url)
        assert done.returncode == USAGE
        assert words in done.stderr and b"secret without" not in done.stderr
    assert len(origin.requests) == 2
