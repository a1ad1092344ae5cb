"""Files in folders of another user: nothing of root's is moved, read or written because of them, and nothing hangs."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import StartDaemon
from harness.command import OK, Run, runner
from harness.daemon import Daemon
from harness.users import NOBODY, as_root
from harness.waiting import eventually
from harness.wire import Wire
from origins.nginx import Nginx
from origins.scripted import ScriptedOrigin

pytestmark = as_root

HELLO = b"hello, world\n"


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A folder of another user."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    return folder


def give(path: Path) -> None:
    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def partial_of_root(wire: Wire, nginx: Nginx, folder: Path) -> tuple[Path, str]:
    """Cancel a download of root's; return its partial file and its token."""
    destination = {"path": str(folder / "got")}
    call = wire.call("request.submit", url=f"{nginx.http}/slow/16m.bin", kind="download", destination=destination)
    parts: list[Path] = eventually(lambda: [part for part in folder.glob(".got.*") if part.stat().st_size > 0])
    token = wire.call("request.cancel", request=call["request"], resume_data=True)["resume_data"]
    return parts[0], token


def test_a_resume_note_of_another_user_is_not_believed(
    wire: Wire, nginx: Nginx, run: Run, tmp_path: Path, theirs: Path
) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    part, token = partial_of_root(wire, nginx, private)
    size = part.stat().st_size
    note = theirs / ".got.carpool-resume"
    note.write_text(token)
    give(note)
    assert run("get", "-C", "-", "-o", theirs / "got", f"{nginx.http}/hello.txt").returncode == OK
    assert (theirs / "got").read_bytes() == HELLO
    assert part.stat().st_size == size
    assert note.read_text() == token, "another user's file is left alone"


def test_a_resume_note_of_root_names_only_a_part_beside_the_destination(
    wire: Wire, nginx: Nginx, run: Run, tmp_path: Path, theirs: Path
) -> None:
    """Another user can give root's note of one file the name of another's."""
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    part, token = partial_of_root(wire, nginx, private)
    note = theirs / ".got.carpool-resume"
    note.write_text(token)
    note.chmod(0o600)
    assert run("get", "-C", "-", "-o", theirs / "got", f"{nginx.http}/hello.txt").returncode == OK
    assert (theirs / "got").read_bytes() == HELLO
    assert part.exists()


def fifo(path: Path, secret: Path) -> None:
    os.mkfifo(path, 0o666)


def link(path: Path, secret: Path) -> None:
    path.symlink_to(secret)


def listening(path: Path, secret: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def directory_(path: Path, secret: Path) -> None:
    path.mkdir()


PLANTED = pytest.mark.parametrize("plant", [fifo, link, listening, directory_])


@PLANTED
@pytest.mark.parametrize("options", [[], ["-C", "-"]])
def test_what_is_planted_as_a_resume_note_neither_hangs_nor_is_followed(
    daemon: Daemon, nginx: Nginx, run: Run, theirs: Path, tmp_path: Path, plant: Callable[[Path, Path], None],
    options: list[str],
) -> None:  # fmt: skip
    secret = tmp_path / "secret"
    secret.write_text("root's")
    note = theirs / ".got.carpool-resume"
    plant(note, secret)
    give(note)
    assert run("get", *options, "-o", theirs / "got", f"{nginx.http}/hello.txt").returncode == OK
    assert (theirs / "got").read_bytes() == HELLO
    assert secret.read_text() == "root's"
    assert os.path.lexists(note)


@pytest.fixture
def abroad(daemon: Daemon, theirs: Path, tmp_path: Path) -> Iterator[Run]:
    """Run commands of root in the home directory of another user."""
    kept = {name: value for name, value in daemon.environment.items() if not name.startswith("XDG_")}
    yield runner({**kept, "HOME": str(theirs), "CARPOOL_SOCKET": str(daemon.socket)}, tmp_path)


def test_a_curlrc_of_another_user_is_not_read(abroad: Run, nginx: Nginx, theirs: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("root's")
    options = theirs / ".curlrc"
    options.write_text(f"output = {target}\n")
    give(options)
    done = abroad("curl", "-s", f"{nginx.http}/hello.txt")
    assert (done.returncode, done.stdout) == (OK, HELLO)
    assert target.read_text() == "root's"
    warned = abroad("curl", "-S", f"{nginx.http}/hello.txt")
    assert b".curlrc is not used: another user can change" in warned.stderr


@PLANTED
@pytest.mark.parametrize("name", [".curlrc", ".netrc"])
def test_what_is_planted_in_a_home_directory_neither_hangs_nor_is_followed(
    abroad: Run, origin: ScriptedOrigin, theirs: Path, tmp_path: Path, plant: Callable[[Path, Path], None], name: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("machine 127.0.0.1 login root password toor\n")
    plant(theirs / name, secret)
    give(theirs / name)
    for command in (["curl", "-s", "--netrc-optional"], ["get", "--netrc-optional"]):
        assert abroad(*command, origin.url).returncode == OK
    assert [request.values("Authorization") for request in origin.requests] == [[], []]


@pytest.mark.own_daemon
def test_directories_of_another_user_are_replaced(start: StartDaemon, nginx: Nginx, theirs: Path) -> None:
    """The spool, the stores, cookies and notes of partial files are in the fallback directory, and the log says so."""
    homes = {f"XDG_{kind}_HOME": str(theirs / kind.lower()) for kind in ("STATE", "CACHE")}
    daemon = start(variables=homes)
    spool = Path(daemon.call("daemon.info")["spool"])
    assert spool.is_relative_to(f"/tmp/carpool-{os.getuid()}")
    record = daemon.call("request.perform", url=f"{nginx.http}/1m.bin", on_disconnect="detach")
    assert Path(record["body"]["file"]).parent == spool
    assert list(theirs.iterdir()) == []
    log = daemon.log.read_text()
    assert log.count("another user can replace it") == 2
    daemon.call("body.release", request=record["request"])


@pytest.mark.own_daemon
def test_a_folder_below_one_that_all_may_write_is_not_used(start: StartDaemon, nginx: Nginx, tmp_path: Path) -> None:
    """Its own owner is root, but everybody can give another folder its name."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    daemon = start(variables={"XDG_CACHE_HOME": str(shared / "cache")})
    assert Path(daemon.call("daemon.info")["spool"]).is_relative_to(f"/tmp/carpool-{os.getuid()}")
    assert list(shared.iterdir()) == []


def received(record: Any) -> bytes:
    return Path(record["body"]["file"]).read_bytes()


@pytest.mark.own_daemon
def test_the_spool_is_made_again(start: StartDaemon, nginx: Nginx) -> None:
    """Its folder may be removed, or moved away, while the daemon runs."""
    daemon = start()
    with daemon.wire() as wire:
        spool = Path(wire.call("daemon.info")["spool"])
        expected = (nginx.directory / "files" / "1m.bin").read_bytes()
        for change in (spool.rmdir, lambda: spool.rename(spool.with_name("moved"))):
            change()
            record = wire.call("request.perform", url=f"{nginx.http}/1m.bin")
            assert received(record) == expected
            wire.call("body.release", request=record["request"])
            assert list(spool.iterdir()) == []
