"""`carpool curl` does what curl 8.14 does: lines of shell, run by both (`curl/cases/*.toml`).

`CARPOOL_CURL_UNDER_TEST` names another program to test; with the path of the real curl it proves that the cases are
deterministic.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import oneliners
from harness.daemon import CARPOOL, Daemon
from harness.oneliners import Case
from harness.waiting import eventually
from origins import linepages
from origins.authority import Authority, Certificate
from origins.mutual import MutualNginx
from origins.nginx import Nginx
from origins.proxies import PASSWORD, USER, Socks, Squid
from origins.scripted import ScriptedOrigin
from origins.tlsserver import TLSServer

REAL = shutil.which(os.environ.get("CARPOOL_REAL_CURL", "curl")) or ""
TESTED = os.environ.get("CARPOOL_CURL_UNDER_TEST", CARPOOL)


def version_of_curl() -> str:
    """Return the version of the real curl, or nothing."""
    if not REAL:
        return ""
    # With its own libcurl, whichever is tested.
    variables = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run([REAL, "-V"], env=variables, capture_output=True, text=True, check=False)
    found = re.match(r"curl (\d+\.\d+)\.\d+ .* libcurl/(\d+\.\d+)", done.stdout)
    return found[1] if found and found[1] == found[2] else ""


@pytest.fixture(scope="module", autouse=True)
def real_curl() -> None:
    """Fail where there is nothing to compare with."""
    if version_of_curl() != "8.14":
        pytest.fail("no curl 8.14 to compare with: Tests/Support/libcurl unpacks one, and CARPOOL_REAL_CURL names it")


@dataclass
class Place:
    """The servers of all cases, and the variables by which the lines name them."""

    directory: Path
    origins: list[ScriptedOrigin]
    variables: dict[str, str]
    paths: dict[str, str]


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    """A daemon for all cases."""
    with tempfile.TemporaryDirectory(prefix="carpool-") as directory:
        daemon = Daemon(Path(directory))
        yield daemon
        daemon.stop()


def pin_of(certificate: Path) -> str:
    """Return the pin of a certificate's key, as --pinnedpubkey takes it."""
    key = subprocess.run(
        ["openssl", "x509", "-in", str(certificate), "-noout", "-pubkey"], capture_output=True, check=True
    ).stdout
    body = base64.b64decode(b"".join(key.splitlines()[1:-1]))
    return "sha256//" + base64.b64encode(hashlib.sha256(body).digest()).decode()


@pytest.fixture(scope="module")
def place(
    served: Daemon, authority: Authority, nginx: Nginx, squid: Squid, socks: Socks, mutual: MutualNginx,
    person: Certificate, tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Place]:  # fmt: skip
    secure = authority.issue("lines")
    named = [
        ScriptedOrigin(),
        ScriptedOrigin(),
        ScriptedOrigin(secure),
        ScriptedOrigin(authority.issue("lines-old", days=-1)),
        ScriptedOrigin(authority.issue("lines-other", "DNS:other.example")),
    ]
    newer = TLSServer(secure, "-tls1_3")
    directory = tmp_path_factory.mktemp("lines")
    first = named[0]
    with socket.create_server(("127.0.0.1", 0)) as closed:
        closed_port = closed.getsockname()[1]
    door = Path(tempfile.mkdtemp(prefix="door-")) / "s"
    variables = {
        "O": first.url, "P": str(first.port), "H": f"127.0.0.1:{first.port}", "O2": named[1].url, "S": named[2].url,
        "SP": str(named[2].port), "OLD": named[3].url, "WRONG": named[4].url, "NEWER": newer.url, "N": nginx.https,
        "N1": nginx.https1, "NH": nginx.http, "M": mutual.required, "CA": str(authority.ca_file),
        "CERT": str(person.chain), "KEY": str(person.key), "BOTH": str(person.key.with_suffix(".both")),
        "LOCKED": str(person.key.with_suffix(".locked")), "P12": str(person.key.with_suffix(".p12")),
        "PIN": pin_of(secure.chain), "DOOR": str(door), "CLOSED": f"http://127.0.0.1:{closed_port}",
        "PROXY": f"http://127.0.0.1:{squid.plain}", "PROXY2": f"http://127.0.0.1:{squid.basic}",
        "SECUREPROXY": f"https://localhost:{squid.secure}", "PU": f"{USER}:{PASSWORD}",
        "SOCKS": f"127.0.0.1:{socks.plain}", "SOCKS2": f"127.0.0.1:{socks.basic}", "SOCKS4": f"127.0.0.1:{socks.four}",
    }  # fmt: skip
    system = {"LANG": "C.UTF-8", "TZ": "UTC", "USER": "tester"}
    paths = {
        "curl": oneliners.install(directory / "path-curl", REAL),
        "tool": oneliners.install(directory / "path-tool", TESTED),
    }
    daemon = {"CARPOOL_SOCKET": str(served.socket)}
    with linepages.unix_door(door, first.port):
        yield Place(directory, named, {**system, **variables, **daemon}, paths)
    shutil.rmtree(door.parent)
    newer.stop()
    for origin in named:
        origin.stop()


