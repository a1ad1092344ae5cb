"""A program of its own that embeds the session: the one that docs/swift.md shows.

With CARPOOL_TEST_PACKAGE it is a package, which depends on the library by version, as other programs do: on a tag of a
repository with the files as they are here. That compiles the whole library again. Without, it is compiled and linked
with what the programs were built from.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.daemon import ROOT, environment
from harness.process import begin
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import ScriptedOrigin

FILE = re.compile(r"^```swift titles/(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PACKAGE = ROOT / ".build/embedding"
REPOSITORY = PACKAGE / "carpool.git"
LINKED = PACKAGE / "titles"
# What clients/build has left.
BUILT = ROOT / ".build/release"
PROGRAM_OBJECTS = BUILT / "carpoold.product/Objects.LinkFileList"
BUILD_SECONDS = 900
# A tenth of the build is debug information.
QUICK = ("-debug-info-format", "none")

# The first test waits for the build of the library.
pytestmark = pytest.mark.timeout(BUILD_SECONDS + 120)

# A program that implements the library's public protocols: compiled with the page's program (F11).
PARTS = """import CarpoolSession

/// A token from a program's own server.
final class OwnTokens: CredentialRefresher {
    func refresh(
        _ credential: OAuth2Credential, for session: Session,
        completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void
    ) {
        completion(.success(OAuth2Credential(accessToken: "new", refreshToken: credential.refreshToken)))
    }
}

struct NoSuchDate: Error {}

func configurationWithInterceptors() -> SessionConfiguration {
    let authentication = AuthenticationInterceptor(
        authenticator: OAuth2Authenticator(refresher: OwnTokens()),
        credential: OAuth2Credential(accessToken: "old", refreshToken: "r"))
    let offline = OfflineRetrier(waitMilliseconds: 1_000)
    var configuration = SessionConfiguration()
    configuration.interceptor = Interceptor(adapters: [authentication], retriers: [authentication, offline])
    configuration.urlEncoding = .asIs
    return configuration
}

