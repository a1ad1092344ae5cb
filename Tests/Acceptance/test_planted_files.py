"""What another user has put into a folder that all may write: no link, pipe or file of theirs stands for root's."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness.command import OK, Run
from harness.users import NOBODY, as_root
from harness.wire import Wire
from origins.scripted import Exchange, ScriptedOrigin

pytestmark = as_root

BODY = b"new" * 1_000
OLD = b"root's"


@pytest.fixture
def page(origin: ScriptedOrigin) -> str:
    def reply(exchange: Exchange) -> None:
        if exchange.request.values("Range"):
            return exchange.reply(206, BODY[3:], [("Content-Range", f"bytes 3-{len(BODY) - 1}/{len(BODY)}")])
        return exchange.reply(body=BODY, headers=[("ETag", '"e"')])

    return origin.on("/page", reply)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of root's in a folder of root's."""
    private = tmp_path / "private"
    private.mkdir()
    path = private / "out"
    path.write_bytes(OLD)
    return path


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder like /tmp."""
    path = tmp_path / "shared"
    path.mkdir()
    path.chmod(0o1777)
    return path


def planted(path: Path) -> Path:
    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    return path


def link(shared: Path, secret: Path) -> Path:
    (shared / "out").symlink_to(secret)
    return planted(shared / "out")


def second_link(shared: Path, secret: Path) -> Path:
    """A link of root's to the planted one."""
    (secret.parent / "mine").symlink_to(link(shared, secret))
    return secret.parent / "mine"


def folder(shared: Path, secret: Path) -> Path:
    (shared / "folder").symlink_to(secret.parent)
    return planted(shared / "folder") / "out"


def file(shared: Path, secret: Path) -> Path:
    path = shared / "out"
    path.write_bytes(OLD)
    path.chmod(0o666)
    return planted(path)


def pipe(shared: Path, secret: Path) -> Path:
    os.mkfifo(shared / "out")
    (shared / "out").chmod(0o666)
    return planted(shared / "out")


Plant = Callable[[Path, Path], Path]
LINKS: list[Plant] = [link, second_link, folder]
PLANTS = pytest.mark.parametrize("plant", [*LINKS, file, pipe], ids=lambda plant: plant.__name__)

WRITES = [
    ["get", "-o", "PATH"],
    ["get", "-i", "-o", "PATH"],
    ["get", "--whole", "-i", "-o", "PATH"],
    ["get", "-c", "PATH"],
    ["get", "-w", "%output{PATH}x"],
    ["get", "-w", "%output{>>PATH}x"],
    ["curl", "-o", "PATH"],
    ["curl", "-C", "3", "-o", "PATH"],
    ["curl", "-R", "-o", "PATH"],
    ["curl", "--create-dirs", "-o", "PATH"],
    ["curl", "-D", "PATH"],
    ["curl", "-c", "PATH"],
    ["curl", "--etag-save", "PATH"],
    ["curl", "--trace", "PATH"],
    ["curl", "--stderr", "PATH", "-v"],
    ["curl", "-w", "%output{PATH}x"],
    ["curl", "-w", "%output{>>PATH}x"],
]


def naming(options: list[str], path: Path) -> list[str]:
    return [option.replace("PATH", str(path)) for option in options]


@PLANTS
@pytest.mark.parametrize("options", WRITES, ids=" ".join)
def test_nothing_is_written_through_what_is_planted(
    run: Run, page: str, shared: Path, secret: Path, plant: Plant, options: list[str]
) -> None:
    path = plant(shared, secret)
    seen = os.lstat(path)
    done = run(*naming(options, path), page)
    assert secret.read_bytes() == OLD
    now = os.lstat(path)
    assert (now.st_ino, now.st_uid, stat.S_IFMT(now.st_mode)) == (seen.st_ino, seen.st_uid, stat.S_IFMT(seen.st_mode))
    if plant is file:
        assert path.read_bytes() == OLD
    assert [entry.name for entry in secret.parent.iterdir() if entry.name != "mine"] == ["out"]
    if {"-o", "-D", "--trace"} & set(options):
        assert done.returncode != OK
        assert b"Permission denied" in done.stderr or "-D" in options


