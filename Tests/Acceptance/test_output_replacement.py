"""`-o` onto a file that is there: what the file has besides its bytes stays, and a failure changes nothing."""

from __future__ import annotations

import functools
import os
import stat
import subprocess
from pathlib import Path

import pytest
from conftest import StartDaemon
from harness.command import HTTP_FAILURE, OK, TRANSFER_FAILED, Done, Run
from harness.daemon import CARPOOL, Daemon, environment
from harness.users import NOBODY, as_root
from harness.waiting import PATIENCE_SECONDS
from origins.scripted import Exchange, ScriptedOrigin

# Written by the daemon, and by the command itself.
WAYS = pytest.mark.parametrize("options", [[], ["-i"]], ids=["daemon", "command"])
LARGE = bytes(range(256)) * 8192
# user::rw- user:65534:r-- group::r-- mask::r-- other::--- (acl(5), as the kernel stores it).
ACCESS = bytes.fromhex("02000000 01000600ffffffff 02000400feff0000 04000400ffffffff 10000400ffffffff 20000000ffffffff")


@pytest.fixture
def url(origin: ScriptedOrigin) -> str:
    return origin.on("/new", lambda exchange: exchange.reply(body=b"new"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    return made


def old(folder: Path, mode: int = 0o644) -> Path:
    path = folder / "file"
    path.write_text("the old content, which is longer")
    path.chmod(mode)
    return path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def content(path: Path) -> bytes:
    return path.read_bytes().rpartition(b"\r\n\r\n")[2]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@WAYS
@pytest.mark.parametrize("bits", [0o600, 0o755, 0o444, 0o640])
def test_the_mode_stays_in_a_new_inode(run: Run, url: str, folder: Path, options: list[str], bits: int) -> None:
    file = old(folder, bits)
    with file.open("rb") as reader:
        assert run("get", *options, "-o", file, url).returncode == OK
        assert reader.read() == b"the old content, which is longer", "readers of the old file are not disturbed"
    assert (content(file), mode(file), names(folder)) == (b"new", bits, ["file"])


@WAYS
def test_a_new_file_has_the_mode_of_the_umask(run: Run, url: str, folder: Path, options: list[str]) -> None:
    assert run("get", *options, "-o", folder / "file", url, umask=0o027).returncode == OK
    assert mode(folder / "file") == 0o640


@as_root
@WAYS
def test_owner_and_group_stay(run: Run, url: str, folder: Path, options: list[str]) -> None:
    file = old(folder, 0o664)
    os.chown(file, 12345, 23456)
    assert run("get", *options, "-o", file, url).returncode == OK
    status = file.stat()
    assert (status.st_uid, status.st_gid, mode(file), content(file)) == (12345, 23456, 0o664, b"new")


@WAYS
def test_attributes_and_access_lists_stay(run: Run, url: str, folder: Path, options: list[str]) -> None:
    file = old(folder)
    try:
        os.setxattr(file, "user.origin", b"kept")
        os.setxattr(file, "system.posix_acl_access", ACCESS)
    except OSError as error:
        pytest.skip(f"the file system has no such attributes: {error}")
    before = mode(file)
    assert run("get", *options, "-o", file, url).returncode == OK
    assert content(file) == b"new"
    assert os.getxattr(file, "user.origin") == b"kept"
    assert os.getxattr(file, "system.posix_acl_access") == ACCESS
    assert mode(file) == before
    assert sorted(os.listxattr(file)) == ["system.posix_acl_access", "user.origin"]


@WAYS
def test_an_inherited_access_list_does_not_widen_the_old_file(
    run: Run, url: str, folder: Path, options: list[str]
) -> None:
    file = old(folder, 0o600)
    try:
        os.setxattr(folder, "system.posix_acl_default", ACCESS)
    except OSError as error:
        pytest.skip(f"the file system has no access lists: {error}")
    assert run("get", *options, "-o", file, url).returncode == OK
    assert (content(file), mode(file), os.listxattr(file)) == (b"new", 0o600, [])


@WAYS
@pytest.mark.parametrize("body", [b"", b"new", LARGE], ids=["empty", "short", "large"])
def test_all_hard_links_get_the_bytes(
    run: Run, origin: ScriptedOrigin, folder: Path, options: list[str], body: bytes
) -> None:
    file = old(folder, 0o600)
    inode = file.stat().st_ino
    os.link(file, folder / "other")
    source = origin.on("/body", lambda exchange: exchange.reply(body=body))
    assert run("get", *options, "-o", file, source).returncode == OK
    assert (folder / "other").read_bytes() == file.read_bytes()
    assert content(file) == body
    assert (file.stat().st_ino, file.stat().st_nlink, mode(file)) == (inode, 2, 0o600)
    assert names(folder) == ["file", "other"]


@WAYS
@pytest.mark.parametrize("failure", ["cut", "refused"])
def test_a_failure_leaves_a_file_with_two_names_as_it_was(
    run: Run, origin: ScriptedOrigin, folder: Path, options: list[str], failure: str
) -> None:
    def cut(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n" + LARGE)
        exchange.close()

    file = old(folder)
    os.link(file, folder / "other")
    paths = {
        "cut": (origin.on("/cut", cut), TRANSFER_FAILED),
        "refused": (origin.on("/refused", lambda exchange: exchange.reply(500, LARGE)), HTTP_FAILURE),
    }
    source, code = paths[failure]
    assert run("get", "-f", *options, "-o", file, source).returncode == code
    assert file.read_text() == "the old content, which is longer"
    assert names(folder) == ["file", "other"]


@WAYS
def test_a_link_stays_and_what_it_leads_to_is_replaced(
    run: Run, url: str, folder: Path, tmp_path: Path, options: list[str]
) -> None:
    file = old(folder, 0o600)
    link = tmp_path / "link"
    link.symlink_to("folder/file")
    assert run("get", *options, "-o", link, url).returncode == OK
    assert link.is_symlink() and (content(file), mode(file)) == (b"new", 0o600)


@as_root
@WAYS
def test_a_mount_point_is_written_in_place(url: str, folder: Path, tmp_path: Path, options: list[str]) -> None:
    if subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no mount namespaces here")
    real = tmp_path / "real"
    real.write_text("the old content, which is longer")
    real.chmod(0o640)
    mounted = folder / "mounted"
    mounted.touch()
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    script = 'mount --bind "$1" "$2" && "$3" get $5 -o "$2" "$4"; code=$?; "$3" daemon stop > "$HOME/stop"; exit $code'
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", real, mounted, CARPOOL, url,
         " ".join(options)],
        env=environment(home) | {"HOME": str(home), "XDG_RUNTIME_DIR": str(home)},
        check=False, capture_output=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (OK, b"")
    assert (content(real), mode(real)) == (b"new", 0o640)
    assert names(folder) == ["mounted"]


class TestAnotherUser:
    """A user without privileges."""

    pytestmark = [as_root, pytest.mark.own_daemon]  # noqa: RUF012

    @pytest.fixture
    def daemon(self, start: StartDaemon) -> Daemon:
        return start(user=NOBODY)

    @pytest.fixture
    def theirs(self, daemon: Daemon) -> Path:
        """A folder that the user reaches and owns."""
        made = daemon.directory / "files"
        made.mkdir()
        os.chown(made, NOBODY, NOBODY)
        return made

    def get(self, daemon: Daemon, *arguments: str | Path) -> Done:
        return subprocess.run(
            [CARPOOL, "get", *map(str, arguments)],
            env=environment(daemon.directory) | {"CARPOOL_SOCKET": str(daemon.socket)},
            user=NOBODY, group=NOBODY, extra_groups=[], cwd="/",
            capture_output=True, timeout=PATIENCE_SECONDS, check=False,
        )  # fmt: skip

    @WAYS
    def test_a_file_in_a_folder_that_takes_no_names(
        self, daemon: Daemon, theirs: Path, origin: ScriptedOrigin, options: list[str]
    ) -> None:
        file = old(theirs, 0o600)
        os.chown(file, NOBODY, NOBODY)
        theirs.chmod(0o555)
        inode = file.stat().st_ino
        for body in (LARGE, b"new"):
            url = origin.on("/body", functools.partial(Exchange.reply, body=body))
            done = self.get(daemon, *options, "-o", file, url)
            assert (done.returncode, done.stderr) == (OK, b"")
            assert (file.read_bytes().endswith(body), file.stat().st_ino, mode(file)) == (True, inode, 0o600)
        assert content(file) == b"new"
        gone = origin.on("/gone", lambda exchange: exchange.reply(404, LARGE))
        assert self.get(daemon, "-f", *options, "-o", file, gone).returncode == HTTP_FAILURE
        assert content(file) == b"new"
        for spare in ("/var/tmp", "/tmp"):
            assert not [path for path in Path(spare).iterdir() if path.name.startswith(".file.")]

    @WAYS
    @pytest.mark.parametrize("bits", [0o400, 0o440, 0o444])
    def test_attributes_of_a_file_that_its_owner_may_not_write(
        self, daemon: Daemon, theirs: Path, url: str, options: list[str], bits: int
    ) -> None:
        file = old(theirs)
        os.chown(file, NOBODY, NOBODY)
        try:
            os.setxattr(file, "user.origin", b"kept")
            os.setxattr(file, "system.posix_acl_access", ACCESS)
        except OSError as error:
            pytest.skip(f"the file system has no such attributes: {error}")
        file.chmod(bits)
        done = self.get(daemon, *options, "-o", file, url)
        assert (done.returncode, done.stderr) == (OK, b"")
        assert (mode(file), content(file), os.getxattr(file, "user.origin")) == (bits, b"new", b"kept")

    @WAYS
    def test_a_file_of_another_owner_is_written_in_place(
        self, daemon: Daemon, theirs: Path, url: str, options: list[str]
    ) -> None:
        file = old(theirs, 0o666)
        os.chown(file, 12345, NOBODY)
        done = self.get(daemon, *options, "-o", file, url)
        assert (done.returncode, done.stderr) == (OK, b"")
        assert (file.stat().st_uid, mode(file), content(file)) == (12345, 0o666, b"new")

    @WAYS
    def test_a_file_that_cannot_be_written_is_refused_before_anything_is_sent(
        self, daemon: Daemon, theirs: Path, origin: ScriptedOrigin, url: str, options: list[str]
    ) -> None:
        file = old(theirs, 0o644)
        os.chown(file, 12345, 12345)
        locked = theirs / "locked"
        locked.mkdir(mode=0o555)
        for path in (file, locked / "new"):
            done = self.get(daemon, *options, "-o", path, url)
            assert (done.returncode, done.stderr) == (
                TRANSFER_FAILED, f"carpool: cannot write to {path}: Permission denied\n".encode(),
            )  # fmt: skip
        assert origin.requests == []
        assert content(file) == b"the old content, which is longer"


@as_root
def test_a_name_that_another_user_has_planted_for_a_file_of_root_is_replaced(
    run: Run, url: str, folder: Path, tmp_path: Path
) -> None:
    """A hard link in a folder of another user is not a way to write to root's file."""
    secret = tmp_path / "secret"
    secret.write_text("root's")
    os.chown(folder, NOBODY, NOBODY)
    os.link(secret, folder / "file")
    for options in ([], ["-i"]):
        assert run("get", *options, "-o", folder / "file", url).returncode == OK
        assert (content(folder / "file"), secret.read_text()) == (b"new", "root's")


@pytest.mark.parametrize("options", [[], ["-i"], ["-C", "-"]])
def test_a_missing_folder_is_noticed_before_anything_is_sent(
    run: Run, origin: ScriptedOrigin, url: str, folder: Path, options: list[str]
) -> None:
    done = run("get", *options, "-o", folder / "missing" / "file", url)
    assert done.returncode == TRANSFER_FAILED
    assert done.stderr.splitlines() == [
        f"carpool: cannot write to {folder}/missing/file: No such file or directory".encode(),
        b"hint: make the directory before, with mkdir -p",
    ]
    assert run("get", *options, "-o", folder, url).stderr.endswith(b": Is a directory\n")
    assert origin.requests == []


def test_curl_writes_in_place_and_leaves_what_has_arrived(run: Run, origin: ScriptedOrigin, folder: Path) -> None:
    """As curl does: mode, owner and links stay because the file is the same, and a failure leaves a part."""

    def cut(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        exchange.close()

    file = old(folder, 0o600)
    os.link(file, folder / "other")
    status = file.stat()
    new = origin.on("/new", lambda exchange: exchange.reply(body=b"new"))
    assert run("curl", "-sS", "-o", file, new).returncode == OK
    assert (folder / "other").read_bytes() == b"new"
    assert run("curl", "-s", "-o", file, origin.on("/cut", cut)).returncode == 18
    assert (folder / "other").read_bytes() == b"abc"
    assert (file.stat().st_ino, file.stat().st_mode) == (status.st_ino, status.st_mode)
