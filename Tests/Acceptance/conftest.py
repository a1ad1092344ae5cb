"""The fixtures: origins live for the whole run, daemons for one test each."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import carpool
import pytest
from carpool import _waiting
from harness import faults, leaks, passes
from harness.balance import Balance
from harness.clocks import Clocks
from harness.command import Run, runner
from harness.daemon import CARPOOLD, IS_CHECKED, Daemon
from harness.link import Link
from harness.namespace import Namespace
from harness.namespaces import Machine
from harness.process import own_name, persistently, remove_remains
from harness.shared import Lender
from harness.story import Story
from harness.wire import Wire
from loops import LOOPS, RunLoop, running_on
from origins.authority import Authority, Certificate
from origins.httpbin import Httpbin
from origins.mutual import MutualNginx, issue_person
from origins.nghttpd import Nghttpd
from origins.nginx import Nginx
from origins.peer import Peer, StartPeer, Talk, echo
from origins.proxies import Socks, Squid
from origins.scripted import ScriptedOrigin
from origins.tokens import Tokens
from origins.trustworld import World, make_world

pytest_plugins = ["deadlines", "resuming"]
collect_ignore = [] if "JSON_SUITE" in os.environ else ["test_json_suite.py"]

StartDaemon = Callable[..., Daemon]
HAS_FAILED = pytest.StashKey[bool]()


def pytest_sessionstart() -> None:
    # A proxy of the machine does not reach the tests' origins, whose authorities its variables do not name.
    for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"]:
        os.environ.pop(name, None)
        os.environ.pop(name.upper(), None)
    for name in ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"]:
        os.environ.pop(name, None)
    remove_remains()
    if shutil.which(CARPOOLD) is None:
        pytest.exit(f"{CARPOOLD} is not built: swift build -c release --product carpoold", returncode=1)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    return True if passes.is_left_out(collection_path) else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[HAS_FAILED] = True
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each hostile test has a daemon of its own, whose turns and memory it measures.

    Modules with few tests come first: their tests take longest, and the last module of a run should be a short one.
    """
    counts = Counter(item.path for item in items)
    items.sort(key=lambda item: counts[item.path])
    for item in items:
        if item.path.parent.name == "hostile":
            item.add_marker(pytest.mark.own_daemon)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(faults.told())


@pytest.fixture
def directory() -> Iterator[Path]:
    """A short path: the path of a socket is limited to 107 bytes."""
    path = Path(tempfile.mkdtemp(prefix="carpool-"))
    yield path
    shutil.rmtree(path)


@pytest.fixture(params=LOOPS)
def run_loop(request: pytest.FixtureRequest) -> RunLoop:
    return running_on(request.param)


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def behind() -> Iterator[ScriptedOrigin]:
    """The scripted origin behind nginx's /held/."""
    origin = ScriptedOrigin()
    yield origin
    origin.stop()


@pytest.fixture
def other() -> Iterator[ScriptedOrigin]:
    """Another origin: the same host at another port."""
    scripted = ScriptedOrigin()
    yield scripted
    scripted.stop()


@pytest.fixture(scope="session")
def nginx(tmp_path_factory: pytest.TempPathFactory, authority: Authority, behind: ScriptedOrigin) -> Iterator[Nginx]:
    origin = Nginx(tmp_path_factory.mktemp("nginx"), authority, behind.port)
    yield origin
    origin.stop()


@pytest.fixture(scope="session")
def nghttpd(tmp_path_factory: pytest.TempPathFactory, authority: Authority, nginx: Nginx) -> Iterator[Nghttpd]:
    place, files = tmp_path_factory.mktemp("nghttpd"), nginx.directory / "files"
    origin = persistently(lambda number: Nghttpd(place / str(number), authority, files))
    yield origin
    origin.stop()


@pytest.fixture(scope="session")
def httpbin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Httpbin]:
    origin = Httpbin(tmp_path_factory.mktemp("httpbin"))
    yield origin
    origin.stop()


@pytest.fixture
def origin() -> Iterator[ScriptedOrigin]:
    """A scripted origin of the test's own."""
    scripted = ScriptedOrigin()
    yield scripted
    scripted.stop()


@pytest.fixture
def namespace() -> Iterator[Namespace]:
    """A network of the test's own."""
    try:
        made = Namespace(own_name("carpool"))
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no network namespace may be made here: {error}")
    yield made
    made.remove()


@pytest.fixture
def machine() -> Iterator[Machine]:
    """A machine of the test's own, whose cables it can pull."""
    try:
        made = Machine()
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no network namespace may be made here: {error}")
    yield made
    made.remove()


@pytest.fixture
def link() -> Iterator[Link]:
    """A machine with a default route, which leads to origins of the test's own."""
    try:
        made = Link()
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no network namespace may be made here: {error}")
    yield made
    made.remove()


@pytest.fixture
def start(directory: Path) -> Iterator[StartDaemon]:
    """Start daemons with arguments, configuration or variables of the test's own."""
    with contextlib.ExitStack() as started:
        # Called last, when all have ended.
        started.callback(leaks.check, directory)

        def begin(*arguments: str, **settings: Any) -> Daemon:
            daemon = Daemon(directory, arguments, **settings)
            # The last first; each is ended even if the leftovers of another fail the test.
            started.callback(daemon.stop)
            return daemon

        yield begin


@pytest.fixture
def start_by(start: StartDaemon, directory: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Daemon]:
    """Start a daemon by lines of shell, in which "$@" stands for its arguments."""

    def begin(script: str) -> Daemon:
        program = directory / "carpoold"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o700)
        monkeypatch.setattr("harness.daemon.CARPOOLD", str(program))
        return start()

    return begin


