"""Cookies: persistent jars and declared sessions."""

from __future__ import annotations

import os
import shutil

import pytest
from conftest import StartDaemon
from harness.cookies import SECRET, perform, place, sent, setting
from harness.daemon import Daemon
from harness.declared import declaring, refused, reload
from harness.waiting import eventually
from harness.wire import Wire
from origins.scripted import ScriptedOrigin


def test_persistent_cookies_survive_a_restart(start: StartDaemon, origin: ScriptedOrigin) -> None:
    url = setting(origin, "/set", f"lasting={SECRET}; Max-Age=1000; Path=/", "short=1; Path=/")
    settings = {"cookies": {"persistent": True}}
    daemon = start()
    with daemon.wire() as wire:
        wire.call("session.create", name="api", configuration=settings)
        perform(wire, url, session="api")
        perform(wire, origin.url, session="api")
        assert sent(origin) == f"lasting={SECRET}; short=1"
    daemon.stop()
    files = list(daemon.directory.rglob("cookies*/*.txt"))
    assert [path.name.partition(".")[2] for path in files] == ["api.txt"]
    assert files[0].stat().st_mode & 0o777 == 0o600
    assert files[0].parent.stat().st_mode & 0o777 == 0o700
    daemon = start()
    with daemon.wire() as wire:
        wire.call("session.create", name="api", configuration=settings)
        perform(wire, origin.url, session="api")
        assert sent(origin) == f"lasting={SECRET}"
        wire.call("cookies.remove", session="api")
        assert eventually(lambda: not files[0].exists())


def test_a_killed_daemon_loses_no_cookie_that_was_written(start: StartDaemon, origin: ScriptedOrigin) -> None:
    settings = {"cookies": {"persistent": True}}
    daemon = start()
    with daemon.wire() as wire:
        wire.call("session.create", name="api", configuration=settings)
        perform(wire, setting(origin, "/set", "a=1; Max-Age=1000; Path=/"), session="api")
        assert eventually(lambda: any(daemon.directory.rglob("cookies*/*.txt")))
    daemon.kill()
    daemon = start()
    with daemon.wire() as wire:
        wire.call("session.create", name="api", configuration=settings)
        perform(wire, origin.url, session="api")
        assert sent(origin) == "a=1"


def test_an_invalidated_session_leaves_its_cookies_to_the_next_of_its_name(wire: Wire, origin: ScriptedOrigin) -> None:
    for expected in ("", "a=1"):
        wire.call("session.create", name="api", configuration={"cookies": {"persistent": True}})
        perform(wire, origin.url, session="api")
        assert sent(origin) == expected
        perform(wire, setting(origin, "/set", "a=1; Max-Age=1000; Path=/"), session="api")
        wire.call("session.invalidate", session="api")


@pytest.mark.own_daemon
def test_the_directory_is_made_again_if_it_was_removed(daemon: Daemon, wire: Wire, origin: ScriptedOrigin) -> None:
    folder = next(daemon.directory.rglob("cookies*"))
    shutil.rmtree(folder.parent)
    wire.call("session.create", name="api", configuration={"cookies": {"persistent": True}})
    perform(wire, setting(origin, "/set", "a=1; Max-Age=1000; Path=/"), session="api")
    assert eventually(lambda: any(folder.glob("*.txt")))


@pytest.mark.own_daemon
def test_a_file_that_cannot_be_read_refuses_the_session(daemon: Daemon, wire: Wire) -> None:
    folder = next(daemon.directory.rglob("cookies*"))
    (folder / f"{os.getuid()}.api.txt").symlink_to("/etc/passwd")
    error = refused(wire, "session.create", name="api", configuration={"cookies": {"persistent": True}})
    assert place(error) == "params.configuration.cookies.persistent"