@pytest.mark.parametrize("plant", [*LINKS, pipe], ids=lambda plant: plant.__name__)
@pytest.mark.parametrize(
    "options",
    [
        ["post", "-d", "@PATH"],
        ["post", "-T", "PATH"],
        ["post", "-F", "x=@PATH"],
        ["get", "-b", "PATH"],
        ["get", "-H", "@PATH"],
        ["get", "-w", "@PATH"],
        ["get", "--netrc-file", "PATH"],
        ["get", "--cacert", "PATH"],
        ["get", "--cert", "PATH"],
        ["get", "--input-file", "PATH"],
        ["curl", "-d", "@PATH"],
        ["curl", "-T", "PATH"],
        ["curl", "-F", "x=@PATH"],
        ["curl", "-F", "x=<PATH"],
        ["curl", "-b", "PATH"],
        ["curl", "-H", "@PATH"],
        ["curl", "-w", "@PATH"],
        ["curl", "-K", "PATH"],
        ["curl", "--netrc-file", "PATH"],
        ["curl", "--etag-compare", "PATH"],
    ],
    ids=" ".join,
)
def test_nothing_is_read_through_a_planted_link_or_pipe(
    run: Run, origin: ScriptedOrigin, page: str, shared: Path, secret: Path, plant: Plant, options: list[str]
) -> None:
    content = b"127.0.0.1\tFALSE\t/\tFALSE\t0\tn\troot's\n"
    if "--netrc-file" in options:
        content = b"machine 127.0.0.1 login root password root's\n"
    if "-K" in options or "-H" in options:
        content = b"header: root's\n"
    secret.write_bytes(content)
    done = run(*naming(options, plant(shared, secret)), page)
    sent = b"".join(request.head + request.body for request in origin.requests)
    assert b"root's" not in sent + done.stdout and b"Basic" not in sent


def refused(wire: Wire, url: str, **params: Any) -> int:
    answer = wire.answer(wire.request("request.perform", url=url, **params))
    number: int = answer["error"]["data"]["errno"]
    return number


@pytest.mark.parametrize("plant", LINKS, ids=lambda plant: plant.__name__)
def test_the_daemon_follows_no_planted_link(
    wire: Wire, origin: ScriptedOrigin, page: str, shared: Path, secret: Path, plant: Plant
) -> None:
    path = plant(shared, secret)
    for destination in (
        {"path": str(path), "remove_previous": True},
        {"path": str(path), "remove_previous": True, "keep_attributes": True},
    ):
        assert refused(wire, page, kind="download", destination=destination) == 13
    place = path.parent if plant is folder else path
    assert refused(wire, page, kind="download", destination={"directory": str(place)}) in (13, 20)
    assert refused(wire, page, method="POST", body={"file": str(path)}) == 13
    assert refused(wire, page, trust={"ca_file": str(path)}) == 13
    assert origin.requests == []
    assert secret.read_bytes() == OLD


def test_a_planted_file_is_replaced_by_one_of_root_s_or_left_alone(wire: Wire, page: str, shared: Path) -> None:
    path = file(shared, shared)
    destination = {"path": str(path), "remove_previous": True, "keep_attributes": True}
    failure = wire.call("request.perform", url=page, kind="download", destination=destination)["outcome"]["error"]
    assert failure["details"]["errno"] == 13
    assert path.read_bytes() == OLD
    del destination["keep_attributes"]
    assert wire.call("request.perform", url=page, kind="download", destination=destination)["outcome"]["ok"]
    assert path.read_bytes() == BODY and path.stat().st_uid == os.getuid()
    assert [entry.name for entry in shared.iterdir()] == ["out"]


@pytest.mark.parametrize("options", WRITES, ids=" ".join)
def test_a_second_name_of_a_file_of_root_s_is_not_written(
    run: Run, page: str, shared: Path, secret: Path, options: list[str]
) -> None:
    """The system may allow that another user gives root's files further names (fs.protected_hardlinks)."""
    os.link(secret, shared / "out")
    run(*naming(options, shared / "out"), page)
    assert secret.read_bytes() == OLD


@pytest.mark.parametrize("plant", [link, folder, file], ids=lambda plant: plant.__name__)
@pytest.mark.parametrize("options", [["get", "-o"], ["get", "-i", "-o"], ["curl", "-o"]], ids=" ".join)
def test_what_the_owner_of_the_folder_has_put_there_is_used(
    run: Run, page: str, shared: Path, secret: Path, plant: Plant, options: list[str]
) -> None:
    path = plant(shared, secret)
    planted(shared)
    assert run(*options, path, page).returncode == OK
    assert path.read_bytes().endswith(BODY)


@pytest.mark.parametrize("options", [["get", "-o"], ["get", "-i", "-o"], ["curl", "-o"], ["curl", "-D"]], ids=" ".join)
def test_links_of_this_user_are_followed_wherever_they_are(
    run: Run, page: str, shared: Path, secret: Path, options: list[str]
) -> None:
    (shared / "relative").symlink_to("../private")
    (shared / "out").symlink_to("relative/fresh")
    (shared / "again").symlink_to(shared / "out")
    assert run(*options, shared / "again", page).returncode == OK
    assert (secret.parent / "fresh").stat().st_size > 0
    assert (shared / "again").is_symlink() and (shared / "out").is_symlink()