@pytest.fixture(scope="module")
def lender(request: pytest.FixtureRequest) -> Iterator[Lender]:
    """The daemon that the tests of a module share, with the module's `CONFIG`."""
    lent = Lender(getattr(request.module, "CONFIG", None))
    yield lent
    lent.close()


@pytest.fixture
def clocks(tmp_path: Path) -> Clocks:
    """Clocks that the test steps, for a daemon that is started with their `variables`."""
    if not IS_CHECKED:
        pytest.skip(
            "the clocks of the shipped build cannot be shifted; Tests/run checked runs this with a build that can"
        )
    return Clocks(tmp_path / "clocks")


@pytest.fixture
def daemon(request: pytest.FixtureRequest) -> Iterator[Daemon]:
    """A daemon as it is started by default, or with the `CONFIG` of the test's module.

    The tests of a module share it. Those that use `start` or `directory`, or have the mark `own_daemon`, have one of
    their own, because they configure, kill or measure it.
    """
    is_marked = request.node.get_closest_marker("own_daemon") is not None
    if is_marked or {"start", "directory"} & set(request.fixturenames):
        started: Daemon = request.getfixturevalue("start")(config=getattr(request.module, "CONFIG", None))
        assert started.launch_status == "ready", started.launch_status
        yield started
    else:
        lent: Lender = request.getfixturevalue("lender")
        with lent.lend(lambda: request.node.stash.get(HAS_FAILED, False)) as shared:
            yield shared


@pytest.fixture
def client(daemon: Daemon) -> Iterator[carpool.Client]:
    with daemon.client() as connected:
        yield connected


@pytest.fixture
def balance(daemon: Daemon, origin: ScriptedOrigin) -> Iterator[Balance]:
    """What the daemon and this process hold before the test."""
    before = Balance(daemon, origin)
    yield before
    before.close()


@pytest.fixture
def tokens(origin: ScriptedOrigin) -> Iterator[Tokens]:
    """A resource, and a token endpoint on an origin of its own."""
    server = ScriptedOrigin()
    service = Tokens(origin, server)
    yield service
    service.gate.set()
    server.stop()


@pytest.fixture
def variables(daemon: Daemon) -> dict[str, str]:
    """The environment in which the command finds the test's daemon."""
    return {**daemon.environment, "CARPOOL_SOCKET": str(daemon.socket)}


@pytest.fixture
def run(variables: dict[str, str], tmp_path: Path) -> Run:
    """Run the command against the test's daemon, in a directory of its own."""
    return runner(variables, tmp_path)


@pytest.fixture
def wire(daemon: Daemon) -> Iterator[Wire]:
    with daemon.wire() as connected:
        yield connected


@pytest.fixture
def story(wire: Wire) -> Story:
    """A connection that receives the events of all its requests."""
    return Story(wire)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory for what is downloaded."""
    path = tmp_path / "downloads"
    path.mkdir()
    return path


@pytest.fixture
def peer(authority: Authority) -> Iterator[StartPeer]:
    """Start a peer; returns the parameters of `stream.open` that reach it."""
    peers: list[Peer] = []

    def begin(
        talk: Talk = echo, *, tls: bool = False, receive_bytes: int = 0, protocols: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        peers.append(Peer(talk, authority.shared("peer") if tls else None, receive_bytes, protocols))
        trust = {"trust": {"ca_file": str(authority.ca_file)}} if tls else {}
        return {"host": "127.0.0.1", "port": peers[-1].port, "tls": tls, **trust}

    yield begin
    for started in peers:
        started.stop()


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """TLS servers with each fault of a certificate."""
    with make_world(tmp_path_factory.mktemp("trust")) as made:
        yield made


@pytest.fixture(scope="module")
def mutual(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Iterator[MutualNginx]:
    """An origin that asks for client certificates."""
    nginx = MutualNginx(tmp_path_factory.mktemp("mutual") / "nginx", authority)
    yield nginx
    nginx.stop()


@pytest.fixture(scope="session")
def person(authority: Authority) -> Certificate:
    """A client certificate in all its forms."""
    return issue_person(authority)


@pytest.fixture(scope="session")
def squid(authority: Authority) -> Iterator[Squid]:
    """An HTTP proxy; its certificate is for localhost."""
    # Its user must be able to enter the directory, which pytest makes for this user alone.
    with tempfile.TemporaryDirectory(prefix="squid-") as place:
        Path(place).chmod(0o755)
        certificate = authority.issue("squid", "DNS:localhost")
        proxy = persistently(lambda number: Squid(Path(place) / f"squid{number}", certificate))
        yield proxy
        proxy.stop()


@pytest.fixture(scope="session")
def socks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Socks]:
    """SOCKS proxies."""
    place = tmp_path_factory.mktemp("socks")
    proxy = persistently(lambda number: Socks(place / f"socks{number}"))
    yield proxy
    proxy.stop()


@pytest.fixture
def split(authority: Authority) -> Iterator[ScriptedOrigin]:
    """An origin whose certificate is for split.example."""
    origin = ScriptedOrigin(authority.shared("split", "DNS:split.example"))
    yield origin
    origin.stop()


@pytest.fixture
def stopped(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Stop the daemon by SIGSTOP; it continues at the end of the test."""
    assert _waiting.PING_SECONDS <= 10
    monkeypatch.setattr(_waiting, "PING_SECONDS", 2.5)
    yield daemon.stop_between_turns
    daemon.signal(signal.SIGCONT)