def test_a_declared_session_has_cookies(start: StartDaemon, origin: ScriptedOrigin) -> None:
    """Also `default`, and also after a reload that changes the session."""
    config = declaring(default={"cookies": {}}, api={"cookies": {"persistent": True}})
    daemon = start(config=config)
    with daemon.wire() as wire:
        for session in ("default", "api"):
            perform(wire, setting(origin, "/set", f"{session}=1; Max-Age=1000; Path=/"), session=session)
            perform(wire, origin.url, session=session)
            assert sent(origin) == f"{session}=1"
        changed = declaring(default={"cookies": {}}, api={"cookies": {"persistent": True}, "timeout_ms": 5_000})
        assert reload(daemon, changed) == ["sessions.api"]
        perform(wire, origin.url, session="api")
        assert sent(origin) == "api=1"
    daemon.stop()
    daemon = start(config=changed)
    with daemon.wire() as wire:
        for session, expected in (("default", ""), ("api", "api=1")):
            perform(wire, origin.url, session=session)
            assert sent(origin) == expected


def test_a_declared_session_whose_file_cannot_be_read_has_an_empty_jar(
    start: StartDaemon, origin: ScriptedOrigin
) -> None:
    """The daemon starts, and the log names the file."""
    config = declaring(api={"cookies": {"persistent": True}})
    daemon = start(config=config)
    daemon.stop()
    folder = next(daemon.directory.rglob("cookies*"))
    file = folder / f"{os.getuid()}.api.txt"
    file.write_text("h.test\tFALSE\t/\tFALSE\t4000000000\ta\tb\n" * 3_001)
    daemon = start(config=config)
    # A thread reads the file while the daemon serves already.
    assert eventually(lambda: "cookies not read" in daemon.log.read_text())
    with daemon.wire() as wire:
        assert wire.call("cookies.list", session="api")["cookies"] == []
        perform(wire, setting(origin, "/set", "a=1; Max-Age=1000; Path=/"), session="api")
    daemon.stop()
    assert file.read_text().count("\n") == 2


def test_a_write_that_failed_is_repeated_at_the_end(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start()
    folder = next(daemon.directory.rglob("cookies*"))
    # In place of the new file, which can then be neither made nor removed.
    obstacle = folder / f"{os.getuid()}.api.txt.new"
    obstacle.mkdir()
    with daemon.wire() as wire:
        wire.call("session.create", name="api", configuration={"cookies": {"persistent": True}})
        perform(wire, setting(origin, "/set", "a=1; Max-Age=1000; Path=/"), session="api")
        assert eventually(lambda: "cookies not stored" in daemon.log.read_text())
        obstacle.rmdir()
    daemon.stop()
    assert "\ta\t1\n" in (folder / f"{os.getuid()}.api.txt").read_text()


def test_a_change_just_before_the_end_is_written(start: StartDaemon, origin: ScriptedOrigin) -> None:
    daemon = start()
    with daemon.wire() as wire:
        wire.call("session.create", name="api", configuration={"cookies": {"persistent": True}})
        perform(wire, setting(origin, "/set", "a=1; Max-Age=1000; Path=/"), session="api")
    daemon.stop()
    assert "\ta\t1\n" in next(daemon.directory.rglob("cookies*/*.txt")).read_text()


def test_a_user_has_256_files(start: StartDaemon, wire: Wire, daemon: Daemon) -> None:
    """Also if the sessions were created before there were files."""
    folder = next(daemon.directory.rglob("cookies*"))
    wire.call("session.create", name="late", configuration={"cookies": {"persistent": True}})
    for number in range(256):
        (folder / f"{os.getuid()}.n{number}.txt").write_text("")
    error = refused(wire, "session.create", name="new", configuration={"cookies": {"persistent": True}})
    assert place(error) == "params.configuration.cookies.persistent"
    cookie = {"name": "a", "value": "1", "domain": "h.test", "expires": 4_000_000_000}
    wire.call("cookies.set", session="late", cookies=[cookie])
    assert eventually(lambda: "cookies not stored" in daemon.log.read_text())
    assert not (folder / f"{os.getuid()}.late.txt").exists()