def run(case: Case, place: Place, who: str, count: int = 0) -> oneliners.Outcome:
    """Run a case by one of the two programs, with fresh answers of the origins."""
    for origin in place.origins:
        origin.forget()
        linepages.serve(origin)
        for path, answers in case.answers.items():
            origin.on(path, linepages.answering(list(answers)))
    if who == "curl":
        # Those that the daemon has kept from the case before.
        for origin in place.origins:
            origin.close_connections()
    directory = place.directory / f"{case.name}-{who}"
    variables = {
        **place.variables,
        "PATH": f"{place.paths[who]}:{os.environ['PATH']}",
        "FELL_BACK": str(directory / "fell-back-to-curl"),
    }
    result = oneliners.run(case, directory, variables)
    if who == "curl":
        # curl's connections end with it, and a request is recorded before; those of proxies stay.
        with contextlib.suppress(AssertionError):
            eventually(lambda: all(origin.idle for origin in place.origins), 0.5)
        for origin in place.origins:
            origin.close_connections()
    else:
        # A request that is missing is one of the differences.
        with contextlib.suppress(AssertionError):
            eventually(lambda: sum(len(origin.requests) for origin in place.origins) >= count, 1)
    requests = [request for origin in place.origins for request in origin.requests]
    return oneliners.outcome(case, directory, result, requests)


# The lines whose output has a message of libcurl, or HTTP/2; status lines that curl 7.88.1 refuses too; and an empty
# body in chunks, for which the older version sends no chunk, so that it has Content-Length: 0.
OF_LIBCURL = {"health-refused", "http2", "http2-include", "http2-option", "http2-head"}
OF_LIBCURL |= {"odd-status-lines", "input-of-another-size"}


@pytest.mark.parametrize("case", oneliners.load(), ids=lambda case: case.name)
def test_a_line_does_what_it_does_with_curl(case: Case, place: Place, served: Daemon) -> None:
    expected = run(case, place, "curl")
    actual = run(case, place, "tool", len(expected.requests))
    found = oneliners.differences(case, expected, actual)
    is_older = served.call("daemon.info")["libcurl"]["profile"] != "multiplex"
    if is_older:
        # The messages of failures and HTTP/2 are those of libcurl, which is older than curl's here.
        found = [each for each in found if case.name not in OF_LIBCURL and not each.startswith("stderr")]
    # Known of the command, not of another program that is tested.
    reason = oneliners.known_differences().get(case.name) if TESTED == CARPOOL else None
    if reason is not None:
        assert found or is_older, f"curl/known.toml names it, but there is no difference any more: {reason}"
        return
    assert not found, "\n".join([case.line, *found])


WRONG = {
    "adds a field": ('exec "$REAL" -H "X-Added: 1" "$@"', "request 1"),
    "succeeds": ('"$REAL" "$@"; exit 0', "exit code"),
    "adds a byte": ('"$REAL" "$@"; code=$?; echo; exit $code', "stdout"),
    "says more": ('echo more >&2; exec "$REAL" "$@"', "stderr"),
    "leaves a file": (': > left; exec "$REAL" "$@"', "names of files"),
    "repeats the request": ('"$REAL" "$@" > /dev/null 2>&1; exec "$REAL" "$@"', "number of requests"),
    "ignores the umask": ('umask 000; exec "$REAL" "$@"', "mode of out.txt"),
    "falls back": ('exec "$BEHIND/curl" "$@"', "exit code"),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_comparison_finds_a_wrong_program(name: str, place: Place, tmp_path: Path) -> None:
    script, difference = WRONG[name]
    program = tmp_path / "wrong"
    program.write_text(f"#!/bin/bash\nBEHIND={tmp_path}/path/real\nREAL={REAL}\n{script}\n")
    program.chmod(0o755)
    paths = {"curl": place.paths["curl"], "tool": oneliners.install(tmp_path / "path", str(program))}
    line = "curl -sS --fail-with-body -o out.txt $O/status/404; code=$?; cat out.txt; exit $code"
    if name == "adds a byte":
        line = line.replace("-o out.txt", "").replace("cat out.txt; ", "")
    case = Case(name=f"wrong-{name}".replace(" ", "-"), line=line)
    here = Place(tmp_path, place.origins, place.variables, paths)
    expected = run(case, here, "curl")
    found = oneliners.differences(case, expected, run(case, here, "tool", 1))
    assert difference in [each.partition(":")[0] for each in found]


def test_known_differences_are_of_cases() -> None:
    names = {case.name for case in oneliners.load()}
    assert len(names) > 300
    assert set(oneliners.known_differences()) <= names
