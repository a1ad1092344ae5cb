"""Where a download goes: names that responses suggest, places that clients choose, paths of every kind (DL)."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from harness.daemon import Daemon
from harness.downloads import download, names
from harness.story import Story
from harness.wire import Wire
from origins.scripted import Handler, ScriptedOrigin

BODY = bytes(range(256)) * 400


@pytest.fixture
def place(origin: ScriptedOrigin) -> ScriptedOrigin:
    origin.on("/file", lambda exchange: exchange.reply(body=BODY))
    origin.on("/empty", lambda exchange: exchange.reply())
    return origin


def named(disposition: str) -> Handler:
    return lambda exchange: exchange.reply(body=b"x", headers=[("Content-Disposition", disposition)])


def error(record: dict[str, Any]) -> dict[str, Any]:
    failure: dict[str, Any] = record["outcome"]["error"]
    return failure


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ('attachment; filename="report.pdf"', "report.pdf"),
        ("attachment; filename=report.pdf", "report.pdf"),
        ("attachment; filename=\"a.txt\"; filename*=UTF-8''%e2%82%ac%20rates", "€ rates"),
        ('attachment; filename="../../etc/passwd"', "passwd"),
        ('attachment; filename="C:\\\\Users\\\\me\\\\x.doc"', "x.doc"),
        ('attachment; filename=".bashrc"', "bashrc"),
        ('attachment; filename="semi;colon \\"quoted\\".txt"', 'semi;colon "quoted".txt'),
        ("attachment; filename*=UTF-8''a%0d%0ab%00c", "abc"),
        ("attachment; filename*=UTF-8''%2e%2e", "from the url.bin"),
        ("inline", "from the url.bin"),
        ('attachment; filename="' + "é" * 300 + '"', "é" * 127),
    ],
)
def test_dl_03_the_response_names_the_file(
    wire: Wire, origin: ScriptedOrigin, folder: Path, disposition: str, name: str
) -> None:
    url = origin.on("/x/from%20the%20url.bin", named(disposition.encode().decode("latin-1")))
    record = download(wire, f"{url}?q=a/b", {"directory": str(folder)})
    assert record["outcome"]["ok"], record
    assert names(folder) == [name]


def test_dl_03_a_url_without_a_name(wire: Wire, origin: ScriptedOrigin, folder: Path) -> None:
    assert download(wire, f"{origin.url}/", {"directory": str(folder)})["outcome"]["ok"]
    assert names(folder) == ["download"]


def test_dl_04_a_client_says_where_it_goes(story: Story, place: ScriptedOrigin, folder: Path) -> None:
    story.answerers["destination"] = lambda _: {"path": str(folder / "chosen"), "umask": 0o077}
    record = story.perform(f"{place.url}/file", kind="download", destination={"callback": {"name": "c"}})
    assert record["body"]["file"] == str(folder / "chosen")
    assert (folder / "chosen").read_bytes() == BODY
    assert (folder / "chosen").stat().st_mode & 0o777 == 0o600
    question = story.question("destination")["params"]
    assert question["suggested_name"] == "file"
    assert question["response"]["status"] == 200


@pytest.mark.parametrize("answer", [{"path": "relative"}, {"rubbish": 1}, {"spool": True}])
def test_dl_04_no_place_is_the_spool(
    story: Story, daemon: Daemon, place: ScriptedOrigin, folder: Path, answer: dict[str, Any]
) -> None:
    story.answerers["destination"] = lambda _: answer
    record = story.perform(f"{place.url}/file", kind="download", destination={"callback": {"name": "c"}})
    assert [record["body"]["file"]] == [str(path) for path in daemon.spooled()]
    assert names(folder) == []


def test_dl_04_a_client_refuses(story: Story, place: ScriptedOrigin) -> None:
    story.answerers["destination"] = lambda _: {"fail": {"message": "no room"}}
    callback = {"name": "c", "on_failure": "fail"}
    record = story.perform(f"{place.url}/file", kind="download", destination={"callback": callback})
    assert error(record)["name"] == "client_refused"
    record = story.perform(f"{place.url}/empty", kind="download", destination={"callback": callback})
    assert error(record)["name"] == "client_refused"


def test_dl_05_a_previous_file_is_replaced_if_that_is_asked_for(
    wire: Wire, place: ScriptedOrigin, folder: Path
) -> None:
    (folder / "a").write_bytes(b"previous")
    record = download(wire, f"{place.url}/file", {"path": str(folder / "a"), "remove_previous": True})
    assert record["outcome"]["ok"], record
    assert (folder / "a").read_bytes() == BODY


def test_dl_05_directories_are_made_if_that_is_asked_for(wire: Wire, place: ScriptedOrigin, folder: Path) -> None:
    path = folder / "x" / "y" / "a"
    assert download(wire, f"{place.url}/file", {"path": str(path), "create_directories": True})["outcome"]["ok"]
    assert path.read_bytes() == BODY


# Paths


def refused(wire: Wire, url: str, path: Path | str) -> dict[str, Any]:
    """Return the error of a call that names a path which cannot be a file."""
    answer = wire.answer(wire.request("request.perform", url=url, kind="download", destination=str(path)))
    failure: dict[str, Any] = answer["error"]
    return failure


@pytest.mark.parametrize("path", ["relative", "", "./a", "~/a", "/tmp/a/", "/tmp/a\0b"])
def test_a_path_is_absolute_and_names_a_file(wire: Wire, place: ScriptedOrigin, path: str) -> None:
    failure = refused(wire, place.url, path)
    assert failure["code"] == -32602
    assert failure["data"]["path"] == "params.destination"


@pytest.mark.parametrize(
    ("path", "errno"),
    [
        ("/tmp", 21),
        ("/", -32602),
        ("/dev/zero", 22),
        ("/dev/null", 22),
        ("/etc/passwd/a", 20),
        ("/tmp/" + "a" * 256, 36),
        ("/proc/self/mem/a", 20),
    ],
)
def test_what_can_be_no_file_is_refused_at_once(
    wire: Wire, place: ScriptedOrigin, origin: ScriptedOrigin, path: str, errno: int
) -> None:
    failure = refused(wire, place.url, path)
    assert (failure["code"] if errno < 0 else failure["data"]["errno"]) == errno
    assert origin.requests == []


@pytest.mark.parametrize("target", ["/dev/stdout", "/proc/self/fd/1", "/dev/fd/99"])
def test_a_link_to_a_descriptor_of_the_daemon_is_refused(
    wire: Wire, place: ScriptedOrigin, folder: Path, target: str
) -> None:
    (folder / "link").symlink_to(target)
    (folder / "second").symlink_to(folder / "link")
    for name in ("link", "second"):
        assert refused(wire, place.url, folder / name)["data"]["errno"] == 22
    assert names(folder) == ["link", "second"]


def test_a_pipe_stays_a_pipe(wire: Wire, place: ScriptedOrigin, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert refused(wire, place.url, folder / "pipe")["data"]["errno"] == 22
    assert names(folder) == ["pipe"]


def test_a_pipe_that_comes_later_is_not_replaced(story: Story, place: ScriptedOrigin, folder: Path) -> None:
    def make(_: dict[str, Any]) -> dict[str, Any]:
        os.mkfifo(folder / "a")
        return {"valid": True}

    story.answerers["validate"] = make
    record = story.perform(
        f"{place.url}/file",
        kind="download",
        destination={"path": str(folder / "a"), "remove_previous": True},
        validate=[{"callback": {"name": "c"}}],
    )
    assert error(record)["details"]["errno"] == 17
    assert stat.S_ISFIFO((folder / "a").stat().st_mode)
    assert names(folder) == ["a"]


def test_in_proc_nothing_can_be_made(wire: Wire, place: ScriptedOrigin) -> None:
    failure = error(download(wire, f"{place.url}/file", "/proc/a"))
    assert failure["name"] == "downloaded_file_move_failed"
    assert failure["details"]["destination"] == "/proc/a"


@pytest.mark.parametrize("kind", ["file", "dangling", "directory"])
def test_what_a_symbolic_link_leads_to_is_replaced(wire: Wire, place: ScriptedOrigin, folder: Path, kind: str) -> None:
    real = folder / "real"
    real.mkdir()
    (folder / "link").symlink_to(real if kind == "directory" else real / "a")
    if kind == "file":
        (real / "a").write_bytes(b"previous")
    path = folder / "link" / "a" if kind == "directory" else folder / "link"
    record = download(wire, f"{place.url}/file", {"path": str(path), "remove_previous": True})
    assert record["outcome"]["ok"], record
    assert path.read_bytes() == BODY
    # A dangling link is itself replaced.
    assert (folder / "link").is_symlink() == (kind != "dangling")
    assert names(real) == ([] if kind == "dangling" else ["a"])


def test_a_loop_of_links_is_refused(wire: Wire, place: ScriptedOrigin, folder: Path) -> None:
    (folder / "a").symlink_to(folder / "a")
    assert refused(wire, place.url, folder / "a")["data"]["errno"] == 40


def test_another_owner_s_file_is_replaced_where_the_directory_allows_it(
    wire: Wire, place: ScriptedOrigin, folder: Path
) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can change the owner of a file")
    (folder / "a").write_bytes(b"theirs")
    os.chown(folder / "a", 65534, 65534)
    record = download(wire, f"{place.url}/file", {"path": str(folder / "a"), "remove_previous": True})
    assert record["outcome"]["ok"]
    assert (folder / "a").stat().st_uid == os.getuid()


def test_a_directory_that_is_a_file(wire: Wire, place: ScriptedOrigin, folder: Path) -> None:
    (folder / "a").write_bytes(b"")
    answer = wire.answer(
        wire.request("request.perform", url=place.url, kind="download", destination={"directory": str(folder / "a")})
    )
    assert answer["error"]["data"]["errno"] == 20


def test_a_long_name_leaves_room_for_the_partial_file_s(wire: Wire, place: ScriptedOrigin, folder: Path) -> None:
    name = "é" * 127
    assert download(wire, f"{place.url}/file", str(folder / name))["outcome"]["ok"]
    assert names(folder) == [name]


@pytest.mark.parametrize("keeps", [False, True])
def test_what_a_replaced_file_has_stays_if_that_is_asked_for(
    wire: Wire, place: ScriptedOrigin, folder: Path, keeps: bool
) -> None:
    file = folder / "a"
    file.write_bytes(b"old")
    file.chmod(0o600)
    os.link(file, folder / "b")
    destination = {"path": str(file), "remove_previous": True, "keep_attributes": keeps}
    assert download(wire, f"{place.url}/file", destination)["outcome"]["ok"]
    assert file.stat().st_mode & 0o777 == (0o600 if keeps else 0o644)
    assert ((folder / "b").read_bytes() == b"old") is not keeps