func encoderThatThrows() -> URLEncodedFormEncoder {
    var encoder = URLEncodedFormEncoder()
    encoder.date = .custom { seconds in
        guard seconds > 0 else { throw NoSuchDate() }
        return "\\(seconds)"
    }
    encoder.data = .custom { bytes in
        guard !bytes.isEmpty else { throw NoSuchDate() }
        return "\\(bytes.count)"
    }
    return encoder
}
"""


def tag() -> str:
    """Commit the files as they are to the repository, and return the version that their tag names.

    It is made of their hash, and the commit depends on nothing else: SwiftPM refuses a version that changes its commit.
    """
    person = {f"GIT_{who}_{what}": "titles" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    dates = {f"GIT_{who}_DATE": "1700000000 +0000" for who in ("AUTHOR", "COMMITTER")}
    env = os.environ | person | dates

    def git(*arguments: str) -> str:
        command = ["git", f"--git-dir={REPOSITORY}", f"--work-tree={ROOT}", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=env, cwd=ROOT).stdout.strip()

    if not REPOSITORY.exists():
        git("init", "--quiet")
    git("add", "--all")
    tree = git("write-tree")
    version = f"1.0.0-t{tree[:16]}"
    git("tag", "--force", version, git("commit-tree", tree, "-m", version))
    return version


@pytest.fixture(scope="module")
def program() -> Iterator[Path]:
    """The page's program, built once for all runs, since it does not depend on the version of libcurl."""
    as_package = "CARPOOL_TEST_PACKAGE" in os.environ or not PROGRAM_OBJECTS.exists()
    PACKAGE.mkdir(parents=True, exist_ok=True)
    with (PACKAGE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        write_sources(tag() if as_package else "1.0.0")
        compile_with(package_command() if as_package else linking_command())
    yield PACKAGE / ".build/debug/titles" if as_package else LINKED


def write_sources(version: str) -> None:
    files = dict(FILE.findall((ROOT / "docs/swift.md").read_text()))
    assert set(files) == {"Package.swift", "Sources/titles/main.swift"}
    for name, text in [*files.items(), ("Sources/titles/Parts.swift", PARTS)]:
        path = PACKAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # The origin is an argument here, so that the text is not built again for every port.
        wanted = text.replace('"https://example.com/carpool.git"', f'"file://{REPOSITORY}"')
        wanted = wanted.replace('from: "1.0.0"', f'exact: "{version}"')
        wanted = wanted.replace('"https://example.com', '"\\(CommandLine.arguments[1])')
        if not path.exists() or path.read_text() != wanted:
            path.write_text(wanted)


def package_command() -> list[str]:
    return ["swift", "build", "--package-path", str(PACKAGE), "--disable-dependency-cache", *QUICK]


def linking_command() -> list[str]:
    """Compile the program against the modules of the daemon, and link it with all objects but the daemon's own."""
    maps = [*ROOT.glob("Sources/*/module.modulemap"), *BUILT.glob("*.build/module.modulemap")]
    headers = ROOT.glob("Sources/*/include")
    objects = [name for name in PROGRAM_OBJECTS.read_text().split() if "/carpoold.build/" not in name]
    return [
        *("swiftc", "-module-name", "titles", "-swift-version", "6", "-gnone", "-Onone", "-warnings-as-errors"),
        *("-I", str(BUILT / "Modules")),
        *(option for path in maps for option in ("-Xcc", f"-fmodule-map-file={path}")),
        *(option for path in headers for option in ("-I", str(path))),
        *map(str, (PACKAGE / "Sources/titles").glob("*.swift")),
        *objects,
        *(f"-l{name}" for name in ("jansson", "curl", "ssl", "crypto", "z", "psl", "sqlite3")),
        *("-o", str(LINKED)),
    ]


def compile_with(command: list[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=BUILD_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning:" not in done.stdout + done.stderr, done.stdout + done.stderr


def run(program: Path, directory: Path, url: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), url],
        check=False,
        env=environment(directory) | {"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )


def test_the_program_of_the_page_makes_its_requests(program: Path, directory: Path, origin: ScriptedOrigin) -> None:
    done = run(program, directory, origin.url)
    assert (done.returncode, done.stderr) == (0, "")
    status, person = done.stdout.split("\n", 1)
    assert status == "200 false"
    assert person.splitlines()[0] == "GET /people?born=1815&name=Ada HTTP/1.1"
    sent = {request.method: request for request in origin.received(2)}
    assert sent["POST"].target == "/notes"
    assert sent["POST"].body == b'{"text":"first of all"}'
    assert sent["POST"].values("content-type") == ["application/json"]
    assert sent["GET"].values("user-agent")[0].startswith("titles/")


def test_a_failure_is_thrown_to_the_caller(program: Path, directory: Path, origin: ScriptedOrigin) -> None:
    """The program does not catch it, so Swift ends the program with its name."""
    origin.on("/people", lambda exchange: exchange.reply(404))
    done = run(program, directory, origin.url)
    assert done.returncode != 0
    assert "response_validation_failed.unacceptable_status_code" in done.stderr


def test_one_thread_is_enough(program: Path, directory: Path, origin: ScriptedOrigin) -> None:
    """While it waits for both answers there is one thread, and no daemon."""
    gate = origin.hold("/people")
    origin.hold("/notes").set()
    child = begin([str(program), origin.url], env=environment(directory), stdout=subprocess.PIPE)
    try:
        origin.received(2)
        assert len(list(Path(f"/proc/{child.pid}/task").iterdir())) == 1
        assert list((directory / "runtime").iterdir()) == []
    finally:
        gate.set()
        child.communicate(timeout=PATIENCE_SECONDS)
    assert child.returncode == 0


def test_f11_interceptors_and_throwing_closures_are_public(program: Path) -> None:
    """The fixture has compiled them from outside the module."""
    assert (PACKAGE / "Sources/titles/Parts.swift").read_text() == PARTS
    assert program.exists()
