"""What `carpool curl` leaves to the real curl, and how it finds it: on PATH, and never itself."""

from __future__ import annotations

import base64
import os
import re
import shlex
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from string import Template

import pytest
from harness.daemon import CARPOOL, ROOT, Daemon
from harness.waiting import PATIENCE_SECONDS
from origins.authority import Authority
from origins.proxies import Squid
from origins.scripted import Exchange, ScriptedOrigin

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


# What the real curl does then


def documented() -> list[str]:
    """The options of which the page says that the real curl carries them out, whatever else is there."""
    text = (ROOT / "docs" / "moving-from-curl.md").read_text()
    part = text.partition("`carpool curl` runs the curl on `PATH`")[2].partition("* every other option")[0]
    return re.findall(r"`(--[\w.-]+)`", part)


# What the page says of options that the real curl carries out sometimes.
SOMETIMES = [
    "-H Host:", "-H Content-Length:7 -d x", "--no-alpn", "--http2", "--proxy-header X:1 -p -x http://127.0.0.1:1",
    "--cert-type DER", "--key-type DER", "-M", f"http://127.0.0.1:1/{'x' * 65_536}",
]  # fmt: skip


def test_the_options_of_the_page_are_left_to_the_real_curl(line: Line, tools: Path, tmp_path: Path) -> None:
    real = stand_in(tmp_path / "real")
    assert {"--curves", "--ntlm", "--negotiate", "--proxy-insecure"} <= set(documented())
    for words in [*(f"{option} 1" for option in documented()), *SOMETIMES]:
        done = line(f"curl {words} http://127.0.0.1:1/", f"{tools}:{real.parent}")
        assert done.returncode == 77, f"{words[:60]}: {done.stderr}"


def page(exchange: Exchange) -> None:
    """An origin, and a proxy that gets requests as they are."""
    is_proxy = exchange.request.target.startswith("http://")
    if exchange.request.target.endswith("/ntlm"):
        ntlm(exchange, is_proxy=is_proxy)
    elif exchange.request.target.endswith("/negotiate"):
        field = "Proxy-Authenticate" if is_proxy else "WWW-Authenticate"
        exchange.reply(407 if is_proxy else 401, b"who?\n", [(field, "Negotiate")])
    else:
        exchange.reply(200, b"plain\n")


def ntlm(exchange: Exchange, *, is_proxy: bool) -> None:
    """Let a connection in by the messages of NTLM, whatever the password."""
    given = exchange.request.values("Proxy-Authorization" if is_proxy else "Authorization")
    kind = base64.b64decode(given[0].removeprefix("NTLM "))[8] if given and given[0].startswith("NTLM ") else 0
    if kind == 3:
        return exchange.reply(200, b"let in\n")
    challenge = struct.pack("<8sIHHII8s8sHHI", b"NTLMSSP\0", 2, 0, 0, 48, 0x201, b"12345678", b"", 0, 0, 48)
    message = f"NTLM {base64.b64encode(challenge).decode()}" if kind == 1 else "NTLM"
    field = "Proxy-Authenticate" if is_proxy else "WWW-Authenticate"
    return exchange.reply(407 if is_proxy else 401, b"who?\n", [(field, message)])


# The options, with the exit code and the end of the output of the real curl.
LEFT = {
    "--ntlm -u ada:secret $O/ntlm": (0, "let in\n"),
    "--ntlm -u ada:secret -f $O/negotiate": (22, ""),
    "--negotiate -u : $O/negotiate": (0, "who?\n"),
    "--proxy-ntlm -U ada:secret -x $O http://origin.test/ntlm": (0, "let in\n"),
    "--proxy-negotiate -U : -x $O http://origin.test/negotiate": (0, "who?\n"),
    "--curves X25519 --cacert $CA $TLS": (0, "over TLS\n"),
    "--curves nothing --cacert $CA $TLS": (59, ""),
    "--sigalgs nothing --cacert $CA $TLS": (59, ""),
    "-x $PROXY --proxy-cacert $CA $O": (0, "plain\n"),
    "-x $PROXY --proxy-cacert missing.pem $O": (77, ""),
    "-x $PROXY --proxy-insecure $O": (0, "plain\n"),
    "-x $PROXY --proxy-insecure --cacert $CA $TLS": (0, "over TLS\n"),
    "-x $PROXY --proxy-insecure --proxy-capath missing $O": (0, "plain\n"),
    "-x $PROXY --proxy-insecure --proxy-cert $CERT --proxy-key $KEY --proxy-cert-type PEM --proxy-key-type PEM $O": (
        0,
        "plain\n",
    ),
    "-x $PROXY --proxy-insecure --proxy-cert $CERT --proxy-key missing.pem --proxy-pass word $O": (58, ""),
    "-x $PROXY --proxy-cacert $CA --proxy-crlfile missing.pem $O": (82, ""),
    "-x $PROXY --proxy-insecure --proxy-pinnedpubkey $PIN $O": (90, ""),
    "-x $PROXY --proxy-insecure --proxy-ciphers nothing $O": (59, ""),
    "-x $PROXY --proxy-insecure --proxy-tls13-ciphers TLS_AES_128_GCM_SHA256 --proxy-tlsv1 $O": (0, "plain\n"),
}


@pytest.mark.parametrize("words", LEFT)
def test_the_real_curl_does_what_it_does(
    variables: dict[str, str], tools: Path, tmp_path: Path, authority: Authority, squid: Squid, origin: ScriptedOrigin,
    words: str,
) -> None:  # fmt: skip
    real = shutil.which(os.environ.get("CARPOOL_REAL_CURL", "curl"))
    assert real, "no curl to compare with: Tests/Support/libcurl unpacks one, and CARPOOL_REAL_CURL names it"
    origin.handler = page
    secure = ScriptedOrigin(authority.shared("good"))
    secure.handler = lambda exchange: exchange.reply(200, b"over TLS\n")
    person = authority.shared("person")
    names = {
        "O": origin.url, "TLS": secure.url, "CA": authority.ca_file, "PROXY": f"https://localhost:{squid.secure}",
        "CERT": person.chain, "KEY": person.key, "PIN": f"sha256//{'A' * 43}=",
    }  # fmt: skip
    arguments = ["-sS", *shlex.split(Template(words).substitute(names))]
    environment = {**variables, "HOME": str(tmp_path), "PATH": f"{tools}:{Path(real).parent}:/usr/bin:/bin"}
    done = []
    for program in (real, str(tools / "curl")):
        origin.forget()
        result = subprocess.run(
            [program, *arguments], env=environment, cwd=tmp_path, capture_output=True, timeout=PATIENCE_SECONDS,
            check=False,
        )  # fmt: skip
        lines = result.stderr.decode().splitlines()
        if program != real:
            assert lines.pop(0).startswith("carpool: --") and "needs the real curl" in result.stderr.decode()
        requests = [(request.method, request.target) for request in origin.requests]
        done.append((result.returncode, result.stdout.decode(), lines, requests))
    secure.stop()
    assert done[0] == done[1]
    assert done[0][:2] == LEFT[words]
